// SPDX-License-Identifier: GPL-2.0
/* The key of a flow, and its socket; see hopcc/core/hop_flow.h. */

#include <linux/ipv6.h>
#include <linux/module.h>
#include <hopcc/core/hop_flow.h>
#include <hopcc/lib/hop_peek.h>
#include <net/inet6_hashtables.h>
#include <net/inet_hashtables.h>
#include <net/l3mdev.h>

/* fe80::/10. ipv6_addr_type() is a call, and an end of TCP never has a multicast address. */
static bool hop_flow_key_is_link_local(const struct in6_addr *addr)
{
	return (addr->s6_addr32[0] & htonl(0xffc00000)) == htonl(0xfe800000);
}

static void hop_flow_key_set_scope(struct hop_flow_key *key, int ifindex)
{
	if (hop_flow_key_is_link_local(&key->local) || hop_flow_key_is_link_local(&key->peer))
		key->scope_ifindex = ifindex;
}

void hop_flow_key_of_sock(struct hop_flow_key *key, const struct hop_carrier *carrier,
			  const struct sock *sk)
{
	key->net = sock_net(sk);
	key->carrier = carrier;
	key->scope_ifindex = 0;
	key->sdif = 0;
	if (sk->sk_family == AF_INET) {
		ipv6_addr_set_v4mapped(sk->sk_rcv_saddr, &key->local);
		ipv6_addr_set_v4mapped(sk->sk_daddr, &key->peer);
	} else {
		key->local = sk->sk_v6_rcv_saddr;
		key->peer = sk->sk_v6_daddr;
	}
	key->local_port = htons(sk->sk_num);
	key->peer_port = sk->sk_dport;
	key->dif = READ_ONCE(sk->sk_bound_dev_if);
	key->l3mdev_ifindex = l3mdev_master_ifindex_by_index(key->net, key->dif);
	hop_flow_key_set_scope(key, key->dif);
}
EXPORT_SYMBOL_GPL(hop_flow_key_of_sock);

/* The packet's source becomes the local end; for an incoming packet the caller swaps both. */
static void hop_flow_key_of_ip(struct hop_flow_key *key, const struct hop_carrier *carrier,
			       const struct sk_buff *skb, const void *ip)
{
	key->net = dev_net(skb->dev);
	key->carrier = carrier;
	key->scope_ifindex = 0;
	if (skb->protocol == htons(ETH_P_IP)) {
		const struct iphdr *iph = ip;

		ipv6_addr_set_v4mapped(iph->saddr, &key->local);
		ipv6_addr_set_v4mapped(iph->daddr, &key->peer);
	} else {
		const struct ipv6hdr *ip6h = ip;

		key->local = ip6h->saddr;
		key->peer = ip6h->daddr;
	}
}

/* @ifindex: the interface on the wire; the VRF's port if skb->dev is a VRF */
static void hop_flow_key_set_interface(struct hop_flow_key *key, const struct sk_buff *skb,
				       int ifindex)
{
	int master = l3mdev_master_ifindex_rcu(skb->dev);

	key->dif = master ?: ifindex;
	key->sdif = master ? ifindex : 0;
	key->l3mdev_ifindex = master;
}

/* When a packet is delivered, skb->dev is the VRF; IP has stored the port. */
static int hop_flow_key_input_ifindex(const struct sk_buff *skb)
{
	if (!netif_is_l3_master(skb->dev))
		return skb->dev->ifindex;
	return skb->protocol == htons(ETH_P_IP) ? IPCB(skb)->iif : IP6CB(skb)->iif;
}

void hop_flow_key_of_output(struct hop_flow_key *key, const struct hop_carrier *carrier,
			    const struct sk_buff *skb, const struct tcphdr *th)
{
	lockdep_assert_in_rcu_read_lock();
	hop_flow_key_of_ip(key, carrier, skb, skb->data);
	key->local_port = th->source;
	key->peer_port = th->dest;
	hop_flow_key_set_interface(key, skb, skb->dev->ifindex);
	hop_flow_key_set_scope(key, skb->dev->ifindex);
}
EXPORT_SYMBOL_GPL(hop_flow_key_of_output);

void hop_flow_key_of_input(struct hop_flow_key *key, const struct hop_carrier *carrier,
			   const struct sk_buff *skb, const struct tcphdr *th)
{
	lockdep_assert_in_rcu_read_lock();
	hop_flow_key_of_ip(key, carrier, skb, skb_network_header(skb));
	swap(key->local, key->peer);
	key->local_port = th->dest;
	key->peer_port = th->source;
	hop_flow_key_set_interface(key, skb, hop_flow_key_input_ifindex(skb));
	/* On loopback, IPv6 stores the interface that the link-local address belongs to. */
	hop_flow_key_set_scope(key, skb->protocol == htons(ETH_P_IPV6) ? IP6CB(skb)->iif : 0);
}
EXPORT_SYMBOL_GPL(hop_flow_key_of_input);

struct sock *hop_flow_socket(const struct hop_flow_key *key)
{
	lockdep_assert_in_rcu_read_lock();
	if (ipv6_addr_v4mapped(&key->peer))
		return compat_inet_established(key->net, key->peer.s6_addr32[3], key->peer_port,
					       key->local.s6_addr32[3], ntohs(key->local_port),
					       READ_ONCE(key->dif), READ_ONCE(key->sdif));
	return compat_inet6_established(key->net, &key->peer, key->peer_port, &key->local,
					ntohs(key->local_port), READ_ONCE(key->dif),
					READ_ONCE(key->sdif));
}
EXPORT_SYMBOL_GPL(hop_flow_socket);

u32 hop_flow_tcp_state(const struct hop_flow_key *key)
{
	struct sock *sk = hop_flow_socket(key);
	u32 state;

	lockdep_assert_in_rcu_read_lock();
	if (!sk)
		return 0;
	state = 1 << hop_peek(sk->sk_state);
	sock_gen_put(sk);
	return state;
}
EXPORT_SYMBOL_GPL(hop_flow_tcp_state);

/* SO_BINDTODEVICE may name another device on an established connection, or none. */
struct sock *hop_flow_socket_of_any_device(const struct hop_flow_key *key)
{
	struct sock *sk = hop_flow_socket(key);
	struct hop_flow_key at = *key;
	struct net_device *dev;

	lockdep_assert_in_rcu_read_lock();
	at.sdif = 0;
	for_each_netdev_rcu(key->net, dev) {
		if (sk)
			break;
		at.dif = dev->ifindex;
		sk = hop_flow_socket(&at);
	}
	return sk;
}

/* Any listener of a reuseport group will do, since no packet is passed to it. */
bool hop_flow_has_listener(const struct hop_flow_key *key)
{
	lockdep_assert_in_rcu_read_lock();
	if (ipv6_addr_v4mapped(&key->peer))
		return compat_inet_listener(key->net, NULL, 0, key->peer.s6_addr32[3],
					    key->peer_port, key->local.s6_addr32[3],
					    ntohs(key->local_port), key->dif, key->sdif);
	return compat_inet6_listener(key->net, NULL, 0, &key->peer, key->peer_port,
				     &key->local, ntohs(key->local_port), key->dif, key->sdif);
}
