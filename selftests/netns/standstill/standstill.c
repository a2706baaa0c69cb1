// SPDX-License-Identifier: GPL-2.0
/*
 * Stop the machine for a time while all its clocks go on, as when a host stops a virtual machine:
 * write the time to /sys/module/standstill/parameters/ms. This is only for the lab, where virtual
 * time passes with interrupts off, and no timer, packet or program runs meanwhile.
 */
#include <linux/delay.h>
#include <linux/irqflags.h>
#include <linux/ktime.h>
#include <linux/module.h>

/* Above this the kernel's own timekeeping overflows: 2^64 / (2^23 * 1.5) ns. */
#define STANDSTILL_MAX_MS 600000

static int standstill_set(const char *text, const struct kernel_param *kp)
{
	unsigned int ms;
	int err;

	err = kstrtouint(text, 0, &ms);
	if (err)
		return err;
	if (ms > STANDSTILL_MAX_MS)
		return -ERANGE;
	local_irq_disable();
	ndelay(ms * (unsigned long)NSEC_PER_MSEC);
	local_irq_enable();
	return 0;
}

static const struct kernel_param_ops standstill_ops = { .set = standstill_set };

module_param_cb(ms, &standstill_ops, NULL, 0200);
MODULE_PARM_DESC(ms, "stop the machine for this many milliseconds, at most 600000");

MODULE_DESCRIPTION("hopcc selftest: a machine that is stopped while its clocks go on");
MODULE_LICENSE("GPL");
