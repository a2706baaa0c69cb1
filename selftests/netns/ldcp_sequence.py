#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""LDCP packet by packet: the ACKs and ECE marks of the receiver, and, at the sender, the ECN field
of each packet, cw after each ACK, and the times at which packets leave. Prints TAP. Needs root and
tcp_ldcp; changes nothing outside its own network namespace.

    the stack under test [tun0] ---- this script, the other end of TCP
"""
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
KNOBS = "/proc/sys/net/hopcc/tcp_ldcp_"
FIRST_RTT, FAST, STABLE = 0, 1, 2
CW_ONE = 256        # a window of one packet in the output of ss

tap = hosts.Tap()
claim = tap.equal


def knob(name, value):
    with open(KNOBS + name, "w", encoding="ascii") as file:
        file.write(str(value))


def new_socket(version, cc="ldcp"):
    sock = socket.socket(wire.FAMILY[version], socket.SOCK_STREAM)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, cc.encode())
    return sock


def law(sock):
    """Return cw in 1/256 packets, and the stage."""
    info = sock.getsockopt(socket.IPPROTO_TCP, TCP_CC_INFO, 20)
    cw, stage = struct.unpack_from("II", info, 12)
    return cw, stage // CW_ONE


def cwnd(sock):
    info = sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104)
    return struct.unpack_from("I", info, 8 + 4 * 18)[0]


# The receiver ---------------------------------------------------------------

# At the start, nothing is unacknowledged. Each step is a segment by number and code point, and the
# ACKs that it causes: (segments, ECE). NOT: Not-ECT, like first-RTT packets.
EACH = (
    ("1 ECT", [(1, 0)]),
    ("2 ECT", [(2, 0)]),
    ("3 CE", [(3, 1)]),                     # an ACK for the mark alone
    ("4 ECT", [(4, 0)]),                    # and no additional ACK
    ("5 CE", [(5, 1)]),
    ("6 CE", [(6, 1)]),
    ("7 NOT", [(7, 0)]),                    # first RTT of the next message
    ("8 NOT", [(8, 0)]),
    ("9 CE +CWR", [(9, 1)]),
    ("10 NOT +CWR", [(10, 0)]),
    ("12 CE", [(10, 1)]),                   # a hole: its own duplicate ACK
    ("13 ECT", [(10, 0)]),
    ("14 NOT", [(10, 0)]),
    ("11 CE", [(11, 1), (14, 0)]),          # hole filled: the mark alone, then the rest
    ("16 CE", [(14, 1)]),
    ("15 ECT", [(16, 0)]),
    ("17 NOT", [(17, 0)]),
)

SECOND = (
    ("1 ECT", []),
    ("2 ECT", [(2, 0)]),                    # every second segment
    ("3 ECT", []),
    ("4 CE", [(3, 0), (4, 1)]),             # first the waiting segment, then the mark
    ("5 CE", [(5, 1)]),                     # no segment waits
    ("6 ECT", []),
    ("7 ECT", [(7, 0)]),
    ("8 ECT LATE", [(8, 0)]),
    ("9 CE", [(9, 1)]),
    ("10 NOT", [(10, 0)]),                  # the stack's quick ACK, without ECE
    ("12 CE", [(10, 1)]),
    ("11 ECT", [(12, 0)]),
)


def send_step(peer, words):
    flags = ACK | (CWR if "+CWR" in words else 0)
    ecn = CE if "CE" in words else NOT_ECT if "NOT" in words else ECT0
    peer.send(flags, pos=(int(words[0]) - 1) * MSS, ecn=ecn, payload=bytes(MSS))


def receiver(tun, version, steps, ack_pkts):
    name = f"IPv{version}, an ACK for {ack_pkts}: "
    knob("ack_pkts", ack_pkts)
    listener = new_socket(version)
    listener.bind((wire.STACK[version], 0))
    listener.listen()
    peer = Peer(tun, version, 40000 + version + 10 * ack_pkts)
    sock, synack = peer.connect(listener)
    wire.make_room(sock)
    claim(name + "SYN-ACK agrees to ECN and is ECT",
          (synack.flags, synack.ecn), (SYN | ACK | ECE, ECT0))
    warm_up(peer, sock, ack_pkts)
    ecns = set()
    for step, want in steps:
        words = step.split()
        if ack_pkts > 1:
            delay_acks(sock)
        send_step(peer, words)
        packets = peer.read(500 if "LATE" in words else 2)
        ecns |= {p.ecn for p in packets}
        claim(name + step, [(p.ack // MSS, int(bool(p.flags & ECE))) for p in packets], want)
    claim(name + "ACKs are ECT", ecns, {ECT0})
    sock.close()
    listener.close()
    tun.read(5)
    knob("ack_pkts", 1)


def delay_acks(sock):
    """Switch quick ACKs off, which the delayed ACK's timer, marks and holes switch on."""
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 0)


