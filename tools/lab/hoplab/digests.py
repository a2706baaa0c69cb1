# SPDX-License-Identifier: GPL-2.0
"""Digests of a few results, recorded in the repository: the same bytes on every CPU.

The digests are valid for one kernel, compiler and set of packages. If these match and a digest
differs, the cause is the CPU, the host or an unintended change of ours. If one of them differs, it is
named, and the digests are not compared.
"""
import hashlib
import json
import re
import subprocess
from pathlib import Path
from typing import Any

from . import LabError, build

FILE = build.LAB / "digests.json"
# Scenario, case, seed: mainline's TCP alone; marks and the receiver's ACKs; telemetry in both directions.
CHOSEN = (("smoke", "all", 1), ("dctcp-ipv6", "all", 1), ("hpccpp-forms", "inband_ack", 1))
PACKAGES = ("libc6", "iproute2")


def identity(kdir: Path) -> dict[str, str]:
    """The parts that may legitimately change results, by name."""
    parts = {"linux": build.read(kdir / "include/config/kernel.release").strip(),
             "config": hashlib.sha256((kdir / ".config").read_bytes()).hexdigest()[:12],
             "source": kdir_source(kdir)}
    for tool in ("gcc", "ld"):
        parts[tool] = output([tool, "--version"]).splitlines()[0]
    for package in PACKAGES:
        parts[package] = output(["dpkg-query", "-W", "-f", "${Version}", package])
    return parts


def kdir_source(kdir: Path) -> str:
    """The name of the unpacked source: a hash of the package's version and our patch."""
    return (kdir / "source").resolve().name


def output(command: list[str]) -> str:
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()


def cpu() -> str:
    """The CPU's name and the features by which glibc chooses its code."""
    text = Path("/proc/cpuinfo").read_text()
    name, flags = (re.search(rf"^{key}\s*: (.*)$", text, re.M) for key in ("model name", "flags"))
    if not name or not flags:
        raise LabError("/proc/cpuinfo names no x86 CPU: digests are recorded for x86 only")
    return " ".join([name[1], *(f for f in ("avx2", "avx512f", "amx_tile") if f in flags[1].split())])


def recorded(file: Path) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads(file.read_text())
        return found
    except (OSError, ValueError) as error:
        raise LabError(f"{file}: {error}; lab digests --record writes it") from None


def record(file: Path, digests: dict[str, str], kdir: Path) -> None:
    here = identity(kdir)
    old = recorded(file) if file.exists() else {}
    same = old.get("digests") == digests and old.get("identity") == here
    cpus = set(old.get("cpus", []) if same else []) | {cpu()}
    file.write_text(json.dumps({"identity": here, "cpus": sorted(cpus), "digests": digests}, indent=1) + "\n")


def compare(file: Path, digests: dict[str, str], kdir: Path) -> tuple[bool, list[str]]:
    """Return: true if the digests are as recorded or cannot be compared; lines that say why."""
    old, here = recorded(file), identity(kdir)
    changed = [f"{part}: recorded {old['identity'].get(part)}, here {value}"
               for part, value in here.items() if old["identity"].get(part) != value]
    different = [f"{run}: recorded {old['digests'].get(run)}, here {digest}"
                 for run, digest in digests.items() if old["digests"].get(run) != digest]
    if changed:
        return True, ["not comparable with what is recorded, since these differ:", *changed,
                      f"(of {len(digests)} digests {len(different)} differ; lab digests --record records these)"]
    if different:
        return False, ["the same kernel, compiler and packages give other bytes:", *different,
                       f"recorded on: {'; '.join(old['cpus'])}", f"here: {cpu()}",
                       "if a change of the sources is meant to change results, lab digests --record"]
    return True, [f"the same bytes as on: {'; '.join(old['cpus'])}", f"here: {cpu()}"]
