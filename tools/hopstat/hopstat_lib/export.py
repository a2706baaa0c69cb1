# SPDX-License-Identifier: GPL-2.0
"""Summarise signals for traffic engineering (8.2.2 of the draft): by destination prefix and locator, over
the samples of a period, in JSON lines. The module exporter has the same for Prometheus."""
import ipaddress
import json
import time
from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from . import flows
from .flows import CsigFlow, Signal

# For each signal: name, factor from the tag's unit to the base unit, and the function that returns the
# worse of two values.
METRICS: dict[int, tuple[str, float, Callable[..., Any]]] = {
    0: ("available_bits_per_second", 1000.0, min),
    1: ("available_ratio", 1e-6, min),
    2: ("hop_delay_seconds", 1e-9, max),
}


def prefix_of(peer: str, bits4: int, bits6: int) -> str:
    host = ipaddress.ip_address(peer.rsplit(":", 1)[0].strip("[]"))
    bits = bits4 if host.version == 4 else bits6
    return str(ipaddress.ip_network((host, bits), strict=False))


# kind, prefix, locator, samples, mean, worst
Reading = tuple[int, str, int, int, float, float]


class Period:
    """The signals of a period. The count of a flow's signals identifies a reading, so that it is taken
    once."""

    def __init__(self, bits4: int = 24, bits6: int = 64) -> None:
        self.bits = bits4, bits6
        self.counts: dict[tuple[str, str, int], int] = {}
        self.begin()

    def begin(self) -> None:
        # (kind, prefix, locator) -> readings, their sum, the worst; in the units of the signal
        self.sums: dict[tuple[int, str, int], tuple[int, float, float]] = {}

    def take(self, rows: Iterable[CsigFlow]) -> None:
        """Take the rows of csig_flows()."""
        for local, peer, _, signals in rows:
            for kind, signal in signals.items():
                key = local, peer, kind
                if kind in METRICS and self.counts.get(key) != signal["count"]:
                    self.counts[key] = signal["count"]
                    self.add(prefix_of(peer, *self.bits), kind, signal)

    def add(self, prefix: str, kind: int, signal: Signal) -> None:
        choose = METRICS[kind][2]
        value = flows.middle(signal) if kind == 2 else signal["low"]
        key = kind, prefix, signal["locator"]
        had = self.sums.get(key)
        if had is None:
            self.sums[key] = 1, value, value
        else:
            self.sums[key] = had[0] + 1, had[1] + value, choose(had[2], value)

    def rows(self) -> list[Reading]:
        """Return (kind, prefix, locator, samples, mean, worst), sorted."""
        # Scaled last: sums of scaled values are rounded, and the mean of equal ones could exceed the worst.
        return [(*key, n, total / n * METRICS[key[0]][1], extreme * METRICS[key[0]][1])
                for key, (n, total, extreme) in sorted(self.sums.items())]


def json_lines(rows: Iterable[Reading], when_s: float) -> Iterator[str]:
    for kind, prefix, locator, count, mean, extreme in rows:
        yield json.dumps(dict(time_s=round(when_s, 6), signal=METRICS[kind][0], prefix=prefix,
                              locator=locator, readings=count, mean=mean, worst=extreme))


def run(options: Namespace) -> int:
    period = Period(options.bits4, options.bits6)
    count = options.count
    while count is None or count > 0:
        end = time.monotonic() + options.interval
        period.begin()
        while time.monotonic() < end:
            period.take(flows.csig_flows())
            time.sleep(min(options.sample, max(end - time.monotonic(), 0)))
        with open(options.jsonl, "a", encoding="ascii") as file:
            file.writelines(line + "\n" for line in json_lines(period.rows(), time.time()))
        count = count and count - 1
    return 0
