// SPDX-License-Identifier: GPL-2.0
/*
 * Log how deep the kernel stack of each task has been, the idle task's included: in virtual
 * time its stack carries timers and packets. A stack is zero where nothing was ever written.
 * Loading fails with -ECANCELED when all is logged, so that the module can be loaded again.
 */
#include <linux/module.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/sched/task_stack.h>

static void stack_depth_log(struct task_struct *task)
{
	unsigned long *end = end_of_stack(task), *word = end + 1;

	while (!*word)
		word++;
	pr_info("stack_depth: %s[%d] %lu of %lu bytes free\n", task->comm, task->pid,
		(unsigned long)word - (unsigned long)end, (unsigned long)THREAD_SIZE);
}

static int __init stack_depth_init(void)
{
	struct task_struct *process, *task;

	stack_depth_log(&init_task);
	rcu_read_lock();
	for_each_process_thread(process, task)
		stack_depth_log(task);
	rcu_read_unlock();
	return -ECANCELED;
}

module_init(stack_depth_init);
MODULE_DESCRIPTION("hopcc selftest: depth of the kernel stack");
MODULE_LICENSE("GPL");
