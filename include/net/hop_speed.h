/* SPDX-License-Identifier: GPL-2.0 */
/* The rate of a device, where no lock may be taken to ask its driver. */
#ifndef HOPCC_NET_HOP_SPEED_H
#define HOPCC_NET_HOP_SPEED_H

#include <linux/types.h>

struct net_device;

/**
 * hop_speed_bytes_ps() - the rate of a device, as its driver last said
 * @dev: the device
 *
 * Context: RCU read side.
 * Return: bytes/s; 0: not known.
 */
u64 hop_speed_bytes_ps(const struct net_device *dev);

int hop_speed_start(void);
void hop_speed_stop(void);

#endif /* HOPCC_NET_HOP_SPEED_H */
