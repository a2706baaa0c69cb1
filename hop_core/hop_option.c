// SPDX-License-Identifier: GPL-2.0
/* Appends options to TCP headers; see hopcc/core/hop_option.h. */

#include <linux/module.h>
#include <hopcc/core/hop_option.h>
#include <hopcc/core/hop_shim.h>
#include <net/dst.h>
#include <net/ip.h>
#include <net/tcp.h>

#define HOP_OPTION_TCP_MAX_BYTES 60

unsigned short hop_option_exid = HOP_OPTION_EXID;
module_param_named(option_exid, hop_option_exid, ushort, 0444);
MODULE_PARM_DESC(option_exid, "ExID of the TCP option by which carriers negotiate (0x484f)");

static bool hop_option_has_room(const struct sk_buff *skb, unsigned int tcp_at,
				unsigned int bytes)
{
	const u8 *th = skb->data + tcp_at;
	const unsigned int tcp_bytes = __tcp_hdrlen((const struct tcphdr *)th);
	const struct dst_entry *dst = skb_dst(skb);
	/* The longest segment into which the packet is split. */
	const unsigned int wire_bytes = !skb_is_gso(skb) ? skb->len :
					tcp_at + tcp_bytes + skb_shinfo(skb)->gso_size;

	return tcp_bytes + bytes <= HOP_OPTION_TCP_MAX_BYTES && hop_shim_ip_length(skb, bytes) &&
	       (!dst || wire_bytes + bytes <= dst_mtu(dst)) &&
	       hop_option_may_append(th + sizeof(struct tcphdr),
				     tcp_bytes - sizeof(struct tcphdr));
}

/* Moves the IP and TCP headers towards the head. Return: the room behind them. */
static u8 *hop_option_make_room(struct sk_buff *skb, unsigned int headers_bytes,
				unsigned int bytes)
{
	const unsigned int length = hop_shim_ip_length(skb, bytes);

	skb_push(skb, bytes);
	memmove(skb->data, skb->data + bytes, headers_bytes);
	skb_reset_network_header(skb);
	skb->transport_header -= bytes;
	if (skb->ip_summed == CHECKSUM_PARTIAL)
		skb->csum_start -= bytes;
	hop_shim_set_ip_length(skb, length);
	return skb->data + headers_bytes;
}

/*
 * Writes a word of an option. @th: TCP's header, whose checksum may cover only the pseudo-header so
 * far.
 */
static void hop_option_write_word(struct sk_buff *skb, struct tcphdr *th, __be32 *to, __be32 old,
				  __be32 word)
{
	*to = word;
	inet_proto_csum_replace4(&th->check, skb, old, word, false);
}

/* The header has room for the option behind its @tcp_bytes. */
static void hop_option_write(struct sk_buff *skb, unsigned int tcp_at, u8 *room, const void *opt,
			     unsigned int bytes)
{
	struct tcphdr *th = (struct tcphdr *)(skb->data + tcp_at);
	const unsigned int after_bytes = skb->len - tcp_at;
	__be16 *doff = (__be16 *)((u8 *)th + 12);
	const __be16 old = *doff;
	unsigned int i;

	th->doff += bytes / 4;
	inet_proto_csum_replace2(&th->check, skb, old, *doff, false);
	for (i = 0; i < bytes / 4; i++)
		hop_option_write_word(skb, th, (__be32 *)room + i, 0, ((const __be32 *)opt)[i]);
	inet_proto_csum_replace2(&th->check, skb, htons(after_bytes - bytes),
				 htons(after_bytes), true);
}

static int hop_option_pull(struct sk_buff *skb, unsigned int tcp_at)
{
	const unsigned int bytes = __tcp_hdrlen((struct tcphdr *)(skb->data + tcp_at));

	return bytes >= sizeof(struct tcphdr) && pskb_may_pull(skb, tcp_at + bytes) ? 0 : -ENOMEM;
}

int hop_option_append(struct sk_buff *skb, unsigned int tcp_at, const void *opt,
		      unsigned int bytes)
{
	unsigned int headers_bytes;

	lockdep_assert_in_rcu_read_lock();
	if (hop_option_pull(skb, tcp_at))
		return -ENOMEM;
	if (!hop_option_has_room(skb, tcp_at, bytes))
		return -ENOSPC;
	if (skb_cow_head(skb, bytes))
		return -ENOMEM;
	if (skb->ip_summed == CHECKSUM_COMPLETE)
		skb->ip_summed = CHECKSUM_NONE;
	headers_bytes = tcp_at + __tcp_hdrlen((struct tcphdr *)(skb->data + tcp_at));
	hop_option_write(skb, tcp_at, hop_option_make_room(skb, headers_bytes, bytes), opt, bytes);
	return 0;
}
EXPORT_SYMBOL_GPL(hop_option_append);

/* Return: offset of the option in the packet, from its TCP header; 0: there is none. */
static unsigned int hop_option_offset(const struct sk_buff *skb, unsigned int tcp_at)
{
	const u8 *th = skb->data + tcp_at;
	const u8 *at = hop_option_find(th + sizeof(struct tcphdr),
				       __tcp_hdrlen((const struct tcphdr *)th) -
				       sizeof(struct tcphdr),
				       HOP_OPTION_KIND, hop_option_exid);

	return at && at[1] == HOP_OPTION_BYTES && !((at - th) % 4) ? at - th : 0;
}

/* Adds a carrier's part to the option at @at. */
static int hop_option_merge(struct sk_buff *skb, unsigned int tcp_at, unsigned int at,
			    const struct hop_option *o)
{
	struct hop_option old, both;
	struct tcphdr *th;
	unsigned int i;

	if (skb_ensure_writable(skb, tcp_at + at + HOP_OPTION_BYTES))
		return -ENOMEM;
	th = (struct tcphdr *)(skb->data + tcp_at);
	memcpy(&old, (u8 *)th + at, sizeof(old));
	both = old;
	both.asks |= o->asks;
	both.answers |= o->answers;
	both.cookie = o->cookie ?: old.cookie;
	for (i = 0; i < HOP_OPTION_BYTES / 4; i++)
		hop_option_write_word(skb, th, (__be32 *)((u8 *)th + at) + i,
				      ((__be32 *)&old)[i], ((__be32 *)&both)[i]);
	return 0;
}

int hop_option_put(struct sk_buff *skb, unsigned int tcp_at, const struct hop_option *o)
{
	unsigned int at;

	lockdep_assert_in_rcu_read_lock();
	if (hop_option_pull(skb, tcp_at))
		return -ENOMEM;
	at = hop_option_offset(skb, tcp_at);
	return at ? hop_option_merge(skb, tcp_at, at, o) :
		    hop_option_append(skb, tcp_at, o, HOP_OPTION_BYTES);
}
