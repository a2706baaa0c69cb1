#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Send an xcp root qdisc with any attributes, past the checks of tc's plug-in.

    xcp-netlink.py add|change DEV [rate=N] [alpha=N] [min_interval=N] [99=N]
                   [rate=hex:00ff] [strict] ...

`strict` sets NLA_F_NESTED, which tc omits. See qdisc_netlink.py.
"""
import struct
import sys

from qdisc_netlink import NLA_F_NESTED, TCA_OPTIONS, attr, request

TYPES = {"rate": 2, "overhead": 3, "alpha": 4, "beta": 5, "gamma": 6, "min_interval": 7,
         "max_interval": 8, "allowed_queue": 9, "e2e_share": 10, "protocol": 11, "limit": 12,
         "sampler": 13, "share": 14}


def option(word):
    name, _, text = word.partition("=")
    if text.startswith("hex:"):
        payload = bytes.fromhex(text[4:])
    else:
        payload = struct.pack("=Q" if name == "rate" else "=I", int(text))
    return attr(TYPES.get(name) or int(name), payload)


def main(verb, dev, *words):
    nested = NLA_F_NESTED if "strict" in words else 0
    body = b"".join(option(w) for w in words if w != "strict")
    return request("xcp", verb, dev, attr(TCA_OPTIONS | nested, body))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
