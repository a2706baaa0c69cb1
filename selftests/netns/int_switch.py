# SPDX-License-Identifier: GPL-2.0
"""A switch of another vendor, by a script: a port with a queue, which inserts IFA 2.0 metadata as a
Trident3 does, with a counter of sent bytes in the opaque word.

Or it inserts INT-MD 2.1 with the utilisation of the last WINDOW_S, or fills in an IOAM trace as a router
with stock Linux does, with the speed of the port as a code in the egress ID.

    a 192.0.2.1 [tap0] ---- script: a queue, MBIT ---- [tap0] 192.0.2.2 b
"""
import collections
import select
import struct
import time

import hosts
import relay
import shims
from hosts import Stream

IFA, DSCP_INTMD, INT_MD_BITS = 253, 27, 0xd500
ETHERNET_BYTES, MBIT, DELAY_S, LIMIT_BYTES = 14, 100, 500e-6, 1 << 18
DEVICE, PORT = 77, 3
BYTES_PS, WINDOW_S = MBIT * 125000, 0.002
ADDRESS = {4: "192.0.2.2", 6: "2001:db8::2"}
ETHERTYPES = (b"\x08\x00", b"\x86\xdd")
# The IOAM option follows two bytes of padding. Offsets are from the IPv6 header. The lengths are NodeLen
# (5 bits, words), flags (4) and RemainingLen (7, words).
IOAM, IOAM_AT, IOAM_LENGTHS_AT, IOAM_DATA_AT = 0x31, 44, 50, 56
IOAM_NODE_WORDS, IOAM_LEFT, IOAM_OVERFLOW, IOAM_SPEED = 5, 0x7f, 0x400, 2


def is_ifa(packet):
    return shims.next_of(packet) == IFA


def is_int_md(packet):
    """Return True for a packet with INT-MD in front of its message or data."""
    at = shims.ip_bytes(packet)
    if shims.next_of(packet) != 6 or shims.dscp_of(packet) != DSCP_INTMD:
        return False
    at += (packet[at + 12] >> 4) * 4
    return len(packet) > at + 16 and packet[at] >> 4 == 1 and packet[at + 4] >> 4 == 2 and \
        struct.unpack_from("!H", packet, at + 8)[0] == INT_MD_BITS


def is_ioam(packet):
    """Return True for a packet with an IOAM trace."""
    return packet[0] >> 4 == 6 and shims.next_of(packet) == 0 and packet[IOAM_AT] == IOAM


