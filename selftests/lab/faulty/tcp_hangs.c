// SPDX-License-Identifier: GPL-2.0
/* A congestion control with a fault: its first ACK never returns. */
#include <linux/module.h>
#include <net/tcp.h>

static void hangs_avoid(struct sock *sk, u32 ack, u32 acked)
{
	while (!READ_ONCE(sk->sk_user_data))
		cpu_relax();
}

static struct tcp_congestion_ops hangs __read_mostly = {
	.name		= "hangs",
	.owner		= THIS_MODULE,
	.ssthresh	= tcp_reno_ssthresh,
	.undo_cwnd	= tcp_reno_undo_cwnd,
	.cong_avoid	= hangs_avoid,
};

static int __init hangs_init(void)
{
	return tcp_register_congestion_control(&hangs);
}

module_init(hangs_init);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Congestion control that hangs");
