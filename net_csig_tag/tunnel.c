// SPDX-License-Identifier: GPL-2.0
/*
 * Tunnels that start and end at routers and bridges, section 7.1. Hops read only the tag of the
 * outer packet. So the tag is copied to the outer packet on entry, and is merged into the inner
 * packet on exit.
 *
 *	entry	POST_ROUTING --> tunnel's egress hook: ---> POST_ROUTING of --> port's egress
 *		or a bridge      mark by                    the outer packet:   hook: tag on
 *		                 tunnel_secret              mark by ctag_secret
 *	exit	port's EtherType --> LOCAL_IN of the outer --> tunnel's ingress hook: --> forwarded,
 *		handler: tag off     packet: kept by flow      taken by the packet       or bridged
 *
 * On entry the tag is carried in the mark of egress.c and ingress.c, because tunnels do not use
 * these 8 bytes of skb->cb. A separate secret shows that the packet entered by a tunnel that
 * net.hopcc.csig_ports names. On exit GRO overwrites skb->cb and merges inner packets. So the tag
 * waits in a table, by the inner packet's flow. The table has a fixed size; a flow replaces the
 * flow that uses its slot.
 */
#include <linux/if_arp.h>
#include <linux/ktime.h>
#include <linux/netdevice.h>
#include <linux/random.h>
#include <linux/siphash.h>

#include "net_csig_tag.h"

/**
 * struct decap_slot - outer tags of a flow
 * @lock: protects all other fields; taken with BH off
 * @flow: hash of the flow
 * @decap: outer tags of the flow
 */
struct decap_slot {
	spinlock_t lock;	/* protects all below */
	u64 flow;
	struct ctag_decap decap;
};

static struct decap_slot slots[CTAG_DECAP_SLOTS];
static siphash_key_t flow_secret;
static u64 tunnel_secret;

/* Context: process. */
void ctag_tunnel_init(void)
{
	u32 i;

	get_random_bytes(&flow_secret, sizeof(flow_secret));
	get_random_bytes(&tunnel_secret, sizeof(tunnel_secret));
	for (i = 0; i < CTAG_DECAP_SLOTS; i++)
		spin_lock_init(&slots[i].lock);
}

/**
 * ctag_tunnel_outer() - check if a packet is the outer one of a tunnel that a tag has entered
 * @skb: a packet that this host sends, around another one
 *
 * If it is, its mark is changed to one that a port's egress hook accepts.
 *
 * Context: RCU read lock.
 * Return: true if a named tunnel has marked it.
 */
bool ctag_tunnel_outer(struct sk_buff *skb)
{
	struct csig_tag t;
	const enum csig_form form = ctag_mark_read(ctag_mark(skb), &t, tunnel_secret);

	lockdep_assert_in_rcu_read_lock();
	if (form)
		ctag_mark_write(ctag_mark(skb), form, &t, ctag_secret);
	return form;
}

/* Reads the tag in a frame that a bridge forwards, or from a VLAN device above the tunnel. */
static enum csig_form ctag_read_frame(struct sk_buff *skb, const struct net_device *dev,
				      struct csig_tag *t)
{
	struct csig_place place;

	if (dev->type != ARPHRD_ETHER || !pskb_may_pull(skb, ETH_HLEN))
		return CSIG_NONE;
	place = csig_find(skb->data, min(skb_headlen(skb), CSIG_WALK_BYTES), skb->len,
			  &ctag_tpids);
	if (!place.form || place.fault)
		return CSIG_NONE;
	*t = csig_read(place.form, skb->data + place.offset_bytes + CSIG_TPID_BYTES);
	return place.form;
}

/*
 * Entry; skb->data is at the start of the frame or of the IP packet. There is no mark on a bridge
 * port, since bridges use skb->cb.
 */
unsigned int ctag_tunnel_egress(void *priv, struct sk_buff *skb,
				const struct nf_hook_state *state)
{
	struct csig_tag t;
	enum csig_form form = ctag_read_frame(skb, state->out, &t);

	if (!form && !netif_is_bridge_port(state->out))
		form = ctag_mark_read(ctag_mark(skb), &t, ctag_secret);
	ctag_mark_clear(skb);
	if (form) {
		ctag_mark_write(ctag_mark(skb), form, &t, tunnel_secret);
		ctag_count(ctag_net(state->net), CTAG_TUNNEL_IN);
	}
	return NF_ACCEPT;
}

