/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The common part of tracepoints about a connection: fields, values and print format. A
 * tracepoint adds its own fields behind these.
 */
#ifndef HOPCC_LIB_HOP_TRACE_H
#define HOPCC_LIB_HOP_TRACE_H

#include <linux/string.h>
#include <net/inet_sock.h>
#include <net/ipv6.h>

/**
 * hop_trace_addrs() - get both addresses of a connection; IPv4 is v4-mapped
 * @sk: a TCP socket
 * @saddr: result: our address, 16 bytes
 * @daddr: result: the peer's address, 16 bytes
 */
static inline void hop_trace_addrs(const struct sock *sk, u8 *saddr, u8 *daddr)
{
	if (sk->sk_family == AF_INET6) {
		memcpy(saddr, &sk->sk_v6_rcv_saddr, sizeof(struct in6_addr));
		memcpy(daddr, &sk->sk_v6_daddr, sizeof(struct in6_addr));
		return;
	}
	ipv6_addr_set_v4mapped(inet_sk(sk)->inet_saddr, (struct in6_addr *)saddr);
	ipv6_addr_set_v4mapped(inet_sk(sk)->inet_daddr, (struct in6_addr *)daddr);
}

/* The fields of a socket. */
#define HOP_TRACE_SOCK_FIELDS	\
	__array(u8, saddr, 16)	\
	__array(u8, daddr, 16)	\
	__field(u16, sport)	\
	__field(u16, dport)

#define HOP_TRACE_SOCK_ASSIGN(sk)					\
	do {								\
		hop_trace_addrs(sk, __entry->saddr, __entry->daddr);	\
		__entry->sport = ntohs(inet_sk(sk)->inet_sport);	\
		__entry->dport = ntohs(inet_sk(sk)->inet_dport);	\
	} while (0)

#define HOP_TRACE_SOCK_FORMAT	"saddr=%pI6c sport=%u daddr=%pI6c dport=%u"
#define HOP_TRACE_SOCK_VALUES	\
	__entry->saddr, __entry->sport, __entry->daddr, __entry->dport

/* The fields of a carrier's flow, struct hop_flow_key. */
#define HOP_TRACE_KEY_FIELDS	\
	__array(u8, local, 16)	\
	__array(u8, peer, 16)	\
	__field(u16, lport)	\
	__field(u16, pport)

#define HOP_TRACE_KEY_ASSIGN(key)						\
	do {									\
		memcpy(__entry->local, &(key)->local, sizeof(struct in6_addr));	\
		memcpy(__entry->peer, &(key)->peer, sizeof(struct in6_addr));	\
		__entry->lport = ntohs((key)->local_port);			\
		__entry->pport = ntohs((key)->peer_port);			\
	} while (0)

#define HOP_TRACE_KEY_FORMAT	"local=%pI6c lport=%u peer=%pI6c pport=%u"
#define HOP_TRACE_KEY_VALUES	\
	__entry->local, __entry->lport, __entry->peer, __entry->pport

/* A window below one packet: the next packet leaves wait_ns from now at the earliest. */
#define HOP_TRACE_HOLD(name)							\
TRACE_EVENT(name,								\
	TP_PROTO(const struct sock *sk, u64 cw, u64 wait_ns),			\
	TP_ARGS(sk, cw, wait_ns),						\
	TP_STRUCT__entry(							\
		HOP_TRACE_SOCK_FIELDS						\
		__field(u64, cw)						\
		__field(u64, wait_ns)						\
	),									\
	TP_fast_assign(								\
		HOP_TRACE_SOCK_ASSIGN(sk);					\
		__entry->cw = cw;						\
		__entry->wait_ns = wait_ns;					\
	),									\
	TP_printk(HOP_TRACE_SOCK_FORMAT " cw_2pow24=%llu wait_ns=%llu",		\
		  HOP_TRACE_SOCK_VALUES, __entry->cw, __entry->wait_ns)		\
)

/* A connection switches to Reno, or back to its own congestion control. */
#define HOP_TRACE_RULE(name)							\
TRACE_EVENT(name,								\
	TP_PROTO(const struct sock *sk, bool reno, u32 cwnd_pkts),		\
	TP_ARGS(sk, reno, cwnd_pkts),						\
	TP_STRUCT__entry(							\
		HOP_TRACE_SOCK_FIELDS						\
		__field(u32, cwnd_pkts)						\
		__field(bool, reno)						\
	),									\
	TP_fast_assign(								\
		HOP_TRACE_SOCK_ASSIGN(sk);					\
		__entry->cwnd_pkts = cwnd_pkts;					\
		__entry->reno = reno;						\
	),									\
	TP_printk(HOP_TRACE_SOCK_FORMAT " reno=%d cwnd_pkts=%u",		\
		  HOP_TRACE_SOCK_VALUES, __entry->reno, __entry->cwnd_pkts)	\
)

/* The stage of discovery after an event, in all carriers; enum hop_event and enum hop_stage. */
#define HOP_TRACE_DISCOVER(name)						\
TRACE_EVENT(name,								\
	TP_PROTO(const struct hop_flow_key *key, int event, int from, int to),	\
	TP_ARGS(key, event, from, to),						\
	TP_STRUCT__entry(							\
		HOP_TRACE_KEY_FIELDS						\
		__field(int, event)						\
		__field(int, from)						\
		__field(int, to)						\
	),									\
	TP_fast_assign(								\
		HOP_TRACE_KEY_ASSIGN(key);					\
		__entry->event = event;						\
		__entry->from = from;						\
		__entry->to = to;						\
	),									\
	TP_printk(HOP_TRACE_KEY_FORMAT " event=%d from=%d to=%d",		\
		  HOP_TRACE_KEY_VALUES,						\
		  __entry->event, __entry->from, __entry->to)			\
)

#endif /* HOPCC_LIB_HOP_TRACE_H */
