# SPDX-License-Identifier: GPL-2.0
"""Numbers with units, parsed strictly: a unit is written, or it is an error."""
import re
from typing import Any

NUMBER = r"([0-9]+(?:\.[0-9]+)?)"
TIMES_NS = {"ns": 1, "us": 1_000, "ms": 1_000_000, "s": 1_000_000_000}
RATES_BPS = {"bit": 1, "kbit": 10**3, "mbit": 10**6, "gbit": 10**9, "tbit": 10**12}
# As tc reads sizes: k and m are powers of two there, and so here.
SIZES_BYTES = {"": 1, "b": 1, "k": 1024, "kb": 1024, "m": 1 << 20, "mb": 1 << 20,
               "g": 1 << 30, "gb": 1 << 30}


def _scaled(text: Any, units: dict[str, int], what: str, example: str) -> int:
    # tc takes 10Gbit and 1MB, too.
    match = re.fullmatch(NUMBER + "([a-z]*)", text.lower()) if isinstance(text, str) else None
    if not match or match.group(2) not in units:
        names = " ".join(u for u in units if u)
        raise ValueError(f"{text!r} is not a {what}: write a number and one of {names}, as {example}")
    whole, _, part = match.group(1).partition(".")
    # Exact: 0.1 s must be 100000000 ns on every machine.
    scale: int = 10 ** len(part)
    return int(whole + part) * units[match.group(2)] // scale


def time_ns(text: Any) -> int:
    """'25us' -> 25000"""
    return _scaled(text, TIMES_NS, "time", "\"25us\"")


def rate_bps(text: Any) -> int:
    """'10gbit' -> 10000000000"""
    value = _scaled(text, RATES_BPS, "rate", "\"10gbit\"")
    if not 10_000 <= value <= 1_600 * 10**9:
        raise ValueError(f"{text!r} is out of range: 10kbit to 1.6tbit")
    return value


def size_bytes(text: Any) -> int:
    """'30k' -> 30720; a plain number counts bytes"""
    if isinstance(text, int) and not isinstance(text, bool) and text >= 0:
        return text
    return _scaled(text, SIZES_BYTES, "size", "\"30k\" (of 1024) or 30000")


def probability(value: Any) -> float:
    """0.05 -> 0.05"""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
        raise ValueError(f"{value!r} is not a probability: write 0 to 1")
    return float(value)


# The value of what did not happen is infinite; tables have this word.
NEVER = "never"


def show_time(value_ns: float) -> str:
    for unit, scale in (("s", 10**9), ("ms", 10**6), ("us", 10**3)):
        if value_ns >= scale:
            return f"{value_ns / scale:.4g} {unit}"
    return f"{value_ns:.0f} ns"


def show_rate(value_bps: float) -> str:
    for unit, scale in (("Gbit/s", 1e9), ("Mbit/s", 1e6), ("kbit/s", 1e3)):
        if value_bps >= scale:
            return f"{value_bps / scale:.4g} {unit}"
    return f"{value_bps:.0f} bit/s"
