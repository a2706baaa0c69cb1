// SPDX-License-Identifier: GPL-2.0
/*
 * Reno, of which every second connection is starved: one packet in flight, at 2 kB/s. The others
 * share the port.
 */
#include <linux/module.h>
#include <net/tcp.h>

#define STARVED_BYTES_PS 2000

static atomic_t starves_connections;

static void starves_init_sk(struct sock *sk)
{
	if (atomic_inc_return(&starves_connections) % 2)
		return;
	tcp_sk(sk)->snd_cwnd_clamp = 1;
	WRITE_ONCE(sk->sk_max_pacing_rate, STARVED_BYTES_PS);
	WRITE_ONCE(sk->sk_pacing_rate, STARVED_BYTES_PS);
	/* TCP itself paces only if it is asked to. */
	cmpxchg(&sk->sk_pacing_status, SK_PACING_NONE, SK_PACING_NEEDED);
}

static struct tcp_congestion_ops starves __read_mostly = {
	.name		= "starves",
	.owner		= THIS_MODULE,
	.init		= starves_init_sk,
	.ssthresh	= tcp_reno_ssthresh,
	.undo_cwnd	= tcp_reno_undo_cwnd,
	.cong_avoid	= tcp_reno_cong_avoid,
};

static int __init starves_init(void)
{
	return tcp_register_congestion_control(&starves);
}

module_init(starves_init);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Congestion control that starves every second connection");
