#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Telemetry where paths divide, cut, sort and lie. Prints TAP. Needs root and the path of
int_drive.ko; all is in network namespaces of its own.

             .- x0 ---- s0 -.
    a ---- r                 s ---- b       x: switch 1, y: switch 2
             '- y0 ---- s1 -'
"""
import json
import random
import socket
import struct
import subprocess
import sys
import time

import hosts
from hosts import Stream, connect, run, sysctl, transfer
from int_wire import ECHO, ECHO_MARK, Message, header, mark_of, message, record

CC = "int_drive"
ETH_P_ALL = 3
DSCP_GOLD = 10

tap = hosts.Tap()

NETWORK = """
link add a-r netns a type veth peer name r-a netns r
link add x0 netns r type veth peer name s0 netns s
link add y0 netns r type veth peer name s1 netns s
link add b-s netns b type veth peer name s-b netns s
-n a addr add 192.0.2.1/24 dev a-r
-n r addr add 192.0.2.2/24 dev r-a
-n r addr add 203.0.113.1/30 dev x0
-n s addr add 203.0.113.2/30 dev s0
-n r addr add 203.0.113.5/30 dev y0
-n s addr add 203.0.113.6/30 dev s1
-n s addr add 198.51.100.2/24 dev s-b
-n b addr add 198.51.100.1/24 dev b-s
-n a link set a-r up
-n r link set r-a up
-n r link set x0 up
-n r link set y0 up
-n s link set s0 up
-n s link set s1 up
-n s link set s-b up
-n b link set b-s up
-n a route add default via 192.0.2.2
-n b route add default via 198.51.100.2
-n s route add 192.0.2.0/24 via 203.0.113.1
-n r route add 198.51.100.0/24 nexthop via 203.0.113.2 nexthop via 203.0.113.6
"""


def counts(name):
    return hosts.counts(name, "int")


def since(name, before):
    return hosts.since(name, before, "int")


def tc(name, line):
    run(f"ip netns exec {name} tc {line}")


def build_network():
    hosts.build("a", "r", "s", "b")
    for line in NETWORK.strip().splitlines():
        run("ip " + line)
    sysctl("r", "ipv4/fib_multipath_hash_policy", 1)
    for dev, switch in (("x0", 1), ("y0", 2)):
        tc("r", f"qdisc add dev {dev} root handle 1: link rate 100mbit delay 500us")
        tc("r", f"qdisc add dev {dev} parent 1:1 handle 10: int rate 100mbit overhead 24"
           f" switch_id {switch}")
    tc("r", "qdisc add dev r-a root netem delay 500us limit 10000")
    # A veth hands the sender's hash over, by which r would choose; a wire, as the lab's, does not.
    tc("a", "qdisc add dev a-r root link rate 10gbit")
    for name in ("a", "b"):
        sysctl(name, "hopcc/int_cc", "hpccpp " + CC)


def qdiscs(name, dev):
    return json.loads(subprocess.run(["ip", "netns", "exec", name, "tc", "-s", "-j", "qdisc",
                                      "show", "dev", dev], check=True, capture_output=True).stdout)


def stamped(name, dev, kind, parent=None):
    """Packets that sch_int of a device, or of a class of it, wrote a record into."""
    return sum(q["stamped"][kind] for q in qdiscs(name, dev)
               if q["kind"] == "int" and (parent is None or q.get("parent") == parent))


def device_bytes(dev):
    out = subprocess.run(["ip", "-n", "r", "-s", "-j", "link", "show", "dev", dev], check=True,
                         capture_output=True).stdout
    return json.loads(out)[0]["stats64"]["tx"]["bytes"]


def flows(n, total, **options):
    """n streams at once; whether all are exact."""
    pairs = [connect(4, cc=CC, **options) for _ in range(n)]
    exact = transfer([Stream(*pair, total) for pair in pairs])
    for pair in pairs:
        hosts.close(*pair)
    time.sleep(1)
    return exact


def spread():
    """Data of 16 flows between two hosts with headers: all on one path, as routers find no ports."""
    sysctl("a", "hopcc/int_forward", 1)
    # The path has passed a header: data of later connections has one from the start.
    known = flows(1, 100000)
    before = [stamped("r", dev, "data") for dev in ("x0", "y0")]
    exact = flows(16, 100000)
    got = [stamped("r", dev, "data") - b for dev, b in zip(("x0", "y0"), before)]
    tap.claim("ECMP, inband: one way", known and exact and sum(got) > 500 and not min(got), f"{got}")
    sysctl("a", "hopcc/int_forward", 0)


def together():
    """Probes go where their flow's data goes."""
    ways = []
    strayed = []
    for _ in range(12):
        before = [(device_bytes(dev), stamped("r", dev, "probe")) for dev in ("x0", "y0")]
        exact = flows(1, 200000)
        got = [(device_bytes(dev) - b, stamped("r", dev, "probe") - p)
               for dev, (b, p) in zip(("x0", "y0"), before)]
        way = got[1][0] > got[0][0]
        ways.append(way)
        # The SYN with its header may go the other way.
        if not exact or got[way][1] <= 2 or got[not way][1] or got[not way][0] >= 1000:
            strayed.append(got)
    tap.claim("ECMP, probes: each on its flow's way, and flows on both",
              not strayed and set(ways) == {False, True}, f"{ways} {strayed}")


