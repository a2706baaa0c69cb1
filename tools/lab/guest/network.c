// SPDX-License-Identifier: GPL-2.0
/*
 * network PLAN: set up devices, addresses, neighbours, routes and qdiscs of many namespaces
 *
 * PLAN has a line with the name of each namespace, and below it lines in the syntax of ip, of these
 * kinds only:
 *
 *   node NODE
 *   link set [dev] DEV [gso_max_segs N] up
 *   address replace ADDRESS/BITS dev DEV [nodad]
 *   neighbour replace ADDRESS lladdr MAC dev DEV nud permanent
 *   route replace PREFIX/BITS via ADDRESS dev DEV
 *   route replace PREFIX/BITS nexthop via ADDRESS dev DEV nexthop ...
 *   qdisc DEV INDEX...
 *
 * The last kind adds qdiscs to a device. Each INDEX is the number of a netlink message in the file
 * tc.messages, into which each.c has recorded the messages of tc.
 *
 * One process serves all namespaces, and sends all messages of a namespace at once: to start ip and
 * tc in each namespace takes 30 ms a node in User-Mode Linux, 40 s for 1344 nodes.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/neighbour.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <stdnoreturn.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/* Messages that are sent at once; a message has fewer bytes than MESSAGE_BYTES. */
#define BATCH_BYTES	65536
#define MESSAGE_BYTES	16384
#define LINE_BYTES	16384
#define RECORDS_MAX	65536

struct address {
	int family, bits;
	unsigned char bytes[16];
};

static struct {
	const char *plan;
	int line;
	char node[64];
	int fd;
	size_t len;
	struct nlmsghdr batch[BATCH_BYTES / NLMSG_HDRLEN];
} state = { .fd = -1 };

/* The recorded messages of tc. */
static char *records;
static size_t record_at[RECORDS_MAX];
static int record_count;

static noreturn void die(int line, const char *fmt, ...)
{
	va_list args;

	fprintf(stderr, "scenario: failed: %s:%d: node %s: ", state.plan, line, state.node);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fputc('\n', stderr);
	exit(1);
}

/* --- netlink --- */

static int payload_of(const struct address *a)
{
	return a->family == AF_INET ? 4 : 16;
}

static struct nlmsghdr *begin(int type, int flags, const void *head, size_t len)
{
	struct nlmsghdr *n = (void *)((char *)state.batch + state.len);

	memset(n, 0, NLMSG_SPACE(len));
	n->nlmsg_len = NLMSG_LENGTH(len);
	n->nlmsg_type = type;
	n->nlmsg_flags = NLM_F_REQUEST | flags;
	/* The kernel reports an error with this number, which tells the line. */
	n->nlmsg_seq = state.line;
	memcpy(NLMSG_DATA(n), head, len);
	return n;
}

static struct rtattr *put(struct nlmsghdr *n, int type, const void *data, size_t len)
{
	struct rtattr *attr = (void *)((char *)n + NLMSG_ALIGN(n->nlmsg_len));

	if (NLMSG_ALIGN(n->nlmsg_len) + RTA_SPACE(len) > MESSAGE_BYTES)
		die(state.line, "the line is too long");
	attr->rta_type = type;
	attr->rta_len = RTA_LENGTH(len);
	if (len)
		memcpy(RTA_DATA(attr), data, len);
	n->nlmsg_len = NLMSG_ALIGN(n->nlmsg_len) + RTA_SPACE(len);
	return attr;
}

static void check_answer(const struct nlmsghdr *n)
{
	const struct nlmsgerr *err = NLMSG_DATA(n);
	const struct rtattr *attr = (const void *)(err + 1);
	int left = n->nlmsg_len - NLMSG_LENGTH(sizeof(*err));
	const char *why = strerror(-err->error);

	if (!err->error)
		return;
	for (; n->nlmsg_flags & NLM_F_ACK_TLVS && RTA_OK(attr, left); attr = RTA_NEXT(attr, left))
		if ((attr->rta_type & NLA_TYPE_MASK) == NLMSGERR_ATTR_MSG)
			why = RTA_DATA(attr);
	die(n->nlmsg_seq, "%s", why);
}

/* Send the messages, and wait until the kernel has acknowledged an empty one after them. */
static void flush(void)
{
	struct nlmsghdr answers[512];
	struct nlmsghdr *n;
	ssize_t len;

	if (!state.len)
		return;
	n = (void *)((char *)state.batch + state.len);
	*n = (struct nlmsghdr){ NLMSG_HDRLEN, NLMSG_NOOP, NLM_F_REQUEST | NLM_F_ACK, 0, 0 };
	if (send(state.fd, state.batch, state.len + NLMSG_HDRLEN, 0) < 0)
		die(state.line, "netlink: %s", strerror(errno));
	state.len = 0;
	while ((len = recv(state.fd, answers, sizeof(answers), 0)) > 0)
		for (n = answers; NLMSG_OK(n, (size_t)len); n = NLMSG_NEXT(n, len)) {
			check_answer(n);
			if (!n->nlmsg_seq)
				return;
		}
	die(state.line, "netlink: %s", strerror(errno));
}

