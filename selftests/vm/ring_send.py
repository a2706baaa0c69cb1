#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Run in a test guest, by guest_ring.sh: send tagged frames with their time to eth0. First some lone
ones, then more than the cable takes, for slow_cable.py."""
import socket
import struct
import time

RATE_MBIT, LEN_BYTES = 1, 500
QUANTUM_NS = 8000
# The numbers of frames of both kinds
LONE, BURST = 20, 1000
MARK = b"hopcc's ring"
TPID_EXPANDED, ETHERTYPE, PD, SO_SNDBUFFORCE = 0x88b6, 0x88b7, 2, 32


def main():
    sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    sock.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, 1 << 28)
    sock.bind(("eth0", 0))
    head = b"\xff" * 6 + b"\x02" + b"\0" * 5 + struct.pack("!HHIH", TPID_EXPANDED, 0, PD << 28, ETHERTYPE) + MARK
    frame_ns = LEN_BYTES * 8000 // RATE_MBIT
    due_ns = time.monotonic_ns()
    for number in range(LONE + BURST):
        # Twice the rate for the first half of the burst, then the rate
        due_ns += 10 * frame_ns if number < LONE else frame_ns // 2 if number < LONE + BURST // 2 else frame_ns
        while (now_ns := time.monotonic_ns()) < due_ns:
            time.sleep((due_ns - now_ns) / 1e9)
        sock.send((head + struct.pack("!QQ", number, now_ns)).ljust(LEN_BYTES, b"\0"))
    # Until the ring is empty
    time.sleep(3)


if __name__ == "__main__":
    main()
