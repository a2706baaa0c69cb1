#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""A sender that puts the header of another vendor's format on data: int_forward 1 and int_format. Prints
TAP. Needs root; all is in network namespaces of its own.

    a ---- script: a switch that writes into such headers ---- b     int_switch.py

Data has the header only while a probe has proven that b removes it; TCP's stream is exact whatever is lost,
also if b's layout is removed in between. "brief" as an argument omits what a debug kernel would take long for;
"vrf" tests only a sender in a VRF, for a kernel that has them.
"""
import contextlib
import socket
import struct
import subprocess
import sys
import time

import hosts
import relay
import shims
from hosts import sysctl
from int_insert import intlayout, layouts, mark, set_dscp, with_ifa, with_int_md
from int_switch import DSCP_PROBE, ETHERNET_BYTES, ETHERTYPES, IFA, IOAM, IOAM_AT, MAGIC, Switch
from wire import inet_sum

MB, MBIT, PATH_US, SLOTS, TCP, HBH = 1 << 20, 100, 1100, 5, 6, 0
FORMATS = {"IFA": 1, "IOAM": 2, "INT-MD": 3}
RESPONSE = 31
# Added to TCP's checksum of data with INT-MD.
MARK = 0x4849
# IPv6's hop-by-hop header with a trace for five hops: header, padding, option, trace header.
TRACE = struct.pack("!BBBBBBBBHHI", TCP, 14, 1, 0, IOAM, 114, 0, 0, 0, 5 << 11 | 26, 0xf2000000) + bytes(104)
PADDING = bytes([0, 0, 1, 4, 0, 0, 0, 0])
IPV6_HOPOPTS = 54

tap = hosts.Tap()


def intmd_sum(packet, before):
    """Return a packet with INT-MD whose TCP checksum is that of before, updated by what has changed."""
    at = shims.ip_bytes(packet)
    parts = []
    for one in (before, packet):
        tcp = one[at:at + 16] + bytes(2) + one[at + 18:]
        parts.append(inet_sum(struct.pack("!I", len(tcp)) + tcp) ^ 0xffff)
    check, = struct.unpack_from("!H", before, at + 16)
    words = struct.pack("!HHH", check ^ 0xffff, parts[1], parts[0] ^ 0xffff)
    return packet[:at + 16] + struct.pack("!H", inet_sum(words)) + packet[at + 18:]


def plain_ifa(packet):
    at = shims.ip_bytes(packet)
    end = at + 4 + (packet[at + 16] >> 4) * 4
    return shims.finish(shims.set_next(packet[:at], TCP) + packet[at + 4:end] + packet[end + 4:])


def plain_int_md(packet):
    at = shims.ip_bytes(packet)
    end = at + (packet[at + 12] >> 4) * 4
    dscp = struct.unpack_from("!H", packet, end + 2)[0] >> 2 & 63
    return shims.sum_tcp(set_dscp(shims.finish(packet[:end] + packet[end + 16:]), dscp))


def plain_ioam(packet):
    return shims.finish(shims.set_next(packet[:40], TCP) + packet[48 + packet[41] * 8:])


def marked(plain):
    """Return the packet with INT-MD, as a must send it."""
    whole = with_int_md(plain, hops=SLOTS)
    at = shims.ip_bytes(whole) + 16
    check = struct.unpack_from("!H", whole, at)[0] ^ 0xffff
    return whole[:at] + struct.pack("!H", inet_sum(struct.pack("!HH", check, MARK))) + whole[at + 2:]


PLAIN = {"IFA": plain_ifa, "INT-MD": plain_int_md, "IOAM": plain_ioam}
WHOLE = {
    "IFA": lambda plain: with_ifa(plain, most=8 * SLOTS),
    "INT-MD": marked,
    "IOAM": lambda plain: shims.finish(shims.set_next(plain[:40], HBH) + TRACE + plain[40:]),
}


def format_of(packet):
    """Return the format of a TCP packet from a, or None."""
    at = shims.ip_bytes(packet)
    if shims.next_of(packet) == IFA:
        return "IFA"
    if shims.next_of(packet) == HBH and packet[IOAM_AT] == IOAM:
        return "IOAM"
    if shims.next_of(packet) == TCP and shims.dscp_of(packet) == DSCP_PROBE:
        shim = at + (packet[at + 12] >> 4) * 4
        if len(packet) > shim + 16 and packet[shim] == 0x10:
            return "INT-MD"
    return None


def is_same(one, other):
    """Return True if packets are equal; in one's complement 0xffff and 0 are the same checksum."""
    at = shims.ip_bytes(one) + 16
    return one == other or (shims.next_of(one) == shims.next_of(other) == TCP and
                            {one[at:at + 2], other[at:at + 2]} == {bytes(2), b"\xff\xff"} and
                            one[:at] + one[at + 2:] == other[:at] + other[at + 2:])


