// SPDX-License-Identifier: GPL-2.0
/* A congestion control with a fault: after its first ACK it never sends again. */
#include <linux/module.h>
#include <net/tcp.h>

static void stalls_avoid(struct sock *sk, u32 ack, u32 acked)
{
	sk->sk_pacing_rate = 0;
	tcp_sk(sk)->snd_cwnd = 0;
}

static struct tcp_congestion_ops stalls __read_mostly = {
	.name		= "stalls",
	.owner		= THIS_MODULE,
	.ssthresh	= tcp_reno_ssthresh,
	.undo_cwnd	= tcp_reno_undo_cwnd,
	.cong_avoid	= stalls_avoid,
};

static int __init stalls_init(void)
{
	return tcp_register_congestion_control(&stalls);
}

module_init(stalls_init);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Congestion control that stalls");
