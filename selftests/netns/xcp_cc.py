#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""The requests of tcp_xcp, packet by packet: with a given application rate, after feedback, without
feedback, and after a mark. Prints TAP. Needs root; changes nothing outside its own network
namespace.

    the stack under test [tun0] ---- this script, the other end of TCP
"""
import socket
import sys
import time
import typing

import hosts
import xcp_wire
from shims import counts, negotiation
from wire import ACK, ECE, SYN, Peer
from xcp_wire import ANSWERS, MICRO, MINIMAL, UNKNOWN, Wire, header

RTT_S = 0.1
MSS = Peer.MSS - 20
SO_MAX_PACING_RATE = 47
WANTED = 1000000        # bytes/s
LINE = 1250000          # bytes/s, the rate that a tun device reports

tap = hosts.Tap()


class Sender(xcp_wire.Caller):
    """A socket of the stack; its peer answers after an RTT."""

    def __init__(self, tun, version, port, rate=None):
        super().__init__(tun, version, port)
        self.acked = 0
        if rate:
            self.sock.setsockopt(socket.SOL_SOCKET, SO_MAX_PACING_RATE, rate)
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        time.sleep(RTT_S)
        self.peer.send(SYN | ACK | ECE, pos=-1, ack=0, options=Peer.OPTIONS + negotiation(*ANSWERS))
        self.peer.read(5)

    def ask(self, segments):
        """Send some segments. Return the header of the first one."""
        self.sock.send(bytes(segments * MSS))
        return self.read()

    def read(self):
        packets = [p for p in self.peer.read(RTT_S * 1000) if p.size]
        self.acked = max(p.seq + p.size for p in packets)
        return Offer(*packets[0].shim)

    def answer(self, feedback=0, flags=ACK):
        """Acknowledge. If more of a longer queue leaves then, use read()."""
        self.peer.send(flags, ack=self.acked, shim=header(MINIMAL, 0, 0, 0, feedback))


class Offer(typing.NamedTuple):
    """The fields of a header that differ between packets."""
    form: int
    flags: int
    rtt_us: int
    throughput: int
    delta: int
    reverse: int

    def rate(self):
        return self.throughput * 1000

    def window(self):
        return self.rate() * self.rtt_us // 1000000


def near(got, want, part=0.05):
    return abs(got - want) <= abs(want) * part


def asks(tun, version):
    sender = Sender(tun, version, 53000, WANTED)
    offer = sender.ask(2)
    tap.claim(f"IPv{version}: two segments an RTT, in microseconds and bytes/ms",
              (offer.form, offer.flags) == (MICRO, 0) and
              near(offer.rtt_us, RTT_S * 1e6, 0.1) and near(offer.window(), 2 * MSS, 0.06),
              str(offer))
    tap.claim(f"IPv{version}: two packets ask for what SO_MAX_PACING_RATE leaves",
              near(offer.rate() + 2 * offer.delta, WANTED), str(offer))
    sender.close()


# Feedback to a window of two segments, bytes/s, and the window afterwards
FEEDBACK = ((100000, 2 * MSS + 10000), (-5000, 2 * MSS - 500), (0, 2 * MSS), (-1000000, MSS))


def obeys(tun, version):
    before = counts("xcp")["in_excess"]
    for n, (feedback, want) in enumerate(FEEDBACK):
        sender = Sender(tun, version, 53010 + n)
        # TCP calls the first packets of a connection application-limited, but more data waits.
        sender.ask(40)
        sender.answer(feedback)
        offer = sender.read()
        tap.claim(f"IPv{version}: feedback of {feedback} bytes/s: a window of {want} bytes",
                  near(offer.window(), want, 0.1), f"{offer.window()} bytes, {offer}")
        sender.close()
    tap.equal(f"IPv{version}: feedback that was asked for is not counted as excess",
              counts("xcp")["in_excess"] - before, 0)


def lies(tun, version):
    """Feedback in every ACK, more than requested. The rate of a tun device is 10 Mbit/s."""
    sender = Sender(tun, version, 53030)
    sender.ask(40)
    sender.answer()
    sender.read()
    windows, before = [], counts("xcp")["in_excess"]
    for _ in range(3):
        sender.answer(0x7fffffff)
        sender.sock.send(bytes(4 * MSS))
        windows.append(sender.read().window())
    tap.claim(f"IPv{version}: feedback that nobody asked for: at most two RTTs of the device's rate",
              max(windows) <= 2 * LINE * RTT_S * 1.2, f"windows {windows}")
    tap.equal(f"IPv{version}: such ACKs are counted", counts("xcp")["in_excess"] - before, 3)
    sender.close()


# RTTs without data, and the window afterwards: two segments filled the window until feedback raised
# it to 11960 bytes; then it is halved, down to the initial window.
SILENCE = ((0, 11960), (1, 5980), (20, 2 * MSS))


def silence(tun, version):
    for rtts, want in SILENCE:
        sender = Sender(tun, version, 53020 + rtts)
        sender.ask(2)
        sender.answer(100000)
        time.sleep(rtts * RTT_S * 1.2)
        offer = sender.ask(1)
        tap.claim(f"IPv{version}: {rtts} RTT of silence leave a window of {want} bytes",
                  near(offer.window(), want, 0.1), f"{offer.window()} bytes, {offer}")
        sender.close()


def marked(tun, version):
    """A mark counts as a loss: the window is halved as by Reno, and the header reports it."""
    sender = Sender(tun, version, 53002)
    sender.ask(80)
    sender.answer(100000)
    before = sender.read()
    sender.answer(flags=ACK | ECE)
    after = sender.read()
    tap.claim(f"IPv{version}: a mark: end-to-end limited (4.1), half the window (3.1.3.2)",
              (before.flags, after.flags) == (0, 1) and
              near(after.window(), before.window() / 2, 0.2), f"{before}, {after}")
    sender.close()


def main():
    tun = Wire()
    hosts.write("/proc/sys/net/ipv4/tcp_ecn", 1)
    for version in (4, 6):
        # Later connections put headers on their first data.
        first = xcp_wire.Caller(tun, version, 53999)
        first.answer(UNKNOWN)
        first.close()
        asks(tun, version)
        obeys(tun, version)
        lies(tun, version)
        silence(tun, version)
        marked(tun, version)
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
