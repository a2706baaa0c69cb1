// SPDX-License-Identifier: GPL-2.0
/*
 * hopsample - read the backlog of queueing disciplines at a fixed period
 *
 *	hopsample PLAN OUT.jsonl [--t0 NS]
 *
 * PLAN:
 *	config period_ns=10000 start_ns=0 end_ns=5000000000
 *	port ns=s1 dev=eth1 name=s1:h2 handle=10:
 *	port ns=s1 dev=eth1 name=s1:h2 parent=1:1	(the queue there, whatever its handle)
 *
 * OUT: one line a port and period, at the end one a port with its totals:
 *	{"type":"queue","t_ns":10000,"port":"s1:h2","bytes":0,"pkts":0}
 *	{"type":"port","port":"s1:h2","kind":"wred","bytes":..,"pkts":..,"drops":..,
 *	 "marked":..,"xstats":{..}}
 * bytes and pkts of a port are what it sent; marked is null for a kind without marking.
 * Times are relative to t0, a value of CLOCK_MONOTONIC; without --t0, the start.
 *
 * A sample is taken at its instant exactly when the clock is virtual; a period that is
 * missed on a real machine is skipped, not made up for.
 */
#define _GNU_SOURCE
#include <linux/gen_stats.h>
#include <linux/pkt_sched.h>
#include <linux/pkt_sched_wred.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stddef.h>
#include <sys/socket.h>

#include "pkt_sched_link.h"
#include "plan.h"


struct port {
	char *ns, *dev, *name, *handle, *parent;
	int fd;
	struct {
		struct nlmsghdr n;
		struct tcmsg t;
	} req;
	struct port *next;
};

static struct port *ports, **ports_end = &ports;

static struct config {
	u64 period_ns, start_ns, end_ns;
} config = { .period_ns = 10000 };

/* The newest answer about a port. */
static struct {
	char kind[32];
	struct gnet_stats_queue queue;
	struct gnet_stats_basic basic;
	const struct rtattr *app;
} answer;

static const struct key config_keys[] = {
	{ "period_ns", KEY_U64, offsetof(struct config, period_ns), NULL },
	{ "start_ns", KEY_U64, offsetof(struct config, start_ns), NULL },
	{ "end_ns", KEY_U64, offsetof(struct config, end_ns), NULL },
};

static const struct key port_keys[] = {
	{ "ns", KEY_TEXT, offsetof(struct port, ns), NULL },
	{ "dev", KEY_TEXT, offsetof(struct port, dev), NULL },
	{ "name", KEY_TEXT, offsetof(struct port, name), NULL },
	{ "handle", KEY_TEXT, offsetof(struct port, handle), NULL },
	{ "parent", KEY_TEXT, offsetof(struct port, parent), NULL },
};

/* "10:" or "1:1", both halves hexadecimal as in tc. */
static u32 read_handle(const struct plan_place *at, const char *key, const char *text)
{
	unsigned long major, minor = 0;
	char *end;

	major = strtoul(text, &end, 16);
	if (end == text || *end != ':' || major > 0xffff)
		plan_refuse(at, key, "a handle such as 10: is needed");
	if (end[1])
		minor = strtoul(end + 1, &end, 16);
	if ((*end && *end != ':') || minor > 0xffff)
		plan_refuse(at, key, "a handle such as 10: is needed");
	return major << 16 | minor;
}

static void read_port(const struct plan_place *at)
{
	struct port *port = zalloc(sizeof(*port));

	plan_keys(at, port_keys, ARRAY_SIZE(port_keys), port);
	if (!port->dev || !port->name || !!port->handle == !!port->parent)
		plan_refuse(at, "port", "dev=, name= and one of handle= and parent= are needed");
	port->req.n.nlmsg_len = NLMSG_LENGTH(sizeof(struct tcmsg));
	port->req.n.nlmsg_type = RTM_GETQDISC;
	/* Without ECHO the kernel answers listeners only. */
	port->req.n.nlmsg_flags = NLM_F_REQUEST | NLM_F_ECHO;
	if (port->handle)
		port->req.t.tcm_handle = read_handle(at, "handle", port->handle);
	else
		port->req.t.tcm_parent = read_handle(at, "parent", port->parent);
	*ports_end = port;
	ports_end = &port->next;
}

