/* SPDX-License-Identifier: GPL-2.0 */
/* What the files of net_csig_tag share. */
#ifndef NET_CSIG_TAG_NET_CSIG_TAG_H
#define NET_CSIG_TAG_NET_CSIG_TAG_H

#include <linux/ipv6.h>
#include <linux/netfilter.h>
#include <linux/netfilter_netdev.h>
#include <linux/skbuff.h>
#include <linux/tcp.h>
#include <linux/xarray.h>
#include <net/csig_flow.h>
#include <net/hop_discover.h>
#include <net/hop_flow.h>
#include <net/hop_output.h>
#include <net/hop_shim.h>
#include <net/hop_silent.h>
#include <net/hop_sysctl.h>
#include <net/netns/generic.h>

#include "csig_carrier.h"

/* Of net.hopcc.csig_cc, csig_ports, csig_rules, csig_buckets. */
#define CTAG_CC_BYTES		128
#define CTAG_PORTS_BYTES	512
#define CTAG_RULES_BYTES	1024
#define CTAG_BUCKETS_BYTES	1024
#define CTAG_RULES_MAX		16

/* Of net.hopcc.csig_weights and csig_every. */
#define CTAG_WEIGHT_MAX_PKTS	1000U
#define CTAG_EVERY_MAX_PKTS	1000000U
#define CTAG_RETRY_DEFAULT_S	10U

/* Flows whose packets are between decapsulation and their tunnel's device, at once. */
#define CTAG_DECAP_SLOTS	512U

/* Where a mark lies in skb->cb: behind IP's, in front of segmentation's. */
#define CTAG_MARK_OFFSET	24

/**
 * enum ctag_level - net.hopcc.csig: what a netns may do
 * @CTAG_OFF: nothing
 * @CTAG_ANSWERS: reflect what a peer asks for
 * @CTAG_INITIATES: send tags, too
 */
enum ctag_level {
	CTAG_OFF,
	CTAG_ANSWERS,
	CTAG_INITIATES,
};

/**
 * enum ctag_packets - which packets of a flow bear tags (7.3)
 * @CTAG_DATA: those with data, each n-th
 * @CTAG_PROBES: those without new data: ACKs, keep-alives, window probes
 */
enum ctag_packets {
	CTAG_DATA,
	CTAG_PROBES,
};

/**
 * enum ctag_count - what is counted, a netns; names are in ctag_count_names[]
 * @CTAG_IN_TAG: tags taken off on trusted ports, by super-packets
 * @CTAG_IN_FENCED: tags taken off on other ports, unread
 * @CTAG_IN_HIDDEN: frames with tags on other ports, dropped since a filter of the device has
 *	not seen what is below the tag
 * @CTAG_IN_HEARD: tags told to a flow
 * @CTAG_IN_NO_FLOW: tags on TCP for no flow of ours
 * @CTAG_IN_TYPE: tags of a type that nobody has defined
 * @CTAG_IN_HELLO: options of handshakes, and questions of established connections
 * @CTAG_IN_VALUE: reflections with a value
 * @CTAG_IN_EMPTY: reflections that say that no tag came
 * @CTAG_IN_UNASKED: reflections to a flow that has sent no tag
 * @CTAG_IN_BAD_SUM: options of packets with a wrong checksum
 * @CTAG_IN_FORGED: options that are not the peer's by their sequence numbers
 * @CTAG_BAD_TRUNCATED: frames that end within a tag; dropped
 * @CTAG_BAD_ORDER: tags with a tag behind them; dropped
 * @CTAG_BAD_LENGTH: options of a wrong length
 * @CTAG_OUT_TAG: packets on the wire that left with a tag of a flow of this netns
 * @CTAG_OUT_SUPER: super-packets that some of them left in
 * @CTAG_OUT_FORWARDED: the same, without a socket: forwarded, or behind an MPLS label
 * @CTAG_OUT_HELLO: packets with an option that negotiates: handshakes, and pure ACKs that ask or
 *	answer on an established connection
 * @CTAG_OUT_VALUE: reflections with a value
 * @CTAG_OUT_EMPTY: reflections that say that no tag came
 * @CTAG_OUT_NO_ROOM: tags and options that would exceed the MTU or TCP's header
 * @CTAG_OUT_SEGMENTED: super-packets with tags that no device could be left
 * @CTAG_TUNNEL_IN: packets with a tag that entered a named tunnel: the outer packet has a copy
 * @CTAG_TUNNEL_OUT: packets that left a named tunnel, and had a tag outside
 * @CTAG_TUNNEL_WORSE: of these, the tags of inner frames that were better than the outer tag
 * @CTAG_TUNNEL_LOST: outer tags that no inner packet could take
 * @CTAG_NO_MEMORY: packets that could not be made writable
 * @CTAG_SPEAKS: connections whose peer knows CSIG
 * @CTAG_SILENT: connections that found out that it does not
 * @CTAG_STRIPPED: times that a flow stopped, since no tag came through
 * @CTAG_AVOIDED: handshakes without an option, to or from a remembered destination
 * @CTAG_COUNTS: number of counters
 */
