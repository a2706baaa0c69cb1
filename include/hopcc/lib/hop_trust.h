/* SPDX-License-Identifier: GPL-2.0 */
/* How far a user who configures something is trusted. */
#ifndef HOPCC_LIB_HOP_TRUST_H
#define HOPCC_LIB_HOP_TRUST_H

#include <linux/user_namespace.h>
#include <net/net_namespace.h>

/**
 * hop_is_trusted() - is the owner of a network namespace trusted with the machine's CPU time?
 * @net: network namespace of the device or the sysctl
 *
 * Netlink asks for CAP_NET_ADMIN in the user namespace of @net, of the process that sends and of
 * the one that opened the socket. Any user has that in a user namespace of their own. The current
 * process's capabilities prove nothing: the process may be a privileged program that writes the
 * user's text to a descriptor that the user has opened.
 *
 * Context: any.
 * Return: true if CAP_NET_ADMIN in the initial user namespace is needed to configure @net.
 */
static inline bool hop_is_trusted(const struct net *net)
{
	return net->user_ns == &init_user_ns;
}

#endif /* HOPCC_LIB_HOP_TRUST_H */
