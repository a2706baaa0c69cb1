#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""XCP's carrier at high volume: 1 GB hashed at both ends, with GSO and without, and
100,000 connections. No byte and no feedback may be lost. Prints TAP. Needs root and the
path of xcp_drive.ko; changes nothing outside its own network namespaces.

    a ---- [r-a] r [r-b] ---- b     two hosts and the router between them, veth pairs
"""
import socket
import sys
import time

import hosts
from hosts import Stream, asked, connect, counts, drive, drive_reset, since, sysctl, transfer

QUARTER = 256 << 20
CONNECTIONS = 100000
# A client's port can be used again after a minute.
BATCH = 20000

tap = hosts.Tap()


def streams():
    for gso in (1, 0):
        sysctl("a", "hopcc/xcp_gso", gso)
        for version in (4, 6):
            drive_reset()
            before = counts("a")
            pair = connect(version)
            exact = transfer([Stream(*pair, QUARTER)])
            hosts.close(*pair)
            time.sleep(1)
            got = since("a", before)
            tap.claim(f"IPv{version}, GSO packets {'on' if gso else 'off'}: 256 MB exact, "
                      "all feedback",
                      exact and drive("feedback") == asked(got) * drive("delta") and
                      bool(got["out_gso"]) == bool(gso),
                      f"{got['out_data']} headers, {got['out_gso']} GSO packets")


def one_connection(listener, number):
    """Send a request in one packet, then close. Return True if it arrived intact."""
    text = b"%d " % number * 50
    sock = socket.socket()
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"xcp")
    sock.connect((hosts.B[4], listener.getsockname()[1]))
    other = listener.accept()[0]
    sock.send(text)
    sock.close()
    whole = other.recv(1000) == text and other.recv(1) == b""
    other.close()
    return whole


def connections():
    drive_reset()
    before = counts("a")
    listener = hosts.tcp("b", 4, "cubic")
    listener.bind(("0.0.0.0", 0))
    listener.listen()
    whole = 0
    with hosts.inside("a"):
        for number in range(CONNECTIONS):
            whole += one_connection(listener, number)
            if number % BATCH == BATCH - 1:
                time.sleep(70)
    got = since("a", before)
    tap.equal("100,000 connections: each whole, opened, closed",
              (whole, drive("opened"), drive("closed")), (CONNECTIONS,) * 3)
    tap.equal("100,000 connections: all feedback", drive("feedback"),
              asked(got) * drive("delta"))
    time.sleep(200)
    tap.equal("no flow is left", [counts(name)["flows"] for name in ("a", "b")], [0, 0])


def main():
    hosts.insmod(sys.argv[1])
    hosts.build_path()
    streams()
    connections()
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
