# SPDX-License-Identifier: GPL-2.0
"""All that the guest's programs read, as files of the run directory."""
from collections.abc import Iterable
from pathlib import Path

from . import batches
from .changes import change_plan
from .connections import TAIL_NS, flow_plan
from .topology import Network


def sample_plan(net: Network) -> list[str]:
    """The plan of hopsample."""
    case = net.case
    ports = [net.ports[name] for name in case.ports if net.has(net.ports[name].node)]
    # Without a port there is nothing to wake up for before the end.
    period_ns = case.queue_period_ns if ports or net.own is None else case.run.duration
    lines = [f"config period_ns={period_ns} start_ns=0 end_ns={case.run.duration}"]
    for port in ports:
        depth = len(port.egress.queue.split(" / "))
        below = ",".join(f"{handle}:1" for handle in range(batches.FIRST_HANDLE, batches.FIRST_HANDLE + depth - 1))
        lines.append(f"port ns={port.node} dev={port.peer} name={port.name} parent=1:1"
                     + (f" below={below}" if below else ""))
    return lines


def common_end(net: Network) -> str:
    """Keep a kernel until all of them are done: the others' packets may go through it."""
    return f"{net.case.run.duration + 2 * TAIL_NS} true"


def write(net: Network, folder: Path) -> None:
    """Write all inputs."""
    def put(name: str, lines: Iterable[str]) -> None:
        (folder / name).write_text("".join(f"{x}\n" for x in lines))

    put("net.ip", batches.veth_batch(net))
    for node in net.nodes:
        put(f"{node}.sysctl", batches.sysctl_lines(net, node))
    for tool, chosen in (("ip", batches.ip_batches(net)), ("tc", batches.tc_batches(net))):
        put(f"plain.{tool}", chosen.plain)
        put(f"own.{tool}", [" ".join(chosen.own)])
        for node, lines in chosen.own.items():
            put(f"{node}.{tool}", lines)
    # each.c records tc's messages there.
    if net.is_large:
        put("tc.messages", [])
    put(".sysctl", batches.as_paths(batches.GLOBAL_SYSCTLS))
    put("nodes", net.nodes)
    for name, key in (("firewalls", "nft"), ("layouts", "layout")):
        texts = {node: words for node, words in batches.of_nodes(net.case, key).items() if net.has(node)}
        for node, words in texts.items():
            put(f"{node}.{key}", words.splitlines())
        put(name, texts)
    plan, changes = change_plan(net)
    put("change.plan", plan if net.own is None else [*plan, common_end(net)])
    for name, lines in changes.items():
        put(name, lines)
    put("flow.plan", flow_plan(net))
    put("sample.plan", sample_plan(net))
    put("trace.events", net.case.sample.trace)
