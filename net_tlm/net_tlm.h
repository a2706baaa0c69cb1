/* SPDX-License-Identifier: GPL-2.0 */
/* Declarations that the files of net_tlm share */
#ifndef HOPCC_NET_TLM_NET_TLM_H
#define HOPCC_NET_TLM_NET_TLM_H

#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/netfilter.h>
#include <linux/tcp.h>
#include <hopcc/core/hop_output.h>
#include <hopcc/core/hop_shim.h>
#include <hopcc/flow/int_vendor.h>
#include <net/dsfield.h>
#include <net/netns/generic.h>

#include "int_tlm.h"

/**
 * struct ntlm_table - layouts of a netns; replaced as a whole
 * @t: the table, whose arrays are in the same memory
 * @formats: BIT() of enum tlm_format: formats that have a layout
 * @generation: serial number of the table, never 0
 * @rcu: for kvfree_rcu()
 */
struct ntlm_table {
	struct tlm_table t;
	u32 generation;
	u8 formats;
	struct rcu_head rcu;
};

/**
 * struct ntlm_flow - state of a flow that has received telemetry of other vendors
 * @state: for net_int
 * @data_ns: time at which @t's path was last read from data; 0: never
 * @data_is_new: no probe has been answered since then
 * @t: state of the law
 *
 * All is protected by the flow's lock.
 */
struct ntlm_flow {
	struct int_vendor_state state;
	u64 data_ns;
	bool data_is_new;
	struct ntlm_state t;
};

/**
 * struct ntlm_net - state of a netns
 * @table: layouts; NULL: none, and no telemetry is read
 */
struct ntlm_net {
	struct ntlm_table __rcu *table;
};

/**
 * struct ntlm_carried - headers that were found in a packet
 * @format: TLM_IFA or TLM_INT_MD
 * @at: offset of the headers from skb->data
 * @ifa: with TLM_IFA
 * @intmd: with TLM_INT_MD
 */
struct ntlm_carried {
	enum tlm_format format;
	unsigned int at;
	union {
		struct ifa_view ifa;
		struct intmd_view intmd;
	};
};

/**
 * enum ntlm_sum - which bytes TCP's checksum of a segment with INT-MD covers
 * @NTLM_SUM_NOTHING: the checksum is invalid with and without INT-MD
 * @NTLM_SUM_WHOLE: the segment with INT-MD, as the specification demands
 * @NTLM_SUM_ORIGINAL: the segment without INT-MD
 */
enum ntlm_sum {
	NTLM_SUM_NOTHING,
	NTLM_SUM_WHOLE,
	NTLM_SUM_ORIGINAL,
};

extern unsigned int ntlm_net_id;
extern u8 ntlm_dscp_intmd;

static inline struct ntlm_net *ntlm_net(const struct net *net)
{
	return net_generic(net, ntlm_net_id);
}

static inline u8 ntlm_dscp(const struct sk_buff *skb)
{
	return (skb->protocol == htons(ETH_P_IP) ? ipv4_get_dsfield(ip_hdr(skb)) :
						   ipv6_get_dsfield(ipv6_hdr(skb))) >> 2;
}

static inline void ntlm_count(const struct net *net, unsigned int count)
{
	nint_vendor_count(net, count, 1);
}

static inline bool ntlm_reads(const struct net *net, enum tlm_format format)
{
	const struct ntlm_table *t = rcu_dereference(ntlm_net(net)->table);

	return t && t->formats & BIT(format);
}

/* flow.c */
bool ntlm_collect(const struct net *net, struct int_flow *f, const struct tlm_stack *s,
		  unsigned int count);
bool ntlm_collect_ioam(const struct net *net, const struct sk_buff *skb, unsigned int tcp_bytes,
		       struct int_flow *f, unsigned int count);
bool ntlm_learn(const struct net *net, struct int_vendor_state *state,
		const struct nint_arrival *arrival, u64 now_ns, const struct hpcc_params *p,
		struct hpcc_vars *v, struct nint_reply *reply);

/* strip.c */
void ntlm_set_dscp(struct sk_buff *skb, u8 dscp);
int ntlm_read_probe(struct sk_buff *skb, unsigned int tcp_at, struct int_flow *f,
		    const void *carried);
void ntlm_read_ioam_data(const struct net *net, struct sk_buff *skb, unsigned int tcp_at);
unsigned int ntlm_strip_ifa(const struct net *net, struct sk_buff *skb,
			    const struct hop_shim_place *place, const struct ifa_view *v);
unsigned int ntlm_strip_intmd(const struct net *net, struct sk_buff *skb,
			      const struct hop_shim_place *place, const struct intmd_view *v);

/* input.c */
void ntlm_hook(struct net *net);
void ntlm_unhook(struct net *net);

/* layout.c */
int ntlm_layout_init(void);
void ntlm_layout_exit(void);
void ntlm_layout_free(const struct net *net);

/* wrap.c */
bool ntlm_room(struct int_vendor_room *room, const struct sk_buff *skb);
void ntlm_wrap(struct sk_buff *probe, const struct sk_buff *skb, const struct hop_segment *seg,
	       const struct int_vendor_room *room);

#endif /* HOPCC_NET_TLM_NET_TLM_H */
