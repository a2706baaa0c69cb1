#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""DCTCP packet by packet: the ACKs and ECE marks of the receiver, and cwnd,
alpha and CWR of the sender after each ACK. Prints TAP. Needs root and the
module tcp_dctcp_ms; changes nothing outside its own network namespace.

    the stack under test [tun0] ---- this script, the other end of TCP
"""
import fractions
import socket
import struct
import subprocess
import sys
import time

import hosts
import wire
from wire import ACK, CE, CWR, ECE, ECT0, NOT_ECT, SYN, Peer

TCP_CC_INFO = 26
MSS = Peer.MSS
RTT_MAX = "/proc/sys/net/hopcc/tcp_dctcp_ms_rtt_max_us"

tap = hosts.Tap()
claim = tap.equal


def new_socket(version, cc="dctcp_ms"):
    sock = socket.socket(wire.FAMILY[version], socket.SOCK_STREAM)
    if cc:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, cc.encode())
    return sock


def cc_info(sock):
    """Return enabled, ce_state, alpha / 1024, BytesMarked and BytesSent."""
    return struct.unpack("HHIII", sock.getsockopt(socket.IPPROTO_TCP, TCP_CC_INFO, 16))


def window(sock):
    """Return cwnd and ssthresh in packets."""
    info = sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104)
    ssthresh, cwnd = struct.unpack_from("II", info, 8 + 4 * 17)
    return cwnd, ssthresh


# The receiver ---------------------------------------------------------------

# At the start, nothing is unacknowledged, DCTCP.CE is false, and ACKs are delayed.
# Each step is a segment by number and code point, and the ACKs that it causes: (segments, ECE).
# LATE: wait for the delayed ACK. +CWR, PURE and DUP: see send_step().
RECEIVER = (
    ("1 ECT", []),
    ("2 ECT", [(2, 0)]),                    # every second segment
    ("3 ECT", []),
    ("4 CE", [(3, 0), (4, 1)]),             # rule 1, data outstanding: old state, old RCV.NXT
    ("5 CE", []),                           # ACKs are also delayed in state CE
    ("6 CE", [(6, 1)]),
    ("7 CE", []),
    ("8 ECT", [(7, 1), (8, 0)]),            # rule 2, data outstanding
    ("9 CE", [(9, 1)]),                     # rule 1, nothing outstanding
    ("10 ECT", [(10, 0)]),                  # rule 2, nothing outstanding
    ("11 ECT LATE", [(11, 0)]),             # the delayed ACK has the ECE of the state
    ("12 CE", [(12, 1)]),
    ("13 CE LATE", [(13, 1)]),
    ("14 CE", []),
    ("15 CE +CWR", [(15, 1)]),              # CWR does not end ECE
    ("PURE 15 +CWR", []),
    ("16 CE", []),
    ("17 CE", [(17, 1)]),
    ("DUP 17 CE +CWR", [(17, 1)]),          # nor does CWR on a packet that is discarded
    ("19 CE", [(17, 1)]),                   # a hole: duplicate ACK
    ("18 ECT", [(19, 0)]),                  # the hole is filled, without CE: rule 2
    ("20 ECT", []),
    ("21 ECT", [(21, 0)]),
)


def send_step(peer, words):
    flags = ACK | (CWR if "+CWR" in words else 0)
    number = int(words[1] if words[0] in ("DUP", "PURE") else words[0])
    if "PURE" in words:
        peer.send(flags, pos=number * MSS)
        return
    peer.send(flags, pos=(number - 1) * MSS, ecn=CE if "CE" in words else ECT0,
              payload=bytes(MSS))


def receiver(tun, version):
    listener = new_socket(version)
    listener.bind((wire.STACK[version], 0))
    listener.listen()
    peer = Peer(tun, version, 40000 + version)
    sock, synack = peer.connect(listener)
    wire.make_room(sock)
    claim(f"IPv{version} receiver: SYN-ACK agrees to ECN and is ECT",
          (synack.flags, synack.ecn), (SYN | ACK | ECE, ECT0))
    warm_up(peer, sock)
    for step, want in RECEIVER:
        words = step.split()
        delay_acks(sock)
        send_step(peer, words)
        got = [(p.ack // MSS, int(bool(p.flags & ECE)))
               for p in peer.read(500 if "LATE" in words else 2)]
        claim(f"IPv{version} receiver: {step}", got, want)
    sock.close()
    listener.close()
    tun.read(5)


def delay_acks(sock):
    """Switch quick ACKs off, which the delayed ACK's timer and duplicates switch on."""
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 0)


