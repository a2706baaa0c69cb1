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
 *	 input.c, control.c  --------+            +-> output.c: handshake, inband
 *	   answer.c: back it goes                     probe.c: a probe beside the data
 *	   ask.c: a connection that is established negotiates, by a question beside the data
 *
 * It negotiates for sockets whose congestion control net.hopcc.int_cc names, and answers peers that
 * negotiate. A malformed header, or one that was not negotiated, is left unchanged to the stack,
 * which replies that it does not know the protocol. A malformed control packet is left to TCP, for
 * which it is old data.
 *
 * Probes may collect telemetry in the formats of other vendors, too (6.1.1 to 6.1.3), and switches
 * may insert it into data: wrap.c at the sender, strip.c, tlm.c and layout.c at the receiver.
 */
#include <linux/module.h>
#include <linux/slab.h>
#include <hopcc/core/hop_hook.h>
#include <hopcc/core/hop_icmp.h>
#include <hopcc/lib/hop_version.h>
#include <net/net_namespace.h>

#include "int_pull.h"
#include "net_int.h"

#define CREATE_TRACE_POINTS
#include "trace.h"

#define INT_DSCP_MAX 63

unsigned int int_net_id;

u8 nint_protocol = INT_PROTOCOL_DEFAULT;
module_param_named(protocol, nint_protocol, byte, 0444);
MODULE_PARM_DESC(protocol, "IP protocol number of the header, 1 to 255 (254)");

u8 nint_dscp_probe = INT_DSCP_PROBE_DEFAULT;
module_param_named(dscp_probe, nint_dscp_probe, byte, 0444);
MODULE_PARM_DESC(dscp_probe, "DSCP of probes, 0 to 63 (27)");

u8 nint_dscp_response = INT_DSCP_RESPONSE_DEFAULT;
module_param_named(dscp_response, nint_dscp_response, byte, 0444);
MODULE_PARM_DESC(dscp_response, "DSCP of answers to probes, 0 to 63 (31)");

static const char * const int_count_names[INT_COUNTS] = {
	[INT_COUNT_IN_HANDSHAKE] = "in_handshake",
	[INT_COUNT_IN_DATA] = "in_data",
	[INT_COUNT_IN_LATE] = "in_late",
	[INT_COUNT_IN_OFF] = "in_off",
	[INT_COUNT_IN_HIDDEN] = "in_hidden",
	[INT_COUNT_IN_PROBE] = "in_probe",
	[INT_COUNT_IN_ANSWER] = "in_answer",
	[INT_COUNT_IN_OPTION] = "in_option",
	[INT_COUNT_IN_NO_FLOW] = "in_no_flow",
	[INT_COUNT_IN_BAD_SUM] = "in_bad_sum",
	[INT_COUNT_IN_BAD_COOKIE] = "in_bad_cookie",
	[INT_COUNT_IN_BAD_TAG] = "in_bad_tag",
	[INT_COUNT_IN_OLD] = "in_old",
	[INT_COUNT_IN_FORGED] = "in_forged",
	[INT_COUNT_IN_UNASKED] = "in_unasked",
	[INT_COUNT_IN_SHORT] = "in_short",
	[INT_COUNT_IN_IFA] = "in_ifa",
	[INT_COUNT_IN_IOAM] = "in_ioam",
	[INT_COUNT_IN_INTMD] = "in_intmd",
	[INT_COUNT_IN_DATA_TLM] = "in_data_tlm",
	[INT_COUNT_IN_IFA_DATA] = "in_ifa_data",
	[INT_COUNT_IN_INTMD_DATA] = "in_intmd_data",
	[INT_COUNT_IN_MERGED] = "in_merged",
	[INT_COUNT_TLM_NO_LAYOUT] = "tlm_no_layout",
	[INT_COUNT_TLM_USELESS] = "tlm_useless",
	[INT_COUNT_TLM_CONTRADICTED] = "tlm_contradicted",
	[INT_COUNT_TLM_NO_ROOM] = "tlm_no_room",
	[INT_COUNT_TLM_PATHS] = "tlm_paths",
	[INT_COUNT_TLM_IMPLAUSIBLE] = "tlm_implausible",
	[INT_COUNT_N_CLIPPED] = "n_clipped",
	[INT_COUNT_BAD_IFA + IFA_BAD_TRUNCATED] = "bad_ifa_truncated",
	[INT_COUNT_BAD_IFA + IFA_BAD_VERSION] = "bad_ifa_version",
	[INT_COUNT_BAD_IFA + IFA_BAD_TAIL] = "bad_ifa_tail",
	[INT_COUNT_BAD_IFA + IFA_BAD_NEXT] = "bad_ifa_next",
	[INT_COUNT_BAD_IFA + IFA_BAD_L4] = "bad_ifa_l4",
	[INT_COUNT_BAD_IFA + IFA_BAD_LENGTH] = "bad_ifa_length",
	[INT_COUNT_BAD_IOAM + IOAM_BAD_TRUNCATED] = "bad_ioam_truncated",
	[INT_COUNT_BAD_IOAM + IOAM_BAD_OPTIONS] = "bad_ioam_options",
	[INT_COUNT_BAD_IOAM + IOAM_BAD_LENGTH] = "bad_ioam_length",
	[INT_COUNT_BAD_IOAM + IOAM_BAD_TYPE] = "bad_ioam_type",
	[INT_COUNT_BAD_IOAM + IOAM_BAD_NODE_LEN] = "bad_ioam_node_len",
	[INT_COUNT_BAD_IOAM + IOAM_BAD_REMAINING] = "bad_ioam_remaining",
	[INT_COUNT_BAD_IOAM + IOAM_BAD_STACK] = "bad_ioam_stack",
	[INT_COUNT_BAD_INTMD + INTMD_BAD_TRUNCATED] = "bad_intmd_truncated",
	[INT_COUNT_BAD_INTMD + INTMD_BAD_TYPE] = "bad_intmd_type",
	[INT_COUNT_BAD_INTMD + INTMD_BAD_NPT] = "bad_intmd_npt",
	[INT_COUNT_BAD_INTMD + INTMD_BAD_LENGTH] = "bad_intmd_length",
	[INT_COUNT_BAD_INTMD + INTMD_BAD_VERSION] = "bad_intmd_version",
	[INT_COUNT_BAD_INTMD + INTMD_BAD_BITMAP] = "bad_intmd_bitmap",
	[INT_COUNT_BAD_INTMD + INTMD_BAD_HOP_ML] = "bad_intmd_hop_ml",
	[INT_COUNT_BAD_INTMD + INTMD_BAD_STACK] = "bad_intmd_stack",
	[INT_COUNT_BAD_STACK] = "bad_stack",
	[INT_COUNT_BAD + INT_BAD_TRUNCATED] = "bad_truncated",
	[INT_COUNT_BAD + INT_BAD_LENGTH] = "bad_length",
	[INT_COUNT_BAD + INT_BAD_TYPE] = "bad_type",
	[INT_COUNT_BAD + INT_BAD_SLOTS] = "bad_slots",
	[INT_COUNT_BAD + INT_BAD_HOPS] = "bad_hops",
	[INT_COUNT_BAD_NEXT] = "bad_next",
	[INT_COUNT_OUT_HANDSHAKE] = "out_handshake",
	[INT_COUNT_OUT_DATA] = "out_data",
	[INT_COUNT_OUT_GSO] = "out_gso",
	[INT_COUNT_OUT_PROBE] = "out_probe",
	[INT_COUNT_OUT_ANSWER] = "out_answer",
	[INT_COUNT_OUT_OPTION] = "out_option",
	[INT_COUNT_OUT_HIDDEN] = "out_hidden",
	[INT_COUNT_NO_ROOM] = "out_no_room",
	[INT_COUNT_NO_ROUTE] = "out_no_route",
	[INT_COUNT_NO_MEMORY] = "no_memory",
	[INT_COUNT_ACK_NOW] = "ack_now",
	[INT_COUNT_ICMP] = "icmp",
	[INT_COUNT_ICMP_REFUSED] = "icmp_refused",
	[INT_COUNT_ICMP_SHORT] = "icmp_short",
	[INT_COUNT_SUPPORTED] = "peer_supported",
	[INT_COUNT_UNSUPPORTED] = "peer_unsupported",
	[INT_COUNT_GIVEN_UP] = "peer_given_up",
	[INT_COUNT_RESET] = "peer_reset",
	[INT_COUNT_AVOIDED] = "peer_avoided",
};

