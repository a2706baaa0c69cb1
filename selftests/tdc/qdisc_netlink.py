# SPDX-License-Identifier: GPL-2.0
"""Send a root qdisc with any attributes, bypassing the checks of tc's plug-ins."""
import os
import socket
import struct

RTM_NEWQDISC, NLM_F_REQUEST, NLM_F_ACK = 36, 1, 4
NLM_F_EXCL, NLM_F_CREATE = 0x200, 0x400
NLM_F_CAPPED, NLM_F_ACK_TLVS = 0x100, 0x200
NLMSG_ERROR, SOL_NETLINK, NETLINK_CAP_ACK, NETLINK_EXT_ACK = 2, 270, 10, 11
TCA_KIND, TCA_OPTIONS, TC_H_ROOT = 1, 2, 0xffffffff
NLA_F_NESTED = 0x8000


def attr(kind, payload):
    return struct.pack("=HH", 4 + len(payload), kind) + payload + b"\0" * (-len(payload) % 4)


def extack(reply):
    """Return the message and the number of the bad attribute from the TLVs behind the error."""
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


def request(kind, verb, dev, options):
    """Send a request. On an error, print "Error: <extack> (attribute <number>)" and return 2, like
    tc; else return 0."""
    flags = NLM_F_REQUEST | NLM_F_ACK | (NLM_F_CREATE | NLM_F_EXCL if verb == "add" else 0)
    body = struct.pack("=BxxxiIII", 0, socket.if_nametoindex(dev), 0x10000, TC_H_ROOT, 0)
    body += attr(TCA_KIND, kind.encode() + b"\0") + options
    message = struct.pack("=IHHII", 16 + len(body), RTM_NEWQDISC, flags, 1, 0) + body

    link = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE)
    link.setsockopt(SOL_NETLINK, NETLINK_EXT_ACK, 1)
    link.setsockopt(SOL_NETLINK, NETLINK_CAP_ACK, 1)
    link.send(message)
    error, text, bad = extack(link.recv(8192))
    if not error:
        return 0
    where = "none" if bad is None else struct.unpack_from("=H", message, bad + 2)[0] & 0x3fff
    print(f"Error: {text or os.strerror(-error)} (attribute {where})")
    return 2


def plain(types, wide=("rate",)):
    """Return a function that converts a word NAME=NUMBER or NAME=hex:BYTES to an attribute. A name
    is a key of `types`, or a number; those in `wide` have eight bytes, all others four."""
    def option(word):
        name, _, text = word.partition("=")
        if text.startswith("hex:"):
            payload = bytes.fromhex(text[4:])
        else:
            payload = struct.pack("=Q" if name in wide else "=I", int(text))
        return attr(types.get(name) or int(name), payload)
    return option


def send(kind, option, verb, dev, *words):
    """Send a request with the attributes that option() makes from words; the word "strict" sets
    NLA_F_NESTED, which tc omits."""
    nested = NLA_F_NESTED if "strict" in words else 0
    body = b"".join(option(w) for w in words if w != "strict")
    return request(kind, verb, dev, attr(TCA_OPTIONS | nested, body))