/**
 * struct flow_words - input of a flow's hash; must have no padding
 * @net: the netns
 * @source: source address; IPv4 is v4-mapped
 * @destination: destination address; IPv4 is v4-mapped
 * @ports: both ports of TCP or UDP, otherwise 0
 * @protocol: protocol behind IP's headers
 */
struct flow_words {
	u64 net;
	struct in6_addr source;
	struct in6_addr destination;
	u32 ports;
	u32 protocol;
};

/* Return: false if the packet is too short. */
static bool ctag_hash_flow(const struct net *net, const struct sk_buff *skb,
			   const struct ctag_inner *inner, u64 *flow)
{
	struct flow_words words __aligned(SIPHASH_ALIGNMENT) = {
		.net = (uintptr_t)net,
		.protocol = inner->place.next,
	};

	if (!ctag_inner_addresses(skb, inner, &words.source, &words.destination))
		return false;
	if ((words.protocol == IPPROTO_TCP || words.protocol == IPPROTO_UDP) &&
	    skb_copy_bits(skb, inner->at_bytes + inner->place.offset_bytes, &words.ports,
			  sizeof(words.ports)))
		return false;
	*flow = siphash(&words, sizeof(words), &flow_secret);
	return true;
}

/**
 * ctag_tunnel_keep() - on exit, keep the outer tag for the inner packet
 * @cn: the carrier's state in the network namespace
 * @skb: the outer packet
 * @inner: the inner packet
 * @form: format of @t
 * @t: the outer tag
 *
 * Context: RCU read lock.
 */
void ctag_tunnel_keep(struct ctag_net *cn, const struct sk_buff *skb,
		      const struct ctag_inner *inner, enum csig_form form,
		      const struct csig_tag *t)
{
	const u64 now_ns = ktime_get_ns();
	struct decap_slot *slot;
	u64 flow;

	lockdep_assert_in_rcu_read_lock();
	if (t->type >= CSIG_TYPES || !ctag_hash_flow(cn->carrier.net, skb, inner, &flow)) {
		ctag_count(cn, CTAG_TUNNEL_LOST);
		return;
	}
	slot = &slots[flow % CTAG_DECAP_SLOTS];
	spin_lock_bh(&slot->lock);
	if (slot->flow != flow) {
		ctag_count_add(cn, CTAG_TUNNEL_LOST, ctag_decap_waiting(&slot->decap, now_ns));
		memset(&slot->decap, 0, sizeof(slot->decap));
		WRITE_ONCE(slot->flow, flow);
	}
	ctag_decap_put(&slot->decap, form, t, now_ns);
	spin_unlock_bh(&slot->lock);
}

/* Exit: takes the flow's outer tag of this signal; CSIG_TYPES: of any signal. */
static enum csig_form ctag_tunnel_take(const struct net *net, const struct sk_buff *skb,
				       const struct ctag_inner *inner, u32 type, struct csig_tag *t)
{
	enum csig_form form = CSIG_NONE;
	struct decap_slot *slot;
	u64 flow;

	if (!ctag_hash_flow(net, skb, inner, &flow))
		return CSIG_NONE;
	slot = &slots[flow % CTAG_DECAP_SLOTS];
	/* Most packets had no outer tag. */
	if (READ_ONCE(slot->flow) != flow)
		return CSIG_NONE;
	spin_lock_bh(&slot->lock);
	if (slot->flow == flow)
		form = ctag_decap_take(&slot->decap, type, t, ktime_get_ns());
	spin_unlock_bh(&slot->lock);
	return form;
}

/* The frame's tag, at skb->data, gets the value of the outer packet's tag if that is worse. */
static void ctag_tunnel_merge(struct ctag_net *cn, struct sk_buff *skb, enum csig_form form)
{
	const u32 data_bytes = csig_data_bytes(form);
	struct ctag_inner inner = { .at_bytes = data_bytes + CSIG_TPID_BYTES };
	struct csig_tag own, outer;
	enum csig_form outer_form;

	if (!pskb_may_pull(skb, inner.at_bytes))
		return;
	own = csig_read(form, skb->data);
	inner.protocol = htons(csig_ether_type(skb->data, data_bytes));
	if (own.type >= CSIG_TYPES ||
	    !hop_shim_find_at(skb, inner.at_bytes, inner.protocol, &inner.place))
		return;
	outer_form = ctag_tunnel_take(cn->carrier.net, skb, &inner, own.type, &outer);
	if (!outer_form)
		return;
	ctag_count(cn, outer_form == form ? CTAG_TUNNEL_OUT : CTAG_TUNNEL_LOST);
	if (outer_form != form || !csig_replace(&own, outer.value, outer.locator))
		return;
	if (skb_ensure_writable(skb, data_bytes)) {
		ctag_count(cn, CTAG_NO_MEMORY);
		return;
	}
	skb_postpull_rcsum(skb, skb->data, data_bytes);
	csig_write(form, skb->data, &own);
	skb_postpush_rcsum(skb, skb->data, data_bytes);
	ctag_count(cn, CTAG_TUNNEL_WORSE);
}

