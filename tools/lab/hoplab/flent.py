# SPDX-License-Identifier: GPL-2.0
"""Results in Flent's data format, version 4: `flent -i FILE` shows, plots and combines them.

Each flow is a series of Flent's test tcp_nup: "TCP upload::1" and so on, with its goodput at the
receiver, besides their sum and mean; RTT and window of the sender are raw values. There is no
ping in the lab: that series is absent.
"""
import gzip
import json
import statistics
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from . import LabError
from .metrics import NOTHING
from .results import Item, Run, Series

VERSION = 4
# The guest's clock at its boot, in seconds; the flows start within its first seconds.
START_S = 1700000000
START = "2023-11-14T22:13:20.000000Z"
Values = list[float | None]


def goodput_mbit(series: Series, times_ns: Sequence[int]) -> Values:
    """The goodput in the interval before each time, Mbit/s; None where the flow has no sample."""
    at = dict(zip(series[0], series[1]))
    values: Values = []
    before, received = 0, 0
    for time in times_ns:
        now = at.get(time)
        values.append(None if now is None else round((now - received) * 8e3 / (time - before), 6))
        before, received = time, received if now is None else now
    return values


def over_flows(columns: Sequence[Values], function: Any) -> Values:
    """A function of the flows' values at each time."""
    found: Values = []
    for row in zip(*columns):
        there = [value for value in row if value is not None]
        found.append(function(there) if there else None)
    return found


def raw_values(sockets: Sequence[Item], values: Values, times_ns: Sequence[int]) -> Iterator[Item]:
    """Flent's raw values: goodput by its own sampling, RTT (ms) and window by theirs."""
    for time, value in zip(times_ns, values):
        if value is not None:
            yield {"t": START_S + time / 1e9, "val": value}
    for item in sockets:
        yield {"t": START_S + item["t_ns"] / 1e9, "tcp_rtt": item["srtt_us"] / 1e3, "tcp_cwnd": item["cwnd"]}


def document(run: Run) -> dict[str, Any]:
    """A run as Flent's document."""
    times_ns = sorted({time for series in run.goodput.values() for time in series[0] if time})
    if not times_ns:
        raise LabError(f"{run.path}: no samples of goodput: give the scenario [sample] goodput")
    results: dict[str, Values] = {}
    raw: dict[str, list[Item]] = {}
    units: dict[str, Item] = {}
    for number, flow in enumerate(run.meta["flows"], 1):
        name = f"TCP upload::{number}"
        results[name] = goodput_mbit(run.goodput.get(flow["id"], NOTHING), times_ns)
        raw[name] = list(raw_values([s for s in run.sockets if s["id"] == flow["id"]], results[name], times_ns))
        units[name] = {"UNITS": "Mbits/s", "LABEL": f"{flow['group']} {flow['from']}-{flow['to']}",
                       "CONG_CONTROL": flow["cc"]}
    columns = list(results.values())
    results["TCP upload sum"] = over_flows(columns, sum)
    results["TCP upload avg"] = over_flows(columns, statistics.fmean)
    for name in ("TCP upload sum", "TCP upload avg"):
        units[name] = {"UNITS": "Mbits/s"}
    return {"version": VERSION, "metadata": metadata(run, len(columns), units),
            "x_values": [time / 1e9 for time in times_ns], "results": results, "raw_values": raw}


def metadata(run: Run, flows: int, units: dict[str, Item]) -> Item:
    seconds = run.meta["duration_ns"] / 1e9
    receivers = sorted({flow["to"] for flow in run.meta["flows"]})
    return {"NAME": "tcp_nup", "TITLE": run.label, "NOTE": run.meta["title"], "HOST": receivers[0],
            "HOSTS": receivers, "LOCAL_HOST": "lab", "TIME": START, "T0": START, "LENGTH": seconds,
            "TOTAL_LENGTH": seconds, "STEP_SIZE": run.meta["goodput_ns"] / 1e9, "IP_VERSION": 4,
            "TEST_PARAMETERS": {"upload_streams": str(flows)}, "SERIES_META": units}


def write(run: Run, folder: Path) -> Path:
    """The same run has the same bytes: no name and no time in gzip's header."""
    file = folder / f"{run.path.name.removesuffix('.jsonl')}.flent.gz"
    text = json.dumps(document(run)).encode()
    file.write_bytes(gzip.compress(text, mtime=0))
    return file
