#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""HPCC++ until its first answer and behind it, on a device whose rate is no limit. The peer
negotiates, acknowledges what arrives a round trip later, and answers probes or not. Prints TAP. Needs
root and tcp_hpccpp; changes nothing outside its own network namespace.

    the stack under test [tun0] ---- this script, the receiver
"""
import sys
import time

import hosts
import int_wire
import shims
from int_wire import ANSWERS, ECHO, RATIO, RECORDS, SUMMARY, Message, header, message, record
from shims import negotiated, negotiation
from wire import ACK, SYN, Peer

MSS = Peer.MSS
RTT_S = 0.01
ROUNDS = 5

tap = hosts.Tap()


class Receiver(shims.Caller):
    """The peer of a stream that does not end."""
    talker = int_wire.Talker
    cc = b"hpccpp"

    def __init__(self, tun, version, port, reply):
        super().__init__(tun, version, port)
        self.reply, self.windows, self.waiting = reply, [], []
        asked, cookie = negotiated(self.syn)
        assert asked == int_wire.ASKS, asked
        self.cookie = cookie
        time.sleep(RTT_S)
        self.peer.send(SYN | ACK, pos=-1, ack=0, options=Peer.OPTIONS + negotiation(*ANSWERS))
        self.push()

    def push(self):
        try:
            while self.sock.send(bytes(1 << 16)):
                pass
        except BlockingIOError:
            pass

    def rounds(self, number):
        """Acknowledge each packet, and answer each probe, a round trip after it was sent."""
        start = time.monotonic()
        for n in range(number):
            self.windows.append(hosts.cwnd_of(self.sock))
            while time.monotonic() < start + (n + 1) * RTT_S:
                self.waiting += [(time.monotonic() + RTT_S, p) for p in self.peer.read(0.1)]
                while self.waiting and self.waiting[0][0] <= time.monotonic():
                    self.receive(self.waiting.pop(0)[1])
                self.push()

    def receive(self, packet):
        if int_wire.is_probe(packet):
            if self.reply:
                self.peer.say(self.reply(Message(packet.payload), self.cookie), int_wire.ECHO_MARK, ack=self.acked)
        elif packet.size:
            self.acked = max(self.acked, packet.seq + packet.size)
            self.peer.send(ACK, ack=self.acked)

    def name(self):
        return hosts.cc_of(self.sock)


def answer(question, cookie, kind, hops=0, records=()):
    return message(question.id, cookie, question.seq, kind=kind, wnd=0) + \
        header(ECHO, len(records), 0, hops, 5 * bool(hops), records, following=0)


def nothing(question, cookie):
    """No hop has reported."""
    return answer(question, cookie, RECORDS)


def summary(question, cookie):
    """A hop of 10 Gbit/s with an empty queue."""
    return answer(question, cookie, SUMMARY, 1, [record(speed=5, ts=question.id * 1000, tx=question.id)])


def ratio(question, cookie):
    """U is 0.1."""
    return message(question.id, cookie, question.seq, t_ns=int(RTT_S * 1e9), kind=RATIO, wnd=(1 << 20) // 10) + \
        header(ECHO, following=0)


def unanswered(tun, version, what, reply):
    """The window grows as in slow start, and stays when Reno takes over."""
    receiver = Receiver(tun, version, 50200, reply)
    receiver.rounds(ROUNDS)
    windows = list(receiver.windows)
    tap.claim(f"IPv{version}, {what}: the window grows as in slow start", windows[-1] >= 3 * windows[1], f"{windows}")
    while receiver.name() == "hpccpp" and len(receiver.windows) < 20:
        receiver.rounds(1)
    tap.claim(f"IPv{version}, {what}: Reno goes on with this window",
              receiver.name() == "hpccpp-reno" and hosts.cwnd_of(receiver.sock) >= windows[-1],
              f"{receiver.name()}, {receiver.windows}")
    receiver.close()


def answered(tun, version, what, reply):
    """The rate that tun reports, 10 Mbit/s or ten packets a round trip, is no limit."""
    receiver = Receiver(tun, version, 50300, reply)
    receiver.rounds(ROUNDS)
    tap.claim(f"IPv{version}, {what}: the window grows beyond what the device's rate allows",
              receiver.windows[-1] >= 4 * receiver.windows[0] and receiver.name() == "hpccpp", f"{receiver.windows}")
    receiver.close()


def main():
    tun = int_wire.Wire()
    for version in (4, 6):
        for what, reply in (("no answer", None), ("answers of no hop", nothing)):
            unanswered(tun, version, what, reply)
        for what, reply in (("answers with a summary", summary), ("answers with a ratio", ratio)):
            answered(tun, version, what, reply)
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
