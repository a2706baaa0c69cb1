# SPDX-License-Identifier: GPL-2.0
"""Dumps by netlink, of the caller's network namespace."""
import ipaddress
import socket
import struct

GENERIC, ROUTE, SOCK_DIAG = 16, 0, 4
REQUEST, DUMP, DONE, ERROR = 1, 0x300, 3, 2
CTRL, CTRL_GETFAMILY, CTRL_FAMILY_ID, CTRL_FAMILY_NAME = 16, 3, 1, 2


def attributes(data):
    """(kind, value) of each."""
    at = 0
    while at + 4 <= len(data):
        size, kind = struct.unpack_from("HH", data, at)
        if size < 4:
            return
        yield kind & 0x3fff, data[at + 4:at + size]
        at += (size + 3) & ~3


def address(data):
    """16 bytes, or 4: as text; what is v4-mapped is IPv4."""
    found = ipaddress.ip_address(bytes(data))
    return str(getattr(found, "ipv4_mapped", None) or found)


def dump(protocol, kind, body, flags=DUMP):
    """The payloads of a dump; a refusal is an OSError."""
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, protocol) as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
        sock.bind((0, 0))
        sock.send(struct.pack("IHHII", 16 + len(body), kind, REQUEST | flags, 1, 0) + body)
        while True:
            data, at = sock.recv(1 << 20), 0
            while at + 16 <= len(data):
                size, found = struct.unpack_from("IH", data, at)
                if found == ERROR:
                    code, = struct.unpack_from("i", data, at + 16)
                    if code:
                        raise OSError(-code, "netlink")
                    return
                if found == DONE:
                    return
                yield data[at + 16:at + size]
                if not flags:
                    return
                at += (size + 3) & ~3


def family(name):
    """The number of a family of generic netlink; FileNotFoundError without its module."""
    text = name.encode() + b"\0"
    body = struct.pack("BBHHH", CTRL_GETFAMILY, 1, 0, 4 + len(text), CTRL_FAMILY_NAME) + text
    body += bytes(-len(body) % 4)
    for data in dump(GENERIC, CTRL, body, flags=0):
        found = dict(attributes(data[4:]))
        return struct.unpack("H", found[CTRL_FAMILY_ID])[0]
    raise FileNotFoundError(name)


def generic(number, command):
    """The attributes of each message of a dump of generic netlink."""
    for data in dump(GENERIC, number, struct.pack("BBH", command, 1, 0)):
        yield attributes(data[4:])
