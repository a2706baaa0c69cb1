# SPDX-License-Identifier: GPL-2.0
"""Print rows: a table for readers, JSON lines, CSV."""
import csv
import json
from collections.abc import Iterable, Sequence
from typing import Any, TextIO

Row = dict[str, Any]        # column -> value

UNITS = ((1e9, "G"), (1e6, "M"), (1e3, "k"))


def number(value: float, sign: str = "-") -> str:
    """Return a value with three digits; sign "+" also marks positive values."""
    for size, letter in UNITS:
        if abs(value) >= size:
            return f"{value / size:{sign}.3g}{letter}"
    return f"{value:{sign}.3g}"


def cell(key: str, value: Any) -> str:
    """Return a value as readers of the table see it."""
    if value is None:
        return "-"
    if isinstance(value, dict):
        return ", ".join(f"{head(k)} {cell(k, v)}" for k, v in value.items())
    if key.endswith("_ppm"):
        return f"{value / 10000:.1f}%"
    if key.endswith("_ns"):
        return f"{value / 1000:.1f}us" if value < 1e6 else f"{value / 1e6:.2f}ms"
    if key.endswith("_us"):
        return f"{value}us"
    if key == "feedback_bit_ps":
        return number(value, "+")
    if key.endswith("_kbit_ps"):
        return number(value * 1000)
    if key.endswith("_bytes"):
        return number(value) + "B"
    if key.endswith(("_bit_ps", "_pkts")):
        return number(value)
    return str(value)


def head(key: str) -> str:
    for unit in ("_ppm", "_ns", "_us", "_kbit_ps", "_bit_ps", "_bytes"):
        key = key.removesuffix(unit)
    return key.replace("_", " ")


def lines(rows: Iterable[Row], columns: Sequence[str]) -> list[str]:
    """Return the lines of a table, the heading first."""
    text = [[head(c) for c in columns]]
    text += [[cell(c, r[c]) for c in columns] for r in rows]
    widths = [max(len(t[i]) for t in text) for i in range(len(columns))]
    left = ("system", "cc", "stage", "local", "peer", "path", "dev", "kind", "handle", "says", "host",
            "signal")
    return ["  ".join(t.ljust(w) if c in left else t.rjust(w)
                      for t, w, c in zip(row, widths, columns)).rstrip() for row in text]


def write_json(file: TextIO, rows: Iterable[Row], **more: Any) -> None:
    for r in rows:
        file.write(json.dumps(more | r) + "\n")
    file.flush()


def write_csv(file: TextIO, rows: Iterable[Row], columns: Sequence[str], heading: bool = True) -> None:
    out = csv.DictWriter(file, columns, extrasaction="ignore", lineterminator="\n")
    if heading:
        out.writeheader()
    out.writerows(rows)
    file.flush()
