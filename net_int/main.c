// SPDX-License-Identifier: GPL-2.0
/*
 * net_int: the telemetry carrier between TCP and the network, draft-miao-rtgwg-hpccplus-00 sections
 * 6.2, 6.3.2, 7.2 and 9.1. The algorithms are in int_carrier.h and int_receiver.h; this module
 * connects them to the network stack.
 *
 *	        +---------------------- TCP ----------------------+
 *	        | tcp_hpccpp: nint_flow_ask(), nint_flow_take()     |
 *	        +-------------------------------------------------+
 *	 conntrack, firewall: TCP    ^            |   conntrack, NAT: TCP
 *	 input.c: headers, probes, --+            +-> output.c: negotiation, inband
 *	          answers                             probe.c: a probe beside the data
 *	 answer.c: returns telemetry
 *
 *	 protocol.c: what the stack calls by the protocol number of the header: GSO, GRO, ICMP
 *	 this file: registration, the sysctls below net.hopcc
 *
 * It negotiates for sockets whose congestion control net.hopcc.int_cc names, and answers peers that
 * negotiate. A malformed header, or one that was not negotiated, is left unchanged to the stack,
 * which replies that it does not know the protocol. A malformed control packet is left to TCP, for
 * which it is old data.
 *
 * Probes may collect telemetry in the formats of other vendors, too (6.1.1 to 6.1.3), and switches
 * may insert it into data: flow.c calls net_tlm.
 */
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <hopcc/core/hop_hook.h>
#include <hopcc/lib/hop_names.h>
#include <hopcc/lib/hop_version.h>

#include "int_control.h"
#include "net_int.h"

#define CREATE_TRACE_POINTS
#include "trace.h"

unsigned int int_net_id;

u8 nint_protocol = INT_PROTOCOL_DEFAULT;
module_param_named(protocol, nint_protocol, byte, 0444);
MODULE_PARM_DESC(protocol, "IP protocol number of the header, 1 to 255 (254)");

#define INT_KEY_DIGITS (2 * sizeof(siphash_key_t))

/*
 * Requests packets with the header's protocol number always, because GSO packets of other
 * namespaces are forwarded even where the carrier is off. Requests TCP's options and segments,
 * which carry answers, only where it is on.
 */
static int nint_hook(void *state)
{
	const struct nint_net *in = state;
	struct hop_hook_request request = { .protocol = nint_protocol };
	static DEFINE_MUTEX(lock);	/* the last caller uses the latest values */

	mutex_lock(&lock);
	request.options = in->on;
	request.segments = in->on;
	hop_hook_start(in->carrier.net, &nint_carrier, &request);
	mutex_unlock(&lock);
	return 0;
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
static const struct ctl_table nint_table[] = {
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

/* Return: true if net.hopcc.int_cc names the socket's congestion control. */
static bool nint_is_asking(const struct hop_flow_key *key, const struct sock *sk)
{
	return hop_names_has(nint_net(key->net)->cc, READ_ONCE(inet_csk(sk)->icsk_ca_ops)->name);
}

static u64 nint_cookie_of(const struct hop_flow *flow)
{
	return ((const struct int_flow *)flow->state)->cookie;
}

/* Only once: an ACK that asks does not prove that its sender is the peer. */
static void nint_learn(struct hop_flow *flow, const struct hop_option *o)
{
	struct int_flow *f = hop_flow_state(flow);

	spin_lock_bh(&f->lock);
	if (!f->peer_cookie)
		WRITE_ONCE(f->peer_cookie, be64_to_cpu(o->cookie));
	spin_unlock_bh(&f->lock);
}

static const char * const int_count_names[] = {
	INT_VENDOR_COUNT_LIST(HOP_COUNTER_NAME)
	INT_COUNT_LIST(HOP_COUNTER_NAME)
};

static atomic_t nint_flow_entries = ATOMIC_INIT(0);

const struct hop_carrier nint_carrier = {
	.order = 2,
	.input = nint_input,
	.output = nint_output,
	.net_id = &int_net_id,
	.file = "hopcc_int",
	.table = nint_table,
	.names = int_count_names,
	.counts = INT_COUNTS,
	.icmp_refused = INT_COUNT_ICMP_REFUSED,
	.trace = trace_int_discover,
	.state_bytes = sizeof(struct int_flow),
	.entries = &nint_flow_entries,
	.start = nint_flow_start,
	.refused = nint_leave_data,
	.stop = nint_vendor_stop,
	.bit = HOP_OPTION_INT,
	.asks = nint_is_asking,
	.cookie = nint_cookie_of,
	.learn = nint_learn,
};

static int __net_init nint_net_init(struct net *net)
{
	struct nint_net *in = nint_net(net);
	int err;

	in->on = 1;
	in->slots = INT_SLOTS_DEFAULT;
	in->every = 1;
	strscpy(in->cc, "hpccpp", sizeof(in->cc));
	spin_lock_init(&in->starters_lock);
	err = hop_carrier_start(net, &nint_carrier);
	if (err)
		return err;
	nint_hook(in);
	return 0;
}

/* A grace period ends before nint_net_exit(), so no hook uses what that frees. */
static void __net_exit nint_net_pre_exit(struct net *net)
{
	/* A write to a sysctl could start the hooks again. */
	hop_sysctl_stop(&nint_net(net)->carrier.sysctl);
	hop_hook_stop(net, &nint_carrier);
}

static void __net_exit nint_net_exit(struct net *net)
{
	struct nint_net *in = nint_net(net);

	hop_carrier_stop(&in->carrier);
	/* No lock: sysctls and hooks are gone, and a grace period has ended. */
	kfree(rcu_dereference_protected(in->key, true));
	nint_starters_free(in);
}

static struct pernet_operations nint_net_ops = {
	.init = nint_net_init,
	.pre_exit = nint_net_pre_exit,
	.exit = nint_net_exit,
	.id = &int_net_id,
	.size = sizeof(struct nint_net),
};

static int __init nint_init(void)
{
	static_assert(!offsetof(struct nint_net, carrier));
	static_assert(INT_COUNT_BAD_HOPS - INT_COUNT_BAD == INT_FAULTS - 1);
	static_assert(sizeof(struct int_hdr) + INT_WORD_BYTES == INT_HDR_BYTES);
	static_assert(sizeof(struct int_msg) == INT_MSG_BYTES);
	static_assert(sizeof(struct int_terms) == INT_TERMS_BYTES);
	static_assert(sizeof(struct int_tail) == INT_TAIL_BYTES);
	static_assert(sizeof(struct nint_opt) == INT_OPT_BYTES);
	static_assert(INT_SHIM_MAX_BYTES <= HOP_ICMP_SHIM_MAX_BYTES);

	return hop_proto_register(&nint_proto, nint_protocol, &nint_net_ops);
}

static void __exit nint_exit(void)
{
	hop_proto_unregister(&nint_proto, nint_protocol, &nint_net_ops, &nint_carrier);
}

module_init(nint_init);
module_exit(nint_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("HPCC++ INT carrier (draft-miao-rtgwg-hpccplus-00)");
MODULE_VERSION(HOPCC_VERSION);
