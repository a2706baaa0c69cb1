// SPDX-License-Identifier: GPL-2.0
/*
 * Selection of the packets that carry tags. net.hopcc.csig_cc names congestion controls,
 * net.hopcc.csig_rules selects flows:
 *
 *	to 198.51.100.0/24 port 5001 every 10; mark 0x10/0xff probes expanded
 */
#include <linux/ctype.h>
#include <linux/inet.h>
#include <linux/slab.h>
#include <net/ipv6.h>
#include <net/tcp.h>

#include "net_csig_tag.h"

#define V4_MAPPED_BITS 96

/* Returns the number of bits of the address, or 0 if it is invalid. */
static u32 parse_address(const char *text, struct in6_addr *addr)
{
	__be32 v4;

	if (in4_pton(text, -1, (u8 *)&v4, -1, NULL)) {
		ipv6_addr_set_v4mapped(v4, addr);
		return 32;
	}
	return in6_pton(text, -1, addr->s6_addr, -1, NULL) ? 128 : 0;
}

/* ADDRESS[/BITS] */
static int parse_prefix(char *text, struct ctag_rule *r)
{
	char *slash = strchr(text, '/');
	u32 bits, most;

	if (slash)
		*slash++ = 0;
	most = parse_address(text, &r->prefix);
	bits = most;
	if (!most || (slash && (kstrtou32(slash, 10, &bits) || bits > most)))
		return -EINVAL;
	r->prefix_bits = most == 32 ? V4_MAPPED_BITS + bits : bits;
	return 0;
}

/* VALUE[/MASK] */
static int parse_mark(char *text, struct ctag_rule *r)
{
	char *slash = strchr(text, '/');

	r->mark_mask = U32_MAX;
	if (slash)
		*slash++ = 0;
	if (kstrtou32(text, 0, &r->mark) || (slash && kstrtou32(slash, 0, &r->mark_mask)))
		return -EINVAL;
	return r->mark & ~r->mark_mask ? -EINVAL : 0;
}

/* Parses a keyword that is followed by a value. */
static int parse_pair(const char *word, char *value, struct ctag_rule *r)
{
	u16 port;

	if (!strcmp(word, "to"))
		return parse_prefix(value, r);
	if (!strcmp(word, "mark"))
		return parse_mark(value, r);
	if (!strcmp(word, "port")) {
		if (kstrtou16(value, 10, &port) || !port)
			return -EINVAL;
		r->port = htons(port);
		return 0;
	}
	if (strcmp(word, "every") || kstrtou32(value, 10, &r->every_pkts) || !r->every_pkts ||
	    r->every_pkts > CTAG_EVERY_MAX_PKTS)
		return -EINVAL;
	return 0;
}

/* Returns the next word of a list separated by blanks, or NULL; modifies @rest. */
char *ctag_next_word(char **rest)
{
	char *word;

	do {
		word = strsep(rest, " \t");
	} while (word && !*word);
	return word;
}

static int parse_rule(char *text, struct ctag_rule *r)
{
	char *word, *value;
	int err = 0;

	*r = (struct ctag_rule) { .every_pkts = 1, .form = CSIG_COMPACT };
	while (!err && (word = ctag_next_word(&text))) {
		if (!strcmp(word, "compact")) {
			r->form = CSIG_COMPACT;
		} else if (!strcmp(word, "expanded")) {
			r->form = CSIG_EXPANDED;
		} else if (!strcmp(word, "udp")) {
			r->udp = true;
		} else if (!strcmp(word, "probes")) {
			r->packets = CTAG_PROBES;
		} else {
			value = ctag_next_word(&text);
			err = value ? parse_pair(word, value, r) : -EINVAL;
		}
	}
	/* Datagrams have no probe packets. */
	return r->udp && r->packets == CTAG_PROBES ? -EINVAL : err;
}

