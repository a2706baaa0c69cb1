#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Fabrics of 480, 1024 and 2048 hosts are set up, carry traffic, and take a CPU time that grows with the nodes alone."""
import sys
import tempfile
import time
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tools/lab"))
sys.path.insert(0, str(TOP / "selftests/lib"))
sys.dont_write_bytecode = True

from hoplab import results, runner, scenario  # noqa: E402
from tap import Tap  # noqa: E402

tap = Tap()

FABRIC = """
title = "a fabric of {hosts} hosts"
[run]
duration = "20ms"
[fabric]
{shape}
rate = "10gbit"
up_rate = "100gbit"
delay = "1us"
queue = "bfifo limit 1m"
[[flow]]
name = "far"
from = "h[1-8]"
to = "h[{first}-{hosts}]"
pairwise = true
bytes = 100000
[sample]
ports = ["{port}:h{hosts}"]
queue = "1ms"
"""
SHAPES = (
    (480, 'kind = "leaf-spine"\nhosts = 30\nleaves = 16\nspines = 2', "l16"),
    (1024, 'kind = "fat-tree"\nk = 16', "e128"),
    (2048, 'kind = "leaf-spine"\nhosts = 32\nleaves = 64\nspines = 16', "l64"),
)


def set_up(folder, hosts, shape, port):
    """CPU seconds of the guest's set-up for each node, once the traffic has arrived."""
    file = Path(folder, f"size{hosts}.toml")
    file.write_text(FABRIC.format(hosts=hosts, first=hosts - 7, shape=shape, port=port))
    start_s = time.process_time()
    found = scenario.load(str(file))
    job, = runner.run_all(runner.plan([found], runner.Choice(), Path(folder)), 1)
    own_s = time.process_time() - start_s
    done = [flow["done"] for flow in results.Run(job.file).flows] if job.file else []
    nodes = len(found.cases[0].nodes)
    tap.claim(f"{hosts} hosts: eight transfers end", done == [True] * 8,
              f"{job.outcome.problem or ''}\n{nodes} nodes, CPU seconds of the set-up: guest "
              f"{job.outcome.setup_cpu_s:.1f}, lab {own_s:.1f}")
    return job.outcome.setup_cpu_s / nodes


def main():
    with tempfile.TemporaryDirectory() as folder:
        each_s = [set_up(folder, *shape) for shape in SHAPES]
    tap.result(max(each_s) <= 2 * each_s[0], "the set-up's CPU time grows with the nodes",
               " ".join(f"{1e3 * s:.2f} ms a node" for s in each_s))
    return tap.done()


sys.exit(main())
