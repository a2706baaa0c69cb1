// SPDX-License-Identifier: GPL-2.0
/*
 * net_csig_tag: the CSIG carrier at end hosts, draft-ravi-ippm-csig-01 sections 4.2 to 4.4, 5.3.2,
 * 6.3.3 and 9. The algorithms are in csig_carrier.h; this module connects them to the network
 * stack.
 *
 *	+------------------- TCP -------------------+
 *	| a congestion control: ctag_flow_read()    |
 *	+-------------------------------------------+
 *	 input.c: tag and option    |  output.c: negotiate, reflect, decide on a tag
 *	 LOCAL_IN         ^         |  POST_ROUTING
 *	                  | (router: forwarded, with the tag in skb->cb)
 *	 ingress.c: off --+---------+--> egress.c: on
 *	 EtherType's handler           a trusted port's egress hook
 *
 * If a tunnel starts or ends at a router or a bridge, tunnel.c moves tags into and out of it.
 *
 * CSIG is used only if net.hopcc.csig allows it, and on ports that net.hopcc.csig_ports names.
 *
 * Not implemented:
 * - 6.3.3.1 LLDP TLV: left to future versions of the draft.
 * - 4.2.2 QUIC, PonyExpress: their wire formats are not defined in the kernel.
 */
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <hopcc/lib/hop_version.h>

#include "net_csig_tag.h"

#define CREATE_TRACE_POINTS
#include "trace.h"

unsigned int ctag_net_id;
u64 ctag_secret;
struct csig_tpids ctag_tpids = {
	.tpid[CSIG_COMPACT] = CSIG_TPID_COMPACT_DEFAULT,
	.tpid[CSIG_EXPANDED] = CSIG_TPID_EXPANDED_DEFAULT,
};

module_param_named(tpid_compact, ctag_tpids.tpid[CSIG_COMPACT], ushort, 0444);
MODULE_PARM_DESC(tpid_compact, "EtherType of compact tags, 1536 to 65535 (34997)");
module_param_named(tpid_expanded, ctag_tpids.tpid[CSIG_EXPANDED], ushort, 0444);
MODULE_PARM_DESC(tpid_expanded, "EtherType of expanded tags, 1536 to 65535 (34998)");

ushort ctag_exid = CSIG_EXID_DEFAULT;
module_param_named(exid, ctag_exid, ushort, 0444);
MODULE_PARM_DESC(exid, "ExID of the TCP option, RFC 6994 (17235)");

module_param_named(port_vxlan, ctag_vxlan_port, ushort, 0444);
MODULE_PARM_DESC(port_vxlan, "UDP port of VXLAN packets whose tags are copied to the inner packet (4789)");
module_param_named(port_geneve, ctag_geneve_port, ushort, 0444);
MODULE_PARM_DESC(port_geneve, "UDP port of GENEVE, as port_vxlan (6081)");

static int __net_init ctag_net_init(struct net *net)
{
	struct ctag_net *cn = ctag_net(net);
	int err;

	ctag_knobs_default(cn);
	mutex_init(&cn->hook_lock);
	err = ctag_text_set(cn, CTAG_SCALES, "");
	if (err)
		return err;
	err = ctag_ports_start(cn, net);
	if (err)
		goto no_ports;
	err = hop_carrier_start(net, &ctag_carrier);
	if (!err)
		return 0;
	ctag_ports_stop(cn);
no_ports:
	/* No lock: no sysctl and no hook of this namespace exist yet. */
	kfree(rcu_dereference_protected(cn->texts[CTAG_SCALES], true));
	return err;
}

/* A grace period ends before ctag_net_exit(), so no hook uses what that frees. */
static void __net_exit ctag_net_pre_exit(struct net *net)
{
	struct ctag_net *cn = ctag_net(net);

	/* A write to its sysctl could create ports again. */
	hop_sysctl_stop(&cn->carrier.sysctl);
	ctag_ports_stop(cn);
	if (cn->hooked)
		ctag_unhook(cn);
}

static void __net_exit ctag_net_exit(struct net *net)
{
	struct ctag_net *cn = ctag_net(net);
	u32 i;

	xa_destroy(&cn->ports);
	hop_carrier_stop(&cn->carrier);
	for (i = 0; i < CTAG_TEXTS; i++) {
		/* No lock: sysctls and hooks are gone, and a grace period has ended. */
		kfree(rcu_dereference_protected(cn->texts[i], true));
	}
}

static struct pernet_operations ctag_net_ops = {
	.init = ctag_net_init,
	.pre_exit = ctag_net_pre_exit,
	.exit = ctag_net_exit,
	.id = &ctag_net_id,
	.size = sizeof(struct ctag_net),
};

static int __init ctag_init(void)
{
	int err;

	static_assert(!offsetof(struct ctag_net, carrier));
	/* A mark uses bytes of skb->cb that neither IP nor segmentation uses. */
	static_assert(sizeof(struct inet_skb_parm) <= CTAG_MARK_OFFSET);
	static_assert(sizeof(struct inet6_skb_parm) <= CTAG_MARK_OFFSET);
	static_assert(CTAG_MARK_OFFSET + CSIG_MARK_BYTES <= SKB_GSO_CB_OFFSET);

	if (min(ctag_tpids.tpid[CSIG_COMPACT], ctag_tpids.tpid[CSIG_EXPANDED]) < ETH_P_802_3_MIN ||
	    ctag_tpids.tpid[CSIG_COMPACT] == ctag_tpids.tpid[CSIG_EXPANDED])
		return -EINVAL;
	get_random_bytes(&ctag_secret, sizeof(ctag_secret));
	ctag_tunnel_init();
	err = register_pernet_subsys(&ctag_net_ops);
	if (err)
		return err;
	err = ctag_netlink_init();
	if (err)
		goto no_netlink;
	err = ctag_kfunc_init();
	if (err)
		goto no_kfunc;
	ctag_gro_init();
	ctag_ingress_init();
	return 0;

no_kfunc:
	ctag_netlink_exit();
no_netlink:
	unregister_pernet_subsys(&ctag_net_ops);
	return err;
}

/* Congestion controls hold a reference to this module, so no flow is open. */
static void __exit ctag_exit(void)
{
	ctag_gro_exit();
	ctag_ingress_exit();
	ctag_netlink_exit();
	unregister_pernet_subsys(&ctag_net_ops);
	hop_flow_retire(&ctag_carrier);
}

module_init(ctag_init);
module_exit(ctag_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("CSIG carrier: tags and reflections (draft-ravi-ippm-csig-01)");
MODULE_VERSION(HOPCC_VERSION);
