// SPDX-License-Identifier: GPL-2.0
/*
 * An intended data race: two threads increment one variable, without a lock and without
 * WRITE_ONCE(). kcsan-matrix.t loads this module to show that KCSAN finds and reports a race in a
 * module. The module is never installed.
 */

#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/module.h>

static unsigned long count;
static struct task_struct *threads[2];

static noinline void racer_count(void)
{
	count++;
}

static int racer_thread(void *unused)
{
	while (!kthread_should_stop()) {
		int i;

		for (i = 0; i < 1000; i++)
			racer_count();
		usleep_range(50, 100);
	}
	return 0;
}

static void racer_stop(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(threads); i++)
		if (!IS_ERR_OR_NULL(threads[i]))
			kthread_stop(threads[i]);
}

static int __init racer_init(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(threads); i++) {
		threads[i] = kthread_run(racer_thread, NULL, "racer/%d", i);
		if (IS_ERR(threads[i])) {
			racer_stop();
			return PTR_ERR(threads[i]);
		}
	}
	return 0;
}

static void __exit racer_exit(void)
{
	racer_stop();
	pr_info("racer: counted %lu\n", count);
}

module_init(racer_init);
module_exit(racer_exit);

MODULE_DESCRIPTION("hopcc selftest: a data race on purpose");
MODULE_LICENSE("GPL");
