// SPDX-License-Identifier: GPL-2.0
/*
 * hopflow - TCP flows between network namespaces, with both ends in one process
 *
 *	hopflow PLAN OUT.jsonl [--t0 NS]
 *
 * PLAN (see plan.h); times are in ns after t0, a value of CLOCK_MONOTONIC (without --t0, the time
 * at which all listeners are up):
 *	config end_ns=.. sample_ns=.. goodput_ns=..	(0: no such lines) flows=.. late_listeners=0
 *	flow id=0 group=long from=h1 to=h2 addr=10.0.2.2 port=5001 cc=reno sink_cc=reno
 *	     start_ns=0 bytes=0 stop_ns=0 mode=once count=1 think_ns=0 verify=0
 *	     request_bytes=0 trigger=ID warm_ns=0 warm_bytes=0 sndbuf_bytes=0
 *	     rate_bits_ps=0 half=both
 * from, to: namespaces of the sender and of the sink
 * addr: address of the sink, IPv4 or IPv6
 * cc: congestion control of the sender (default: that of the namespace)
 * sink_cc: congestion control of the listener (default: cc)
 * accept_cc: congestion control of the receiving socket, set when the handshake is complete
 *	(default: sink_cc)
 * bytes=0: send data until stop_ns (default: end_ns), then abort at both ends
 * mode=once: one transfer; persistent: count transfers one after another on a connection that is
 *	opened warm_ns (default 10 ms) before the first; reconnect: one connection per transfer.
 *	count=0: as many as there is time for, until stop_ns.
 *	The next transfer starts think_ns after the sink has read the last byte of the one before.
 * warm_bytes: open the connection 300 ms before start_ns and send this many bytes, which are not
 *	in the results; then the connection is idle until start_ns
 * request_bytes: the sink first sends this many bytes, and the sender answers with its bytes
 * rate_bits_ps: the sender sends its payload at most at this rate (SO_MAX_PACING_RATE); 0: no limit
 * half=sender, sink: only this end is here, and another hopflow has the other one (hoplab/halves.py
 *	merges their lines). There is one transfer, and the ends meet by the connection alone, so
 *	that neither may trigger the other: no trigger, warm_bytes or request_bytes.
 * flows=N: number of flows that share the memory for buffers (default: those of the plan)
 * late_listeners=1: a listener opens with its connection, not before t0: for more flows than a
 *	process may have listeners
 * trigger=ID: start_ns counts from the end of the last transfer of flow ID
 * verify=1: the payload is a stream of hashes, and the sink checks every byte
 *
 * OUT, JSON lines:
 *	flow	one line per transfer: start_ns is the time of its start (connect, request or
 *		first write), end_ns the time at which the sink had the last byte; retrans counts
 *		retransmissions of this transfer. A connection that fails has "error". timeouts is
 *		null, since TCP_INFO of Linux 6.1 does not count them; see the host lines. late_ns
 *		is the part of the time that is this program's own delay: 0 unless the clock moved
 *		while the program ran. A half has "half", and only what its end knows is right: of
 *		the sender start_ns, retrans, cc and ecn, of the sink end_ns, bytes, done, corrupt.
 *	goodput	bytes that the sink's TCP has received in order, read or not; the last such line
 *		is the second after the end of the flow
 *	socket	the sender's TCP_INFO; ssthresh is null while it is infinite
 *	host	TCP counters of each namespace over the run; timeouts is TCPTimeouts,
 *		loss_probes is TCPLossProbes
 *	lateness	the longest delay of this program: of an event after its time, or of
 *		the end of its work after it woke up
 *
 * In virtual time a process takes no time, but wake-ups take wall-clock time. So this program uses
 * large buffers, SO_RCVLOWAT, MSG_TRUNC (the kernel drops data that is not verified), and one
 * timer for all events.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <linux/inet_diag.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/timerfd.h>

#include "plan.h"

#define SNDBUF_MAX_BYTES	(16 << 20)
#define SNDBUF_MIN_BYTES	(256 << 10)
#define RCVBUF_BYTES		(64 << 20)
#define RCVLOWAT_MAX_BYTES	(4 << 20)
#define RCVLOWAT_MIN_BYTES	(64 << 10)
/* Limit for the buffers of all flows together, since the guest's memory is small. */
#define BUFFERS_BYTES		(512ULL << 20)
#define CHUNK_BYTES		(4 << 20)
#define WARM_NS			10000000
/* Longer than TCP's minimum RTO, so that the connection restarts after idle. */
#define WARM_BYTES_NS		300000000
#define NONE			(~0ULL)
#define DCTCP_ALPHA_ONE		1024.0

enum mode { MODE_ONCE, MODE_PERSISTENT, MODE_RECONNECT };
static const char *const mode_words[] = { "once", "persistent", "reconnect", NULL };

/* The ends of a flow that are here. */
enum half { HALF_BOTH, HALF_SENDER, HALF_SINK };
static const char *const half_words[] = { "both", "sender", "sink", NULL };

/* The kinds of file descriptors that epoll reports. */
enum role { ROLE_TIMER, ROLE_LISTENER, ROLE_SENDER, ROLE_SINK };

