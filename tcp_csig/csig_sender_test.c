// SPDX-License-Identifier: GPL-2.0
#include <kunit/test.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include "csig_sender.h"
MODULE_LICENSE("GPL");
