# SPDX-License-Identifier: GPL-2.0
"""One run's results: a JSON-lines file, read into memory. record.py writes it, metrics.py measures."""
import array
import functools
import json
import sys
from pathlib import Path
from typing import Any

from . import LabError

SCHEMA = 1
# The lab warns when the delay of one of its programs exceeds this share of the measured time.
LATE_SHARE = 0.01


Item = dict[str, Any]       # a line of the file
Series = tuple["array.array[int]", ...]


def shared(item: Item) -> Item:
    """Keep one copy of each word, however many lines have it."""
    for key, value in item.items():
        if isinstance(value, str):
            item[key] = sys.intern(value)
    return item


class Run:
    """A result file in memory."""

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        self.meta: Item = {}
        self.flows: list[Item] = []
        self.sockets: list[Item] = []
        self.traces: list[Item] = []
        self.queue: dict[str, Series] = {}      # port -> t_ns, pkts, bytes, sent bytes, sent pkts
        self.goodput: dict[int, Series] = {}    # flow id -> t_ns, bytes
        self.ports: dict[str, Item] = {}
        self.hosts: dict[str, Item] = {}
        self.counters: list[Item] = []
        self.lateness_ns: dict[str, int] = {}   # program -> its longest delay
        self.kept: dict[tuple[str, str | None], Any] = {}   # values of each transfer, once metrics.py needed them
        number_ = 0
        with open(path) as lines:
            try:
                for number_, line in enumerate(lines, 1):
                    self.take(json.loads(line))
            except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
                raise LabError(f"{path}: line {number_}: not of a result of this lab") from None
        if not self.meta or self.meta.get("schema") != SCHEMA:
            raise LabError(f"{path}: not a result of this lab (schema {SCHEMA})")

    def take(self, item: Item) -> None:
        kind = item["type"]
        if kind == "queue":
            series = self.queue.setdefault(item["port"], tuple(array.array("q") for _ in range(5)))
            series[0].append(item["t_ns"])
            series[1].append(item["pkts"])
            series[2].append(item["bytes"])
            series[3].append(item["sent_bytes"])
            series[4].append(item["sent_pkts"])
        elif kind == "goodput":
            series = self.goodput.setdefault(
                item["id"], (array.array("q", [0]), array.array("q", [0])))
            series[0].append(item["t_ns"])
            series[1].append(item["bytes"])
        elif kind == "meta":
            self.meta = item
            paths: dict[tuple[str, ...], list[str]] = {}
            for flow in item.get("flows", []):
                # Thousands of flows share the same few paths.
                flow["path"] = paths.setdefault(tuple(flow["path"]), flow["path"])
                shared(flow)
        elif kind == "port":
            self.ports[item["port"]] = item
        elif kind == "host":
            self.hosts[item["ns"] if "ns" in item else item["host"]] = item
        elif kind == "counter":
            self.counters.append(item)
        elif kind == "lateness":
            self.lateness_ns[item["program"]] = item["late_ns"]
        elif kind == "flow":
            self.flows.append(shared(item))
        elif kind == "socket":
            self.sockets.append(item)
        elif kind == "trace":
            self.traces.append(item)

    @functools.cached_property
    def begun(self) -> dict[int, list[Item]]:
        """The transfers that started, by connection."""
        found: dict[int, list[Item]] = {}
        for record in self.flows:
            found.setdefault(record["id"], []).append(record)
        return found

    @property
    def label(self) -> str:
        return f"{self.meta['scenario']}/{self.meta['case']}/{self.meta['seed']}"

    def late(self) -> list[str]:
        """Say where a program of the lab was later than LATE_SHARE of what it measured, a line each."""
        found = []
        slow = [f for f in self.flows if f["done"] and f["end_ns"] > f["start_ns"]
                and f.get("late_ns", 0) > LATE_SHARE * (f["end_ns"] - f["start_ns"])]
        if slow:
            found.append(f"{len(slow)} completion times, by up to {max(f['late_ns'] for f in slow)} ns")
        for program, what in (("hopflow", "goodput"), ("hopflow", "sockets"), ("hopsample", "queue")):
            late_ns, period_ns = self.lateness_ns.get(program, 0), self.period_ns(what)
            if period_ns and late_ns > LATE_SHARE * period_ns:
                found.append(f"samples of {what}, by up to {late_ns} ns")
        return found

    def period_ns(self, what: str) -> int | None:
        """The period of the samples of goodput, sockets or queues; None where there are less than two."""
        if what == "goodput":
            period_ns: int = self.meta["goodput_ns"]
            return period_ns
        if what == "sockets":
            times = sorted({s["t_ns"] for s in self.sockets})[:2]
        else:
            times = next((list(series[0][:2]) for series in self.queue.values()), [])
        return times[1] - times[0] if len(times) == 2 else None

    @property
    def packets(self) -> int:
        """Packets sent by the sampled ports."""
        return sum(p["pkts"] or 0 for p in self.ports.values())