static void end(const struct nlmsghdr *n)
{
	state.len += NLMSG_ALIGN(n->nlmsg_len);
	if (state.len + MESSAGE_BYTES + NLMSG_HDRLEN > BATCH_BYTES)
		flush();
}

static void enter(const char *node)
{
	char path[256];
	int fd, on = 1;

	flush();
	snprintf(state.node, sizeof(state.node), "%s", node);
	snprintf(path, sizeof(path), "/run/netns/%s", node);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || setns(fd, CLONE_NEWNET))
		die(state.line, "%s", strerror(errno));
	close(fd);
	if (state.fd >= 0)
		close(state.fd);
	state.fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	if (state.fd < 0)
		die(state.line, "netlink: %s", strerror(errno));
	setsockopt(state.fd, SOL_NETLINK, NETLINK_EXT_ACK, &on, sizeof(on));
	setsockopt(state.fd, SOL_NETLINK, NETLINK_CAP_ACK, &on, sizeof(on));
}

/* --- words of a line --- */

static const char *word(void)
{
	return strtok(NULL, "\n ");
}

static const char *need(const char *wanted)
{
	const char *found = word();

	if (!found || (wanted && strcmp(found, wanted)))
		die(state.line, "'%s' where '%s' is needed", found ?: "", wanted ?: "a word");
	return found;
}

static int find_device(const char *name)
{
	struct ifreq request = {};

	strncpy(request.ifr_name, name, IFNAMSIZ - 1);
	if (ioctl(state.fd, SIOCGIFINDEX, &request))
		die(state.line, "device %s: %s", name, strerror(errno));
	return request.ifr_ifindex;
}

/* Read an address or, with its length, a prefix. */
static struct address read_address(void)
{
	char text[64], *bits;
	struct address a = {};

	snprintf(text, sizeof(text), "%s", need(NULL));
	bits = strchr(text, '/');
	if (bits)
		*bits++ = 0;
	a.family = strchr(text, ':') ? AF_INET6 : AF_INET;
	if (inet_pton(a.family, text, a.bytes) != 1)
		die(state.line, "'%s' is no address", text);
	a.bits = bits ? atoi(bits) : payload_of(&a) * 8;
	return a;
}

/* --- lines --- */

static void set_link(void)
{
	struct ifinfomsg head = { .ifi_flags = IFF_UP, .ifi_change = IFF_UP };
	unsigned int segs = 0;
	struct nlmsghdr *n;
	const char *key;

	need("set");
	key = need(NULL);
	head.ifi_index = find_device(strcmp(key, "dev") ? key : need(NULL));
	key = need(NULL);
	if (!strcmp(key, "gso_max_segs")) {
		segs = atoi(need(NULL));
		key = need(NULL);
	}
	if (strcmp(key, "up"))
		die(state.line, "'%s' where 'up' is needed", key);
	n = begin(RTM_NEWLINK, 0, &head, sizeof(head));
	if (segs)
		put(n, IFLA_GSO_MAX_SEGS, &segs, sizeof(segs));
	end(n);
}

static void set_address(void)
{
	struct ifaddrmsg head = {};
	struct nlmsghdr *n;
	struct address a;
	const char *key;

	need("replace");
	a = read_address();
	need("dev");
	head.ifa_index = find_device(need(NULL));
	head.ifa_family = a.family;
	head.ifa_prefixlen = a.bits;
	key = word();
	if (key && strcmp(key, "nodad"))
		die(state.line, "'%s' where 'nodad' is needed", key);
	head.ifa_flags = key ? IFA_F_NODAD : 0;
	n = begin(RTM_NEWADDR, NLM_F_CREATE | NLM_F_REPLACE, &head, sizeof(head));
	put(n, IFA_LOCAL, a.bytes, payload_of(&a));
	put(n, IFA_ADDRESS, a.bytes, payload_of(&a));
	end(n);
}

static void set_neighbour(void)
{
	struct ndmsg head = { .ndm_state = NUD_PERMANENT };
	unsigned char mac[6];
	struct nlmsghdr *n;
	struct address a;

	need("replace");
	a = read_address();
	need("lladdr");
	if (sscanf(need(NULL), "%hhx:%hhx:%hhx:%hhx:%hhx:%hhx", mac, mac + 1, mac + 2, mac + 3,
		   mac + 4, mac + 5) != 6)
		die(state.line, "no MAC address");
	need("dev");
	head.ndm_ifindex = find_device(need(NULL));
	need("nud");
	need("permanent");
	head.ndm_family = a.family;
	n = begin(RTM_NEWNEIGH, NLM_F_CREATE | NLM_F_REPLACE, &head, sizeof(head));
	put(n, NDA_DST, a.bytes, payload_of(&a));
	put(n, NDA_LLADDR, mac, sizeof(mac));
	end(n);
}

