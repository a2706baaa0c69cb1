/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Find the telemetry of other switches in a packet, and write this hop's data into it: IFA 2.0 and
 * INT-MD, where a packet grows, and IOAM, where it does not. For use in dequeue, as int_packet.h.
 * int_format.h writes the metadata.
 *
 *	IFA	IP with protocol 253, without IPv6 extension headers
 *	INT-MD	IP with our DSCP, TCP or UDP: the shim is the first of its payload
 *	IOAM	IPv6 with a hop-by-hop header
 *
 * A packet grows into its headroom: everything in front of the new data moves. Memory is allocated
 * only if the headroom is too small or shared with a clone. Packets that must not grow are counted
 * by cause and left unchanged; only INT-MD has flags for them.
 */
#ifndef HOPCC_SCH_INT_INT_FOREIGN_H
#define HOPCC_SCH_INT_INT_FOREIGN_H

#include <linux/skbuff.h>
#include <uapi/linux/pkt_sched_int.h>
#include "int_format.h"

/**
 * struct sint_foreign_params - options; written by the owner of the struct
 * @formats: TC_INT_FORMAT_*
 * @node_id: node ID, 24 bits
 * @schema: schema ID of our opaque state in IOAM
 * @dscp_intmd: DSCP of packets with INT-MD
 */
struct sint_foreign_params {
	u32 formats;
	u32 node_id;
	u32 schema;
	u8 dscp_intmd;
};

/**
 * struct sint_ip - an IP packet; offsets are from the start of the frame
 * @ip_bytes: offset of the IP header
 * @next_bytes: offset of the header behind it
 * @end_bytes: offset of the packet's end; the frame may be padded
 * @mtu_bytes: longest IP packet that the device sends; set by the caller
 * @next: protocol of the header behind it
 * @dscp: DSCP
 * @ttl: TTL or hop limit
 * @is_v6: version 6
 * @is_fragment: part of a fragmented IPv4 packet
 */
struct sint_ip {
	int ip_bytes;
	int next_bytes;
	int end_bytes;
	u32 mtu_bytes;
	u8 next;
	u8 dscp;
	u8 ttl;
	bool is_v6;
	bool is_fragment;
};

/* Return: true for an IP packet within the frame whose IP header is in the linear part */
bool sint_ip_read(const struct sk_buff *skb, struct sint_ip *i);

/* Return: the format of a packet, TC_INT_FORMATS if none that is switched on */
unsigned int sint_foreign_format(const struct sint_ip *i, const struct sint_foreign_params *p);

/* Result of sint_foreign_write(): the packet has no telemetry of the format */
#define SINT_NO_FORMAT (1 + TC_INT_REFUSED_CAUSES)

/**
 * sint_foreign_write() - write this hop's data into a packet with another switch's telemetry
 * @skb: the packet
 * @i: its IP header, from sint_ip_read()
 * @format: its format, from sint_foreign_format(), below TC_INT_FORMATS
 * @n: values
 *
 * Context: dequeue.
 * Return: 0, or 1 + TC_INT_REFUSED_*, or SINT_NO_FORMAT; the packet is then unchanged but for a
 * flag of INT-MD.
 */
unsigned int sint_foreign_write(struct sk_buff *skb, const struct sint_ip *i, unsigned int format,
				const struct sint_node *n);

#endif /* HOPCC_SCH_INT_INT_FOREIGN_H */
