#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""All packets of a burst but the last are lost, and the stack's timer detects that. The test checks
the packets that leave before the congestion control is called. Also tests timeouts and repaired
tails of csig. Prints TAP. Needs root and tcp_hpccpp, tcp_xcp and tcp_csig; changes nothing outside
its own network namespaces.

    a [tap0] ---- script, 5 ms there and back ---- [tap0] b
"""
import socket
import struct
import sys
import time

import hosts
import relay
from hosts import sysctl
from int_stamp import stamp
from int_wire import mark_of

RTT_S, RATE_BYTES_PS = 0.005, 51360000      # 240 packets of 1070 bytes per RTT
MSS = 1000
ETHERNET_BYTES, IPV4 = 14, b"\x08\x00"
TCP_MAXSEG, SO_MAX_PACING_RATE = 2, 47
# csig's stage, in ss cwnd_gain: so much more while no hop reports
TCP_CC_INFO, ONE, NO_REPORT, GUARDED = 26, 256, 4, 1024
IP_BYTES, CE = 20, 3

tap = hosts.Tap()


def segment(frame):
    """Return (sequence number, length) of TCP's data, behind any of our headers."""
    at = frame.find(b"\x08\x00\x45", 12)
    if at < 0:
        return 0, 0
    ip = frame[at + 2:]
    tcp = ip[40 if ip[9] == 63 else 20:struct.unpack_from("!H", ip, 2)[0]]
    if ip[9] not in (6, 63) or mark_of(ip):
        return 0, 0
    return struct.unpack_from("!I", tcp, 4)[0], len(tcp) - (tcp[12] >> 4) * 4


class Flow:
    """A connection from a to b whose receiver reads, and the segments that it sent."""

    def __init__(self, wire, cc):
        listener = hosts.tcp("b", 4)
        listener.bind(("0.0.0.0", 0))
        listener.listen()
        self.wire, self.sock = wire, hosts.tcp("a", 4, cc)
        self.sock.setsockopt(socket.SOL_SOCKET, SO_MAX_PACING_RATE, RATE_BYTES_PS)
        self.sock.setsockopt(socket.IPPROTO_TCP, TCP_MAXSEG, MSS)
        self.sock.setblocking(False)
        self.sock.connect_ex((relay.ADDRESS["b"], listener.getsockname()[1]))
        wire.run(4 * RTT_S)
        self.other = listener.accept()[0]
        listener.close()
        self.received, self.repairs, self.lose, self.keep = 0, [], 0, -1
        self.first = self.highest = None
        wire.drop = self.see

    def info(self, form, at):
        info = self.sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 112)
        return struct.unpack_from(form, info, at)[0]

    def cwnd(self):
        return self.info("I", 80)

    def pace(self):
        return self.info("Q", 104)

    def see(self, frame):
        """Return True if a frame must be lost: the first @lose bytes, but not those at @keep, once."""
        seq, size = segment(frame)
        if not size:
            return False
        self.first = seq if self.first is None else self.first
        at = (seq - self.first) % 2**32
        if self.highest is not None and at <= self.highest:
            self.repairs.append((time.monotonic(), at, size))
            return False
        self.highest = at
        return at < self.lose and not at <= self.keep < at + size

    def read(self, sock):
        self.received += len(sock.recv(1 << 20))

    def run(self, seconds):
        self.wire.run(seconds, [self.other], self.read)

    def warm_up(self):
        for _ in range(10):
            self.sock.send(bytes(240 * MSS))
            self.run(3 * RTT_S)

    def send_and_lose(self, pkts):
        """Lose all packets but the last, which arrives within the reordering window."""
        mss = self.info("I", 16)
        self.received, self.repairs = 0, []
        self.first = self.highest = None
        self.lose = (pkts - 1) * mss
        self.sock.send(bytes(pkts * mss))
        while not self.repairs:
            self.run(RTT_S / 20)

    def close(self):
        hosts.close(self.sock, self.other)
        self.wire.drop = None
        self.wire.run(1)


def by_timer(wire, cc, pkts, judge):
    flow = Flow(wire, cc)
    flow.warm_up()
    timeouts = hosts.netstat("a", "TCPTimeouts")
    before = flow.cwnd(), flow.pace()
    flow.send_and_lose(pkts)
    judge(flow, *before)
    flow.run(40 * RTT_S)
    tap.claim(f"{cc}: all is repaired, each once, without a timeout",
              flow.received == pkts * flow.info("I", 16) and
              len({at for _, at, _ in flow.repairs}) == len(flow.repairs) == pkts - 1 and
              hosts.netstat("a", "TCPTimeouts") == timeouts,
              f"{flow.received} bytes, {len(flow.repairs)} repairs of {pkts - 1}")
    flow.close()


def counts_of(flow):
    """The number of repairs in each of five RTTs."""
    counts, done = [], 0
    for _ in range(5):
        flow.run(RTT_S * 0.95)
        counts.append(len(flow.repairs) - done)
        done = len(flow.repairs)
        flow.run(RTT_S * 0.05)
    return counts


