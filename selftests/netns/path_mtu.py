#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""The path MTU is smaller than the hosts' packets, and a router reports this by ICMP or is silent.
The retransmitted packets were not lost by congestion, which every congestion control must know.
Prints TAP. Needs root and the modules; changes nothing outside its own network namespaces.

    a [tap0] ---- script: a router with an MTU of 1400, 5 ms there and back ---- [tap0] b
"""
import contextlib
import os
import socket
import struct
import sys

import hosts
import relay
from hosts import sysctl
from wire import too_big

RTT_S, RATE_MBIT = 0.005, 400
MTU = 1400
BDP = int(RATE_MBIT * 125000 * RTT_S / MTU)
SO_MAX_PACING_RATE = 47
CONGESTION_CONTROLS = ("reno", "dctcp_ms", "ldcp", "xcp", "hpccpp", "csig")

tap = hosts.Tap()


class Router:
    """Drops packets that are too big, and answers with ICMP if enabled."""

    def __init__(self, wire):
        self.wire, self.mtu, self.answers, self.refused = wire, 65535, False, 0
        wire.drop = self.drop

    def drop(self, frame):
        at = frame.find(b"\x08\x00\x45", 12) + 2
        packet = frame[at:]
        if at < 2 or struct.unpack_from("!H", packet, 2)[0] <= self.mtu:
            return False
        self.refused += 1
        if self.answers:
            ethernet = frame[6:12] + frame[:6] + b"\x08\x00"
            message = too_big(packet[16:20], packet[12:16], self.mtu, packet[:548])
            os.write(self.wire.taps[0], ethernet + message)
        return True


class Flow:
    """A connection from a to b; the receiver reads."""

    def __init__(self, wire, cc):
        listener = hosts.tcp("b", 4, cc)
        listener.bind(("0.0.0.0", 0))
        listener.listen()
        self.wire, self.sock, self.received = wire, hosts.tcp("a", 4, cc), 0
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 22)
        # The rate that XCP requests; here no XCP router answers.
        self.sock.setsockopt(socket.SOL_SOCKET, SO_MAX_PACING_RATE, RATE_MBIT * 125000)
        self.sock.setblocking(False)
        self.sock.connect_ex((relay.ADDRESS["b"], listener.getsockname()[1]))
        wire.run(4 * RTT_S)
        self.other = listener.accept()[0]
        listener.close()

    def window(self):
        """Return ssthresh and cwnd in packets."""
        info = self.sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 112)
        return struct.unpack_from("II", info, 76)

    def read(self, sock):
        self.received += len(sock.recv(1 << 20))

    def run(self, seconds):
        """Return the smallest values of both, and the largest."""
        seen = [self.window()]
        for _ in range(int(seconds / RTT_S * 4)):
            with contextlib.suppress(BlockingIOError):
                self.sock.send(bytes(1 << 20))
            self.wire.run(RTT_S / 4, [self.other], self.read)
            seen.append(self.window())
        return tuple(map(min, *seen)), tuple(map(max, *seen))

    def close(self):
        hosts.close(self.sock, self.other)
        self.wire.drop = None
        self.wire.run(1)


def since(before):
    return {key: hosts.netstat("a", key) - count for key, count in before.items()}


def counters():
    return {key: hosts.netstat("a", key) for key in ("TCPTimeouts", "TCPMTUPFail")}


def refused(wire, cc):
    """The path MTU falls while data is in flight, and the router answers."""
    router, flow, before = Router(wire), Flow(wire, cc), counters()
    flow.run(8 * RTT_S)
    ssthresh, cwnd = flow.window()
    router.mtu, router.answers = MTU, True
    least, _ = flow.run(4 * RTT_S)
    received = flow.received
    flow.run(8 * RTT_S)
    tap.claim(f"{cc}: what a router refuses takes nothing from the window, nor from ssthresh",
              router.refused > 0 and cwnd > 10 and least[1] >= 0.9 * cwnd and
              least[0] >= min(ssthresh, 0.7 * cwnd),
              f"{router.refused} packets; ssthresh, cwnd {ssthresh}, {cwnd}; at least {least} then")
    tap.claim(f"{cc}: data goes on, without a timeout",
              flow.received - received > 4 * MTU * min(cwnd, BDP) and not since(before)["TCPTimeouts"],
              f"{flow.received - received} bytes in 8 RTT; {since(before)}")
    flow.close()
    hosts.ip("-n a route flush cache")


def probed(wire, cc):
    """A path silently drops larger packets: the stack sends MTU probes, which are lost."""
    sysctl("a", "ipv4/tcp_mtu_probing", 2)
    router = Router(wire)
    router.mtu = MTU
    flow, before, rounds = Flow(wire, cc), counters(), 0
    while not since(before)["TCPMTUPFail"] and rounds < 400:
        ssthresh, cwnd = flow.window()
        flow.run(RTT_S / 4)
        rounds += 1
    # The stack takes the retransmission for lost and halves; an RTT later it undoes that.
    _, most = flow.run(3 * RTT_S)
    tap.claim(f"{cc}: a lost MTU probe takes nothing from the window, nor from ssthresh",
              since(before)["TCPMTUPFail"] > 0 and most[1] >= 0.9 * cwnd and
              most[0] >= min(ssthresh, 0.7 * cwnd),
              f"{router.refused} probes; ssthresh, cwnd {ssthresh}, {cwnd}; up to {most} then")
    tap.claim(f"{cc}: no timeout", not since(before)["TCPTimeouts"], f"{since(before)}")
    flow.close()
    sysctl("a", "ipv4/tcp_mtu_probing", 0)


def main():
    wire = relay.Relay(RTT_S / 2)
    for name in ("a", "b"):
        for knob in ("rmem", "wmem"):
            sysctl(name, f"ipv4/tcp_{knob}", "4096 4194304 67108864")
        sysctl(name, "ipv4/tcp_ecn", 1)
        sysctl(name, "hopcc/csig_ports", "tap0")
        sysctl(name, "hopcc/csig", 2)
    sysctl("a", "hopcc/tcp_hpccpp_rate_mbit", RATE_MBIT)
    sysctl("a", "hopcc/tcp_ldcp_rate_mbit", RATE_MBIT // 8)
    sysctl("a", "hopcc/tcp_ldcp_rtt_us", int(RTT_S * 1e6))
    for cc in CONGESTION_CONTROLS:
        refused(wire, cc)
        probed(wire, cc)
    wire.close()
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
