/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Configuration of a signal by tc: scale of its values and layout of its locators. The attributes
 * are read here, apart from the qdisc, so that the fuzzer reads them with the same code.
 */
#ifndef HOPCC_SCH_CSIG_CSIG_SIGNAL_H
#define HOPCC_SCH_CSIG_CSIG_SIGNAL_H

#include <net/netlink.h>

#include "csig_layout.h"

/**
 * struct scsig_signal - configuration of a signal type
 * @on: the port supports this signal
 * @scale: encoding of the signal's values
 * @layout: layout of the locators, by form
 */
struct scsig_signal {
	bool on;
	struct csig_scale scale;
	struct tc_csig_layout layout[CSIG_FORMS];
};

/**
 * scsig_parse_scale() - read how a signal's values are encoded
 * @scale: result; keeps what the request does not contain; undefined after an error
 * @tb: the signal's attributes by TCA_CSIG_SIGNAL_*, validated by the policy: at most
 *	TC_CSIG_EDGES_MAX edges
 * @extack: receives the error message
 *
 * Context: any; the caller owns @scale.
 * Return: 0; -EINVAL
 */
int scsig_parse_scale(struct csig_scale *scale, struct nlattr **tb, struct netlink_ext_ack *extack);

/**
 * scsig_parse_layout() - read the layout of a signal's locators
 * @layout: result; unchanged without @attr, undefined after an error
 * @form: the form of tags that have such locators
 * @attr: struct tc_csig_layout, whose size the policy validated, or NULL
 * @extack: receives the error message
 *
 * Context: any; the caller owns @layout.
 * Return: 0; -EINVAL: the layout is not one, or does not fit the locator
 */
int scsig_parse_layout(struct tc_csig_layout *layout, enum csig_form form,
		       const struct nlattr *attr, struct netlink_ext_ack *extack);

#endif /* HOPCC_SCH_CSIG_CSIG_SIGNAL_H */
