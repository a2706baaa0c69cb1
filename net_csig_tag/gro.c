// SPDX-License-Identifier: GPL-2.0
/*
 * Received packets with tags are merged like those without, if they request the same signal; the
 * merged packet has the worst value and its locator. GSO packets whose protocol is the tag's
 * EtherType, as they occur on bridges, can be segmented.
 */
#include <linux/netdevice.h>
#include <net/gro.h>
#include <hopcc/core/hop_gro.h>

#include "net_csig_tag.h"

/* Set when the module is removed: no more packets are merged. */
static bool retired;

/* Return: true if the held packet @p may be merged with a packet that has this tag. */
static bool ctag_may_merge(const struct sk_buff *p, u32 at_bytes, enum csig_form form,
			   const struct csig_tag *t, u16 inner)
{
	const u8 *data = p->data + at_bytes;
	const u32 data_bytes = csig_data_bytes(form);

	return csig_ether_type(data, data_bytes) == inner &&
	       csig_read(form, data).type == t->type &&
	       (!skb_cloned(p) || skb_clone_writable(p, at_bytes + data_bytes));
}

/*
 * @skb was merged into the first held packet that GRO has marked as one of the same flow: keep the
 * worse of both tags there.
 */
static void ctag_keep_worst(struct list_head *head, u32 at_bytes, enum csig_form form,
			    const struct csig_tag *t)
{
	struct csig_tag held;
	struct sk_buff *p;

	list_for_each_entry(p, head, list) {
		if (!NAPI_GRO_CB(p)->same_flow)
			continue;
		held = csig_read(form, p->data + at_bytes);
		if (csig_worse(t->type, t->value, held.value))
			csig_write(form, p->data + at_bytes, t);
		return;
	}
}

static struct sk_buff *ctag_gro_receive(struct list_head *head, struct sk_buff *skb,
					enum csig_form form)
{
	const u32 hdr_bytes = csig_data_bytes(form) + CSIG_TPID_BYTES;
	const u32 at_bytes = skb_gro_offset(skb);
	const u8 *data = skb_gro_header(skb, at_bytes + hdr_bytes, at_bytes);
	const struct packet_offload *offload;
	struct sk_buff *p, *done = NULL;
	struct csig_tag t;
	int flush = 1;
	u16 inner;

	if (!data || READ_ONCE(retired))
		goto out;
	inner = csig_ether_type(data, csig_data_bytes(form));
	t = csig_read(form, data);
	offload = gro_find_receive_by_type(htons(inner));
	/* Packets with further tags of any kind are not merged. */
	if (!offload || csig_form_of(&ctag_tpids, inner) || csig_is_vlan(inner))
		goto out;
	flush = 0;
	list_for_each_entry(p, head, list)
		if (NAPI_GRO_CB(p)->same_flow && !ctag_may_merge(p, at_bytes, form, &t, inner))
			NAPI_GRO_CB(p)->same_flow = 0;
	skb_gro_pull(skb, hdr_bytes);
	skb_gro_postpull_rcsum(skb, data, hdr_bytes);
	done = call_gro_receive(offload->callbacks.gro_receive, head, skb);
	if (!IS_ERR(done) && NAPI_GRO_CB(skb)->same_flow)
		ctag_keep_worst(head, at_bytes, form, &t);
out:
	skb_gro_flush_final(skb, done, flush);
	return done;
}

/*
 * @skb is a merged packet. A bridge may pass it to a NIC, which must not segment it: see egress.c.
 */
static int ctag_gro_complete(struct sk_buff *skb, int at_bytes, enum csig_form form)
{
	const u32 data_bytes = csig_data_bytes(form);
	const u16 inner = csig_ether_type(skb->data + at_bytes, data_bytes);
	const struct packet_offload *offload = gro_find_complete_by_type(htons(inner));

	int err;

	if (!offload)
		return -ENOENT;
	err = offload->callbacks.gro_complete(skb, at_bytes + data_bytes + CSIG_TPID_BYTES);
	if (!err && !skb->encapsulation)
		hop_shim_mark_gso(skb);
	return err;
}

/*
 * skb->data is behind the MAC header. The tag becomes a part of the MAC header, so that the inner
 * protocol's segmentation copies it. The MAC headers of the segments stay so long: a device does
 * not read these fields of the skb, and its peer takes the tag's EtherType from the frame.
 */
static struct sk_buff *ctag_gso_segment(struct sk_buff *skb, netdev_features_t features,
					enum csig_form form)
{
	const u32 hdr_bytes = csig_data_bytes(form) + CSIG_TPID_BYTES;
	const __be16 protocol = skb->protocol;
	const u16 mac_bytes = skb->mac_len;
	struct sk_buff *segs;
	u16 inner;

	if (!pskb_may_pull(skb, hdr_bytes))
		return ERR_PTR(-EINVAL);
	inner = csig_ether_type(skb->data, csig_data_bytes(form));
	if (inner != ETH_P_IP && inner != ETH_P_IPV6)
		return ERR_PTR(-EINVAL);
	skb->protocol = htons(inner);
	skb_set_network_header(skb, hdr_bytes);
	__skb_push(skb, skb->data - skb_mac_header(skb));
	skb_reset_mac_len(skb);
	segs = skb_mac_gso_segment(skb, features & NETIF_F_SG);
	if (!IS_ERR_OR_NULL(segs))
		return segs;
	skb->protocol = protocol;
	skb->mac_len = mac_bytes;
	skb_set_network_header(skb, mac_bytes);
	return segs;
}

/* GSO and GRO of a format. The kernel has no argument that tells two EtherTypes apart. */
#define CTAG_OFFLOAD(name, form)						\
	static struct sk_buff *ctag_gro_receive_##name(struct list_head *head,	\
						       struct sk_buff *skb)	\
	{									\
		return ctag_gro_receive(head, skb, form);			\
	}									\
	static int ctag_gro_complete_##name(struct sk_buff *skb, int at_bytes)	\
	{									\
		return ctag_gro_complete(skb, at_bytes, form);			\
	}									\
	static struct sk_buff *ctag_gso_segment_##name(struct sk_buff *skb,	\
						       netdev_features_t features) \
	{									\
		return ctag_gso_segment(skb, features, form);			\
	}									\
	static struct packet_offload ctag_offload_##name = {			\
		.priority = 10,							\
		.callbacks = {							\
			.gro_receive = ctag_gro_receive_##name,			\
			.gro_complete = ctag_gro_complete_##name,		\
			.gso_segment = ctag_gso_segment_##name,			\
		},								\
	}

CTAG_OFFLOAD(compact, CSIG_COMPACT);
CTAG_OFFLOAD(expanded, CSIG_EXPANDED);

void ctag_gro_init(void)
{
	ctag_offload_compact.type = htons(ctag_tpids.tpid[CSIG_COMPACT]);
	ctag_offload_expanded.type = htons(ctag_tpids.tpid[CSIG_EXPANDED]);
	dev_add_offload(&ctag_offload_compact);
	dev_add_offload(&ctag_offload_expanded);
}

/* When the module is removed: stop merging and flush the held packets. */
void ctag_gro_exit(void)
{
	WRITE_ONCE(retired, true);
	hop_gro_flush();
	dev_remove_offload(&ctag_offload_expanded);
	dev_remove_offload(&ctag_offload_compact);
}
