# SPDX-License-Identifier: GPL-2.0
"""Read net_csig_tag's state of the connections of a network namespace by generic netlink, see
include/uapi/linux/csig_flow.h."""
import socket
import struct

import hosts

NETLINK_GENERIC, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, CTRL_ATTR_FAMILY_ID = 16, 16, 3, 1
CTRL_ATTR_FAMILY_NAME = 2
REQUEST, DUMP, DONE, ERROR = 1, 0x300, 3, 2
FLOW_GET = 1
UNPROVEN, PROVEN, STRIPPED = range(3)
ABW, ABW_C, PD = range(3)
U64 = struct.Struct("Q")


def attributes(data):
    at = 0
    while at + 4 <= len(data):
        size, kind = struct.unpack_from("HH", data, at)
        yield kind & 0x3fff, data[at + 4:at + size]
        at += (size + 3) & ~3


def messages(sock):
    """Return the messages of a dump without their headers; raise an exception for an error."""
    while True:
        data, at = sock.recv(1 << 20), 0
        while at + 16 <= len(data):
            size, kind = struct.unpack_from("IH", data, at)
            if kind == ERROR:
                code, = struct.unpack_from("i", data, at + 16)
                if code:
                    raise OSError(-code, "netlink")
                return
            if kind == DONE:
                return
            yield data[at + 20:at + size]
            at += (size + 3) & ~3


def ask(sock, family, command, body=b"", flags=0):
    sock.send(struct.pack("IHHII", 20 + len(body), family, REQUEST | flags, 1, 0) +
              struct.pack("BBH", command, 1, 0) + body)


def family(sock):
    name = b"hopcc_csig\0"
    body = struct.pack("HH", 4 + len(name), CTRL_ATTR_FAMILY_NAME) + name
    ask(sock, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, body + bytes(-len(body) % 4))
    found = dict(attributes(next(messages(sock))))
    return struct.unpack("H", found[CTRL_ATTR_FAMILY_ID])[0]


def signal(data):
    found = dict(attributes(data))
    kind, form, value, locator = (struct.unpack("I", found[i])[0] for i in range(2, 6))
    low, high, age_ns, count = (U64.unpack(found[i])[0] for i in range(6, 10))
    return kind, dict(form=form, value=value, locator=locator, low=low, high=high,
                      age_ns=age_ns, count=count)


def flows(name):
    """Return [{port, peer_port, path, signal: {type: ...}}] of a namespace."""
    with hosts.inside(name):
        sock = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_GENERIC)
    with sock:
        sock.bind((0, 0))
        ask(sock, family(sock), FLOW_GET, flags=DUMP)
        found = []
        for data in messages(sock):
            flow = dict(signal={})
            for kind, value in attributes(data):
                if kind in (3, 4):
                    flow["port" if kind == 3 else "peer_port"], = struct.unpack("H", value)
                elif kind == 5:
                    flow["path"], = struct.unpack("I", value)
                elif kind == 6:
                    which, what = signal(value)
                    flow["signal"][which] = what
            found.append(flow)
        return found


def flow_of(name, sock):
    port = sock.getsockname()[1]
    return next((f for f in flows(name) if f["port"] == port), None)
