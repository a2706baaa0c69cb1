#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""False feedback on real connections: a wire changes what the receiver's carrier returns. Fields
get random values, are replayed, reordered, contradict earlier ones, or lack a valid proof. The
pacing rate must stay at or below the rate of the sender's device, and the window within two RTTs
of it. If the device reports no rate, the window may grow by the factor GROWTH_MAX per round trip
at most. All bytes must arrive, and the sender must count the feedback that it refuses. Prints TAP.

    a [nic0] ---- script, RTT_S there and back ---- [tap0] b

lying_wire.py NIC [KIB [SEED [SYSTEM ...]]]: NIC is the module speed_nic; KIB the stream's size.

Needs root, all carriers and their congestion controls; changes nothing outside its own network
namespaces.
"""
import dataclasses
import random
import socket
import struct
import sys

import hosts
import int_wire
import relay
import shims
from hosts import Stream, counts, sysctl
from int_stamp import stamp
from shims import ip_bytes, next_of
from xcp_wire import MICRO, MINIMAL, STANDARD, XCP, header as xcp_header

MBIT, RTT_S, STEP_S, LIMIT_S = 100, 0.002, 0.0005, 300
# A stream continues until this many false values were sent, but at most for MORE_S.
ENOUGH, MORE_S, CHUNK = 30, 1, 1 << 14
RATE_BYTES_PS = MBIT * 125000
GROWTH_MAX, LINE_RTTS, WINDOW_MAX = 64, 2, 1 << 20
ETHERNET_BYTES, IPV4, TCP_OPTION = 14, b"\x08\x00", 253
KEPT = 500              # number of regions that are kept for replay

tap = hosts.Tap()


def extreme(rng, bits):
    """Return a random value: limits are as frequent as others, and small ones as large ones."""
    return rng.choice((0, 1, (1 << bits) - 1, 1 << bits - 1, (1 << bits - 1) - 1,
                       rng.getrandbits(bits), rng.getrandbits(bits) >> rng.randrange(bits)))


def option(packet, exid):
    """Return the place of the TCP option with an ExID in a TCP packet: (first, beyond), or None."""
    at = ip_bytes(packet)
    first, beyond = at + 20, at + (packet[at + 12] >> 4) * 4
    while first < beyond and packet[first]:
        size = 1 if packet[first] == 1 else packet[first + 1]
        if packet[first] == TCP_OPTION and struct.unpack_from("!H", packet, first + 2)[0] == exid:
            return first, first + size
        first += max(size, 1)
    return None


class Xcp:
    """The header between IP and TCP. Only TCP's sequence numbers prove it."""
    carrier, taken = "xcp", "in"
    refused = {"any bytes": ("bad_version", "bad_format", "bad_length", "bad_next"),
               "unproven": ("in_bad_seq",)}

    @staticmethod
    def find(packet):
        at = ip_bytes(packet)
        return (at, at + 20) if next_of(packet) == XCP else None

    @staticmethod
    def tcp_at(packet):
        return ip_bytes(packet) + 20

    @staticmethod
    def fastest(_rng, region):
        return region[:16] + struct.pack("!i", 2**31 - 1)

    @staticmethod
    def slowest(_rng, region):
        return region[:16] + struct.pack("!i", -2**31)

    @staticmethod
    def any_value(rng, _region):
        signed = [extreme(rng, 32) - 2**31 for _ in range(2)]
        return xcp_header(rng.choice((STANDARD, MINIMAL, MICRO)), extreme(rng, 32), extreme(rng, 32),
                          *signed, flags=rng.randrange(256))

    @staticmethod
    def any_bytes(rng, region):
        """Change a byte that identifies the header. A refused header is lost with its ACK."""
        at = rng.randrange(4)
        return region[:at] + rng.randbytes(1) + region[at + 1:]

    @staticmethod
    def unproven(_rng, region):
        """Return a segment that is not in the window, see Liar."""
        return Xcp.fastest(None, region)