enum ctag_count {
	CTAG_IN_TAG,
	CTAG_IN_FENCED,
	CTAG_IN_HIDDEN,
	CTAG_IN_HEARD,
	CTAG_IN_NO_FLOW,
	CTAG_IN_TYPE,
	CTAG_IN_HELLO,
	CTAG_IN_VALUE,
	CTAG_IN_EMPTY,
	CTAG_IN_UNASKED,
	CTAG_IN_BAD_SUM,
	CTAG_IN_FORGED,
	CTAG_BAD_TRUNCATED,
	CTAG_BAD_ORDER,
	CTAG_BAD_LENGTH,
	CTAG_OUT_TAG,
	CTAG_OUT_SUPER,
	CTAG_OUT_FORWARDED,
	CTAG_OUT_HELLO,
	CTAG_OUT_VALUE,
	CTAG_OUT_EMPTY,
	CTAG_OUT_NO_ROOM,
	CTAG_OUT_SEGMENTED,
	CTAG_TUNNEL_IN,
	CTAG_TUNNEL_OUT,
	CTAG_TUNNEL_WORSE,
	CTAG_TUNNEL_LOST,
	CTAG_NO_MEMORY,
	CTAG_SPEAKS,
	CTAG_SILENT,
	CTAG_STRIPPED,
	CTAG_AVOIDED,
	CTAG_COUNTS,
};

/**
 * struct ctag_rule - flows that bear tags
 * @prefix: destinations; IPv4 is v4-mapped
 * @prefix_bits: of @prefix
 * @port: destination port; 0: any
 * @mark: of the socket
 * @mark_mask: which bits of it; 0: any
 * @every_pkts: each n-th packet
 * @packets: enum ctag_packets
 * @form: CSIG_COMPACT or CSIG_EXPANDED
 * @udp: of UDP, not of TCP
 * @datagrams: that it matched on output, of UDP
 */
struct ctag_rule {
	struct in6_addr prefix;
	u8 prefix_bits;
	__be16 port;
	u32 mark;
	u32 mark_mask;
	u32 every_pkts;
	u8 packets;
	u8 form;
	bool udp;
	atomic_t datagrams;
};

/**
 * struct ctag_rules - net.hopcc.csig_rules
 * @rcu: frees it
 * @count: of @rule
 * @text: as written
 * @rule: the first that matches counts
 */
struct ctag_rules {
	struct rcu_head rcu;
	unsigned int count;
	char text[CTAG_RULES_BYTES];
	struct ctag_rule rule[CTAG_RULES_MAX];
};

/**
 * struct ctag_scales - net.hopcc.csig_buckets
 * @rcu: frees it
 * @scale: by signal; quanta are the netns'
 * @text: as written
 */
struct ctag_scales {
	struct rcu_head rcu;
	struct csig_scale scale[CSIG_TYPES];
	char text[CTAG_BUCKETS_BYTES];
};

/**
 * struct ctag_port - a device that net.hopcc.csig_ports names
 * @ops: the hook on its egress
 * @ingress: the hook on its ingress; of tunnels only
 * @tunnel: it is a tunnel's device
 * @rcu: frees it
 */
struct ctag_port {
	struct nf_hook_ops ops;
	struct nf_hook_ops ingress;
	bool tunnel;
	struct rcu_head rcu;
};

/**
 * struct ctag_net - of a netns
 * @net: the netns
 * @level: net.hopcc.csig, enum ctag_level
 * @form: net.hopcc.csig_form: of flows that their cc names, enum csig_form
 * @every_pkts: net.hopcc.csig_every: of these
 * @summary: net.hopcc.csig_summary, enum csig_summary
 * @weight_pkts: net.hopcc.csig_weights, by signal
 * @quantum: net.hopcc.csig_quantum, by signal
 * @retry_s: net.hopcc.csig_retry_s
 * @silent_s: net.hopcc.csig_silent_s
 * @cc: net.hopcc.csig_cc
 * @port_names: net.hopcc.csig_ports; under RTNL
 * @ports: by interface index: struct ctag_port; changed under RTNL
 * @tunnels: number of @ports that are tunnels; written under RTNL
 * @devices: tells of devices that come and go
 * @rules: net.hopcc.csig_rules, NULL for none
 * @scales: net.hopcc.csig_buckets
 * @counts: CTAG_COUNTS of them, of each CPU
 * @sysctl: the sysctls
 * @silent: the memory for destinations
 * @hooked: its hooks are registered
 * @hook_lock: of @hooked
 */
