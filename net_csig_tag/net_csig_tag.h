/* SPDX-License-Identifier: GPL-2.0 */
/* Declarations that the files of net_csig_tag share */
#ifndef HOPCC_NET_CSIG_TAG_NET_CSIG_TAG_H
#define HOPCC_NET_CSIG_TAG_NET_CSIG_TAG_H

#include <linux/netfilter.h>
#include <linux/netfilter_netdev.h>
#include <linux/tcp.h>
#include <linux/xarray.h>
#include <hopcc/flow/csig_flow.h>
#include <hopcc/lib/hop_discover.h>
#include <hopcc/core/hop_carrier.h>
#include <hopcc/core/hop_output.h>
#include <net/netns/generic.h>

#include "csig_carrier.h"
#include "csig_text.h"
#include "inner.h"

/* Maximum text lengths of net.hopcc.csig_cc, csig_ports, csig_rules and csig_buckets. */
#define CTAG_CC_BYTES		128
#define CTAG_PORTS_BYTES	512
#define CTAG_TEXT_BYTES		1024

/* Maximum of net.hopcc.csig_weights. */
#define CTAG_WEIGHT_MAX_PKTS	1000U
#define CTAG_RETRY_DEFAULT_S	10U

/* Largest block of a cipher of ESP: AES, CBC. */
#define CTAG_CIPHER_BLOCK_BYTES	16U

/* Maximum number of flows with packets between decapsulation and the tunnel's device. */
#define CTAG_DECAP_SLOTS	512U

/* Offset of a mark in skb->cb: behind IP's data, in front of that of segmentation. */
#define CTAG_MARK_OFFSET	24

/**
 * enum ctag_level - net.hopcc.csig: what a netns may do
 * @CTAG_OFF: nothing
 * @CTAG_ANSWERS: reflect the tags of peers
 * @CTAG_INITIATES: also send tags
 */
enum ctag_level {
	CTAG_OFF,
	CTAG_ANSWERS,
	CTAG_INITIATES,
};

/*
 * The counters of a network namespace, and their names
 *
 * CTAG_IN_TAG: tags removed on trusted ports; a merged packet counts once
 * CTAG_IN_FENCED: tags removed on other ports without reading them
 * CTAG_IN_HIDDEN: tagged frames dropped on other ports because a filter of the device has not seen
 *	the packet below the tag
 * CTAG_IN_RECEIVED: tags passed to a flow
 * CTAG_IN_NO_FLOW: tags of TCP packets that belong to no known flow
 * CTAG_IN_TYPE: tags of an undefined type
 * CTAG_IN_HANDSHAKE: packets received with the option by which carriers negotiate
 * CTAG_IN_VALUE: reflections received with a value
 * CTAG_IN_EMPTY: reflections received that report that no tag arrived
 * CTAG_IN_UNASKED: reflections received by a flow that has sent no tag
 * CTAG_IN_BAD_SUM: options in packets with a wrong checksum
 * CTAG_IN_FORGED: options that are not the peer's according to their sequence numbers
 * CTAG_BAD_TRUNCATED: frames that end within a tag; dropped
 * CTAG_BAD_ORDER: frames in which another tag follows the tag; dropped
 * CTAG_BAD_LENGTH: options with an invalid length
 * CTAG_OUT_TAG: packets on the wire that were sent with a tag by a flow of this netns
 * CTAG_OUT_GSO: GSO packets that contained a part of CTAG_OUT_TAG
 * CTAG_OUT_FORWARDED: packets sent with a tag but without a socket: forwarded, or behind an MPLS
 *	label
 * CTAG_OUT_HANDSHAKE: packets with an option that negotiates: handshakes, and pure ACKs that ask
 *	or answer on an established connection
 * CTAG_OUT_VALUE: reflections sent with a value
 * CTAG_OUT_EMPTY: reflections sent to report that no tag arrived
 * CTAG_OUT_HIDDEN: packets without a tag because chains of a bridge would not find IP behind a tag
 * CTAG_NO_ROOM: tags and options omitted because they would exceed the MTU or TCP's header
 * CTAG_OUT_SEGMENTED: GSO packets with tags that were segmented here because the device must not
 *	do it
 * CTAG_TUNNEL_IN: packets with a tag that entered a named tunnel; the outer packet has a copy
 * CTAG_TUNNEL_OUT: packets that left a named tunnel, with a tag in the outer packet
 * CTAG_TUNNEL_WORSE: subset of CTAG_TUNNEL_OUT: the inner frame has a tag, and the outer tag was
 *	worse
 * CTAG_TUNNEL_LOST: outer tags that no inner packet could take
 * CTAG_NO_MEMORY: packets that could not be made writable
 * CTAG_SUPPORTED: connections whose peer supports CSIG
 * CTAG_UNSUPPORTED: connections whose peer turned out not to support CSIG
 * CTAG_STRIPPED: number of times that a flow stopped to send tags because none passed the path
 * CTAG_AVOIDED: connections that do not ask by ACKs because the peer is cached as one without
 *	support
 */