/* Read "via ADDRESS dev DEV" and add it as one of several next hops. */
static void add_next_hop(struct nlmsghdr *n)
{
	struct rtnexthop hop = { .rtnh_len = sizeof(hop) };
	struct address a;

	need("via");
	a = read_address();
	need("dev");
	hop.rtnh_ifindex = find_device(need(NULL));
	hop.rtnh_len += RTA_SPACE(payload_of(&a));
	if (n->nlmsg_len + hop.rtnh_len > MESSAGE_BYTES)
		die(state.line, "the line is too long");
	memcpy((char *)n + n->nlmsg_len, &hop, sizeof(hop));
	n->nlmsg_len += sizeof(hop);
	put(n, RTA_GATEWAY, a.bytes, payload_of(&a));
}

static void set_route(void)
{
	struct rtmsg head = { .rtm_table = RT_TABLE_MAIN, .rtm_protocol = RTPROT_BOOT,
			      .rtm_scope = RT_SCOPE_UNIVERSE, .rtm_type = RTN_UNICAST };
	struct address to, via;
	struct rtattr *hops;
	struct nlmsghdr *n;
	const char *key;
	int index;

	need("replace");
	to = read_address();
	head.rtm_family = to.family;
	head.rtm_dst_len = to.bits;
	n = begin(RTM_NEWROUTE, NLM_F_CREATE | NLM_F_REPLACE, &head, sizeof(head));
	put(n, RTA_DST, to.bytes, payload_of(&to));
	key = need(NULL);
	if (!strcmp(key, "via")) {
		via = read_address();
		need("dev");
		index = find_device(need(NULL));
		put(n, RTA_GATEWAY, via.bytes, payload_of(&via));
		put(n, RTA_OIF, &index, sizeof(index));
	} else {
		hops = put(n, RTA_MULTIPATH, NULL, 0);
		for (; key && !strcmp(key, "nexthop"); key = word())
			add_next_hop(n);
		hops->rta_len = (char *)n + n->nlmsg_len - (char *)hops;
	}
	end(n);
}

static void read_records(void)
{
	struct stat st;
	size_t at = 0;
	int fd = open("tc.messages", O_RDONLY | O_CLOEXEC);

	if (fd < 0 || fstat(fd, &st))
		die(state.line, "tc.messages: %s", strerror(errno));
	records = malloc(st.st_size);
	if (!records || read(fd, records, st.st_size) != st.st_size)
		die(state.line, "tc.messages: %s", strerror(errno));
	close(fd);
	while (at < (size_t)st.st_size && record_count < RECORDS_MAX) {
		record_at[record_count++] = at;
		at += NLMSG_ALIGN(((struct nlmsghdr *)(records + at))->nlmsg_len);
	}
}

static void set_qdiscs(void)
{
	int index = find_device(need(NULL)), number;
	struct nlmsghdr *record, *n;
	const char *text;

	if (!records)
		read_records();
	while ((text = word())) {
		number = atoi(text);
		if (number < 0 || number >= record_count)
			die(state.line, "no message %s of tc", text);
		record = (void *)(records + record_at[number]);
		if (record->nlmsg_len > MESSAGE_BYTES)
			die(state.line, "the message of tc is too long");
		n = (void *)((char *)state.batch + state.len);
		memcpy(n, record, record->nlmsg_len);
		n->nlmsg_flags &= ~NLM_F_ACK;
		n->nlmsg_seq = state.line;
		((struct tcmsg *)NLMSG_DATA(n))->tcm_ifindex = index;
		end(n);
	}
}

static const struct {
	const char *word;
	void (*read)(void);
} lines[] = {
	{ "link", set_link }, { "address", set_address }, { "neighbour", set_neighbour },
	{ "route", set_route }, { "qdisc", set_qdiscs },
};

static void read_line(char *line)
{
	const char *first = strtok(line, "\n ");
	size_t i;

	if (!first)
		return;
	if (!strcmp(first, "node")) {
		enter(need(NULL));
		return;
	}
	for (i = 0; i < sizeof(lines) / sizeof(*lines); i++)
		if (!strcmp(lines[i].word, first)) {
			lines[i].read();
			return;
		}
	die(state.line, "unknown word '%s'", first);
}

int main(int argc, char **argv)
{
	static char line[LINE_BYTES];
	FILE *plan;

	if (argc != 2) {
		fprintf(stderr, "usage: network PLAN\n");
		return 2;
	}
	state.plan = argv[1];
	plan = fopen(argv[1], "re");
	if (!plan)
		die(0, "%s", strerror(errno));
	while (fgets(line, sizeof(line), plan)) {
		state.line++;
		read_line(line);
	}
	flush();
	fclose(plan);
	return 0;
}
