# SPDX-License-Identifier: GPL-2.0
"""The live screen: flows above, ports below."""
import curses
import sys
import time

from . import flows, ports, table

# The most telling ones first: a narrow terminal cuts the others off.
FLOWS = ("system", "peer", "hop", "used_ppm", "delay_ns", "free_kbit_ps", "feedback_bit_ps",
         "rate_bit_ps", "rtt_us", "cc", "path", "local")
PORTS = ("dev", "kind", "handle", "rate_bit_ps", "used_ppm", "backlog_bytes", "delay_ns", "drops",
         "sent_pkts", "says")

# Within 80 columns.
HELP = (
    "flow: hop       the bottleneck: CSIG's locator, INT's count; XCP names none",
    "      used      of the bottleneck; XCP: of what its routers allot to the flow",
    "      delay     CSIG: in the bottleneck; INT, XCP: RTT beyond the least",
    "      free      what the path has left; XCP: what an RTT may add to the flow",
    "      feedback  XCP: by how much an RTT changes the flow's rate",
    "      path      CSIG: does it bear tags? unproven, proven, stripped",
    "port: rate      its own, or its shaper's, or the device's speed",
    "      used      of the rate",
    "      delay     backlog over rate",
    "      says      what it tells flows",
    "-     not known; INT's hop and XCP's used, free and feedback need root",
)
NONE_HERE = {
    "flows": "no flow of csig, hpccpp or xcp in this network namespace",
    "ports": "no queue of sch_csig, sch_int, sch_xcp or sch_wred in this namespace",
}


def block(name, rows, columns):
    return table.lines(rows, columns) if rows else [NONE_HERE[name]]


def page(rows, queues, height, explain=False):
    """Lines and whether each is a heading: ports get what flows leave, and a third at least."""
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


def draw(window, lines):
    window.erase()
    height, width = window.getmaxyx()
    for y, (line, bold) in enumerate(lines[:height]):
        window.addnstr(y, 0, line, width - 1, curses.A_BOLD if bold else curses.A_NORMAL)
    window.refresh()


def wait(window, interval_s):
    """The key that was pressed meanwhile; -1: none."""
    end = time.monotonic() + interval_s
    window.timeout(max(int(interval_s * 1000), 1))
    key = window.getch()
    if key == -1:       # at once, where the terminal has gone
        time.sleep(max(0, end - time.monotonic()))
    return key


def loop(window, interval_s, count):
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


def show(interval_s, count):
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise ValueError("the screen needs a terminal; without one: --json or --csv")
    try:
        curses.wrapper(loop, interval_s, count)
    except curses.error as error:
        raise ValueError(f"the terminal: {error}") from None
