// SPDX-License-Identifier: GPL-2.0
/* The sysctls of the carrier, net.hopcc.xcp and net.hopcc.xcp_*. */

#include <hopcc/core/hop_hook.h>

#include "net_xcp.h"

/* Reject Minimal, the value between the two: it has no room for the congestion control's offer. */
static int nxcp_set_format(compat_ctl_table *table, int write, void *buffer, size_t *len,
			   loff_t *pos)
{
	unsigned int *format = table->data, value = READ_ONCE(*format);
	struct ctl_table one = { .data = &value, .maxlen = sizeof(value) };
	int err = proc_douintvec(&one, write, buffer, len, pos);

	if (err || !write)
		return err;
	if (value != XCP_FORMAT_STANDARD && value != XCP_FORMAT_MICRO)
		return -EINVAL;
	WRITE_ONCE(*format, value);
	return 0;
}

static int nxcp_set_on(compat_ctl_table *table, int write, void *buffer, size_t *len, loff_t *pos)
{
	return hop_hook_knob(table, write, buffer, len, pos, nxcp_hook,
			     container_of(table->data, struct nxcp_net, on));
}

static int nxcp_set_tunnel(compat_ctl_table *table, int write, void *buffer, size_t *len,
			   loff_t *pos)
{
	return hop_hook_knob(table, write, buffer, len, pos, nxcp_hook,
			     container_of(table->data, struct nxcp_net, tunnel));
}

static int nxcp_set_ipsec(compat_ctl_table *table, int write, void *buffer, size_t *len,
			  loff_t *pos)
{
	return hop_hook_knob(table, write, buffer, len, pos, nxcp_hook,
			     container_of(table->data, struct nxcp_net, ipsec));
}

/* The last entry terminates the table on kernels that do not count the entries. */
const struct ctl_table nxcp_table[XCP_SYSCTLS + 1] = {
	HOP_SYSCTL("xcp", 0644, struct nxcp_net, on, nxcp_set_on, SYSCTL_ZERO, SYSCTL_TWO),
	HOP_SYSCTL("xcp_format", 0644, struct nxcp_net, format, nxcp_set_format, NULL,
		   hop_sysctl_words("N, N 1 or 3")),
	HOP_SYSCTL("xcp_unsupported_s", 0644, struct nxcp_net, unsupported_s, proc_douintvec_minmax,
		   SYSCTL_ZERO, hop_sysctl_bound(HOP_UNSUPPORTED_MAX_S)),
	HOP_SYSCTL("xcp_gso", 0644, struct nxcp_net, gso, proc_douintvec_minmax, SYSCTL_ZERO,
		   SYSCTL_ONE),
	HOP_SYSCTL("xcp_tunnel", 0644, struct nxcp_net, tunnel, nxcp_set_tunnel, SYSCTL_ZERO,
		   SYSCTL_ONE),
	HOP_SYSCTL("xcp_ipsec", 0644, struct nxcp_net, ipsec, nxcp_set_ipsec, SYSCTL_ZERO,
		   SYSCTL_ONE),
	{ }
};

void nxcp_knobs_default(struct nxcp_net *xn)
{
	xn->on = 1;
	xn->format = XCP_FORMAT_MICRO;
	xn->unsupported_s = HOP_UNSUPPORTED_DEFAULT_S;
	xn->gso = 1;
}
