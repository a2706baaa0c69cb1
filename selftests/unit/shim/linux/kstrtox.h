/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Numbers in texts as the kernel reads them: one plus sign and one newline at the end are allowed,
 * a blank or a minus sign is not; with base 0, a leading 0 means octal.
 */
#ifndef SHIM_LINUX_KSTRTOX_H
#define SHIM_LINUX_KSTRTOX_H

#include <errno.h>
#include <linux/kernel.h>

/* Return: the value of a hexadecimal digit, or 16. */
static inline unsigned int shim_digit(char c)
{
	static const char digits[] = "0123456789abcdefABCDEF";
	const char *at = c ? strchr(digits, c) : NULL;

	if (!at)
		return 16;
	return at - digits < 16 ? at - digits : at - digits - 6;
}

static inline bool shim_has_0x(const char *text)
{
	return text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
}

static inline int shim_kstrtou(const char *text, unsigned int base, u64 max, u64 *value)
{
	bool overflow = false;
	const char *begin;
	u64 sum = 0;

	text += *text == '+';
	if (!base && shim_has_0x(text) && shim_digit(text[2]) < 16)
		base = 16;
	else if (!base)
		base = *text == '0' ? 8 : 10;
	if (base == 16 && shim_has_0x(text))
		text += 2;
	for (begin = text; shim_digit(*text) < base; text++) {
		overflow |= __builtin_mul_overflow(sum, (u64)base, &sum);
		overflow |= __builtin_add_overflow(sum, (u64)shim_digit(*text), &sum);
	}
	/* An overflow is reported before what follows the digits. */
	if (overflow)
		return -ERANGE;
	if (text == begin)
		return -EINVAL;
	text += *text == '\n';
	if (*text)
		return -EINVAL;
	if (sum > max)
		return -ERANGE;
	*value = sum;
	return 0;
}

static inline int kstrtou32(const char *text, unsigned int base, u32 *result)
{
	u64 value;
	int err = shim_kstrtou(text, base, U32_MAX, &value);

	if (!err)
		*result = value;
	return err;
}

static inline int kstrtou16(const char *text, unsigned int base, u16 *result)
{
	u64 value;
	int err = shim_kstrtou(text, base, U16_MAX, &value);

	if (!err)
		*result = value;
	return err;
}

#endif
