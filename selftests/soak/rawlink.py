# SPDX-License-Identifier: GPL-2.0
"""Netlink messages by hand: well-formed ones, and ones that no library would build."""
import errno
import socket
import struct

NLM_F_REQUEST, NLM_F_ACK, NLM_F_DUMP = 1, 4, 0x300
NLM_F_REPLACE, NLM_F_EXCL, NLM_F_CREATE = 0x100, 0x200, 0x400
NLA_F_NESTED = 0x8000
NLMSG_ERROR, NLMSG_DONE = 2, 3
NETLINK_ROUTE, NETLINK_SOCK_DIAG, NETLINK_GENERIC = 0, 4, 16


def attr(kind, payload):
    return struct.pack("=HH", 4 + len(payload), kind & 0xffff) + payload + bytes(-len(payload) % 4)


def u32(kind, value):
    return attr(kind, struct.pack("=I", value & 0xffffffff))


def u64(kind, value):
    return attr(kind, struct.pack("=Q", value & 0xffffffffffffffff))


def text(kind, word):
    return attr(kind, word.encode() + b"\0")


def attributes(data):
    """Return {type: payload} of well-formed attributes."""
    found, at = {}, 0
    while at + 4 <= len(data):
        length, kind = struct.unpack_from("=HH", data, at)
        if length < 4:
            break
        found[kind & 0x3fff] = data[at + 4:at + length]
        at += (length + 3) & ~3
    return found


def near_bounds(rng, low, high):
    """Return a number: mostly within the bounds, of any magnitude, else at or beyond them."""
    if rng.random() < 0.6 and high > low:
        return min(high, low + int((high - low + 1) ** rng.random()) - 1)
    return rng.choice((low, high, low - 1, high + 1, 0, 1, 2**31 - 1, 2**31, 2**32 - 1, 2**63,
                       rng.getrandbits(32), rng.getrandbits(64)))


# @what is an attribute's content: (4 or 8 bytes, low, high), a number of bytes, or a dict (a nest).
def payload_of(rng, what):
    if isinstance(what, dict):
        return options(rng, what)
    if isinstance(what, int):
        return rng.randbytes(what)
    size, low, high = what
    value = near_bounds(rng, low, high) & ((1 << 8 * size) - 1)
    return value.to_bytes(size, "little")


def spoil(rng, data):
    """Make an attribute malformed: truncated, too long, or with a wrong length field."""
    way = rng.randrange(4)
    if way == 0:
        return data[:rng.randrange(len(data) + 1)]
    if way == 1:
        return data + rng.randbytes(rng.randrange(1, 40))
    at = rng.randrange(len(data)) if data else 0
    if way == 2:
        return data[:at] + rng.randbytes(1) + data[at + 1:]
    return struct.pack("=H", rng.choice((0, 3, 5, len(data) + 1, 0xffff))) + data[2:]


def options(rng, spec, most=6):
    """Return some attributes of a spec {type: content}; a few have other types, are repeated or
    malformed."""
    out = b""
    for _ in range(rng.randrange(most + 1)):
        kind = rng.choice(list(spec))
        payload = payload_of(rng, spec[kind])
        chance = rng.random()
        if chance < 0.04:
            payload = spoil(rng, payload)
        if 0.04 <= chance < 0.06:
            kind = rng.randrange(64)
        if 0.06 <= chance < 0.1:
            kind |= NLA_F_NESTED
        one = attr(kind, payload)
        if 0.1 <= chance < 0.12:
            one = spoil(rng, one)
        out += one * (2 if chance > 0.98 else 1)
    return out


class Link:
    """A netlink socket with a short timeout."""

    def __init__(self, protocol=NETLINK_ROUTE):
        self.sock = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, protocol)
        self.sock.settimeout(1)
        self.sequence = 0

    def message(self, kind, flags, body):
        self.sequence += 1
        return struct.pack("=IHHII", 16 + len(body), kind, flags | NLM_F_REQUEST, self.sequence, 0) + body

    def ask(self, kind, flags, body):
        """Send a request. Return the kernel's error number, 0 or negative."""
        return self.send(self.message(kind, flags | NLM_F_ACK, body))

    def send(self, message):
        try:
            self.sock.send(message)
            while True:
                for number, answer, body in messages(self.sock.recv(1 << 18)):
                    if number == self.sequence and answer == NLMSG_ERROR:
                        return struct.unpack_from("=i", body)[0]
        except OSError as error:
            return -(error.errno or errno.ETIMEDOUT)

    def dump(self, kind, body):
        """Return the bodies of a dump, as many as arrive."""
        found = []
        try:
            self.sock.send(self.message(kind, NLM_F_DUMP, body))
            while True:
                for number, answer, one in messages(self.sock.recv(1 << 18)):
                    if number == self.sequence and answer in (NLMSG_DONE, NLMSG_ERROR):
                        return found
                    if number == self.sequence:
                        found.append(one)
        except OSError:
            return found


def messages(data):
    """Return (sequence, type, body) of each message."""
    while len(data) >= 16:
        length, kind, _, number = struct.unpack_from("=IHHI", data)
        if length < 16:
            return
        yield number, kind, data[16:length]
        data = data[(length + 3) & ~3:]
