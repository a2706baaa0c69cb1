/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The only file that knows kernel versions; force-included by the top Kbuild.
 * Supported: 6.1, 6.12, 7.2. Each shim is named for its feature and says when
 * it can go.
 */
#ifndef HOPCC_COMPAT_COMPAT_H
#define HOPCC_COMPAT_COMPAT_H

#include <linux/version.h>
#include <linux/btf.h>
#include <linux/btf_ids.h>
#include <linux/netdevice.h>
#include <linux/hrtimer.h>
#include <linux/sysctl.h>
#include <net/inet6_hashtables.h>
#include <net/inet_hashtables.h>
#include <net/net_namespace.h>
#include <net/tcp.h>
#include <net/pkt_sched.h>

#define KV(a, b, c) (LINUX_VERSION_CODE >= KERNEL_VERSION(a, b, c))

/* skb_gso_segment() moved out of netdevice.h; goes with 6.1. */
#if KV(6, 5, 0)
#include <net/gso.h>
#endif

/* hex2bin() moved out of kernel.h; goes with 6.1. */
#if KV(6, 4, 0)
#include <linux/hex.h>
#endif

/* CA_EVENT_TX_START became an op of its own; goes when 6.12 does. */
#if KV(7, 1, 0)
#define compat_cc_events(ev, tx_start) \
	.cwnd_event = ev, .cwnd_event_tx_start = tx_start
#else
#define compat_cc_events(ev, tx_start) .cwnd_event = ev
#endif

/*
 * cong_control() got the ACK and its flags; goes with 6.1. Write compat_adapt_cong_control(fn)
 * behind the function, and compat_cong_control(fn) in the ops table.
 */
#if KV(6, 10, 0)
#define compat_cong_control(fn) fn##_of_ack
#define compat_adapt_cong_control(fn)						\
	static void fn##_of_ack(struct sock *sk, u32 ack, int flag,		\
				const struct rate_sample *rs)			\
	{									\
		fn(sk, rs);							\
	}
#else
#define compat_cong_control(fn) fn
#define compat_adapt_cong_control(fn)
#endif

/* AccECN split the "ECN negotiated" bit; goes when 6.12 does. */
#ifdef TCP_ECN_MODE_RFC3168
#define compat_ecn_ok(tp) tcp_ecn_mode_any(tp)
#define compat_ecn_rfc3168(tp) tcp_ecn_mode_rfc3168(tp)
#else
#define compat_ecn_ok(tp) (!!((tp)->ecn_flags & TCP_ECN_OK))
#define compat_ecn_rfc3168(tp) compat_ecn_ok(tp)
#endif

/*
 * __tcp_send_ack() got a flags argument in a stable update of 6.12, so the top
 * Kbuild asks the header; goes with 6.1.
 */
#ifdef COMPAT_TCP_SEND_ACK_FLAGS
#define compat_send_ack(sk, rcv_nxt) __tcp_send_ack(sk, rcv_nxt, 0)
#else
#define compat_send_ack(sk, rcv_nxt) __tcp_send_ack(sk, rcv_nxt)
#endif

/*
 * For who holds the device's own lock, as the qdiscs' init() and change() and the
 * notifiers NETDEV_UP and NETDEV_CHANGE do: __ethtool_get_link_ksettings() takes it
 * there. The top Kbuild asks the header; goes when 6.12 does.
 */
#ifdef COMPAT_NETIF_LINK_KSETTINGS
#define compat_get_link_ksettings netif_get_link_ksettings
#else
#define compat_get_link_ksettings __ethtool_get_link_ksettings
#endif

/*
 * kfuncs: marked as such since 6.2, their set since 6.9, a list of diagnostics around them
 * since 6.7; go with 6.1. KF_TRUSTED_ARGS makes the verifier accept only trusted pointers.
 * In 6.1 it also refuses the arguments of struct_ops, and in 7.0 all kfuncs behave as if they
 * had it, so that the flag is gone; COMPAT_KF_TRUSTED goes when 6.12 does.
 */
#ifndef __bpf_kfunc
#define __bpf_kfunc noinline
#endif
#ifdef __bpf_kfunc_start_defs
#define compat_kfunc_start_defs() __bpf_kfunc_start_defs()
#define compat_kfunc_end_defs() __bpf_kfunc_end_defs()
#else
#define compat_kfunc_start_defs() struct compat_nothing
#define compat_kfunc_end_defs() struct compat_nothing
#endif
#ifdef BTF_KFUNCS_START
#define compat_kfunc_ids_start(name) BTF_KFUNCS_START(name)
#define compat_kfunc_ids_end(name) BTF_KFUNCS_END(name)
#else
#define compat_kfunc_ids_start(name) BTF_SET8_START(name)
#define compat_kfunc_ids_end(name) BTF_SET8_END(name)
#endif
#if KV(6, 3, 0) && defined(KF_TRUSTED_ARGS)
#define COMPAT_KF_TRUSTED KF_TRUSTED_ARGS
#else
#define COMPAT_KF_TRUSTED 0
#endif