struct ctag_net {
	struct net *net;
	unsigned int level;
	unsigned int form;
	unsigned int every_pkts;
	unsigned int summary;
	unsigned int weight_pkts[CSIG_TYPES];
	unsigned int quantum[CSIG_TYPES];
	unsigned int retry_s;
	unsigned int silent_s;
	char cc[CTAG_CC_BYTES];
	char port_names[CTAG_PORTS_BYTES];
	struct xarray ports;
	unsigned int tunnels;
	struct notifier_block devices;
	struct ctag_rules __rcu *rules;
	struct ctag_scales __rcu *scales;
	unsigned long __percpu *counts;
	struct hop_sysctl sysctl;
	struct hop_silent silent;
	bool hooked;
	struct mutex hook_lock;	/* of @hooked */
};

/**
 * struct ctag_wish - what of a flow bears tags
 * @every_pkts: each n-th packet
 * @packets: enum ctag_packets
 * @form: CSIG_COMPACT or CSIG_EXPANDED; CSIG_NONE: nothing
 */
struct ctag_wish {
	u32 every_pkts;
	u8 packets;
	u8 form;
};

/**
 * struct csig_flow - what net_csig_tag knows of a connection; state of a hop_flow
 * @lock: of all that follows; taken with BH off
 * @stage: of negotiation
 * @asked_us: the peer asked, by a SYN or later, and sends tags
 * @wish: what this end tags; its form is read without the lock, too
 * @option_bytes: bytes of the largest option that reflects what came; read without the lock, too
 * @reserved_bytes: taken from the MSS for tags and options; under the socket's lock
 * @skipped_pkts: packets since the last tag
 * @sent: this end has sent a tag
 * @turns: whose turn it is
 * @path: does it take tags?
 * @untagged: data came since the last reflection, without a tag
 * @reflected_ns: when an option left
 * @heard: by signal: to be reflected
 * @told_changes: of @told, which is read without the lock, too
 * @told: by signal: the latest that was reflected, and the range that its value stood for when it
 *	was received, as csig_reading has them
 */
struct csig_flow {
	spinlock_t lock;	/* of all below */
	enum hop_stage stage;
	bool asked_us;
	struct ctag_wish wish;
	u32 option_bytes;
	u32 reserved_bytes;
	u32 skipped_pkts;
	bool sent;
	struct csig_turns turns;
	struct csig_path path;
	bool untagged;
	u64 reflected_ns;
	struct csig_heard heard[CSIG_TYPES];
	seqcount_spinlock_t told_changes;
	struct {
		enum csig_form form;
		struct csig_tag tag;
		bool initial;
		u64 low;
		u64 high;
		u64 at_ns;
		u64 count;
	} told[CSIG_TYPES];
};

/**
 * struct ctag_segment - a TCP packet; skb->data at its network header
 * @tcp_bytes: from there to TCP's header
 * @data_bytes: from there to its data
 * @payload_bytes: of that
 * @seq: its sequence number
 * @ack_seq: what it acknowledges
 * @syn: a SYN or SYN-ACK
 * @ack: its ACK bit
 * @rst: a reset
 */
struct ctag_segment {
	u32 tcp_bytes;
	u32 data_bytes;
	u32 payload_bytes;
	u32 seq;
	u32 ack_seq;
	bool syn;
	bool ack;
	bool rst;
};

/**
 * struct ctag_inner - an IP packet, within another or not
 * @at_bytes: from skb->data to where it begins
 * @protocol: ETH_P_IP or ETH_P_IPV6, in network order
 * @place: where its headers end, counted from @at_bytes
 * @tagged: it is in an Ethernet frame that has a tag of its own
 */
struct ctag_inner {
	u32 at_bytes;
	__be16 protocol;
	bool tagged;
	struct hop_shim_place place;
};

extern unsigned int ctag_net_id;
extern ushort ctag_exid;
extern ushort ctag_vxlan_port, ctag_geneve_port;
extern struct csig_tpids ctag_tpids;
extern u64 ctag_secret;
extern const struct hop_flow_kind ctag_flow_kind;

