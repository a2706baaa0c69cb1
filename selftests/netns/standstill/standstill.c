// SPDX-License-Identifier: GPL-2.0
/*
 * The machine stands still for a time, and all its clocks go on, as a virtual machine's do that
 * its host stops: /sys/module/standstill/parameters/ms. Only for the lab, where virtual time
 * passes with interrupts off and nothing else happens meanwhile: no timer, no packet, no program.
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
MODULE_PARM_DESC(ms, "stand still for so many milliseconds, at most 600000");

MODULE_DESCRIPTION("hopcc selftest: a machine that is stopped while its clocks go on");
MODULE_LICENSE("GPL");