const struct hop_carrier_kind nint_carrier_kind = {
	.net_id = &int_net_id,
	.file = "hopcc_int",
	.table = nint_table,
	.names = int_count_names,
	.counts = INT_COUNTS,
	.supported = INT_COUNT_SUPPORTED,
	.unsupported = INT_COUNT_UNSUPPORTED,
	.reset = INT_COUNT_RESET,
	.avoided = INT_COUNT_AVOIDED,
	.no_flow = INT_COUNT_IN_NO_FLOW,
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
	nint_layout_free(in);
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
	static_assert(sizeof(struct int_hdr) + INT_WORD_BYTES == INT_HDR_BYTES);
	static_assert(sizeof(struct int_msg) == INT_MSG_BYTES);
	static_assert(sizeof(struct int_terms) == INT_TERMS_BYTES);
	static_assert(sizeof(struct int_tail) == INT_TAIL_BYTES);
	static_assert(sizeof(struct nint_opt) == INT_OPT_BYTES);
	static_assert(INT_SHIM_MAX_BYTES <= HOP_ICMP_SHIM_MAX_BYTES);

	if (!nint_protocol || nint_dscp_probe == nint_dscp_response ||
	    max(nint_dscp_probe, nint_dscp_response) > INT_DSCP_MAX)
		return -EINVAL;
	err = register_pernet_subsys(&nint_net_ops);
	if (err)
		return err;
	err = nint_gso_init();
	if (err)
		goto no_gso;
	err = nint_input_init();
	if (err)
		goto no_input;
	err = nint_layout_init();
	if (err)
		goto no_layout;
	/* This step cannot be undone, so it is the last one. */
	err = nint_kfunc_init();
	if (err)
		goto no_kfunc;
	nint_gro_start();
	return 0;

no_kfunc:
	nint_layout_exit();
no_layout:
	nint_input_exit();
no_input:
	nint_gso_exit();
no_gso:
	unregister_pernet_subsys(&nint_net_ops);
	return err;
}

/* Congestion controls hold a reference to this module, so no flow is open. */
static void __exit nint_exit(void)
{
	nint_gro_stop();
	nint_layout_exit();
	nint_input_exit();
	unregister_pernet_subsys(&nint_net_ops);
	nint_gso_exit();
	hop_flow_retire(&nint_flow_kind);
}

module_init(nint_init);
module_exit(nint_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("HPCC++ INT carrier (draft-miao-rtgwg-hpccplus-00)");
MODULE_VERSION(HOPCC_VERSION);