def warm_up(peer, sock):
    """Pass the quick ACKs of a new connection, then start positions at 0."""
    for pos in range(0, 40 * MSS, MSS):
        peer.send(ACK, pos=pos, ecn=ECT0, payload=bytes(MSS))
        peer.read(1)
    delay_acks(sock)
    sock.recv(40 * MSS)
    peer.read(500)
    peer.isn = (peer.isn + 40 * MSS) % 2**32


# The sender -----------------------------------------------------------------

class Model:
    """The draft's sender, computed with fractions; positions are in bytes."""

    def __init__(self):
        self.alpha = fractions.Fraction(1)
        self.window_end = self.una = self.sent = self.marked = 0

    def ack(self, pos, ece, nxt):
        acked = pos - self.una
        self.una = pos
        self.sent += acked
        self.marked += acked if ece else 0
        if pos <= self.window_end:
            return
        self.alpha = self.alpha * 15 / 16 + fractions.Fraction(self.marked, self.sent) / 16
        self.window_end = nxt
        self.sent = self.marked = 0

    def cut(self, cwnd):
        return max(2, cwnd - int(cwnd * self.alpha / 2))


class Sender:
    """The stack sends, and the script acknowledges segment by segment."""

    def __init__(self, tun, version, port, flags=ECE, rtt_ms=0, cc="dctcp_ms"):
        self.sock = new_socket(version, cc)
        self.sock.setblocking(False)
        self.peer = Peer(tun, version, port)
        self.syn = self.peer.accept(self.sock, flags, rtt_ms)
        self.model = Model()
        self.una = self.nxt = 0
        self.packets = []

    def send(self, segments):
        self.sock.send(bytes(segments * MSS))
        self.collect()

    def start(self):
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
        self.sock.send(bytes(400 * MSS))
        self.collect()

    def collect(self, wait_ms=2):
        self.packets = self.peer.read(wait_ms)
        for p in self.packets:
            self.nxt = max(self.nxt, p.seq + p.size)

    def ack(self, segments=1, ece=False):
        self.una += segments * MSS
        self.model.ack(self.una, ece, self.nxt)
        self.peer.send(ACK | (ECE if ece else 0), ack=self.una)
        self.collect()

    def close(self):
        self.peer.send(wire.RST | ACK, ack=self.una)
        self.sock.close()
        self.peer.wire.read(5)


def sender(tun, version):
    name = f"IPv{version} sender: "
    s = Sender(tun, version, 41000 + version)
    claim(name + "SYN asks for ECN and is ECT",
          (s.syn.flags, s.syn.ecn), (SYN | ECE | CWR, ECT0))
    s.start()
    claim(name + "data is ECT", {p.ecn for p in s.packets}, {ECT0})
    claim(name + "ten segments first, alpha 1", (len(s.packets), cc_info(s.sock)[:3]),
          (10, (1, 0, 1024)))
    slow_start(name, s)
    marked_window(name, s)
    second_window(name, s)
    s.close()


def show_alpha(model):
    return int(model.alpha * 1024), model.marked, model.sent


