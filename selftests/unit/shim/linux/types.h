/* SPDX-License-Identifier: GPL-2.0 */
/* Enough of the kernel's types for a core on the host. */
#ifndef SHIM_LINUX_TYPES_H
#define SHIM_LINUX_TYPES_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint8_t u8, __u8;
typedef uint16_t u16, __u16;
typedef uint32_t u32, __u32;
/* As in the kernel: %llu prints them everywhere. */
typedef unsigned long long u64, __u64;
typedef int8_t s8, __s8;
typedef int16_t s16, __s16;
typedef int32_t s32, __s32;
typedef long long s64, __s64;
typedef u16 __be16, __le16, __sum16;
typedef u32 __be32, __le32, __wsum;
typedef u64 __be64, __le64;
typedef s64 ktime_t;

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define be32_to_cpu(x) __builtin_bswap32(x)
#else
#define be32_to_cpu(x) ((u32)(x))
#endif
#define cpu_to_be32(x) be32_to_cpu(x)

#define __aligned_u64 __u64 __attribute__((aligned(8)))

#endif