/*
 * Writes the end of a frame's header with this tag in front of the packet's IP header: the bytes
 * that ctag_received_tag() reads. For an IP tunnel, the MAC addresses are zeros.
 */
static bool ctag_put_frame(struct ctag_net *cn, struct sk_buff *skb, enum csig_form form,
			   const struct csig_tag *t)
{
	const u32 tag_bytes = csig_shapes[form].tag_bytes;
	const bool has_frame = skb->dev->type == ARPHRD_ETHER;
	u8 *mac;

	if (skb_cow_head(skb, ETH_HLEN + tag_bytes)) {
		ctag_count(cn, CTAG_NO_MEMORY);
		return false;
	}
	mac = skb->data - ETH_HLEN - tag_bytes;
	if (has_frame) {
		memmove(mac, mac + tag_bytes, 2 * ETH_ALEN);
	} else {
		memset(mac, 0, 2 * ETH_ALEN);
		memcpy(skb->data - CSIG_TPID_BYTES, &skb->protocol, CSIG_TPID_BYTES);
	}
	csig_put(form, mac + CSIG_FIRST_TAG_BYTES, &ctag_tpids, t);
	skb_set_mac_header(skb, mac - skb->data);
	return true;
}

/*
 * The bridge gets a frame with a tag, as if it had been received like that. The sender of a GSO
 * packet has left room for its tag.
 */
static void ctag_bridge_frame(struct ctag_net *cn, struct sk_buff *skb, enum csig_form form,
			      const struct csig_tag *t)
{
	const u32 tag_bytes = csig_shapes[form].tag_bytes;

	if (!skb_is_gso(skb) && skb->len + tag_bytes > READ_ONCE(skb->dev->mtu)) {
		ctag_count(cn, CTAG_NO_ROOM);
		return;
	}
	if (skb_is_gso(skb) && skb_unclone(skb, GFP_ATOMIC)) {
		ctag_count(cn, CTAG_NO_MEMORY);
		return;
	}
	if (!ctag_put_frame(cn, skb, form, t))
		return;
	if (skb_is_gso(skb))
		hop_shim_mark_gso(skb);
	__skb_push(skb, tag_bytes);
	skb_postpush_rcsum(skb, skb->data, tag_bytes);
	skb->protocol = htons(ctag_tpids.tpid[form]);
	skb_reset_network_header(skb);
}

static void ctag_tunnel_insert(struct ctag_net *cn, struct sk_buff *skb)
{
	struct ctag_inner inner = { .protocol = skb->protocol };
	enum csig_form form;
	struct csig_tag t;

	if (!hop_shim_find(skb, &inner.place))
		return;
	form = ctag_tunnel_take(cn->carrier.net, skb, &inner, CSIG_TYPES, &t);
	if (!form)
		return;
	ctag_count(cn, CTAG_TUNNEL_OUT);
	if (netif_is_bridge_port(skb->dev)) {
		ctag_bridge_frame(cn, skb, form, &t);
		return;
	}
	if (ctag_put_frame(cn, skb, form, &t))
		skb_reset_mac_len(skb);
}

/* Devices other than bridges that take over frames do not know tags. */
static bool ctag_is_taken(const struct net_device *dev)
{
	return rcu_access_pointer(dev->rx_handler) && !netif_is_bridge_port(dev);
}

/* Exit; skb->data is behind the frame's header, at a tag or at the IP header. */
unsigned int ctag_tunnel_ingress(void *priv, struct sk_buff *skb,
				 const struct nf_hook_state *state)
{
	const enum csig_form form = csig_form_of(&ctag_tpids, ntohs(skb->protocol));
	struct ctag_net *cn = ctag_net(state->net);
	struct csig_tag t;

	/* A frame whose tag ingress.c has removed is received a second time. */
	if (skb_shared(skb) || ctag_is_taken(skb->dev) ||
	    ctag_received_tag(cn, skb, skb->dev->ifindex, &t))
		return NF_ACCEPT;
	if (form)
		ctag_tunnel_merge(cn, skb, form);
	else
		ctag_tunnel_insert(cn, skb);
	return NF_ACCEPT;
}
