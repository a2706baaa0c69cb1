#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Wireshark's dissectors (tools/wireshark) and scapy's layers (tools/scapy) read one frame of each form
that the carriers have sent: frames.txt, of record_frames.py. The two are written apart and must agree on
each field; some values are known from how the frames were made. scapy also builds the frames again.
"""
import os
import re
import struct
import subprocess
import sys
import tempfile

TOP = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
sys.dont_write_bytecode = True
sys.path[:0] = [f"{TOP}/selftests/lib", f"{TOP}/tools/scapy"]
from tap import Tap

try:
    import hopcc_scapy as hopcc
    from scapy.layers.inet import IP, TCP
    from scapy.layers.inet6 import IPv6
    from scapy.layers.l2 import Dot1Q, Ether
except ImportError:
    print("1..0 # skip no scapy: run tools/setup/setup.sh check")
    sys.exit()

tap = Tap()
LUA = f"{TOP}/tools/wireshark/hopcc.lua"
# Fields of tshark, and how scapy's layers say the same.
TAG = ("type", "value", "locator", "reserved")
XCP = ("version", "format", "protocol", "length", "flags", "rtt", "throughput", "delta", "reverse")
INT = ("next", "words", "type", "flags", "nhop", "path_id", "slots", "port_id")
OPTION = ("asks", "answers", "cookie")
MESSAGE = ("id", "cookie", "seq", "t_ns", "window", "kind", "flows", "tag")
IFA = ("version", "gns", "next", "flags", "max_words")
IFA_METADATA = ("request", "action", "hop_limit", "words", "stack")
INT_MD = ("words", "original", "flags", "hop_words", "remaining_hops", "bitmap", "domain", "stack")
IOAM = ("trace.ns", "trace.nodelen", "trace.flags", "trace.remlen", "trace.type", "trace.node.id", "trace.node.iif",
        "trace.node.eif", "trace.node.qdepth")
TERMS = ("window_max", "eta", "max_stage")
RECORD = ("speed", "timestamp", "tx", "qlen")
FIELDS = ["frame.protocols", "_ws.col.Protocol", "tcp.dstport",
          *(f"hopcc.csig.{name}" for name in (*TAG, "ethertype", "form")),
          *(f"hopcc.csig_option.{name}" for name in (*TAG, "length")), *(f"hopcc.option.{name}" for name in OPTION),
          *(f"hopcc.xcp.{name}" for name in (*XCP, "rtt_us", "flags.e2e_limited")),
          *(f"hopcc.ifa.{name}" for name in (*IFA, *IFA_METADATA)), *(f"hopcc.intmd.{name}" for name in INT_MD),
          *dict.fromkeys(f"hopcc.int.{name}" for name in (*INT, *MESSAGE, *TERMS)),
          *(f"hopcc.int.record.{name}" for name in (*RECORD, "tx_bytes", "qlen_bytes")),
          *(f"hopcc.int.{name}" for name in ("cookie_low", "terms_flows", "option_id", "option_index"))]
# The hops of the recorder: locator, pathID; 100 Mbit/s is speed code 2.
LOCATORS, PATHS, SPEED = (5, 7, 0x1205, 0x1207), (5, 7), 2


def frames():
    with open(f"{TOP}/selftests/interfaces/frames.txt", encoding="ascii") as file:
        found = {name: bytes.fromhex(data) for name, data in (line.split() for line in file)}
    for name in ("csig-compact", "csig-expanded"):
        found["vlan-" + name] = found[name][:12] + bytes.fromhex("81000005") + found[name][12:]
    return found


def write_capture(path, packets):
    with open(path, "wb") as file:
        file.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1))
        for number, data in enumerate(packets):
            file.write(struct.pack("<IIII", number, 0, len(data), len(data)) + data)


def tshark(path, *arguments, lua=True):
    # Settings of whoever runs the test change nothing: a home without any.
    done = subprocess.run(["tshark", *(["-X", f"lua_script:{LUA}"] if lua else []), "-n", "-r", path, *arguments],
                          capture_output=True, text=True, check=False,
                          env={"PATH": os.environ["PATH"], "HOME": os.path.dirname(path)})
    return done.stdout + (done.stderr if done.returncode else "")


def dissected(path, names=FIELDS, **options):
    """Return for each frame {field: list of its values}, numbers as such."""
    arguments = [word for name in names for word in ("-e", name)]
    out = tshark(path, "-T", "fields", "-E", "separator=/t", "-E", "aggregator=,", *arguments, **options)
    rows = []
    for line in out.splitlines():
        cells = line.split("\t") + [""] * len(names)
        rows.append({name: [number(x) for x in cell.split(",") if x] for name, cell in zip(names, cells)})
    return rows


def number(text):
    return int(text, 0) if re.fullmatch(r"-?(0x[0-9a-f]+|0|[1-9]\d*)", text) else text


def of_scapy(packet):
    """Return the same from scapy's layers."""
    got = {name: [] for name in FIELDS}

    def take(prefix, layer, names):
        for name in names:
            if layer.getfieldval(name) is not None:
                value = layer.getfieldval(name)
                got[f"{prefix}.{name}"].append(number(value.hex()) if isinstance(value, bytes) else value)

    layers = list(packet.iterpayloads())
    headers = [layer for layer in layers if isinstance(layer, hopcc.IntHeader)]
    for layer in layers:
        if isinstance(layer, (hopcc.CsigCompact, hopcc.CsigExpanded)):
            take("hopcc.csig", layer, (*TAG, "ethertype"))
        elif isinstance(layer, hopcc.Xcp):
            take("hopcc.xcp", layer, XCP)
        elif isinstance(layer, hopcc.Ifa):
            take("hopcc.ifa", layer, IFA)
        elif isinstance(layer, hopcc.IfaMetadata):
            take("hopcc.ifa", layer, IFA_METADATA)
        elif isinstance(layer, hopcc.IntMd):
            take("hopcc.intmd", layer, INT_MD)
        elif isinstance(layer, hopcc.IntMessage):
            take("hopcc.int", layer, MESSAGE)
        elif isinstance(layer, hopcc.IntTerms):
            take("hopcc.int", layer, TERMS)
            got["hopcc.int.terms_flows"].append(layer.flows)
    for header in headers:
        take("hopcc.int", header, INT)
        take_records(got, header.records[:header.nhop])
    for header in (layer for layer in headers if isinstance(layer, hopcc.Int)):
        take("hopcc.int", header, ("id", "cookie_low"))
    for option in hopcc.options(packet[TCP]):
        take_option(got, option, take)
    return got


