// SPDX-License-Identifier: GPL-2.0
/* The carrier in hop_core's hooks. */

#include <hopcc/core/hop_hook.h>

#include "net_int.h"

static const struct hop_carrier nint_carrier = {
	.order = HOP_HOOK_INT,
	.input = nint_input,
	.output = nint_output,
	.hs = &nint_handshake_ops,
};

/*
 * Answers are options and segments of TCP, and data in UDP is found by its flow. GSO packets of
 * other namespaces are forwarded even where the carrier is off.
 */
int nint_hook(void *state)
{
	const struct nint_net *in = state;
	const struct hop_hook_wish wish = { .protocol = nint_protocol, .segments = in->on };

	return hop_hook_start(in->net, &nint_carrier, &wish);
}

void nint_unhook(struct net *net)
{
	hop_hook_stop(net, &nint_carrier);
}