def slow_start(name, s):
    for _ in range(10):
        s.ack()
    claim(name + "first ACK ended a window; 10 ACKs: cwnd 20",
          (window(s.sock)[0], cc_info(s.sock)[2:]), (20, show_alpha(s.model)))
    s.ack()
    claim(name + "step 4: the window ends with the first byte beyond WindowEnd",
          (window(s.sock)[0], cc_info(s.sock)[2:]), (21, show_alpha(s.model)))


def marked_window(name, s):
    """ECE on one ACK, then on the rest of the window, causes one reduction."""
    cwnd = window(s.sock)[0]
    s.ack(ece=True)
    want = s.model.cut(cwnd)
    high = s.nxt
    claim(name + f"ECE: ssthresh = {cwnd} * (1 - alpha / 2) = {want}",
          (window(s.sock)[1], cc_info(s.sock)[2:]), (want, show_alpha(s.model)))
    cwr = [p for p in s.packets if p.flags & CWR]
    while s.una < high - MSS:
        s.ack(ece=True)
        cwr += [p for p in s.packets if p.flags & CWR]
    claim(name + "ECE on the whole window: one reduction, one CWR",
          (window(s.sock)[1], len(cwr)), (want, 1))
    claim(name + "alpha and the byte counters", cc_info(s.sock)[2:], show_alpha(s.model))


def second_window(name, s):
    """At the end of the window, cwnd is as computed; then there is a second reduction."""
    want = window(s.sock)[1]
    for _ in range(3):
        s.ack()
    claim(name + "window over: cwnd", window(s.sock)[0], want)
    s.ack(ece=True)
    claim(name + "ECE in the next window reduces again", window(s.sock)[1],
          s.model.cut(want))


