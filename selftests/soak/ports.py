# SPDX-License-Identifier: GPL-2.0
"""Qdiscs for the fuzzer: the attributes of each of ours, and children that hold packets."""
import struct

from rawlink import attr, near_bounds, options, u32, u64

TCA_KIND, TCA_OPTIONS, TCA_STATS2 = 1, 2, 7
ROOT = 0xffffffff
TIME_US = (4, 10, 10**7)
RATE = (8, 1250, 200 * 10**9)
PPM = (4, 0, 10**6)
SIGNAL = {1: (4, 0, 1), 2: (4, 1, 2**32 - 1), 3: 31 * 4, 4: 16, 5: 16}
PROFILE = {1: (4, 0, 2**30), 2: (4, 0, 2**30), 3: PPM, 4: 0}

# Values by attribute, from include/uapi/linux/pkt_sched_*.h.
SPEC = {
    "xcp": {2: RATE, 3: (4, 0, 1024), 4: (4, 1, 554999), 5: PPM, 6: PPM, 7: TIME_US, 8: TIME_US,
            9: TIME_US, 10: PPM, 11: (4, 1, 254), 12: (4, 64, 2**32 - 1), 13: (4, 0, 10**7),
            14: (4, 0, 2)},
    "csig": {2: RATE, 3: (4, 0, 1024), 4: (4, 0, 2), 5: (4, 1, 2), 6: (4, 0, 2),
             7: (4, 10**4, 10**9), 8: (4, 1, 8), 9: (4, 0, 1), 10: (4, 1536, 65535),
             11: (4, 1536, 65535), 12: (4, 0, 65535), 13: (4, 0, 65535), 14: (4, 0, 65535),
             15: (4, 0, 65535), 16: (4, 64, 2**32 - 1), 17: SIGNAL, 18: SIGNAL, 19: SIGNAL},
    "int": {2: RATE, 3: RATE, 4: (4, 0, 4095), 5: (4, 0, 65535), 6: (4, 0, 1024), 7: (4, 0, 1),
            8: (4, 0, 1), 9: (4, 1, 254), 10: (4, 0, 63), 11: (4, 0, 63), 12: (4, 1, 65535),
            13: (4, 64, 2**32 - 1), 14: (4, 0, 7), 15: (4, 0, 2**24 - 1), 16: (4, 0, 2**24 - 2),
            17: (4, 0, 64)},
    "wred": {1: (4, 64, 2**30), 2: (4, 0, 1024), 3: PROFILE, 4: PROFILE},
}
OURS = list(SPEC)
# Attributes that contain times of timers, and the attribute that starts a timer.
TIMED = {"xcp": [7, 8, 9], "csig": [7, 9]}


def ours(rng, kind):
    """Return options of one of our qdiscs; sometimes all times of a port, so that they agree."""
    if kind in TIMED and rng.random() < 0.25:
        return timed(rng, kind)
    # One bad attribute makes a request fail, so with fewer attributes more requests succeed.
    return options(rng, SPEC[kind], rng.choice((0, 1, 2, 6)))


def timed(rng, kind):
    """Return options with one value for all intervals, in range."""
    time_us = near_bounds(rng, 10, 10**4) & 0xffffffff
    if kind == "xcp":
        return u64(2, 125000000) + b"".join(u32(n, time_us) for n in TIMED["xcp"])
    return u64(2, 125000000) + u32(7, time_us * 1000) + u32(9, 1) + u32(6, rng.choice((0, 2)))


def holder(rng):
    """Return a child that holds packets for long: (kind, options)."""
    kind = rng.choice(("tbf", "netem", "plug"))
    if kind == "tbf":
        rate = rng.choice((1, 1, 1000, 10**6))
        parms = struct.pack("=BBHhHI", 0, 1, 0, 0, 0, rate) + bytes(12) + struct.pack("=III", 100000, 0, 0)
        return kind, attr(1, parms) + u32(6, 3000)
    if kind == "netem":
        # The delay is in ticks of 64 ns: up to 274 s.
        return kind, struct.pack("=IIIIII", rng.getrandbits(32), 1000, 0, 0, 0, 0)
    return kind, struct.pack("=iI", rng.choice((0, 1, 2, 3)), 100000)


def other(rng):
    """Return a stock qdisc as child or parent: (kind, options)."""
    kind = rng.choice(("pfifo", "bfifo", "prio", "fq_codel", "fq", "netem"))
    if kind == "netem":
        loss = rng.choice((0, 2**27, 2**31))
        return kind, struct.pack("=IIIIII", rng.getrandbits(16), 100, loss, 0, loss, 0)
    return kind, None


def request(index, parent, handle, kind, opts):
    body = struct.pack("=BxxxiIII", 0, index, handle, parent, 0) + attr(TCA_KIND, kind.encode() + b"\0")
    return body if opts is None else body + attr(TCA_OPTIONS, opts)
