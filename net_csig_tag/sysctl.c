// SPDX-License-Identifier: GPL-2.0
/* Sysctls of a network namespace, below net.hopcc. */

#include <linux/capability.h>
#include <uapi/linux/pkt_sched_csig.h>
#include <linux/slab.h>
#include <hopcc/core/hop_hook.h>

#include "net_csig_tag.h"

/* Reads or writes a string that is parsed elsewhere; @text has the old value, then the new one. */
static int ctag_edit_text(char *text, size_t bytes, int write, void *buffer, size_t *len,
			  loff_t *pos)
{
	struct ctl_table one = { .data = text, .maxlen = bytes };

	return proc_dostring(&one, write, buffer, len, pos);
}

/*
 * Only the machine's administrator may let a netns use CSIG; an administrator of a container may
 * change its other sysctls.
 */
static bool ctag_may_authorise(int write)
{
	return !write || capable(CAP_NET_ADMIN);
}

static int ctag_follow_level(void *state)
{
	return ctag_hook(state, false);
}

static int ctag_set_level(compat_ctl_table *table, int write, void *buffer, size_t *len,
			  loff_t *pos)
{
	if (!ctag_may_authorise(write))
		return -EPERM;
	return hop_hook_knob(table, write, buffer, len, pos, ctag_follow_level,
			     container_of(table->data, struct ctag_net, level));
}

static int ctag_replace_ports(struct ctag_net *cn, const char *names)
{
	int err = *names ? ctag_hook(cn, true) : 0;

	if (err)
		return err;
	err = ctag_ports_set(cn, names);
	ctag_hook(cn, false);
	return err;
}

static int ctag_set_ports(compat_ctl_table *table, int write, void *buffer, size_t *len,
			  loff_t *pos)
{
	struct ctag_net *cn = container_of(table->data, struct ctag_net, port_names[0]);
	char *names;
	int err;

	if (!ctag_may_authorise(write))
		return -EPERM;
	names = kmemdup(cn->port_names, CTAG_PORTS_BYTES, GFP_KERNEL);
	if (!names)
		return -ENOMEM;
	err = ctag_edit_text(names, CTAG_PORTS_BYTES, write, buffer, len, pos);
	if (!err && write)
		err = ctag_replace_ports(cn, names);
	kfree(names);
	return err;
}

static int ctag_make_rules(struct ctag_text *made, char *text)
{
	struct ctag_rules *rules = container_of(made, struct ctag_rules, text);

	return ctag_parse_rules(text, rules->rule, &rules->count);
}

static int ctag_make_scales(struct ctag_text *made, char *text)
{
	return ctag_parse_scales(text, container_of(made, struct ctag_scales, text)->scale);
}

/* By enum ctag_text_kind; @make modifies the text that it parses. */
static const struct {
	size_t bytes;
	int (*make)(struct ctag_text *made, char *text);
} ctag_text_kinds[CTAG_TEXTS] = {
	[CTAG_RULES] = { sizeof(struct ctag_rules), ctag_make_rules },
	[CTAG_SCALES] = { sizeof(struct ctag_scales), ctag_make_scales },
};

/**
 * ctag_text_set() - set a sysctl whose text is parsed
 * @cn: the netns' state
 * @kind: the sysctl
 * @text: shorter than CTAG_TEXT_BYTES
 *
 * Context: process.
 * Return: 0, -EINVAL, -E2BIG or -ENOMEM; after an error the old value stays.
 */
int ctag_text_set(struct ctag_net *cn, enum ctag_text_kind kind, const char *text)
{
	struct ctag_text *made = kzalloc(ctag_text_kinds[kind].bytes, GFP_KERNEL);
	char *copy = kstrdup(text, GFP_KERNEL);
	int err = made && copy ? ctag_text_kinds[kind].make(made, copy) : -ENOMEM;

	kfree(copy);
	if (err) {
		kfree(made);
		return err;
	}
	strscpy(made->text, text, sizeof(made->text));
	made = unrcu_pointer(xchg(&cn->texts[kind], RCU_INITIALIZER(made)));
	if (made)
		kfree_rcu(made, rcu);
	return 0;
}

