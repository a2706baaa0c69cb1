/* SPDX-License-Identifier: GPL-2.0 */
/*
 * ICMP errors that quote a packet with a header of ours between IP and the transport:
 * some are about our header, all others are for what follows it. Without them path
 * MTU discovery would be a black hole.
 */
#ifndef HOPCC_NET_HOP_ICMP_H
#define HOPCC_NET_HOP_ICMP_H

#include <linux/types.h>
#include <net/hop_discover.h>
#include <net/hop_flow.h>

/* RFC 792: ports and sequence number are what an error quotes at least. */
#define HOP_ICMP_QUOTED_BYTES 8

/* The longest header that hop_icmp_tell_v4() steps over. */
#define HOP_ICMP_SHIM_MAX_BYTES 160

/**
 * enum hop_icmp_verdict - what an error says of our header
 * @HOP_ICMP_NEXT: nothing
 * @HOP_ICMP_MAYBE: somebody filters: perhaps us, perhaps what follows
 * @HOP_ICMP_REFUSED: its protocol number is not known there
 */
enum hop_icmp_verdict {
	HOP_ICMP_NEXT,
	HOP_ICMP_MAYBE,
	HOP_ICMP_REFUSED,
};

/**
 * hop_icmp_judge_v4() - does an error of ICMP concern our header?
 * @type: of the error
 * @code: of the error
 *
 * Return: the verdict.
 */
enum hop_icmp_verdict hop_icmp_judge_v4(u8 type, u8 code);

/**
 * hop_icmp_judge_v6() - the same of ICMPv6
 * @type: of the error
 * @code: of the error
 *
 * Return: the verdict.
 */
enum hop_icmp_verdict hop_icmp_judge_v6(u8 type, u8 code);

/**
 * hop_icmp_ends() - does an error end the use of our headers on a connection?
 * @key: of the flow
 * @th: the quoted TCP header, HOP_ICMP_QUOTED_BYTES of it
 * @verdict: on the error, not HOP_ICMP_NEXT
 * @stage: of the flow's discovery
 * @refused: result: it does: HOP_EVENT_REFUSED
 *
 * A filter's answer to a SYN is asked again without a header before TCP believes it;
 * to a packet of an open connection it is TCP's own affair. What quotes a segment
 * that is not in flight, anybody could have sent. A refused SYN is sent again at once: a
 * destination that does not know the protocol costs a round trip and no timeout.
 *
 * Context: RCU read lock.
 * Return: whether the error is dealt with; else it is for what follows.
 */
bool hop_icmp_ends(const struct hop_flow_key *key, const struct tcphdr *th,
		   enum hop_icmp_verdict verdict, enum hop_stage stage, bool *refused);

/**
 * hop_icmp_tell_v4() - tell an error to what follows our header
 * @skb: the error; skb->data at the quoted IP header
 * @info: of the error
 * @next: its protocol number
 * @bytes: length of our header, quoted in full with HOP_ICMP_QUOTED_BYTES behind it;
 *	HOP_ICMP_SHIM_MAX_BYTES at most
 *
 * It finds its header behind the quoted IP header: that is moved, and moved back.
 *
 * Context: RCU read lock.
 * Return: what the protocol's handler returned.
 */
int hop_icmp_tell_v4(struct sk_buff *skb, u32 info, u8 next, unsigned int bytes);

#endif /* HOPCC_NET_HOP_ICMP_H */