def loss_after_mark(tun):
    """A loss in a reduced window halves the original window, not the reduced one."""
    s = Sender(tun, 4, 42000)
    s.start()
    for _ in range(25):
        s.ack()
    cwnd = window(s.sock)[0]
    s.ack(ece=True)
    marked = window(s.sock)[1]
    claim("mark, then loss: the mark cuts by alpha / 2 first", marked, s.model.cut(cwnd))
    for extra in range(2, 7):
        s.peer.sack(s.una, [(s.una + MSS, s.una + extra * MSS)])
        s.collect()
    claim("mark, then loss: half of the window before both", window(s.sock)[1], cwnd // 2)
    s.close()


def loss_alone(tun):
    s = Sender(tun, 4, 42001)
    s.start()
    for _ in range(25):
        s.ack()
    cwnd = window(s.sock)[0]
    for extra in range(2, 7):
        s.peer.sack(s.una, [(s.una + MSS, s.una + extra * MSS)])
        s.collect()
    claim("loss alone: one half", window(s.sock)[1], cwnd // 2)
    s.peer.sack(s.una, [(s.una + MSS, s.una + 7 * MSS)], ACK | ECE)
    s.collect()
    claim("ECE in recovery: no second reduction", window(s.sock)[1], cwnd // 2)
    s.close()


def undo(tun):
    """A DSACK reports a spurious retransmission: the window is restored."""
    for mark in (False, True):
        s = Sender(tun, 4, 45000 + mark, rtt_ms=5)
        s.start()
        for _ in range(25):
            s.ack()
        before = window(s.sock)[0]
        if mark:
            s.ack(ece=True)
            before = window(s.sock)[1]
        hole = s.una
        # Send these at once: RACK must see the arrival of the original, not of the retransmission.
        for extra in range(2, 7):
            s.peer.sack(s.una, [(hole + MSS, hole + extra * MSS)])
        lost = window(s.sock)[1]
        s.una += 6 * MSS
        s.peer.send(ACK, ack=s.una)
        s.peer.sack(s.una, [(hole, hole + MSS)])
        what = f"loss {'after a mark' if mark else 'alone'}, undone: "
        claim(what + "it was a reduction", lost < before, True)
        claim(what + "as before it", window(s.sock)[mark], before)
        s.close()


def timeout(tun):
    """The stack's own retransmission timer expires 200 ms or more after the last ACK."""
    for mark in (False, True):
        s = Sender(tun, 4, 42002 + mark)
        s.start()
        for _ in range(25):
            s.ack()
        cwnd = window(s.sock)[0]
        if mark:
            s.ack(ece=True)
        time.sleep(0.6)
        s.collect()
        claim(f"timeout {'in a marked window' if mark else 'alone'}: cwnd 1, one half in all",
              window(s.sock), (1, cwnd // 2))
        s.close()


def narrower(tun):
    """The path MTU falls in slow start: this is no loss, and slow start continues."""
    for mark in (False, True):
        s = Sender(tun, 4, 42100 + mark, rtt_ms=4)
        s.start()
        for _ in range(4):
            s.ack()
        s.ack(ece=mark)
        cwnd, ssthresh = window(s.sock)
        s.peer.refuse(700, s.una)
        s.collect(5)
        claim(f"a router refuses packets {'after a mark' if mark else 'in slow start'}: "
              "cwnd and ssthresh as before", window(s.sock), (cwnd, ssthresh))
        claim("they are repeated in smaller ones", {p.size for p in s.packets[:2]},
              lambda got: got and max(got) < 700)
        s.close()
        subprocess.run("ip route flush cache".split(), check=True)


def repaired_tail(tun):
    """A loss probe repairs a lost tail: the window is halved once, with ECE on the ACK or later."""
    for ece in ("no ECE", "ECE with it", "ECE behind it"):
        s = Sender(tun, 4, 42200 + len(ece), rtt_ms=4)
        s.sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
        for _ in range(20):
            s.send(4)
            s.ack(4)
        s.send(10)
        s.ack(9)
        s.packets = []
        while not s.packets:
            s.collect(1)
        claim(f"{ece}: a probe repeats the tail", [p.seq for p in s.packets], [s.una])
        s.ack()
        cwnd = window(s.sock)[0]
        s.send(4)
        s.ack(ece=ece == "ECE with it")
        claim(f"{ece}: one half", (cwnd > 9, window(s.sock)[1]), (True, cwnd // 2))
        s.ack(ece=ece == "ECE behind it")
        claim(f"{ece}: no more in this window", window(s.sock)[1], cwnd // 2)
        s.ack(2)
        s.send(4)
        s.ack(2)
        s.ack(ece=True)
        claim(f"{ece}: a mark in the next window cuts again", window(s.sock)[1],
              lambda got, half=cwnd // 2: got < half)
        s.close()


def conventional(tun):
    """Section 4: the conventional response applies to a path of 11 ms, not to one of 9 ms, nor to
    one of 2 ms whose first RTT was 11 ms.
    """
    for rtt_ms, data_ms, enabled in ((9, 9, 1), (11, 11, 0), (11, 2, 1)):
        s = Sender(tun, 4, 43000 + rtt_ms + 100 * data_ms, rtt_ms=rtt_ms)
        s.start()
        claim(f"RTT {rtt_ms} ms: at first {'DCTCP' if rtt_ms < 10 else 'conventional'}",
              cc_info(s.sock)[0], int(rtt_ms < 10))
        # Later data waits for the ACKs of the data in flight, 2 ms each.
        time.sleep((data_ms - 2) / 1000)
        for _ in range(25):
            s.ack()
        cwnd = window(s.sock)[0]
        s.ack(ece=True)
        want = s.model.cut(cwnd) if enabled else cwnd // 2
        claim(f"RTT {rtt_ms} ms, then {data_ms} ms: {'by alpha' if enabled else 'one half'}",
              (cc_info(s.sock)[0], window(s.sock)[1], hosts.cc_of(s.sock)),
              (enabled, want, "dctcp_ms"))
        s.close()


def without_ecn(tun):
    s = Sender(tun, 4, 44000, flags=0)
    s.start()
    claim("no ECN agreed: Reno, Not-ECT", (hosts.cc_of(s.sock), {p.ecn for p in s.packets}),
          ("dctcp_ms-reno", {NOT_ECT}))
    s.close()
    sock = new_socket(4)
    sock.setblocking(False)
    peer = Peer(tun, 4, 44001)
    sock.connect_ex((wire.SCRIPT[4], peer.port))
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"reno")
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"dctcp_ms")
    peer.answer(sock, 0, 0)
    sock.send(bytes(MSS))
    claim("cc changed before a SYN-ACK that refuses ECN: Reno, Not-ECT",
          ({p.ecn for p in peer.read()}, hosts.cc_of(sock)), ({NOT_ECT}, "dctcp_ms-reno"))
    peer.send(wire.RST | ACK, ack=0)
    sock.close()


def chosen_late(tun):
    """tcp_ecn 1: every SYN negotiates ECN, so a program may select the cc after the handshake."""
    for cc in ("dctcp_ms", "ldcp"):
        for flags, name, ecn in ((ECE, cc, ECT0), (0, cc + "-reno", NOT_ECT)):
            sock = new_socket(4, "reno")
            sock.setblocking(False)
            peer = Peer(tun, 4, 44300 + len(name))
            syn = peer.accept(sock, flags)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, cc.encode())
            sock.send(bytes(4 * MSS))
            claim(f"{cc} chosen behind connect(), ECN {'agreed' if flags else 'refused'}",
                  (syn.flags, hosts.cc_of(sock), peer.read()[-1].ecn), (SYN | ECE | CWR, name, ecn))
            peer.send(wire.RST | ACK, ack=0)
            sock.close()


def old_listener(tun):
    """A server that listens with another congestion control accepts ECN from our client if its
    route to the client enables that.
    """
    listener = new_socket(4, "reno")
    listener.bind((wire.STACK[4], 0))
    listener.listen()
    network = "192.0.2.0/24 dev tun0 src 192.0.2.1"
    for options, agrees, name in (("", 0, "reno"), (" congctl dctcp_ms", ECE, "dctcp_ms")):
        hosts.run(f"ip route replace {network}{options}")
        peer = Peer(tun, 4, 44100 + agrees, listener.getsockname()[1])
        peer.send(SYN | ECE | CWR, pos=-1, ack=-1, ecn=ECT0, options=Peer.OPTIONS)
        synack, = tun.read(5)
        peer.stack_isn = synack.seq
        peer.send(ACK, ecn=ECT0)
        sock = listener.accept()[0]
        claim(f"a listener that runs already, route '{options.strip()}'",
              (synack.flags, hosts.cc_of(sock)), (SYN | ACK | agrees, name))
        peer.send(wire.RST | ACK, pos=0)
        sock.close()
    hosts.run(f"ip route replace {network}")
    listener.close()


def sysctl():
    with open(RTT_MAX, encoding="ascii") as knob:
        claim("sysctl default", knob.read(), "10000\n")
    for value, good in (("0", True), ("10000000", True), ("10000001", False),
                        ("-1", False), ("x", False), ("10000", True)):
        try:
            with open(RTT_MAX, "w", encoding="ascii") as knob:
                knob.write(value)
            got = True
        except OSError:
            got = False
        claim(f"sysctl {'takes' if good else 'refuses'} {value}", got, good)


def main():
    tun = wire.Wire()
    with open("/proc/sys/net/ipv4/tcp_ecn", "w", encoding="ascii") as knob:
        knob.write("1")
    sysctl()
    for version in (4, 6):
        receiver(tun, version)
        sender(tun, version)
    loss_alone(tun)
    loss_after_mark(tun)
    undo(tun)
    timeout(tun)
    narrower(tun)
    repaired_tail(tun)
    conventional(tun)
    without_ecn(tun)
    chosen_late(tun)
    old_listener(tun)
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