def fragments():
    """A router that cuts, since the sender does not forbid it."""
    sysctl("a", "hopcc/int_forward", 1)
    sysctl("a", "ipv4/ip_no_pmtu_disc", 1)
    run("ip -n s link set s-b mtu 1000")
    before = [counts(name) for name in ("a", "b")]
    made = hosts.snmp("s", "Ip", "FragCreates")
    exact = flows(1, 1 << 20)
    a, b = [since(name, c) for name, c in zip(("a", "b"), before)]
    tap.claim("fragments: a stream is exact, each header is found and answered",
              exact and b["in_late"] > 700 and b["in_data"] == a["out_data"] and
              a["in_answer"] == b["out_answer"] > 700 and not b["in_bad_sum"] and
              hosts.snmp("s", "Ip", "FragCreates") - made >= 2 * b["in_late"],
              f"{b['in_late']} of {a['out_data']}")
    run("ip -n s link set s-b mtu 1500")
    sysctl("a", "ipv4/ip_no_pmtu_disc", 0)
    sysctl("a", "hopcc/int_forward", 0)


def longer():
    """A hop more than there is room for, in the middle of a connection: the next headers have room
    for its record, too. It is at the other end of the path, and its qdisc counts who had none.
    """
    run("modprobe tcp_hpccpp", check=False)
    run("ip -n r route replace 198.51.100.0/24 via 203.0.113.2")
    sysctl("a", "hopcc/tcp_hpccpp_rate_mbit", 100)
    sysctl("a", "hopcc/int_slots", 1)
    for inband, name in enumerate(("probes", "inband")):
        sysctl("a", "hopcc/int_forward", inband)
        a, b = connect(4, cc="hpccpp", source="a", sink="b")
        before, added = counts("a"), []

        def turn(received, added=added):
            if received > 4 << 20 and not added:
                tc("s", "qdisc add dev s-b root int rate 1gbit overhead 24 switch_id 3")
                added.append(received)

        exact = transfer([Stream(a, b, 16 << 20)], meanwhile=turn)
        got = since("a", before)
        hop, = [q for q in qdiscs("s", "s-b") if q["kind"] == "int"]
        stamped_pkts = hop["stamped"]["data" if inband else "probe"]
        tap.claim(f"a longer path, {name}: a stream is exact, few headers lack a record",
                  exact and bool(added) and got["in_short"] > 0 and stamped_pkts > 100 and
                  0 < hop["full"] < stamped_pkts / 10 and not got["out_no_room"],
                  f"{hop['full']} of {stamped_pkts}, {got['in_short']} answers")
        hosts.close(a, b)
        time.sleep(1)
        tc("s", "qdisc del dev s-b root")
    sysctl("a", "hopcc/int_forward", 0)
    sysctl("a", "hopcc/int_slots", 5)
    sysctl("a", "hopcc/tcp_hpccpp_rate_mbit", 0)
    run("ip -n r route replace 198.51.100.0/24 nexthop via 203.0.113.2 nexthop via 203.0.113.6")


