# SPDX-License-Identifier: GPL-2.0
"""The live screen: flows above, ports below."""
import curses
import time

from . import flows, ports, table

FLOWS = ("system", "cc", "local", "peer", "hop", "used_ppm", "delay_ns", "free_kbit_ps",
         "rate_bit_ps", "rtt_us", "path")
PORTS = ("dev", "kind", "handle", "used_ppm", "backlog_bytes", "queue_pkts", "drops", "sent_pkts")


def page(rows, queues, height):
    """Lines and whether each is a heading: ports get what flows leave, and a third at least."""
    flow_lines, port_lines = table.lines(rows, FLOWS), table.lines(queues, PORTS)
    room = max(height - 3 - min(len(port_lines), height // 3), 2)
    out = [(f"flows: {len(rows)}   ports: {len(queues)}   q: quit", True)]
    out += [(line, i == 0) for i, line in enumerate(flow_lines[:room])] + [("", False)]
    out += [(line, i == 0) for i, line in enumerate(port_lines)]
    return out[:height]


def draw(window, lines):
    window.erase()
    height, width = window.getmaxyx()
    for y, (line, bold) in enumerate(lines[:height]):
        window.addnstr(y, 0, line, width - 1, curses.A_BOLD if bold else curses.A_NORMAL)
    window.refresh()


def loop(window, interval_s, count):
    curses.curs_set(0)
    window.timeout(int(interval_s * 1000))
    before, then = [], 0
    while count is None or count > 0:
        queues, now = ports.read(), time.monotonic()
        ports.add_used(queues, before, now - then)
        before, then = queues, now
        draw(window, page(flows.read(), queues, window.getmaxyx()[0]))
        if window.getch() in (ord("q"), 27):
            return
        count = count and count - 1


def show(interval_s, count):
    curses.wrapper(loop, interval_s, count)
