// SPDX-License-Identifier: GPL-2.0
/*
 * Instructions that a socket's congestion control executes for an ACK, in a guest whose time stamp
 * counter counts instructions (qemu -icount shift=0).
 *
 *   /proc/ack_cost	write: a socket's file descriptor, to count from now on; -1 to end
 *			read: ACKs and instructions
 *
 * The socket gets a copy of its congestion control's operations in which those that an ACK calls
 * are counted. One socket at a time.
 */
#include <linux/file.h>
#include <linux/module.h>
#include <linux/net.h>
#include <linux/proc_fs.h>
#include <net/tcp.h>

static struct socket *counted;
static const struct tcp_congestion_ops *real;
static struct tcp_congestion_ops wrapper;
static u64 acks, instructions;
/* Cost of two readings of the counter by themselves. */
static u64 reading = U64_MAX;

/*
 * Interrupts are off, since one timer interrupt is as much as an eighth of what 150 ACKs take.
 * Return: the time.
 */
static __always_inline u64 begin(unsigned long *flags)
{
	local_irq_save(*flags);
	return rdtsc();
}

static __always_inline void count(u64 start, unsigned long flags)
{
	instructions += rdtsc() - start - reading;
	local_irq_restore(flags);
}

static void count_cong_control(struct sock *sk, const struct rate_sample *rs)
{
	unsigned long flags;
	const u64 start = begin(&flags);

	real->cong_control(sk, rs);
	count(start, flags);
}

static void count_cong_avoid(struct sock *sk, u32 ack, u32 acked)
{
	unsigned long flags;
	const u64 start = begin(&flags);

	real->cong_avoid(sk, ack, acked);
	count(start, flags);
}

static void count_pkts_acked(struct sock *sk, const struct ack_sample *sample)
{
	unsigned long flags;
	const u64 start = begin(&flags);

	real->pkts_acked(sk, sample);
	count(start, flags);
}

/* The stack calls it for each ACK, whether the congestion control has it or not. */
static void count_in_ack_event(struct sock *sk, u32 event_flags)
{
	unsigned long flags;
	u64 start;

	acks++;
	if (!real->in_ack_event)
		return;
	start = begin(&flags);
	real->in_ack_event(sk, event_flags);
	count(start, flags);
}

static void wrap(void)
{
	wrapper = *real;
	wrapper.in_ack_event = count_in_ack_event;
	if (real->cong_control)
		wrapper.cong_control = count_cong_control;
	if (real->cong_avoid)
		wrapper.cong_avoid = count_cong_avoid;
	if (real->pkts_acked)
		wrapper.pkts_acked = count_pkts_acked;
}

static int start_counting(int fd)
{
	struct sock *sk;
	int err;

	if (counted)
		return -EBUSY;
	counted = sockfd_lookup(fd, &err);
	if (!counted)
		return err;
	sk = counted->sk;
	lock_sock(sk);
	acks = 0;
	instructions = 0;
	real = inet_csk(sk)->icsk_ca_ops;
	wrap();
	WRITE_ONCE(inet_csk(sk)->icsk_ca_ops, &wrapper);
	release_sock(sk);
	return 0;
}

/* A congestion control may have handed over to another one meanwhile. */
static void end_counting(void)
{
	struct sock *sk;

	if (!counted)
		return;
	sk = counted->sk;
	lock_sock(sk);
	if (inet_csk(sk)->icsk_ca_ops == &wrapper)
		WRITE_ONCE(inet_csk(sk)->icsk_ca_ops, real);
	release_sock(sk);
	sockfd_put(counted);
	counted = NULL;
}

static ssize_t fd_write(struct file *file, const char __user *from, size_t len, loff_t *pos)
{
	int fd, err = kstrtoint_from_user(from, len, 0, &fd);

	if (err)
		return err;
	if (fd < 0)
		end_counting();
	else
		err = start_counting(fd);
	return err ?: len;
}

static ssize_t result_read(struct file *file, char __user *to, size_t len, loff_t *pos)
{
	char text[64];
	int bytes = scnprintf(text, sizeof(text), "%llu %llu\n", acks, instructions);

	return simple_read_from_buffer(to, len, pos, text, bytes);
}

static const struct proc_ops ack_cost_ops = {
	.proc_write	= fd_write,
	.proc_read	= result_read,
};

static int __init ack_cost_init(void)
{
	unsigned long flags;
	unsigned int i;
	u64 start;

	for (i = 0; i < 10; i++) {
		start = begin(&flags);
		reading = min(reading, rdtsc() - start);
		local_irq_restore(flags);
	}
	return proc_create("ack_cost", 0600, NULL, &ack_cost_ops) ? 0 : -ENOMEM;
}

static void __exit ack_cost_exit(void)
{
	remove_proc_entry("ack_cost", NULL);
}

module_init(ack_cost_init);
module_exit(ack_cost_exit);
MODULE_DESCRIPTION("Instructions per ACK of a congestion control");
MODULE_LICENSE("GPL");
