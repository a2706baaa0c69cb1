// SPDX-License-Identifier: GPL-2.0
/* The carrier in hop_core's hooks. */

#include <linux/mutex.h>
#include <hopcc/core/hop_hook.h>

#include "net_int.h"

static const struct hop_carrier nint_carrier = {
	.order = HOP_HOOK_INT,
	.input = nint_input,
	.output = nint_output,
};

/*
 * Answers are options and segments of TCP. Switches may insert INT-MD into data of any connection.
 * GSO packets of other namespaces are forwarded even where the carrier is off.
 */
int nint_hook(void *state)
{
	const struct nint_net *in = state;
	struct hop_hook_request request = { .protocol = nint_protocol };
	static DEFINE_MUTEX(lock);	/* the last caller uses the latest values */
	int err;

	mutex_lock(&lock);
	request.options = in->on;
	request.segments = in->on;
	request.dscp = nint_dscp_intmd;
	rcu_read_lock();
	if (in->on && nint_reads(in, TLM_IFA))
		request.other = IFA_PROTOCOL;
	request.marked = in->on && nint_reads(in, TLM_INT_MD);
	rcu_read_unlock();
	err = hop_hook_start(in->carrier.net, &nint_carrier, &request);
	mutex_unlock(&lock);
	return err;
}

void nint_unhook(struct net *net)
{
	hop_hook_stop(net, &nint_carrier);
}