class Probes:
    """Answers to probes: separate segments, which a cookie and an id prove."""
    carrier, taken = "int", "in_answer"
    refused = {"any bytes": ("bad_slots", "bad_type", "bad_length"), "replayed": ("in_old",),
               "reordered": ("in_old",), "unproven": ("in_bad_cookie", "in_forged")}

    @staticmethod
    def find(packet):
        at = ip_bytes(packet)
        end = at + (packet[at + 12] >> 4) * 4
        found = int_wire.mark_of(packet) == int_wire.ECHO and end < len(packet)
        return (end, len(packet)) if found else None

    @staticmethod
    def answer(region, kind, records, wnd, t_ns, hops=1, **fields):
        m = int_wire.Message(region)
        fields = {"number": m.id, "cookie": m.cookie, "seq": m.seq, **fields}
        return int_wire.message(kind=kind, wnd=wnd, t_ns=t_ns, **fields) + \
            int_wire.header(int_wire.ECHO, m.slots, hops=hops, records=records[:m.slots], following=0)

    @classmethod
    def fastest(cls, rng, region):
        """An idle port of the highest speed; alternately a ratio of 0 or the largest window."""
        kind = rng.choice((int_wire.RECORDS, int_wire.RECORDS, int_wire.RATIO, int_wire.WINDOW))
        number = int_wire.Message(region).id
        return cls.answer(region, kind, [int_wire.record(12, number * 1000, 0, 0)],
                          0 if kind == int_wire.RATIO else 2**32 - 1, 2**32 - 1)

    @classmethod
    def slowest(cls, rng, region):
        kind = rng.choice((int_wire.RECORDS, int_wire.RECORDS, int_wire.RATIO, int_wire.WINDOW))
        number = int_wire.Message(region).id
        return cls.answer(region, kind, [int_wire.record(1, number * 1000, number << 16, 65535)],
                          2**32 - 1 if kind == int_wire.RATIO else 0, 2**32 - 1)

    @classmethod
    def any_value(cls, rng, region):
        return cls.answer(region, rng.randrange(5), [extreme(rng, 64) for _ in range(15)],
                          extreme(rng, 32), extreme(rng, 32), rng.randrange(16), seq=extreme(rng, 32),
                          flows=extreme(rng, 16), tag=extreme(rng, 64))

    @staticmethod
    def any_bytes(rng, region):
        """Change a byte behind those that identify the answer."""
        return region[:16] + rng.randbytes(len(region) - 16)

    @classmethod
    def unproven(cls, rng, region):
        wrong = rng.choice(({"cookie": rng.getrandbits(64)},
                            {"number": (int_wire.Message(region).id + 9999) % 2**32}))
        return cls.answer(region, int_wire.RECORDS, [int_wire.record(12)], 2**32 - 1, 2**32 - 1, **wrong)


class Summary:
    """A hop's record in a TCP option, proved by TCP's sequence numbers and 12 bits of id."""
    carrier, taken = "int", "in_option"
    refused = {"any bytes": ("in_old", "in_forged"), "replayed": ("in_old",), "reordered": ("in_old",),
               "unproven": ("in_no_flow",)}
    exid = 0x4849

    @classmethod
    def find(cls, packet):
        return option(packet, cls.exid) if next_of(packet) == socket.IPPROTO_TCP else None

    @staticmethod
    def summary(region, hops, index, record):
        ident, = struct.unpack_from("!H", region, 4)
        return region[:4] + struct.pack("!HHQ", ident & 0xfff0 | index, hops << 12, record)

    @classmethod
    def fastest(cls, _rng, region):
        return cls.summary(region, 1, 0, int_wire.record(12, region[5] << 8, 0, 0))

    @classmethod
    def slowest(cls, _rng, region):
        return cls.summary(region, 1, 0, int_wire.record(1, region[5] << 8, region[5] << 12, 65535))

    @classmethod
    def any_value(cls, rng, region):
        return cls.summary(region, rng.randrange(16), rng.randrange(16), extreme(rng, 64))

    @staticmethod
    def any_bytes(rng, region):
        return region[:4] + rng.randbytes(12)

    unproven = fastest


class Reflection:
    """A signal in a TCP option, compact or expanded, proved by TCP's sequence numbers."""
    carrier, taken = "csig", "in_value"
    refused = {"any value": ("in_type",), "any bytes": ("bad_length",), "unproven": ("in_forged",)}
    exid = 0x4353
    ABW, ABW_C, PD = range(3)

    @classmethod
    def find(cls, packet):
        found = option(packet, cls.exid) if next_of(packet) == socket.IPPROTO_TCP else None
        return found if found and found[1] - found[0] > 4 else None

    @staticmethod
    def signal(region, kind, value, locator):
        """@value: 20 bits; a compact signal has the upper 5 of them."""
        if len(region) == 6:
            return region[:4] + struct.pack("!H", kind % 8 << 13 | value >> 15 << 7 | locator & 127)
        return region[:4] + struct.pack("!HI", locator, kind % 16 << 28 | value << 8)

    @classmethod
    def fastest(cls, rng, region):
        """Any value except the one that means that no hop wrote one."""
        kind = rng.randrange(3)
        return cls.signal(region, kind, 0 if kind == cls.PD else 30 << 15, 42)

    @classmethod
    def slowest(cls, rng, region):
        kind = rng.randrange(3)
        return cls.signal(region, kind, (1 << 20) - 1 if kind == cls.PD else 0, 42)

    @classmethod
    def any_value(cls, rng, region):
        return cls.signal(region, rng.randrange(16), extreme(rng, 20), extreme(rng, 16))

    @staticmethod
    def any_bytes(rng, region):
        """Change a byte behind those that identify the option, including its length."""
        return region[:1] + bytes([rng.randrange(2, 12)]) + region[2:4] + rng.randbytes(len(region) - 4)

    unproven = fastest