static void ctag_text_get(const struct ctag_net *cn, enum ctag_text_kind kind, char *text)
{
	const struct ctag_text *made;

	rcu_read_lock();
	made = rcu_dereference(cn->texts[kind]);
	strscpy(text, made ? made->text : "", CTAG_TEXT_BYTES);
	rcu_read_unlock();
}

static int ctag_set_text(compat_ctl_table *table, int write, void *buffer, size_t *len, loff_t *pos)
{
	struct ctag_net *cn = ctag_net(hop_sysctl_net(table));
	const enum ctag_text_kind kind = (struct ctag_text __rcu **)table->data - cn->texts;
	char *text = kmalloc(CTAG_TEXT_BYTES, GFP_KERNEL);
	int err;

	if (!text)
		return -ENOMEM;
	ctag_text_get(cn, kind, text);
	err = ctag_edit_text(text, CTAG_TEXT_BYTES, write, buffer, len, pos);
	if (!err && write)
		err = ctag_text_set(cn, kind, text);
	kfree(text);
	return err;
}

/* The last entry terminates the table on kernels that do not count entries. */
const struct ctl_table ctag_table[] = {
	HOP_SYSCTL("csig", 0644, struct ctag_net, level, ctag_set_level, SYSCTL_ZERO,
		   hop_sysctl_bound(CTAG_INITIATES)),
	HOP_SYSCTL_NUMBER("csig_form", struct ctag_net, form, CSIG_COMPACT, CSIG_EXPANDED),
	HOP_SYSCTL_NUMBER("csig_every", struct ctag_net, every_pkts, 1, CTAG_EVERY_MAX_PKTS),
	HOP_SYSCTL_NUMBER("csig_retry_s", struct ctag_net, retry_s, 1, HOP_RECENT_MAX_S),
	HOP_SYSCTL_NUMBER("csig_unsupported_s", struct ctag_net, carrier.unsupported_s, 0,
			  HOP_RECENT_MAX_S),
	/* One number per signal; the kernel supports vectors only of int. */
	HOP_SYSCTL_NUMBER("csig_weights", struct ctag_net, weight_pkts, 0, CTAG_WEIGHT_MAX_PKTS),
	HOP_SYSCTL_NUMBER("csig_quantum", struct ctag_net, quantum, 1, INT_MAX),
	HOP_SYSCTL("csig_cc", 0644, struct ctag_net, cc, proc_dostring, NULL, NULL),
	HOP_SYSCTL("csig_ports", 0644, struct ctag_net, port_names, ctag_set_ports, NULL, NULL),
	HOP_SYSCTL("csig_rules", 0644, struct ctag_net, texts[CTAG_RULES], ctag_set_text, NULL,
		   hop_sysctl_words("\"to ADDRESS/BITS port N; udp\", 16 rules at most")),
	HOP_SYSCTL("csig_buckets", 0644, struct ctag_net, texts[CTAG_SCALES], ctag_set_text, NULL,
		   hop_sysctl_words("\"abw 1000000; abw_c pow2 32; pd appendix_a\"")),
	{ }
};

void ctag_knobs_default(struct ctag_net *cn)
{
	u32 i;

	cn->level = CTAG_OFF;
	cn->form = CSIG_COMPACT;
	cn->every_pkts = 1;
	cn->retry_s = CTAG_RETRY_DEFAULT_S;
	for (i = 0; i < CSIG_TYPES; i++)
		cn->weight_pkts[i] = 1;
	cn->quantum[CSIG_ABW] = TC_CSIG_QUANTUM_DEFAULT_KBIT_PS;
	cn->quantum[CSIG_ABW_C] = TC_CSIG_QUANTUM_DEFAULT_PPM;
	cn->quantum[CSIG_PD] = TC_CSIG_QUANTUM_DEFAULT_NS;
	strscpy(cn->cc, "csig", sizeof(cn->cc));
}