struct endpoint {
	enum role role;
	int fd;
	struct flow *flow;
};

/* A flow with both ends. The program has one thread, so there are no locks. */
struct flow {
	/* the plan */
	char *group, *from, *to, *addr, *cc, *sink_cc, *accept_cc;
	u64 id, port, start_ns, bytes, stop_ns, count, think_ns, verify;
	u64 request_bytes, trigger, warm_ns, warm_bytes, sndbuf_bytes, rate_bits_ps;
	int mode, half;
	/* both ends */
	struct endpoint listener, sender, sink;
	/* transfers so far; one is running; the connection is open; all are done; start, delay */
	u64 n;
	bool active, connected, over;
	s64 began_ns, late_ns;
	/* the warm-up is running; the first transfer became due meanwhile */
	bool warming, due;
	/* bytes of this transfer: all, unsent, read, unsent and unread of the request */
	/* bytes of this connection: sent, read */
	u64 size_bytes, to_send, got, request_to_send, request_to_read;
	u64 sent_offset, got_offset;
	/* bytes of earlier connections, of the warm-up, corrupt ones; earlier retransmissions */
	u64 got_before, got_warming, corrupt, retrans_before;
	/* number of goodput lines since the end of the flow; after two, its rate is 0 */
	u64 last_lines;
	struct flow *next;
};

enum event_type { EVENT_OPEN, EVENT_TRANSFER, EVENT_STOP, EVENT_SAMPLE, EVENT_GOODPUT, EVENT_END };

struct event {
	s64 t_ns;
	u64 seq;
	enum event_type type;
	struct flow *flow;
};

/* The counters of a namespace are in the order of host_counters. */
#define HOST_COUNTERS 4

struct host {
	char *ns;
	u64 first[HOST_COUNTERS];
	struct host *next;
};

static struct config {
	u64 end_ns, sample_ns, goodput_ns, flows, late_listeners;
} config;

static struct flow *flows, **flows_end = &flows;
static struct host *hosts;
static u64 flow_count, flows_left, trigger_count;
static struct event *heap;
static size_t heap_len, heap_room;
/*
 * t0_ns: t0 on CLOCK_MONOTONIC; wake_ns: time of the last wake-up, ns after t0; overdue_ns:
 * duration of the work before that wake-up if the program did not sleep in between, else 0;
 * lateness_ns: the longest delay of the run.
 */
static s64 t0_ns, wake_ns, overdue_ns, lateness_ns;
static int epoll_fd, timer_fd;
static struct out out;
static unsigned char *zeros, *scratch;
static bool stopped;

static const struct key config_keys[] = {
	{ "end_ns", KEY_U64, offsetof(struct config, end_ns), NULL },
	{ "sample_ns", KEY_U64, offsetof(struct config, sample_ns), NULL },
	{ "goodput_ns", KEY_U64, offsetof(struct config, goodput_ns), NULL },
	{ "flows", KEY_U64, offsetof(struct config, flows), NULL },
	{ "late_listeners", KEY_BOOL, offsetof(struct config, late_listeners), NULL },
};

#define FLOW_KEY(key, type) { #key, type, offsetof(struct flow, key), NULL }
static const struct key flow_keys[] = {
	FLOW_KEY(id, KEY_U64), FLOW_KEY(group, KEY_TEXT), FLOW_KEY(from, KEY_TEXT),
	FLOW_KEY(to, KEY_TEXT), FLOW_KEY(addr, KEY_TEXT), FLOW_KEY(port, KEY_U64),
	FLOW_KEY(cc, KEY_TEXT), FLOW_KEY(sink_cc, KEY_TEXT),
	FLOW_KEY(accept_cc, KEY_TEXT), FLOW_KEY(start_ns, KEY_U64),
	FLOW_KEY(bytes, KEY_U64), FLOW_KEY(stop_ns, KEY_U64), FLOW_KEY(count, KEY_U64),
	FLOW_KEY(think_ns, KEY_U64), FLOW_KEY(verify, KEY_BOOL),
	FLOW_KEY(request_bytes, KEY_U64), FLOW_KEY(trigger, KEY_U64),
	FLOW_KEY(warm_ns, KEY_U64), FLOW_KEY(warm_bytes, KEY_U64),
	FLOW_KEY(sndbuf_bytes, KEY_U64), FLOW_KEY(rate_bits_ps, KEY_U64),
	{ "mode", KEY_MODE, offsetof(struct flow, mode), mode_words },
	{ "half", KEY_MODE, offsetof(struct flow, half), half_words },
};

/* --- the plan --- */

