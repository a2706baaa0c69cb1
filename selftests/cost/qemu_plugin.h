/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What profile.c and mq_count.c use of QEMU's API for plug-ins, version 1, whose header Debian does
 * not have.
 */
#ifndef HOPCC_SELFTESTS_COST_QEMU_PLUGIN_H
#define HOPCC_SELFTESTS_COST_QEMU_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#define VISIBLE __attribute__((visibility("default")))

struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_info;

enum { NO_REGISTERS };
enum { ADD_U64 };

typedef void (*translate_cb)(uint64_t id, struct qemu_plugin_tb *tb);
typedef void (*execute_cb)(unsigned int cpu, void *data);

void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id, translate_cb cb);
void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *tb, int op, void *to,
					      uint64_t value);
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb, execute_cb cb, int flags,
					  void *data);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn, execute_cb cb,
					    int flags, void *data);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t at);
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *insn);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);

/* QEMU looks for this symbol. */
extern VISIBLE int qemu_plugin_version;
VISIBLE int qemu_plugin_install(uint64_t id, const struct qemu_info *info, int argc, char **argv);

#endif /* HOPCC_SELFTESTS_COST_QEMU_PLUGIN_H */
