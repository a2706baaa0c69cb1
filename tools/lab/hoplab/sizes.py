# SPDX-License-Identifier: GPL-2.0
"""Distributions of transfer sizes: the tree's, by name, and a user's own, by file."""
import bisect
from dataclasses import dataclass
from pathlib import Path

from .build import LAB

SIZES = LAB / "sizes"


@dataclass
class Sizes:
    """A distribution of sizes, linear between its points."""
    name: str
    bytes_at: list[float]
    share_at: list[float]       # 0..1, not falling

    def quantile(self, share: float) -> int:
        """The size that `share` of the transfers do not exceed; at least 1."""
        right = max(1, bisect.bisect_left(self.share_at, share))
        (x0, x1), (p0, p1) = (v[right - 1:right + 1] for v in (self.bytes_at, self.share_at))
        return max(1, round(x0 + (x1 - x0) * (share - p0) / (p1 - p0) if p1 > p0 else x1))

    @property
    def mean_bytes(self) -> float:
        return sum((p1 - p0) * (x0 + x1) / 2 for x0, x1, p0, p1 in
                   zip(self.bytes_at, self.bytes_at[1:], self.share_at, self.share_at[1:]))


def available() -> list[str]:
    return sorted(p.name for p in SIZES.iterdir())


def load(word: str, folder: Path) -> Sizes:
    """A distribution of the tree by name, or a user's by its path from the scenario's folder."""
    path = SIZES / word if word in available() else Path(folder) / word
    if not path.is_file():
        raise ValueError(f"{word!r}: allowed: {' '.join(available())}, or a file beside the scenario")
    try:
        return parse(word, path.read_text())
    except (OSError, ValueError) as error:
        raise ValueError(f"{path}: {error}") from None


def parse(name: str, text: str) -> Sizes:
    """Lines of "bytes percent", both rising, from 0 % to 100 %."""
    points: list[tuple[float, float]] = []
    for number, line in enumerate(text.splitlines(), 1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        try:
            size, percent = (float(w) for w in words)
        except ValueError:
            raise ValueError(f"line {number}: write bytes and percent, as 10000 15") from None
        least = points[-1] if points else (-1, 0)
        if not (least[0] < size <= 2**50 and least[1] <= percent <= 100):
            raise ValueError(f"line {number}: bytes must rise, up to 2^50, and percent not fall, up to 100")
        points.append((size, percent))
    if len(points) < 2 or points[0][1] != 0 or points[-1][1] != 100:
        raise ValueError("percent must go from 0 in the first line to 100 in the last")
    return Sizes(name, [x for x, _ in points], [p / 100 for _, p in points])
