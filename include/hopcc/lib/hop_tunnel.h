/* SPDX-License-Identifier: GPL-2.0 */
/* Which devices are tunnels. */
#ifndef HOPCC_LIB_HOP_TUNNEL_H
#define HOPCC_LIB_HOP_TUNNEL_H

#include <linux/if_arp.h>
#include <linux/netdevice.h>

/**
 * hop_is_ip_tunnel() - is a device a tunnel that carries IP packets?
 * @dev: the device
 *
 * Context: any.
 * Return: true for IP in IP, SIT and GRE, over IPv4 and IPv6.
 */
static inline bool hop_is_ip_tunnel(const struct net_device *dev)
{
	switch (dev->type) {
	case ARPHRD_TUNNEL:
	case ARPHRD_TUNNEL6:
	case ARPHRD_SIT:
	case ARPHRD_IPGRE:
	case ARPHRD_IP6GRE:
		return true;
	}
	return false;
}

#endif /* HOPCC_LIB_HOP_TUNNEL_H */