#define CTAG_COUNT_LIST(count)						\
	HOP_CARRIER_COUNT_LIST(CTAG, count)				\
	count(CTAG_IN_TAG, "in_tag")					\
	count(CTAG_IN_FENCED, "in_fenced")				\
	count(CTAG_IN_RECEIVED, "in_received")				\
	count(CTAG_IN_TYPE, "in_type")					\
	count(CTAG_IN_VALUE, "in_value")				\
	count(CTAG_IN_EMPTY, "in_empty")				\
	count(CTAG_IN_UNASKED, "in_unasked")				\
	count(CTAG_IN_FORGED, "in_forged")				\
	count(CTAG_BAD_TRUNCATED, "bad_truncated")			\
	count(CTAG_BAD_ORDER, "bad_order")				\
	count(CTAG_BAD_LENGTH, "bad_length")				\
	count(CTAG_OUT_TAG, "out_tag")					\
	count(CTAG_OUT_GSO, "out_gso")					\
	count(CTAG_OUT_FORWARDED, "out_forwarded")			\
	count(CTAG_OUT_VALUE, "out_value")				\
	count(CTAG_OUT_EMPTY, "out_empty")				\
	count(CTAG_OUT_SEGMENTED, "out_segmented")			\
	count(CTAG_TUNNEL_IN, "tunnel_in")				\
	count(CTAG_TUNNEL_OUT, "tunnel_out")				\
	count(CTAG_TUNNEL_WORSE, "tunnel_worse")			\
	count(CTAG_TUNNEL_LOST, "tunnel_lost")				\
	count(CTAG_STRIPPED, "path_stripped")				\
	count(CTAG_GUARDED, "path_guarded")				\

enum ctag_count {
	CTAG_COUNT_LIST(HOP_COUNTER_INDEX)
	CTAG_COUNTS,
};

/**
 * enum ctag_text_kind - sysctls whose text is parsed
 * @CTAG_RULES: net.hopcc.csig_rules
 * @CTAG_SCALES: net.hopcc.csig_buckets
 * @CTAG_TEXTS: number of such sysctls
 */
enum ctag_text_kind {
	CTAG_RULES,
	CTAG_SCALES,
	CTAG_TEXTS,
};

/**
 * struct ctag_text - value of a sysctl whose text is parsed: first member of the result
 * @rcu: for kfree_rcu()
 * @text: text as written to the sysctl
 */
struct ctag_text {
	struct rcu_head rcu;
	char text[CTAG_TEXT_BYTES];
};

/**
 * struct ctag_rules - net.hopcc.csig_rules
 * @text: the sysctl's text
 * @count: number of valid entries of @rule
 * @rule: the rules; the first match applies
 */
struct ctag_rules {
	struct ctag_text text;
	unsigned int count;
	struct ctag_rule rule[CTAG_RULES_MAX];
};

/**
 * struct ctag_scales - net.hopcc.csig_buckets
 * @text: the sysctl's text
 * @scale: scales by signal; the quanta are in struct ctag_net
 */
struct ctag_scales {
	struct ctag_text text;
	struct csig_scale scale[CSIG_TYPES];
};

/**
 * struct ctag_port - a device that net.hopcc.csig_ports names
 * @ops: netfilter hook at its egress
 * @ingress: netfilter hook at its ingress; only for tunnels
 * @tunnel: the device is a tunnel
 * @rcu: for kfree_rcu()
 */
struct ctag_port {
	struct nf_hook_ops ops;
	struct nf_hook_ops ingress;
	bool tunnel;
	struct rcu_head rcu;
};

