// SPDX-License-Identifier: GPL-2.0
/*
 * hopsample - read the backlog of queueing disciplines at a fixed period
 *
 *	hopsample PLAN OUT.jsonl [--t0 NS]
 *
 * PLAN:
 *	config period_ns=10000 start_ns=0 end_ns=5000000000
 *	port ns=s1 dev=eth1 name=s1:h2 handle=10:
 *	port ns=s1 dev=eth1 name=s1:h2 parent=1:1	(the qdisc at this class, with any handle)
 *	     below=10:1,11:1	(qdiscs below it, whose marks and counters are added)
 *
 * OUT: one line per port and period, and at the end one line per port with its totals:
 *	{"type":"queue","t_ns":10000,"port":"s1:h2","bytes":0,"pkts":0,"sent_bytes":0,"sent_pkts":0}
 *	{"type":"port","port":"s1:h2","kind":"wred","bytes":..,"pkts":..,"drops":..,
 *	 "marked":..,"xstats":{..}}
 *	{"type":"lateness","program":"hopsample","late_ns":0}
 * In a port line, bytes and pkts count what the port sent. marked: number of packets that this
 * qdisc and those below it marked CE; null if the count of one of them is not known. xstats: the
 * counters of all of them; if two have the same name, the upper qdisc's.
 * Times are relative to t0, a value of CLOCK_MONOTONIC; without --t0, the start of the program.
 *
 * With a virtual clock, a sample is taken exactly at its time. On a real machine, a period that
 * was missed is skipped.
 */
#define _GNU_SOURCE
#include <linux/gen_stats.h>
#include <linux/pkt_sched.h>
#include <linux/pkt_sched_wred.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include "pkt_sched_link.h"
#include "plan.h"

struct port {
	char *ns, *dev, *name, *handle, *parent, *below;
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

/* The longest time by which a sample was late. */
static s64 lateness_ns;

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
	{ "below", KEY_TEXT, offsetof(struct port, below), NULL },
};

/* Parse a handle such as "10:" or "1:1"; both halves are hexadecimal, as in tc. */
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
	/* Without NLM_F_ECHO the kernel answers listeners only. */
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

/* A field of the TCA_STATS_APP of a kind of qdisc. */
struct field {
	const char *name;
	size_t offset;
	size_t bytes;
};

#define FIELD(type, name) { #name, offsetof(struct type, name), sizeof(((struct type *)0)->name) }

/*
 * If a kind of qdisc marks packets, its first fields are the counts of marks. CoDel has two:
 * ecn_mark counts marks instead of drops, ce_mark those above ce_threshold. A packet may be in
 * both.
 */
static const struct field wred_fields[] = {
	FIELD(tc_wred_xstats, marked_pkts), FIELD(tc_wred_xstats, ce_pkts),
	FIELD(tc_wred_xstats, ect_dropped_pkts), FIELD(tc_wred_xstats, nect_dropped_pkts),
	FIELD(tc_wred_xstats, limit_dropped_pkts), FIELD(tc_wred_xstats, backlog_bytes),
	FIELD(tc_wred_xstats, peak_bytes), {}
};

static const struct field red_fields[] = {
	FIELD(tc_red_xstats, marked), FIELD(tc_red_xstats, early), FIELD(tc_red_xstats, pdrop),
	FIELD(tc_red_xstats, other), {}
};

static const struct field codel_fields[] = {
	FIELD(tc_codel_xstats, ecn_mark), FIELD(tc_codel_xstats, ce_mark),
	FIELD(tc_codel_xstats, drop_overlimit), {}
};

static const struct field fq_codel_fields[] = {
	{ "ecn_mark", offsetof(struct tc_fq_codel_xstats, qdisc_stats.ecn_mark), 4 },
	{ "ce_mark", offsetof(struct tc_fq_codel_xstats, qdisc_stats.ce_mark), 4 },
	{ "drop_overlimit", offsetof(struct tc_fq_codel_xstats, qdisc_stats.drop_overlimit), 4 },
	{}
};

static const struct field fq_fields[] = {
	FIELD(tc_fq_qd_stats, ce_mark), FIELD(tc_fq_qd_stats, throttled), {}
};

static const struct field pie_fields[] = {
	FIELD(tc_pie_xstats, ecn_mark), FIELD(tc_pie_xstats, dropped), {}
};

static const struct field link_fields[] = {
	FIELD(tc_link_xstats, sent_pkts), FIELD(tc_link_xstats, sent_bytes),
	FIELD(tc_link_xstats, busy_ns), FIELD(tc_link_xstats, lost_pkts),
	FIELD(tc_link_xstats, reordered_pkts), FIELD(tc_link_xstats, duplicated_pkts),
	FIELD(tc_link_xstats, corrupted_pkts), FIELD(tc_link_xstats, in_flight_pkts), {}
};

static const struct field no_fields[] = { {} };

