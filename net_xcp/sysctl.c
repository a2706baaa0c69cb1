// SPDX-License-Identifier: GPL-2.0
/* The sysctls of the carrier, net.hopcc.xcp and net.hopcc.xcp_*. */

#include <hopcc/core/hop_hook.h>

#include "net_xcp.h"

static unsigned int nxcp_unsupported_max_s = HOP_UNSUPPORTED_MAX_S;

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

#define NXCP_KNOB(name, handler, member, low, high)			\
	{								\
		.procname	= name,					\
		.data		= hop_sysctl_at(struct nxcp_net, member), \
		.maxlen		= sizeof(unsigned int),			\
		.mode		= 0644,					\
		.proc_handler	= handler,				\
		.extra1		= low,					\
		.extra2		= high,					\
	}

/* The last entry terminates the table on kernels that do not count the entries. */
const struct ctl_table nxcp_table[XCP_SYSCTLS + 1] = {
	NXCP_KNOB("xcp", nxcp_set_on, on, SYSCTL_ZERO, SYSCTL_TWO),
	NXCP_KNOB("xcp_format", nxcp_set_format, format, NULL, hop_sysctl_words("N, N 1 or 3")),
	hop_sysctl_renamed(NXCP_KNOB, "xcp_unsupported_s", "xcp_silent_s", proc_douintvec_minmax,
			   unsupported_s, SYSCTL_ZERO, &nxcp_unsupported_max_s),
	NXCP_KNOB("xcp_gso", proc_douintvec_minmax, gso, SYSCTL_ZERO, SYSCTL_ONE),
	NXCP_KNOB("xcp_tunnel", nxcp_set_tunnel, tunnel, SYSCTL_ZERO, SYSCTL_ONE),
	NXCP_KNOB("xcp_ipsec", nxcp_set_ipsec, ipsec, SYSCTL_ZERO, SYSCTL_ONE),
	{ }
};

void nxcp_knobs_default(struct nxcp_net *xn)
{
	xn->on = 1;
	xn->format = XCP_FORMAT_MICRO;
	xn->unsupported_s = HOP_UNSUPPORTED_DEFAULT_S;
	xn->gso = 1;
}
