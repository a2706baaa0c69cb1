// SPDX-License-Identifier: GPL-2.0
/* A header between IP and the transport header; see hopcc/core/hop_shim.h. */

#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/module.h>
#include <hopcc/core/hop_shim.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <net/protocol.h>
#include <net/sock.h>
#if IS_ENABLED(CONFIG_NF_CONNTRACK)
#include <net/netfilter/nf_conntrack.h>
#include <net/netfilter/nf_conntrack_extend.h>
#endif

/* No stack sends more extension headers; a packet with more is meant to waste CPU time. */
#define HOP_SHIM_EXTENSIONS 8

/* The longest MAC header that hop_shim_strip() moves: Ethernet with two tags, and some room. */
#define HOP_SHIM_MAC_MAX_BYTES 32

static bool hop_shim_find_ipv4(const struct sk_buff *skb, unsigned int at_bytes,
			       struct hop_shim_place *place)
{
	struct iphdr buf;
	const struct iphdr *iph = skb_header_pointer(skb, at_bytes, sizeof(buf), &buf);

	if (!iph || iph->version != 4 || iph->ihl < 5 || ip_is_fragment(iph))
		return false;
	place->offset_bytes = iph->ihl * 4;
	place->name_bytes = offsetof(struct iphdr, protocol);
	place->next = iph->protocol;
	return at_bytes + place->offset_bytes <= skb->len;
}

bool hop_shim_may_follow(u8 next)
{
	return next == NEXTHDR_HOP || next == NEXTHDR_ROUTING || next == NEXTHDR_DEST;
}

static bool hop_shim_find_ipv6(const struct sk_buff *skb, unsigned int at_bytes,
			       struct hop_shim_place *place)
{
	struct ipv6hdr buf;
	const struct ipv6hdr *ip6h = skb_header_pointer(skb, at_bytes, sizeof(buf), &buf);
	int depth;

	if (!ip6h || ip6h->version != 6)
		return false;
	place->offset_bytes = sizeof(*ip6h);
	place->name_bytes = offsetof(struct ipv6hdr, nexthdr);
	place->next = ip6h->nexthdr;
	for (depth = 0; hop_shim_may_follow(place->next); depth++) {
		struct ipv6_opt_hdr opt_buf;
		const struct ipv6_opt_hdr *opt;

		opt = skb_header_pointer(skb, at_bytes + place->offset_bytes, sizeof(opt_buf),
					 &opt_buf);
		if (!opt || depth == HOP_SHIM_EXTENSIONS)
			return false;
		place->name_bytes = place->offset_bytes + offsetof(struct ipv6_opt_hdr, nexthdr);
		/* 40 + 8 * 2048 bytes at most */
		place->offset_bytes += ipv6_optlen(opt);
		place->next = opt->nexthdr;
	}
	return at_bytes + place->offset_bytes <= skb->len;
}

bool hop_shim_find_at(const struct sk_buff *skb, unsigned int at_bytes, __be16 protocol,
		      struct hop_shim_place *place)
{
	if (protocol == htons(ETH_P_IP))
		return hop_shim_find_ipv4(skb, at_bytes, place);
	if (protocol == htons(ETH_P_IPV6))
		return hop_shim_find_ipv6(skb, at_bytes, place);
	return false;
}
EXPORT_SYMBOL_GPL(hop_shim_find_at);

unsigned int hop_shim_ip_length(const struct sk_buff *skb, int change_bytes)
{
	const bool ipv4 = skb->protocol == htons(ETH_P_IP);
	unsigned int length = ipv4 ? ntohs(ip_hdr(skb)->tot_len) :
				     ntohs(ipv6_hdr(skb)->payload_len);

	/* The field is 0 in a GSO packet of more than 64 kB. */
	if (!length || (int)length + change_bytes <= 0 || length + change_bytes > IP_MAX_MTU)
		return 0;
	return length + change_bytes;
}

