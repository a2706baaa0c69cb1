/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The packet that an ICMP error quotes, if one of our headers is between its IP header and its
 * transport header. The error may come from anybody, and only the IP header and 8 bytes behind it
 * are certain to be there.
 */
#ifndef HOPCC_LIB_HOP_QUOTED_H
#define HOPCC_LIB_HOP_QUOTED_H

#include <linux/icmp.h>
#include <linux/skbuff.h>
#include <linux/types.h>

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
enum hop_icmp_decision hop_icmp_check_v4(u8 type, u8 code);

/**
 * hop_icmp_check_v6() - decide whether an ICMPv6 error concerns our header
 * @type: ICMPv6 type of the error
 * @code: ICMPv6 code of the error
 *
 * Return: the decision.
 */
enum hop_icmp_decision hop_icmp_check_v6(u8 type, u8 code);

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
bool hop_quoted_skip_v4(struct sk_buff *skb, u8 next, unsigned int shim_bytes,
			struct hop_quoted_ip *quoted);

/**
 * hop_quoted_restore_v4() - undo hop_quoted_skip_v4()
 * @skb: the error
 * @quoted: result of hop_quoted_skip_v4()
 */
void hop_quoted_restore_v4(struct sk_buff *skb, const struct hop_quoted_ip *quoted);

#endif /* HOPCC_LIB_HOP_QUOTED_H */
