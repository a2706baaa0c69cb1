// SPDX-License-Identifier: GPL-2.0
/*
 * A plug-in of QEMU's emulator, for 7.2 and its API 1: how often each piece of the guest's kernel
 * runs between two marks that cost_stream or qdisc_cost sets. Writes "ADDRESS INSTRUCTIONS" lines
 * to the file of the argument out=, all of user space under address 0.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "qemu_plugin.h"

int qemu_plugin_version = 1;

/* Instructions by the address of the block that they are in: more blocks than a kernel has. */
#define SLOTS 2097152U

static struct slot {
	uint64_t address, instructions, before;
} *slots;
static const char *out = "profile";

static struct slot *slot_of(uint64_t address)
{
	uint32_t at = (address * 0x9E3779B97F4A7C15ULL) >> 43;

	while (slots[at].address && slots[at].address != address)
		at = (at + 1) % SLOTS;
	slots[at].address = address;
	return &slots[at];
}

static void start(unsigned int cpu, void *data)
{
	uint32_t i;

	for (i = 0; i < SLOTS; i++)
		slots[i].before = slots[i].instructions;
}

static void stop(unsigned int cpu, void *data)
{
	FILE *file = fopen(out, "w");
	uint32_t i;

	if (!file)
		return;
	for (i = 0; i < SLOTS; i++)
		if (slots[i].instructions > slots[i].before)
			fprintf(file, "%llx %llu\n",
				(unsigned long long)(slots[i].address >> 63 ? slots[i].address : 0),
				(unsigned long long)(slots[i].instructions - slots[i].before));
	fclose(file);
}

/* The marks: nopl 0x7e570001(%rax) and nopl 0x7e570002(%rax). */
static void find_marks(struct qemu_plugin_tb *tb)
{
	static const uint8_t mark[] = { 0x0f, 0x1f, 0x80, 0, 0x00, 0x57, 0x7e };
	const size_t insns = qemu_plugin_tb_n_insns(tb);
	size_t i;

	for (i = 0; i < insns; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		const uint8_t *code = qemu_plugin_insn_data(insn);

		if (qemu_plugin_insn_size(insn) != sizeof(mark) || memcmp(code, mark, 3) ||
		    memcmp(code + 4, mark + 4, 3))
			continue;
		if (code[3] == 1 || code[3] == 2)
			qemu_plugin_register_vcpu_insn_exec_cb(insn, code[3] == 1 ? start : stop,
							       NO_REGISTERS, NULL);
	}
}

static void translate(uint64_t id, struct qemu_plugin_tb *tb)
{
	const uint64_t address = qemu_plugin_tb_vaddr(tb);
	const size_t insns = qemu_plugin_tb_n_insns(tb);

	qemu_plugin_register_vcpu_tb_exec_inline(tb, ADD_U64, &slot_of(address)->instructions,
						 insns);
	find_marks(tb);
}

int qemu_plugin_install(uint64_t id, const struct qemu_info *info, int argc, char **argv)
{
	int i;

	for (i = 0; i < argc; i++)
		if (!strncmp(argv[i], "out=", 4))
			out = strdup(argv[i] + 4);
	slots = calloc(SLOTS, sizeof(*slots));
	qemu_plugin_register_vcpu_tb_trans_cb(id, translate);
	return slots ? 0 : -1;
}