def take_records(got, records):
    for record in records:
        for name in RECORD:
            got[f"hopcc.int.record.{name}"].append(getattr(record, name))


def take_option(got, option, take):
    if isinstance(option, hopcc.HopOption):
        take("hopcc.option", option, OPTION)
        return
    if isinstance(option, hopcc.IntOption):
        got["hopcc.int.option_id"].append(option.id)
        got["hopcc.int.option_index"].append(option.index)
        take("hopcc.int", option, ("nhop", "path_id"))
        take_records(got, option.records)
        return
    got["hopcc.csig_option.length"].append(option.length)
    for tag in option.tag:
        take("hopcc.csig_option", tag, TAG)


# Fields that tshark alone has.
DERIVED = {"frame.protocols", "_ws.col.Protocol", "tcp.dstport", "hopcc.csig.form", "hopcc.xcp.rtt_us",
           "hopcc.xcp.flags.e2e_limited", "hopcc.int.record.tx_bytes", "hopcc.int.record.qlen_bytes"}


def compare(name, row, layers):
    both = {key: (row[key], layers[key]) for key in FIELDS if key not in DERIVED and row[key] != layers[key]}
    values = sum(len(row[key]) for key in FIELDS if key not in DERIVED)
    tap.claim(f"{name}: tshark and scapy agree on each field, TCP is dissected",
              not both and values and row["tcp.dstport"], f"{both} {row['frame.protocols']}")


