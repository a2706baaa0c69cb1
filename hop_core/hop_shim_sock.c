// SPDX-License-Identifier: GPL-2.0
/* The room that a socket leaves for a header, and its GSO packets; see hopcc/core/hop_shim.h. */
#include <linux/ipv6.h>
#include <linux/module.h>
#include <hopcc/core/hop_shim.h>
#include <hopcc/core/hop_stack.h>
#include <net/inet_sock.h>
#include <net/ipv6.h>
#include <net/sock.h>
#include <net/tcp.h>

bool hop_shim_open_sock(struct sock *sk, bool allow_gso)
{
	const bool no_gso = !allow_gso && !sk->sk_gso_disabled;

	sock_owned_by_me(sk);
	if (no_gso)
		hop_stack_stop_gso(sk);
	/* A GSO packet with our header must fit IP's length field: no BIG TCP. */
	hop_stack_bound_gso_bytes(sk, GSO_LEGACY_MAX_SIZE - MAX_TCP_HEADER - 1);
	return no_gso;
}
EXPORT_SYMBOL_GPL(hop_shim_open_sock);

/* Return: true if the socket has keys of TCP-MD5 or TCP-AO, which cannot sign a GSO packet */
static bool hop_shim_is_signed(const struct sock *sk)
{
	bool is_signed = false;

#ifdef CONFIG_TCP_MD5SIG
	is_signed |= !!rcu_access_pointer(tcp_sk(sk)->md5sig_info);
#endif
#ifdef CONFIG_TCP_AO
	is_signed |= !!rcu_access_pointer(tcp_sk(sk)->ao_info);
#endif
	return is_signed;
}

void hop_shim_close_sock(struct sock *sk, bool no_gso)
{
	sock_owned_by_me(sk);
	/* A key may have been set after hop_shim_open_sock(). */
	if (no_gso && !hop_shim_is_signed(sk))
		hop_stack_allow_gso(sk);
}
EXPORT_SYMBOL_GPL(hop_shim_close_sock);

void hop_shim_reserve(struct sock *sk, unsigned int bytes)
{
	sock_owned_by_me(sk);
	if (bytes)
		hop_stack_change_header(sk, bytes);
}
EXPORT_SYMBOL_GPL(hop_shim_reserve);

/* Get the length of the IP options in a socket's segments. */
static unsigned int hop_shim_options_bytes(struct sock *sk)
{
	const struct ip_options_rcu *opt;
	unsigned int bytes = 0;

	rcu_read_lock();
	if (sk->sk_family == AF_INET6 && inet6_sk(sk)) {
		const struct ipv6_txoptions *opt6 = rcu_dereference(inet6_sk(sk)->opt);

		bytes = opt6 ? opt6->opt_flen + opt6->opt_nflen : 0;
	}
	opt = rcu_dereference(inet_sk(sk)->inet_opt);
	if (opt)
		bytes += opt->opt.optlen;
	rcu_read_unlock();
	return bytes;
}

/* setsockopt() of IPv6 options overwrites icsk_ext_hdr_len, and our part is lost. */
void hop_shim_release(struct sock *sk, unsigned int bytes)
{
	sock_owned_by_me(sk);
	if (bytes && inet_csk(sk)->icsk_ext_hdr_len >= hop_shim_options_bytes(sk) + bytes)
		hop_stack_change_header(sk, -(int)bytes);
}
EXPORT_SYMBOL_GPL(hop_shim_release);
