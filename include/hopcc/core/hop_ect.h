/* SPDX-License-Identifier: GPL-2.0 */
/*
 * ECT of packets that a congestion control with TCP_CONG_NEEDS_ECN sends: the stack sets it on all
 * packets of such a socket, also on those of a handshake without ECN.
 */
#ifndef HOPCC_CORE_HOP_ECT_H
#define HOPCC_CORE_HOP_ECT_H

#include <linux/skbuff.h>

/**
 * hop_ect_is_segment() - is a packet a segment of the socket itself?
 * @skb: a packet whose owner is a TCP socket
 *
 * Ports cannot tell, because NAT may have translated them.
 *
 * Return: false for a tunnel's packet around the segment.
 */
bool hop_ect_is_segment(const struct sk_buff *skb);

/**
 * hop_ect_clear() - make a packet Not-ECT
 * @skb: an IPv4 or IPv6 packet; its data may move. If memory is short, it stays as it is
 */
void hop_ect_clear(struct sk_buff *skb);

/**
 * hop_ect_output_syn() - make a SYN or SYN-ACK Not-ECT unless its handshake negotiates ECN
 * @skb: a segment; hop_ect_is_segment() is true
 *
 * A SYN that is sent again no longer asks for ECN, and a SYN-ACK to it does not agree to ECN. If
 * the path drops ECT packets, a connection without ECN can then be established.
 *
 * Return: true if the segment is a SYN or a SYN-ACK.
 */
bool hop_ect_output_syn(struct sk_buff *skb);

#endif /* HOPCC_CORE_HOP_ECT_H */