static void read_line(const struct plan_place *at, const char *word)
{
	if (!strcmp(word, "config"))
		plan_keys(at, config_keys, ARRAY_SIZE(config_keys), &config);
	else if (!strcmp(word, "port"))
		read_port(at);
	else
		plan_refuse(at, word, "allowed: config, port");
	if (!config.period_ns)
		plan_refuse(at, "period_ns", "at least 1");
}

static void open_port(struct port *port)
{
	enter_netns(port->ns);
	port->fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	port->req.t.tcm_ifindex = if_nametoindex(port->dev);
	if (port->fd < 0)
		die("port %s: netlink: %s", port->name, strerror(errno));
	if (!port->req.t.tcm_ifindex)
		die("port %s: no device '%s' in '%s'", port->name, port->dev,
		    port->ns ? port->ns : "");
}

static void parse_stats(const struct rtattr *stats)
{
	const struct rtattr *attr = RTA_DATA(stats);
	int left = RTA_PAYLOAD(stats);

	for (; RTA_OK(attr, left); attr = RTA_NEXT(attr, left)) {
		size_t len = RTA_PAYLOAD(attr);

		if (attr->rta_type == TCA_STATS_QUEUE && len >= sizeof(answer.queue))
			memcpy(&answer.queue, RTA_DATA(attr), sizeof(answer.queue));
		else if (attr->rta_type == TCA_STATS_BASIC && len >= 12)
			memcpy(&answer.basic, RTA_DATA(attr), 12);
		else if (attr->rta_type == TCA_STATS_APP)
			answer.app = attr;
	}
}

static void parse_answer(const struct nlmsghdr *n)
{
	const struct tcmsg *t = NLMSG_DATA(n);
	const struct rtattr *attr = (const void *)(t + 1);
	int left = n->nlmsg_len - NLMSG_LENGTH(sizeof(*t));

	memset(&answer, 0, sizeof(answer));
	for (; RTA_OK(attr, left); attr = RTA_NEXT(attr, left)) {
		if (attr->rta_type == TCA_KIND)
			snprintf(answer.kind, sizeof(answer.kind), "%s",
				 (const char *)RTA_DATA(attr));
		else if (attr->rta_type == TCA_STATS2)
			parse_stats(attr);
	}
}

static void ask(struct port *port)
{
	static char buf[16384] __attribute__((aligned(8)));
	const struct nlmsghdr *n = (const void *)buf;
	ssize_t len;

	if (send(port->fd, &port->req, port->req.n.nlmsg_len, 0) < 0)
		die("port %s: netlink: %s", port->name, strerror(errno));
	len = recv(port->fd, buf, sizeof(buf), 0);
	if (len < (ssize_t)sizeof(*n) || !NLMSG_OK(n, (size_t)len))
		die("port %s: netlink: short answer", port->name);
	if (n->nlmsg_type == NLMSG_ERROR) {
		const struct nlmsgerr *err = NLMSG_DATA(n);

		die("port %s: no queue %s: %s", port->name,
		    port->handle ? port->handle : port->parent, strerror(-err->error));
	}
	parse_answer(n);
}

static void print_red(FILE *f)
{
	struct tc_red_xstats st;

	memcpy(&st, RTA_DATA(answer.app), sizeof(st));
	fprintf(f, "\"marked\":%u,\"xstats\":{\"early\":%u,\"pdrop\":%u,\"other\":%u,\"marked\":%u}",
		st.marked, st.early, st.pdrop, st.other, st.marked);
}

static void print_link(FILE *f)
{
	struct tc_link_xstats st;

	memcpy(&st, RTA_DATA(answer.app), sizeof(st));
	fprintf(f, "\"marked\":null,\"xstats\":{\"sent_pkts\":%llu,\"sent_wire_bytes\":%llu,"
		"\"busy_ns\":%llu,\"lost_pkts\":%llu,\"reordered_pkts\":%llu,"
		"\"duplicated_pkts\":%llu,\"corrupted_pkts\":%llu,\"in_flight_pkts\":%u}",
		st.sent_pkts, st.sent_bytes, st.busy_ns, st.lost_pkts, st.reordered_pkts,
		st.duplicated_pkts, st.corrupted_pkts, st.in_flight_pkts);
}

static void print_codel(FILE *f)
{
	struct tc_codel_xstats st;

	memcpy(&st, RTA_DATA(answer.app), sizeof(st));
	fprintf(f, "\"marked\":%u,\"xstats\":{\"drop_overlimit\":%u,\"ecn_mark\":%u}",
		st.ecn_mark, st.drop_overlimit, st.ecn_mark);
}

