/* SPDX-License-Identifier: GPL-2.0 */
/* The ports on which CSIG's carrier keeps tags, for a qdisc that does not depend on it. */
#ifndef HOPCC_CORE_HOP_TAGGED_H
#define HOPCC_CORE_HOP_TAGGED_H

#include <linux/types.h>

struct net_device;

void hop_tagged_start(bool (*may_have)(const struct net_device *dev));
void hop_tagged_stop(void);
const char *hop_tagged_advice(const struct net_device *dev);

#endif /* HOPCC_CORE_HOP_TAGGED_H */
