/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The bytes that a port has sent, where several qdiscs count them:
 *
 *	total = base + sum of sent, over the qdiscs that are there
 *
 * The total is what congestion controls take differences of. So it must not jump when a qdisc
 * comes or goes: the base makes up for that. The arithmetic is modulo 2^64.
 */
#ifndef HOPCC_NET_HOP_PORT_SUM_H
#define HOPCC_NET_HOP_PORT_SUM_H

#include <linux/types.h>

/**
 * hop_port_sum_join() - base of a port that a qdisc joins
 * @base_bytes: base before, bytes
 * @sent_bytes: what the qdisc has sent so far, bytes
 * @is_first: no other qdisc is there
 *
 * The first qdisc brings its count along; for others the port's goes on.
 *
 * Return: the base from now on, bytes.
 */
static inline u64 hop_port_sum_join(u64 base_bytes, u64 sent_bytes, bool is_first)
{
	return is_first ? 0 : base_bytes - sent_bytes;
}

/**
 * hop_port_sum_leave() - base of a port that a qdisc leaves
 * @base_bytes: base before, bytes
 * @sent_bytes: what the qdisc has sent so far, bytes
 *
 * Return: the base from now on, bytes.
 */
static inline u64 hop_port_sum_leave(u64 base_bytes, u64 sent_bytes)
{
	return base_bytes + sent_bytes;
}

#endif /* HOPCC_NET_HOP_PORT_SUM_H */
