/* SPDX-License-Identifier: GPL-2.0 */
/* The C library's struct in6_addr has the same members. */
#ifndef SHIM_LINUX_IN6_H
#define SHIM_LINUX_IN6_H

#include <netinet/in.h>

#endif