def payload_of(packet):
    """Return (sequence number, payload) of a TCP packet."""
    at = shims.ip_bytes(packet)
    return struct.unpack_from("!I", packet, at + 4)[0], packet[at + (packet[at + 12] >> 4) * 4:]


class Observer(Switch):
    """Notes what a sends, and in which format, before it writes into it. lose(number) returns True for data
    with a format that is to be lost.
    """

    def __init__(self):
        self.lose, self.vrf, self.anew = None, False, False
        self.reset()
        super().__init__()

    def reset(self):
        # Packets with data, by format; probes, by format; those that differ from what is expected.
        self.data, self.probes, self.wrong = {}, {}, []
        # Data with a format before b has answered; and retransmitted.
        self.early = self.again = 0
        self.answered, self.ends = set(), {}

    def forward(self, frame, from_a):
        packet = frame[ETHERNET_BYTES:]
        if frame[12:14] not in ETHERTYPES:
            return super().forward(frame, from_a)
        if not from_a:
            if shims.dscp_of(packet) == RESPONSE:
                self.answered.add(ports_of(packet)[1])
        elif self.note(packet):
            return []
        return super().forward(frame, from_a)

    def note(self, packet):
        """Note a packet from a. Return True if it is to be lost."""
        form = format_of(packet)
        if not form and shims.next_of(packet) != TCP:
            return False
        plain = PLAIN[form](packet) if form else packet
        seq, payload = payload_of(plain)
        if not payload:
            return False
        if payload.startswith(MAGIC):
            self.probes[form] = self.probes.get(form, 0) + 1
            return False
        self.data[form] = self.data.get(form, 0) + 1
        flow = ports_of(plain)[0]
        old = flow in self.ends and (seq - self.ends[flow]) & 0x80000000
        self.ends[flow] = self.ends[flow] if old else (seq + len(payload)) & 0xffffffff
        if not form:
            return False
        self.early += flow not in self.answered
        self.again += bool(old)
        whole = WHOLE[form](plain)
        if not is_same(shims.sum_tcp(plain), plain) or not is_same(whole, packet):
            self.wrong.append((packet.hex(), whole.hex()))
        return bool(self.lose and self.lose(self.data[form]))

    def source(self, version, cc):
        """Return a socket at a, in the VRF if there is one."""
        sock = super().source(version, cc)
        if self.vrf:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, b"vrf0")
        return sock

    def write_int_md(self, packet, values):
        """Update the checksum as a hop does, by what has changed, or compute it anew."""
        whole = super().write_int_md(packet, values)
        return whole if self.anew else intmd_sum(whole, packet)


def ports_of(packet):
    return struct.unpack_from("!HH", packet, shims.ip_bytes(packet))


