# SPDX-License-Identifier: GPL-2.0
"""Sums that are right for any interval between two scrapes: the number of readings and their sum only grow, and
the worst value is that of the last minutes, longer than any scrape interval that Prometheus supports."""
import collections
import math
import threading
import time
from collections.abc import Callable, Iterator

Labels = tuple[str, ...]
Choose = Callable[[float, float], float]

# A metric has so many series at most: the readings of further ones are in one with these labels. Locators
# come from the network.
SERIES_MAX, OTHER = 10000, "other"

# The worst value is exact to this much of its time.
SLOT_S = 1.0


class Worst:
    """The worst value of the last seconds: values that a later one exceeds are forgotten."""

    def __init__(self, choose: Choose, seconds: float) -> None:
        self.choose, self.seconds = choose, seconds
        self.slots: collections.deque[tuple[float, float]] = collections.deque()

    def add(self, value: float, now_s: float) -> None:
        slot_s = math.floor(now_s / SLOT_S) * SLOT_S
        while self.slots and (self.slots[-1][0] == slot_s or self.choose(self.slots[-1][1], value) == value):
            value = self.choose(self.slots.pop()[1], value)
        self.slots.append((slot_s, value))
        self.forget(now_s)

    def forget(self, now_s: float) -> None:
        while self.slots and self.slots[0][0] + SLOT_S < now_s - self.seconds:
            self.slots.popleft()

    def value(self, now_s: float) -> float | None:
        self.forget(now_s)
        return self.slots[0][1] if self.slots else None


class Total:
    """The readings of one series."""

    def __init__(self, choose: Choose, seconds: float) -> None:
        self.count, self.sum, self.worst = 0, 0.0, Worst(choose, seconds)

    def add(self, value: float, now_s: float) -> None:
        self.count += 1
        self.sum += value
        self.worst.add(value, now_s)


class Readings:
    """A metric that is read more often than it is scraped; choose returns the worse of two values."""

    def __init__(self, name: str, text: str, labels: Labels, choose: Choose, seconds: float) -> None:
        self.name, self.text, self.labels = name, text, labels
        self.choose, self.seconds = choose, seconds
        self.totals: dict[Labels, Total] = {}
        self.lock = threading.Lock()

    def add(self, labels: Labels, value: float, now_s: float | None = None) -> None:
        with self.lock:
            if labels not in self.totals and len(self.totals) >= SERIES_MAX:
                labels = (OTHER,) * len(labels)
            if labels not in self.totals:
                self.totals[labels] = Total(self.choose, self.seconds)
            self.totals[labels].add(value, time.monotonic() if now_s is None else now_s)

    def rows(self, now_s: float | None = None) -> Iterator[tuple[Labels, int, float, float | None]]:
        """Yield (labels, number of readings, their sum, the worst one), sorted."""
        now_s = time.monotonic() if now_s is None else now_s
        with self.lock:
            rows = [(labels, total.count, total.sum, total.worst.value(now_s))
                    for labels, total in sorted(self.totals.items())]
        yield from rows
