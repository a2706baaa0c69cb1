// SPDX-License-Identifier: GPL-2.0
/*
 * Instructions that a device's root qdisc executes for a packet, in a guest whose time stamp
 * counter counts instructions (qemu -icount shift=0).
 *
 *   /proc/qdisc_cost_frame	write: the frame
 *   /proc/qdisc_cost		write: "DEVICE DEPTH NETWORK_OFFSET PROTOCOL GSO_SIZE"
 *				read: mean and median instructions of a packet
 *
 * DEPTH packets wait in the queue meanwhile. The same packet is sent PACKETS times.
 */
#include <linux/ip.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/proc_fs.h>
#include <linux/rtnetlink.h>
#include <linux/sort.h>
#include <linux/tcp.h>
#include <net/pkt_sched.h>
#include <net/sch_generic.h>

#define PACKETS 1000
#define HEADROOM_BYTES 128

static u8 frame[65536 + 256];
static char result[256];

/**
 * struct cost_frame - the frame and what a driver says of it
 * @len_bytes: bytes of the frame
 * @network_offset: bytes in front of IP
 * @protocol: Ethernet type of the packet, host order
 * @gso_size: payload bytes of a segment; 0: the frame is one packet
 */
static struct cost_frame {
	unsigned int len_bytes, network_offset, protocol, gso_size;
} cost_frame;

/**
 * struct cost_samples - instructions of each packet
 * @enqueue: in enqueue()
 * @dequeue: in dequeue()
 * @both: in enqueue() and dequeue()
 * @xmit: in dev_queue_xmit(), with the device's
 */
static struct cost_samples {
	u32 enqueue[PACKETS], dequeue[PACKETS], both[PACKETS], xmit[PACKETS];
} samples;

static void make_gso(struct sk_buff *skb)
{
	const unsigned int headers_bytes = skb_transport_offset(skb) + tcp_hdrlen(skb);
	struct skb_shared_info *info = skb_shinfo(skb);

	info->gso_size = cost_frame.gso_size;
	info->gso_type = SKB_GSO_TCPV4;
	info->gso_segs = DIV_ROUND_UP(skb->len - headers_bytes, info->gso_size);
	skb->ip_summed = CHECKSUM_PARTIAL;
	skb->csum_start = skb_transport_header(skb) - skb->head;
	skb->csum_offset = offsetof(struct tcphdr, check);
	qdisc_skb_cb(skb)->pkt_len += (info->gso_segs - 1) * headers_bytes;
}

static struct sk_buff *make_packet(struct net_device *dev)
{
	struct sk_buff *skb = alloc_skb(cost_frame.len_bytes + 2 * HEADROOM_BYTES, GFP_KERNEL);

	if (!skb)
		return NULL;
	skb_reserve(skb, HEADROOM_BYTES);
	skb_put_data(skb, frame, cost_frame.len_bytes);
	skb_reset_mac_header(skb);
	skb_set_network_header(skb, cost_frame.network_offset);
	skb_reset_mac_len(skb);
	skb_set_transport_header(skb, cost_frame.network_offset + sizeof(struct iphdr));
	skb->protocol = htons(cost_frame.protocol);
	skb->dev = dev;
	qdisc_skb_cb(skb)->pkt_len = skb->len;
	if (cost_frame.gso_size)
		make_gso(skb);
	return skb;
}

/* Cost of two readings of the counter by themselves. */
static u32 reading_cost(void)
{
	u32 least = U32_MAX;
	unsigned int i;
	u64 start;

	for (i = 0; i < 10; i++) {
		start = rdtsc();
		least = min_t(u32, least, rdtsc() - start);
	}
	return least;
}

/* Marks for profile.c, which counts the instructions between them. */
static void mark_start(void)
{
	asm volatile("nopl 0x7e570001(%%rax)" ::: "memory");
}

static void mark_end(void)
{
	asm volatile("nopl 0x7e570002(%%rax)" ::: "memory");
}

static void drain(struct Qdisc *q, struct sk_buff *to_free)
{
	struct sk_buff *skb;

	while ((skb = q->dequeue(q)))
		kfree_skb(skb);
	kfree_skb_list(to_free);
}

static void enqueue_dequeue(struct Qdisc *q, struct sk_buff *skb, unsigned int i, u32 reading)
{
	struct sk_buff *to_free = NULL, *out;
	u64 start, between, end;

	local_irq_disable();
	start = rdtsc();
	q->enqueue(skb, q, &to_free);
	between = rdtsc();
	out = q->dequeue(q);
	end = rdtsc();
	local_irq_enable();
	samples.enqueue[i] = between - start - reading;
	samples.dequeue[i] = end - between - reading;
	samples.both[i] = samples.enqueue[i] + samples.dequeue[i];
	kfree_skb(out);
	kfree_skb_list(to_free);
}

