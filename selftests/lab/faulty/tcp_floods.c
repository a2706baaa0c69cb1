// SPDX-License-Identifier: GPL-2.0
/* A congestion control with a fault: it sends as much as it may, whatever is lost. */
#include <linux/module.h>
#include <net/tcp.h>

static void floods_control(struct sock *sk, const struct rate_sample *rs)
{
	tcp_sk(sk)->snd_cwnd = min(300U, tcp_sk(sk)->snd_cwnd_clamp);
}

static u32 floods_ssthresh(struct sock *sk)
{
	return TCP_INFINITE_SSTHRESH;
}

static struct tcp_congestion_ops floods __read_mostly = {
	.name		= "floods",
	.owner		= THIS_MODULE,
	.ssthresh	= floods_ssthresh,
	.undo_cwnd	= tcp_reno_undo_cwnd,
	.cong_control	= floods_control,
};

static int __init floods_init(void)
{
	return tcp_register_congestion_control(&floods);
}

module_init(floods_init);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Congestion control that floods");
