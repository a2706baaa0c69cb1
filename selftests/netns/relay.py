# SPDX-License-Identifier: GPL-2.0
"""A wire that the script is: frames of one host's device leave at the other's, later, changed, more
than once or never. The device of a may be a card, whose driver reports a rate: see speed_card.

    a 192.0.2.1 [tap0 or card0] ---- script ---- [tap0] 192.0.2.2 b
"""
import fcntl
import heapq
import os
import select
import socket
import struct
import subprocess
import time

import hosts
from wire import TUNSETIFF, tun_node

IFF_TAP, IFF_NO_PI = 2, 0x1000
PR_SET_TIMERSLACK = 29
ETH_P_ALL, SOL_PACKET, PACKET_IGNORE_OUTGOING, SO_RCVBUFFORCE = 3, 263, 23, 33
ADDRESS = {"a": "192.0.2.1", "b": "192.0.2.2"}
MAC = {"a": "02:00:00:00:00:01", "b": "02:00:00:00:00:02"}


def open_tap(name):
    """A host's tap, up, its neighbour known."""
    with hosts.inside(name):
        node = tun_node()
        fd = os.open(node, os.O_RDWR | os.O_NONBLOCK)
        if node.startswith("/run/"):
            os.unlink(node)
        fcntl.ioctl(fd, TUNSETIFF, struct.pack("16sH22x", b"tap0", IFF_TAP | IFF_NO_PI))
    hosts.ip(f"-n {name} addr add {ADDRESS[name]}/24 dev tap0")
    start(name, "tap0")
    return fd


def start(name, device):
    """Set a host's device up; what it knew of its neighbour went when it was set down."""
    other = "b" if name == "a" else "a"
    hosts.ip(f"""
        -n {name} link set {device} address {MAC[name]} txqueuelen 10000 up
        -n {name} neigh replace {ADDRESS[other]} lladdr {MAC[other]} dev {device}""")


def open_card(name):
    """A host's card, up; its cable ends in a namespace of its own, at the script."""
    hosts.build("cable")
    hosts.sysctl("cable", "ipv6/conf/all/disable_ipv6", 1)
    hosts.ip(f"""
        link set card0 netns {name}
        link set card1 netns cable
        -n cable link set card1 up
        -n {name} addr add {ADDRESS[name]}/24 dev card0""")
    # The script sees packets before the card would compute their checksums.
    hosts.offload(name, "card0", hosts.ETHTOOL_STXCSUM, 0)
    start(name, "card0")
    with hosts.inside("cable"):
        sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
    sock.bind(("card1", ETH_P_ALL))
    sock.setsockopt(SOL_PACKET, PACKET_IGNORE_OUTGOING, 1)
    sock.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 1 << 26)
    sock.setblocking(False)
    return sock.detach()


class Relay:
    """Both devices. drop(frame), if there is one, is asked of each frame from a. What
    rewrite(frame, is it from a?) returns goes on in place of a frame: (more delay, frame) each.
    """

    def __init__(self, delay_s, card=False):
        self.names = ("a", "b", "cable") if card else ("a", "b")
        hosts.build("a", "b")
        # The kernel may let a sleeper oversleep 50 us: here 1 ns.
        hosts.LIBC.prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0)
        self.taps = [open_card("a") if card else open_tap("a"), open_tap("b")]
        self.delay_s, self.drop, self.under_way, self.number = delay_s, None, [], 0
        self.rewrite = None

    def take(self, fd):
        try:
            frame = os.read(fd, 65536)
        except BlockingIOError:
            return
        if fd == self.taps[0] and self.drop and self.drop(frame):
            return
        from_a = fd == self.taps[0]
        for late_s, one in self.rewrite(frame, from_a) if self.rewrite else [(0, frame)]:
            self.number += 1
            heapq.heappush(self.under_way, (time.monotonic() + self.delay_s + late_s, self.number,
                                            self.taps[from_a], one))

    def run(self, seconds, sockets=(), serve=None):
        """Frames go on for so long, and serve(socket) is called for what can be read."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            due = min(self.under_way[0][0] if self.under_way else end, end)
            ready = select.select([*self.taps, *sockets], [], [],
                                  max(0, due - time.monotonic()))[0]
            for one in ready:
                if one in self.taps:
                    self.take(one)
                else:
                    serve(one)
            while self.under_way and self.under_way[0][0] <= time.monotonic():
                os.write(*heapq.heappop(self.under_way)[2:])

    def close(self):
        for fd in self.taps:
            os.close(fd)
        for name in self.names:
            subprocess.run(["ip", "netns", "del", name], check=True)
