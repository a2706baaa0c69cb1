// SPDX-License-Identifier: GPL-2.0
/* The connection's use of the carrier, and its count among those that seek free bandwidth. */
#include <linux/hash.h>
#include <linux/slab.h>
#include <net/ipv6.h>
#include <hopcc/core/hop_sock.h>

#include "tcp_csig.h"

/*
 * Leaves cs->reported NULL without CSIG. Return: false if the peer was asked and has not answered
 * yet, so that this function must be called again.
 */
bool tcsig_open(struct sock *sk, struct tcsig_sock *cs)
{
	struct csig_flow *flow = ctag_flow_open(sk);

	if (!flow)
		return !ctag_flow_ask(sk);
	cs->reported = kzalloc(sizeof(*cs->reported), GFP_ATOMIC);
	if (!cs->reported) {
		ctag_flow_close(flow);
		return true;
	}
	cs->reported->flow = flow;
	cs->reported->view = ctag_flow_view(flow);
	return true;
}

void tcsig_close(const struct sock *sk, struct tcsig_sock *cs)
{
	if (!cs->reported)
		return;
	tcsig_count(sk, cs, false);
	ctag_flow_close(cs->reported->flow);
	kfree(cs->reported);
	cs->reported = NULL;
}

/* Number of connections to the peer that seek free bandwidth. */
atomic_t *tcsig_seeking(const struct sock *sk, const struct tcsig_sock *cs)
{
	u32 peer = (__force u32)sk->sk_daddr;

#if IS_ENABLED(CONFIG_IPV6)
	if (sk->sk_family == AF_INET6)
		peer = ipv6_addr_hash(&sk->sk_v6_daddr);
#endif
	return &cs->net->seeking[hash_32(peer, TCSIG_PEER_BITS)];
}

/* tcsig_count() for a changed @seeks. */
void tcsig_count_seeking(const struct sock *sk, const struct tcsig_sock *cs, bool seeks)
{
	struct tcsig_reported *reported = cs->reported;

	reported->seeks = seeks;
	if (seeks)
		reported->sharers = atomic_inc_return(tcsig_seeking(sk, cs));
	else
		atomic_dec(tcsig_seeking(sk, cs));
}

/**
 * tcsig_line_window() - the device's rate as a window
 * @sk: the socket
 * @cs: the connection; the rate is known
 * @rtt_us: RTT
 *
 * Return: packets << TCSIG_SHIFT.
 */
u64 tcsig_line_window(const struct sock *sk, const struct tcsig_sock *cs, u32 rtt_us)
{
	return tcsig_free((u64)cs->line_mbit * TCSIG_KBIT_PER_MBIT, rtt_us, hop_wire_bytes(sk));
}
