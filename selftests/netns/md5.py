#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""TCP-MD5 keys that are set on a connection of xcp without GSO, or of hpccpp: after another congestion
control is selected, its packets are still signed one by one. Status 1 if a claim fails. Needs root,
xcp, hpccpp and a kernel with TCP-MD5; changes nothing outside its own network namespaces.

    a ---- r ---- b		a's device takes no GSO packets, so that wrong signatures are seen
"""
import socket
import struct
import sys

import hosts
from hosts import A, B, Stream, connect, run, sysctl, transfer

MB = 1 << 20
TCP_MD5SIG = 14
CCS = ("xcp", "hpccpp")
TRIES = 8

tap = hosts.Tap()


def sign(sock, version, peer):
    """Set the key of struct tcp_md5sig."""
    family = hosts.FAMILY[version]
    address = socket.inet_pton(family, peer)
    where = struct.pack("=HH4s", family, 0, address) if version == 4 else \
        struct.pack("=HHI16sI", family, 0, 0, address, 0)
    key = b"key"
    sock.setsockopt(socket.IPPROTO_TCP, TCP_MD5SIG,
                    where.ljust(128, b"\0") + struct.pack("=BBHi80s", 0, 0, len(key), 0, key))


def keeps(version, cc):
    """
    Return a connection that still has its congestion control after some data, its other end, and whether all of the
    data arrived. On a machine that has to wait for its host, a timeout ends xcp. A plain connection that gets a key
    sends GSO packets on, as Linux does.
    """
    for _ in range(TRIES):
        sock, other = connect(version, cc)
        exact = transfer_some(sock, other)
        if not exact or hosts.cc_of(sock) == cc:
            break
        hosts.close(sock, other)
    return sock, other, exact


def case(version, cc):
    sock, other, exact = keeps(version, cc)
    name = hosts.cc_of(sock)
    sign(sock, version, B[version])
    sign(other, version, A[version])
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"cubic")
    before = hosts.netstat("b", "TCPMD5Failure")
    exact = exact and transfer([Stream(sock, other, MB)], limit_s=60)
    bad = hosts.netstat("b", "TCPMD5Failure") - before
    tap.claim(f"IPv{version} {cc}, then a key, then cubic: exact, no signature is wrong",
              exact and name == cc and not bad, f"{exact}, {name}, {bad} wrong")
    hosts.close(sock, other)


def transfer_some(sock, other):
    """Send some data before the key is set, and wait for it."""
    left = got = 0
    while left < MB // 4:
        left += sock.send(bytes(1 << 14))
        other.settimeout(5)
        while got < left:
            got += len(other.recv(1 << 16))
    other.setblocking(False)
    return got == left


def main():
    hosts.build_path()
    hosts.offload("a", "a-r", hosts.ETHTOOL_STSO, 0)
    for name in "ab":
        sysctl(name, "hopcc/xcp_gso", 0)
        sysctl(name, "hopcc/xcp_unsupported_s", 0)
    # HPCC++ ends on a path where no hop reports.
    for dev in ("r-a", "r-b"):
        run(f"tc -n r qdisc add dev {dev} root int rate 100mbit switch_id 1")
    for version in (4, 6):
        for cc in CCS:
            case(version, cc)
    hosts.remove_path()
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
