#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""XCP on connections that start with a SYN cookie, or with data on the SYN. Prints TAP. Needs root
and the path of xcp_drive.ko; changes nothing outside its own network namespaces.

    a ---- [r-a] r [r-b] ---- b     two hosts and the router between them, veth pairs
"""
import socket
import sys
import time

import hosts
from hosts import B, Stream, connect, counts, drive, drive_reset, since, sysctl, transfer

MB = 1 << 20
TCP_FASTOPEN_CONNECT = 30

tap = hosts.Tap()


def begin():
    drive_reset()
    return counts("a")


def speaks(what, pair, before, total=2 * MB):
    """Send a stream from a: it is intact, every data packet has a header, all feedback returns."""
    exact = bool(pair) and transfer([Stream(*pair, total)])
    if pair:
        hosts.close(*pair)
    time.sleep(1)
    got = since("a", before)
    tap.claim(f"{what}: exact, with headers, all feedback came back",
              exact and got["peer_supported"] == 1 and got["out_data"] >= total // 1460 and
              drive("feedback") == drive("delta") * got["out_data"],
              f"{got['out_data']} packets, feedback {drive('feedback')}")


def goes_without(what, pair, before, total=MB):
    exact = bool(pair) and transfer([Stream(*pair, total)])
    if pair:
        hosts.close(*pair)
    time.sleep(1)
    got = since("a", before)
    tap.claim(f"{what}: exact, without XCP", exact and not got["out_data"] and
              not got["peer_supported"], f"{got['out_data']} packets with headers")


def cookies(version):
    """The SYN-ACK is built without state; its header still proves the peer."""
    sysctl("b", "ipv4/tcp_syncookies", 2)
    sent = hosts.netstat("b", "SyncookiesSent")
    before = begin()
    speaks(f"IPv{version} with a SYN cookie", connect(version), before)
    tap.equal(f"IPv{version}: a cookie was sent", hosts.netstat("b", "SyncookiesSent") - sent, 1)
    # The listener's carrier is off: there is no flow, and no header on the SYN-ACK.
    sysctl("b", "hopcc/xcp", 0)
    before = begin()
    goes_without(f"IPv{version} with a SYN cookie, a peer without support", connect(version), before)
    sysctl("b", "hopcc/xcp", 1)
    sysctl("b", "ipv4/tcp_syncookies", 1)
    time.sleep(61)


def fast_open(version):
    """A SYN with data has no header, since it might be lost with its data because of the header."""
    for name, value in (("a", 1), ("b", 2)):
        sysctl(name, "ipv4/tcp_fastopen", value)
    listener = hosts.tcp("b", version, "cubic")
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_FASTOPEN, 16)
    listener.bind((B[version], 0))
    listener.listen()
    for what, header in (("asks for a cookie", True), ("has data", False)):
        before, start = begin(), time.monotonic()
        taken = hosts.netstat("b", "TCPFastOpenPassive")
        sock = hosts.tcp("a", version, "xcp")
        sock.setsockopt(socket.IPPROTO_TCP, TCP_FASTOPEN_CONNECT, 1)
        sock.connect((B[version], listener.getsockname()[1]))
        sock.send(b"first")
        other = listener.accept()[0]
        tap.claim(f"IPv{version} Fast Open, a SYN that {what}: "
                  f"{'with' if header else 'without'} a header, none lost",
                  other.recv(5) == b"first" and time.monotonic() - start < 0.5 and
                  hosts.netstat("b", "TCPFastOpenPassive") - taken == int(not header) and
                  since("a", before)["out_syn"] == int(header))
        sock.setblocking(False)
        other.setblocking(False)
        if header:
            speaks(f"IPv{version} Fast Open, a SYN that {what}", (sock, other), before)
        else:
            goes_without(f"IPv{version} Fast Open, a SYN that {what}", (sock, other), before)
    listener.close()
    before = begin()
    speaks(f"IPv{version} after Fast Open: the destination is not remembered", connect(version),
           before)


def main():
    hosts.insmod(sys.argv[1])
    hosts.build_path()
    for version in (4, 6):
        cookies(version)
        fast_open(version)
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