def hpccpp(flow, cwnd, pace):
    """W and R are halved before the first repair leaves."""
    halved, counts = flow.pace() / pace, counts_of(flow)
    tap.claim("hpccpp: the timer repairs one, then two leave for each that arrived; at half the pace",
              cwnd > 100 and 0.4 < halved < 0.6 and counts == [1, 2, 4, 8, 16], f"{halved:.2f}, {counts}; window {cwnd}")


def xcp(flow, cwnd, pace):
    """As the stack's own Reno; the pacing rate stays."""
    counts = counts_of(flow)
    tap.claim("xcp: the timer repairs one, then at most two leave for each that arrived, at the data's pace",
              cwnd > 100 and counts[:3] == [1, 2, 4] and max(counts) <= 8 and flow.pace() < 1.1 * pace,
              f"{counts}; window {cwnd}, {flow.cwnd()} then")


def stage(sock):
    return struct.unpack_from("I", sock.getsockopt(socket.IPPROTO_TCP, TCP_CC_INFO, 20), 16)[0] // ONE % GUARDED


def csig(flow, cwnd, _pace):
    reports, counts = stage(flow.sock) < NO_REPORT, counts_of(flow)
    tap.claim("csig with reports: the timer repairs one, then two leave for each that arrived",
              reports and cwnd > 100 and counts == [1, 2, 4, 8, 16], f"{reports}, {counts}; window {cwnd}")


def csig_as_reno(flow, cwnd, _pace):
    plain, counts = stage(flow.sock) >= NO_REPORT, counts_of(flow)
    tap.claim("csig without reports: the timer repairs one, then two leave for each that arrived, as with Reno",
              plain and cwnd > 100 and counts[:3] == [1, 2, 4], f"{plain}, {counts}; window {cwnd}")


def csig_window(sock):
    """Return csig's window in 1/256 packets."""
    return struct.unpack_from("I", sock.getsockopt(socket.IPPROTO_TCP, TCP_CC_INFO, 20), 12)[0]


def mark(frame, from_a):
    """Mark the frame with CE if it has data."""
    if not from_a or not segment(frame)[1]:
        return [(0, frame)]
    at = frame.find(b"\x08\x00\x45", 12) + 2
    head = bytearray(frame[at:at + IP_BYTES])
    head[1] |= CE
    head[10:12] = b"\0\0"
    total = sum(struct.unpack("!10H", head))
    head[10:12] = struct.pack("!H", ~(total + (total >> 16)) & 0xffff)
    return [(0, frame[:at] + head + frame[at + IP_BYTES:])]


def one_timeout(wire):
    """csig's window is one packet after a timeout, also if a mark has reduced it before."""
    for marked in (False, True):
        flow = Flow(wire, "csig")
        flow.warm_up()
        before, timeouts = csig_window(flow.sock), hosts.netstat("a", "TCPTimeouts")
        if marked:
            wire.rewrite = mark
            flow.sock.send(bytes(10 * MSS))
            flow.run(1.2 * RTT_S)
            wire.rewrite = hop
        reduced = csig_window(flow.sock)
        wire.drop = lambda frame: segment(frame)[1] > 0
        flow.sock.send(bytes(10 * MSS))
        for _ in range(1000):
            if hosts.netstat("a", "TCPTimeouts") > timeouts:
                break
            flow.run(RTT_S / 4)
        tap.claim(f"csig: a timeout {'after a mark' if marked else 'alone'}: one packet",
                  stage(flow.sock) < NO_REPORT and (reduced < before * 0.6) == marked and
                  (csig_window(flow.sock), flow.cwnd()) == (ONE, 1),
                  f"{before}, {reduced}, {csig_window(flow.sock)}, cwnd {flow.cwnd()}")
        flow.close()


def repaired_tail(wire):
    """A loss probe repairs a lost tail: csig's window is halved once, also with ECE on the ACK. The same ACK may let it
    grow, by less than a packet."""
    for marked in (False, True):
        flow = Flow(wire, "csig")
        flow.warm_up()
        mss = flow.info("I", 16)
        flow.first = flow.highest = None
        flow.repairs, flow.lose, flow.keep = [], 10 * mss, -1
        wire.drop = lambda frame, flow=flow: flow.see(frame) and flow.highest == 9 * mss
        flow.sock.send(bytes(10 * mss))
        while not flow.repairs:
            flow.run(RTT_S / 4)
        flow.run(1.2 * RTT_S)
        before = csig_window(flow.sock)
        wire.rewrite = mark if marked else hop
        flow.sock.send(bytes(2 * mss))
        flow.run(1.2 * RTT_S)
        wire.rewrite = hop
        after = csig_window(flow.sock)
        tap.claim(f"csig: an ACK beyond a repaired tail, ECE = {int(marked)}: one half",
                  stage(flow.sock) < NO_REPORT and len(flow.repairs) == 1 and 0 <= after - before // 2 <= ONE,
                  f"{len(flow.repairs)} repairs, {before}, {after}")
        flow.close()


