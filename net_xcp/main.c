// SPDX-License-Identifier: GPL-2.0
/*
 * net_xcp: carries XCP's congestion header, draft-falk-xcp-spec-00, between IP and TCP. The
 * algorithm is in xcp_carrier.h; this file connects it to the stack.
 *
 *	        +--------------------- TCP ----------------------+
 *	        | tcp_xcp: xcp_flow_offer(), _take_feedback()    |
 *	        +------------------------------------------------+
 *	 conntrack, firewall: TCP    ^            |   conntrack, NAT: TCP
 *	 input.c: strip, sum  -------+            +-> output.c: ask, answer
 *
 * The carrier adds demands for sockets whose congestion control is "xcp". It returns feedback in
 * the next packet, data or ACK, of any socket whose peer supports XCP. Packets with a malformed
 * header are left unchanged to the stack, which answers that it does not know the protocol.
 *
 * Tunnels (section 2.5) are in tunnel.c, AH and ESP (2.3) in ipsec.c. Both are off by default and
 * switched on by a sysctl. While off, a header in front of either is left in place, and an ICMP
 * error informs the near end that this host refuses its copies.
 */
#include <linux/module.h>
#include <hopcc/core/hop_hook.h>
#include <hopcc/core/hop_option.h>
#include <hopcc/lib/hop_version.h>
#include <net/tcp.h>

#include "net_xcp.h"

#define CREATE_TRACE_POINTS
#include "trace.h"

unsigned int xcp_net_id;

u8 nxcp_protocol = XCP_PROTOCOL_DEFAULT;
module_param_named(protocol, nxcp_protocol, byte, 0444);
MODULE_PARM_DESC(protocol, "IP protocol number of the congestion header, 1 to 255 (63)");

/*
 * With tunnels or IPsec, the hooks need packets of all protocols, also those of forwarded
 * connections. The carrier sees packets while it is off, because GSO packets of other namespaces
 * must still be forwarded.
 */
static int nxcp_hook(void *state)
{
	struct nxcp_net *xn = state;
	const struct hop_hook_request request = {
		.protocol = nxcp_protocol,
		.options = xn->on,
		.all = xn->on && (xn->tunnel || xn->ipsec),
	};
	int err = request.all ? nxcp_sent_start(xn) : 0;

	if (!err)
		hop_hook_start(xn->carrier.net, &nxcp_carrier, &request);
	return err;
}

/* Minimal, the value between the two, has no room for the congestion control's offer. */
static bool nxcp_may_be_format(unsigned int value)
{
	return value == XCP_FORMAT_STANDARD || value == XCP_FORMAT_MICRO;
}

static int nxcp_set_format(compat_ctl_table *table, int write, void *buffer, size_t *len,
			   loff_t *pos)
{
	return hop_sysctl_set_if(table, write, buffer, len, pos, nxcp_may_be_format);
}

static int nxcp_set_hooks(compat_ctl_table *table, int write, void *buffer, size_t *len,
			  loff_t *pos)
{
	return hop_hook_knob(table, write, buffer, len, pos, nxcp_hook,
			     nxcp_net(hop_sysctl_net(table)));
}

/* The last entry terminates the table on kernels that do not count the entries. */
static const struct ctl_table nxcp_table[] = {
	HOP_SYSCTL("xcp", 0644, struct nxcp_net, on, nxcp_set_hooks, SYSCTL_ZERO, SYSCTL_TWO),
	HOP_SYSCTL("xcp_format", 0644, struct nxcp_net, format, nxcp_set_format, NULL,
		   hop_sysctl_words("N, N 1 or 3")),
	HOP_SYSCTL_NUMBER("xcp_unsupported_s", struct nxcp_net, carrier.unsupported_s, 0,
			  HOP_RECENT_MAX_S),
	HOP_SYSCTL_NUMBER("xcp_gso", struct nxcp_net, gso, 0, 1),
	HOP_SYSCTL("xcp_tunnel", 0644, struct nxcp_net, tunnel, nxcp_set_hooks, SYSCTL_ZERO,
		   SYSCTL_ONE),
	HOP_SYSCTL("xcp_ipsec", 0644, struct nxcp_net, ipsec, nxcp_set_hooks, SYSCTL_ZERO,
		   SYSCTL_ONE),
	{ }
};

