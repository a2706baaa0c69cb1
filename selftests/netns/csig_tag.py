#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Tags and reflections from end to end, over sch_csig on a router; prints TAP.

    a ---- [r-a] r [r-b: tbf 1gbit, csig] ---- b

Needs root; changes nothing outside its own network namespaces.
"""
import contextlib
import socket
import struct
import subprocess
import sys
import time

import csig_flows
import hosts
from csig_flows import ABW, ABW_C, PD, PROVEN, STRIPPED
from hosts import A, B, ETHTOOL_SGRO, ETHTOOL_STSO, Stream, close, connect, counts, offload, sysctl, transfer

tap = hosts.Tap()
EVERY = ("a", "r", "b")
COMPACT, EXPANDED = 1, 2
TPID = {COMPACT: 0x88b5, EXPANDED: 0x88b6}
BYTES = {COMPACT: 4, EXPANDED: 8}
LM = {COMPACT: 42, EXPANDED: 4242}
TBF = "root handle 1: tbf rate 1gbit burst 64k limit 1mb"
CSIG = "parent 1:1 handle 10: csig rate 1gbit lm all compact 42 lm all expanded 4242"
FORM = {COMPACT: "compact", EXPANDED: "expanded"}
MIB = 1 << 20
SOL_PACKET, PACKET_QDISC_BYPASS = 263, 20
SO_RCVBUFFORCE, SO_MARK, SO_RCVMARK = 33, 36, 75
EXID = 0x4353


def knob(name, key, value):
    sysctl(name, f"hopcc/{key}", value)


def csig(name):
    return counts(name, "csig")


class Since:
    """The counters that have changed since the start, and by how much."""

    def __init__(self):
        self.before = {name: csig(name) for name in EVERY}

    def __call__(self, name):
        return {k: v - self.before[name][k] for k, v in csig(name).items()
                if v != self.before[name][k]}


def setup():
    hosts.build_path()
    hosts.run(f"tc -n r qdisc replace dev r-b {TBF}")
    hosts.run(f"tc -n r qdisc add dev r-b {CSIG}")
    set_knobs()


def set_knobs():
    for name in EVERY:
        knob(name, "csig_ports", "a-r r-a r-b b-r")
    knob("a", "csig", 2)
    knob("b", "csig", 1)
    knob("a", "csig_cc", "cubic")


class Sniffer:
    """Captures the frames that pass a device, as they are on the wire."""

    def __init__(self, name, dev):
        with hosts.inside(name):
            self.sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
        self.sock.bind((dev, 3))
        self.sock.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 1 << 26)
        self.sock.setblocking(False)

    def frames(self):
        found = []
        with contextlib.suppress(BlockingIOError):
            while True:
                found.append(self.sock.recv(70000))
        return found

    def put(self, data):
        self.sock.send(data)

    def close(self):
        self.sock.close()


def send(version=4, total=MIB, cc="cubic", mark=0):
    pair = connect(version, cc)
    if not pair:
        return False
    if mark:
        pair[0].setsockopt(socket.SOL_SOCKET, SO_MARK, mark)
    good = transfer([Stream(*pair, total)])
    close(*pair)
    return good


def check_forms():
    for version in (4, 6):
        for form in (COMPACT, EXPANDED):
            knob("a", "csig_form", form)
            since = Since()
            pair = connect(version, "cubic")
            stream = Stream(*pair, 2 * MIB)
            good = transfer([stream])
            what = f"IPv{version}, {FORM[form]}"
            flow = csig_flows.flow_of("a", pair[0])
            close(*pair)
            tap.claim(f"{what}: the stream is whole", good)
            a, r, b = since("a"), since("r"), since("b")
            tap.claim(f"{what}: packets leave with tags, are forwarded with them, and are reflected",
                      a["out_tag"] >= 1400 and r["out_forwarded"] == a["out_tag"] and
                      a["in_value"] == b["out_value"] > 50, f"{a} {r} {b}")
            tap.equal(f"{what}: nothing malformed, without room or forged",
                      {k: v for c in (a, r, b) for k, v in c.items()
                       if k.startswith(("bad", "out_no", "in_no", "in_f", "in_t_"))}, {})
            tap.equal(f"{what}: three signals, of the router's locator",
                      {k: (s["form"], s["locator"]) for k, s in flow["signal"].items()},
                      {k: (form, LM[form]) for k in (ABW, ABW_C, PD)})
            tap.equal(f"{what}: the path is proven", flow["path"], PROVEN)
    knob("a", "csig_form", COMPACT)


def tcp_of(data):
    """Return (tag as (tpid, bytes) or None, bytes from the TCP header on, payload length)."""
    at, tag = 12, None
    kind, = struct.unpack_from("!H", data, at)
    for form, tpid in TPID.items():
        if kind == tpid:
            tag = kind, data[14:12 + BYTES[form]]
            at += BYTES[form]
            kind, = struct.unpack_from("!H", data, at)
    ip = data[at + 2:]
    if kind != 0x0800 or ip[9] != socket.IPPROTO_TCP:
        return None
    tcp = ip[(ip[0] & 15) * 4:struct.unpack_from("!H", ip, 2)[0]]
    return tag, tcp, len(tcp) - (tcp[12] >> 4) * 4


def option_of(tcp, kind=253, exid=EXID):
    """Return the data of an experimental TCP option; None if there is none."""
    at, end = 20, (tcp[12] >> 4) * 4
    while at < end and tcp[at]:
        if tcp[at] == 1:
            at += 1
            continue
        if tcp[at] == kind and struct.unpack_from("!H", tcp, at + 2)[0] == exid:
            return tcp[at + 4:at + tcp[at + 1]]
        at += tcp[at + 1]
    return None


def check_frames():
    """Tags of frames on the wire; the sender's device segments nothing."""
    offload("a", "a-r", ETHTOOL_STSO, 0)
    hosts.run("ip -n a link set dev a-r gso_max_segs 1")
    sniffer, far = Sniffer("a", "a-r"), Sniffer("b", "b-r")
    tap.claim("a stream without GSO packets is whole", send())
    frames = [f for f in map(tcp_of, sniffer.frames()) if f]
    arrived = {tag[1] for tag, _, _ in filter(None, map(tcp_of, far.frames())) if tag}
    far.close()
    sizes = {len(tag[1]) + 2 + 14 + 20 + len(tcp) for tag, tcp, _ in frames if tag}
    sniffer.close()
    syns = [tcp for _, tcp, _ in frames if tcp[13] & 2]
    tap.equal("the SYN asks for CSIG, and the SYN-ACK answers, by the option of all carriers",
              [option_of(t, 254, 0x484f) for t in syns], [b"\2" + bytes(11), b"\0\2" + bytes(10)])
    tap.equal("no tag on a handshake or an ACK",
              [tcp for tag, tcp, payload in frames if tag and not payload], [])
    tags = [tag for tag, _, payload in frames if tag]
    tap.equal("tags take turns, as compact ones that no hop has seen",
              tags[:6], 2 * [(0x88b5, b"\x0f\x80"), (0x88b5, b"\x2f\x80"), (0x88b5, b"\x40\x00")])
    tap.equal("the longest frame with a tag fits the MTU", max(sizes), 14 + 1500)
    reported = {option_of(tcp) for _, tcp, payload in frames
                if not payload and option_of(tcp) and not tcp[13] & 2}
    tap.claim("reflections have two bytes, with the router's locator",
              reported and all(len(t) == 2 and t[1] & 127 == 42 for t in reported - {b"\x40\0"}), f"{sorted(reported)}")
    tap.equal("the reflected values are those that arrived", reported - arrived, set())
    first = next(i for i, (tag, _, _) in enumerate(frames) if tag)
    answer = next(i for i, (_, tcp, payload) in enumerate(frames) if i > first and option_of(tcp))
    tap.equal("one tag until one was reflected",
              sum(tag is not None for tag, _, _ in frames[:answer]), 1)


