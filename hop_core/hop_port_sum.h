/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The number of bytes that a port has sent, if several qdiscs count them:
 *
 *	total = base + sum of sent, over the qdiscs of the port
 *
 * Congestion controls compute differences of the total. So it must not jump when a qdisc joins
 * or leaves: the base compensates for that. The arithmetic is modulo 2^64.
 */
#ifndef HOPCC_HOP_CORE_HOP_PORT_SUM_H
#define HOPCC_HOP_CORE_HOP_PORT_SUM_H

#include <linux/types.h>

/**
 * hop_port_sum_join() - compute a port's new base when a qdisc joins
 * @base_bytes: base before, bytes
 * @sent_bytes: bytes that the qdisc has sent so far
 * @is_first: the port has no other qdisc
 *
 * The total continues from the first qdisc's own count. Another qdisc does not change the total.
 *
 * Return: the new base, bytes.
 */
static inline u64 hop_port_sum_join(u64 base_bytes, u64 sent_bytes, bool is_first)
{
	return is_first ? 0 : base_bytes - sent_bytes;
}

/**
 * hop_port_sum_leave() - compute a port's new base when a qdisc leaves
 * @base_bytes: base before, bytes
 * @sent_bytes: bytes that the qdisc has sent so far
 *
 * Return: the new base, bytes.
 */
static inline u64 hop_port_sum_leave(u64 base_bytes, u64 sent_bytes)
{
	return base_bytes + sent_bytes;
}

#endif /* HOPCC_HOP_CORE_HOP_PORT_SUM_H */
