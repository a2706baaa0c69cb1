/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The packet that an ICMP error quotes, if one of our headers is between its IP header and its
 * transport header. The error may come from anybody, and only the IP header and 8 bytes behind it
 * are certain to be there.
 */
#ifndef HOPCC_LIB_HOP_QUOTED_H
#define HOPCC_LIB_HOP_QUOTED_H

#include <linux/icmp.h>
#include <linux/icmpv6.h>
#include <linux/ip.h>
#include <linux/skbuff.h>
#include <linux/string.h>
#include <linux/types.h>
#include <hopcc/lib/hop_discover.h>

/* RFC 792: an error quotes at least 8 bytes behind IP: TCP's ports and sequence number. */
#define HOP_ICMP_QUOTED_BYTES 8

/* The longest header that hop_quoted_skip_v4() can skip. */
#define HOP_ICMP_SHIM_MAX_BYTES 160

/* The longest IPv4 header. */
#define HOP_QUOTED_IP_MAX_BYTES 60

/**
 * enum hop_icmp_decision - what an ICMP error means for our header
 * @HOP_ICMP_NEXT: the error does not concern our header
 * @HOP_ICMP_MAYBE: a filter refused the packet, because of our header or of the transport
 * @HOP_ICMP_REFUSED: the destination does not know the protocol number of our header
 */
enum hop_icmp_decision {
	HOP_ICMP_NEXT,
	HOP_ICMP_MAYBE,
	HOP_ICMP_REFUSED,
};

/**
 * hop_icmp_check_v4() - decide whether an ICMP error concerns our header
 * @type: ICMP type of the error
 * @code: ICMP code of the error
 *
 * Return: the decision.
 */
static inline enum hop_icmp_decision hop_icmp_check_v4(u8 type, u8 code)
{
	if (type != ICMP_DEST_UNREACH)
		return HOP_ICMP_NEXT;
	switch (code) {
	case ICMP_PROT_UNREACH:
		return HOP_ICMP_REFUSED;
	case ICMP_PORT_UNREACH:
	case ICMP_NET_ANO:
	case ICMP_HOST_ANO:
	case ICMP_PKT_FILTERED:
		return HOP_ICMP_MAYBE;
	default:
		return HOP_ICMP_NEXT;
	}
}

/**
 * hop_icmp_check_v6() - decide whether an ICMPv6 error concerns our header
 * @type: ICMPv6 type of the error
 * @code: ICMPv6 code of the error
 *
 * Return: the decision.
 */
static inline enum hop_icmp_decision hop_icmp_check_v6(u8 type, u8 code)
{
	if (type == ICMPV6_PARAMPROB && code == ICMPV6_UNK_NEXTHDR)
		return HOP_ICMP_REFUSED;
	if (type != ICMPV6_DEST_UNREACH)
		return HOP_ICMP_NEXT;
	switch (code) {
	case ICMPV6_ADM_PROHIBITED:
	case ICMPV6_PORT_UNREACH:
	case ICMPV6_POLICY_FAIL:
	case ICMPV6_REJECT_ROUTE:
		return HOP_ICMP_MAYBE;
	default:
		return HOP_ICMP_NEXT;
	}
}

/* Return: true if the flow's discovery waits for an answer to a packet with a header. */
static inline bool hop_icmp_is_handshake(enum hop_stage stage)
{
	return stage == HOP_STAGE_ASKED || stage == HOP_STAGE_LOST ||
	       stage == HOP_STAGE_OFFERED || stage == HOP_STAGE_ANSWERED ||
	       stage == HOP_STAGE_LATE;
}

/**
 * struct hop_quoted_ip - bytes that hop_quoted_skip_v4() overwrites
 * @ip_bytes: length of the quoted IP header
 * @shim_bytes: length of our header behind it
 * @saved: the two headers
 */
struct hop_quoted_ip {
	unsigned int ip_bytes;
	unsigned int shim_bytes;
	u8 saved[HOP_QUOTED_IP_MAX_BYTES + HOP_ICMP_SHIM_MAX_BYTES];
};

/**
 * hop_quoted_skip_v4() - move the quoted IP header to the header behind ours
 * @skb: the error; skb->data is at the quoted IP header, which is linear and valid
 * @next: protocol number of the header behind ours
 * @shim_bytes: length of our header
 * @quoted: result: the bytes that hop_quoted_restore_v4() needs
 *
 * Return: false if the error does not quote HOP_ICMP_QUOTED_BYTES behind our header, our header is
 * too long or there is no memory; @skb's bytes are then the same as before.
 */
static inline bool hop_quoted_skip_v4(struct sk_buff *skb, u8 next, unsigned int shim_bytes,
				      struct hop_quoted_ip *quoted)
{
	const unsigned int ip_bytes = ((const struct iphdr *)skb->data)->ihl * 4;

	if (shim_bytes > HOP_ICMP_SHIM_MAX_BYTES ||
	    skb_ensure_writable(skb, ip_bytes + shim_bytes + HOP_ICMP_QUOTED_BYTES))
		return false;
	quoted->ip_bytes = ip_bytes;
	quoted->shim_bytes = shim_bytes;
	memcpy(quoted->saved, skb->data, ip_bytes + shim_bytes);
	memmove(skb->data + shim_bytes, quoted->saved, ip_bytes);
	__skb_pull(skb, shim_bytes);
	((struct iphdr *)skb->data)->protocol = next;
	return true;
}

/**
 * hop_quoted_restore_v4() - undo hop_quoted_skip_v4()
 * @skb: the error
 * @quoted: result of hop_quoted_skip_v4()
 */
static inline void hop_quoted_restore_v4(struct sk_buff *skb, const struct hop_quoted_ip *quoted)
{
	__skb_push(skb, quoted->shim_bytes);
	memcpy(skb->data, quoted->saved, quoted->ip_bytes + quoted->shim_bytes);
}

#endif /* HOPCC_LIB_HOP_QUOTED_H */
