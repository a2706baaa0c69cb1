// SPDX-License-Identifier: GPL-2.0
/* The netfilter hooks of the carrier, which a network namespace has only where CSIG is in use. */

#include "net_csig_tag.h"

static int ctag_start_hooks(struct ctag_net *cn)
{
	struct net *net = cn->carrier.net;
	int err = nf_register_net_hooks(net, ctag_input_hooks, ARRAY_SIZE(ctag_input_hooks));

	if (err)
		return err;
	err = nf_register_net_hooks(net, ctag_output_hooks, ARRAY_SIZE(ctag_output_hooks));
	if (err)
		nf_unregister_net_hooks(net, ctag_input_hooks, ARRAY_SIZE(ctag_input_hooks));
	return err;
}

void ctag_unhook(struct ctag_net *cn)
{
	struct net *net = cn->carrier.net;

	nf_unregister_net_hooks(net, ctag_output_hooks, ARRAY_SIZE(ctag_output_hooks));
	nf_unregister_net_hooks(net, ctag_input_hooks, ARRAY_SIZE(ctag_input_hooks));
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
		err = ctag_start_hooks(cn);
	else if (!wanted && cn->hooked)
		ctag_unhook(cn);
	if (!err)
		cn->hooked = wanted;
	mutex_unlock(&cn->hook_lock);
	return err;
}
