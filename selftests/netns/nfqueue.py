# SPDX-License-Identifier: GPL-2.0
"""NFQUEUE: packets that netfilter queues to a program, and programs that give verdicts."""
import contextlib
import json
import os
import select
import signal
import socket
import struct

import hosts

NETLINK_NETFILTER, NFNL_SUBSYS_QUEUE = 12, 3
MSG_PACKET, MSG_VERDICT, MSG_CONFIG = 0, 1, 2
CFG_CMD, CFG_PARAMS, CFG_MAXLEN, CFG_MASK, CFG_FLAGS = 1, 2, 3, 4, 5
BIND, COPY_PACKET, F_GSO = 1, 2, 4
ATTR_PACKET_HDR, ATTR_VERDICT_HDR, ATTR_PAYLOAD, ATTR_SKB_INFO = 1, 2, 10, 14
# The device was to compute the checksum; a program that rebuilds the packet must compute it.
NOT_SUMMED = 1
REQUEST, ACK, ERROR = 1, 4, 2
DROP, ACCEPT = 0, 1
SO_RCVBUFFORCE = 33


def attr(kind, data):
    return struct.pack("=HH", 4 + len(data), kind) + data + bytes(-len(data) % 4)


def attrs(data):
    found = {}
    while len(data) >= 4:
        size, kind = struct.unpack_from("=HH", data)
        found[kind & 0x3fff] = data[4:size]
        data = data[size + 3 & ~3:]
    return found


class Queue:
    """A queue of a namespace, read by this process; whole: GSO packets are not segmented."""

    def __init__(self, name, number, whole):
        with hosts.inside(name):
            self.sock = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_NETFILTER)
        self.sock.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 1 << 26)
        self.number = number
        self.config(attr(CFG_CMD, struct.pack("!BxH", BIND, 0)))
        self.config(attr(CFG_PARAMS, struct.pack("!IB", 0xffff, COPY_PACKET)))
        self.config(attr(CFG_MAXLEN, struct.pack("!I", 100000)) +
                    attr(CFG_MASK, struct.pack("!I", F_GSO)) +
                    attr(CFG_FLAGS, struct.pack("!I", F_GSO if whole else 0)))

    def send(self, kind, flags, data):
        self.sock.send(struct.pack("=IHHIIBBH", 20 + len(data), NFNL_SUBSYS_QUEUE << 8 | kind,
                                   REQUEST | flags, 0, 0, 0, 0, socket.htons(self.number)) + data)

    def config(self, data):
        self.send(MSG_CONFIG, ACK, data)
        answer = self.sock.recv(4096)
        kind, = struct.unpack_from("=H", answer, 4)
        error, = struct.unpack_from("=i", answer, 16)
        if kind != ERROR or error:
            raise OSError(-error, os.strerror(-error))

    def packet(self):
        """Return (id, packet, True if it may be rebuilt without computing the checksum)."""
        found = attrs(self.sock.recv(1 << 17)[20:])
        info, = struct.unpack("!I", found.get(ATTR_SKB_INFO, bytes(4)))
        return (struct.unpack_from("!I", found[ATTR_PACKET_HDR])[0], found[ATTR_PAYLOAD],
                not info & NOT_SUMMED)

    def verdict(self, packet_id, verdict, data=None):
        self.send(MSG_VERDICT, 0, attr(ATTR_VERDICT_HDR, struct.pack("!II", verdict, packet_id)) +
                  (attr(ATTR_PAYLOAD, data) if data else b""))


class Program:
    """A process that reads queues and calls decide(number of the queue, number of packets so far,
    packet, True if it may be rebuilt). decide() returns (verdict, another packet or None), or None
    to let the packet wait for ever. The process reports its counts when it is stopped, but not
    when it is killed."""

    def __init__(self, queues, decide):
        ready, said = os.pipe()
        self.pid, self.said = os.fork(), ready
        if self.pid:
            os.close(said)
            os.read(ready, 1)
            return
        status = 1
        with contextlib.suppress(BaseException):
            signal.signal(signal.SIGTERM, self.stop)
            opened = {queue.sock: queue for queue in (Queue(*args) for args in queues)}
            os.write(said, b".")
            self.serve(opened, decide, said)
            status = 0
        os._exit(status)

    def stop(self, *_):
        self.pid = None

    def serve(self, opened, decide, said):
        counts = {queue.number: [0, 0, 0, 0] for queue in opened.values()}
        while self.pid is not None:
            for sock in select.select(list(opened), [], [], 0.05)[0]:
                queue = opened[sock]
                packet_id, *packet = queue.packet()
                seen = counts[queue.number]
                seen[0] += 1
                decided = decide(queue.number, seen[0], *packet)
                if decided is None:
                    seen[3] += 1
                    continue
                seen[1] += decided[0] == DROP
                seen[2] += decided[1] is not None
                queue.verdict(packet_id, *decided)
        os.write(said, json.dumps(counts).encode())

    def end(self, how=signal.SIGTERM):
        """End the process. Return {queue: [seen, dropped, changed, left waiting]}, or nothing."""
        os.kill(self.pid, how)
        os.waitpid(self.pid, 0)
        said = b""
        while more := os.read(self.said, 65536):
            said += more
        os.close(self.said)
        return json.loads(said) if said else None
