// SPDX-License-Identifier: GPL-2.0
/*
 * A plug-in for QEMU's emulator (7.2, plug-in API 1) that counts the instructions that each CPU of
 * the guest executes between the two marks that mq_send sets. At each second mark it appends "CPU
 * INSTRUCTIONS" to the file of the argument out=.
 */
#include <stdio.h>
#include <string.h>

#include "../cost/qemu_plugin.h"

int qemu_plugin_version = 1;

#define CPUS_MAX 64

/* Each element is written only by its CPU's thread; no two elements share a cache line. */
static struct {
	uint64_t instructions, before;
} __attribute__((aligned(128))) cpus[CPUS_MAX];
static const char *out = "mq_count";

static void count(unsigned int cpu, void *instructions)
{
	cpus[cpu % CPUS_MAX].instructions += (uintptr_t)instructions;
}

static void start(unsigned int cpu, void *data)
{
	cpus[cpu % CPUS_MAX].before = cpus[cpu % CPUS_MAX].instructions;
}

static void stop(unsigned int cpu, void *data)
{
	FILE *file = fopen(out, "a");

	if (!file)
		return;
	fprintf(file, "%u %llu\n", cpu,
		(unsigned long long)(cpus[cpu % CPUS_MAX].instructions -
				     cpus[cpu % CPUS_MAX].before));
	fclose(file);
}

static void translate(uint64_t id, struct qemu_plugin_tb *tb)
{
	/* The marks are nopl 0x7e570001(%rax) and nopl 0x7e570002(%rax). */
	static const uint8_t mark[] = { 0x0f, 0x1f, 0x80, 0, 0x00, 0x57, 0x7e };
	const size_t insns = qemu_plugin_tb_n_insns(tb);
	size_t i;

	qemu_plugin_register_vcpu_tb_exec_cb(tb, count, NO_REGISTERS, (void *)insns);
	for (i = 0; i < insns; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		const uint8_t *code = qemu_plugin_insn_data(insn);

		if (qemu_plugin_insn_size(insn) != sizeof(mark) || memcmp(code, mark, 3) ||
		    memcmp(code + 4, mark + 4, 3))
			continue;
		qemu_plugin_register_vcpu_insn_exec_cb(insn, code[3] == 1 ? start : stop,
						       NO_REGISTERS, NULL);
	}
}

int qemu_plugin_install(uint64_t id, const struct qemu_info *info, int argc, char **argv)
{
	int i;

	for (i = 0; i < argc; i++)
		if (!strncmp(argv[i], "out=", 4))
			out = strdup(argv[i] + 4);
	qemu_plugin_register_vcpu_tb_trans_cb(id, translate);
	return 0;
}