def merge_at_b(on, hold_ns=1000000):
    """Switch GRO at b on, for frames that come from r one by one, since r's veth segments nothing.
    The timer also ends the merging: with 200 us instead of 1 ms, 0.254 of the packets are left
    instead of 0.207."""
    offload("r", "r-b", ETHTOOL_STSO, not on)
    offload("b", "b-r", ETHTOOL_SGRO, on)
    subprocess.run(["ip", "netns", "exec", "b", "sh", "-c",
                    f"echo {hold_ns if on else 0} > /sys/class/net/b-r/gro_flush_timeout"],
                   check=True)


def check_merge():
    """GRO merges frames that left one by one."""
    knob("a", "csig_weights", "8 8 8")
    merge_at_b(True)
    plain = merged_part(lambda: send(4, 2 * MIB, "reno"))
    # The stream is so long that the first windows, too small to merge eight, do not matter.
    tagged = merged_part(lambda: send(4, 8 * MIB, "cubic"))
    knob("a", "csig_weights", "1 1 1")
    turns = merged_part(lambda: send(4, 2 * MIB, "cubic"))
    tap.claim("the receiver merges packets with tags, those that ask for the same in a row",
              plain < 0.1 and tagged < 0.25 and turns > 0.9,
              f"packets left after merging: {plain:.3f} without tags, {tagged:.3f} with, by "
              f"eights, {turns:.3f} in turns")
    merge_by_value()
    merge_at_b(False)
    hosts.run("ip -n a link set a-r gso_max_segs 65535")
    offload("a", "a-r", ETHTOOL_STSO, 1)