def full(wire, cc):
    """Of most of a window the 20th packet alone arrives. What was sent after it is more than the window, once
    halved, and only the ACK of a retransmission can tell that it is lost, too."""
    flow = Flow(wire, cc)
    flow.warm_up()
    flow.sock.setsockopt(socket.SOL_SOCKET, SO_MAX_PACING_RATE, 4 * RATE_BYTES_PS)
    timeouts, cwnd, mss = hosts.netstat("a", "TCPTimeouts"), flow.cwnd(), flow.info("I", 16)
    flow.first = flow.highest = None
    flow.received, flow.repairs = 0, []
    pkts = cwnd * 3 // 4
    flow.lose, flow.keep = pkts * mss, 20 * mss
    flow.sock.send(bytes(pkts * mss))
    flow.run(60 * RTT_S)
    timeouts = hosts.netstat("a", "TCPTimeouts") - timeouts
    tap.claim(f"{cc}: the first repair does not wait for room in the window",
              cwnd > 100 and flow.received == pkts * mss and not timeouts,
              f"{flow.received} of {pkts * mss} bytes, window {cwnd}, then {flow.cwnd()}; {timeouts} timeouts")
    flow.close()


def chosen_in_recovery(wire):
    """A program that chooses xcp again while losses are repaired has Reno's window until the repair ends."""
    flow = Flow(wire, "xcp")
    flow.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"reno")
    flow.warm_up()
    before, mss = flow.cwnd(), flow.info("I", 16)
    flow.first = flow.highest = None
    flow.received, flow.repairs, flow.lose, flow.keep = 0, [], 20 * mss, -1
    flow.sock.send(bytes(100 * mss))
    while not flow.repairs:
        flow.run(RTT_S / 20)
    flow.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"xcp")
    seen = [(flow.cwnd(), flow.info("I", 76))]
    while flow.received < 90 * mss:
        flow.run(RTT_S / 10)
        seen.append((flow.cwnd(), flow.info("I", 76)))
    tap.claim("xcp, chosen in a recovery: ssthresh stays, and limits the window",
              {most for _, most in seen} == {before // 2} and max(cwnd for cwnd, _ in seen) <= before // 2,
              f"{before}; {seen[:9]}")
    flow.warm_up()
    tap.claim("xcp afterwards: it has no ssthresh",
              hosts.cc_of(flow.sock) == "xcp" and flow.info("I", 76) > 1 << 20, hosts.cc_of(flow.sock))
    flow.close()


def without_answers(wire):
    """The peer's carrier stops answering: the connection uses Reno, and losses halve the window."""
    flow = Flow(wire, "hpccpp")
    flow.warm_up()
    sysctl("b", "hopcc/int", 0)
    flow.warm_up()
    windows = [flow.cwnd()]
    for _ in range(3):
        flow.first = flow.highest = None
        flow.lose = 1
        flow.sock.send(bytes(40 * MSS))
        flow.run(8 * RTT_S)
        windows.append(flow.cwnd())
    tap.claim("hpccpp as Reno: each loss halves the window",
              windows[0] > 100 and all(0.45 < b / a < 0.6 for a, b in zip(windows, windows[1:])),
              f"{windows}")
    flow.close()
    sysctl("b", "hopcc/int", 1)


def hop(frame, from_a):
    """Add a hop's record to the frame, which hpccpp needs."""
    if from_a and frame[12:14] == IPV4:
        frame = frame[:ETHERNET_BYTES] + stamp(frame[ETHERNET_BYTES:])
    return [(0, frame)]


def main():
    wire = relay.Relay(RTT_S / 2)
    wire.rewrite = hop
    for name in ("a", "b"):
        for knob in ("rmem", "wmem"):
            sysctl(name, f"ipv4/tcp_{knob}", "4096 4194304 67108864")
        sysctl(name, "hopcc/csig_ports", "tap0")
    sysctl("a", "hopcc/tcp_hpccpp_rate_mbit", RATE_BYTES_PS * 8 // 1000000)
    sysctl("a", "hopcc/csig", 2)
    sysctl("b", "hopcc/csig", 1)
    by_timer(wire, "hpccpp", 50, hpccpp)
    by_timer(wire, "xcp", 18, xcp)
    by_timer(wire, "csig", 50, csig_as_reno)
    # A hop that reports: a's own port
    hosts.run("tc -n a qdisc replace dev tap0 root csig rate 1gbit overhead 24")
    by_timer(wire, "csig", 50, csig)
    full(wire, "csig")
    for name in ("a", "b"):
        sysctl(name, "ipv4/tcp_ecn", 1)
    one_timeout(wire)
    repaired_tail(wire)
    for name in ("a", "b"):
        sysctl(name, "ipv4/tcp_ecn", 2)
    hosts.run("tc -n a qdisc del dev tap0 root")
    full(wire, "hpccpp")
    chosen_in_recovery(wire)
    without_answers(wire)
    wire.close()
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
