// SPDX-License-Identifier: GPL-2.0
/* Sysctls of a network namespace, below net.hopcc, and the hooks that net.hopcc.int starts. */

#include <linux/mutex.h>
#include <linux/slab.h>
#include <hopcc/core/hop_hook.h>

#include "net_int.h"

#define INT_KEY_DIGITS (2 * sizeof(siphash_key_t))

static const struct hop_carrier nint_carrier = {
	.order = HOP_HOOK_INT,
	.input = nint_input,
	.output = nint_output,
};

/*
 * Answers are options and segments of TCP. GSO packets of other namespaces are forwarded even where
 * the carrier is off.
 */
int nint_hook(void *state)
{
	const struct nint_net *in = state;
	struct hop_hook_request request = { .protocol = nint_protocol };
	static DEFINE_MUTEX(lock);	/* the last caller uses the latest values */
	int err;

	mutex_lock(&lock);
	request.options = in->on;
	request.segments = in->on;
	err = hop_hook_start(in->carrier.net, &nint_carrier, &request);
	mutex_unlock(&lock);
	return err;
}

void nint_unhook(struct net *net)
{
	hop_hook_stop(net, &nint_carrier);
}

/* Return: a new key, NULL for none, or an error. */
static struct nint_key *nint_parse_key(const char *digits)
{
	__le64 words[2];
	struct nint_key *key;

	if (!*digits)
		return NULL;
	if (strlen(digits) != INT_KEY_DIGITS || hex2bin((u8 *)words, digits, sizeof(words)))
		return ERR_PTR(-EINVAL);
	key = kzalloc(sizeof(*key), GFP_KERNEL);
	if (!key)
		return ERR_PTR(-ENOMEM);
	key->sip.key[0] = le64_to_cpu(words[0]);
	key->sip.key[1] = le64_to_cpu(words[1]);
	memzero_explicit(words, sizeof(words));
	return key;
}

static void nint_print_key(const struct nint_net *in, char *digits)
{
	__le64 words[2];
	const struct nint_key *key;

	digits[0] = 0;
	rcu_read_lock();
	key = rcu_dereference(in->key);
	if (key) {
		words[0] = cpu_to_le64(key->sip.key[0]);
		words[1] = cpu_to_le64(key->sip.key[1]);
		bin2hex(digits, words, sizeof(words));
		digits[INT_KEY_DIGITS] = 0;
	}
	rcu_read_unlock();
}

/* The key is 32 hex digits, the bytes of SipHash's key in order; an empty string means no key. */
static int nint_set_key(compat_ctl_table *table, int write, void *buffer, size_t *len, loff_t *pos)
{
	struct nint_net *in = container_of(table->data, struct nint_net, key);
	char digits[INT_KEY_DIGITS + 2];
	struct ctl_table one = { .data = digits, .maxlen = sizeof(digits) };
	struct nint_key *key;
	int err;

	nint_print_key(in, digits);
	err = proc_dostring(&one, write, buffer, len, pos);
	if (err || !write)
		return err;
	key = nint_parse_key(strim(digits));
	if (IS_ERR(key))
		return PTR_ERR(key);
	key = unrcu_pointer(xchg(&in->key, RCU_INITIALIZER(key)));
	if (key)
		kfree_rcu(key, rcu);
	return 0;
}

static int nint_set_on(compat_ctl_table *table, int write, void *buffer, size_t *len, loff_t *pos)
{
	return hop_hook_knob(table, write, buffer, len, pos, nint_hook,
			     container_of(table->data, struct nint_net, on));
}

/* A format that no loaded module knows is refused. */
static int nint_set_format(compat_ctl_table *table, int write, void *buffer, size_t *len,
			   loff_t *pos)
{
	unsigned int *format = table->data, value = READ_ONCE(*format);
	struct ctl_table one = {
		.data = &value, .maxlen = sizeof(value),
		.extra1 = table->extra1, .extra2 = table->extra2,
	};
	int err = proc_douintvec_minmax(&one, write, buffer, len, pos);

	if (err || !write)
		return err;
	err = value ? nint_vendor_load(hop_sysctl_net(table)) : 0;
	if (!err)
		WRITE_ONCE(*format, value);
	return err;
}

/* The last entry terminates the table on kernels that do not count entries. */
const struct ctl_table nint_table[] = {
	HOP_SYSCTL("int", 0644, struct nint_net, on, nint_set_on, SYSCTL_ZERO, SYSCTL_TWO),
	HOP_SYSCTL_NUMBER("int_forward", struct nint_net, forward, 0, 1),
	HOP_SYSCTL_NUMBER("int_reverse", struct nint_net, reverse, 0, 1),
	HOP_SYSCTL_NUMBER("int_slots", struct nint_net, slots, 0, INT_SLOTS_MAX),
	HOP_SYSCTL_NUMBER("int_every", struct nint_net, every, 1, INT_EVERY_MAX),
	HOP_SYSCTL_NUMBER("int_anonymous", struct nint_net, anonymous, 0, 1),
	HOP_SYSCTL("int_format", 0644, struct nint_net, format, nint_set_format, SYSCTL_ZERO,
		   hop_sysctl_bound(INT_VENDOR_FORMAT_MAX)),
	HOP_SYSCTL_NUMBER("int_space", struct nint_net, space, 0, INT_SPACE_MAX),
	HOP_SYSCTL_NUMBER("int_unsupported_s", struct nint_net, carrier.unsupported_s, 0,
			  HOP_RECENT_MAX_S),
	HOP_SYSCTL("int_cc", 0644, struct nint_net, cc, proc_dostring, NULL, NULL),
	HOP_SYSCTL("int_key", 0600, struct nint_net, key, nint_set_key, NULL,
		   hop_sysctl_words("KEY, 32 hexadecimal digits, or nothing")),
	{ }
};

void nint_knobs_default(struct nint_net *in)
{
	in->on = 1;
	in->slots = INT_SLOTS_DEFAULT;
	in->every = 1;
	strscpy(in->cc, "hpccpp", sizeof(in->cc));
}