static inline struct ctag_net *ctag_net(const struct net *net)
{
	return net_generic(net, ctag_net_id);
}

static inline void ctag_count_add(const struct ctag_net *cn, enum ctag_count count, u32 n)
{
	this_cpu_add(cn->counts[count], n);
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

/* main.c */
int ctag_hook(struct ctag_net *cn, bool also);

/* knobs.c */
#define CTAG_SYSCTLS 12
extern const struct ctl_table ctag_table[CTAG_SYSCTLS + 1];
void ctag_knobs_default(struct ctag_net *cn);

/* scales.c */
int ctag_scales_set(struct ctag_net *cn, const char *text);
void ctag_scales_text(struct ctag_net *cn, char *text);
void ctag_range(const struct ctag_net *cn, enum csig_type type, struct csig_signal *s);

/* rules.c */
char *ctag_next_word(char **rest);
int ctag_rules_set(struct ctag_net *cn, const char *text);
void ctag_rules_text(struct ctag_net *cn, char *text);
struct ctag_rule *ctag_rule_find(const struct ctag_net *cn, bool udp, const struct in6_addr *to,
				 __be16 port, u32 mark);
struct ctag_wish ctag_wish(const struct ctag_net *cn, const struct hop_flow_key *key,
			   const struct sock *sk);

/* ports.c */
int ctag_ports_start(struct ctag_net *cn);
void ctag_ports_stop(struct ctag_net *cn);
int ctag_ports_set(struct ctag_net *cn, const char *names);
bool ctag_is_frame_tunnel(const struct net_device *dev);
bool ctag_has_tunnels(const struct ctag_net *cn);
bool ctag_port_is_trusted(struct ctag_net *cn, const struct net_device *dev);

/* flow.c */
enum hop_stage ctag_flow_event(struct hop_flow *flow, enum hop_event event);
void ctag_flow_settle(struct hop_flow *flow, const struct sock *sk);
void ctag_flow_hear(struct ctag_net *cn, struct hop_flow *flow, enum csig_form form,
		    const struct csig_tag *t);
void ctag_flow_miss(struct hop_flow *flow);
void ctag_flow_told(struct ctag_net *cn, struct hop_flow *flow, enum csig_form form,
		    const struct csig_tag *t);
void ctag_flow_told_empty(struct ctag_net *cn, struct hop_flow *flow, u32 ack_seq);
bool ctag_flow_heard(struct csig_flow *f, enum csig_type type, struct csig_signal *s);
void ctag_weights(const struct ctag_net *cn, u32 *weight_pkts);
void ctag_flow_unsent(struct hop_flow *flow);
bool ctag_flow_lacks_room(const struct csig_flow *f);
void ctag_flow_reserve(struct csig_flow *f, struct sock *sk);
enum csig_form ctag_flow_tag(struct ctag_net *cn, struct hop_flow *flow, const struct sock *sk,
			     const struct ctag_segment *seg, struct csig_tag *t);

/* option.c */
bool ctag_read_segment(struct sk_buff *skb, struct ctag_segment *seg);
bool ctag_option_append(struct ctag_net *cn, struct sk_buff *skb, struct ctag_segment *seg,
			enum csig_form form, const struct csig_tag *t);
bool ctag_option_ask(struct ctag_net *cn, struct sk_buff *skb, struct ctag_segment *seg);
bool ctag_reflect(struct ctag_net *cn, struct sk_buff *skb, struct ctag_segment *seg,
		  struct hop_flow *flow, struct sock *sk);

/* output.c: POST_ROUTING; input.c: LOCAL_IN */
extern const struct hop_greeter ctag_greeter;
extern const struct nf_hook_ops ctag_output_hooks[2];
extern const struct nf_hook_ops ctag_input_hooks[2];

/* egress.c */
unsigned int ctag_egress(void *priv, struct sk_buff *skb, const struct nf_hook_state *state);

/* ingress.c */
enum csig_form ctag_ingress_tag(struct sk_buff *skb, struct csig_tag *t);
void ctag_ingress_init(void);
void ctag_ingress_exit(void);

/* gro.c */
void ctag_gro_init(void);
void ctag_gro_exit(void);

/* inner.c */
bool ctag_find_inner(const struct sk_buff *skb, struct ctag_inner *inner);
bool ctag_inner_addresses(const struct sk_buff *skb, const struct ctag_inner *inner,
			  struct in6_addr *source, struct in6_addr *destination);

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
bool ctag_udp_hear(const struct ctag_net *cn, struct sk_buff *skb, enum csig_form form,
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

#endif /* NET_CSIG_TAG_NET_CSIG_TAG_H */
