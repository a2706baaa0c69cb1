/* SPDX-License-Identifier: GPL-2.0 */
/* The part of sockets that hop_core's shim code uses; no harness has a socket. */
#ifndef FUZZ_SHIM_NET_SOCK_H
#define FUZZ_SHIM_NET_SOCK_H

#include <linux/skbuff.h>

#define rcu_dereference(pointer) (pointer)
#define rcu_read_lock() do { } while (0)
#define rcu_read_unlock() do { } while (0)

#define IP_MAX_MTU		0xffff
#define GSO_LEGACY_MAX_SIZE	65536
#define MAX_TCP_HEADER		320
#define SKB_GSO_SCTP		0x4000
#define NETIF_F_SG		1
#define TCP_CLOSE		7

struct dst_entry;

struct ip_options_rcu {
	struct {
		u8 optlen;
	} opt;
};

struct sock {
	unsigned int sk_gso_max_size;
	u16 sk_gso_max_segs;
	bool sk_gso_disabled;
	u8 sk_state;
	u32 icsk_pmtu_cookie;
	u16 icsk_ext_hdr_len;
	unsigned int (*icsk_sync_mss)(struct sock *sk, u32 pmtu);
	struct ip_options_rcu *inet_opt;
};

#define inet_connection_sock sock

static inline struct sock *inet_csk(struct sock *sk)
{
	return sk;
}

static inline struct sock *inet_sk(struct sock *sk)
{
	return sk;
}

static inline void sk_gso_disable(struct sock *sk)
{
	sk->sk_gso_disabled = true;
}

static inline struct dst_entry *sk_dst_get(struct sock *sk)
{
	return NULL;
}

static inline void sk_setup_caps(struct sock *sk, struct dst_entry *dst)
{
}

#endif