def merged_part(stream):
    """Return the number of data packets at b's IP, as a fraction of those that r forwarded."""
    def data():
        acks = hosts.snmp("b", "Ip", "OutRequests")
        return hosts.snmp("r", "Ip", "ForwDatagrams") - acks, hosts.snmp("b", "Ip", "InReceives")
    before = data()
    good = stream()
    sent, got = (now - then for now, then in zip(data(), before))
    return got / sent if good else 9


def sum16(data):
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


def segment(number, middle, size=1000):
    """Return a frame with a tag and a segment to b of a connection that does not exist."""
    tcp = struct.pack("!HHIIBBHHH", 9, 9, 1 + number * size, 1, 5 << 4, 0x10, 1000, 0, 0)
    data = bytes([number]) * size
    ends = socket.inet_aton(A[4]) + socket.inet_aton(B[4])
    check = sum16(ends + struct.pack("!HH", 6, len(tcp + data)) + tcp + data)
    ip = struct.pack("!BBHHHBBH8s", 0x45, 0, 20 + len(tcp + data), 0, 0x4000, 64, 6, 0, ends)
    ip = ip[:10] + struct.pack("!H", sum16(ip)) + ip[12:]
    return middle + struct.pack("!H", 0x0800) + ip + tcp[:16] + struct.pack("!H", check) + tcp[18:] + data


def tag_of(form, kind, value, locator):
    if form == COMPACT:
        return struct.pack("!HH", TPID[form], kind << 13 | value << 7 | locator)
    return struct.pack("!HHI", TPID[form], locator, kind << 28 | value << 8)


def wire_to_b():
    """Return a function that sends frames to b's link, past r's qdisc, and their MAC addresses."""
    wire = Sniffer("r", "r-b")
    wire.sock.setsockopt(SOL_PACKET, PACKET_QDISC_BYPASS, 1)
    shown = subprocess.check_output("ip -n b -br link show dev b-r".split(), text=True)
    return wire, bytes.fromhex(shown.split()[2].replace(":", "")) + b"\x02" + bytes(5)


