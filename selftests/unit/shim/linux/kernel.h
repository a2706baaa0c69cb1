/* SPDX-License-Identifier: GPL-2.0 */
/* Enough of the kernel's helpers for a core on the host. */
#ifndef SHIM_LINUX_KERNEL_H
#define SHIM_LINUX_KERNEL_H

#include <linux/bits.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/types.h>
#include <stdio.h>
#include <string.h>

#ifndef ARRAY_SIZE
#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#endif
#define DIV_ROUND_UP(n, d) (((n) + (d) - 1) / (d))
#define DIV_ROUND_CLOSEST_ULL(n, d) (((u64)(n) + (d) / 2) / (d))
#define DIV64_U64_ROUND_UP(n, d) (((u64)(n) + (d) - 1) / (d))
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#define READ_ONCE(x) (*(const volatile __typeof__(x) *)&(x))
#define WRITE_ONCE(x, v) (*(volatile __typeof__(x) *)&(x) = (v))
#define U8_MAX UINT8_MAX
#define U16_MAX UINT16_MAX
#define U32_MAX UINT32_MAX
#define U64_MAX (~0ULL)
#define S32_MIN INT32_MIN
#define S32_MAX INT32_MAX
#define S64_MAX ((s64)(U64_MAX >> 1))
#define S64_MIN		(-S64_MAX - 1)
#define NSEC_PER_SEC 1000000000L
#define NSEC_PER_USEC 1000L
#define USEC_PER_SEC 1000000L

#endif
