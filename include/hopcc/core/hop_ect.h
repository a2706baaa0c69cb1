/* SPDX-License-Identifier: GPL-2.0 */
/*
 * ECT of packets that a congestion control with TCP_CONG_NEEDS_ECN sends: the stack sets it on all
 * packets of such a socket, also on those of a handshake without ECN.
 */
#ifndef HOPCC_CORE_HOP_ECT_H
#define HOPCC_CORE_HOP_ECT_H

#include <linux/skbuff.h>

struct hop_cc;
struct nf_hook_state;

/**
 * hop_ect_clear() - make a packet Not-ECT
 * @skb: an IPv4 or IPv6 packet; its data may move. If memory is short, it stays as it is
 */
void hop_ect_clear(struct sk_buff *skb);

/**
 * hop_ect_output() - let the congestion control of a packet's sender change the packet
 * @skb: a packet that leaves
 * @state: state of the hook
 *
 * A SYN or SYN-ACK becomes Not-ECT unless its handshake negotiates ECN; other segments are passed
 * to hop_cc.output.
 *
 * Context: RCU read lock.
 * Return: NF_ACCEPT or NF_STOLEN.
 */
unsigned int hop_ect_output(struct sk_buff *skb, const struct nf_hook_state *state);

/**
 * hop_ect_replace() - add or remove a congestion control with ECN
 * @from: NULL to add @to, or the congestion control that is removed
 * @to: a congestion control, or NULL
 *
 * Context: any. A module's code may still run until an RCU grace period has ended.
 * Return: false if there is no place for @to, or if @from was not added.
 */
bool hop_ect_replace(const struct hop_cc *from, const struct hop_cc *to);

#endif /* HOPCC_CORE_HOP_ECT_H */
