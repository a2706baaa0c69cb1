/* SPDX-License-Identifier: GPL-2.0 */
/*
 * IP addresses in texts as the kernel reads them, which is not as the C library does: a caller must
 * look at @end. With a delimiter of -1 any character that is no part of an address ends it; a colon
 * always ends an IPv4 address. Leading zeros are allowed, of IPv6 any number of them.
 */
#ifndef SHIM_LINUX_INET_H
#define SHIM_LINUX_INET_H

#include <linux/kstrtox.h>

#define SHIM_IN6_BYTES 16

/* Return: true if an address may end before @c. */
static inline bool shim_pton_ends(char c, int delim)
{
	return !c || c == delim ||
	       (delim == -1 && c != ':' && c != '.' && shim_digit(c) == 16);
}

/* The length must be -1: the whole of @text. */
static inline int in4_pton(const char *text, int bytes, u8 *address, int delim, const char **end)
{
	u8 byte[4];
	u32 i;

	if (bytes != -1)
		abort();
	for (i = 0; i < 4; i++) {
		const char *begin = text;
		u32 value = 0;

		for (; shim_digit(*text) < 10 && value <= U8_MAX; text++)
			value = value * 10 + shim_digit(*text);
		if (text == begin || value > U8_MAX || (i < 3 && *text++ != '.'))
			return 0;
		byte[i] = value;
	}
	if (*text != ':' && !shim_pton_ends(*text, delim))
		return 0;
	memcpy(address, byte, sizeof(byte));
	if (end)
		*end = text;
	return 1;
}

/**
 * struct shim_in6 - an IPv6 address while it is read
 * @byte: the bytes outside of "::"
 * @bytes: number of these
 * @gap: number of these before "::"; -1: there is none
 */
struct shim_in6 {
	u8 byte[SHIM_IN6_BYTES];
	int bytes;
	int gap;
};

/* "::" is for at least one word of zeros. */
static inline bool shim_in6_has_room(const struct shim_in6 *a, int bytes)
{
	return a->bytes + (a->gap >= 0 ? 2 : 0) + bytes <= SHIM_IN6_BYTES;
}

/* Reads the IPv4 address at the end. Return: what follows it, or NULL. */
static inline const char *shim_in6_v4(struct shim_in6 *a, const char *text, int delim)
{
	const char *end;

	if (!shim_in6_has_room(a, 4) || (a->gap < 0 && a->bytes != SHIM_IN6_BYTES - 4) ||
	    !in4_pton(text, -1, &a->byte[a->bytes], delim, &end))
		return NULL;
	a->bytes += 4;
	return end;
}

/* Reads a word of 16 bits. Return: what follows it, or NULL. */
static inline const char *shim_in6_word(struct shim_in6 *a, const char *text)
{
	const char *begin = text;
	u32 value = 0;

	for (; shim_digit(*text) < 16; text++) {
		value = value << 4 | shim_digit(*text);
		if (value > U16_MAX)
			return NULL;
	}
	if (text == begin || !shim_in6_has_room(a, 2))
		return NULL;
	a->byte[a->bytes++] = value >> 8;
	a->byte[a->bytes++] = value;
	return text;
}

/* Reads all words, and what separates them. Return: the end of the address, or NULL. */
static inline const char *shim_in6_words(struct shim_in6 *a, const char *text, int delim)
{
	if (*text == ':' && *++text != ':')
		return NULL;
	/* At the first digit of a word, or at the second colon of "::". */
	for (;; text++) {
		if (*text == ':') {
			if (a->gap >= 0 || !shim_in6_has_room(a, 2))
				return NULL;
			a->gap = a->bytes;
			if (shim_pton_ends(*++text, delim))
				return text;
		}
		if (text[strspn(text, "0123456789abcdefABCDEF")] == '.')
			return shim_in6_v4(a, text, delim);
		text = shim_in6_word(a, text);
		if (!text)
			return NULL;
		if (shim_pton_ends(*text, delim))
			return a->gap >= 0 || a->bytes == SHIM_IN6_BYTES ? text : NULL;
		if (*text != ':' || !shim_in6_has_room(a, 2))
			return NULL;
	}
}

/* The length must be -1: the whole of @text. */
static inline int in6_pton(const char *text, int bytes, u8 *address, int delim, const char **end)
{
	struct shim_in6 a = { .gap = -1 };
	int behind;

	if (bytes != -1)
		abort();
	text = shim_in6_words(&a, text, delim);
	if (!text)
		return 0;
	behind = a.bytes - (a.gap >= 0 ? a.gap : a.bytes);
	memset(address, 0, SHIM_IN6_BYTES);
	memcpy(address, a.byte, a.bytes - behind);
	memcpy(address + SHIM_IN6_BYTES - behind, &a.byte[a.bytes - behind], behind);
	if (end)
		*end = text;
	return 1;
}

#endif