static int measure_qdisc(struct net_device *dev, unsigned int depth)
{
	struct Qdisc *q = rtnl_dereference(netdev_get_tx_queue(dev, 0)->qdisc);
	const u32 reading = reading_cost();
	struct sk_buff *skb, *to_free = NULL;
	unsigned int i;

	for (i = 0; i < depth + PACKETS; i++) {
		if (i == depth)
			mark_start();
		skb = make_packet(dev);
		if (!skb)
			return -ENOMEM;
		local_bh_disable();
		spin_lock(qdisc_lock(q));
		if (i < depth)
			q->enqueue(skb, q, &to_free);
		else
			enqueue_dequeue(q, skb, i - depth, reading);
		spin_unlock(qdisc_lock(q));
		local_bh_enable();
	}
	mark_end();
	local_bh_disable();
	spin_lock(qdisc_lock(q));
	drain(q, to_free);
	spin_unlock(qdisc_lock(q));
	local_bh_enable();
	return 0;
}

static int measure_xmit(struct net_device *dev)
{
	const u32 reading = reading_cost();
	struct sk_buff *skb;
	unsigned int i;
	u64 start;

	for (i = 0; i < PACKETS; i++) {
		skb = make_packet(dev);
		if (!skb)
			return -ENOMEM;
		local_bh_disable();
		start = rdtsc();
		dev_queue_xmit(skb);
		samples.xmit[i] = rdtsc() - start - reading;
		local_bh_enable();
	}
	return 0;
}

static int compare(const void *a, const void *b)
{
	return *(const u32 *)a < *(const u32 *)b ? -1 : *(const u32 *)a > *(const u32 *)b;
}

static int print_samples(char *to, size_t bytes, const char *name, u32 *values)
{
	u64 sum = 0;
	unsigned int i;

	for (i = 0; i < PACKETS; i++)
		sum += values[i];
	sort(values, PACKETS, sizeof(*values), compare, NULL);
	return scnprintf(to, bytes, "%s_mean=%llu %s=%u ", name, sum / PACKETS, name,
			 values[PACKETS / 2]);
}

static int measure(struct net_device *dev, unsigned int depth)
{
	size_t at = 0;
	int err;

	err = measure_qdisc(dev, depth);
	if (!err)
		err = measure_xmit(dev);
	at += print_samples(result + at, sizeof(result) - at, "enqueue", samples.enqueue);
	at += print_samples(result + at, sizeof(result) - at, "dequeue", samples.dequeue);
	at += print_samples(result + at, sizeof(result) - at, "both", samples.both);
	at += print_samples(result + at, sizeof(result) - at, "xmit", samples.xmit);
	strlcat(result, "\n", sizeof(result));
	return err;
}

static ssize_t command_write(struct file *file, const char __user *from, size_t len, loff_t *pos)
{
	char line[128] = "", name[IFNAMSIZ];
	struct net_device *dev;
	unsigned int depth;
	int err = -ENODEV;

	if (len >= sizeof(line))
		return -EINVAL;
	if (copy_from_user(line, from, len))
		return -EFAULT;
	if (sscanf(line, "%15s %u %u %x %u", name, &depth, &cost_frame.network_offset,
		   &cost_frame.protocol, &cost_frame.gso_size) != 5)
		return -EINVAL;
	rtnl_lock();
	dev = __dev_get_by_name(&init_net, name);
	if (dev)
		err = measure(dev, depth);
	rtnl_unlock();
	return err ?: len;
}

static ssize_t result_read(struct file *file, char __user *to, size_t len, loff_t *pos)
{
	return simple_read_from_buffer(to, len, pos, result, strlen(result));
}

static ssize_t frame_write(struct file *file, const char __user *from, size_t len, loff_t *pos)
{
	if (*pos + len > sizeof(frame))
		return -EINVAL;
	if (copy_from_user(frame + *pos, from, len))
		return -EFAULT;
	*pos += len;
	cost_frame.len_bytes = *pos;
	return len;
}

static const struct proc_ops command_ops = {
	.proc_write	= command_write,
	.proc_read	= result_read,
};

static const struct proc_ops frame_ops = {
	.proc_write	= frame_write,
};

static int __init qdisc_cost_init(void)
{
	if (!proc_create("qdisc_cost", 0600, NULL, &command_ops))
		return -ENOMEM;
	if (proc_create("qdisc_cost_frame", 0600, NULL, &frame_ops))
		return 0;
	remove_proc_entry("qdisc_cost", NULL);
	return -ENOMEM;
}

static void __exit qdisc_cost_exit(void)
{
	remove_proc_entry("qdisc_cost_frame", NULL);
	remove_proc_entry("qdisc_cost", NULL);
}

module_init(qdisc_cost_init);
module_exit(qdisc_cost_exit);
MODULE_DESCRIPTION("Instructions per packet of a qdisc");
MODULE_LICENSE("GPL");
