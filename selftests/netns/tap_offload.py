#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""GSO packets with our headers from a tap, whose user chooses where the checksum starts: in front of
the IP header, in it, at our header, at TCP. A router must take TCP's place from the headers: the
check of segments against the MTU is right for each start, and the kernel does not complain (the lab
fails a guest whose kernel does). The same packets to the host itself. Prints TAP.

    script 192.0.2.2, 2001:db8::2 ---- [in0] r [out0] ---- script 192.0.2.1, 2001:db8::1

Needs root; changes nothing outside its own network namespace.
"""
import errno
import os
import select
import socket
import struct
import sys

import hosts
import int_wire
import relay
import shims
import wire
import xcp_wire
from wire import ACK, SYN, Packet

VNET_BYTES, IFF_VNET_HDR, NEEDS_CSUM = 10, 0x4000, 1
GSO_NONE, GSO_TCP, GSO_UDP = 0, {4: 1, 6: 4}, 3
IFA, HOPOPTS = 253, 0
ETH_BYTES, TCP_BYTES, TCP_CHECK, MTU_BYTES, SEGMENTS = 14, 20, 16, 1500, 3
ETHER_TYPE = {4: b"\x08\x00", 6: b"\x86\xdd"}
TOO_BIG = {4: (3, 4), 6: (2, 0)}
NO_PLACE = 65535
OPEN = 5080
HOST, SCRIPT = "02:00:00:00:00:0a", "02:00:00:00:00:0b"

tap = hosts.Tap()


def in_options(data):
    """Put an empty hop-by-hop header behind an IPv6 header."""
    return shims.finish(shims.set_next(data[:40], HOPOPTS) + bytes([data[6], 0, 1, 4, 0, 0, 0, 0]) + data[40:])


# Name, function that adds a valid header to a TCP packet.
FORMS = [
    ("below 63", lambda data: shims.insert(data, xcp_wire.XCP, xcp_wire.header())),
    ("below 254", lambda data: shims.insert(data, int_wire.INT, int_wire.data_shim(1, 0, slots=2))),
]
# Where TCP is not what follows our header, or our header is refused: no claim about the MTU.
ODD_FORMS = [
    ("below 63, refused", lambda data: shims.insert(data, xcp_wire.XCP, xcp_wire.header(version=9))),
    ("below 63, then UDP", lambda data: shims.insert(data, xcp_wire.XCP, xcp_wire.header(following=17))),
    ("below 254, refused", lambda data: shims.insert(data, int_wire.INT, int_wire.header(9) + bytes(8))),
    ("below 254, then UDP", lambda data: shims.insert(data, int_wire.INT, int_wire.data_shim(1, 0, following=17))),
    ("below 253", lambda data: shims.insert(data, IFA, struct.pack("!BBBB", 0x20, socket.IPPROTO_TCP, 0, 64))),
]


class Router:
    """r, and the script's ends of its two devices."""

    def __init__(self):
        hosts.build("r")
        self.inside, self.out = relay.make_tap("r", "in0", IFF_VNET_HDR), relay.make_tap("r", "out0")
        self.local = False
        for path in ("ipv4/icmp_ratelimit", "ipv6/icmp/ratelimit"):
            hosts.sysctl("r", path, 0)
        lines = [f"link set {device} address {HOST} mtu {MTU_BYTES} txqueuelen 1000 up" for device in ("in0", "out0")]
        lines += ["addr add 203.0.113.1/32 dev in0", "addr add 2001:db8:9::1/128 dev in0 nodad"]
        for device, ends in (("in0", wire.SCRIPT), ("out0", wire.STACK)):
            for end in ends.values():
                lines += [f"route add {end} dev {device}", f"neigh add {end} lladdr {SCRIPT} dev {device}"]
        hosts.ip("".join(f"-n r {line}\n" for line in lines))

    def make_local(self):
        """The packets are then for the host itself."""
        hosts.ip("-n r addr add 192.0.2.1/32 dev lo\n-n r addr add 2001:db8::1/128 dev lo nodad")

    def send(self, version, data, gso=GSO_NONE, gso_bytes=0, start=None, offset=TCP_CHECK):
        """Return True if the tap took the packet; start: of the checksum, from the frame's."""
        prefix = struct.pack("<BBHHHH", 0 if start is None else NEEDS_CSUM, gso, 0, gso_bytes, start or 0, offset)
        frame = bytes.fromhex((HOST + SCRIPT).replace(":", "")) + ETHER_TYPE[version] + data
        try:
            os.write(self.inside, prefix + frame)
        except OSError as error:
            if error.errno != errno.EINVAL:
                raise
            return False
        return True

    def read(self, fd, skip, wait_ms=5):
        """Return the IP packets that the host sent on a device."""
        packets = []
        while select.select([fd], [], [], wait_ms / 1000)[0]:
            frame = os.read(fd, 1 << 17)[skip:]
            if frame[12:14] in ETHER_TYPE.values():
                packets.append(frame[ETH_BYTES:])
        return packets

    def answers(self):
        return self.read(self.inside, VNET_BYTES)

    def forwarded(self, following):
        return [data for data in self.read(self.out, 0) if shims.next_of(data) == following]

    def drain(self):
        return self.answers(), self.read(self.out, 0, 0)


