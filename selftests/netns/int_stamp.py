# SPDX-License-Identifier: GPL-2.0
"""The record of a hop, by a script that is the wire: a path without one makes hpccpp Reno."""
import struct

import int_wire
import shims
from shims import ip_bytes, next_of

SPEED_CODE = 5


def stamp(packet):
    """The IP packet with the record of one idle hop, if it is telemetry; else as it came."""
    at = ip_bytes(packet)
    if next_of(packet) == int_wire.INT and packet[at + 2] == int_wire.DATA:
        return stamp_at(packet, at, packet[at + 15])
    if int_wire.mark_of(packet) == int_wire.PROBE:
        message = at + (packet[at + 12] >> 4) * 4
        number, = struct.unpack_from("!I", packet, message)
        return shims.sum_tcp(stamp_at(packet, message + int_wire.MESSAGE_BYTES, number * 1000))
    return packet


def stamp_at(packet, at, t_ns):
    """@at: where the telemetry header starts; it has no record yet, and room for one."""
    return packet[:at + 4] + b"\x10" + packet[at + 5:at + 8] + \
        struct.pack("!Q", int_wire.record(SPEED_CODE, t_ns, 0, 0)) + packet[at + 16:]