/* The socket tables lost their argument; goes when 6.12 does. */
#if KV(6, 18, 0)
#define compat_inet_established __inet_lookup_established
#define compat_inet6_established __inet6_lookup_established
#define compat_inet_listener __inet_lookup_listener
#define compat_inet6_listener inet6_lookup_listener
#else
#define compat_inet_established(net, ...) \
	__inet_lookup_established(net, (net)->ipv4.tcp_death_row.hashinfo, __VA_ARGS__)
#define compat_inet6_established(net, ...) \
	__inet6_lookup_established(net, (net)->ipv4.tcp_death_row.hashinfo, __VA_ARGS__)
#define compat_inet_listener(net, ...) \
	__inet_lookup_listener(net, (net)->ipv4.tcp_death_row.hashinfo, __VA_ARGS__)
#define compat_inet6_listener(net, ...) \
	inet6_lookup_listener(net, (net)->ipv4.tcp_death_row.hashinfo, __VA_ARGS__)
#endif

/* tc's filters at a device got a field of their own, with BPF's; goes with 6.1. */
#if KV(6, 6, 0)
#ifdef CONFIG_NET_XGRESS
#include <net/tcx.h>
/* clsact without a filter has an entry, too. */
static inline bool compat_has_tcx(struct bpf_mprog_entry *entry)
{
	return entry && (rcu_access_pointer(tcx_entry(entry)->miniq) ||
			 READ_ONCE(entry->fp_items[0].prog));
}

#define compat_has_tc_ingress(dev) compat_has_tcx(rcu_dereference((dev)->tcx_ingress))
#define compat_has_tc_egress(dev) compat_has_tcx(rcu_dereference((dev)->tcx_egress))
#endif
#elif defined(CONFIG_NET_CLS_ACT)
#define compat_has_tc_ingress(dev) (!!rcu_access_pointer((dev)->miniq_ingress))
#define compat_has_tc_egress(dev) (!!rcu_access_pointer((dev)->miniq_egress))
#endif
#ifndef compat_has_tc_ingress
#define compat_has_tc_ingress(dev) false
#define compat_has_tc_egress(dev) false
#endif

/* hrtimer_setup() replaced hrtimer_init(); goes when 6.12 does. */
#if !KV(6, 15, 0)
static inline void hrtimer_setup(struct hrtimer *timer,
				 enum hrtimer_restart (*fn)(struct hrtimer *),
				 clockid_t clock, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock, mode);
	timer->function = fn;
}
#endif

/* The names of these assertions are new; goes when 6.1 does. */
#if !KV(6, 9, 0)
#define lockdep_assert_in_rcu_read_lock() \
	RCU_LOCKDEP_WARN(!rcu_read_lock_held(), "no RCU read lock")
#define lockdep_assert_in_rcu_reader() \
	RCU_LOCKDEP_WARN(!rcu_read_lock_any_held(), "no RCU read side")
#endif

/* Proc handlers take a const table since 6.11; goes with 6.1. */
#if KV(6, 11, 0)
#define compat_ctl_table const struct ctl_table
#else
#define compat_ctl_table struct ctl_table
#endif

/*
 * register_net_sysctl_sz() counts entries; before it, an empty one ends them:
 * keep both. Goes with 6.1.
 */
#if !KV(6, 6, 0)
#define register_net_sysctl_sz(net, path, table, n) \
	register_net_sysctl(net, path, table)
#endif

/*
 * qdisc_skb_cb got pkt_segs, to be set for segments made in a qdisc; goes when
 * 6.12 does.
 */
static inline void compat_set_pkt_len(struct sk_buff *skb,
				      unsigned int len_bytes, unsigned int segs)
{
	qdisc_skb_cb(skb)->pkt_len = len_bytes;
#if KV(6, 19, 0)
	qdisc_skb_cb(skb)->pkt_segs = segs;
#endif
}

/* qlen got accessors in 7.1; goes when 6.12 does. */
#if !KV(7, 1, 0)
#define qdisc_qlen_inc(sch) ((sch)->q.qlen++)
#define qdisc_qlen_dec(sch) ((sch)->q.qlen--)
#endif

/* The qdisc module alias; goes with 6.1, where the loader asks for sch_<kind>. */
#ifndef MODULE_ALIAS_NET_SCH
#define MODULE_ALIAS_NET_SCH(kind) MODULE_ALIAS("sch_" kind)
#endif

/* A device's instances of NAPI got a lock of their own beside RTNL; goes when 6.12 does. */
#if KV(6, 15, 0)
#include <net/netdev_lock.h>
#define compat_netdev_lock(dev) netdev_lock(dev)
#define compat_netdev_unlock(dev) netdev_unlock(dev)
#else
#define compat_netdev_lock(dev) ((void)(dev))
#define compat_netdev_unlock(dev) ((void)(dev))
#endif

#endif /* HOPCC_COMPAT_COMPAT_H */
