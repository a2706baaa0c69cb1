#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""The sockets of tcp_csig: sysctls, the output of ss, and changes of the cc; prints TAP.

    a ---- [r-a] r [r-b: tbf 1gbit, csig] ---- b	a link of 50 us each

Needs root; changes nothing outside its own network namespaces.
"""
import ctypes
import errno
import select
import socket
import struct
import subprocess
import sys
import time

import hosts
from hosts import B, Stream, close, connect, sysctl, transfer

TCP_CC_INFO, ONE, MIB = 26, 256, 1 << 20
# PATH: no hop reports, and the window is Reno's.
SEEK, JUMP, STEADY, PATH = 0, 1, 2, 4
EVERYWHERE = {SEEK + PATH, STEADY + PATH}
tap = hosts.Tap()


def setup():
    hosts.build_path()
    hosts.run("tc -n r qdisc replace dev r-b root handle 1: tbf rate 1gbit burst 64k limit 1mb")
    hosts.run("tc -n r qdisc add dev r-b parent 1:1 handle 10: csig rate 1gbit interval 50us")
    hosts.run("tc -n b qdisc replace dev b-r root netem delay 100us limit 10000")
    for name in ("a", "r", "b"):
        sysctl(name, "hopcc/csig_ports", "a-r r-a r-b b-r")
    sysctl("a", "hopcc/csig", 2)
    sysctl("a", "hopcc/csig_form", 2)
    sysctl("b", "hopcc/csig", 1)
    sysctl("a", "hopcc/tcp_csig_target_ns", 100000)


def law(sock):
    """Return cw in packets, the delay in us, and the stage."""
    info = sock.getsockopt(socket.IPPROTO_TCP, TCP_CC_INFO, 20)
    delay_us, cw, stage = struct.unpack_from("III", info, 8)
    return cw / ONE, delay_us, stage // ONE


def refused(knob, value):
    try:
        sysctl("a", "hopcc/tcp_csig_" + knob, value)
    except OSError as error:
        return error.errno == errno.EINVAL
    return False


def see_knobs():
    bad = (("target_ns", 99), ("target_ns", 1000000001), ("jump", 2), ("move_rounds", 1001),
           ("idle_rounds", 1000001), ("edges", "65536 1"), ("edges", "-1 1"))
    taken = [f"{k}={v}" for k, v in bad if not refused(k, v)]
    tap.claim("knobs refuse what is out of bounds", not taken, " ".join(taken))
    sysctl("a", "hopcc/tcp_csig_edges", "6144 64512 1024 64512")
    with hosts.inside("a"), open("/proc/sys/net/hopcc/tcp_csig_edges", encoding="ascii") as file:
        tap.equal("edges: value and mask, twice", file.read().split(), "6144 64512 1024 64512".split())
    with hosts.inside("b"), open("/proc/sys/net/hopcc/tcp_csig_target_ns", encoding="ascii") as file:
        tap.equal("each namespace has its own", file.read().strip(), "10000")


class Seen:
    """The states of a connection that were seen while it ran."""

    def __init__(self, sock):
        self.sock, self.laws = sock, []

    def __call__(self, received):
        self.laws.append(law(self.sock))

    def stages(self):
        return {stage for _, _, stage in self.laws}


def run(what, version=4, total=8 * MIB, wanted=None, **options):
    pair = connect(version, "csig", **options)
    seen = Seen(pair[0])
    exact = transfer([Stream(*pair, total)], meanwhile=seen)
    tap.claim(f"{what}: all arrives", exact)
    if wanted is not None:
        tap.claim(f"{what}: stages {sorted(wanted)}", seen.stages() <= wanted and seen.laws[-1][2] in wanted,
                  f"{sorted(seen.stages())}; at last {seen.laws[-1]}")
    close(*pair)
    return seen


def see_csig():
    for version in (4, 6):
        # Before the first tag returns, the sender does not know of hops.
        seen = run(f"IPv{version} with CSIG", version, wanted={SEEK + PATH, SEEK, JUMP, STEADY})
        delays = sorted(d for _, d, stage in seen.laws if stage == STEADY)
        tap.claim(f"IPv{version}: the delay is about its target, 100 us",
                  delays and 60 <= delays[len(delays) // 2] <= 130,
                  f"median {delays and delays[len(delays) // 2]} us of {len(delays)}")


def falls_back(what):
    pair = connect(4, "csig")
    tap.claim(f"a peer without CSIG, {what}: all arrives", transfer([Stream(*pair, 8 * MIB)]))
    tap.equal(f"a peer without CSIG, {what}: Reno until the end", hosts.cc_of(pair[0]), "csig-reno")
    close(*pair)


def see_without():
    sysctl("b", "hopcc/csig", 0)
    falls_back("asked")
    falls_back("known")
    sysctl("b", "hopcc/csig", 1)
    sysctl("a", "hopcc/csig_unsupported_s", 0)
    time.sleep(70)
    hosts.run("tc -n r qdisc change dev r-b parent 1:1 handle 10: csig mode pass")
    run("a path whose hops say nothing", wanted=EVERYWHERE)
    connects_again()
    hosts.run("tc -n r qdisc change dev r-b parent 1:1 handle 10: csig mode update")
    sysctl("a", "hopcc/tcp_csig_jump", 0)
    run("without jump start", wanted={SEEK + PATH, SEEK, STEADY})
    sysctl("a", "hopcc/tcp_csig_jump", 1)


def connects_again():
    """A socket to which no hop has reported is disconnected, and connects again: it asks by its name."""
    pair = connect(4, "csig")
    transfer([Stream(*pair, MIB)])
    names = [hosts.cc_of(pair[0])]
    pair[1].close()
    listener = hosts.tcp("b", 4, "cubic")
    listener.bind(("0.0.0.0", 0))
    listener.listen()
    ctypes.CDLL(None).connect(pair[0].fileno(), bytes(16), 16)      # AF_UNSPEC
    names.append(hosts.cc_of(pair[0]))
    before = hosts.counts("a", "csig")
    pair[0].connect_ex((B[4], listener.getsockname()[1]))
    select.select([listener], [], [], 5)
    asked = hosts.since("a", before, "csig")["out_handshake"]
    tap.equal("a socket without a hop is disconnected: its own name again, and its next SYN asks",
              (names, asked), (["csig-reno", "csig"], 1))
    close(pair[0], listener)


def see_loss():
    hosts.run("tc -n a qdisc replace dev a-r root netem loss 1% limit 10000")
    run("1 % loss", total=4 * MIB)
    hosts.run("tc -n a qdisc del dev a-r root")


def port(queue, handle):
    hosts.run(f"tc -n r qdisc replace dev r-b parent 1:1 handle {handle}: {queue}")


def counted(word):
    """Return a counter of the port, by the word in front of it."""
    words = subprocess.run(["tc", "-n", "r", "-s", "qdisc", "show", "dev", "r-b", "parent", "1:1"],
                           check=True, capture_output=True, text=True).stdout.split()
    return int(words[words.index(word) + 1].rstrip(","))


def see_conventional():
    """Where no hop reports, only marks and drops reduce the window, as in any TCP."""
    for name in ("a", "b"):
        sysctl(name, "ipv4/tcp_ecn", 1)
        sysctl(name, "ipv4/tcp_rmem", "4096 4194304 67108864")
        sysctl(name, "ipv4/tcp_wmem", "4096 4194304 67108864")
    port("wred limit 400k ect min 60k max 60k prob 1", 20)
    run("marked at 60 kB", total=16 * MIB, wanted=EVERYWHERE)
    tap.claim("marks keep the queue from 400 kB, where it is cut off",
              counted("marked") > 10 and counted("(dropped") == 0,
              f"{counted('marked')} marked, {counted('(dropped')} dropped")
    port("bfifo limit 90k", 30)
    before = hosts.snmp("a", "Tcp", "RetransSegs")
    run("dropped at 90 kB", total=16 * MIB, wanted=EVERYWHERE)
    again = hosts.snmp("a", "Tcp", "RetransSegs") - before
    tap.claim("drops halve the window: 5 % of 11600 packets at most go twice",
              counted("(dropped") > 0 and again < 580, f"{again} sent again")


def push(pair, total):
    """Send total bytes. Return the number of bytes that arrived."""
    got = 0
    pair[0].setblocking(True)
    while total:
        total -= pair[0].send(bytes(min(total, 1 << 16)))
        got += pull(pair[1], 0)
    return got + pull(pair[1], 0.05)


def pull(sock, wait_s):
    got = 0
    while select.select([sock], [], [], wait_s)[0]:
        got += len(sock.recv(1 << 20))
    return got


def see_idle():
    pair = connect(4, "csig")
    push(pair, 2 * MIB)
    before = law(pair[0])
    time.sleep(0.05)
    pair[0].send(b"x")
    after = law(pair[0])
    tap.claim("after 50 ms of silence a transfer starts as a new one",
              before[0] > 12 and after[0] <= 10 and after[2] == SEEK and hosts.cwnd_of(pair[0]) <= 10,
              f"{before} then {after}")
    close(*pair)


def see_kept():
    """idle_rounds 0: keep the window over idle times as long as other congestion controls."""
    sysctl("a", "hopcc/tcp_csig_idle_rounds", 0)
    pair = connect(4, "csig")
    push(pair, 2 * MIB)
    before = law(pair[0])
    time.sleep(0.05)
    pair[0].send(b"x")
    kept = law(pair[0])
    time.sleep(2)
    pair[0].send(b"x")
    after = law(pair[0])
    tap.claim("with idle_rounds 0 not before a timeout's time has passed",
              kept[0] == before[0] > 12 and kept[2] != SEEK and after[0] <= 10 and after[2] == SEEK,
              f"{before}, {kept}, {after}")
    close(*pair)
    sysctl("a", "hopcc/tcp_csig_idle_rounds", 8)


def see_changes():
    pair = connect(4, "cubic")
    push(pair, MIB)
    pair[0].setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"csig")
    push(pair, 2 * MIB)
    tap.claim("a connection that changes to csig asks for tags by an ACK, and goes by its hops",
              law(pair[0])[2] < PATH, f"{law(pair[0])}")
    pair[0].setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"reno")
    tap.equal("and to another", push(pair, MIB), MIB)
    close(*pair)

    # The cc is set between SYN and SYN-ACK, but the carrier reads it when the SYN arrives.
    listener = hosts.tcp("b", 4, "cubic")
    listener.bind(("0.0.0.0", 0))
    listener.listen()
    sock = hosts.tcp("a", 4, "csig")
    sock.setblocking(False)
    sock.connect_ex((B[4], listener.getsockname()[1]))
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"cubic")
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"csig")
    other = listener.accept()[0]
    other.setblocking(False)
    push((sock, other), 2 * MIB)
    tap.claim("set before the SYN-ACK", law(sock)[2] < PATH, f"{law(sock)}")
    close(sock, other, listener)


def main():
    setup()
    see_knobs()
    see_csig()
    see_idle()
    see_kept()
    see_changes()
    see_without()
    see_loss()
    see_conventional()
    return tap.done()


sys.exit(main())
