// SPDX-License-Identifier: GPL-2.0
/* The netfilter hooks of the carrier, which a network namespace has only where CSIG is in use. */

#include <hopcc/core/hop_hook.h>

#include "net_csig_tag.h"

static const struct nf_hook_ops ctag_hooks[] = {
	HOP_HOOK(ctag_input, NFPROTO_IPV4, NF_INET_LOCAL_IN, INT_MAX),
	HOP_HOOK(ctag_input, NFPROTO_IPV6, NF_INET_LOCAL_IN, INT_MAX),
	HOP_HOOK(ctag_output, NFPROTO_IPV4, NF_INET_POST_ROUTING, HOP_HOOK_OUTPUT_TAG),
	HOP_HOOK(ctag_output, NFPROTO_IPV6, NF_INET_POST_ROUTING, HOP_HOOK_OUTPUT_TAG),
};

void ctag_unhook(struct ctag_net *cn)
{
	nf_unregister_net_hooks(cn->carrier.net, ctag_hooks, ARRAY_SIZE(ctag_hooks));
}

/*
 * Registers the netfilter hooks if CSIG is on in the netns or the netns has ports: packets that
 * leave by ports must carry no other tags than ours. @also: the netns is about to have ports.
 * Context: process. Return: 0, or an error and leaves the hooks unchanged.
 */
int ctag_hook(struct ctag_net *cn, bool also)
{
	bool wanted;
	int err = 0;

	mutex_lock(&cn->hook_lock);
	wanted = also || READ_ONCE(cn->level) || cn->port_names[0];
	if (wanted && !cn->hooked)
		err = nf_register_net_hooks(cn->carrier.net, ctag_hooks, ARRAY_SIZE(ctag_hooks));
	else if (!wanted && cn->hooked)
		ctag_unhook(cn);
	if (!err)
		cn->hooked = wanted;
	mutex_unlock(&cn->hook_lock);
	return err;
}
