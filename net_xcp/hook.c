// SPDX-License-Identifier: GPL-2.0
/* The carrier in hop_core's hooks. */

#include <hopcc/core/hop_hook.h>

#include "net_xcp.h"

static const struct hop_carrier nxcp_carrier = {
	.order = HOP_HOOK_XCP,
	.input = nxcp_input,
	.output = nxcp_output,
};

/*
 * With tunnels or IPsec, the hooks need packets of all protocols, also those of forwarded
 * connections. The hooks stay registered while the carrier is off, because GSO packets of other
 * namespaces must still be forwarded.
 */
int nxcp_hook(void *state)
{
	struct nxcp_net *xn = state;
	const struct hop_hook_request request = {
		.protocol = nxcp_protocol,
		.options = xn->on,
		.all = xn->on && (xn->tunnel || xn->ipsec),
	};
	int err = request.all ? nxcp_sent_start(xn) : 0;

	return err ?: hop_hook_start(xn->carrier.net, &nxcp_carrier, &request);
}

void nxcp_unhook(struct net *net)
{
	hop_hook_stop(net, &nxcp_carrier);
}