void hop_shim_set_ip_length(struct sk_buff *skb, unsigned int length)
{
	if (skb->protocol == htons(ETH_P_IPV6)) {
		ipv6_hdr(skb)->payload_len = htons(length);
		return;
	}
	ip_hdr(skb)->tot_len = htons(length);
	ip_send_check(ip_hdr(skb));
}

static void hop_shim_write_ip(struct sk_buff *skb, const struct hop_shim_place *place,
			      unsigned int length, u8 next)
{
	skb_network_header(skb)[place->name_bytes] = next;
	hop_shim_set_ip_length(skb, length);
}

bool hop_shim_is_rewritten(const struct sk_buff *skb)
{
	lockdep_assert_in_rcu_reader();
#if IS_ENABLED(CONFIG_NF_CONNTRACK)
	enum ip_conntrack_info info;
	const struct nf_conn *ct = nf_ct_get(skb, &info);

	/* Test only if they exist, so that conntrack's module need not be loaded. */
	return ct && (nf_ct_ext_exist(ct, NF_CT_EXT_HELPER) ||
		      nf_ct_ext_exist(ct, NF_CT_EXT_SEQADJ));
#else
	return false;
#endif
}

/* TLS that the NIC encrypts: the NIC must find TCP behind IP, and compute its checksum. */
static bool hop_shim_is_to_be_encrypted(const struct sk_buff *skb)
{
#if defined(CONFIG_TLS_DEVICE) || defined(CONFIG_SKB_DECRYPTED)
	return skb->decrypted;
#else
	return false;
#endif
}

/* A MAC header in front would be overwritten; a tunnel's device leaves one behind skb->data. */
bool hop_shim_fits(const struct sk_buff *skb, unsigned int bytes)
{
	return hop_shim_ip_length(skb, bytes) && !hop_shim_is_rewritten(skb) &&
	       !hop_shim_is_to_be_encrypted(skb) &&
	       !(skb_mac_header_was_set(skb) && skb_mac_header(skb) < skb->data);
}
EXPORT_SYMBOL_GPL(hop_shim_fits);

void *hop_shim_insert(struct sk_buff *skb, const struct hop_shim_place *place,
		      unsigned int bytes, u8 protocol, bool keep_partial)
{
	if (!hop_shim_fits(skb, bytes))
		return NULL;
	if (skb->ip_summed == CHECKSUM_PARTIAL && !skb_is_gso(skb) && !keep_partial &&
	    skb_checksum_help(skb))
		return NULL;
	if (skb_cow_head(skb, bytes))
		return NULL;
	/* A received packet's checksum over the whole packet is not valid any more. */
	if (skb->ip_summed == CHECKSUM_COMPLETE)
		skb->ip_summed = CHECKSUM_NONE;

	/* skb->transport_header stays on TCP, as do csum_start and csum_offset. */
	skb_push(skb, bytes);
	memmove(skb->data, skb->data + bytes, place->offset_bytes);
	skb_reset_network_header(skb);
	hop_shim_write_ip(skb, place, hop_shim_ip_length(skb, bytes), protocol);
	return skb->data + place->offset_bytes;
}
EXPORT_SYMBOL_GPL(hop_shim_insert);

/* Return: length of the MAC header to move; 0 if the device has none; -1 if it is not set */
static int hop_shim_mac_bytes(const struct sk_buff *skb)
{
	int bytes;

	if (!skb_mac_header_was_set(skb))
		return -1;
	bytes = skb_network_header(skb) - skb_mac_header(skb);
	return bytes >= 0 && bytes <= HOP_SHIM_MAC_MAX_BYTES ? bytes : -1;
}