def streams(switch, version, total, halfway=None, options=None, number=2, back=False):
    """Streams from a to b. Return (exact, congestion controls, mean RTT in us, counts of a, of b). back: as many
    from b to a, on the same connections.
    """
    switch.reset()
    before, rtts, left = [hosts.counts(end, "int") for end in "ab"], [], [halfway] if halfway else []
    pairs = [switch.connect(version, "hpccpp") for _ in range(number)]
    both = pairs + [pair[::-1] for pair in pairs] if back else pairs
    for source, _sink in pairs:
        mark(source, version)
        if options:
            source.setsockopt(socket.IPPROTO_IPV6, IPV6_HOPOPTS, options)

    def sample(received):
        if len(both) * total // 2 < received < len(both) * total * 3 // 4:
            rtts.append(hosts.srtt_us(pairs[0][0]))
            if left:
                left.pop()()

    exact = switch.transfer(both, total, sample, limit_s=60)
    names = sorted({hosts.cc_of(source) for source, _sink in pairs})
    for pair in pairs:
        hosts.close(*pair)
    switch.run(0.05)
    got = [hosts.since(end, b, "int") for end, b in zip("ab", before)]
    rtt = sum(rtts) / max(len(rtts), 1)
    print(f"# IPv{version} {names} RTT {rtt:.0f} us, data {switch.data}, probes {switch.probes}")
    for end, counts in zip("ab", got):
        print(f"# {end}: " + " ".join(f"{k}={v}" for k, v in counts.items() if v))
    return exact, names, rtt, *got


def share(switch, form):
    """Return the part of the data packets that has the format."""
    return switch.data.get(form, 0) / max(1, sum(switch.data.values()))


def check(switch, what, form, version, got, least=0.9, most=1.0):
    """What holds for each transfer on which data has the format."""
    exact, names, rtt, a, b = got
    tap.claim(f"{what}: exact, HPCC++ to the end, and the window follows the queue",
              exact and names == ["hpccpp"] and rtt < 2 * PATH_US, f"exact: {exact} {names} {rtt:.0f} us")
    tap.equal(f"{what}: each header is as the format says", switch.wrong[:1], [])
    tap.claim(f"{what}: {least:.0%} of the data has it, none before an answer",
              least <= share(switch, form) <= most and not switch.early, f"{share(switch, form):.2f} {switch.early}")
    tap.claim(f"{what}: probes are without it once data has it",
              0 < switch.probes.get(form, 0) < switch.probes.get(None, 0), f"{switch.probes}")
    number = switch.data.get(form, 0)
    tap.equal(f"{what}: counted at the sender", (a["out_data_tlm"], a["out_data_stopped"]), (number, 0))
    removed = {"IFA": "in_ifa_data", "INT-MD": "in_intmd_data"}.get(form)
    tap.claim(f"{what}: removed and read at the receiver", b["in_data_tlm"] == number and
              (not removed or b[removed] == number) and not b["in_bad_sum"], f"{number} {b['in_data_tlm']}")


VERSIONS = {"IFA": (4, 6), "INT-MD": (4, 6), "IOAM": (6,)}


