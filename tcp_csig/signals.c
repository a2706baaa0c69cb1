// SPDX-License-Identifier: GPL-2.0
/* What an ACK tells: the carrier's signals, or where no hop tells, the RTT. */
#include <linux/hash.h>
#include <linux/slab.h>
#include <net/ipv6.h>
#include <net/hop_sock.h>

#include "tcp_csig.h"

/* So many readings that no hop wrote to: the path has none any more. */
#define TCSIG_BLANK_MAX		64

/* Leaves cs->told NULL where there is no CSIG. */
void tcsig_open(struct sock *sk, struct tcsig_sock *cs)
{
	struct csig_flow *flow = csig_flow_open(sk);

	if (!flow)
		return;
	cs->told = kzalloc(sizeof(*cs->told), GFP_ATOMIC);
	if (cs->told)
		cs->told->flow = flow;
	else
		csig_flow_close(flow);
}

void tcsig_close(const struct sock *sk, struct tcsig_sock *cs)
{
	if (!cs->told)
		return;
	tcsig_count(sk, cs->told, false);
	csig_flow_close(cs->told->flow);
	kfree(cs->told);
	cs->told = NULL;
}

static atomic_t *seeking(const struct sock *sk)
{
	u32 peer = (__force u32)sk->sk_daddr;

#if IS_ENABLED(CONFIG_IPV6)
	if (sk->sk_family == AF_INET6)
		peer = ipv6_addr_hash(&sk->sk_v6_daddr);
#endif
	return &tcsig_net(sock_net(sk))->seeking[hash_32(peer, TCSIG_PEER_BITS)];
}

/**
 * tcsig_count() - is this one of those that are about to jump?
 * @sk: the socket
 * @told: of it
 * @seeks: it sends, and seeks what is free
 */
void tcsig_count(const struct sock *sk, struct tcsig_told *told, bool seeks)
{
	if (told->seeks == seeks)
		return;
	told->seeks = seeks;
	if (seeks)
		told->sharers = atomic_inc_return(seeking(sk));
	else
		atomic_dec(seeking(sk));
}

/* Is there a reading that was not there before, and did a hop write to it? */
static bool read_new(struct tcsig_told *told, enum csig_type type, struct csig_signal *s)
{
	if (!csig_flow_read_new(told->flow, type, told->count[type], s))
		return false;
	told->count[type] = s->count;
	if (s->value == csig_initial(s->form, type)) {
		told->blank += told->blank < TCSIG_BLANK_MAX;
		/* Of a delay it is a value as well. */
		return type == CSIG_PD;
	}
	told->blank = 0;
	told->hop = true;
	return true;
}

static u32 rtt_us(const struct sock *sk, const struct rate_sample *rs)
{
	return rs->rtt_us > 0 ? rs->rtt_us : tcp_sk(sk)->srtt_us >> 3;
}

/**
 * tcsig_line() - the device's rate as a window
 * @sk: the socket
 * @cs: the connection
 * @rtt_us: RTT
 *
 * Return: packets << TCSIG_SHIFT; 0: the rate is not known.
 */
u64 tcsig_line(const struct sock *sk, const struct tcsig_sock *cs, u32 rtt_us)
{
	if (!cs->line_mbit)
		return 0;
	return tcsig_free((u64)cs->line_mbit * TCSIG_KBIT_PER_MBIT, rtt_us, hop_wire_bytes(sk));
}

/* The free bandwidth as a window, by the RTT without queues: free bandwidth fills none. */
static u64 free_window(const struct sock *sk, const struct tcsig_sock *cs, u32 rtt_us)
{
	const u32 bdp_us = min(rtt_us, tcp_min_rtt(tcp_sk(sk)));

	return tcsig_believe(tcsig_free(cs->told->free_kbit_ps, bdp_us, hop_wire_bytes(sk)),
			     cs->v.cw, tcsig_line(sk, cs, bdp_us));
}

static void read_bandwidth(const struct sock *sk, const struct tcsig_sock *cs, u32 rtt_us,
			   struct tcsig_ack *a)
{
	struct tcsig_told *told = cs->told;
	struct csig_signal s;

	if (read_new(told, CSIG_ABW, &s)) {
		told->free_kbit_ps = s.low;
		a->has_free = true;
	}
	if (read_new(told, CSIG_ABW_C, &s)) {
		a->share_ppm = min_t(u64, s.low, CSIG_PPM_MAX);
		a->has_share = true;
	}
	/* In the steady stage the law uses it only together with a share. */
	if (a->has_free || a->has_share || cs->v.stage != TCSIG_STEADY)
		a->free = free_window(sk, cs, rtt_us);
}

/* Return: true if hops of the path report signals. */
static bool read_hops(const struct sock *sk, const struct tcsig_sock *cs,
		      const struct rate_sample *rs, struct tcsig_ack *a)
{
	const u32 least_us = tcp_min_rtt(tcp_sk(sk));
	const u32 sample_us = rtt_us(sk, rs);
	struct tcsig_told *told = cs->told;
	struct csig_signal s;

	read_bandwidth(sk, cs, sample_us, a);
	if (rs->rtt_us > 0 && !rs->is_ack_delayed) {
		a->rtt_ns = (u64)rs->rtt_us * NSEC_PER_USEC;
		a->path_ns = rs->rtt_us > least_us ? (rs->rtt_us - least_us) * NSEC_PER_USEC : 0;
	}
	if (read_new(told, CSIG_PD, &s) && !tcsig_path_is_old(&told->path, s.locator)) {
		a->delay_ns = tcsig_reckon(&told->reckoning, s.low, s.high, cs->v.cw, sample_us);
		a->has_delay = true;
		told->locator = s.locator;
	}
	/* Those that began after it are counted now, those that jump before it were then. */
	if (told->seeks)
		a->sharers = max_t(s32, told->sharers, atomic_read(seeking(sk)));
	told->hop = told->hop && told->blank < TCSIG_BLANK_MAX;
	return told->hop && csig_flow_is_fed(told->flow);
}

/* What the path takes beyond the least it took. */
static void read_path(const struct sock *sk, const struct rate_sample *rs, struct tcsig_ack *a)
{
	const u32 least_us = tcp_min_rtt(tcp_sk(sk));

	a->has_free = false;
	a->has_share = false;
	a->rtt_ns = 0;
	a->path_ns = 0;
	a->has_delay = rs->rtt_us > 0 && !rs->is_ack_delayed;
	if (a->has_delay)
		a->delay_ns = rs->rtt_us > least_us ? (rs->rtt_us - least_us) * NSEC_PER_USEC : 0;
}

/**
 * tcsig_read() - what an ACK tells of the path
 * @sk: the socket
 * @cs: of it
 * @rs: of the ACK
 * @a: result; what is not of the path is kept
 */
void tcsig_read(const struct sock *sk, struct tcsig_sock *cs, const struct rate_sample *rs,
		struct tcsig_ack *a)
{
	const bool hop = cs->told && read_hops(sk, cs, rs, a);

	if (!hop)
		read_path(sk, rs, a);
	WRITE_ONCE(cs->hop, hop);
}