/* Modifies @text. */
static int parse_rules(char *text, struct ctag_rules *rules)
{
	char *one;
	int err;

	while ((one = strsep(&text, ";\n"))) {
		one = strim(one);
		if (!*one)
			continue;
		if (rules->count == CTAG_RULES_MAX)
			return -E2BIG;
		err = parse_rule(one, &rules->rule[rules->count++]);
		if (err)
			return err;
	}
	return 0;
}

/**
 * ctag_rules_set() - set net.hopcc.csig_rules
 * @cn: the netns' state
 * @text: shorter than CTAG_RULES_BYTES
 *
 * Context: process.
 * Return: 0, -EINVAL, -E2BIG or -ENOMEM; after an error the old rules stay.
 */
int ctag_rules_set(struct ctag_net *cn, const char *text)
{
	struct ctag_rules *rules = kzalloc(sizeof(*rules), GFP_KERNEL);
	char *copy = kstrdup(text, GFP_KERNEL);
	int err = rules && copy ? parse_rules(copy, rules) : -ENOMEM;

	kfree(copy);
	if (err) {
		kfree(rules);
		return err;
	}
	strscpy(rules->text, text, sizeof(rules->text));
	rules = unrcu_pointer(xchg(&cn->rules, RCU_INITIALIZER(rules)));
	if (rules)
		kfree_rcu(rules, rcu);
	return 0;
}

/*
 * @text has room for CTAG_RULES_BYTES. Context: process.
 */
void ctag_rules_text(struct ctag_net *cn, char *text)
{
	const struct ctag_rules *rules;

	rcu_read_lock();
	rules = rcu_dereference(cn->rules);
	strscpy(text, rules ? rules->text : "", CTAG_RULES_BYTES);
	rcu_read_unlock();
}

/**
 * ctag_rule_find() - find the first rule that matches
 * @cn: the netns' state
 * @udp: look for a rule for UDP, otherwise for TCP
 * @to: destination; IPv4 is v4-mapped
 * @port: destination port
 * @mark: mark of the socket; 0 without a socket
 *
 * Context: RCU read lock.
 * Return: the rule, or NULL.
 */
struct ctag_rule *ctag_rule_find(const struct ctag_net *cn, bool udp, const struct in6_addr *to,
				 __be16 port, u32 mark)
{
	struct ctag_rules *rules = rcu_dereference(cn->rules);
	u32 i;

	for (i = 0; rules && i < rules->count; i++) {
		struct ctag_rule *r = &rules->rule[i];

		if (r->udp == udp && ipv6_prefix_equal(&r->prefix, to, r->prefix_bits) &&
		    (!r->port || r->port == port) && (mark & r->mark_mask) == r->mark)
			return r;
	}
	return NULL;
}

/* Returns true if net.hopcc.csig_cc names the socket's congestion control. */
static bool is_named(const struct ctag_net *cn, const struct sock *sk)
{
	const char *name = READ_ONCE(inet_csk(sk)->icsk_ca_ops)->name;
	const size_t length = strlen(name);
	const char *at = cn->cc;

	while ((at = strnstr(at, name, strnlen(at, cn->cc + sizeof(cn->cc) - at)))) {
		const bool begins = at == cn->cc || at[-1] == ' ';

		at += length;
		if (begins && (!*at || *at == ' '))
			return true;
	}
	return false;
}

/**
 * ctag_wish() - packets of a flow that carry tags
 * @cn: the netns' state
 * @key: key of the flow
 * @sk: the flow's full socket
 *
 * Context: RCU read lock.
 * Return: the wish of the first rule that matches, otherwise that of the congestion control,
 * otherwise none.
 */
struct ctag_wish ctag_wish(const struct ctag_net *cn, const struct hop_flow_key *key,
			   const struct sock *sk)
{
	const struct ctag_rule *r = ctag_rule_find(cn, false, &key->peer, key->peer_port,
						   READ_ONCE(sk->sk_mark));

	if (r)
		return (struct ctag_wish) { r->every_pkts, r->packets, r->form };
	if (is_named(cn, sk))
		return (struct ctag_wish) { READ_ONCE(cn->every_pkts), CTAG_DATA,
					    READ_ONCE(cn->form) };
	return (struct ctag_wish) {};
}
