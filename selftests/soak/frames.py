# SPDX-License-Identifier: GPL-2.0
"""Frames of a tap whose user lies: a random virtio header (start of the checksum, type and size of the
segments) in front of TCP with one of our headers or tags, for the host itself or for the next one.
"""
import fcntl
import os
import socket
import stat
import struct

TUNSETIFF, IFF_TAP, IFF_NO_PI, IFF_VNET_HDR = 0x400454CA, 2, 0x1000, 0x4000
HOST, USER = bytes.fromhex("02000000000a"), bytes.fromhex("02000000000b")
TAP = {socket.AF_INET: ("198.51.100.1", "198.51.100.2", 24), socket.AF_INET6: ("2001:db8:7::1", "2001:db8:7::2", 64)}
IP, IPV6, PORT = 0x800, 0x86dd, 5001
GSO_TYPES = (0, 1, 1, 4, 4, 3, 5, 0x81, 0x84, 6)


def node():
    """Return the path of the character device; make it if the guest has none."""
    path = "/run/soak-tun"
    if os.path.exists("/dev/net/tun"):
        return "/dev/net/tun"
    if not os.path.exists(path):
        os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(10, 200))
        os.chmod(path, 0o666)
    return path


def open_tap(name):
    """Make a tap in this network namespace. Return its file descriptor."""
    fd = os.open(node(), os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(fd, TUNSETIFF, struct.pack("16sH22x", name.encode(), IFF_TAP | IFF_NO_PI | IFF_VNET_HDR))
    return fd


def tcp(rng, size):
    flags = rng.choice((2, 0x10, 0x18, 0x12, 4, 0x11))
    numbers = [rng.choice((0, 1, 1000, 2**32 - 1)) for _ in range(2)]
    return struct.pack("!HHIIBBHHH", rng.randrange(40000, 40004), PORT, *numbers,
                       rng.choice((5, 5, 5, 15, 4)) << 4, flags, 1000, rng.getrandbits(16), 0) + bytes(size)


def wrapped(rng, data):
    """Put one of our headers in front of TCP. Return (protocol, data)."""
    hops = rng.randrange(16)
    telemetry = struct.pack("!BBBBI", 6, 2 + 2 * hops, rng.randrange(4), rng.randrange(256),
                            rng.getrandbits(32)) + rng.randbytes(8 * hops + 12)
    return rng.choice((
        (6, data),
        (63, struct.pack("!BBBB", 0x10 | rng.randrange(4), rng.choice((6, 6, 6, 4, 17)), 20, 0) + rng.randbytes(16) + data),
        (254, telemetry + data),
        (253, struct.pack("!BBBB", 0x20, rng.choice((6, 17)), 0, 64) + data[:20] + rng.randbytes(8) + data[20:])))


def packet(rng, family, to, size):
    protocol, data = wrapped(rng, tcp(rng, size))
    source = TAP[family][1]
    if family == socket.AF_INET6:
        return struct.pack("!IHBB", 6 << 28, len(data), protocol, 64) + socket.inet_pton(family, source) + \
            socket.inet_pton(family, to) + data
    head = struct.pack("!BBHHHBBH", 0x45, rng.randrange(256), 20 + len(data), 0, 0x4000, 64, protocol, 0)
    head += socket.inet_aton(source) + socket.inet_aton(to)
    total = sum(struct.unpack("!10H", head))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return head[:10] + struct.pack("!H", ~total & 0xffff) + head[12:] + data


def tags(rng, ether_type):
    """Return what stands behind the addresses: the type, sometimes behind tags of CSIG or VLANs."""
    plain = struct.pack("!H", ether_type)
    if rng.random() < 0.7:
        return plain
    return rng.choice((b"\x88\xb5" + rng.randbytes(2), b"\x88\xb6" + rng.randbytes(6), b"\x81\x00\x00\x05",
                       b"\x81\x00\x00\x05\x88\xb5" + rng.randbytes(2), b"\x88\xb5")) + plain


def frame(rng, family, to):
    """Return a frame with a header that is sometimes right."""
    size = rng.choice((0, 1, 100, 1400, 4000, 30000, 64000))
    ether_type = {socket.AF_INET: IP, socket.AF_INET6: IPV6}[family]
    data = HOST + USER + tags(rng, ether_type) + packet(rng, family, to, size)
    gso = rng.choice(GSO_TYPES)
    # Where TCP is, if there are no tags and no data is longer than what was added.
    right = max(0, min(65535, len(data) - size - 20))
    start = rng.choice((right, right, 0, 7, 14, 34, 54, right + 60, 65535))
    head = struct.pack("=BBHHHH", rng.choice((0, 1, 1, 2)), gso, rng.choice((0, 54, right & 0xffff, 65535)),
                       rng.choice((0, 1, 8, 536, 1448, 65535)) if gso else 0, start & 0xffff,
                       rng.choice((16, 16, 6, 0, 65535)))
    return head + data[:65535]