def classes():
    """Queues by DSCP: a probe is in the data's class."""
    tc("s", "qdisc add dev s-b root handle 1: prio bands 2 priomap"
       " 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0")
    for band in (1, 2):
        tc("s", f"qdisc add dev s-b parent 1:{band} handle 1{band}: int rate 100mbit sojourn"
           f" share port_id 3 switch_id 3")
    tc("s", f"filter add dev s-b parent 1: protocol ip prio 1 flower ip_tos {DSCP_GOLD << 2}/0xfc"
       " classid 1:2")
    before = [stamped("s", "s-b", "probe", f"1:{band}") for band in (1, 2)]
    a, b = connect(4, cc=CC)
    a.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, DSCP_GOLD << 2)
    exact = transfer([Stream(a, b, 1 << 20)])
    hosts.close(a, b)
    time.sleep(1)
    got = [stamped("s", "s-b", "probe", f"1:{band}") - n for band, n in zip((1, 2), before)]
    tap.claim("queues by DSCP: probes are stamped in the data's class only",
              exact and got[1] > 5 and got[0] == 0, f"{got}")
    tc("s", "qdisc del dev s-b root")


class Forger:
    """Reads what b answers one flow, at s, and sends a what b did not."""

    def __init__(self, port):
        self.port = port
        with hosts.inside("s"):
            self.ear = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(ETH_P_ALL))
            self.ear.bind(("s-b", ETH_P_ALL))
            self.mouth = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
        self.ear.setblocking(False)
        self.heard = None

    def listen(self):
        """(TCP header, message) of the newest answer to the flow"""
        while True:
            try:
                data, (_, _, kind, *_) = self.ear.recvfrom(2048)
            except BlockingIOError:
                return self.heard
            if kind == 0 and mark_of(data) == ECHO and struct.unpack_from("!H", data, 22)[0] == self.port:
                self.heard = data[20:44], Message(data[44:])

    def say(self, like, payload):
        src, dst = (socket.inet_aton(hosts.B[4]), socket.inet_aton(hosts.A[4]))
        seg = like[:4] + struct.pack("!I", (struct.unpack_from("!I", like, 4)[0])) + \
            like[8:16] + b"\0\0\0\0" + ECHO_MARK + payload
        total = sum(struct.unpack(f"!{len(seg) // 2}H", seg)) + \
            sum(struct.unpack("!4H", src + dst)) + 6 + len(seg)
        while total >> 16:
            total = (total & 0xffff) + (total >> 16)
        seg = seg[:16] + struct.pack("!H", ~total & 0xffff) + seg[18:]
        self.mouth.sendto(struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(seg), 0,
                                      0x4000, 64, 6, 0) + src + dst + seg, (hosts.A[4], 0))

    def close(self):
        hosts.close(self.ear, self.mouth)


def answer(m, number=None, cookie=None, seq=1, hops=1, path=None, records=None, tag=0):
    """As b's, with what a forger puts into it."""
    return message(m.id if number is None else number, m.cookie if cookie is None else cookie,
                   seq=m.seq + seq, tag=tag) + \
        header(ECHO, m.slots, hops=hops, path=m.path if path is None else path,
               records=m.records[:1] if records is None else records, following=0)