def merge_by_value():
    """Three segments in a row: the merged packet has the worst value and its locator."""
    (wire, head), far = wire_to_b(), Sniffer("b", "b-r")
    for form in (COMPACT, EXPANDED):
        for what, kinds, values, want in (
                ("bandwidth", (ABW, ABW, ABW), (20, 12, 28), [(12, 2)]),
                ("its ratio", (ABW_C, ABW_C, ABW_C), (9, 30, 31), [(9, 1)]),
                ("delay", (PD, PD, PD), (3, 11, 27), [(27, 3)]),
                ("two signals", (PD, PD, ABW), (27, 3, 5), [(27, 1), (5, 3)])):
            far.frames()
            for n, (kind, value) in enumerate(zip(kinds, values)):
                wire.put(head + segment(n, tag_of(form, kind, value, n + 1)))
            time.sleep(0.01)
            got = [f for f in far.frames() if f[6:12] == head[6:] and f[12:14] == struct.pack("!H", TPID[form])]
            # A packet socket on ingress receives a packet with a tag twice.
            tags = sorted({f[14:12 + BYTES[form]] for f in got}, key=lambda t: (t[0] >> 5 if form == COMPACT else t[2] >> 4) == ABW)
            tap.equal(f"merged, {FORM[form]}: the worst {what} stays",
                      (tags, {len(f) for f in got} if len(want) == 1 else None),
                      ([tag_of(form, kinds[lm - 1], value, lm)[2:] for value, lm in want],
                       {14 + BYTES[form] + 40 + 3000} if len(want) == 1 else None))
    wire.close()
    far.close()


def check_levels():
    for what, name, level in (("not authorised", "a", 1), ("off", "a", 0)):
        knob(name, "csig", level)
        since = Since()
        tap.claim(f"a sender that is {what} sends without tag or option",
                  send() and not since("a").get("out_tag") and not since("b").get("in_handshake"),
                  f"{since('a')} {since('b')}")
    knob("a", "csig", 2)
    since = Since()
    tap.claim("so do flows that nothing names", send(cc="reno") and not since("a"), f"{since('a')}")
    knob("b", "csig", 0)
    since = Since()
    good = send() and send()
    tap.claim("a receiver without CSIG: each SYN asks, and there is no tag",
              good and since("a") == {"out_handshake": 2, "flows": 2}, f"{since('a')}")
    knob("b", "csig", 1)


def stripped(what, retry=None):
    """A stream through a box that removes tags; and after retry(), more on the same connection."""
    knob("a", "csig_retry_s", 1)
    since = Since()
    pair = connect(4, "cubic")
    source = Stream(pair[0], pair[1], 16 * MIB)
    sent = []

    def look(received):
        if len(sent) < 2 and received >= (2 + 6 * len(sent)) * MIB:
            sent.append(since("a").get("out_tag", 0))
        if len(sent) == 2 and retry and received < 12 * MIB:
            retry()
            time.sleep(1.5)
            sent.append(0)

    good = transfer([source], meanwhile=look)
    flow = csig_flows.flow_of("a", pair[0])
    close(*pair)
    a, b = since("a"), since("b")
    tap.claim(f"{what}: the stream is whole, nothing arrives, the sender stops",
              good and a.get("path_stripped") and sent[0] == sent[1] > 0 and
              (retry or not b.get("in_received")), f"{sent} {a} {b}")
    if retry:
        tap.claim("when it does not any more, the sender finds out",
                  flow["path"] == PROVEN and a.get("in_value", 0) > 100, f"{flow} {a}")
    else:
        tap.equal(f"{what}: and that is its state", flow["path"], STRIPPED)
    knob("a", "csig_retry_s", 10)


