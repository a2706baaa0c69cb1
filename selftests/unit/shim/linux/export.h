/* SPDX-License-Identifier: GPL-2.0 */
/* A program on the host exports nothing. */
#ifndef SHIM_LINUX_EXPORT_H
#define SHIM_LINUX_EXPORT_H

#ifndef EXPORT_SYMBOL_GPL
#define EXPORT_SYMBOL_GPL(name) _Static_assert(1, "")
#endif

#endif