static void check_flow(const struct plan_place *at, const struct flow *flow)
{
	struct in6_addr addr;

	if (flow->id == NONE)
		plan_refuse(at, "id", "a number is needed");
	if (!flow->addr || (inet_pton(AF_INET, flow->addr, &addr) != 1 &&
			    inet_pton(AF_INET6, flow->addr, &addr) != 1))
		plan_refuse(at, "addr", "an IPv4 or IPv6 address is needed");
	if (!flow->port || flow->port > 65535)
		plan_refuse(at, "port", "1 to 65535");
	if (!flow->bytes && flow->mode != MODE_ONCE)
		plan_refuse(at, "bytes", "needed in modes persistent and reconnect");
	if (flow->mode == MODE_ONCE && flow->count != 1)
		plan_refuse(at, "count", "other than 1 needs mode=persistent or reconnect");
	if (flow->half != HALF_BOTH && (flow->count != 1 || flow->trigger != NONE ||
					flow->warm_bytes || flow->request_bytes))
		plan_refuse(at, "half",
			    "no trigger, warm_bytes, request_bytes or count other than 1");
}

static void read_flow(const struct plan_place *at)
{
	struct flow *flow = zalloc(sizeof(*flow));

	flow->id = NONE;
	flow->trigger = NONE;
	flow->warm_ns = NONE;
	flow->count = 1;
	flow->group = "";
	plan_keys(at, flow_keys, ARRAY_SIZE(flow_keys), flow);
	check_flow(at, flow);
	if (!flow->sink_cc)
		flow->sink_cc = flow->cc;
	if (flow->warm_ns == NONE)
		flow->warm_ns = flow->warm_bytes ? WARM_BYTES_NS :
				flow->mode == MODE_PERSISTENT ? WARM_NS : 0;
	flow->listener = (struct endpoint){ ROLE_LISTENER, -1, flow };
	flow->sender = (struct endpoint){ ROLE_SENDER, -1, flow };
	flow->sink = (struct endpoint){ ROLE_SINK, -1, flow };
	*flows_end = flow;
	flows_end = &flow->next;
	flow_count++;
	trigger_count += flow->trigger != NONE;
}

static void read_line(const struct plan_place *at, const char *word)
{
	if (!strcmp(word, "config"))
		plan_keys(at, config_keys, ARRAY_SIZE(config_keys), &config);
	else if (!strcmp(word, "flow"))
		read_flow(at);
	else
		plan_refuse(at, word, "allowed: config, flow");
}

/* --- events: a heap by time, then by order of insertion --- */

static bool event_before(const struct event *a, const struct event *b)
{
	return a->t_ns != b->t_ns ? a->t_ns < b->t_ns : a->seq < b->seq;
}

static void heap_swap(size_t a, size_t b)
{
	struct event event = heap[a];

	heap[a] = heap[b];
	heap[b] = event;
}

static void event_add(s64 t_ns, enum event_type type, struct flow *flow)
{
	static u64 seq;
	size_t i = heap_len++;

	if (heap_len > heap_room) {
		heap_room = heap_room ? heap_room * 2 : 1024;
		heap = realloc(heap, heap_room * sizeof(*heap));
		if (!heap)
			die("out of memory");
	}
	heap[i] = (struct event){ t_ns, seq++, type, flow };
	for (; i && event_before(&heap[i], &heap[(i - 1) / 2]); i = (i - 1) / 2)
		heap_swap(i, (i - 1) / 2);
}

static struct event event_take(void)
{
	struct event first = heap[0];
	size_t i = 0, child;

	heap[0] = heap[--heap_len];
	while ((child = 2 * i + 1) < heap_len) {
		if (child + 1 < heap_len && event_before(&heap[child + 1], &heap[child]))
			child++;
		if (!event_before(&heap[child], &heap[i]))
			break;
		heap_swap(i, child);
		i = child;
	}
	return first;
}

/* All work between two waits uses the time of the wake-up. */
static s64 run_ns(void)
{
	return wake_ns;
}

/* Get the time that has passed since the wake-up. */
static s64 behind_ns(void)
{
	return now_ns() - t0_ns - wake_ns;
}

static void note_delay(s64 delay_ns)
{
	if (delay_ns > lateness_ns)
		lateness_ns = delay_ns;
}

/* Note the end of a wait that started @busy_ns after the last wake-up. */
static void wake(s64 busy_ns)
{
	s64 slept_ns = now_ns() - t0_ns - wake_ns - busy_ns;

	wake_ns += busy_ns + slept_ns;
	/* Sockets that became ready during that work are handled only now. */
	overdue_ns = slept_ns ? 0 : busy_ns;
}

/* --- payload: a hash of flow and offset --- */

static u64 hash_word(u64 id, u64 index)
{
	u64 z = (id << 44) + index * 0x9e3779b97f4a7c15ULL;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

/* Byte @i of the result is the stream's byte @offset + @i. */
static const unsigned char *hash_bytes(const struct flow *flow, u64 offset, size_t len)
{
	static u64 words[(CHUNK_BYTES >> 3) + 2];
	u64 first = offset / 8, last = (offset + len + 7) / 8, i;

	for (i = first; i < last; i++)
		words[i - first] = hash_word(flow->id, i);
	return (unsigned char *)words + offset % 8;
}

static void check_bytes(struct flow *flow, const unsigned char *data, size_t len)
{
	const unsigned char *want = hash_bytes(flow, flow->got_offset, len);
	size_t i;

	if (!memcmp(want, data, len))
		return;
	for (i = 0; i < len; i++)
		flow->corrupt += want[i] != data[i];
}

/* --- sockets --- */

static void watch(struct endpoint *end, u32 events)
{
	struct epoll_event ev = { .events = events, .data.ptr = end };

	if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, end->fd, &ev) &&
	    epoll_ctl(epoll_fd, EPOLL_CTL_MOD, end->fd, &ev))
		die("epoll: %s", strerror(errno));
}