/* The SYN of its sockets asks for XCP, before the congestion control can open the flow. */
#define XCP_CC_NAME "xcp"

static bool nxcp_is_asking(const struct hop_flow_key *key, const struct sock *sk)
{
	return !strcmp(READ_ONCE(inet_csk(sk)->icsk_ca_ops)->name, XCP_CC_NAME);
}

static const char * const xcp_count_names[] = { XCP_COUNT_LIST(HOP_COUNTER_NAME) };
static atomic_t nxcp_flow_entries = ATOMIC_INIT(0);

const struct hop_carrier nxcp_carrier = {
	.order = 0,
	.input = nxcp_input,
	.output = nxcp_output,
	.net_id = &xcp_net_id,
	.file = "hopcc_xcp",
	.table = nxcp_table,
	.names = xcp_count_names,
	.counts = XCP_COUNTS,
	.icmp_refused = XCP_COUNT_ICMP_REFUSED,
	.trace = trace_xcp_discover,
	.state_bytes = sizeof(struct xcp_flow),
	.entries = &nxcp_flow_entries,
	.start = nxcp_flow_start,
	.leave = nxcp_flow_leave,
	.bit = HOP_OPTION_XCP,
	.in_front = true,
	.asks = nxcp_is_asking,
};

static int __net_init nxcp_net_init(struct net *net)
{
	struct nxcp_net *xn = nxcp_net(net);
	int err;

	xn->on = 1;
	xn->format = XCP_FORMAT_MICRO;
	xn->gso = 1;
	spin_lock_init(&xn->unsupported_tunnels.lock);
	err = hop_carrier_start(net, &nxcp_carrier);
	if (err)
		return err;
	/* Only tunnels and IPsec, which are off, need memory. */
	nxcp_hook(xn);
	return 0;
}

/* A grace period passes before nxcp_net_exit(), so no hook still uses the memory that it frees. */
static void __net_exit nxcp_net_pre_exit(struct net *net)
{
	/* Writing a sysctl could start the hooks again. */
	hop_sysctl_stop(&nxcp_net(net)->carrier.sysctl);
	hop_hook_stop(net, &nxcp_carrier);
}

static void __net_exit nxcp_net_exit(struct net *net)
{
	struct nxcp_net *xn = nxcp_net(net);

	kvfree(xn->sent);
	hop_carrier_stop(&xn->carrier);
}

static struct pernet_operations nxcp_net_ops = {
	.init = nxcp_net_init,
	.pre_exit = nxcp_net_pre_exit,
	.exit = nxcp_net_exit,
	.id = &xcp_net_id,
	.size = sizeof(struct nxcp_net),
};

static int __init nxcp_init(void)
{
	static_assert(!offsetof(struct nxcp_net, carrier));
	static_assert(XCP_COUNT_BAD_NEXT - XCP_COUNT_BAD == XCP_FAULTS - 1);
	static_assert(sizeof(struct xcp_hdr) == XCP_HDR_BYTES);

	return hop_proto_register(&nxcp_proto, nxcp_protocol, &nxcp_net_ops);
}

static void __exit nxcp_exit(void)
{
	hop_proto_unregister(&nxcp_proto, nxcp_protocol, &nxcp_net_ops, &nxcp_carrier);
}

module_init(nxcp_init);
module_exit(nxcp_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("XCP carrier: congestion header of TCP flows (draft-falk-xcp-spec-00)");
MODULE_VERSION(HOPCC_VERSION);