@dataclasses.dataclass
class System:
    """A congestion control, the feedback of its carrier, and the sysctls of both hosts."""
    cc: str
    form: type
    knobs: dict


SYSTEMS = {
    "xcp": System("xcp", Xcp, {}),
    "hpccpp": System("hpccpp", Probes, {}),
    "hpccpp inband": System("hpccpp", Summary, {"int_forward": 1, "int_reverse": 1}),
    "csig": System("csig", Reflection, {"csig_form": 1}),
    "csig expanded": System("csig", Reflection, {"csig_form": 2}),
}
DEFAULTS = {"int_forward": 0, "int_reverse": 0, "csig_form": 1, "csig": 2, "csig_ports": "*",
            "xcp_unsupported_s": 0, "int_unsupported_s": 0, "csig_unsupported_s": 0}
LIES = ("fastest", "slowest", "contradicting", "any value", "any bytes", "replayed", "reordered",
        "unproven")


class Liar:
    """Replaces frames by false ones, as the function rewrite() of a relay."""

    def __init__(self, form, lie, seed):
        self.form, self.lie, self.rng = form, lie, random.Random(f"{form.__name__} {lie} {seed}")
        self.lied, self.kept = 0, []

    def __call__(self, frame, from_a):
        packet, where = frame[ETHERNET_BYTES:], None
        if frame[12:14] == IPV4:
            where = None if from_a else self.form.find(packet)
            packet = stamp(packet) if from_a else packet
        if not where:
            return [(0, frame[:ETHERNET_BYTES] + packet)]
        self.lied += 1
        region = packet[where[0]:where[1]]
        self.kept = [*self.kept[1 - KEPT:], region]
        return [(late_s, frame[:ETHERNET_BYTES] + one)
                for late_s, one in self.tell(packet, where, region)]

    def tell(self, packet, where, region):
        """Return [(additional delay, packet)]."""
        if self.lie == "reordered":
            return [(self.rng.choice((0, 0, 0.5, 3)) * RTT_S * self.rng.random(), packet)]
        if self.lie == "replayed":
            old = [x for x in self.kept if len(x) == len(region)]
            return [(0, packet), (RTT_S * self.rng.random(), packet),
                    (0, self.put(packet, where, self.rng.choice(old)))]
        if self.lie == "unproven":
            return [(0, packet), (0, self.misplace(packet, where, region))]
        lie = self.rng.choice(("fastest", "slowest")) if self.lie == "contradicting" else self.lie
        if lie == "any bytes" and self.rng.randrange(8):
            lie = "any value"
        return [(0, self.put(packet, where, self.make(lie, region)))]

    def make(self, lie, region):
        return getattr(self.form, lie.replace(" ", "_"))(self.rng, region)

    def misplace(self, packet, where, region):
        """Return a second, forged packet. Its sequence number is wrong; an answer to a probe has
        its own proof, and that is wrong instead."""
        packet = self.put(packet, where, self.make("unproven", region))
        if self.form is Probes:
            return packet
        at = getattr(self.form, "tcp_at", ip_bytes)(packet)
        seq = (struct.unpack_from("!I", packet, at + 4)[0] + 2**30) % 2**32
        return shims.sum_tcp(packet[:at + 4] + struct.pack("!I", seq) + packet[at + 8:], at)

    def put(self, packet, where, region):
        packet = packet[:where[0]] + region + packet[where[1]:]
        return packet if next_of(packet) == XCP else shims.sum_tcp(packet)


