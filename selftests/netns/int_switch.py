# SPDX-License-Identifier: GPL-2.0
"""A switch of another vendor, by a script: a port with a queue, which inserts IFA 2.0 metadata as a
Trident3 does, with a counter of sent bytes in the opaque word.

Or it inserts INT-MD 2.1 with the utilisation of the last WINDOW_S.

    a 192.0.2.1 [tap0] ---- script: a queue, MBIT ---- [tap0] 192.0.2.2 b
"""
import collections
import struct
import time

import hosts
import relay
import shims
from hosts import Stream

IFA, DSCP_PROBE, MAGIC, INT_MD_BITS = 253, 27, b"hINT", 0xd500
ETHERNET_BYTES, MBIT, DELAY_S, LIMIT_BYTES = 14, 100, 500e-6, 1 << 18
DEVICE, PORT = 77, 3
BYTES_PS, WINDOW_S = MBIT * 125000, 0.002
ADDRESS = {4: "192.0.2.2", 6: "2001:db8::2"}
ETHERTYPES = (b"\x08\x00", b"\x86\xdd")


def is_int_md(packet):
    """Return True for a probe with INT-MD in front of its message."""
    at = shims.ip_bytes(packet)
    if shims.next_of(packet) != 6 or shims.dscp_of(packet) != DSCP_PROBE:
        return False
    at += (packet[at + 12] >> 4) * 4
    return len(packet) > at + 16 and packet[at:at + 4] != MAGIC and \
        struct.unpack_from("!H", packet, at + 8)[0] == INT_MD_BITS


class Switch(relay.Relay):
    """lie(values) may change what is reported: a dict with queue, tx, ns, residence, device. hidden_s
    is a delay that is not reported. mangle(frame) returns frames to send in front of one.
    """

    def __init__(self):
        super().__init__(DELAY_S)
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
        packet = frame[ETHERNET_BYTES:]
        if frame[12:14] in ETHERTYPES and shims.next_of(packet) == IFA:
            frame = frame[:ETHERNET_BYTES] + self.stamp(packet, wait_s, now_s)
        elif frame[12:14] in ETHERTYPES and is_int_md(packet):
            frame = frame[:ETHERNET_BYTES] + self.stamp_int_md(packet, wait_s, now_s)
        self.free_s = now_s + wait_s + len(frame) / BYTES_PS
        self.sent_bytes += len(frame)
        self.window.append((self.free_s, len(frame)))
        late_s = self.free_s - now_s + self.hidden_s
        return [(late_s, one) for one in [*(self.mangle(frame) if self.mangle else ()), frame]]

    def stamp(self, packet, wait_s, now_s):
        """Insert the metadata of this hop in front of that of earlier hops."""
        at = shims.ip_bytes(packet) + 4
        at += (packet[at + 12] >> 4) * 4
        # What has left the port until now.
        values = {"queue": int(wait_s * BYTES_PS), "tx": self.sent_bytes - int(wait_s * BYTES_PS),
                  "ns": int(now_s * 1e9), "residence": int(wait_s * 1e9), "device": DEVICE}
        if self.lie:
            values = self.lie(values)
        seconds, ns = divmod(values["ns"], 10 ** 9)
        hop = struct.pack("!8I", values["device"] << 8 | 63, seconds & 0xfffff, PORT << 16 | 1, ns,
                          values["residence"] & 0xffffffff, values["tx"] & 0xffffffff,
                          values["queue"] & 0xffffffff, 0)
        self.stamped += 1
        counted = packet[at:at + 3] + bytes([packet[at + 3] + len(hop) // 4])
        return shims.finish(packet[:at] + counted + hop + packet[at + 4:])

    def used(self, now_s):
        """Return the utilisation of the port in the last WINDOW_S, in parts per million."""
        while self.window and self.window[0][0] < now_s - WINDOW_S:
            self.window.popleft()
        sent = sum(size for at_s, size in self.window if at_s <= now_s)
        return min(10 ** 6, int(sent / (WINDOW_S * BYTES_PS) * 1e6))

    def stamp_int_md(self, packet, wait_s, now_s):
        """Insert node, ports, queue, egress time and utilisation, as `hops` hops would, or the flag that
        one had no room; update TCP's checksum.
        """
        at = shims.ip_bytes(packet)
        at += (packet[at + 12] >> 4) * 4
        hop = struct.pack("!IHHIQI", DEVICE, 1, PORT, min(int(wait_s * BYTES_PS), 0xffffff),
                          int((now_s + wait_s) * 1e9), self.used(now_s))
        self.stamped += 1
        hops = min(self.hops, packet[at + 7])
        shim = bytearray(packet[at:at + 16])
        shim[1] += hops * len(hop) // 4
        shim[4] |= 4 if hops < self.hops else 0
        shim[7] -= hops
        return shims.sum_tcp(shims.finish(packet[:at] + bytes(shim) + hops * hop + packet[at + 16:]))

    def connect(self, version, cc):
        listener = hosts.tcp("b", version, "cubic")
        listener.bind(("", 0))
        listener.listen()
        sock = hosts.tcp("a", version, cc)
        sock.setblocking(False)
        sock.connect_ex((ADDRESS[version], listener.getsockname()[1]))
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
        end = time.monotonic() + limit_s

        def pull(sock):
            # A socket that is over stays readable.
            if not sinks[sock].pull():
                reading.remove(sock)

        while reading and time.monotonic() < end:
            writing = [s for s in writing if s.push()]
            self.run(step_s, reading, pull)
            meanwhile(sum(s.received for s in streams))
        return all(s.exact() for s in streams)
