#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Send a wred root qdisc with any attributes, past the checks of tc's plug-in.

    wred-netlink.py add|change DEV [limit=N] [overhead=N] [ect.min=N] [ect.off]
                    [nect.max=N] [ect.9=N] [9=N] [limit=hex:00ff] [strict] ...

Prints "Error: <extack> (attribute <number>)" and exits 2 as tc does. `strict`
sets NLA_F_NESTED, which tc omits.
"""
import os
import socket
import struct
import sys

RTM_NEWQDISC, NLM_F_REQUEST, NLM_F_ACK = 36, 1, 4
NLM_F_EXCL, NLM_F_CREATE = 0x200, 0x400
NLM_F_CAPPED, NLM_F_ACK_TLVS = 0x100, 0x200
NLMSG_ERROR, SOL_NETLINK, NETLINK_CAP_ACK, NETLINK_EXT_ACK = 2, 270, 10, 11
TCA_KIND, TCA_OPTIONS, TC_H_ROOT = 1, 2, 0xffffffff
NLA_F_NESTED = 0x8000

TOP = {"limit": 1, "overhead": 2, "ect": 3, "nect": 4}
PROFILE = {"min": 1, "max": 2, "prob": 3, "off": 4}


def attr(kind, payload):
    return struct.pack("=HH", 4 + len(payload), kind) + payload + b"\0" * (-len(payload) % 4)


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


def extack(reply):
    """Message and number of the bad attribute, out of the TLVs behind the error."""
    _, _, flags = struct.unpack_from("=IHH", reply)
    error, = struct.unpack_from("=i", reply, 16)
    offset = 20 + 16
    if not flags & NLM_F_CAPPED and error:
        offset = 20 + struct.unpack_from("=I", reply, 20)[0]
    message, bad = "", None
    while flags & NLM_F_ACK_TLVS and offset + 4 <= len(reply):
        length, kind = struct.unpack_from("=HH", reply, offset)
        body = reply[offset + 4:offset + length]
        if kind == 1:
            message = body.rstrip(b"\0").decode()
        elif kind == 2:
            bad, = struct.unpack("=I", body)
        offset += (length + 3) & ~3
    return error, message, bad


def main(verb, dev, *words):
    nested = NLA_F_NESTED if "strict" in words else 0
    flags = NLM_F_REQUEST | NLM_F_ACK | (NLM_F_CREATE | NLM_F_EXCL if verb == "add" else 0)
    body = struct.pack("=BxxxiIII", 0, socket.if_nametoindex(dev), 0x10000, TC_H_ROOT, 0)
    body += attr(TCA_KIND, b"wred\0") + options([w for w in words if w != "strict"], nested)
    request = struct.pack("=IHHII", 16 + len(body), RTM_NEWQDISC, flags, 1, 0) + body

    link = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE)
    link.setsockopt(SOL_NETLINK, NETLINK_EXT_ACK, 1)
    link.setsockopt(SOL_NETLINK, NETLINK_CAP_ACK, 1)
    link.send(request)
    error, message, bad = extack(link.recv(8192))
    if not error:
        return 0
    where = "none" if bad is None else struct.unpack_from("=H", request, bad + 2)[0] & 0x3fff
    print(f"Error: {message or os.strerror(-error)} (attribute {where})")
    return 2


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
