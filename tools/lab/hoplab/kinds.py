# SPDX-License-Identifier: GPL-2.0
"""Kinds of values in a scenario file.

A kind is a function: it takes what TOML gave and returns what the lab uses, or raises ValueError
with a message that says what is allowed. Below them stand the types of schema.py, each with its kind.
"""
import math
import re
from collections.abc import Callable
from typing import Annotated, Any, TypeVar

from .build import LAB, TOP
from .units import probability, rate_bps, size_bytes, time_ns

T = TypeVar("T")
Number = TypeVar("Number", int, float)
Kind = Callable[[Any], T]

BUILT_IN_CCS = ("reno", "cubic", "dctcp", "bbr", "westwood")
FROM_HOST = "host"      # a cc: the one that the host's routes and sysctls choose
RANGE_MAX_NAMES = 10000
SEED_MAX = 2**32
# The kernel's networks, a bridge's own device and the lab's files have these names.
TAKEN_NAMES = ("lo", "all", "default", "bridge", "net")


def text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{value!r}: write a string")
    return value


def flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"{value!r}: write true or false")
    return value


def integer(low: int, high: int) -> Kind[int]:
    def kind(value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise ValueError(f"{value!r}: write a whole number, {low} to {high}")
        return value
    return kind


def even(low: int, high: int) -> Kind[int]:
    def kind(value: Any) -> int:
        if integer(low, high)(value) % 2:
            raise ValueError(f"{value!r}: write an even number, {low} to {high}")
        return int(value)
    return kind


def one_of(*allowed: T) -> Kind[T]:
    def kind(value: Any) -> T:
        if value not in allowed:
            raise ValueError(f"{value!r}: allowed: {' '.join(map(str, allowed))}")
        found: T = value
        return found
    return kind


def aslist(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def list_of(kind: Kind[T]) -> Kind[list[T]]:
    def parse(value: Any) -> list[T]:
        if not isinstance(value, list):
            raise ValueError(f"{value!r}: write a list, as [1, 2]")
        return [kind(v) for v in value]
    return parse


def distinct(kind: Kind[T]) -> Kind[list[T]]:
    """A list of at least one element, none of them twice."""
    def parse(value: Any) -> list[T]:
        found = list_of(kind)(value)
        if not found:
            raise ValueError("the list is empty: write at least one")
        twice = [v for v in found if found.count(v) > 1]
        if twice:
            raise ValueError(f"{twice[0]!r} is there twice")
        return found
    return parse


def one_or_list(kind: Kind[T]) -> Kind[list[T]]:
    return lambda value: distinct(kind)(aslist(value))


def within(kind: Kind[Number], low: Number, high: Number, allowed: str) -> Kind[Number]:
    def parse(value: Any) -> Number:
        found = kind(value)
        if not low <= found <= high:
            raise ValueError(f"{value!r} is out of range: {allowed}")
        return found
    return parse


def wire(name: str) -> int:
    """A bound of sch_link, read from its header."""
    header = (LAB / "sch_link/pkt_sched_link.h").read_text()
    found = re.search(rf"^#define LINK_{name}\s+(\d+)", header, re.M)
    assert found, f"sch_link has no LINK_{name}"
    return int(found[1])


def expanded(item: Any) -> list[str]:
    """One word of a list of names: 'h[1-3]' -> ['h1', 'h2', 'h3']; 'rx' -> ['rx']"""
    match = re.fullmatch(r"([a-z][a-z0-9]*)(?:\[([0-9]{1,7})-([0-9]{1,7})\])?", item) \
        if isinstance(item, str) else None
    if not match:
        raise ValueError(f"{item!r} is no name: letters and digits, as \"h1\", or \"h[1-5]\"")
    if match.group(2) is None:
        return [match[1]]
    numbers = range(int(match[2]), int(match[3]) + 1)
    if not 0 < len(numbers) <= RANGE_MAX_NAMES:
        raise ValueError(f"{item!r} is no range: upwards, {RANGE_MAX_NAMES} names at most")
    return [f"{match[1]}{i}" for i in numbers]


def names(value: Any) -> list[str]:
    """'h[1-3]' or ['h1', 'rx'] -> ['h1', 'h2', 'h3'] or ['h1', 'rx']"""
    found = [name for item in aslist(value) for name in expanded(item)]
    if not found:
        raise ValueError("no name: write at least one")
    long = [n for n in found if len(n) > 8]
    if long:
        raise ValueError(f"{long[0]!r} is too long: 8 letters and digits at most")
    taken = [n for n in found if n in TAKEN_NAMES]
    if taken:
        raise ValueError(f"{taken[0]!r} has a meaning of its own, as have {' '.join(TAKEN_NAMES)}: "
                         "take another name")
    return found


def names_or_none(value: Any) -> list[str]:
    return [] if value == [] else names(value)


def group(value: Any) -> str:
    """A flow's name: it becomes a word of the plan, of JSON and of HTML."""
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.+-]{0,31}", text(value)):
        raise ValueError(f"{value!r} is no name: letters, digits, _ . + -, 32 at most")
    return text(value)


def name(value: Any) -> str:
    found = names(value)
    if len(found) != 1:
        raise ValueError(f"{value!r}: write one name")
    return found[0]


def sysctls(value: Any) -> dict[str, str]:
    if not isinstance(value, dict):
        raise ValueError(f"{value!r}: write a table, as {{ \"net.ipv4.tcp_ecn\" = 1 }}")
    for key, setting in value.items():
        if not re.fullmatch(r"[a-z0-9_]+(\.[a-zA-Z0-9_-]+)+", key):
            raise ValueError(f"{key!r} is no sysctl: write as \"net.ipv4.tcp_ecn\"")
        if isinstance(setting, (dict, list, float)) or not str(setting).isprintable():
            raise ValueError(f"{key}: {setting!r}: write a number or a string")
    return {k: str(int(v) if isinstance(v, bool) else v) for k, v in value.items()}


def bound(value: Any) -> str | float:
    if isinstance(value, str):
        return value
    if not isinstance(value, (int, float)) or isinstance(value, bool) or not math.isfinite(value):
        raise ValueError(f"{value!r}: write a number or a formula in a string")
    return value


def window(value: Any) -> tuple[int, int]:
    if not isinstance(value, list) or len(value) != 2:
        raise ValueError(f"{value!r}: write two times, as [\"100ms\", \"1s\"]")
    low, high = (TIME(v) for v in value)
    if low >= high:
        raise ValueError(f"{value!r}: the first must be below the second")
    return (low, high)


def queue(value: Any) -> str:
    """Qdiscs from the upper to the lower: the first word of each is its kind, tc checks the rest."""
    for one in text(value).split(" / "):
        words = one.split()
        if not words or not re.fullmatch(r"[a-z_]+", words[0]) or not re.fullmatch(r"[\w .,:%/-]*", one):
            raise ValueError(f"{value!r} is no qdisc: write as tc does, \"bfifo limit 150k\", or "
                             "\"int switch_id 1 / wred limit 150k\"")
    return text(value)


def tracepoint(value: Any) -> str:
    if not re.fullmatch(r"\w+:\w+", text(value)):
        raise ValueError(f"{value!r} is no tracepoint: write as \"tcp:tcp_probe\"")
    return text(value)


# Congestion controls from elsewhere (entrants.py): their modules are loaded by the runs that use them.
FOREIGN_CCS: set[str] = set()


def ccs() -> tuple[str, ...]:
    """The congestion controls in the lab's kernel, one for each tcp_ folder of the tree, and FOREIGN_CCS."""
    own = sorted(p.name[4:] for p in TOP.glob("tcp_*") if p.is_dir())
    return (FROM_HOST, *BUILT_IN_CCS, *own, *sorted(FOREIGN_CCS - {*BUILT_IN_CCS, *own}))


def cc(value: Any) -> str:
    return one_of(*ccs())(value)


def share(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value <= 2:
        raise ValueError(f"{value!r} is no load: write above 0, up to 2, as 0.3")
    return float(value)


TIME = within(time_ns, 0, 10**13, "0s to 10000s")
PERIOD = within(time_ns, 1_000, 10**13, "1us to 10000s")
DELAY = within(time_ns, 0, wire("DELAY_MAX_NS"), f"0s to {wire('DELAY_MAX_NS') // 10**9}s")
SIZE = within(size_bytes, 0, 2**50, "0 to 2^50 bytes")
# The value of the socket option: the kernel doubles it and keeps it in an int.
SNDBUF = within(size_bytes, 4096, 2**30, "4k to 1g")

# --- types with their kinds; times in ns, rates in bit/s, sizes in bytes ---

Text = Annotated[str, text]
Flag = Annotated[bool, flag]
Time = Annotated[int, TIME]
Period = Annotated[int, PERIOD]
Delay = Annotated[int, DELAY]
Window = Annotated[tuple[int, int], window]
Size = Annotated[int, SIZE]
Rate = Annotated[int, rate_bps]
Probability = Annotated[float, probability]
Load = Annotated[float, share]
Overhead = Annotated[int, integer(0, wire("OVERHEAD_MAX_BYTES"))]
Mtu = Annotated[int, integer(576, 65000)]
Name = Annotated[str, name]
Names = Annotated[list[str], names]
Sysctls = Annotated[dict[str, str], sysctls]
Queue = Annotated[str, queue]
Bound = Annotated[str | float, bound]
