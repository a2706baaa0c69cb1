// SPDX-License-Identifier: GPL-2.0
#include <kunit/test.h>
#include <linux/module.h>
#include "csig_carrier.h"
MODULE_LICENSE("GPL");
