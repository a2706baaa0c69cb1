// SPDX-License-Identifier: GPL-2.0
/*
 * Trusted ports, section 9: devices that lead into the CSIG domain. Tags are sent on them, read
 * from them and forwarded between them. On all other devices tags are neither sent nor trusted. On
 * a tunnel device tags are moved to and from the outer packet: tunnel.c.
 */
#include <linux/if_arp.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <net/geneve.h>
#include <net/gre.h>
#include <hopcc/lib/hop_names.h>
#include <hopcc/lib/hop_tunnel.h>
#include <net/vxlan.h>

#include "net_csig_tag.h"

/* A tunnel that carries frames: the outer packets are on the wire, not the frames. */
bool ctag_is_frame_tunnel(const struct net_device *dev)
{
	return netif_is_vxlan(dev) || netif_is_geneve(dev) || netif_is_gretap(dev) ||
	       netif_is_ip6gretap(dev);
}

/**
 * ctag_has_tunnels() - check if net.hopcc.csig_ports names tunnels
 * @cn: the carrier's state in the network namespace
 *
 * Context: any.
 * Return: true if it names at least one tunnel that exists.
 */
bool ctag_has_tunnels(const struct ctag_net *cn)
{
	return READ_ONCE(cn->tunnels);
}

static void ctag_init_ops(struct ctag_port *port, struct net_device *dev)
{
	port->tunnel = ctag_is_frame_tunnel(dev) || hop_is_ip_tunnel(dev);
	port->ops = (struct nf_hook_ops) {
		.hook = port->tunnel ? ctag_tunnel_egress : ctag_egress,
		.dev = dev,
		.pf = NFPROTO_NETDEV,
		.hooknum = NF_NETDEV_EGRESS,
		/* Run behind all hooks that may drop or redirect. */
		.priority = INT_MAX,
	};
	port->ingress = port->ops;
	port->ingress.hook = ctag_tunnel_ingress;
	port->ingress.hooknum = NF_NETDEV_INGRESS;
}

static int ctag_register_hooks(struct ctag_net *cn, struct ctag_port *port)
{
	int err = nf_register_net_hook(cn->carrier.net, &port->ops);

	if (err || !port->tunnel)
		return err;
	err = nf_register_net_hook(cn->carrier.net, &port->ingress);
	if (err)
		nf_unregister_net_hook(cn->carrier.net, &port->ops);
	else
		WRITE_ONCE(cn->tunnels, cn->tunnels + 1);
	return err;
}

static int ctag_add_port(struct ctag_net *cn, struct net_device *dev)
{
	struct ctag_port *port;
	int err;

	if (xa_load(&cn->ports, dev->ifindex))
		return 0;
	port = kzalloc(sizeof(*port), GFP_KERNEL);
	if (!port)
		return -ENOMEM;
	ctag_init_ops(port, dev);
	err = xa_insert(&cn->ports, dev->ifindex, port, GFP_KERNEL);
	if (err)
		goto free;
	err = ctag_register_hooks(cn, port);
	if (!err)
		return 0;
	xa_erase(&cn->ports, dev->ifindex);
free:
	kfree_rcu(port, rcu);
	return err;
}

static void ctag_remove_port(struct ctag_net *cn, int ifindex)
{
	struct ctag_port *port = xa_erase(&cn->ports, ifindex);

	if (!port)
		return;
	if (port->tunnel) {
		WRITE_ONCE(cn->tunnels, cn->tunnels - 1);
		nf_unregister_net_hook(cn->carrier.net, &port->ingress);
	}
	nf_unregister_net_hook(cn->carrier.net, &port->ops);
	kfree_rcu(port, rcu);
}

/* "*" in the list names every device. */
static bool ctag_may_trust(const char *names, const struct net_device *dev)
{
	return (dev->type == ARPHRD_ETHER || hop_is_ip_tunnel(dev)) &&
	       (hop_names_has(names, dev->name) || hop_names_has(names, "*"));
}

/* Context: RTNL held. */
static int ctag_settle_port(struct ctag_net *cn, struct net_device *dev)
{
	ASSERT_RTNL();
	if (ctag_may_trust(cn->port_names, dev))
		return ctag_add_port(cn, dev);
	ctag_remove_port(cn, dev->ifindex);
	return 0;
}

/**
 * ctag_ports_set() - set net.hopcc.csig_ports
 * @cn: the carrier's state in the network namespace
 * @names: shorter than CTAG_PORTS_BYTES
 *
 * Context: process; takes RTNL.
 * Return: 0, or an error: then the old ports stay.
 */
int ctag_ports_set(struct ctag_net *cn, const char *names)
{
	struct net_device *dev;
	int err = 0;

	rtnl_lock();
	/*
	 * First do what may fail, and add ports. Then remove the ports that are not in the list:
	 * the old ones after success, the new ones after an error.
	 */
	for_each_netdev(cn->carrier.net, dev)
		if (!err && ctag_may_trust(names, dev))
			err = ctag_add_port(cn, dev);
	if (!err)
		strscpy(cn->port_names, names, sizeof(cn->port_names));
	for_each_netdev(cn->carrier.net, dev)
		if (!ctag_may_trust(cn->port_names, dev))
			ctag_remove_port(cn, dev->ifindex);
	rtnl_unlock();
	return err;
}

static int ctag_on_device(struct notifier_block *nb, unsigned long event, void *info)
{
	struct net_device *dev = netdev_notifier_info_to_dev(info);
	struct ctag_net *cn = container_of(nb, struct ctag_net, devices);

	switch (event) {
	case NETDEV_REGISTER:
	case NETDEV_CHANGENAME:
		return notifier_from_errno(ctag_settle_port(cn, dev));
	case NETDEV_UNREGISTER:
		ctag_remove_port(cn, dev->ifindex);
		break;
	}
	return NOTIFY_DONE;
}

/* Called before the sysctl exists. Context: process; takes RTNL. */
int ctag_ports_start(struct ctag_net *cn, struct net *net)
{
	xa_init(&cn->ports);
	cn->devices.notifier_call = ctag_on_device;
	return register_netdevice_notifier_net(net, &cn->devices);
}

/*
 * Called after the sysctl has been removed. The notifier gets an event for each device and removes
 * its port. Context: process; takes RTNL.
 */
void ctag_ports_stop(struct ctag_net *cn)
{
	unregister_netdevice_notifier_net(cn->carrier.net, &cn->devices);
}
