#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""XCP between hosts whose link is in a VRF. Status 1 if a claim fails. Needs root, tcp_xcp,
net_xcp and the kernel's vrf; changes nothing outside its own network namespaces.

    a [a-r in VRF red] ---- r ---- [b-r in VRF red] b
"""
import select
import socket
import sys
import time

import hosts
from hosts import A, B, Stream, counts, run, since, sysctl, transfer

TOTAL = 1 << 18
TRIES = 8
IDLE_S = 6      # longer than ageing leaves an unused entry alone

tap = hosts.Tap()


def bound(name, version, device, cc):
    sock = hosts.tcp(name, version, cc)
    if device:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, device.encode())
    return sock


def connect_bound(version, source_device, sink_device):
    """Like connect(), with sockets bound to devices."""
    listener = bound("b", version, sink_device, "cubic")
    listener.bind((B[version] if sink_device else {4: "0.0.0.0", 6: "::"}[version], 0))
    listener.listen()
    sock = bound("a", version, source_device, "xcp")
    sock.setblocking(False)
    sock.connect_ex((B[version], listener.getsockname()[1]))
    if not select.select([listener], [], [], 20)[0]:
        return None
    other = listener.accept()[0]
    select.select([], [sock], [], 20)
    listener.close()
    other.setblocking(False)
    return sock, other


def enslave(name, device, gateway):
    """Move a namespace's only link to a VRF, with its addresses and routes."""
    run(f"ip -n {name} link add red type vrf table 10")
    run(f"ip -n {name} link set red up")
    run(f"ip -n {name} link set {device} master red")
    # IPv6 removes the addresses of a device that joins a VRF.
    run(f"ip -n {name} addr replace {(A if name == 'a' else B)[6]}/64 dev {device} nodad")
    run(f"ip -n {name} route add default via {gateway[4]} vrf red")
    run(f"ip -n {name} route add default via {gateway[6]} vrf red")
    time.sleep(3)


def repairs():
    """Return the number of segments that were retransmitted, the receiver's SYN-ACK among them."""
    return sum(hosts.snmp(name, "Tcp", "RetransSegs") for name in "ab")


def stream(version, devices):
    """Send a stream. Return (intact, a's counters, b's counters, retransmitted segments)."""
    before, late = {name: counts(name) for name in "ab"}, repairs()
    pair = connect_bound(version, *devices)
    exact = bool(pair) and transfer([Stream(*pair, TOTAL)], limit_s=60)
    if pair:
        hosts.close(*pair)
    time.sleep(0.5)
    return exact, since("a", before["a"]), since("b", before["b"]), repairs() - late


def speaks(what, version, *devices):
    """Check that a stream is intact, has headers on data and on ACKs, and that each header finds
    its flow. If an emulated machine has to wait for its host, it retransmits packets: by a loss
    probe after a few ms, by a timeout after 0.2 s, a SYN after 1 s. Other tests check XCP without
    headers in this case, so this one repeats until a stream has no retransmission.
    """
    for _ in range(TRIES):
        exact, a, b, late = stream(version, devices)
        stray = {k: end[k] for end in (a, b) for k in ("in_no_flow", "in_bad_seq") if end[k]}
        if not exact or stray or not late:
            break
    tap.claim(f"IPv{version} in a VRF, {what}: exact, with headers, each for its flow",
              exact and not late and a["peer_supported"] == b["peer_supported"] == 1 and
              b["in"] >= TOTAL // 1460 and a["in"] > 1 and not stray,
              f"exact: {exact}, {a['out_data']} sent, {b['in']} received, {a['in']} answers, {late} repairs, "
              f"{stray}, speaks: {a['peer_supported']}, {b['peer_supported']}")


def joins_later():
    """Return a connection, which is idle, whose device can join a VRF. Then the key of the socket's
    flow changes, and the entry cannot be found any more.
    """
    pair = connect_bound(4, "a-r", "b-r")
    tap.claim("a connection before its device joins a VRF speaks XCP",
              transfer_some(pair) and counts("a")["peer_supported"] == 1)
    time.sleep(IDLE_S)
    return pair


def transfer_some(pair):
    """Send without ending the stream. Return True if all has arrived."""
    pair[0].send(bytes(1000))
    left = 1000
    while left and select.select([pair[1]], [], [], 20)[0]:
        left -= len(pair[1].recv(left))
    return not left


def goes_on(pair):
    """The entry is removed by ageing, and the congestion control falls back."""
    time.sleep(IDLE_S)
    unsupported, flows = counts("a")["peer_unsupported"], counts("a")["flows"]
    exact = transfer([Stream(*pair, TOTAL)], limit_s=60)
    tap.claim("a connection whose device joins a VRF falls back and goes on; nothing is remembered",
              exact and hosts.cc_of(pair[0]) == "xcp-reno" and not unsupported and not flows,
              f"{exact}, {hosts.cc_of(pair[0])}, {unsupported}, {flows} flows")
    hosts.close(*pair)


def main():
    hosts.build_path()
    pair = joins_later()
    enslave("a", "a-r", {4: "192.0.2.2", 6: "2001:db8:1::2"})
    enslave("b", "b-r", {4: "198.51.100.2", 6: "2001:db8:2::2"})
    sysctl("b", "ipv4/tcp_l3mdev_accept", 1)
    goes_on(pair)
    for name in "ab":
        sysctl(name, "hopcc/xcp_unsupported_s", 0)
    for version in (4, 6):
        speaks("sockets of the VRF", version, "red", "red")
        speaks("sockets of its port", version, "a-r", "b-r")
        speaks("a listener for all", version, "red", None)
    # With a qdisc the packet is a frame of the VRF's device, before it is one of the port.
    for name in "ab":
        run(f"tc -n {name} qdisc add dev red root pfifo")
    for version in (4, 6):
        speaks("with a qdisc", version, "red", "red")
    hosts.remove_path()
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
