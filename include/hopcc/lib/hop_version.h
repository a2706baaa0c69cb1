/* SPDX-License-Identifier: GPL-2.0 */
/* The version of all modules; debian/changelog has the same one. */
#ifndef HOPCC_LIB_HOP_VERSION_H
#define HOPCC_LIB_HOP_VERSION_H

/* DKMS compares it with the version of an installed module. */
#define HOPCC_VERSION "2.0"

#endif /* HOPCC_LIB_HOP_VERSION_H */
