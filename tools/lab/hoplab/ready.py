# SPDX-License-Identifier: GPL-2.0
"""Is the lab ready? Everything is built, and its kernel has booted on this very machine."""
import hashlib
import os
import re
import shutil
from pathlib import Path

from . import LabError, build, guest

# On an idle machine it takes a second.
BOOT_TIMEOUT_S = 120


def prepare(kernel: str, modules: str | None = None, kernel_modules: bool = True) -> build.Built:
    """Build what is missing; boot it once, and once more whenever CPU or host kernel changed."""
    built = build.everything(kernel, modules, kernel_modules)
    stamp = stamp_of(built)
    if build.read(stamp) != host():
        boot(built)
        stamp.parent.mkdir(exist_ok=True)
        stamp.write_text(host())
    return built


def stamp_of(built: build.Built) -> Path:
    """The file that names the host on which this kernel booted."""
    return built.kdir.parent / "booted" / built.kdir.name


def host() -> str:
    """A name for the CPU and the host's kernel: a guest depends on them, and the cache's key does not hold them."""
    cpu = re.split(r"\n\s*\n", build.read(Path("/proc/cpuinfo")))[0]
    lasting = [line for line in cpu.splitlines() if not re.match(r"cpu MHz|bogomips|processor|.*apicid|core id", line)]
    system = os.uname()
    return hashlib.sha256("\n".join([*lasting, system.release, system.version]).encode()).hexdigest()


def boot(built: build.Built) -> None:
    """The kernel with our modules and a command that does nothing."""
    run = build.scratch("boot-")
    outcome = guest.run(guest.Boot(command="true", run=run, built=built, timeout_s=BOOT_TIMEOUT_S))
    if not outcome.problem:
        shutil.rmtree(run)
        return
    guest.describe(outcome, f"the {built.kernel} kernel")
    raise LabError(f"the {built.kernel} kernel was built, but does not boot on this machine{guest.advice(outcome)}")