static int hop_shim_strip_place(struct sk_buff *skb, const struct hop_shim_place *place,
				unsigned int bytes, u8 next)
{
	unsigned int headers_bytes = place->offset_bytes + bytes, moved_bytes, length;
	int mac;

	if (skb->len < headers_bytes)
		return -EINVAL;
	if (skb_ensure_writable(skb, headers_bytes))
		return -ENOMEM;
	length = hop_shim_ip_length(skb, -(int)bytes);
	if (!length)
		return -EINVAL;

	/*
	 * CHECKSUM_UNNECESSARY concerns the first header that the device knew. It does not apply
	 * to the transport header that now takes its place.
	 */
	__skb_reset_checksum_unnecessary(skb);
	/* Subtract the old IP header and ours from a COMPLETE checksum; add the new one below. */
	skb_postpull_rcsum(skb, skb->data, headers_bytes);

	mac = hop_shim_mac_bytes(skb);
	moved_bytes = max(mac, 0);
	memmove(skb->data + bytes - moved_bytes, skb->data - moved_bytes,
		moved_bytes + place->offset_bytes);
	__skb_pull(skb, bytes);
	if (mac >= 0)
		skb->mac_header += bytes;
	/* transport_header points to the first header behind IP, which moves with IP. */
	skb->transport_header += bytes;
	skb_reset_network_header(skb);
	hop_shim_write_ip(skb, place, length, next);
	/*
	 * Without our header, any device may segment the GSO packet again. If the skb has clones, a
	 * device may still need the mark of another clone, so the mark stays and software segments.
	 */
	if (skb_is_gso(skb) && !skb_cloned(skb))
		skb_shinfo(skb)->gso_type &= ~HOP_SHIM_GSO;
	skb_postpush_rcsum(skb, skb->data, place->offset_bytes);
	return 0;
}

int hop_shim_strip(struct sk_buff *skb, const struct hop_shim_place *place,
		   unsigned int bytes, u8 next)
{
	if (!hop_shim_has_sum_behind(skb, place->offset_bytes + bytes))
		return -EINVAL;
	return hop_shim_strip_place(skb, place, bytes, next);
}
EXPORT_SYMBOL_GPL(hop_shim_strip);

int hop_shim_strip_behind(struct sk_buff *skb, const struct hop_shim_place *place,
			  unsigned int l4_bytes, unsigned int bytes)
{
	const struct hop_shim_place behind = {
		.offset_bytes = place->offset_bytes + l4_bytes,
		.name_bytes = place->name_bytes,
	};
	/* A checksum that is still to be computed starts at the transport header, which moves. */
	const bool moves = !hop_shim_has_sum_behind(skb, behind.offset_bytes + bytes);
	int err;

	if (moves && (!hop_shim_has_sum_behind(skb, place->offset_bytes) ||
		      hop_shim_has_sum_behind(skb, behind.offset_bytes)))
		return -EINVAL;
	err = hop_shim_strip_place(skb, &behind, bytes, place->next);
	if (!err && moves)
		skb->csum_start += bytes;
	return err;
}
EXPORT_SYMBOL_GPL(hop_shim_strip_behind);

void hop_shim_mark_gso(struct sk_buff *skb)
{
	skb_shinfo(skb)->gso_type |= HOP_SHIM_GSO;
}
EXPORT_SYMBOL_GPL(hop_shim_mark_gso);

struct sk_buff *hop_shim_segment(struct sk_buff *skb, unsigned int bytes,
				 const struct net_offload *next)
{
	const int headroom_bytes = skb_headroom(skb);
	struct sk_buff *segs;

	if (!next || !next->callbacks.gso_segment)
		return ERR_PTR(-EINVAL);
	__skb_pull(skb, bytes);
	skb_reset_transport_header(skb);
	/* Software computes the checksums, since a NIC that parses headers does not find TCP. */
	segs = next->callbacks.gso_segment(skb, NETIF_F_SG);
	if (!IS_ERR_OR_NULL(segs))
		return segs;
	/* After an allocation failure the callee may already have pushed the frame's header. */
	if (skb_headroom(skb) > headroom_bytes)
		__skb_push(skb, skb_headroom(skb) - headroom_bytes);
	skb_reset_transport_header(skb);
	return segs;
}
EXPORT_SYMBOL_GPL(hop_shim_segment);