/**
 * struct ctag_net - state of a netns
 * @carrier: state that all carriers have; the first member
 * @level: net.hopcc.csig, enum ctag_level
 * @form: net.hopcc.csig_form, enum csig_form; for flows selected by their congestion control
 * @every_pkts: net.hopcc.csig_every; for the same flows
 * @weight_pkts: net.hopcc.csig_weights, by signal
 * @quantum: net.hopcc.csig_quantum, by signal
 * @retry_s: net.hopcc.csig_retry_s: time without tags after tags were not answered, s
 * @cc: net.hopcc.csig_cc
 * @port_names: net.hopcc.csig_ports; protected by RTNL
 * @ports: struct ctag_port by interface index; changed under RTNL
 * @tunnels: number of @ports that are tunnels; written under RTNL
 * @devices: notifier for devices that are added and removed
 * @texts: values by enum ctag_text_kind, of which the rules may be NULL: none
 * @hooked: the netns' hooks are registered
 * @hook_lock: protects @hooked
 */
struct ctag_net {
	struct hop_carrier_net carrier;
	unsigned int level;
	unsigned int form;
	unsigned int every_pkts;
	unsigned int weight_pkts[CSIG_TYPES];
	unsigned int quantum[CSIG_TYPES];
	unsigned int retry_s;
	char cc[CTAG_CC_BYTES];
	char port_names[CTAG_PORTS_BYTES];
	struct xarray ports;
	unsigned int tunnels;
	struct notifier_block devices;
	struct ctag_text __rcu *texts[CTAG_TEXTS];
	bool hooked;
	struct mutex hook_lock;	/* protects @hooked */
};

/**
 * struct ctag_request - packets of a flow that carry tags
 * @every_pkts: every n-th packet
 * @packets: enum ctag_packets
 * @form: CSIG_COMPACT or CSIG_EXPANDED; CSIG_NONE: no packets
 */
struct ctag_request {
	u32 every_pkts;
	u8 packets;
	u8 form;
};

/**
 * struct csig_flow - net_csig_tag's state of a connection, in a hop_flow
 * @lock: protects the fields that name no other lock; taken with BH off
 * @encrypted: IPsec has transformed a packet of this end; no lock
 * @asked_us: the peer asked, in its SYN or later, and may send tags; no lock
 * @request: packets of this end that carry tags; @request.form is also read without the lock
 * @option_bytes: size of the largest option that reflects a received tag; also read without the
 *	lock
 * @reserved_bytes: bytes taken from the MSS for tags and options; protected by the socket lock
 * @reserved_sk: the socket that they were taken from, only compared; protected by its lock
 * @offered_pkts: number of packets so far that might carry tags
 * @sent: this end has sent a tag
 * @path: do tags pass the path?
 * @untagged: data was received without a tag since the last reflection
 * @reflected_ns: time at which the last option was sent
 * @received: signals to reflect, by type
 * @reported_changes: seqcount of @reported, which is also read without the lock
 * @reported: latest reflected value by signal type, and the range that it represented when it was
 *	received
 */
struct csig_flow {
	spinlock_t lock;	/* see above */
	bool encrypted;
	bool asked_us;
	struct ctag_request request;
	u32 option_bytes;
	u32 reserved_bytes;
	const struct sock *reserved_sk;
	u32 offered_pkts;
	bool sent;
	struct csig_path path;
	bool untagged;
	u64 reflected_ns;
	struct ctag_received received[CSIG_TYPES];
	seqcount_spinlock_t reported_changes;
	struct csig_signal reported[CSIG_TYPES];
};

extern unsigned int ctag_net_id;
extern ushort ctag_exid;
extern u64 ctag_secret;
extern const struct hop_carrier ctag_carrier;

static inline struct ctag_net *ctag_net(const struct net *net)
{
	return net_generic(net, ctag_net_id);
}

static inline void ctag_count_add(const struct ctag_net *cn, enum ctag_count count, u32 n)
{
	hop_carrier_count_add(&cn->carrier, count, n);
}

static inline void ctag_count(const struct ctag_net *cn, enum ctag_count count)
{
	ctag_count_add(cn, count, 1);
}

static inline u8 *ctag_mark(struct sk_buff *skb)
{
	return (u8 *)skb->cb + CTAG_MARK_OFFSET;
}

static inline void ctag_mark_clear(struct sk_buff *skb)
{
	memset(ctag_mark(skb), 0, CSIG_MARK_BYTES);
}

/* Context: RCU read lock. */
static inline bool ctag_port_is_trusted(struct ctag_net *cn, int ifindex)
{
	lockdep_assert_in_rcu_read_lock();
	return xa_load(&cn->ports, ifindex);
}

/* Index of the device by which IP received the packet; 0: it is this host's */
static inline int ctag_iif(const struct sk_buff *skb)
{
	return skb->protocol == htons(ETH_P_IP) ? IPCB(skb)->iif : IP6CB(skb)->iif;
}

