/* SPDX-License-Identifier: GPL-2.0 */
/* Lists of names in sysctls: congestion controls, devices. */
#ifndef HOPCC_LIB_HOP_NAMES_H
#define HOPCC_LIB_HOP_NAMES_H

#include <linux/string.h>
#include <linux/types.h>

/**
 * hop_names_has() - look for a name in a list
 * @names: names separated by blanks, tabs, newlines or commas; may be written to meanwhile, but its
 *	last byte is always 0
 * @name: not empty, without a separator
 *
 * Context: any.
 * Return: true if the list has the name.
 */
static inline bool hop_names_has(const char *names, const char *name)
{
	static const char separators[] = " \t\n,";
	const size_t wanted = strlen(name);
	size_t bytes;

	for (;; names += bytes) {
		names += strspn(names, separators);
		bytes = strcspn(names, separators);
		if (!bytes)
			return false;
		if (bytes == wanted && !strncmp(names, name, bytes))
			return true;
	}
}

#endif /* HOPCC_LIB_HOP_NAMES_H */
