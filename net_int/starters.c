// SPDX-License-Identifier: GPL-2.0
/*
 * N, section 6.3.2: the number of flows that arrive by the same device and have the link to it as
 * their bottleneck. The law is in int_receiver.h.
 */
#include <linux/jhash.h>
#include <linux/slab.h>
#include <net/netns/hash.h>

#include "net_int.h"

/* Context: in->starters_lock is held. Return: the place of the device, or one that it may have. */
static struct nint_starters **nint_find_place(struct nint_net *in, u32 device, u64 now_ns)
{
	struct nint_starters **free = NULL;
	unsigned int i;

	lockdep_assert_held(&in->starters_lock);
	for (i = 0; i < INT_STARTERS; i++) {
		struct nint_starters **place = &in->starters[(device + i) % INT_STARTERS];

		if (*place && (*place)->device == device)
			return place;
		if (!free && (!*place || nint_starters_is_idle(*place, now_ns)))
			free = place;
	}
	return free;
}

/* Context: in->starters_lock is held. Return: NULL if no place is free or memory is short. */
static struct nint_starters *nint_get_starters(struct nint_net *in, u32 device, u64 now_ns)
{
	struct nint_starters **place = nint_find_place(in, device, now_ns);

	lockdep_assert_held(&in->starters_lock);
	if (!place)
		return NULL;
	if (!*place) {
		*place = kzalloc(sizeof(**place), GFP_ATOMIC);
		if (!*place) {
			nint_count(in, INT_COUNT_NO_MEMORY);
			return NULL;
		}
	}
	if ((*place)->device != device)
		nint_starters_init(*place, device, now_ns);
	return *place;
}

/*
 * Counts a flow whose bottleneck is the last hop, to @dev. Return: N; 0: not known. If no answer is
 * due, N is that of the last answer. nint_count_flows() holds the lock of the flow that @r is part
 * of.
 */
u32 nint_starters_count(struct nint_net *in, const struct net_device *dev,
			const struct hop_flow_key *key, struct nint_receiver *r, bool answer,
			u64 now_ns)
{
	const u32 client = jhash2((const u32 *)key->peer.s6_addr32, ARRAY_SIZE(key->peer.s6_addr32),
				  net_hash_mix(in->carrier.net)) % INT_STARTERS_CLIENTS;
	struct nint_starters *s;
	bool clipped = false;
	u32 flows = answer ? 0 : r->counted;

	spin_lock(&in->starters_lock);
	s = nint_get_starters(in, dev->ifindex, now_ns);
	if (s) {
		clipped = !nint_starters_join(s, client, r, now_ns);
		if (answer)
			flows = nint_starters_flows(s, client, now_ns);
	}
	spin_unlock(&in->starters_lock);
	if (clipped)
		nint_count(in, INT_COUNT_N_CLIPPED);
	return flows;
}

void nint_starters_free(struct nint_net *in)
{
	unsigned int i;

	for (i = 0; i < INT_STARTERS; i++)
		kfree(in->starters[i]);
}
