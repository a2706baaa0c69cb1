/* SPDX-License-Identifier: GPL-2.0 */
/* How far a user who configures something is trusted. */
#ifndef HOPCC_LIB_HOP_TRUST_H
#define HOPCC_LIB_HOP_TRUST_H

#include <linux/capability.h>
#include <linux/user_namespace.h>

/**
 * hop_is_trusted() - is the sender of this request trusted with the machine's CPU time?
 *
 * Netlink asks for CAP_NET_ADMIN in the user namespace of the device's network namespace.
 * Any user has that in a user namespace of their own.
 *
 * Context: process, that of the request.
 * Return: true if the sender has CAP_NET_ADMIN in the initial user namespace.
 */
static inline bool hop_is_trusted(void)
{
	return ns_capable_noaudit(&init_user_ns, CAP_NET_ADMIN);
}

#endif /* HOPCC_LIB_HOP_TRUST_H */
