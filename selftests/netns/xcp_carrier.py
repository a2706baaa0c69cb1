#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""XCP's carrier from end to end: streams are intact, feedback is neither lost nor invented, and a
peer without XCP gets a connection without headers. Prints TAP. Needs root and the path of
xcp_drive.ko; changes nothing outside its own network namespaces.

    a ---- [r-a] r [r-b] ---- b     two hosts and the router between them, veth pairs
"""
import os
import socket
import subprocess
import sys
import time

import hosts
from hosts import Stream, connect, counts, drive, drive_reset, run, since, sysctl, transfer, \
    transfer_switching

# The debug kernel is slow.
SCALE = 10 if os.environ.get("HOPLAB_KERNEL") == "debug" else 1
MB = (1 << 20) // SCALE

tap = hosts.Tap()


def settle():
    """Wait until sockets are gone; virtual time makes this fast."""
    time.sleep(1)


def one_way(version, total, **options):
    """Send a stream from a to b. Return (intact, seconds)."""
    pair = connect(version, **options)
    if not pair:
        return False, 0
    start = time.monotonic()
    exact = transfer([Stream(*pair, total)])
    took = time.monotonic() - start
    hosts.close(*pair)
    settle()
    return exact, took


def conservation(version, name, gso=True, **options):
    """Without loss and router, each header returns once, and so does the sum of the feedback."""
    drive_reset()
    ends = options.get("source", "a"), options.get("sink", "b")
    # On loopback, one namespace has both ends, and the MTU is 64 kB.
    both, mss = (2, 65536) if ends[0] == ends[1] else (1, 1460)
    before = [counts(end) for end in ends]
    exact, _ = one_way(version, 20 * MB, **options)
    tap.claim(f"IPv{version} {name}: stream exact", exact)
    out, back = (since(end, b) for end, b in zip(ends, before))
    tap.claim(f"IPv{version} {name}: a header on every data packet",
              out["out_data"] >= 20 * MB // mss and out["peer_supported"] == both
              and not out["out_no_room"],
              f"{out['out_data']} packets, {out['out_gso']} GSO packets")
    tap.equal(f"IPv{version} {name}: GSO packets or none", bool(out["out_gso"]), gso)
    tap.equal(f"IPv{version} {name}: all feedback came back", drive("feedback"),
              drive("delta") * hosts.asked(out))
    tap.claim(f"IPv{version} {name}: one opened, one closed",
              (drive("opened"), drive("closed"), drive("refused")) == (1, 1, 0))
    bad = {k: v for k, v in back.items() if k.startswith("bad_") and v}
    tap.equal(f"IPv{version} {name}: nothing malformed", bad, {})


def in_tunnels():
    """GSO packets with our header enter tunnels, whose devices do not segment them."""
    near, far = {4: "203.0.113.1", 6: "2001:db8:9::1"}, {4: "203.0.113.2", 6: "2001:db8:9::2"}
    ends = {"a": (hosts.A[4], hosts.B[4], near), "b": (hosts.B[4], hosts.A[4], far)}
    for kind in ("vxlan id 7 dstport 4789", "vxlan id 7 dstport 4789 udpcsum", "gre", "ipip"):
        for name, (local, remote, inner) in ends.items():
            run(f"ip -n {name} link add t0 type {kind} local {local} remote {remote}")
            run(f"ip -n {name} link set t0 up")
            run(f"ip -n {name} addr add {inner[4]}/24 dev t0")
            run(f"ip -n {name} addr add {inner[6]}/64 dev t0 nodad")
        time.sleep(3)
        for version in (4,) if kind == "ipip" else (4, 6):
            before, errors = counts("a"), hosts.snmp("b", "Tcp", "InCsumErrors")
            exact, _ = one_way(version, 5 * MB, to=far)
            got = since("a", before)
            tap.claim(f"IPv{version} in {kind}: exact, GSO packets with headers, sums right",
                      exact and got["out_gso"] > 0 and got["peer_supported"] == 1 and
                      hosts.snmp("b", "Tcp", "InCsumErrors") == errors,
                      f"{got['out_data']} packets, {got['out_gso']} GSO packets")
        for name in ends:
            run(f"ip -n {name} link del t0")


def small_windows(version):
    """If the window is below 4 segments, each packet is acknowledged at once. Only the driver
    reports this window; TCP's own, which allows GSO packets, is larger."""
    for window, want in ((2, True), (100, False)):
        sysctl("a", "hopcc/xcp_gso", 0 if want else 1)
        drive("throughput", window * 1428 * 1000000 // drive("rtt_us"))
        before, start = counts("b"), counts("a")
        one_way(version, 2 << 20)
        at_once, acks = since("b", before)["ack_now"], since("a", start)["in"]
        packets = since("a", start)["out_data"]
        tap.claim(f"IPv{version}: {window} segments of window: "
                  f"{'each ACK at once' if want else 'delayed ACKs'}",
                  (at_once > packets * 0.9 and acks > packets * 0.9) == want,
                  f"{packets} packets, {acks} ACKs, {at_once} at once")
    drive("throughput", 1000000)


def both_ways(version):
    """Both ends use XCP: the data carries the answers."""
    drive_reset()
    before = counts("b")
    a, b = connect(version, sink_cc="xcp")
    exact = transfer([Stream(a, b, 5 * MB), Stream(b, a, 5 * MB)])
    hosts.close(a, b)
    settle()
    tap.claim(f"IPv{version} both ways: streams exact, both opened",
              exact and drive("opened") == 2, f"opened {drive('opened')}")
    tap.claim(f"IPv{version} both ways: b sent data with headers",
              since("b", before)["out_data"] > 5 * MB // 1460)


def other_way(version):
    """b sends with another congestion control: its data has no header."""
    before = counts("b")
    a, b = connect(version)
    exact = transfer([Stream(b, a, 5 * MB)])
    hosts.close(a, b)
    settle()
    got = since("b", before)
    tap.claim(f"IPv{version} other way: exact, no header on cubic's data",
              exact and got["out_data"] == 0)


def on_data(version, gso):
    """b uses another congestion control, and its data carries all ACKs: it also carries answers."""
    for dev in ("r-a", "r-b"):
        run(f"ip netns exec r tc qdisc add dev {dev} root netem delay 2ms rate 100mbit limit 60")
    drive("throughput", 10**9)      # a large window
    sysctl("b", "hopcc/xcp_gso", gso)
    drive_reset()
    before = counts("b")
    a, b = connect(version)
    a.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    asked = late = 0

    def ask(received):
        nonlocal asked, late
        if received > asked * 20000:
            a.send(bytes(100))
            asked += 1
            late = max(late, asked - drive("feedback") // drive("delta"))

    exact = transfer([Stream(b, a, 2 << 20)], meanwhile=ask)
    got = since("b", before)
    tap.claim(f"IPv{version}, {'GSO packets' if gso else 'packets'} of cubic's data answer",
              exact and got["out_data"] > asked // 2 and late < asked // 2 and
              bool(got["out_gso"]) == bool(gso),
              f"{asked} asked, at most {late} not answered, {got['out_ack']} ACKs, "
              f"{got['out_data']} segments, {got['out_gso']} GSO packets")
    # From now on, the congestion control decides about the room for a header.
    for cc in ("xcp", "cubic", "xcp"):
        b.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, cc.encode())
    drive_reset()
    hosts.close(a, b)
    settle()
    sysctl("b", "hopcc/xcp_gso", 1)
    drive("throughput", 1000000)
    for dev in ("r-a", "r-b"):
        run(f"ip netns exec r tc qdisc del dev {dev} root")


def lossy(version):
    for node, dev in (("r", "r-a"), ("r", "r-b")):
        run(f"ip netns exec {node} tc qdisc add dev {dev} root netem delay 100us loss 0.5%"
            " duplicate 0.5% reorder 1%")
    drive_reset()
    exact, _ = one_way(version, 10 * MB)
    tap.claim(f"IPv{version} loss, duplicates, reordering: exact", exact)
    tap.claim(f"IPv{version} loss: feedback arrives", drive("headers") > 0,
              f"headers {drive('headers')}, silenced {drive('silenced')}")
    for node, dev in (("r", "r-a"), ("r", "r-b")):
        run(f"ip netns exec {node} tc qdisc del dev {dev} root")


def switched(version):
    """The congestion control changes while data flows."""
    drive_reset()
    a, b = connect(version)
    exact = transfer_switching(a, b, ("cubic", "xcp") * 5)
    hosts.close(a, b)
    settle()
    tap.claim(f"IPv{version}: cc switched ten times: exact, opened and closed as often",
              exact and drive("opened") == drive("closed") == 6,
              f"opened {drive('opened')}, closed {drive('closed')}")


def path_mtu(version):
    """A link with a smaller MTU behind the router: ICMP reports it to TCP."""
    before = counts("a")
    run("ip -n r link set r-b mtu 1400")
    exact, took = one_way(version, 5 * MB)
    got = since("a", before)
    tap.claim(f"IPv{version}: path MTU found, stream exact, no stall",
              exact and got["icmp"] > 0 and took < 5,
              f"{got['icmp']} errors, {took:.3f} s")
    run("ip -n r link set r-b mtu 1500")
    for route in ("route flush cache", "-6 route flush cache"):
        run("ip -n a " + route, check=False)


def silent_peer(version):
    """b's carrier is off: b does not answer the option, and a sends no header."""
    sysctl("b", "hopcc/xcp", 0)
    for when, silent, avoided in (("first", 1, 0), ("second", 0, 1)):
        drive_reset()
        before = counts("a")
        exact, took = one_way(version, 2 * MB)
        got = since("a", before)
        tap.claim(f"IPv{version} peer without support, {when} connection: exact, at once, without",
                  exact and took < 1 and drive("refused") == 1 and
                  (got["peer_unsupported"], got["peer_avoided"], got["out_data"]) ==
                  (silent, avoided, 0))
    sysctl("b", "hopcc/xcp", 1)
    forget()


def forget():
    """Wait until cached destinations without support expire."""
    time.sleep(61)


def dropped(version):
    """A middlebox drops our protocol: the copies of the first data, ten packets of Reno, and of three
    ACKs are lost, then this is cached."""
    proto = {4: "ip", 6: "ipv6"}[version]
    run("ip netns exec r tc qdisc add dev r-a clsact")
    run(f"ip netns exec r tc filter add dev r-a ingress protocol {proto} flower ip_proto 3f"
        " action drop")
    for when, silent, tries in (("first", 1, 13), ("second", 0, 0)):
        before, start = counts("a"), time.monotonic()
        pair = connect(version)
        opened = time.monotonic() - start
        exact = transfer([Stream(*pair, 2 * MB)])
        retrans = hosts.retrans_of(pair[0])
        hosts.close(*pair)
        settle()
        got = since("a", before)
        tap.claim(f"IPv{version} protocol dropped, {when} connection: opened at once, exact, nothing is lost",
                  exact and opened < 0.001 and not retrans and
                  (got["peer_unsupported"], got["out_try"], got["out_data"]) == (silent, tries, 0),
                  f"opened in {opened:.6f} s, {retrans} lost, {got['out_try']} tries")
    run("ip netns exec r tc qdisc del dev r-a clsact")
    forget()
    before = counts("a")
    exact, _ = one_way(version, MB)
    tap.claim(f"IPv{version} protocol dropped, 60 s later not any more: tried again, with headers",
              exact and since("a", before)["peer_supported"] == 1 and since("a", before)["out_data"])


def dropped_later(version):
    """During a connection, the path changes to one that drops our protocol."""
    proto = {4: "ip", 6: "ipv6"}[version]
    drive_reset()
    pair = connect(version)
    state = {"dropping": False}

    def turn(received):
        if received > MB and not state["dropping"]:
            state["dropping"] = True
            run("ip netns exec r tc qdisc add dev r-a clsact")
            run(f"ip netns exec r tc filter add dev r-a ingress protocol {proto} flower"
                " ip_proto 3f action drop")

    exact = transfer([Stream(*pair, 5 * MB)], limit_s=60, meanwhile=turn)
    hosts.close(*pair)
    settle()
    tap.claim(f"IPv{version} protocol dropped in mid-connection: exact, silent",
              exact and drive("silenced") == 1)
    run("ip netns exec r tc qdisc del dev r-a clsact", check=False)
    forget()


def dropped_back(version):
    """Only the reverse path drops our protocol: first b's ACKs are lost, since both ends remember the
    path as it was, then its answers to the tries."""
    proto = {4: "ip", 6: "ipv6"}[version]
    run("ip netns exec r tc qdisc add dev r-b clsact")
    run(f"ip netns exec r tc filter add dev r-b ingress protocol {proto} flower ip_proto 3f"
        " action drop")
    for when, limit_s in (("lately", 2), ("from the start", 1)):
        start = time.monotonic()
        pair = connect(version)
        opened = time.monotonic() - start
        exact = transfer([Stream(*pair, 2 * MB)])
        took = time.monotonic() - start
        hosts.close(*pair)
        tap.claim(f"IPv{version} protocol dropped on the way back, {when}: exact",
                  exact and opened < 0.001 and took < limit_s, f"opened in {opened:.6f} s, took {took:.3f} s")
        forget()
    run("ip netns exec r tc qdisc del dev r-b clsact")
    forget()


def prohibited(version):
    """A router rejects our protocol by ICMP: the first copy ends the tries.

    The lab's kernel has such rules for IPv4 only; for IPv6, see xcp_wire.py.
    """
    run("ip -n r rule add ipproto 63 prohibit prio 10")
    before, start = counts("a"), time.monotonic()
    pair = connect(version)
    opened = time.monotonic() - start
    exact = transfer([Stream(*pair, MB)]) if pair else False
    if pair:
        hosts.close(*pair)
    settle()
    got = since("a", before)
    tap.claim(f"IPv{version} protocol prohibited by ICMP: the connection is without, exact",
              exact and got["icmp_refused"] == 1 and got["peer_unsupported"] == 1,
              f"opened in {opened:.3f} s")
    run("ip -n r rule del prio 10")
    forget()


def many(version):
    """Connections leave no flow behind."""
    before = counts("b")["flows"]
    for _ in range(200 // SCALE):
        pair = connect(version)
        pair[0].send(b"x" * 3000)
        hosts.close(*pair)
    time.sleep(130)
    tap.equal(f"IPv{version}: flows of closed connections age out",
              (counts("a")["flows"], counts("b")["flows"] - before), (0, -before))


def limit(version):
    """The table is full: further connections have no headers, and are counted."""
    sysctl("b", "hopcc/flow_limit", 0)
    before = counts("b")
    exact, _ = one_way(version, MB)
    got = since("b", before)
    tap.claim(f"IPv{version}: no room in the table: exact, counted",
              exact and got["flows_refused"] > 0)
    sysctl("b", "hopcc/flow_limit", 65536)
    forget()


def knobs():
    """Values out of range are refused, and the old value stays."""
    for knob, old, takes, refuses in (
            ("xcp", 1, (0, 2), (3, -1, "x")), ("xcp_format", 3, (1,), (0, 2, 4, -1)),
            ("xcp_unsupported_s", 60, (0, 86400), (86401, -1)), ("xcp_gso", 1, (0,), (2,)),
            ("xcp_tunnel", 0, (1,), (2,)), ("xcp_ipsec", 0, (1,), (2,)),
            ("tcp_xcp_loss", 0, (1, 2), (3, -1)), ("flow_limit", 65536, (0,), (4194305, -1))):
        got = [set_knob(knob, value) for value in (*takes, old, *refuses)]
        tap.equal(f"sysctl {knob}: {takes} or {old}, not {refuses}", got,
                  [(True, value) for value in (*takes, old)] + [(False, old)] * len(refuses))


def set_knob(knob, value):
    """Write a sysctl. Return (True if it was accepted, the value afterwards)."""
    path, taken = "/proc/sys/net/hopcc/" + knob, True
    try:
        hosts.write(path, value)
    except OSError:
        taken = False
    with open(path, encoding="ascii") as file:
        return taken, int(file.read())


def leave(module):
    """A namespace ends while it has flows; the modules are unloaded and loaded again."""
    pair = connect(4)
    pair[0].send(b"x" * 100000)
    run("ip netns del b")
    time.sleep(1)
    hosts.close(*pair)
    run("ip netns del a")
    run("ip netns del r")
    time.sleep(130)
    for line in ("rmmod xcp_drive", "rmmod net_xcp"):
        tap.equal(line, subprocess.run(line.split(), check=False).returncode, 0)
    path = module.replace("xcp_drive", "uml", 1).rsplit("/", 1)[0] + "/net_xcp/net_xcp.ko"
    tap.equal("insmod net_xcp", subprocess.run(["insmod", path], check=False).returncode, 0)


def main():
    module = sys.argv[1]
    # One sysctl belongs to tcp_xcp, which the test's module replaces.
    knobs()
    hosts.insmod(module)
    hosts.build_path()
    for version in (4, 6):
        conservation(version, "through a router")
        conservation(version, "loopback", source="a", sink="a", to=hosts.A, gso=False)
        if version == 4:
            conservation(4, "to a listener of IPv6", listener_version=6)
        sysctl("a", "hopcc/xcp_gso", 0)
        conservation(version, "no GSO packets", gso=False)
        sysctl("a", "hopcc/xcp_gso", 1)
        small_windows(version)
        both_ways(version)
        other_way(version)
        for gso in (1, 0):
            on_data(version, gso)
        lossy(version)
        switched(version)
        path_mtu(version)
        silent_peer(version)
        dropped(version)
        dropped_back(version)
        dropped_later(version)
        if version == 4:
            prohibited(version)
        many(version)
        limit(version)
    in_tunnels()
    sysctl("a", "hopcc/xcp_format", 1)
    conservation(4, "Standard format")
    leave(module)
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
