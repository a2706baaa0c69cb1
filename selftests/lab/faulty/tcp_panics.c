// SPDX-License-Identifier: GPL-2.0
/* A congestion control with a fault: it dereferences a null pointer at its first ACK. */
#include <linux/module.h>
#include <net/tcp.h>

static void panics_avoid(struct sock *sk, u32 ack, u32 acked)
{
	u32 *nothing = (u32 *)READ_ONCE(sk->sk_user_data);

	WRITE_ONCE(*nothing, ack);
}

static struct tcp_congestion_ops panics __read_mostly = {
	.name		= "panics",
	.owner		= THIS_MODULE,
	.ssthresh	= tcp_reno_ssthresh,
	.undo_cwnd	= tcp_reno_undo_cwnd,
	.cong_avoid	= panics_avoid,
};

static int __init panics_init(void)
{
	return tcp_register_congestion_control(&panics);
}

module_init(panics_init);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Congestion control that panics");