def formats(switch, brief):
    for form, versions in VERSIONS.items():
        sysctl("a", "hopcc/int_format", FORMATS[form])
        for version in versions:
            sums = hosts.snmp("b", "Tcp", "InCsumErrors")
            check(switch, f"IPv{version} {form}", form, version, streams(switch, version, MB // 4 if brief else MB))
            tap.equal(f"IPv{version} {form}: TCP's checksums are right", hosts.snmp("b", "Tcp", "InCsumErrors"), sums)
    sysctl("a", "hopcc/int_format", FORMATS["IOAM"])
    exact, names, _rtt, a, _b = streams(switch, 4, MB // 4)
    tap.claim("IOAM with IPv4: data has our own header, as without a format",
              exact and names == ["hpccpp-reno"] and a["out_data"] and not a["out_data_tlm"], f"{names}")


def each_fifth(switch):
    sysctl("a", "hopcc/int_every", 5)
    for form in FORMATS:
        sysctl("a", "hopcc/int_format", FORMATS[form])
        check(switch, f"{form} on each fifth packet", form, 6, streams(switch, 6, MB), 0.15, 0.3)
    sysctl("a", "hopcc/int_every", 1)


def losses(switch):
    """Data with a format is lost now and then: it is sent again without, and the format is used again."""
    for form, versions in VERSIONS.items():
        sysctl("a", "hopcc/int_format", FORMATS[form])
        switch.lose = lambda number: number % 600 == 300
        exact, names, _rtt, a, _b = streams(switch, versions[-1], 4 * MB)
        switch.lose = None
        tap.claim(f"{form}, each 600th packet is lost: exact, HPCC++ to the end, and data has the format again",
                  exact and names == ["hpccpp"] and not a["out_data_stopped"] and share(switch, form) > 0.3,
                  f"exact: {exact} {names} {share(switch, form):.2f}")
        tap.equal(f"{form}, losses: nothing that is retransmitted has it", switch.again, 0)


def in_part(switch):
    """The path drops a small part of the data with a format, as one that limits its rate; reports arrive in between."""
    for form, versions in VERSIONS.items():
        sysctl("a", "hopcc/int_format", FORMATS[form])
        switch.lose = lambda number: number % 60 == 30
        exact, names, rtt, a, _b = streams(switch, versions[-1], MB, number=1)
        switch.lose = None
        tap.claim(f"{form}, the path drops a part of the data with it: exact, by probes after three losses", exact and
                  names == ["hpccpp"] and rtt < 2 * PATH_US and a["out_data_stopped"] == 1 and share(switch, form) < 0.5,
                  f"exact: {exact} {names} {rtt:.0f} us {share(switch, form):.2f}")


def refused(switch):
    """The path passes probes with the format, but no data with it."""
    for form, versions in VERSIONS.items():
        sysctl("a", "hopcc/int_format", FORMATS[form])
        switch.lose = lambda number: True
        exact, names, rtt, a, b = streams(switch, versions[-1], MB, number=1)
        switch.lose = None
        tap.claim(f"{form}, the path drops data with it: exact, and after three losses it is on probes only",
                  exact and a["out_data_stopped"] == 1 and share(switch, form) < 0.3, f"{share(switch, form):.2f}")
        tap.claim(f"{form}, the path drops data with it: HPCC++ to the end by probes",
                  names == ["hpccpp"] and rtt < 2 * PATH_US and b["in_ifa"] + b["in_ioam"] + b["in_intmd"] > 20,
                  f"{names} {rtt:.0f} us")
    tap.equal("hopstat doctor names it", hosts.findings("a", "telemetry"), ["out_data_stopped"])


def is_reno(form, got):
    """Return True if the connections had to do without telemetry. A host without a layout answers probes with IOAM."""
    _exact, names, _rtt, a, _b = got
    return names == ["hpccpp-reno"] if form == "IOAM" else a["peer_given_up"] == 2


def without_layout(switch):
    """Nothing proves that the receiver removes the headers, so data has none."""
    for form, versions in VERSIONS.items():
        sysctl("a", "hopcc/int_format", FORMATS[form])
        intlayout("del")
        got = streams(switch, versions[-1], MB // 2)
        # IOAM does no harm to a host that does not read it.
        tap.claim(f"{form}, the receiver has no layout: exact, Reno, and no data has the format",
                  got[0] and is_reno(form, got) and (form == "IOAM" or not switch.data.get(form)),
                  f"exact: {got[0]} {switch.data}")
        layouts()
        sums = hosts.snmp("b", "Tcp", "InCsumErrors")
        got = streams(switch, versions[-1], MB, halfway=lambda: intlayout("del"))
        new = hosts.snmp("b", "Tcp", "InCsumErrors") - sums
        tap.claim(f"{form}, the layout is removed in between: exact, and then Reno", got[0] and is_reno(form, got) and
                  got[3]["out_data_tlm"] > 50, f"exact: {got[0]} {got[1]}")
        if form == "INT-MD":
            tap.claim("INT-MD: what TCP would read as data has a wrong checksum", new > 0, f"{new}")
        layouts()


def both_ways(switch):
    """Data in both directions, with the format from a; b's own has none, as it passes no such switch."""
    for form in FORMATS:
        sysctl("a", "hopcc/int_format", FORMATS[form])
        exact, names, _rtt, a, b = streams(switch, 6, MB, back=True)
        tap.claim(f"{form}, data both ways: exact, HPCC++ to the end, and removed", exact and names == ["hpccpp"] and
                  share(switch, form) > 0.9 and not switch.wrong and b["in_data_tlm"] == a["out_data_tlm"],
                  f"exact: {exact} {names} {share(switch, form):.2f} {b['in_data_tlm']} {switch.wrong[:1]}")


def skbs_per_segment(total, halfway=None):
    """Send over veth. Return (exact, packets that the host sends for each TCP segment, counts of a, of b)."""
    before, left = [hosts.counts(end, "int") for end in "ab"], [halfway] if halfway else []
    pair, start = hosts.connect(4, "hpccpp"), time.monotonic()
    sent = sent_by_a()

    def sample(received):
        nonlocal sent
        if left and received > total // 2:
            left.pop()()
            sent = sent_by_a()

    exact = hosts.transfer([hosts.Stream(*pair, total)], meanwhile=sample)
    skbs, segments = (new - old for new, old in zip(sent_by_a(), sent))
    hosts.close(*pair)
    a, b = (hosts.since(end, b, "int") for end, b in zip("ab", before))
    print(f"# {time.monotonic() - start:.2f} s, {skbs} packets, {segments} segments; out_data_tlm={a['out_data_tlm']} "
          f"in_data_tlm={b['in_data_tlm']}")
    return exact, skbs / segments, a, b


def sent_by_a():
    """Return (packets that a's device has sent, a's TCP segments, at their size on the wire)."""
    words = subprocess.run(["ip", "netns", "exec", "a", "cat", "/sys/class/net/a-r/statistics/tx_packets"],
                           capture_output=True, text=True, check=True).stdout
    return int(words), hosts.snmp("a", "Tcp", "OutSegs")


def gso():
    """Over veth, with a hop of ours that writes IFA: no GSO packets while data has the format, and again later."""
    hosts.build_path()
    for name, dev in (("a", "a-r"), ("b", "b-r")):
        hosts.run(f"ip netns exec {name} tc qdisc add dev {dev} root netem delay 1ms limit 10000")
    hosts.run("ip netns exec r tc qdisc add dev r-b root int rate 1gbit limit 4m formats ifa node_id 77 port_id 3")
    sysctl("a", "hopcc/tcp_hpccpp_rate_mbit", 1000)
    # IFA has no code for 1 Gbit/s.
    tap.equal("a layout of our own hop is accepted", intlayout("set", "-", table="layout trident3\nport 77 3 1000\n"),
              (0, ""))
    tap.claim("over veth, a format on nothing: GSO packets", skbs_per_segment(8 * MB)[1] < 0.5)
    sysctl("a", "hopcc/int_forward", 1)
    sysctl("a", "hopcc/int_format", FORMATS["IFA"])
    exact, ratio, a, b = skbs_per_segment(8 * MB)
    tap.claim("over veth, IFA on data: exact, almost all data has it, in packets of one segment",
              exact and a["out_data_tlm"] * 1500 > 7 * MB and ratio > 0.9 and b["in_data_tlm"] == a["out_data_tlm"],
              f"{a['out_data_tlm']}")
    exact, ratio, a, b = skbs_per_segment(32 * MB, lambda: intlayout("del"))
    tap.claim("the layout is removed in between: exact, and later GSO packets again",
              exact and a["peer_given_up"] == 1 and ratio < 0.5, f"{a['peer_given_up']} {ratio:.2f}")
    hosts.remove_path()


def behind_vrf(switch):
    """A packet passes the host's hooks twice: with the VRF's device, and with its own. It gets one header. An
    emulated CPU may be too slow for an answer in time: then there is another connection. The guest's limit bounds them.
    """
    hosts.ip(f"""
        -n a link add vrf0 type vrf table 10
        -n a link set vrf0 up
        -n a link set tap0 master vrf0
        -n a addr replace 2001:db8::1/64 dev tap0 nodad
        -n a neigh replace {relay.ADDRESS['b']} lladdr {relay.MAC['b']} dev tap0""")
    switch.vrf = True
    switch.run(3)
    for form, versions in VERSIONS.items():
        sysctl("a", "hopcc/int_format", FORMATS[form])
        for version in versions:
            a = {"out_data_tlm": 0}
            while not a["out_data_tlm"]:
                exact, _names, _rtt, a, b = streams(switch, version, MB // 8)
            number = switch.data.get(form, 0)
            tap.claim(f"IPv{version} {form} behind a VRF: exact, one header, which is removed", exact and number and
                      not switch.wrong and a["out_data_tlm"] == b["in_data_tlm"] == number,
                      f"exact: {exact} {number} {a['out_data_tlm']} {b['in_data_tlm']} {switch.wrong[:1]}")


def computed_anew(switch):
    """A hop that computes TCP's checksum anew would remove the mark, without which INT-MD is not safe on data."""
    sysctl("a", "hopcc/int_format", FORMATS["INT-MD"])
    switch.anew = True
    exact, names, rtt, a, b = streams(switch, 4, MB)
    switch.anew = False
    tap.claim("INT-MD, a hop computes checksums anew: exact, on probes only, HPCC++ to the end", exact and
              names == ["hpccpp"] and rtt < 2 * PATH_US and not a["out_data_tlm"] and b["in_intmd"] > 100,
              f"exact: {exact} {names} {rtt:.0f} us")


def by_turns(switch):
    """Short messages in both directions, whose data with the format is lost: only tail loss probes repair it."""
    for form in FORMATS:
        sysctl("a", "hopcc/int_format", FORMATS[form])
        switch.reset()
        switch.lose = lambda number: True
        before = hosts.counts("a", "int")
        source, sink = switch.connect(6, "hpccpp")
        got = 0
        for number in range(12):
            source.send(bytes(1000))
            end = time.monotonic() + 3
            while got < (number + 1) * 1000 and time.monotonic() < end:
                switch.run(0.002)
                with contextlib.suppress(BlockingIOError):
                    got += len(sink.recv(4096))
            sink.send(b"x")
            switch.run(0.005)
        switch.lose = None
        new = hosts.since("a", before, "int")
        hosts.close(source, sink)
        switch.run(0.05)
        tap.claim(f"{form}, short messages whose data is lost: it is given up on data after three", got == 12000 and
                  new["out_data_stopped"] == 1 and switch.data.get(form) == 3, f"{got} {switch.data}")


def options(switch):
    """An application's own hop-by-hop options: the trace is on probes only."""
    sysctl("a", "hopcc/int_format", FORMATS["IOAM"])
    exact, names, rtt, a, b = streams(switch, 6, MB, options=PADDING)
    tap.claim("IOAM beside an application's options: exact, HPCC++ to the end by probes", exact and
              names == ["hpccpp"] and rtt < 2 * PATH_US and not a["out_data_tlm"] and b["in_ioam"] > 20 and
              a["out_data_stopped"] == 2, f"exact: {exact} {names} {rtt:.0f} us")


def short_of_slots(switch):
    """The path has more hops than data has room for at first."""
    sysctl("a", "hopcc/int_slots", 1)
    switch.hops = 3
    for form in FORMATS:
        sysctl("a", "hopcc/int_format", FORMATS[form])
        exact, names, _rtt, a, _b = streams(switch, 6, MB)
        tap.claim(f"{form}, more hops than slots: later data has room for all", exact and names == ["hpccpp"] and
                  1 <= a["in_short"] <= 20 and share(switch, form) > 0.9, f"{names} {a['in_short']} {share(switch, form)}")
    switch.hops = 1
    sysctl("a", "hopcc/int_slots", SLOTS)


def main(brief, vrf):
    switch = Observer()
    for name in "ab":
        # A destination that did not answer is asked again.
        sysctl(name, "hopcc/int_unsupported_s", 0)
    sysctl("a", "hopcc/tcp_hpccpp_rate_mbit", MBIT)
    sysctl("a", "hopcc/int_forward", 1)
    tap.equal("a table with all formats is accepted", layouts(), (0, ""))
    if vrf:
        behind_vrf(switch)
        switch.close()
        return tap.done()
    formats(switch, brief)
    if not brief:
        for part in (each_fifth, losses, in_part, refused, without_layout, computed_anew,
                     by_turns, options, short_of_slots, both_ways):
            part(switch)
    switch.close()
    if not brief:
        gso()
    return tap.done()


if __name__ == "__main__":
    sys.exit(main("brief" in sys.argv[1:], "vrf" in sys.argv[1:]))
