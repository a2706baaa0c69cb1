# SPDX-License-Identifier: GPL-2.0
"""The live screen: flows above, ports below."""
import curses
import sys
import time
from typing import TYPE_CHECKING

from . import flows, ports, table
from .table import Row

if TYPE_CHECKING:
    from curses import window as Window

Line = tuple[str, bool]     # a line of the screen, and if it is a heading

# The most important columns come first: a narrow terminal cuts the last ones off.
FLOWS = ("system", "peer", "hop", "used_ppm", "delay_ns", "free_kbit_ps", "feedback_bit_ps",
         "rate_bit_ps", "rtt_us", "path", "cc", "pace_bit_ps", "local")
PORTS = ("dev", "kind", "handle", "rate_bit_ps", "used_ppm", "backlog_bytes", "delay_ns", "drops",
         "sent_pkts", "says")

# Within 80 columns.
HELP = (
    "flow: hop       the bottleneck: CSIG's locator, INT's count; XCP names none",
    "      used      part of the bottleneck's rate; XCP: of the rate allotted to the flow",
    "      delay     CSIG: in the bottleneck; INT, XCP: RTT above the minimum RTT",
    "      free      unused rate of the path; XCP: increase that the next RTT allows",
    "      feedback  XCP: change of the flow's rate in an RTT",
    "      rate      acknowledged data; pace: the rate that the congestion control allows",
    "      path      CSIG: if the path carries tags: unproven, proven, stripped",
    "port: rate      of the qdisc, of its shaper, or the speed of the device",
    "      used      used part of the rate",
    "      delay     backlog over rate",
    "      says      feedback that the qdisc gives to flows",
    "-     not known; CSIG's hop, free, used and path, INT's hop and XCP's used, free and",
    "      feedback need root",
)
NONE_HERE = {
    "flows": "no flow of csig, hpccpp or xcp in this network namespace",
    "ports": "no queue of sch_csig, sch_int, sch_xcp or sch_wred in this namespace",
}


def block(name: str, rows: list[Row], columns: tuple[str, ...]) -> list[str]:
    return table.lines(rows, columns) if rows else [NONE_HERE[name]]


def page(rows: list[Row], queues: list[Row], height: int, explain: bool = False) -> list[Line]:
    """Return (line, is a heading) for each line. Ports get the room that flows leave, and a third at
    least."""
    flow_lines, port_lines = block("flows", rows, FLOWS), block("ports", queues, PORTS)
    room = max(height - 4 - min(len(port_lines), height // 3), 2)
    out = [(f"flows: {len(rows)}   ports: {len(queues)}   q: quit   h: help", True)]
    if explain:
        return (out + [("", False)] + [(line, False) for line in HELP])[:height]
    out += [(line, i == 0 and bool(rows)) for i, line in enumerate(flow_lines[:room])]
    if len(flow_lines) > room:
        out[0] = (f"{out[0][0]}   (the {room - 1} fastest)", True)
    out += [("", False)] + [(line, i == 0 and bool(queues)) for i, line in enumerate(port_lines)]
    return out[:height]


def draw(window: "Window", lines: list[Line]) -> None:
    window.erase()
    height, width = window.getmaxyx()
    for y, (line, bold) in enumerate(lines[:height]):
        window.addnstr(y, 0, line, width - 1, curses.A_BOLD if bold else curses.A_NORMAL)
    window.refresh()


def wait(window: "Window", interval_s: float) -> int:
    """Return the key that was pressed during the interval; -1: none."""
    end = time.monotonic() + interval_s
    window.timeout(max(int(interval_s * 1000), 1))
    key = window.getch()
    if key == -1:       # getch() returns at once if the terminal is gone
        time.sleep(max(0, end - time.monotonic()))
    return key


def loop(window: "Window", interval_s: float, count: int | None) -> None:
    curses.curs_set(0)
    explain = False
    queues, rows = ports.over(min(interval_s, 0.1), flows.read)
    while count is None or count > 0:
        draw(window, page(rows, queues, window.getmaxyx()[0], explain))
        before, then = queues, time.monotonic()
        key = wait(window, interval_s)
        if key in (ord("q"), 27):
            return
        if key in (ord("h"), ord("?"), curses.KEY_RESIZE):
            explain ^= key != curses.KEY_RESIZE
            continue
        queues = ports.read()
        ports.add_used(queues, before, time.monotonic() - then)
        rows = flows.read()
        count = count and count - 1


def show(interval_s: float, count: int | None) -> None:
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise ValueError("the screen needs a terminal; without one: --json or --csv")
    try:
        curses.wrapper(loop, interval_s, count)
    except curses.error as error:
        raise ValueError(f"the terminal: {error}") from None
