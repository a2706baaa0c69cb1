// SPDX-License-Identifier: GPL-2.0
/*
 * Do on purpose what the debug kernel's checkers report: insmod misbehave.ko kind=KIND.
 * Volatile, so that the compiler neither sees the mistake nor removes it.
 */
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>

static char *kind = "nothing";
module_param(kind, charp, 0444);
MODULE_PARM_DESC(kind, "nothing, shift, index, divide, freed, leak, warn (nothing)");

static int table[4];
static volatile int number = 40;
static int *volatile block;

static void misbehave_shift(void)
{
	pr_info("misbehave: %d\n", 1 << number);
}

static void misbehave_index(void)
{
	number = ARRAY_SIZE(table);
	table[number] = 1;
}

/* UBSAN reports it before x86 traps. */
static void misbehave_divide(void)
{
	number = 0;
	pr_info("misbehave: %d\n", 1 / number);
}

static void misbehave_freed(void)
{
	block = kmalloc(sizeof(*block), GFP_KERNEL);
	kfree(block);
	if (block)
		pr_info("misbehave: %d\n", *block);
}

static void misbehave_leak(void)
{
	block = kmalloc(sizeof(*block), GFP_KERNEL);
	block = NULL;
}

static void misbehave_warn(void)
{
	WARN_ON(number);
}

static const struct {
	const char *name;
	void (*call)(void);
} kinds[] = {
	{ "shift", misbehave_shift },
	{ "index", misbehave_index },
	{ "divide", misbehave_divide },
	{ "freed", misbehave_freed },
	{ "leak", misbehave_leak },
	{ "warn", misbehave_warn },
};

static int __init misbehave_init(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		if (!strcmp(kind, kinds[i].name))
			kinds[i].call();
	return 0;
}

static void __exit misbehave_exit(void)
{
}

module_init(misbehave_init);
module_exit(misbehave_exit);
MODULE_DESCRIPTION("hopcc selftest: faults that the kernel's checkers must report");
MODULE_LICENSE("GPL");