def stamps(tx_bytes_ps, qlen, speed=2):
    """Records of a port of 100 Mbit/s that go on from one to the next, of such a load."""
    def one(_):
        now = time.monotonic_ns()
        return {"records": (record(speed, now, now * tx_bytes_ps // 10**9, qlen),)}
    return one


# Name of an attack, its false report, the counter.
ATTACKS = (
    ("off-path, overload", lambda m: {"cookie": random.getrandbits(64), "records":
                                      (record(2, 0, 0, 65535),)}, "in_bad_cookie"),
    ("replayed", lambda m: {"number": m.id - 3, "seq": 0}, "in_old"),
    ("of an id that never left", lambda m: {"number": m.id + 9999}, "in_forged"),
    ("absurd nHop", lambda m: {"hops": 15, "records": (record(15), record(0, qlen=9))},
     "in_answer"),
    ("wrong pathID", lambda m: {"path": 0x777}, "in_answer"),
    ("overload", stamps(50 * 12500000, 65535), "in_answer"),
    ("underload", stamps(12500, 0), "in_answer"),
)

# Rates within 5 % of those before are so in windows of 0.3 s.
WINDOW_S = 0.3


def attacked(attack):
    """Two flows; one is attacked once they share. Rates before and meanwhile."""
    pairs = [connect(4, cc="hpccpp", source="a", sink="b") for _ in range(2)]
    forger = Forger(pairs[0][0].getsockname()[1])
    streams = [Stream(*pair, 1 << 30) for pair in pairs]
    start = time.monotonic()
    marks, state = [], {"last": 0}

    def turn(_):
        now = time.monotonic() - start
        if now >= (len(marks) + 1) * WINDOW_S:
            marks.append((now, [s.received for s in streams]))
        heard = forger.listen()
        if now < 4 * WINDOW_S or not heard or now - state["last"] < 0.0005:
            return
        state["last"] = now
        forger.say(heard[0], answer(heard[1], **attack(heard[1])))

    transfer(streams, limit_s=6.1 * WINDOW_S, meanwhile=turn)
    for pair in pairs:
        hosts.close(*pair)
    forger.close()
    time.sleep(1)

    def rates(first, last):
        (t0, a), (t1, b) = marks[first], marks[last]
        return [(y - x) * 8e-6 / (t1 - t0) for x, y in zip(a, b)]

    return rates(2, 3), rates(3, 5)


def hostile():
    """One way, a port of 100 Mbit/s that says so."""
    run("modprobe tcp_hpccpp", check=False)
    run("ip -n r route replace 198.51.100.0/24 via 203.0.113.2")
    sysctl("a", "hopcc/tcp_hpccpp_rate_mbit", 100)
    # They shall be equal soon: W_ai for two flows. And stay so: windows of many packets, since
    # one of four is a packet more or less, for long.
    sysctl("a", "hopcc/tcp_hpccpp_flows", 2)
    tc("r", "qdisc change dev r-a root netem delay 4ms limit 10000")
    for key in (None, "000102030405060708090a0b0c0d0e0f"):
        for name in ("a", "b"):
            sysctl(name, "hopcc/int_key", key or "\n")
        for what, attack, counter in ATTACKS:
            if key and counter != "in_answer":
                continue
            seen = counts("a")
            before, under = attacked(attack)
            seen = since("a", seen)[counter if not key else "in_bad_tag"]
            # Two that are equal wander about their half.
            other = under[1] / min(before[1], sum(before) / 2)
            good = seen > 100 and 0 < under[0] <= 100 and sum(under) <= 100
            tap.claim(f"hostile, {what}{', with a key' if key else ''}: counted, in bounds, the "
                      "other flow as before", good and other >= 0.95,
                      f"{seen} {counter}; {before[0]:.1f} and {before[1]:.1f}, then "
                      f"{under[0]:.1f} and {under[1]:.1f} Mbit/s")
    tc("r", "qdisc change dev r-a root netem delay 500us limit 10000")
    run("ip -n r route replace 198.51.100.0/24 nexthop via 203.0.113.2 nexthop via 203.0.113.6")


def main():
    run("modprobe sch_int", check=False)
    run(f"insmod {sys.argv[1]}")
    build_network()
    for test in (spread, together, hostile, fragments, longer, classes):
        test()
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