class Sender:
    """A connection from a to b, and the samples of its TCP_INFO."""

    def __init__(self, wire, system):
        listener = hosts.tcp("b", 4, "cubic")
        listener.bind(("0.0.0.0", 0))
        listener.listen()
        self.wire, self.sock, self.carrier = wire, hosts.tcp("a", 4, system.cc), system.form.carrier
        self.before = counts("a", self.carrier)
        self.sock.setblocking(False)
        self.sock.connect_ex((relay.ADDRESS["b"], listener.getsockname()[1]))
        wire.run(5 * RTT_S)
        self.other = listener.accept()[0]
        self.other.setblocking(False)
        listener.close()
        self.samples = []       # s, packets, bytes/s, longest RTT so far

    def info(self, form, at):
        info = self.sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 112)
        return struct.unpack_from(form, info, at)[0]

    def counted(self):
        """Return the counters that have changed."""
        return {k: v for k, v in hosts.since("a", self.before, self.carrier).items() if v}

    def has_fallen_back(self):
        """Return True if the connection has fallen back to Reno, which ignores feedback."""
        return not {"peer_unsupported", "peer_given_up"}.isdisjoint(self.counted())

    def sample(self, now_s):
        pace, longest_us = self.info("Q", 104), self.samples[-1][3] if self.samples else 0
        # All ones means that no pacing rate is set yet.
        self.samples.append((now_s, self.info("I", 80), 0 if pace == 2**64 - 1 else pace,
                             max(self.info("I", 68), longest_us)))

    def transfer(self, total, has_enough):
        """Send @total bytes, and more until has_enough(). Return True if all bytes arrive."""
        stream, pushing, now_s = Stream(self.sock, self.other, CHUNK), True, 0
        while not stream.over and now_s < LIMIT_S:
            more = total > CHUNK or (now_s < MORE_S and not has_enough())
            if pushing and more and stream.left < CHUNK:
                stream.left += CHUNK
                total -= CHUNK
            pushing = pushing and stream.push(more)
            self.wire.run(STEP_S)
            now_s += STEP_S
            stream.pull()
            if not self.has_fallen_back():
                self.sample(now_s)
        return stream.exact()

    def close(self):
        self.wire.rewrite = None
        self.sock.close()
        self.other.close()
        self.wire.run(5 * RTT_S)


def above_device(sender):
    """Return the samples above the limit of the device's rate."""
    mss = sender.info("I", 16)
    return [s for s in sender.samples if s[2] > RATE_BYTES_PS or
            s[1] > max(10, LINE_RTTS * RATE_BYTES_PS * s[3] / 1e6 / mss + 2)]


def above_growth(sender):
    """Return the samples whose window is more than GROWTH_MAX times the largest one of a round trip
    ago, or whose pacing rate is more than two such windows per round trip."""
    found, largest, at, mss = [], 10, 0, sender.info("I", 16)
    for now_s, cwnd, pace, rtt_us in sender.samples:
        while sender.samples[at][0] < now_s - 0.9 * RTT_S:
            largest = max(largest, sender.samples[at][1])
            at += 1
        # Slow start adds the acknowledged packets.
        most = min(largest * (GROWTH_MAX + 1), WINDOW_MAX)
        if cwnd > most or pace > 2 * most * mss / RTT_S:
            found.append((now_s, cwnd, pace, rtt_us))
    return found


def attack(wire, name, lie, total, seed, known):
    system = SYSTEMS[name]
    sender, liar = Sender(wire, system), Liar(system.form, lie, seed)
    wire.rewrite = liar
    whole = sender.transfer(total, lambda: liar.lied >= ENOUGH)
    got, above = sender.counted(), (above_device if known else above_growth)(sender)
    paces, windows = ([s[n] for s in sender.samples] for n in (2, 1))
    sender.close()
    what = f"{name}, {lie}, a device of {f'{MBIT} Mbit/s' if known else 'no known rate'}"
    tap.claim(f"{what}: all arrives, lies are taken",
              whole and liar.lied > 10 and got.get(system.form.taken, 0) > 5,
              f"{liar.lied} lies, {len(sender.samples)} samples, up to {max(windows, default=0)} packets, "
              f"{max(paces, default=0) * 8e-6:.1f} Mbit/s, {got}")
    tap.claim(f"{what}: pace and window in bounds", not above, f"{above[:3]}" if above else "")
    causes = system.form.refused.get(lie)
    if causes:
        tap.claim(f"{what}: what is refused is counted by its cause", any(got.get(k) for k in causes))


def report_rate(mbit, wire):
    """Set the rate that the NIC reports from now on."""
    hosts.write("/sys/module/speed_nic/parameters/mbit", mbit)
    hosts.ip("-n a link set nic0 down")
    relay.start("a", "nic0")
    wire.run(5 * RTT_S)


def main():
    total = int(sys.argv[2]) << 10 if len(sys.argv) > 2 else 1 << 19
    seed = sys.argv[3] if len(sys.argv) > 3 else 1
    hosts.run(f"insmod {sys.argv[1]} mbit={MBIT}")
    wire = relay.Relay(RTT_S / 2, nic=True)
    for known in (True, False):
        report_rate(MBIT if known else -1, wire)
        for name in sys.argv[4:] or SYSTEMS:
            for knob, value in {**DEFAULTS, **SYSTEMS[name].knobs}.items():
                for host in ("a", "b"):
                    sysctl(host, f"hopcc/{knob}", value)
            for lie in LIES:
                attack(wire, name, lie, total, seed, known)
    wire.close()
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
