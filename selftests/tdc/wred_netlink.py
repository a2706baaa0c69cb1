#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Send a wred root qdisc with any attributes, bypassing the checks of tc's plug-in.

    wred_netlink.py add|change DEV [limit=N] [overhead=N] [ect.min=N] [ect.off]
                    [nect.max=N] [ect.9=N] [9=N] [limit=hex:00ff] [strict] ...

Prints "Error: <extack> (attribute <number>)" and exits 2 as tc does. `strict`
sets NLA_F_NESTED, which tc omits.
"""
import struct
import sys

from qdisc_netlink import NLA_F_NESTED, TCA_OPTIONS, attr, request

TOP = {"limit": 1, "overhead": 2, "ect": 3, "nect": 4}
PROFILE = {"min": 1, "max": 2, "prob": 3, "off": 4}


def value(text):
    if text == "":
        return b""
    if text.startswith("hex:"):
        return bytes.fromhex(text[4:])
    return struct.pack("=I", int(text))


def options(words, nested):
    top, profiles = b"", {}
    for word in words:
        name, _, text = word.partition("=")
        outer, _, inner = name.partition(".")
        number = TOP.get(outer) or int(outer)
        if inner or outer in ("ect", "nect"):
            part = attr(PROFILE.get(inner) or int(inner), value(text)) if inner else b""
            profiles[number] = profiles.get(number, b"") + part
        else:
            top += attr(number, value(text))
    for number, body in profiles.items():
        top += attr(number | nested, body)
    return attr(TCA_OPTIONS | nested, top)


def main(verb, dev, *words):
    nested = NLA_F_NESTED if "strict" in words else 0
    return request("wred", verb, dev, options([w for w in words if w != "strict"], nested))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