def warm_up(peer, sock, ack_pkts):
    """Pass the quick ACKs of a new connection, then start positions at 0."""
    for pos in range(0, 40 * MSS, MSS):
        peer.send(ACK, pos=pos, ecn=ECT0, payload=bytes(MSS))
        peer.read(1)
    if ack_pkts > 1:
        delay_acks(sock)
    sock.recv(40 * MSS)
    peer.read(500)
    peer.isn = (peer.isn + 40 * MSS) % 2**32


def fresh(tun):
    """Return a connection whose first packets are Not-ECT, so that each is acknowledged."""
    listener = new_socket(4)
    listener.bind((wire.STACK[4], 0))
    listener.listen()
    peer = Peer(tun, 4, 40100)
    sock, _ = peer.connect(listener)
    wire.make_room(sock)
    got = []
    for number in range(1, 41):
        peer.send(ACK, pos=(number - 1) * MSS, ecn=NOT_ECT, payload=bytes(MSS))
        got.append([(p.ack // MSS, p.flags & ECE) for p in peer.read(1)])
    claim("a new connection: 40 Not-ECT packets, 40 ACKs", got,
          [[(n, 0)] for n in range(1, 41)])
    sock.close()
    listener.close()
    tun.read(5)


# The sender -----------------------------------------------------------------

class Sender:
    """The stack sends, and the script acknowledges."""

    def __init__(self, tun, version, port, flags=ECE, rtt_ms=0, cc="ldcp", scale=0):
        self.sock = new_socket(version, cc)
        self.sock.setblocking(False)
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
        self.peer = Peer(tun, version, port)
        if scale:
            self.peer.OPTIONS += bytes([1, 3, 3, scale])
        self.syn = self.peer.accept(self.sock, flags, rtt_ms)
        self.una = self.nxt = 0
        self.packets = []
        self.rtt_ms = rtt_ms
        # The window of a SYN-ACK is not scaled.
        if scale:
            self.peer.send(ACK)

    def send(self, segments, extra=0):
        self.sock.send(bytes(segments * MSS + extra))
        return self.collect()

    def collect(self, wait_ms=2):
        self.packets = self.peer.read(wait_ms)
        for p in self.packets:
            self.nxt = max(self.nxt, p.seq + p.size)
        return self.packets

    def wait(self, limit_s=1):
        """Wait until a packet leaves."""
        end = time.monotonic() + limit_s
        self.packets = []
        while not self.packets and time.monotonic() < end:
            self.collect(1)
        return self.packets

    def ack(self, segments=1, ece=False):
        self.una += segments * MSS
        self.peer.send(ACK | (ECE if ece else 0), ack=self.una)
        return self.collect()

    def steady(self, acks=30):
        """Pass the first window, until cw is some packets above it."""
        self.send(300)
        time.sleep(self.rtt_ms / 1000)
        for _ in range(acks):
            self.ack()

    def close(self, pos=0):
        """pos: number of bytes that the script has sent."""
        self.peer.send(wire.RST | ACK, pos=pos, ack=self.una)
        self.sock.close()
        self.peer.wire.read(5)


def reordering(sock):
    info = sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104)
    return struct.unpack_from("I", info, 8 + 4 * 20)[0]


def ca_state(sock):
    """Return the state of congestion avoidance, TCP_CA_*."""
    return sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104)[1]


def retransmits(sock):
    """Return the number of timeouts in a row."""
    return sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104)[2]