def known(rows):
    """Values that follow from the recorder's network."""
    tags = [row["hopcc.csig.locator"] + row["hopcc.csig_option.locator"] for row in rows.values()]
    tap.claim("locators are those of the ports", {x for found in tags for x in found} <= set(LOCATORS) and
              sum(map(len, tags)) >= 5, str(tags))
    hops = [row for row in rows.values() if row["hopcc.int.record.speed"] and row["hopcc.int.nhop"] == [1]]
    tap.claim("one hop: pathID is its switch ID, the record has its speed",
              len(hops) >= 12 and all(row["hopcc.int.path_id"][0] in PATHS and
                                      set(row["hopcc.int.record.speed"]) <= {SPEED} for row in hops),
              str([(row["hopcc.int.path_id"], row["hopcc.int.record.speed"]) for row in hops]))
    negotiated = [[rows[f"option-{name}-{what}"][f"hopcc.option.{field}"] for field in OPTION]
                  for what in ("asks", "answers") for name in ("int", "csig", "xcp")]
    tap.claim("negotiation: one carrier asks or answers, INT has a cookie",
              [one[:2] for one in negotiated] == [[[bit], [0]] for bit in (1, 2, 4)] + [[[0], [bit]] for bit in (1, 2, 4)] and
              [one[2] != [0] for one in negotiated] == [True, False, False] * 2, str(negotiated))
    tap.claim("RTTs of XCP: 2 ms in Standard, 2000 us in our format",
              [rows[name]["hopcc.xcp.rtt_us"] for name in ("xcp-1", "xcp-3")] == [[2000], [2000]])
    tap.claim("EtherType behind the tag", rows["csig-compact"]["hopcc.csig.ethertype"] == [0x800] and
              rows["csig-expanded-ipv6"]["hopcc.csig.ethertype"] == [0x86dd])


def others(path, rows, names):
    """Telemetry of other switches: IOAM as Wireshark itself reads it, IFA and INT-MD by the layouts of sch_int."""
    row = dict(zip(names, dissected(path, [f"ipv6.opt.ioam.{name}" for name in IOAM], lua=False)))
    found = {name: values for name, values in row.items() if values["ipv6.opt.ioam.trace.ns"]}
    tap.equal("IOAM: one frame, and Wireshark alone reads what the router's stack and sch_int wrote",
              [(name, *(x for one in values.values() for x in one)) for name, values in found.items()],
              [("ipv6-ioam-int-probe-records", 1, 5, 0, 21, 0xf20000, 7, 0xffff, 2 << 12 | 9, 0)])
    words = struct.unpack("!8I", bytes.fromhex(rows["ifa-int-probe-records"]["hopcc.ifa.stack"][0]))
    tap.claim("IFA: node 7, TTL 63, no speed code, port 9", words[0] == 7 << 8 | 63 and words[1] >> 28 == 15 and
              words[2] >> 16 == 9, str(words))
    words = struct.unpack("!6I", bytes.fromhex(rows["intmd-int-probe-records"]["hopcc.intmd.stack"][0]))
    tap.claim("INT-MD: node 7, port 9", words[0] == 7 and words[1] & 0xffff == 9, str(words))


def filters(path, names):
    for expression, want in (
            ("hopcc.csig.locator == 7", {"csig-compact", "vlan-csig-compact"}),
            ("hopcc.int.kind == 2 and hopcc.int.type == 3", {"int-probe-ratio"}),
            ("hopcc.csig_option and not hopcc.csig_option.locator",
             {"csig-option-4"}),
            ("hopcc.option.asks.csig == 1", {"option-csig-asks", "ipv6-option-csig-asks"}),
            ("hopcc.option.answers.xcp == 1", {"option-xcp-answers", "ipv6-option-xcp-answers"})):
        got = {names[int(n) - 1] for n in tshark(path, "-Y", expression, "-T", "fields", "-e", "frame.number").split()}
        tap.claim(f"filter {expression}", got == want, str(got))


