# SPDX-License-Identifier: GPL-2.0
"""The results of several kernels as those of one: lines in an order of their own, halves of flows joined."""
import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from .results import Item

# Values that only one end of a flow has.
OF_SENDER = ("start_ns", "retrans", "cc", "ecn")
ORDER = ("socket", "goodput", "flow", "queue", "port", "host", "lateness", "trace", "counter")


def merge(files: Sequence[Path], into: Path) -> Path:
    """Join files of the same name. The order is one of the lines' content, and never of the kernels' speed."""
    items = [json.loads(line) for file in files for line in file.open()]
    found = [item for item in items if item["type"] not in ("flow", "lateness")]
    found += whole_flows([item for item in items if item["type"] == "flow"])
    found += lateness([item for item in items if item["type"] == "lateness"])
    # Equal keys stay in the order of kernels.
    found.sort(key=key_of)
    into.write_text("".join(json.dumps(item, separators=(",", ":")) + "\n" for item in found))
    return into


def key_of(item: Item) -> tuple[bool, int, int, int, int]:
    """Lines with a time by time; those of the end behind them."""
    time = item["end_ns"] if item["type"] == "flow" else item.get("t_ns")
    return time is None, time or 0, ORDER.index(item["type"]), item.get("id", 0), item.get("n", 0)


def whole_flows(items: list[Item]) -> Iterator[Item]:
    senders = {item["id"]: item for item in items if item.get("half") == "sender"}
    for item in items:
        if item.get("half") == "sink":
            yield joined(senders.pop(item["id"], None), item)
        elif "half" not in item:
            yield item
    # A connection that failed before the sink knew of it.
    yield from map(without_half, senders.values())


def joined(sender: Item | None, sink: Item) -> Item:
    found = without_half(sink)
    if sender is None:
        return found
    found |= {key: sender[key] for key in OF_SENDER}
    found["late_ns"] = sender["late_ns"] + sink["late_ns"]
    if "error" in sender and not sink["done"]:
        found.setdefault("error", sender["error"])
    return found


def without_half(item: Item) -> Item:
    return {key: value for key, value in item.items() if key != "half"}


def lateness(items: list[Item]) -> Iterator[Item]:
    """Of each program the longest delay in any kernel."""
    for program in dict.fromkeys(item["program"] for item in items):
        yield {**items[0], "program": program,
               "late_ns": max(item["late_ns"] for item in items if item["program"] == program)}