static void print_fq_codel(FILE *f)
{
	struct tc_fq_codel_xstats st;

	memcpy(&st, RTA_DATA(answer.app), sizeof(st));
	fprintf(f, "\"marked\":%u,\"xstats\":{\"drop_overlimit\":%u,\"ecn_mark\":%u}",
		st.qdisc_stats.ecn_mark, st.qdisc_stats.drop_overlimit, st.qdisc_stats.ecn_mark);
}

static void print_wred(FILE *f)
{
	struct tc_wred_xstats st;

	memcpy(&st, RTA_DATA(answer.app), sizeof(st));
	fprintf(f, "\"marked\":%llu,\"xstats\":{\"marked_pkts\":%llu,\"ce_pkts\":%llu,"
		"\"ect_dropped_pkts\":%llu,\"nect_dropped_pkts\":%llu,"
		"\"limit_dropped_pkts\":%llu,\"backlog_bytes\":%llu,\"peak_bytes\":%llu}",
		st.marked_pkts, st.marked_pkts, st.ce_pkts, st.ect_dropped_pkts,
		st.nect_dropped_pkts, st.limit_dropped_pkts, st.backlog_bytes, st.peak_bytes);
}

static const struct {
	const char *kind;
	size_t bytes;
	void (*print)(FILE *f);
} xstats_kinds[] = {
	{ "red", sizeof(struct tc_red_xstats), print_red },
	{ "link", sizeof(struct tc_link_xstats), print_link },
	{ "codel", sizeof(struct tc_codel_xstats), print_codel },
	{ "fq_codel", sizeof(struct tc_fq_codel_xstats), print_fq_codel },
	{ "wred", sizeof(struct tc_wred_xstats), print_wred },
};

static void print_xstats(FILE *f)
{
	size_t i;

	for (i = 0; answer.app && i < ARRAY_SIZE(xstats_kinds); i++) {
		if (strcmp(xstats_kinds[i].kind, answer.kind) ||
		    RTA_PAYLOAD(answer.app) < xstats_kinds[i].bytes)
			continue;
		xstats_kinds[i].print(f);
		return;
	}
	fputs("\"marked\":null,\"xstats\":{}", f);
}

static void print_port(FILE *f, struct port *port)
{
	ask(port);
	fprintf(f, "{\"type\":\"port\",\"port\":\"%s\",\"kind\":\"%s\",\"bytes\":%llu,\"pkts\":%u,"
		"\"drops\":%u,\"overlimits\":%u,", port->name, answer.kind, answer.basic.bytes,
		answer.basic.packets, answer.queue.drops, answer.queue.overlimits);
	print_xstats(f);
	fputs("}\n", f);
}

static void sample(FILE *f, s64 t0_ns)
{
	s64 t_ns = config.start_ns, late_ns;
	struct timespec at;
	struct port *port;

	while (t_ns <= (s64)config.end_ns) {
		at = ns_to_timespec(t0_ns + t_ns);
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
		for (port = ports; port; port = port->next) {
			ask(port);
			fprintf(f, "{\"type\":\"queue\",\"t_ns\":%lld,\"port\":\"%s\",\"bytes\":%u,\"pkts\":%u}\n",
				(long long)t_ns, port->name, answer.queue.backlog,
				answer.queue.qlen);
		}
		t_ns += config.period_ns;
		late_ns = now_ns() - t0_ns - t_ns;
		if (late_ns > 0)
			t_ns += (late_ns + config.period_ns - 1) / config.period_ns *
				config.period_ns;
	}
}

int main(int argc, char **argv)
{
	s64 t0_ns = now_ns();
	struct port *port;
	struct out out;

	if (argc == 5 && !strcmp(argv[3], "--t0"))
		t0_ns = strtoll(argv[4], NULL, 10);
	else if (argc != 3)
		die("usage: hopsample PLAN OUT.jsonl [--t0 NS]");
	plan_read(argv[1], read_line);
	for (port = ports; port; port = port->next)
		open_port(port);
	out_open(&out);
	sample(out.f, t0_ns);
	for (port = ports; port; port = port->next)
		print_port(out.f, port);
	out_write(&out, argv[2]);
	return 0;
}