static void set_int(int fd, int level, int option, int value)
{
	/* The forced buffer sizes need CAP_NET_ADMIN; without, the limits of the netns hold. */
	if (setsockopt(fd, level, option, &value, sizeof(value)) && errno != EPERM)
		die("setsockopt %d/%d: %s", level, option, strerror(errno));
}

static socklen_t flow_addr(const struct flow *flow, struct sockaddr_storage *addr)
{
	struct sockaddr_in6 *v6 = (void *)addr;
	struct sockaddr_in *v4 = (void *)addr;

	memset(addr, 0, sizeof(*addr));
	if (inet_pton(AF_INET, flow->addr, &v4->sin_addr) == 1) {
		v4->sin_family = AF_INET;
		v4->sin_port = htons(flow->port);
		return sizeof(*v4);
	}
	inet_pton(AF_INET6, flow->addr, &v6->sin6_addr);
	v6->sin6_family = AF_INET6;
	v6->sin6_port = htons(flow->port);
	return sizeof(*v6);
}

static void set_cc(const struct flow *flow, int fd, const char *cc, const char *ns)
{
	if (cc && setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, cc, strlen(cc)))
		die("flow %lu: cc '%s' in '%s': %s", flow->id, cc, ns ? ns : "", strerror(errno));
}

static int new_socket(const struct flow *flow, const char *ns, const char *cc)
{
	struct sockaddr_storage addr;
	int fd;

	flow_addr(flow, &addr);
	enter_netns(ns);
	fd = socket(addr.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP);
	if (fd < 0)
		die("flow %lu: socket: %s", flow->id, strerror(errno));
	set_cc(flow, fd, cc, ns);
	return fd;
}

static void open_listener(struct flow *flow)
{
	struct sockaddr_storage addr;
	socklen_t len = flow_addr(flow, &addr);
	int fd = new_socket(flow, flow->to, flow->sink_cc);

	set_int(fd, SOL_SOCKET, SO_REUSEADDR, 1);
	set_int(fd, SOL_SOCKET, SO_RCVBUFFORCE, RCVBUF_BYTES / 2);
	if (bind(fd, (void *)&addr, len) || listen(fd, 16))
		die("flow %lu: listen on %s port %lu in '%s': %s", flow->id, flow->addr,
		    flow->port, flow->to ? flow->to : "", strerror(errno));
	flow->listener.fd = fd;
	watch(&flow->listener, EPOLLIN);
}

static u64 clamp_share(u64 max_bytes, u64 min_bytes)
{
	u64 share = BUFFERS_BYTES / (config.flows ? config.flows : flow_count);

	return share > max_bytes ? max_bytes : share < min_bytes ? min_bytes : share;
}

static void set_rcvlowat(struct flow *flow)
{
	u64 low = flow->verify ? RCVLOWAT_MIN_BYTES :
		  clamp_share(RCVLOWAT_MAX_BYTES, RCVLOWAT_MIN_BYTES);

	if (flow->size_bytes && flow->size_bytes - flow->got < low)
		low = flow->size_bytes - flow->got;
	set_int(flow->sink.fd, SOL_SOCKET, SO_RCVLOWAT, low ? low : 1);
}

static void get_info(const struct flow *flow, struct tcp_info *info)
{
	socklen_t len = sizeof(*info);

	memset(info, 0, sizeof(*info));
	if (flow->sender.fd >= 0)
		getsockopt(flow->sender.fd, IPPROTO_TCP, TCP_INFO, info, &len);
}

/* --- results --- */

static void print_text(const char *key, const char *text)
{
	fprintf(out.f, ",\"%s\":\"%s\"", key, text);
}

static void print_flow(struct flow *flow, bool done, const char *error)
{
	char cc[16] = "";
	socklen_t len = sizeof(cc);
	struct tcp_info info;

	get_info(flow, &info);
	if (flow->sender.fd >= 0)
		getsockopt(flow->sender.fd, IPPROTO_TCP, TCP_CONGESTION, cc, &len);
	fprintf(out.f, "{\"type\":\"flow\",\"id\":%lu", flow->id);
	print_text("group", flow->group);
	fprintf(out.f, ",\"n\":%lu,\"start_ns\":%ld,\"end_ns\":%ld,\"bytes\":%lu",
		flow->n, flow->began_ns, run_ns(), flow->got);
	fprintf(out.f, ",\"retrans\":%lu", info.tcpi_total_retrans - flow->retrans_before);
	fprintf(out.f, ",\"timeouts\":null,\"done\":%s,\"corrupt\":%lu,\"late_ns\":%ld",
		done ? "true" : "false", flow->corrupt,
		flow->late_ns + overdue_ns + behind_ns());
	print_text("cc", cc);
	fprintf(out.f, ",\"ecn\":%s", info.tcpi_options & TCPI_OPT_ECN ? "true" : "false");
	if (flow->half != HALF_BOTH)
		print_text("half", half_words[flow->half]);
	if (error)
		print_text("error", error);
	fputs("}\n", out.f);
	flow->retrans_before = info.tcpi_total_retrans;
}