def segment(version, payload, flags=ACK, sport=40000):
    return wire.build(version, Packet(sport, OPEN, 1000, 1000, flags, 0, len(payload)), 65535, b"", payload)


def starts(data, tcp_at):
    """Name and offset of each start of the checksum."""
    ip_end = ETH_BYTES + shims.ip_bytes(data)
    return (("at TCP", ETH_BYTES + tcp_at), ("at the frame", 0), ("at IP", ETH_BYTES), ("in IP", ETH_BYTES + 7),
            ("at our header", ip_end), ("behind TCP", ETH_BYTES + tcp_at + 60), ("nowhere", NO_PLACE))


def too_big(version, packets):
    """Return the number of errors that say so."""
    return sum(shims.next_of(data) == {4: 1, 6: 58}[version] and
               tuple(data[shims.ip_bytes(data):][:2]) == TOO_BIG[version] for data in packets)


def fits(router, version, name, wrap):
    """Segments as long as the MTU pass, and segments of one byte more do not. Where the start is not TCP,
    the stack drops segments later, when it computes their checksums.
    """
    headers = len(wrap(segment(version, b"")))
    tcp_at, payload_bytes = headers - TCP_BYTES, MTU_BYTES - headers
    for more in (0, 1):
        data = wrap(segment(version, bytes(SEGMENTS * (payload_bytes + more))))
        for where, start in starts(data, tcp_at):
            router.drain()
            taken = router.send(version, data, GSO_TCP[version], payload_bytes + more, start)
            got = (taken, len(router.forwarded(shims.next_of(data))), too_big(version, router.answers()))
            right = where == "at TCP"
            want = (start != NO_PLACE, SEGMENTS if right and not more else 0, more if start != NO_PLACE else 0)
            tap.equal(f"IPv{version} {name}, checksum {where}, segments of {MTU_BYTES + more} bytes: "
                      f"{'too big' if more else 'not too big'}", got, want)


def answered(router, version, sport):
    """Return True if the host's listener answers a SYN without any of this."""
    router.drain()
    router.send(version, segment(version, b"", SYN, sport))
    return any((wire.parse(data) or Packet(*[0] * 7)).flags == SYN | ACK for data in router.answers())


def survives(router, version, where):
    """Send each form, with each start and GSO type. What becomes of a forged packet is the stack's affair."""
    sent = 0
    for _, wrap in FORMS + ODD_FORMS:
        for flags in (ACK, SYN):
            packet = wrap(segment(version, bytes(3000), flags))
            for data in (packet, in_options(packet)) if version == 6 else (packet,):
                for _, start in starts(data, len(data) - 3000 - TCP_BYTES):
                    for gso in (GSO_NONE, GSO_TCP[version], GSO_UDP):
                        sent += router.send(version, data, gso, 1000 if gso else 0, start)
                router.drain()
    tap.claim(f"IPv{version} {where}: forged packets were sent", sent > 100, str(sent))


def main():
    for module in ("net_int", "net_xcp", "net_csig_tag"):
        hosts.run(f"modprobe {module}", check=False)
    router = Router()
    for on in (1, 0):
        for carrier in ("int", "xcp"):
            hosts.sysctl("r", f"hopcc/{carrier}", on)
        for version in (4, 6):
            for name, wrap in FORMS:
                fits(router, version, f"{'on' if on else 'off'}, {name}", wrap)
            survives(router, version, "for another host")
    router.make_local()
    for on in (0, 1):
        for carrier in ("int", "xcp"):
            hosts.sysctl("r", f"hopcc/{carrier}", on)
        for version in (4, 6):
            with hosts.inside("r"):
                listener = socket.socket(wire.FAMILY[version], socket.SOCK_STREAM)
            listener.bind((wire.STACK[version], OPEN))
            listener.listen()
            survives(router, version, "for this host")
            tap.claim(f"IPv{version} for this host: it still answers", answered(router, version, 41000 + on))
            listener.close()
    os.close(router.inside)
    os.close(router.out)
    hosts.ip("netns del r")
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
