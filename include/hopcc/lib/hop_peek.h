/* SPDX-License-Identifier: GPL-2.0 */
/* Reading a value that another CPU may be writing. */
#ifndef HOPCC_LIB_HOP_PEEK_H
#define HOPCC_LIB_HOP_PEEK_H

#include <linux/compiler.h>

/**
 * hop_peek() - read a member without the lock of its writers
 * @member: an aligned scalar, of a socket or of a congestion control's private data
 *
 * Hooks look at a socket's members, and ss at those of congestion controls, without the socket's
 * lock. TCP and the congestion controls write them under it, without WRITE_ONCE(). The reader
 * gets the old value or the new one and must be content with either. It reads once, so that the
 * value that was checked is the value that is used. data_race() tells KCSAN that this race is
 * meant; the writers are still checked against each other.
 *
 * Members that one hook writes and another reads without the lock are not for hop_peek(): both
 * sides are marked, with WRITE_ONCE() and READ_ONCE().
 *
 * Context: any.
 * Return: the value.
 */
#define hop_peek(member) data_race(READ_ONCE(member))

#endif /* HOPCC_LIB_HOP_PEEK_H */