/* Get the number of bytes that TCP has received in order and that the sink has not read. */
static u64 unread_bytes(const struct flow *flow)
{
	int unread = 0;

	if (flow->sink.fd >= 0)
		ioctl(flow->sink.fd, SIOCINQ, &unread);
	return unread > 0 ? unread : 0;
}

static void print_goodput(const struct flow *flow, s64 t_ns)
{
	fprintf(out.f, "{\"type\":\"goodput\",\"t_ns\":%ld,\"id\":%lu,\"bytes\":%lu}\n", t_ns,
		flow->id, flow->got_before + flow->got_offset + unread_bytes(flow) -
		flow->got_warming);
}

static void print_alpha(const struct flow *flow)
{
	union tcp_cc_info cc_info;
	socklen_t len = sizeof(cc_info);
	char cc[16] = "";
	socklen_t cc_len = sizeof(cc);

	memset(&cc_info, 0, sizeof(cc_info));
	getsockopt(flow->sender.fd, IPPROTO_TCP, TCP_CONGESTION, cc, &cc_len);
	if (strncmp(cc, "dctcp", 5) ||
	    getsockopt(flow->sender.fd, IPPROTO_TCP, TCP_CC_INFO, &cc_info, &len) ||
	    !cc_info.dctcp.dctcp_enabled)
		fputs(",\"alpha\":null", out.f);
	else
		fprintf(out.f, ",\"alpha\":%.6f", cc_info.dctcp.dctcp_alpha / DCTCP_ALPHA_ONE);
}

static void print_socket(const struct flow *flow, s64 t_ns)
{
	struct tcp_info info;

	if (flow->sender.fd < 0 || !flow->connected)
		return;
	get_info(flow, &info);
	fprintf(out.f, "{\"type\":\"socket\",\"t_ns\":%ld,\"id\":%lu,\"cwnd\":%u", t_ns,
		flow->id, info.tcpi_snd_cwnd);
	if (info.tcpi_snd_ssthresh < 0x7fffffff)
		fprintf(out.f, ",\"ssthresh\":%u", info.tcpi_snd_ssthresh);
	else
		fputs(",\"ssthresh\":null", out.f);
	fprintf(out.f, ",\"srtt_us\":%u", info.tcpi_rtt);
	print_alpha(flow);
	fprintf(out.f, ",\"pacing_rate\":%llu,\"state\":%u,\"unacked\":%u,\"retrans\":%u}\n",
		(unsigned long long)info.tcpi_pacing_rate, info.tcpi_ca_state,
		info.tcpi_unacked, info.tcpi_total_retrans);
}

/* --- the life of a flow --- */