/* The kinds whose marks are known, and how many of their fields are counts of marks. */
static const struct kind {
	const char *name;
	const struct field *fields;
	int marks;
} kinds[] = {
	{ "wred", wred_fields, 1 }, { "red", red_fields, 1 }, { "codel", codel_fields, 2 },
	{ "fq_codel", fq_codel_fields, 2 }, { "fq", fq_fields, 1 }, { "pie", pie_fields, 1 },
	{ "link", link_fields, 0 },
	/* These never mark. */
	{ "bfifo", no_fields, 0 }, { "pfifo", no_fields, 0 }, { "pfifo_fast", no_fields, 0 },
	{ "pfifo_head_drop", no_fields, 0 }, { "int", no_fields, 0 }, { "xcp", no_fields, 0 },
	{ "csig", no_fields, 0 }, { "tbf", no_fields, 0 }, { "plug", no_fields, 0 },
	{ "etf", no_fields, 0 }, { "cbs", no_fields, 0 },
};

#define FIELDS_MAX 64

/* The counters of a port's qdiscs, from the uppermost down. */
struct totals {
	bool marked_known;
	u64 marked;
	int n;
	struct {
		const char *name;
		u64 value;
	} xstats[FIELDS_MAX];
};

/* Return: true if the kernel reports the field. */
static bool field_value(const struct field *field, u64 *value)
{
	u32 value32 = 0;

	if (!answer.app || RTA_PAYLOAD(answer.app) < field->offset + field->bytes)
		return false;
	if (field->bytes == sizeof(*value)) {
		memcpy(value, (char *)RTA_DATA(answer.app) + field->offset, sizeof(*value));
		return true;
	}
	memcpy(&value32, (char *)RTA_DATA(answer.app) + field->offset, sizeof(value32));
	*value = value32;
	return true;
}

static void add_field(struct totals *totals, const char *name, u64 value)
{
	int i;

	for (i = 0; i < totals->n; i++)
		if (!strcmp(totals->xstats[i].name, name))
			return;
	if (totals->n == FIELDS_MAX)
		return;
	totals->xstats[totals->n].name = name;
	totals->xstats[totals->n++].value = value;
}

static const struct kind *find_kind(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		if (!strcmp(kinds[i].name, name))
			return &kinds[i];
	return NULL;
}

/* Add the counters of the newest answer. */
static void add_answer(struct totals *totals)
{
	const struct kind *kind = find_kind(answer.kind);
	const struct field *field;
	u64 value;

	if (!kind) {
		totals->marked_known = false;
		return;
	}
	for (field = kind->fields; field->name; field++) {
		bool is_mark = field - kind->fields < kind->marks;

		if (!field_value(field, &value)) {
			totals->marked_known &= !is_mark;
			continue;
		}
		add_field(totals, field->name, value);
		if (is_mark)
			totals->marked += value;
	}
}

static void ask_below(const struct port *port, struct totals *totals)
{
	struct plan_place nowhere = { port->name, 0 };
	char *parents = port->below ? strdup(port->below) : NULL, *rest = parents, *parent;
	struct port lower = *port;

	while ((parent = strsep(&rest, ","))) {
		lower.parent = parent;
		lower.handle = NULL;
		lower.req.t.tcm_handle = 0;
		lower.req.t.tcm_parent = read_handle(&nowhere, "below", parent);
		ask(&lower);
		add_answer(totals);
	}
	free(parents);
}

static void print_port(FILE *f, struct port *port)
{
	struct totals totals = { .marked_known = true };
	int i;

	ask(port);
	fprintf(f, "{\"type\":\"port\",\"port\":\"%s\",\"kind\":\"%s\"", port->name,
		answer.kind);
	fprintf(f, ",\"bytes\":%llu,\"pkts\":%u,\"drops\":%u,\"overlimits\":%u,",
		answer.basic.bytes, answer.basic.packets, answer.queue.drops,
		answer.queue.overlimits);
	add_answer(&totals);
	ask_below(port, &totals);
	if (totals.marked_known)
		fprintf(f, "\"marked\":%lu,\"xstats\":{", totals.marked);
	else
		fputs("\"marked\":null,\"xstats\":{", f);
	for (i = 0; i < totals.n; i++)
		fprintf(f, "%s\"%s\":%lu", i ? "," : "", totals.xstats[i].name,
			totals.xstats[i].value);
	fputs("}}\n", f);
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
			fprintf(f, "{\"type\":\"queue\",\"t_ns\":%lld,\"port\":\"%s\"",
				(long long)t_ns, port->name);
			fprintf(f, ",\"bytes\":%u,\"pkts\":%u", answer.queue.backlog,
				answer.queue.qlen);
			fprintf(f, ",\"sent_bytes\":%llu,\"sent_pkts\":%u}\n",
				(unsigned long long)answer.basic.bytes, answer.basic.packets);
		}
		/* The last port has the longest delay. */
		late_ns = now_ns() - t0_ns - t_ns;
		if (late_ns > lateness_ns)
			lateness_ns = late_ns;
		t_ns += config.period_ns;
		late_ns -= config.period_ns;
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
	/* By default a sleep may be 50 us longer, and end with another event on a port. */
	if (prctl(PR_SET_TIMERSLACK, 1))
		die("no timer slack of 1 ns: %s", strerror(errno));
	out_open(&out);
	sample(out.f, t0_ns);
	for (port = ports; port; port = port->next)
		print_port(out.f, port);
	fprintf(out.f, "{\"type\":\"lateness\",\"program\":\"hopsample\",\"late_ns\":%lld}\n",
		(long long)lateness_ns);
	out_write(&out, argv[2]);
	return 0;
}
