/* SPDX-License-Identifier: GPL-2.0 */
/* Locators composed of the port's attributes, draft-ravi-ippm-csig-01 section 5.5.2. */
#ifndef HOPCC_SCH_CSIG_CSIG_LAYOUT_H
#define HOPCC_SCH_CSIG_CSIG_LAYOUT_H

#include <linux/types.h>
#include <hopcc/wire/csig.h>
#include <uapi/linux/pkt_sched_csig.h>

/* Return: true if the layout is valid and fits the locator of this format. */
bool scsig_layout_ok(const struct tc_csig_layout *l, enum csig_form form);

/**
 * scsig_layout_misfit() - find the first attribute that is too large for its field
 * @l: a layout that passed scsig_layout_ok()
 * @attrs: attributes by TC_CSIG_WHAT_*
 *
 * Return: the attribute, TC_CSIG_WHAT_*; TC_CSIG_WHATS if all fit. A TTL always fits.
 */
u32 scsig_layout_misfit(const struct tc_csig_layout *l, const u32 *attrs);

/**
 * scsig_compose() - build a locator
 * @l: a layout that passed scsig_layout_ok()
 * @attrs: attributes by TC_CSIG_WHAT_*, all but the TTL
 * @ttl: TTL of the packet
 *
 * Return: the locator; it fits the format for which the layout was checked.
 */
u32 scsig_compose(const struct tc_csig_layout *l, const u32 *attrs, u32 ttl);

#endif /* HOPCC_SCH_CSIG_CSIG_LAYOUT_H */
