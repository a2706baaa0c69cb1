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
 *	 input.c, control.c  --------+            +-> output.c: negotiation, inband
 *	   answer.c: back it goes                     probe.c: a probe beside the data
 *
 * It negotiates for sockets whose congestion control net.hopcc.int_cc names, and answers peers that
 * negotiate. A malformed header, or one that was not negotiated, is left unchanged to the stack,
 * which replies that it does not know the protocol. A malformed control packet is left to TCP, for
 * which it is old data.
 *
 * Probes may collect telemetry in the formats of other vendors, too (6.1.1 to 6.1.3), and switches
 * may insert it into data: vendor.c calls net_tlm.
 */
#include <linux/module.h>
#include <linux/slab.h>
#include <hopcc/core/hop_hook.h>
#include <hopcc/lib/hop_version.h>

#include "net_int.h"

#define CREATE_TRACE_POINTS
#include "trace.h"

unsigned int int_net_id;

u8 nint_protocol = INT_PROTOCOL_DEFAULT;
module_param_named(protocol, nint_protocol, byte, 0444);
MODULE_PARM_DESC(protocol, "IP protocol number of the header, 1 to 255 (254)");

static const char * const int_count_names[] = {
	INT_VENDOR_COUNT_LIST(HOP_COUNTER_NAME)
	INT_COUNT_LIST(HOP_COUNTER_NAME)
};

const struct hop_carrier_kind nint_carrier_kind = {
	.net_id = &int_net_id,
	.file = "hopcc_int",
	.table = nint_table,
	.names = int_count_names,
	.counts = INT_COUNTS,
	.icmp_refused = INT_COUNT_ICMP_REFUSED,
	.trace = trace_int_discover,
};

static int __net_init nint_net_init(struct net *net)
{
	struct nint_net *in = nint_net(net);
	int err;

	nint_knobs_default(in);
	spin_lock_init(&in->starters_lock);
	err = hop_carrier_start(net, &nint_carrier_kind);
	if (err)
		return err;
	err = nint_hook(in);
	if (err) {
		hop_sysctl_stop(&in->carrier.sysctl);
		hop_carrier_stop(&in->carrier);
	}
	return err;
}

/* A grace period ends before nint_net_exit(), so no hook uses what that frees. */
static void __net_exit nint_net_pre_exit(struct net *net)
{
	/* A write to a sysctl could start the hooks again. */
	hop_sysctl_stop(&nint_net(net)->carrier.sysctl);
	nint_unhook(net);
}

static void __net_exit nint_net_exit(struct net *net)
{
	struct nint_net *in = nint_net(net);

	hop_carrier_stop(&in->carrier);
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
	int err;

	static_assert(!offsetof(struct nint_net, carrier));
	static_assert(INT_COUNT_BAD_HOPS - INT_COUNT_BAD == INT_FAULTS - 1);
	static_assert(sizeof(struct int_hdr) + INT_WORD_BYTES == INT_HDR_BYTES);
	static_assert(sizeof(struct int_msg) == INT_MSG_BYTES);
	static_assert(sizeof(struct int_terms) == INT_TERMS_BYTES);
	static_assert(sizeof(struct int_tail) == INT_TAIL_BYTES);
	static_assert(sizeof(struct nint_opt) == INT_OPT_BYTES);
	static_assert(INT_SHIM_MAX_BYTES <= HOP_ICMP_SHIM_MAX_BYTES);

	if (!nint_protocol)
		return -EINVAL;
	err = register_pernet_subsys(&nint_net_ops);
	if (err)
		return err;
	err = hop_proto_start(&nint_proto, nint_protocol);
	if (err)
		unregister_pernet_subsys(&nint_net_ops);
	return err;
}

/* Congestion controls hold a reference to this module, so no flow is open. */
static void __exit nint_exit(void)
{
	hop_proto_stop(&nint_proto, nint_protocol);
	unregister_pernet_subsys(&nint_net_ops);
	hop_proto_end(&nint_proto, nint_protocol);
	hop_flow_retire(&nint_flow_kind);
}

module_init(nint_init);
module_exit(nint_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("HPCC++ INT carrier (draft-miao-rtgwg-hpccplus-00)");
MODULE_VERSION(HOPCC_VERSION);