class Switch(relay.Relay):
    """lie(values) may change what is reported: a dict, see values(). hidden_s is a delay that is not
    reported. mangle(frame) returns frames to send in front of one. hops is the number of hops that the
    switch reports as.
    """

    def __init__(self, flags=0):
        super().__init__(DELAY_S, flags=flags)
        self.free_s, self.sent_bytes, self.lie, self.stamped = 0.0, 0, None, 0
        self.hidden_s, self.mangle, self.hops = 0.0, None, 1
        self.rewrite, self.window = self.forward, collections.deque()
        hosts.ip("""
            -n a addr add 2001:db8::1/64 dev tap0 nodad
            -n b addr add 2001:db8::2/64 dev tap0 nodad""")
        self.run(3)

    def forward(self, frame, from_a):
        if not from_a:
            return [(0, frame)]
        now_s = time.monotonic()
        wait_s = max(0.0, self.free_s - now_s)
        if wait_s * BYTES_PS > LIMIT_BYTES:
            return []
        if frame[12:14] in ETHERTYPES:
            frame = frame[:ETHERNET_BYTES] + self.stamp(frame[ETHERNET_BYTES:], wait_s, now_s)
        self.free_s = now_s + wait_s + len(frame) / BYTES_PS
        self.sent_bytes += len(frame)
        self.window.append((self.free_s, len(frame)))
        late_s = self.free_s - now_s + self.hidden_s
        return [(late_s, one) for one in [*(self.mangle(frame) if self.mangle else ()), frame]]

    def stamp(self, packet, wait_s, now_s):
        """Return the packet, with the telemetry of this switch if it is a probe that requests some."""
        for is_one, write in ((is_ifa, self.write_ifa), (is_int_md, self.write_int_md),
                              (is_ioam, self.write_ioam)):
            if is_one(packet):
                self.stamped += 1
                values = self.values(wait_s, now_s)
                return write(packet, self.lie(values) if self.lie else values)
        return packet

    def values(self, wait_s, now_s):
        """Return the values for a packet that waits for wait_s; each format has fields for some of them."""
        queue = int(wait_s * BYTES_PS)
        # tx is what has left the port until now.
        return {"queue": queue, "tx": self.sent_bytes - queue, "ns": int(now_s * 1e9),
                "residence": int(wait_s * 1e9), "device": DEVICE, "port": PORT, "used": self.used(now_s)}

    def used(self, now_s):
        """Return the utilisation of the port in the last WINDOW_S, in parts per million."""
        while self.window and self.window[0][0] < now_s - WINDOW_S:
            self.window.popleft()
        sent = sum(size for at_s, size in self.window if at_s <= now_s)
        return min(10 ** 6, int(sent / (WINDOW_S * BYTES_PS) * 1e6))

    def write_ifa(self, packet, values):
        """Insert the metadata in front of that of earlier hops, up to the maximum length."""
        at = shims.ip_bytes(packet) + 4
        most = packet[at - 1]
        at += (packet[at + 12] >> 4) * 4
        seconds, ns = divmod(values["ns"], 10 ** 9)
        hop = struct.pack("!8I", values["device"] << 8 | 63, seconds & 0xfffff, values["port"] << 16 | 1, ns,
                          values["residence"] & 0xffffffff, values["tx"] & 0xffffffff, values["queue"], 0)
        hops = min(self.hops, (most - packet[at + 3]) * 4 // len(hop))
        counted = packet[at:at + 3] + bytes([packet[at + 3] + hops * len(hop) // 4])
        return shims.finish(packet[:at] + counted + hops * hop + packet[at + 4:])

    def write_int_md(self, packet, values):
        """Insert node, ports, queue, egress time and utilisation, as `hops` hops would, or the flag that
        one had no room; update TCP's checksum.
        """
        at = shims.ip_bytes(packet)
        at += (packet[at + 12] >> 4) * 4
        hop = struct.pack("!IHHIQI", values["device"], 1, values["port"], min(values["queue"], 0xffffff),
                          values["ns"] + values["residence"], values["used"])
        hops = min(self.hops, packet[at + 7])
        shim = bytearray(packet[at:at + 16])
        shim[1] += hops * len(hop) // 4
        shim[4] |= 4 if hops < self.hops else 0
        shim[7] -= hops
        return shims.sum_tcp(shims.finish(packet[:at] + bytes(shim) + hops * hop + packet[at + 16:]))

    def write_ioam(self, packet, values):
        """Fill in node, ports, time and queue, as `hops` hops would, or the flag that one had no room."""
        seconds, ns = divmod(values["ns"], 10 ** 9)
        hop = struct.pack("!5I", 63 << 24 | values["device"], 1 << 16 | IOAM_SPEED << 12 | values["port"],
                          seconds, ns // 1000, values["queue"])
        lengths = struct.unpack_from("!H", packet, IOAM_LENGTHS_AT)[0]
        hops = min(self.hops, (lengths & IOAM_LEFT) // IOAM_NODE_WORDS)
        lengths -= hops * IOAM_NODE_WORDS
        end = IOAM_DATA_AT + (lengths & IOAM_LEFT) * 4
        lengths |= IOAM_OVERFLOW if hops < self.hops else 0
        return packet[:IOAM_LENGTHS_AT] + struct.pack("!H", lengths) + packet[IOAM_LENGTHS_AT + 2:end] + \
            hops * hop + packet[end + hops * len(hop):]

    def source(self, version, cc):
        """Return a socket at a."""
        return hosts.tcp("a", version, cc)

    def connect(self, version, cc):
        listener = hosts.tcp("b", version, "cubic")
        listener.bind(("", 0))
        listener.listen()
        sock = self.source(version, cc)
        sock.setblocking(False)
        sock.connect_ex((ADDRESS[version], listener.getsockname()[1]))
        self.run(0.05)
        # Only run() passes the handshake's packets: accept() would wait for ever.
        while not select.select([listener], [], [], 0)[0]:
            self.run(0.05)
        other = listener.accept()[0]
        listener.close()
        other.setblocking(False)
        return sock, other

    def transfer(self, pairs, total, meanwhile, step_s=0.0005, limit_s=20):
        """Send total bytes on each pair, and call meanwhile() each step_s. Return True if exact."""
        streams = [Stream(*pair, total) for pair in pairs]
        sinks = {s.sink: s for s in streams}
        writing, reading = list(streams), list(sinks)
        end = hosts.limit_clock() + limit_s

        def pull(sock):
            # A socket that is over stays readable.
            if not sinks[sock].pull():
                reading.remove(sock)

        while reading and hosts.limit_clock() < end:
            writing = [s for s in writing if s.push()]
            self.run(step_s, reading, pull)
            meanwhile(sum(s.received for s in streams))
        return all(s.exact() for s in streams)