static void close_end(struct endpoint *end, bool abort)
{
	struct linger linger = { .l_onoff = 1 };

	if (end->fd < 0)
		return;
	if (abort)
		setsockopt(end->fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
	close(end->fd);
	end->fd = -1;
}

/* An abort drops the data in the send buffer, so that a flow stops at once. */
static void close_connection(struct flow *flow, bool abort)
{
	close_end(&flow->sender, abort);
	close_end(&flow->sink, abort);
	flow->got_before += flow->got_offset;
	flow->got_offset = 0;
	flow->sent_offset = 0;
	flow->retrans_before = 0;
	flow->connected = false;
}

/* Schedule a flow's connection and, if that is opened ahead, the first transfer. */
static void schedule_flow(struct flow *flow, s64 base_ns)
{
	s64 start_ns = base_ns + (s64)flow->start_ns, open_ns = start_ns - (s64)flow->warm_ns;

	/* A connection that should have been open before it was planned opens at once. */
	if (flow->warm_ns && open_ns < run_ns())
		open_ns = run_ns();
	event_add(open_ns, EVENT_OPEN, flow);
	if (flow->warm_ns)
		event_add(start_ns, EVENT_TRANSFER, flow);
}

static void fire_triggers(const struct flow *done)
{
	struct flow *flow;

	for (flow = trigger_count ? flows : NULL; flow; flow = flow->next)
		if (flow->trigger == done->id)
			schedule_flow(flow, run_ns());
}

static void flow_over(struct flow *flow, bool abort)
{
	if (flow->over)
		return;
	close_connection(flow, abort);
	close_end(&flow->listener, false);
	flow->active = false;
	flow->over = true;
	flows_left--;
	fire_triggers(flow);
}

static void flow_fail(struct flow *flow, int error)
{
	if (flow->over)
		return;
	print_flow(flow, false, strerror(error));
	flow_over(flow, true);
}

static int socket_error(const struct endpoint *end)
{
	int error = 0;
	socklen_t len = sizeof(error);

	getsockopt(end->fd, SOL_SOCKET, SO_ERROR, &error, &len);
	return error;
}

static void send_data(struct flow *flow)
{
	while (flow->active && flow->connected && !flow->request_to_read && flow->to_send) {
		size_t len = flow->to_send < CHUNK_BYTES ? flow->to_send : CHUNK_BYTES;
		const void *data = zeros;
		ssize_t sent;

		if (flow->verify) {
			len = len < RCVLOWAT_MIN_BYTES ? len : RCVLOWAT_MIN_BYTES;
			data = hash_bytes(flow, flow->sent_offset, len);
		}
		sent = send(flow->sender.fd, data, len, MSG_NOSIGNAL);
		if (sent < 0 && errno == EAGAIN)
			return;
		if (sent < 0) {
			flow_fail(flow, errno);
			return;
		}
		flow->sent_offset += sent;
		if (flow->size_bytes)
			flow->to_send -= sent;
	}
}

static void send_request(struct flow *flow)
{
	while (flow->active && flow->sink.fd >= 0 && flow->request_to_send) {
		size_t len = flow->request_to_send < CHUNK_BYTES ? flow->request_to_send :
			     CHUNK_BYTES;
		ssize_t sent = send(flow->sink.fd, zeros, len, MSG_NOSIGNAL);

		if (sent < 0)
			return;
		flow->request_to_send -= sent;
	}
}

static void begin_transfer(struct flow *flow)
{
	flow->due = flow->active && flow->warming;
	if (flow->over || flow->active)
		return;
	flow->active = true;
	flow->began_ns = run_ns();
	flow->late_ns += behind_ns();
	flow->got = 0;
	flow->size_bytes = flow->warming ? flow->warm_bytes : flow->bytes;
	flow->to_send = flow->size_bytes ? flow->size_bytes : NONE;
	flow->request_to_send = flow->request_bytes;
	flow->request_to_read = flow->request_bytes;
	if (flow->sink.fd >= 0)
		set_rcvlowat(flow);
	send_request(flow);
	send_data(flow);
}

/* Limit the rate of the sender: TCP spreads its segments evenly, below what its window allows. */
static void set_rate(const struct flow *flow)
{
	u64 bytes_ps = flow->rate_bits_ps / 8;

	if (bytes_ps && setsockopt(flow->sender.fd, SOL_SOCKET, SO_MAX_PACING_RATE, &bytes_ps,
				   sizeof(bytes_ps)))
		die("flow %lu: rate: %s", flow->id, strerror(errno));
}

/* Return: false if the flow failed at once. */
static bool connect_sender(struct flow *flow)
{
	struct sockaddr_storage addr;
	socklen_t len = flow_addr(flow, &addr);
	u64 sndbuf_bytes = flow->sndbuf_bytes;

	if (!sndbuf_bytes)
		sndbuf_bytes = clamp_share(SNDBUF_MAX_BYTES, SNDBUF_MIN_BYTES);
	flow->sender.fd = new_socket(flow, flow->from, flow->cc);
	set_int(flow->sender.fd, SOL_SOCKET, SO_SNDBUFFORCE, sndbuf_bytes / 2);
	set_int(flow->sender.fd, IPPROTO_TCP, TCP_NODELAY, 1);
	set_rate(flow);
	if (connect(flow->sender.fd, (void *)&addr, len) && errno != EINPROGRESS) {
		flow->began_ns = run_ns();
		flow_fail(flow, errno);
		return false;
	}
	watch(&flow->sender, EPOLLIN | EPOLLOUT | EPOLLET);
	return true;
}

/* A sink alone has nothing to open; its transfer starts at the same time as the sender's. */
static void open_connection(struct flow *flow)
{
	if (flow->over)
		return;
	if (flow->half != HALF_SENDER && flow->listener.fd < 0)
		open_listener(flow);
	if (flow->half != HALF_SINK && !connect_sender(flow))
		return;
	flow->warming = flow->warm_ns && flow->warm_bytes;
	if (!flow->warm_ns || flow->warming)
		begin_transfer(flow);
}

static void end_warming(struct flow *flow)
{
	flow->warming = false;
	flow->active = false;
	flow->got_warming = flow->got;
	if (flow->due)
		begin_transfer(flow);
}

static void end_transfer(struct flow *flow)
{
	if (flow->warming) {
		end_warming(flow);
		return;
	}
	print_flow(flow, true, NULL);
	flow->active = false;
	flow->n++;
	if (flow->n == flow->count) {
		flow_over(flow, false);
	} else if (flow->mode == MODE_RECONNECT) {
		close_connection(flow, false);
		event_add(run_ns() + flow->think_ns, EVENT_OPEN, flow);
		/* Only the first connection is opened ahead. */
		flow->warm_ns = 0;
	} else {
		event_add(run_ns() + flow->think_ns, EVENT_TRANSFER, flow);
	}
}

static void stop_flow(struct flow *flow)
{
	if (flow->over)
		return;
	flow->got += unread_bytes(flow);
	flow->got_offset += unread_bytes(flow);
	if (flow->active && !flow->warming)
		print_flow(flow, !flow->bytes, NULL);
	flow_over(flow, true);
}

static void read_data(struct flow *flow)
{
	while (flow->sink.fd >= 0) {
		size_t room = flow->verify ? RCVLOWAT_MIN_BYTES : RCVBUF_BYTES;
		ssize_t len;

		len = recv(flow->sink.fd, flow->verify ? scratch : NULL, room,
			   flow->verify ? 0 : MSG_TRUNC);
		if (len < 0 && errno == EAGAIN)
			return;
		if (len <= 0) {
			flow_fail(flow, len ? errno : ECONNRESET);
			return;
		}
		if (flow->verify)
			check_bytes(flow, scratch, len);
		flow->got += len;
		flow->got_offset += len;
		if (flow->size_bytes && flow->got >= flow->size_bytes) {
			end_transfer(flow);
			return;
		}
		set_rcvlowat(flow);
	}
}

static void read_request(struct flow *flow)
{
	ssize_t len;

	while (flow->sender.fd >= 0 && flow->request_to_read) {
		len = recv(flow->sender.fd, NULL, flow->request_to_read, MSG_TRUNC);
		if (len <= 0)
			return;
		flow->request_to_read -= len;
	}
	send_data(flow);
}

static void accept_sink(struct flow *flow)
{
	int fd = accept4(flow->listener.fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (fd < 0)
		return;
	close_end(&flow->sink, true);
	flow->sink.fd = fd;
	set_cc(flow, fd, flow->accept_cc, flow->to);
	set_int(fd, IPPROTO_TCP, TCP_NODELAY, 1);
	set_rcvlowat(flow);
	watch(&flow->sink, EPOLLIN | EPOLLRDHUP);
	send_request(flow);
}

/* A sink elsewhere closes the connection when it has all bytes. */
static bool is_closed_by_sink(const struct flow *flow)
{
	char byte;

	return flow->half == HALF_SENDER &&
	       !recv(flow->sender.fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
}

static void sender_ready(struct flow *flow, u32 events)
{
	int error = events & (EPOLLERR | EPOLLHUP) ? socket_error(&flow->sender) : 0;

	if (error) {
		flow_fail(flow, error);
		return;
	}
	if (events & EPOLLOUT)
		flow->connected = true;
	if (events & EPOLLIN)
		read_request(flow);
	if (is_closed_by_sink(flow)) {
		print_flow(flow, true, NULL);
		flow_over(flow, false);
		return;
	}
	send_data(flow);
}

static void handle_socket(struct endpoint *end, u32 events)
{
	if (end->fd < 0)
		return;
	switch (end->role) {
	case ROLE_LISTENER:
		accept_sink(end->flow);
		break;
	case ROLE_SENDER:
		sender_ready(end->flow, events);
		break;
	case ROLE_SINK:
		read_data(end->flow);
		break;
	case ROLE_TIMER:
		break;
	}
}

/* --- hosts' counters --- */

/* Read value @name of section @section in the two-line format of /proc/net/snmp, or NONE. */
static u64 snmp_value(const char *path, const char *section, const char *name)
{
	char names[8192], values[8192], *n, *v, *np, *vp;
	size_t len = strlen(section);
	FILE *f = fopen(path, "r");
	u64 value = NONE;

	while (f && fgets(names, sizeof(names), f) && fgets(values, sizeof(values), f)) {
		if (strncmp(names, section, len) || names[len] != ':')
			continue;
		n = strtok_r(names, "\n ", &np);
		v = strtok_r(values, "\n ", &vp);
		while (n && v && strcmp(n, name)) {
			n = strtok_r(NULL, "\n ", &np);
			v = strtok_r(NULL, "\n ", &vp);
		}
		if (n && v)
			value = strtoull(v, NULL, 10);
	}
	if (f)
		fclose(f);
	return value;
}

static const struct {
	const char *key, *path, *section, *name;
} host_counters[HOST_COUNTERS] = {
	{ "timeouts", "/proc/thread-self/net/netstat", "TcpExt", "TCPTimeouts" },
	{ "loss_probes", "/proc/thread-self/net/netstat", "TcpExt", "TCPLossProbes" },
	{ "retrans", "/proc/thread-self/net/snmp", "Tcp", "RetransSegs" },
	{ "in_errs", "/proc/thread-self/net/snmp", "Tcp", "InErrs" },
};

static void read_host(const struct host *host, u64 values[HOST_COUNTERS])
{
	int i;

	enter_netns(host->ns);
	for (i = 0; i < HOST_COUNTERS; i++)
		values[i] = snmp_value(host_counters[i].path, host_counters[i].section,
				       host_counters[i].name);
}

static void add_host(char *ns)
{
	struct host **end = &hosts;

	for (; *end; end = &(*end)->next)
		if (!strcmp((*end)->ns ?: "", ns ?: ""))
			return;
	*end = zalloc(sizeof(**end));
	(*end)->ns = ns;
	read_host(*end, (*end)->first);
}

static void print_hosts(void)
{
	u64 now[HOST_COUNTERS];
	struct host *host;
	int i;

	for (host = hosts; host; host = host->next) {
		read_host(host, now);
		fprintf(out.f, "{\"type\":\"host\",\"ns\":\"%s\"", host->ns ?: "");
		for (i = 0; i < HOST_COUNTERS; i++)
			if (now[i] == NONE || host->first[i] == NONE)
				fprintf(out.f, ",\"%s\":null", host_counters[i].key);
			else
				fprintf(out.f, ",\"%s\":%lu", host_counters[i].key,
					now[i] - host->first[i]);
		fputs("}\n", out.f);
	}
}

/* --- time --- */

static void sample_all(const struct event *event)
{
	struct flow *flow;

	for (flow = flows; flow; flow = flow->next) {
		if (event->type == EVENT_SAMPLE)
			print_socket(flow, event->t_ns);
		else if ((flow->began_ns || flow->active || flow->over) && !flow->warming &&
			 flow->last_lines < 2 && flow->half != HALF_SENDER)
			print_goodput(flow, event->t_ns);
		flow->last_lines += flow->over && event->type == EVENT_GOODPUT;
	}
	event_add(event->t_ns + (event->type == EVENT_SAMPLE ? config.sample_ns :
				 config.goodput_ns), event->type, NULL);
}

static void handle_event(const struct event *event)
{
	note_delay(run_ns() - event->t_ns);
	switch (event->type) {
	case EVENT_OPEN:
		event->flow->late_ns = run_ns() - event->t_ns;
		open_connection(event->flow);
		break;
	case EVENT_TRANSFER:
		event->flow->late_ns = run_ns() - event->t_ns;
		begin_transfer(event->flow);
		break;
	case EVENT_STOP:
		stop_flow(event->flow);
		break;
	case EVENT_SAMPLE:
	case EVENT_GOODPUT:
		sample_all(event);
		break;
	case EVENT_END:
		stopped = true;
		break;
	}
}

static void plan_events(void)
{
	struct flow *flow;

	for (flow = flows; flow; flow = flow->next) {
		u64 stop_ns = flow->stop_ns ? flow->stop_ns : config.end_ns;

		event_add(stop_ns, EVENT_STOP, flow);
		if (flow->trigger == NONE)
			schedule_flow(flow, 0);
	}
	if (config.sample_ns)
		event_add(0, EVENT_SAMPLE, NULL);
	if (config.goodput_ns)
		event_add(0, EVENT_GOODPUT, NULL);
	event_add(config.end_ns, EVENT_END, NULL);
}

static void arm_timer(void)
{
	struct itimerspec at = {};
	s64 t_ns = t0_ns + heap[0].t_ns;

	at.it_value = ns_to_timespec(t_ns > 0 ? t_ns : 1);
	timerfd_settime(timer_fd, TFD_TIMER_ABSTIME, &at, NULL);
}

static void run(void)
{
	struct epoll_event ready[256];
	s64 busy_ns;
	int i, n;

	wake(0);
	while (!stopped && flows_left) {
		while (!stopped && heap_len && heap[0].t_ns <= run_ns()) {
			struct event event = event_take();

			handle_event(&event);
		}
		if (stopped || !flows_left)
			return;
		arm_timer();
		busy_ns = behind_ns();
		note_delay(busy_ns);
		n = epoll_wait(epoll_fd, ready, ARRAY_SIZE(ready), -1);
		wake(busy_ns);
		for (i = 0; i < n; i++)
			handle_socket(ready[i].data.ptr, ready[i].events);
	}
}

static void prepare(void)
{
	static struct endpoint timer = { ROLE_TIMER, -1, NULL };
	/* The kernel's limit. A flow has a listener and two more sockets. */
	struct rlimit files = { 1 << 20, 1 << 20 };
	struct flow *flow;

	setrlimit(RLIMIT_NOFILE, &files);
	zeros = zalloc(CHUNK_BYTES);
	scratch = zalloc(CHUNK_BYTES);
	epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	timer.fd = timer_fd;
	watch(&timer, EPOLLIN);
	for (flow = flows; flow; flow = flow->next) {
		if (flow->half != HALF_SINK)
			add_host(flow->from);
		if (flow->half == HALF_SENDER)
			continue;
		add_host(flow->to);
		if (!config.late_listeners)
			open_listener(flow);
	}
	flows_left = flow_count;
}

int main(int argc, char **argv)
{
	struct flow *flow;

	if (argc != 3 && (argc != 5 || strcmp(argv[3], "--t0")))
		die("usage: hopflow PLAN OUT.jsonl [--t0 NS]");
	plan_read(argv[1], read_line);
	if (!config.end_ns)
		die("%s: config end_ns= is needed", argv[1]);
	prepare();
	out_open(&out);
	t0_ns = argc == 5 ? strtoll(argv[4], NULL, 10) : now_ns();
	wake(0);
	plan_events();
	run();
	for (flow = flows; flow; flow = flow->next) {
		stop_flow(flow);
		/* Bytes after the last goodput line, if all flows ended before the next one. */
		if (config.goodput_ns && flow->n && !flow->last_lines)
			print_goodput(flow, run_ns());
	}
	print_hosts();
	fprintf(out.f, "{\"type\":\"lateness\",\"program\":\"hopflow\",\"late_ns\":%ld}\n",
		lateness_ns);
	out_write(&out, argv[2]);
	return 0;
}
