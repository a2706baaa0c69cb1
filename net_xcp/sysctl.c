// SPDX-License-Identifier: GPL-2.0
/* The sysctls of the carrier, net.hopcc.xcp and net.hopcc.xcp_*. */

#include <hopcc/core/hop_hook.h>

#include "net_xcp.h"

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
const struct ctl_table nxcp_table[] = {
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

void nxcp_knobs_default(struct nxcp_net *xn)
{
	xn->on = 1;
	xn->format = XCP_FORMAT_MICRO;
	xn->gso = 1;
}
