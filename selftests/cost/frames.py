# SPDX-License-Identifier: GPL-2.0
"""Frames that a switch's qdiscs see: plain, and with each header that they read."""
import os
import struct
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
for folder in ("../netns", "../lib"):
    sys.path.insert(0, os.path.join(HERE, folder))
import int_wire
import shims
import wire
import xcp_wire

ADDRESSES = bytes.fromhex("020000000001020000000002")
TIMESTAMPS = b"\1\1\x08\x0a" + bytes(8)
MSS = 1448
IPV4 = 0x0800
RECORDS = 5
# A request that every router lowers, and one that none does.
XCP_ASKED, XCP_LITTLE = 2000000000, 1
ABW, ABW_PER_C, DELAY = 0, 1, 2


def tcp(payload_bytes, ecn=wire.ECT0):
    packet = wire.Packet(40000, 5001, 1, 1, wire.ACK, ecn, payload_bytes)
    return wire.build(4, packet, 500, TIMESTAMPS, bytes(payload_bytes))


def xcp(form, **fields):
    return shims.insert(tcp(MSS - 20), xcp_wire.XCP, xcp_wire.header(form, **fields))


def int_probe():
    body = int_wire.probe(1, int_wire.COOKIE, slots=RECORDS)
    packet = wire.Packet(40000, 5001, 1, 1, wire.ACK, wire.ECT0, len(body))
    return wire.build(4, packet, 500, int_wire.PROBE_MARK, body)


def compact(kind, value):
    return struct.pack("!HH", 0x88b5, kind << 13 | value << 7)


def expanded(kind, value):
    return struct.pack("!HHI", 0x88b6, 0, kind << 28 | value << 8)


def frames():
    """name: (frame, bytes in front of IP, payload of a segment or 0)"""
    shim = int_wire.data_shim(1, int_wire.COOKIE, slots=RECORDS)
    plain = {
        "tcp": tcp(MSS),
        "xcp": xcp(xcp_wire.STANDARD, rtt=100000, throughput=10000, delta=XCP_ASKED),
        "xcp-asks-little": xcp(xcp_wire.STANDARD, rtt=100000, throughput=10000, delta=XCP_LITTLE),
        "int-inband": shims.insert(tcp(MSS - len(shim)), 254, shim),
        "int-probe": int_probe(),
    }
    tagged = {
        # The best value that a tag can have is replaced by each device, the worst by none.
        "csig-compact": (tcp(MSS - 4), compact(ABW, 31)),
        "csig-compact-kept": (tcp(MSS - 4), compact(ABW, 0)),
        "csig-expanded": (tcp(MSS - 8), expanded(ABW, 0xfffff)),
        "csig-expanded-delay": (tcp(MSS - 8), expanded(DELAY, 0)),
    }
    found = {name: (ADDRESSES + struct.pack("!H", IPV4) + ip, 14, 0) for name, ip in plain.items()}
    found["tcp-gso"] = (ADDRESSES + struct.pack("!H", IPV4) + tcp(MSS * 44), 14, MSS)
    for name, (ip, tag) in tagged.items():
        found[name] = (ADDRESSES + tag + struct.pack("!H", IPV4) + ip, 14 + len(tag), 0)
    return found


def put(folder):
    """Write each frame, and an index: NAME OFFSET PROTOCOL GSO_SIZE."""
    os.makedirs(folder)
    with open(f"{folder}/index", "w", encoding="ascii") as index:
        for name, (data, offset, gso_size) in frames().items():
            with open(f"{folder}/{name}", "wb") as file:
                file.write(data)
            print(name, offset, f"{IPV4:x}", gso_size, file=index)