/* hook.c */
int ctag_hook(struct ctag_net *cn, bool also);
void ctag_unhook(struct ctag_net *cn);

/* sysctl.c */
extern const struct ctl_table ctag_table[];
void ctag_knobs_default(struct ctag_net *cn);
int ctag_text_set(struct ctag_net *cn, enum ctag_text_kind kind, const char *text);

/* scales.c */
void ctag_range(const struct ctag_net *cn, enum csig_type type, struct csig_signal *s);

/* rules.c */
struct ctag_rule *ctag_rule_find(const struct ctag_net *cn, bool udp, const struct in6_addr *to,
				 __be16 port, u32 mark);
struct ctag_request ctag_request(const struct ctag_net *cn, const struct hop_flow_key *key,
				 const struct sock *sk);

/* ports.c */
int ctag_ports_start(struct ctag_net *cn, struct net *net);
void ctag_ports_stop(struct ctag_net *cn);
int ctag_ports_set(struct ctag_net *cn, const char *names);
bool ctag_is_frame_tunnel(const struct net_device *dev);
bool ctag_has_tunnels(const struct ctag_net *cn);

/* flow.c */
void ctag_flow_settle(struct hop_flow *flow, const struct sock *sk);
void ctag_flow_receive(struct ctag_net *cn, struct hop_flow *flow, enum csig_form form,
		       const struct csig_tag *t);
void ctag_flow_miss(struct hop_flow *flow);
void ctag_flow_reported(struct ctag_net *cn, struct hop_flow *flow, enum csig_form form,
			const struct csig_tag *t);
void ctag_flow_reported_empty(struct ctag_net *cn, struct hop_flow *flow, u32 ack_seq);
u32 ctag_type_of(const struct ctag_net *cn, u32 n, u32 every_pkts);
void ctag_flow_unsent(struct hop_flow *flow);
bool ctag_flow_lacks_room(const struct csig_flow *f);
void ctag_flow_reserve(struct csig_flow *f, struct sock *sk);
enum csig_form ctag_flow_tag(struct ctag_net *cn, struct hop_flow *flow, const struct sk_buff *skb,
			     const struct hop_segment *seg, struct csig_tag *t);

/* option.c */
bool ctag_read_segment(struct sk_buff *skb, struct hop_segment *seg);
void ctag_reflect(struct ctag_net *cn, struct sk_buff *skb, const struct hop_segment *seg,
		  struct hop_flow *flow, struct sock *sk);

/* output.c: POST_ROUTING; input.c: LOCAL_IN */
unsigned int ctag_output(void *priv, struct sk_buff *skb, const struct nf_hook_state *state);
unsigned int ctag_input(void *priv, struct sk_buff *skb, const struct nf_hook_state *state);

/* egress.c */
unsigned int ctag_egress(void *priv, struct sk_buff *skb, const struct nf_hook_state *state);

/* received.c */
enum csig_form ctag_received_tag(struct ctag_net *cn, const struct sk_buff *skb, int iif,
				 struct csig_tag *t);

/* ingress.c */
void ctag_ingress_init(void);
void ctag_ingress_exit(void);

/* gro.c */
void ctag_gro_init(void);
void ctag_gro_exit(void);

/* tunnel.c */
void ctag_tunnel_init(void);
bool ctag_tunnel_outer(struct sk_buff *skb);
void ctag_tunnel_keep(struct ctag_net *cn, const struct sk_buff *skb,
		      const struct ctag_inner *inner, enum csig_form form,
		      const struct csig_tag *t);
unsigned int ctag_tunnel_egress(void *priv, struct sk_buff *skb,
				const struct nf_hook_state *state);
unsigned int ctag_tunnel_ingress(void *priv, struct sk_buff *skb,
				 const struct nf_hook_state *state);

/* udp.c */
enum csig_form ctag_udp_tag(const struct ctag_net *cn, const struct sk_buff *skb,
			    const struct sock *sk, struct csig_tag *t);
bool ctag_udp_receive(const struct ctag_net *cn, struct sk_buff *skb, enum csig_form form,
		      const struct csig_tag *t);

/* kfunc.c */
#ifdef CONFIG_DEBUG_INFO_BTF_MODULES
int ctag_kfunc_init(void);
#else
static inline int ctag_kfunc_init(void)
{
	return 0;
}
#endif

/* netlink.c */
int ctag_netlink_init(void);
void ctag_netlink_exit(void);

#endif /* HOPCC_NET_CSIG_TAG_NET_CSIG_TAG_H */