def other_numbers(folder, packets):
    """Module parameters other than the default are preferences."""
    path = f"{folder}/numbers.pcap"
    xcp = bytearray(packets["xcp-3"])
    xcp[23] = 252
    write_capture(path, [packets["csig-compact"].replace(b"\x88\xb5", b"\x12\x34", 1), bytes(xcp),
                         packets["option-xcp-asks"].replace(b"\xfe\x10HO", b"\xfe\x10OH", 1)])
    out = tshark(path, "-o", f"hopcc.csig.compact:{0x1234}", "-o", "hopcc.xcp.protocol:252",
                 "-o", f"hopcc.option.exid:{0x4f48}", "-T", "fields", "-e", "frame.protocols",
                 "-e", "hopcc.option.asks")
    tap.claim("TPID, protocol number and ExID are preferences",
              [("hopcc.csig_compact:ip:tcp" in line, "hopcc.xcp:tcp" in line, "0x04" in line)
               for line in out.splitlines()] == [(True, False, False), (False, True, False), (False, False, True)], out)


def cut_short(folder, packets):
    """No length of a frame is an error of the scripts."""
    path = f"{folder}/short.pcap"
    names = ("option-int-asks", "int-probe-records", "int-option", "csig-expanded", "csig-option-10", "xcp-3",
             "ifa-int-probe-records", "intmd-int-probe-records")
    write_capture(path, [packets[name][:n] for name in names for n in range(14, len(packets[name]))])
    out = tshark(path, "-T", "fields", "-e", "frame.number", "-e", "_ws.lua.text", "-e", "_ws.lua.error")
    lines = out.splitlines()
    bad = [line for line in lines if len(line.split()) > 1]
    tap.claim(f"{len(lines)} frames cut short: no error of the scripts",
              len(lines) > 600 and not bad, "\n".join(bad[:3]))


def rebuilt(packets):
    for name, data in packets.items():
        packet = Ether(data)
        packet.clear_cache()
        tap.claim(f"{name}: scapy builds it again, byte for byte", bytes(packet) == data and
                  bytes(Ether(data) / b"") == data, packet.summary())


def from_nothing():
    """Lengths, slots and TCP's checksum are computed where they are left out."""
    record = hopcc.IntRecord(speed="10G", timestamp=1, tx=2, qlen=3)
    for network, words in ((IP(src="192.0.2.1", dst="192.0.2.2"), "IPv4"),
                           (IPv6(src="2001:db8::1", dst="2001:db8::2"), "IPv6")):
        plain = bytes(network / TCP(sport=1, dport=2) / b"data")
        for shim in (hopcc.Xcp(delta=-5), hopcc.Int(records=[record] * 2)):
            built = bytes(network / shim / TCP(sport=1, dport=2) / b"data")
            tap.claim(f"{words}: TCP below {shim.name} has the checksum of TCP below IP", built[-24:] == plain[-24:])
    header = bytes(hopcc.Int(records=[record] * 2))
    tap.equal("INT: length and slots from the records", (header[1], header[24] >> 4), (7, 2))
    tap.claim("a VLAN tag, then a tag of CSIG",
              bytes(Ether() / Dot1Q(vlan=5) / hopcc.CsigCompact(locator=3) / IP())[16:18] == b"\x88\xb5")
    option = hopcc.CsigOption(length=6, tag=[hopcc.CompactData(locator=3)])
    tap.equal("an option of CSIG in TCP", hopcc.options(TCP(bytes(TCP(options=[hopcc.as_option(option)]))))[0].tag[0].locator, 3)


def main():
    packets = frames()
    names = list(packets)
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/frames.pcap"
        write_capture(path, packets.values())
        rows = dict(zip(names, dissected(path)))
        tap.equal("one row a frame", len(rows), len(packets))
        for name, row in rows.items():
            compare(name, row, of_scapy(Ether(packets[name])))
        known(rows)
        others(path, rows, names)
        hidden = [n for n, row in zip(names, dissected(path, ["tcp.dstport"], lua=False)) if not row["tcp.dstport"]]
        tap.claim("without the dissectors TCP is hidden below each header and tag", sorted(hidden) == sorted(
            n for n in names if re.search(r"xcp-\d|ifa|int-data|csig-(compact|expanded)", n)), str(hidden))
        filters(path, names)
        other_numbers(folder, packets)
        cut_short(folder, packets)
    rebuilt(packets)
    from_nothing()
    return tap.done()


sys.exit(main())
