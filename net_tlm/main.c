// SPDX-License-Identifier: GPL-2.0
/*
 * net_tlm: telemetry of other vendors for net_int, draft-miao-rtgwg-hpccplus-00 sections 6.1.1 to
 * 6.1.3: IFA 2.0, IOAM and INT-MD 2.1.
 *
 *	sender		wrap.c: probes that also ask hops of other vendors
 *	receiver	input.c, strip.c: takes the headers off; flow.c: records and U of a flow
 *			int_layout.h, int_load.h, int_tlm.h: the law
 *	administrator	layout.c: layouts, by generic netlink
 *
 * The module is loaded by intlayout(8), through the name of its netlink family, and by
 * net.hopcc.int_format. It has an input hook in network namespaces with a layout only.
 */
#include <linux/module.h>
#include <hopcc/lib/hop_version.h>

#include "net_tlm.h"

#define NTLM_DSCP_MAX 63
#define NTLM_DSCP_INTMD_DEFAULT 27

unsigned int ntlm_net_id;

u8 ntlm_dscp_intmd = NTLM_DSCP_INTMD_DEFAULT;
module_param_named(dscp_intmd, ntlm_dscp_intmd, byte, 0444);
MODULE_PARM_DESC(dscp_intmd, "DSCP of packets with INT-MD, 0 to 63 (27)");

static const struct int_vendor_ops ntlm_ops = {
	.room = ntlm_room,
	.wrap = ntlm_wrap,
	.read = ntlm_read_probe,
	.learn = ntlm_learn,
};

/* A grace period ends before ntlm_net_exit(), so the hook does not use what that function frees. */
static void __net_exit ntlm_net_pre_exit(struct net *net)
{
	ntlm_unhook(net);
}

static void __net_exit ntlm_net_exit(struct net *net)
{
	ntlm_layout_free(net);
}

static struct pernet_operations ntlm_net_ops = {
	.pre_exit = ntlm_net_pre_exit,
	.exit = ntlm_net_exit,
	.id = &ntlm_net_id,
	.size = sizeof(struct ntlm_net),
};

static int __init ntlm_init(void)
{
	int err;

	static_assert(!offsetof(struct ntlm_flow, state));
	static_assert(INT_COUNT_BAD_IFA_LENGTH - INT_COUNT_BAD_IFA == IFA_FAULTS - 1);
	static_assert(INT_COUNT_BAD_IOAM_STACK - INT_COUNT_BAD_IOAM == IOAM_FAULTS - 1);
	static_assert(INT_COUNT_BAD_INTMD_STACK - INT_COUNT_BAD_INTMD == INTMD_FAULTS - 1);
	static_assert(INT_VENDOR_FORMAT_MAX == TLM_FORMATS);

	if (ntlm_dscp_intmd > NTLM_DSCP_MAX)
		return -EINVAL;
	err = register_pernet_subsys(&ntlm_net_ops);
	if (err)
		return err;
	/* In front of the first layout, by which packets arrive. */
	nint_vendor_register(&ntlm_ops);
	err = ntlm_layout_init();
	if (err) {
		nint_vendor_unregister();
		unregister_pernet_subsys(&ntlm_net_ops);
	}
	return err;
}

/* The state of flows stays with net_int, which frees it. */
static void __exit ntlm_exit(void)
{
	nint_vendor_unregister();
	ntlm_layout_exit();
	unregister_pernet_subsys(&ntlm_net_ops);
}

module_init(ntlm_init);
module_exit(ntlm_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Telemetry of other vendors for HPCC++: IFA, IOAM, INT-MD");
MODULE_VERSION(HOPCC_VERSION);