def check_borders():
    knob("r", "csig_ports", "r-b")
    since = Since()
    stripped("a router's port that is not trusted on ingress")
    tap.claim("what came by it is counted, and not forwarded",
              since("r").get("in_fenced") and not since("r").get("out_forwarded"), f"{since('r')}")
    knob("r", "csig_ports", "r-a")
    since = Since()
    stripped("a router's port that is not trusted on egress",
             retry=lambda: knob("r", "csig_ports", "r-a r-b"))
    since = Since()
    hosts.run("tc -n r qdisc change dev r-b parent 1:1 handle 10: csig mode strip")
    stripped("a hop that strips")
    hosts.run("tc -n r qdisc change dev r-b parent 1:1 handle 10: csig mode update")
    knob("a", "csig_ports", "\n")
    since = Since()
    tap.claim("a sender whose port is not trusted sends no tag",
              send() and not since("a").get("out_tag"), f"{since('a')}")
    knob("a", "csig_ports", "a-r")


def check_rules():
    """Check csig_rules: (rule, mark, True if it matches, packets per tag)."""
    knob("a", "csig_cc", "csig")
    hosts.run("ip -n a link set dev a-r gso_max_segs 1")
    for rule, mark, matches, every in (
            ("to 198.51.100.0/24", 0, True, 1),
            ("to 198.51.101.0/24", 0, False, 1),
            ("port 9; to 198.51.100.1 every 10 expanded", 0, True, 10),
            ("to 2001:db8::/32", 0, False, 1)):
        knob("a", "csig_rules", rule)
        since = Since()
        good = send(mark=mark)
        tags = since("a").get("out_tag", 0)
        data = MIB / 1440
        tap.claim(f"rule '{rule}'", good and (0.8 * data / every < tags < 1.2 * data / every
                                              if matches else not tags), f"{since('a')}")
    knob("a", "csig_rules", "probes")
    since = Since()
    sniffer = Sniffer("a", "a-r")
    good = send()
    tagged = [payload for tag, _, payload in filter(None, map(tcp_of, sniffer.frames())) if tag]
    sniffer.close()
    tap.claim("rule 'probes': data has no tag", good and tagged and not any(tagged), f"{tagged}")
    for bad in ("to", "to 1.2.3.4/33", "port 0", "every 0", "mark 3/1", "often", "to x", "udp probes"):
        refused = False
        try:
            knob("a", "csig_rules", bad)
        except OSError:
            refused = True
        with hosts.inside("a"), open("/proc/sys/net/hopcc/csig_rules", encoding="ascii") as file:
            tap.claim(f"'{bad}' is refused, and the old rule stays",
                      refused and file.read().strip() == "probes")
    knob("a", "csig_rules", "\n")
    for every in (1, 4):
        knob("a", "csig_every", every)
        knob("a", "csig_cc", "cubic")
        since = Since()
        good = send()
        tags = since("a").get("out_tag", 0)
        tap.claim(f"csig_every {every}: a tag on each {every} of the packets of a congestion control of csig_cc",
                  good and 0.8 * MIB / 1440 / every < tags < 1.2 * MIB / 1440 / every, f"{since('a')}")
    knob("a", "csig_every", 1)
    hosts.run("ip -n a link set dev a-r gso_max_segs 65535")


def check_both_ways():
    knob("b", "csig", 2)
    knob("b", "csig_cc", "cubic")
    hosts.run("tc -n r qdisc replace dev r-a root handle 1: tbf rate 1gbit burst 64k limit 1mb")
    hosts.run("tc -n r qdisc add dev r-a " + CSIG.replace("42 ", "7 "))
    since = Since()
    pair = connect(4, "cubic")
    good = transfer([Stream(*pair, 2 * MIB), Stream(*reversed(pair), 2 * MIB)])
    flows = {n: csig_flows.flow_of(n, p) for n, p in zip("ab", pair)}
    close(*pair)
    tap.claim("both ways at once: both are whole", good)
    tap.claim("both ends tag and reflect", all(since(n).get(k, 0) > 20 for n in "ab"
                                               for k in ("out_tag", "in_value", "out_value")),
              f"{since('a')} {since('b')}")
    tap.equal("each receives the values of its own path",
              {n: {s["locator"] for k, s in f["signal"].items() if k != PD or s["value"]}
               for n, f in flows.items()}, {"a": {42}, "b": {7}})
    hosts.run("tc -n r qdisc del dev r-a root")
    knob("b", "csig", 1)


