/* SPDX-License-Identifier: GPL-2.0 */
/* What tracepoints about a connection have in common. */
#ifndef HOPCC_NET_HOP_TRACE_H
#define HOPCC_NET_HOP_TRACE_H

#include <linux/string.h>
#include <net/inet_sock.h>
#include <net/ipv6.h>

/**
 * hop_trace_addrs() - both addresses of a connection, IPv4 as v4-mapped
 * @sk: a TCP socket
 * @saddr: 16 bytes, ours
 * @daddr: 16 bytes, the peer's
 */
static inline void hop_trace_addrs(const struct sock *sk, u8 *saddr, u8 *daddr)
{
#if IS_ENABLED(CONFIG_IPV6)
	if (sk->sk_family == AF_INET6) {
		memcpy(saddr, &sk->sk_v6_rcv_saddr, sizeof(struct in6_addr));
		memcpy(daddr, &sk->sk_v6_daddr, sizeof(struct in6_addr));
		return;
	}
#endif
	ipv6_addr_set_v4mapped(inet_sk(sk)->inet_saddr, (struct in6_addr *)saddr);
	ipv6_addr_set_v4mapped(inet_sk(sk)->inet_daddr, (struct in6_addr *)daddr);
}

#endif /* HOPCC_NET_HOP_TRACE_H */
