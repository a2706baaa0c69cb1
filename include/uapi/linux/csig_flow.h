/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * net_csig_tag: generic netlink interface to its state of connections. A dump of CSIG_FLOW_GET has
 * one message per connection of the caller's network namespace.
 */
#ifndef HOPCC_UAPI_CSIG_FLOW_H
#define HOPCC_UAPI_CSIG_FLOW_H

#include <linux/types.h>

#define CSIG_FLOW_FAMILY	"hopcc_csig"
#define CSIG_FLOW_VERSION	1

enum {
	CSIG_FLOW_CMD_UNSPEC,
	CSIG_FLOW_GET,
};

/* CSIG_FLOW_ATTR_PATH: does the path pass tags? */
enum {
	CSIG_FLOW_PATH_UNPROVEN,
	CSIG_FLOW_PATH_PROVEN,
	CSIG_FLOW_PATH_STRIPPED,
};

/*
 * Attributes in a signal's nest. Value and locator are those of the tag. LOW and HIGH are the range
 * that the value represents, in kbit/s, ppm or ns; HIGH is exclusive, and all ones means no upper
 * limit.
 */
enum {
	CSIG_FLOW_SIGNAL_UNSPEC,
	CSIG_FLOW_SIGNAL_PAD,
	CSIG_FLOW_SIGNAL_TYPE,		/* u32: 0 min(ABW), 1 min(ABW/C), 2 max(PD) */
	CSIG_FLOW_SIGNAL_FORM,		/* u32: 1 compact, 2 expanded */
	CSIG_FLOW_SIGNAL_VALUE,		/* u32 */
	CSIG_FLOW_SIGNAL_LOCATOR,	/* u32 */
	CSIG_FLOW_SIGNAL_LOW,		/* u64 */
	CSIG_FLOW_SIGNAL_HIGH,		/* u64 */
	CSIG_FLOW_SIGNAL_AGE,		/* u64, ns */
	CSIG_FLOW_SIGNAL_COUNT,		/* u64 */
	__CSIG_FLOW_SIGNAL_MAX,
};

enum {
	CSIG_FLOW_ATTR_UNSPEC,
	CSIG_FLOW_ATTR_LOCAL,		/* 16 bytes; IPv4 is v4-mapped */
	CSIG_FLOW_ATTR_PEER,		/* 16 bytes */
	CSIG_FLOW_ATTR_LOCAL_PORT,	/* u16 */
	CSIG_FLOW_ATTR_PEER_PORT,	/* u16 */
	CSIG_FLOW_ATTR_PATH,		/* u32, CSIG_FLOW_PATH_* */
	CSIG_FLOW_ATTR_SIGNAL,		/* nest, one per signal: as reflected by the peer */
	__CSIG_FLOW_ATTR_MAX,
};

#endif /* HOPCC_UAPI_CSIG_FLOW_H */