def check_vlan():
    """The tag is behind 802.1Q, since the VLAN device is the port."""
    for name, dev, other in (("a", "a-r", "192.0.3.1"), ("r", "r-a", "192.0.3.2")):
        hosts.run(f"ip -n {name} link add link {dev} name v5 type vlan id 5")
        hosts.run(f"ip -n {name} addr add {other}/24 dev v5")
        hosts.run(f"ip -n {name} link set v5 up")
    hosts.run("ip -n a route add 198.51.100.0/24 via 192.0.3.2")
    knob("a", "csig_ports", "v5")
    knob("r", "csig_ports", "v5 r-b")
    since = Since()
    tap.claim("behind a VLAN tag: whole, tagged, forwarded, reflected",
              send() and since("a").get("in_value", 0) > 20 and
              since("a").get("out_tag") == since("r").get("out_forwarded"),
              f"{since('a')} {since('r')}")
    since = Since()
    knob("r", "csig_ports", "r-a r-b")
    tap.claim("trust in the device below is none in the VLAN",
              send() and since("r").get("in_fenced") and not since("r").get("in_tag"),
              f"{since('r')}")
    for name in "ar":
        hosts.run(f"ip -n {name} link del v5")
    knob("a", "csig_ports", "a-r")
    knob("r", "csig_ports", "r-a r-b")


def check_mpls():
    """a pushes a label, r pops it: the tag is in front of the label."""
    for module in ("mpls_router", "mpls_iptunnel", "mpls_gso"):
        hosts.run(f"modprobe {module}")
    sysctl("r", "mpls/platform_labels", 1000)
    sysctl("r", "mpls/conf/r-a/input", 1)
    hosts.run("ip -n a route add 198.51.100.0/24 encap mpls 100 via 192.0.2.2 dev a-r")
    hosts.run("ip -n r -f mpls route add 100 via inet 198.51.100.1 dev r-b")
    since = Since()
    good = send()
    tap.claim("through MPLS: whole, tagged, forwarded, reflected",
              good and since("a").get("in_value", 0) > 20 and
              since("a").get("out_forwarded") == since("r").get("out_forwarded"),
              f"{since('a')} {since('r')}")
    hosts.run("ip -n a route del 198.51.100.0/24")


def check_tunnel():
    """IPIP from a to b: the outer packet has the tag, whose signal is for the inner flow."""
    hosts.run("modprobe ipip")
    for name, local, remote, addr in (("a", A[4], B[4], "203.0.113.1"),
                                      ("b", B[4], A[4], "203.0.113.2")):
        hosts.run(f"ip -n {name} link add t0 type ipip local {local} remote {remote}")
        hosts.run(f"ip -n {name} addr add {addr}/24 dev t0")
        hosts.run(f"ip -n {name} link set t0 up")
    since = Since()
    pair = connect(4, "cubic", to={4: "203.0.113.2"})
    good = transfer([Stream(*pair, MIB)])
    close(*pair)
    tap.claim("through a tunnel: whole, tags are outside, forwarded, and reported to the flow within",
              good and since("a").get("out_tag") == since("r").get("out_forwarded") and
              since("a").get("in_value", 0) > 20,
              f"{since('a')} {since('r')} {since('b')}")
    for name in "ab":
        hosts.run(f"ip -n {name} link del t0")


def udp(name, version, to):
    with hosts.inside(name):
        sock = socket.socket(hosts.FAMILY[version], socket.SOCK_DGRAM)
    sock.bind(to)
    sock.settimeout(2)
    return sock


def mark_of(sock):
    """Receive a datagram. Return (payload, mark, source)."""
    data, control, _, source = sock.recvmsg(2000, 100)
    return data, next((struct.unpack("I", value)[0] for _, kind, value in control
                       if kind == SO_MARK), 0), source