def segments(packets):
    """Return the ECN field of each segment, in order; the tun device segments GSO packets."""
    return [p.ecn for p in packets for _ in range(max(1, -(-p.size // MSS)))]


def first_window(tun, version):
    """20 packets: 19 Not-ECT, the last ECT; from the first ACK on, all are ECT."""
    name = f"IPv{version} sender: "
    s = Sender(tun, version, 41000 + version)
    claim(name + "SYN asks for ECN and is ECT",
          (s.syn.flags, s.syn.ecn), (SYN | ECE | CWR, ECT0))
    claim(name + "the first window is the knob's", law(s.sock), (20 * CW_ONE, FIRST_RTT))
    claim(name + "19 packets Not-ECT, the 20th ECT", segments(s.send(300)),
          [NOT_ECT] * 19 + [ECT0])
    claim(name + "an ACK: one packet, ECT", segments(s.ack()), [ECT0])
    claim(name + "and the first RTT is over", law(s.sock), (20 * CW_ONE, FAST))
    claim(name + "ten ACKs, no credit yet", segments([p for _ in range(18) for p in s.ack()]),
          [ECT0] * 18)
    claim(name + "nor a stage", law(s.sock), (20 * CW_ONE, FAST))
    claim(name + "one packet behind a hole would be a loss", reordering(s.sock), 1)
    s.ack()
    claim(name + "all of the first window acked: cw = BDP", law(s.sock), (20 * CW_ONE, STABLE))
    claim(name + "and packets may overtake each other as ever", reordering(s.sock), 3)
    return s


def route_window(tun, version):
    """The route's initcwnd takes precedence over the sysctls."""
    to = f"{wire.SCRIPT[version]}/{32 if version == 4 else 128}"
    route = f"ip -{version} route replace {to} dev tun0 initcwnd"
    for pkts in (30, 12):
        subprocess.run([*route.split(), str(pkts)], check=True)
        s = Sender(tun, version, 41800 + version + pkts)
        claim(f"IPv{version} sender: initcwnd {pkts} of the route: a first window of {pkts}",
              (segments(s.send(300)), law(s.sock)),
              ([NOT_ECT] * (pkts - 1) + [ECT0], (pkts * CW_ONE, FIRST_RTT)))
        s.close()
    subprocess.run(f"ip -{version} route del {to} dev tun0".split(), check=True)


def translated(tun, version):
    """With source NAT that also changes the port, the first window is Not-ECT, too."""
    port = 41100 + version
    for line in ("add table inet translated",
                 "add chain inet translated out { type nat hook postrouting priority srcnat; }",
                 f"add rule inet translated out tcp dport {port} masquerade to :50000-50009"):
        subprocess.run(["nft", *line.split()], check=True)
    s = Sender(tun, version, port)
    claim(f"IPv{version} behind NAT: another port", 50000 <= s.syn.sport < 50010, True)
    claim(f"IPv{version} behind NAT: 19 packets Not-ECT, the 20th ECT", segments(s.send(300)),
          [NOT_ECT] * 19 + [ECT0])
    s.close()
    subprocess.run(["nft", "delete", "table", "inet", "translated"], check=True)


def exact_windows(name, s, alpha=1, beta=0.5):
    """Compare equations (1) and (2) with plain arithmetic."""
    cw = 20.0
    for pkts, ece in ((1, False), (1, False), (2, False), (1, True), (1, False), (2, True),
                      (1, True)):
        s.ack(pkts, ece)
        cw += -pkts * beta if ece else pkts * alpha / cw
        claim(name + f"an ACK of {pkts}, ECE = {int(ece)}: cw = {cw:.3f}",
              (law(s.sock)[0], cwnd(s.sock)), (int(cw * CW_ONE), int(cw)))


def crossing(name, s, alpha=1, beta=0.5, gamma=0.25, eta=0.5):
    """cw falls below one packet, and rises again."""
    while law(s.sock)[0] > 2 * CW_ONE:
        s.ack(1, True)
    cw = law(s.sock)[0] / CW_ONE
    for ece in (True, True, True, True, True, True, False, False, False, False):
        # Below one packet, each has to wait. Above, several may be in flight still.
        while s.una >= s.nxt:
            s.collect(50)
        s.ack(1, ece)
        if cw >= 1:
            cw += -beta if ece else alpha / cw
        else:
            cw = max(gamma, cw * eta) if ece else cw + gamma
        cw = max(cw, gamma)
        claim(name + f"ECE = {int(ece)}: cw = {cw:.3f}", law(s.sock)[0],
              lambda got, cw=cw: abs(got - cw * CW_ONE) <= 1)


# Default and another value of the parameters of equations (1) and (2): binary fractions, which the
# module's fixed point has exactly.
GAINS = {"tcp_ldcp_alpha_ppm": (1, 0.5), "tcp_ldcp_beta_ppm": (0.5, 0.25), "tcp_ldcp_gamma_ppm": (0.25, 0.125),
         "tcp_ldcp_eta_ppm": (0.5, 0.75)}


def gains(tun):
    """Each parameter with another value than its default, then all four."""
    for number, changed_ones in enumerate([*([name] for name in GAINS), list(GAINS)]):
        values = [pair[name in changed_ones] for name, pair in GAINS.items()]
        for name, value in zip(GAINS, values):
            hosts.write(f"/proc/sys/net/hopcc/{name}", int(value * 1000000))
        s = Sender(tun, 4, 41200 + number)
        s.send(300)
        for _ in range(20):
            s.ack()
        title = f"alpha, beta, gamma, eta {values}: "
        exact_windows(title, s, *values[:2])
        crossing(title, s, *values)
        s.close()
    for name, (value, _) in GAINS.items():
        hosts.write(f"/proc/sys/net/hopcc/{name}", int(value * 1000000))


def messages(tun):
    """The last packet of a message is ECT; each message of a flow below the BDP starts again."""
    s = Sender(tun, 4, 41100)
    claim("a message of five packets: the last is ECT", segments(s.send(5)),
          [NOT_ECT] * 4 + [ECT0])
    s.ack(5)
    claim("all acked, the first window is not: no end of the stage", law(s.sock),
          (20 * CW_ONE, FAST))
    claim("the next message: the same", segments(s.send(3, 500)), [NOT_ECT] * 3 + [ECT0])
    claim("it is the first RTT again", law(s.sock), (20 * CW_ONE, FIRST_RTT))
    s.una += 500
    s.ack(3)
    claim("one packet is the last", segments(s.send(1)), [ECT0])
    s.ack()
    claim("a mark revokes a credit here too", (segments(s.send(2)), s.ack(2, True),
                                               law(s.sock)[0]),
          ([NOT_ECT, ECT0], [], 19 * CW_ONE))
    s.close()


def idle(tun):
    s = first_window(tun, 4)
    for _ in range(290):
        s.ack(1)
        if s.una >= 300 * MSS:
            break
    for _ in range(8):
        s.send(1)
        s.ack(1, True)
    cw = law(s.sock)
    time.sleep(0.1)
    claim("idle for less than an RTO: cw stays, packets are ECT",
          (segments(s.send(2)), law(s.sock)), ([ECT0] * 2, cw))
    s.ack(2)
    time.sleep(0.5)
    claim("idle for an RTO: a first window again", (segments(s.send(40)), law(s.sock)),
          ([NOT_ECT] * 19 + [ECT0], (20 * CW_ONE, FIRST_RTT)))
    s.close()


def losses(tun):
    """After a loss in the first window, cw is the amount that was cumulatively acked before."""
    for lost, want in ((0, 0.25), (7, 7)):
        s = Sender(tun, 4, 41200 + lost)
        s.send(300)
        if lost:
            s.ack(lost)
        # The ACKs before it have released more packets.
        s.peer.sack(s.una, [(19 * MSS, (20 + lost) * MSS)])
        packets = s.collect(10)
        claim(f"{lost} of 20 acked, then the last alone arrives: cw = {want}",
              law(s.sock), (int(want * CW_ONE), STABLE))
        claim("packets may overtake each other from now on", reordering(s.sock), 3)
        again = [p for p in packets if p.seq < 20 * MSS]
        claim("what is repeated is ECT, and starts at the hole",
              ({p.ecn for p in again}, min(p.seq for p in again) if again else None),
              ({ECT0}, lost * MSS))
        s.close()


def undo(tun):
    """Reordering that looked like a loss: the window is restored."""
    s = Sender(tun, 4, 41300, rtt_ms=5)
    s.send(300)
    s.peer.sack(0, [(MSS, 2 * MSS)])
    claim("the second packet overtakes the first: a loss, it seems", law(s.sock),
          (CW_ONE // 4, STABLE))
    s.una = 2 * MSS
    s.peer.send(ACK, ack=s.una)
    s.peer.sack(s.una, [(0, MSS)])
    s.collect()
    claim("DSACK: it was none, cw = BDP", law(s.sock), (20 * CW_ONE, STABLE))
    s.close()


def false_loss(s, dsack_flags=ACK):
    """Four packets overtake one, which is retransmitted although it was not lost."""
    hole, high = s.una, s.nxt
    before = law(s.sock)[0]
    s.peer.sack(hole, [(hole + MSS, hole + 5 * MSS)])
    # This is less than an RTT, so the next arrival cannot be the retransmission.
    s.collect(1)
    claim("four packets overtake one: a loss, it seems", law(s.sock)[0],
          lambda got: 0.45 * before < got < 0.55 * before)
    claim("it is repeated", [p.seq for p in s.packets if p.seq < high], [hole])
    return before, hole, high


def undo_after_marks(tun):
    """Marks make the stack forget how to undo; they arrive before the loss, with the DSACK, and
    after the recovery."""
    for what, mark, flags, late in (
            ("no mark", False, ACK, False),
            ("a mark before the loss", True, ACK, False),
            ("the same, and one with the DSACK", True, ACK | ECE, False),
            ("no mark, recovery is over", False, ACK, True),
            ("marks, recovery is over", True, ACK | ECE, True)):
        s = Sender(tun, 4, 41310 + 2 * late + 4 * mark + bool(flags & ECE), rtt_ms=5)
        s.steady()
        s.ack(1, mark)
        claim(f"{what}: TCP_CA_CWR or Open", ca_state(s.sock), 2 if mark else 0)
        before, hole, high = false_loss(s)
        s.una += 5 * MSS
        s.peer.send(ACK, ack=s.una)
        # The DSACK counts the retransmission as delivered, so a mark reduces cw by half a packet.
        marked = 1 if flags & ECE else 0
        if late:
            # Acknowledge all packets sent before the loss was detected: the recovery is over.
            marked += (high - s.una) // MSS * marked
            s.una = high
            s.peer.send(flags, ack=s.una)
            claim(f"{what}: TCP_CA_CWR or Open again", ca_state(s.sock),
                  2 if flags & ECE else 0)
        s.peer.sack(s.una, [(hole, hole + MSS)], flags)
        s.collect()
        claim(f"{what}, DSACK: cw is what it was, less what marks took since", law(s.sock)[0],
              lambda got, want=before - marked * CW_ONE // 2: want - 2 <= got <= want + CW_ONE)
        s.close()


def late_loss(tun):
    """After reordering, a timer detects the loss; the retransmissions are not a burst."""
    s = Sender(tun, 4, 41350, rtt_ms=5)
    s.send(20)
    s.peer.sack(0, [(MSS, 2 * MSS)])
    s.una = 20 * MSS
    s.peer.send(ACK, ack=s.una)
    s.peer.sack(s.una, [(0, MSS)])
    s.collect(20)
    time.sleep(1)
    claim("a first window again", segments(s.send(20)), [NOT_ECT] * 19 + [ECT0])
    time.sleep(0.005)
    s.peer.sack(s.una, [(s.una + 19 * MSS, s.una + 20 * MSS)])
    claim("its last alone arrives: no loss for now", (s.collect(0.2), law(s.sock)[1]), ([], FAST))
    again = s.collect(10)
    claim("the timer finds it: cw = 0.25", law(s.sock), (CW_ONE // 4, STABLE))
    claim("and one packet is repeated", (len(again), (again or s.collect(40))[0].seq),
          lambda got: got[0] <= 1 and got[1] == s.una)
    claim("the window is one packet", cwnd(s.sock), 1)
    s.close()


def lost_tail(tun):
    """Packets 5 to 9 of 20 arrive, the others and the ECT tail are lost: no timeout is needed."""
    rtt_ms = 5
    s = Sender(tun, 4, 41370, rtt_ms=rtt_ms)
    s.send(300)
    time.sleep(rtt_ms / 1000)
    arrived = set(range(5, 10))
    s.peer.sack(0, [(5 * MSS, 10 * MSS)])
    start_s = time.monotonic()
    s.packets, took_ms = [], 0
    while time.monotonic() - start_s < 1 and not set(range(20)) <= arrived:
        s.collect(1)
        arrived |= {p.seq // MSS + i for p in s.packets for i in range(max(1, p.size // MSS))}
        took_ms = took_ms or (time.monotonic() - start_s) * 1000 * (0 in arrived)
        if s.packets:
            time.sleep(rtt_ms / 1000)
            first = min(set(range(320)) - arrived)
            s.una = first * MSS
            beyond = min(set(range(5, 320)) - arrived)
            s.peer.sack(s.una, [(5 * MSS, beyond * MSS)] if first < 5 else [])
    claim("the first hole is repaired at RTT / cw: ten packets may be in flight, or lost", took_ms,
          lambda got: 10 < got < 40)
    claim("then all the others, the tail too", sorted(set(range(20)) - arrived), [])
    claim("without a timeout", time.monotonic() - start_s, lambda got: got < 0.4)
    claim("which LDCP would have remembered", hosts.cc_of(s.sock), "ldcp")
    s.close()


def pushes(tun):
    """Linux sets PSH within a write, too, but only the end of the write is the end of a message."""
    knob("bdp_bytes", 250 * FULL)
    s = Sender(tun, 4, 41360, scale=2)
    claim("140 packets, the stack pushes after 132 by itself: the 140th is ECT, no other",
          segments(s.send(140)), [NOT_ECT] * 139 + [ECT0])
    s.close()
    s = Sender(tun, 4, 41362)
    claim("80 packets, the receiver takes 65: what is last to leave is ECT",
          segments(s.send(80)), lambda got: set(got[:31]) == {NOT_ECT} and got[-1] == ECT0)
    s.close()
    s = Sender(tun, 4, 41361)
    s.sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 5000)
    sent = segments(s.send(60))
    claim("a send buffer ends the window: what is last to leave is ECT",
          (len(sent), sent[:-1], sent[-1]),
          lambda got: 1 < got[0] < 40 and set(got[1]) == {NOT_ECT} and got[2] == ECT0)
    s.close()
    knob("bdp_bytes", 20 * FULL)


def clocked(tun):
    """cw = 1/4 from the second packet of a connection on, when the stack's pacing is not active."""
    rtt_ms = 20
    knob("bdp_bytes", 1)
    s = Sender(tun, 4, 41400, rtt_ms=rtt_ms)
    s.send(60)
    sent_ns = [s.packets[0].time_ns]
    claim("a first window of one packet: ECT", [p.ecn for p in s.packets], [ECT0])
    waits = []
    for _ in range(6):
        delay = rtt_ms / 1000 - (time.monotonic_ns() - sent_ns[-1]) / 1e9
        time.sleep(max(0, delay))
        s.ack(1, True)
        while not s.packets:
            s.collect(10)
        sent_ns.append(s.packets[0].time_ns)
        waits.append((sent_ns[-1] - sent_ns[-2]) / 1e6)
        s.collect(10)
    claim("a packet each RTT / cw: 40, then 80 ms", waits,
          lambda got: abs(got[0] - 40) < 4 and all(abs(w - 80) < 6 for w in got[1:]))
    claim("and one at a time", (cwnd(s.sock), law(s.sock)[0]), (1, CW_ONE // 4))
    s.close()
    knob("bdp_bytes", 20 * FULL)


def timeouts(tun, mark):
    """No ACKs return any more: a box on the path may drop ECT packets."""
    s = Sender(tun, 4, 41500 + mark)
    s.send(300)
    if mark:
        s.ack(1, True)
        claim("a mark, then nothing: TCP_CA_CWR", ca_state(s.sock), 2)
    end = time.monotonic() + 30
    while hosts.cc_of(s.sock) == "ldcp" and time.monotonic() < end:
        s.collect(100)
    s.collect(100)
    claim("three timeouts in a row: Reno", hosts.cc_of(s.sock), "ldcp-reno")
    end = time.monotonic() + 30
    while not s.packets and time.monotonic() < end:
        s.collect(500)
    s.ack(1)
    claim("and Not-ECT", {p.ecn for p in s.packets}, {NOT_ECT})
    s.peer.send(ACK, ack=s.una, ecn=CE, payload=bytes(MSS))
    acks = [(p.ack // MSS, bool(p.flags & ECE), p.ecn) for p in s.collect(100)]
    claim("the peer's marks are echoed still, Not-ECT", acks[-1:], [(1, True, NOT_ECT)])
    s.peer.send(ACK | CWR, pos=MSS, ack=s.una, ecn=ECT0, payload=bytes(MSS))
    acks = [(p.ack // MSS, bool(p.flags & ECE)) for p in s.collect(100)]
    claim("until it has received CWR", acks[-1:], [(2, False)])
    claim("packets may overtake each other as ever", reordering(s.sock), 3)
    s.close()


def one_timeout(tun):
    """The window is one packet after a timeout, also if a mark has reduced it before."""
    for mark in (False, True):
        s = Sender(tun, 4, 41510 + mark, rtt_ms=5)
        s.steady()
        s.ack(1, mark)
        while not retransmits(s.sock) and s.wait():
            pass
        claim(f"a timeout {'after a mark' if mark else 'alone'}: cw = 1",
              (retransmits(s.sock), law(s.sock)[0], cwnd(s.sock)), (1, CW_ONE, 1))
        claim("an ACK of what was repeated: no burst", len(segments(s.ack(1))),
              lambda got: 1 <= got <= 3)
        s.close()


def repaired_tail(tun):
    """A loss probe repairs a lost tail: the window is halved once, also with ECE on the ACK."""
    for ece in (False, True):
        s = Sender(tun, 4, 41520 + ece, rtt_ms=4)
        s.send(40)
        time.sleep(0.004)
        for _ in range(40):
            s.ack()
        s.send(10)
        s.ack(9)
        before = law(s.sock)[0]
        claim("the tail is lost: a probe repeats it", [p.seq for p in s.wait()], [s.una])
        s.ack(1)
        s.send(2)
        s.ack(1, ece)
        want = before / 2 - ece * CW_ONE / 2
        claim(f"an ACK beyond it, ECE = {int(ece)}: one half, and 0.5 for the mark",
              law(s.sock)[0], lambda got, want=want: abs(got - want) <= 2)
        s.close()


def lost_repair(tun, tail_pkts):
    """The retransmission of a hole is lost, too, and so many packets of the tail, while marks take the
    window below a packet: new data still leaves, since only its ACK can show the loss before the
    timeout does.
    """
    name = f"ldcp, {tail_pkts} packets of the tail lost: "
    s = Sender(tun, 4, 41540 + tail_pkts, rtt_ms=5)
    s.steady()
    time.sleep(0.005)
    hole, end, packets = s.una, s.nxt, []
    for edge in range(hole + 2 * MSS, end + 1 - tail_pkts * MSS, MSS):
        s.peer.sack(hole, [(hole + MSS, edge)], ACK | ECE)
        packets += s.collect(1)
    start_s, received = time.monotonic(), end
    while time.monotonic() < start_s + 1 and len([p for p in packets if p.seq == hole]) < 2:
        packets += s.collect(1)
        if s.nxt > received:
            received = s.nxt
            time.sleep(0.005)
            s.peer.sack(hole, [(end, received), (hole + MSS, end - tail_pkts * MSS)], ACK | ECE)
    took_ms = (time.monotonic() - start_s) * 1000
    claim(name + "the window is below a packet", law(s.sock)[0], lambda got: got < CW_ONE)
    claim(name + "the lost retransmission is repeated, ms", took_ms, lambda got: got < 150)
    claim(name + "without a timeout", retransmits(s.sock), 0)
    s.close()


def both_ways(tun):
    """cw = 1/4, and the peer sends data: retransmissions still leave at their time."""
    for data in (False, True):
        s = Sender(tun, 4, 41530 + data, rtt_ms=5)
        s.send(300)
        time.sleep(0.005)
        tail = [(19 * MSS, 20 * MSS)]
        s.peer.sack(0, tail)
        start_s, pos, s.packets = time.monotonic(), 0, []
        while not [p for p in s.packets if p.size] and time.monotonic() < start_s + 1:
            if data:
                s.peer.sack(0, tail, pos=pos, ecn=ECT0, payload=bytes(100))
                pos += 100
            s.collect(4)
        claim(f"a repair after RTT / cw, {'data' if data else 'silence'} from the peer, ms",
              (time.monotonic() - start_s) * 1000, lambda got: 10 < got < 30)
        claim("without a timeout", retransmits(s.sock), 0)
        s.close(pos)


def narrower(tun):
    """The path MTU falls: retransmitted packets were not lost; a timeout then still counts."""
    for number, mark in enumerate((False, True)):
        s = Sender(tun, 4, 41540 + number, rtt_ms=5)
        s.steady()
        s.ack(1, mark)
        before = law(s.sock)
        s.peer.refuse(700, s.una)
        s.collect(5)
        claim(f"a router refuses packets {'after a mark' if mark else 'in Open'}: cw as before",
              (law(s.sock), ca_state(s.sock)), (before, 4))
        claim("they are repeated in smaller ones", {p.size for p in s.packets[:2]},
              lambda got: got and max(got) < 700)
        while not retransmits(s.sock) and s.wait():
            pass
        claim("nothing comes back: a timeout leaves one packet", law(s.sock)[0], CW_ONE)
        s.close()
        subprocess.run("ip route flush cache".split(), check=True)


def without_ecn(tun):
    s = Sender(tun, 4, 41600, flags=0)
    packets = s.send(40)
    claim("no ECN agreed: Reno, ten packets, Not-ECT",
          (hosts.cc_of(s.sock), segments(packets)), ("ldcp-reno", [NOT_ECT] * 10))
    s.close()
    sock = new_socket(4)
    sock.setblocking(False)
    peer = Peer(tun, 4, 41601)
    sock.connect_ex((wire.SCRIPT[4], peer.port))
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"reno")
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"ldcp")
    peer.answer(sock, 0, 0)
    sock.send(bytes(MSS))
    claim("cc changed before a SYN-ACK that refuses ECN: Reno, Not-ECT",
          ({p.ecn for p in peer.read()}, hosts.cc_of(sock)), ({NOT_ECT}, "ldcp-reno"))
    peer.send(wire.RST | ACK, ack=0)
    sock.close()


def changed(tun):
    """A connection that changes to LDCP keeps its window, and is stable."""
    s = Sender(tun, 4, 41700, cc="dctcp_ms")
    s.send(300)
    s.ack(2)
    s.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"ldcp")
    claim("changed in mid-flow: 12 packets, stable", law(s.sock), (12 * CW_ONE, STABLE))
    claim("and ECT", segments(s.ack(1)), [ECT0])
    s.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"reno")
    claim("and from LDCP: packets may overtake each other as ever", reordering(s.sock), 3)
    s.close()


def sysctls():
    good = (("alpha_ppm", 1), ("alpha_ppm", 1000000), ("beta_ppm", 1000000), ("beta_ppm", 1),
            ("gamma_ppm", 3906), ("eta_ppm", 999999), ("per_rtt", 1), ("ack_pkts", 2),
            ("rate_mbit", 1600000), ("rtt_us", 10000000), ("bdp_bytes", 1 << 30))
    bad = (("alpha_ppm", 0), ("alpha_ppm", 1000001), ("beta_ppm", 0), ("beta_ppm", 1000001),
           ("gamma_ppm", 0), ("gamma_ppm", 1000001), ("eta_ppm", 0), ("eta_ppm", 1000000),
           ("per_rtt", 2), ("ack_pkts", 0), ("ack_pkts", 3), ("rate_mbit", 1600001),
           ("rtt_us", 10000001), ("bdp_bytes", (1 << 30) + 1), ("alpha_ppm", -1))
    defaults = {"alpha_ppm": 1000000, "beta_ppm": 500000, "gamma_ppm": 250000, "eta_ppm": 500000,
                "per_rtt": 0, "ack_pkts": 1, "rate_mbit": 0, "rtt_us": 0, "bdp_bytes": 0}
    got = {}
    for name in defaults:
        with open(KNOBS + name, encoding="ascii") as file:
            got[name] = int(file.read())
    claim("defaults", got, defaults)
    for values, takes in ((good, True), (bad, False)):
        for name, value in values:
            try:
                knob(name, value)
                took = True
            except OSError:
                took = False
            claim(f"{name} {'takes' if takes else 'refuses'} {value}", took, takes)
    for name, value in defaults.items():
        knob(name, value)


# Size of a full packet on the wire, without timestamps: the first window is 20 of these.
FULL = MSS + 20 + 20 + 38


def main():
    tun = wire.Wire()
    with open("/proc/sys/net/ipv4/tcp_ecn", "w", encoding="ascii") as file:
        file.write("1")
    sysctls()
    for version in (4, 6):
        receiver(tun, version, EACH, 1)
        receiver(tun, version, SECOND, 2)
    fresh(tun)
    for version in (4, 6):
        knob("bdp_bytes", 20 * (FULL if version == 4 else FULL + 20))
        route_window(tun, version)
        s = first_window(tun, version)
        exact_windows(f"IPv{version} sender: ", s)
        crossing(f"IPv{version} sender: ", s)
        s.close()
        translated(tun, version)
    knob("bdp_bytes", 20 * FULL)
    gains(tun)
    messages(tun)
    idle(tun)
    losses(tun)
    undo(tun)
    late_loss(tun)
    lost_tail(tun)
    pushes(tun)
    undo_after_marks(tun)
    one_timeout(tun)
    repaired_tail(tun)
    lost_repair(tun, 0)
    lost_repair(tun, 2)
    both_ways(tun)
    narrower(tun)
    clocked(tun)
    without_ecn(tun)
    changed(tun)
    timeouts(tun, False)
    timeouts(tun, True)
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
