// SPDX-License-Identifier: GPL-2.0
/* Sysctls of a network namespace; see hopcc/lib/hop_sysctl.h. */

#include <linux/module.h>
#include <linux/printk.h>
#include <linux/slab.h>
#include <hopcc/lib/hop_sysctl.h>
#include <hopcc/lib/hop_trust.h>

/* sysctl(8) shows only EINVAL: write to the kernel's log what may be typed. */
static void hop_sysctl_explain(const struct ctl_table *table)
{
	static const char vector[] = "N N N N";
	const unsigned int *low = table->extra1, *high = table->extra2;
	const int numbers = max_t(int, table->maxlen / sizeof(int), 1);

	if (low && high)
		pr_warn_ratelimited("hopcc: value refused: sysctl net.hopcc.%s=\"%.*s\", N from %u to %u\n",
				    table->procname, 2 * numbers - 1, vector, *low, *high);
	else if (!low && high)
		pr_warn_ratelimited("hopcc: value refused: sysctl net.hopcc.%s=%s\n",
				    table->procname, (const char *)table->extra2);
}

/*
 * The handler of each registered sysctl: calls the template's handler, and explains a refusal. The
 * empty entry at the end has the address of the template's end, and the network namespace. Nothing
 * is logged for a container.
 */
static int hop_sysctl_handle(compat_ctl_table *table, int write, void *buffer, size_t *len,
			     loff_t *pos)
{
	const struct ctl_table *end = hop_sysctl_end(table);
	const struct ctl_table *template = (const struct ctl_table *)end->data - (end - table);
	int err;

	err = template->proc_handler(table, write, buffer, len, pos);
	if (write && (err == -EINVAL || err == -ERANGE) &&
	    hop_is_trusted(end->extra1))
		hop_sysctl_explain(table);
	return err;
}

int hop_sysctl_start(struct net *net, struct hop_sysctl *hs, const struct ctl_table *template,
		     void *state)
{
	const unsigned int entries = hop_sysctl_end(template) - template;
	unsigned int i;

	hs->table = kmemdup(template, (entries + 1) * sizeof(*template), GFP_KERNEL);
	if (!hs->table)
		return -ENOMEM;
	for (i = 0; i < entries; i++) {
		hs->table[i].data = (char *)state + (uintptr_t)template[i].data;
		hs->table[i].proc_handler = hop_sysctl_handle;
	}
	hs->table[entries].data = (void *)(template + entries);
	hs->table[entries].extra1 = net;
	hs->header = register_net_sysctl_sz(net, "net/hopcc", hs->table, entries);
	if (hs->header)
		return 0;
	kfree(hs->table);
	return -ENOMEM;
}

void hop_sysctl_stop(struct hop_sysctl *hs)
{
	unregister_net_sysctl_table(hs->header);
	kfree(hs->table);
}
EXPORT_SYMBOL_GPL(hop_sysctl_stop);

int hop_sysctl_set_if(compat_ctl_table *table, int write, void *buffer, size_t *len, loff_t *pos,
		      bool (*may)(unsigned int value))
{
	unsigned int *knob = table->data, value = READ_ONCE(*knob);
	struct ctl_table one = { .data = &value, .maxlen = sizeof(value) };
	int err = proc_douintvec(&one, write, buffer, len, pos);

	if (err || !write)
		return err;
	if (!may(value))
		return -EINVAL;
	WRITE_ONCE(*knob, value);
	return 0;
}
EXPORT_SYMBOL_GPL(hop_sysctl_set_if);