def check_udp():
    """b reflects the tags of a's datagrams in the payload, as in figure 4."""
    for name in "ab":
        knob(name, "csig_rules", f"udp to {B[4]} port 7000 every 2; udp to {B[6]} port 7000 expanded")
    for version, every in ((4, 2), (6, 1)):
        one, two = udp("a", version, (A[version], 0)), udp("b", version, (B[version], 7000))
        other = udp("b", version, (B[version], 7001))
        for sock in (two, other):
            sock.setsockopt(socket.SOL_SOCKET, SO_RCVMARK, 1)
        reported = []
        for _ in range(6):
            one.sendto(b"?", other.getsockname())
            assert mark_of(other)[1] == 0
            one.sendto(b"?", two.getsockname())
            _, mark, source = mark_of(two)
            two.sendto(struct.pack("!BI", mark >> 31, mark & 0x7fffffff), source)
            reported.append(struct.unpack("!BI", one.recv(100)))
        close(one, two, other)
        valid = [mark for flag, mark in reported if flag]
        types = [mark >> 13 & 7 if version == 4 else mark >> 24 & 15 for mark in valid]
        tap.claim(f"UDP, IPv{version}: each tag is received and reflected, where a rule names it",
                  [flag for flag, _ in reported] == [int(n % every == 0) for n in range(6)] and
                  types == ([0, 1, 2] if version == 4 else [0, 1, 2, 0, 1, 2]) and
                  all(mark & 127 == 42 for mark in valid[:2] if version == 4),
                  f"{[(flag, hex(mark)) for flag, mark in reported]}")
    for name in "ab":
        knob(name, "csig_rules", "\n")


def check_container():
    """A container's root may configure tags, but not switch them on."""
    def tries(key, value):
        return subprocess.run(["unshare", "-Urn", "sh", "-c",
                               f"echo {value} > /proc/sys/net/hopcc/{key}"], check=False,
                              stderr=subprocess.DEVNULL).returncode == 0
    tap.equal("a container's root may weigh signals, not authorise himself",
              [tries(*what) for what in (("csig_weights", "1 2 3"), ("csig", 2),
                                         ("csig_ports", "lo"))], [True, False, False])


def check_malformed():
    wire = Sniffer("r", "r-b")
    shown = subprocess.check_output("ip -n b -br link show dev b-r".split(), text=True)
    head = bytes.fromhex(shown.split()[2].replace(":", "")) + b"\x02" + bytes(5)
    compact, ip = struct.pack("!HH", TPID[COMPACT], 0x0f80), struct.pack("!H", 0x0800)
    since = Since()
    for middle, size in ((compact[:3], 0), (compact, 0), (struct.pack("!HI", TPID[EXPANDED], 0), 0),
                         (compact * 2 + ip, 46), (compact + b"\x81\0\0\5" + ip, 46),
                         (compact + struct.pack("!H", 0x0806), 46),
                         (compact + struct.pack("!H", 0x88cc), 46), (compact + b"\0\4", 46),
                         (compact + ip, 10), (compact + ip + b"\x45" + bytes(45), 0)):
        with contextlib.suppress(OSError):
            wire.put(head + middle + bytes(size))
    time.sleep(0.1)
    tap.equal("cut and stacked tags are counted by cause; others come off",
              since("b"), {"bad_truncated": 3, "bad_order": 2, "in_tag": 5})
    tap.claim("and a stream passes", send())
    knob("b", "csig", 0)
    knob("b", "csig_ports", "\n")
    since = Since()
    wire.put(head + compact + ip + bytes(46))
    wire.close()
    time.sleep(0.1)
    tap.equal("a namespace that takes no part does not know tags", since("b"), {})


def main():
    setup()
    for check in (check_forms, check_frames, check_merge, check_levels, check_borders,
                  check_rules, check_both_ways, check_vlan,
                  check_mpls, check_tunnel, check_udp,
                  check_container, check_malformed):
        print("#", check.__name__)
        check()
    hosts.remove_path()
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
