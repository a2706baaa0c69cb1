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

/*
 * Reads or writes a text of at most @bytes; @show returns the old value, @set stores the new one.
 */
static int ctag_set_text(struct ctag_net *cn, size_t bytes, void (*show)(struct ctag_net *, char *),
			 int (*set)(struct ctag_net *, const char *), int write, void *buffer,
			 size_t *len, loff_t *pos)
{
	char *text = kzalloc(bytes, GFP_KERNEL);
	int err;

	if (!text)
		return -ENOMEM;
	show(cn, text);
	err = ctag_edit_text(text, bytes, write, buffer, len, pos);
	if (!err && write)
		err = set(cn, text);
	kfree(text);
	return err;
}

static int ctag_set_rules(compat_ctl_table *table, int write, void *buffer, size_t *len,
			  loff_t *pos)
{
	return ctag_set_text(container_of(table->data, struct ctag_net, rules), CTAG_RULES_BYTES,
			     ctag_rules_text, ctag_rules_set, write, buffer, len, pos);
}

static int ctag_set_buckets(compat_ctl_table *table, int write, void *buffer, size_t *len,
			    loff_t *pos)
{
	return ctag_set_text(container_of(table->data, struct ctag_net, scales), CTAG_BUCKETS_BYTES,
			     ctag_scales_text, ctag_scales_set, write, buffer, len, pos);
}

/* The last entry terminates the table on kernels that do not count entries. */
const struct ctl_table ctag_table[] = {
	HOP_SYSCTL("csig", 0644, struct ctag_net, level, ctag_set_level, SYSCTL_ZERO,
		   hop_sysctl_bound(CTAG_INITIATES)),
	HOP_SYSCTL_NUMBER("csig_form", struct ctag_net, form, CSIG_COMPACT, CSIG_EXPANDED),
	HOP_SYSCTL_NUMBER("csig_every", struct ctag_net, every_pkts, 1, CTAG_EVERY_MAX_PKTS),
	HOP_SYSCTL_NUMBER("csig_retry_s", struct ctag_net, retry_s, 1, HOP_UNSUPPORTED_MAX_S),
	HOP_SYSCTL_NUMBER("csig_unsupported_s", struct ctag_net, carrier.unsupported_s, 0,
			  HOP_UNSUPPORTED_MAX_S),
	/* One number per signal; the kernel supports vectors only of int. */
	HOP_SYSCTL_NUMBER("csig_weights", struct ctag_net, weight_pkts, 0, CTAG_WEIGHT_MAX_PKTS),
	HOP_SYSCTL_NUMBER("csig_quantum", struct ctag_net, quantum, 1, INT_MAX),
	HOP_SYSCTL("csig_cc", 0644, struct ctag_net, cc, proc_dostring, NULL, NULL),
	HOP_SYSCTL("csig_ports", 0644, struct ctag_net, port_names, ctag_set_ports, NULL, NULL),
	HOP_SYSCTL("csig_rules", 0644, struct ctag_net, rules, ctag_set_rules, NULL,
		   hop_sysctl_words("\"to ADDRESS/BITS port N; udp\", 16 rules at most")),
	HOP_SYSCTL("csig_buckets", 0644, struct ctag_net, scales, ctag_set_buckets, NULL,
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
