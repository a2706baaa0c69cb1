#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""The lab's kernels boot whatever the size of the CPU's extended registers, and keep all of them.

The sizes that this machine does not have are a preloaded shim's (registers/ptrace_shim.c).
"""
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
TOP = HERE.parents[1]
sys.path.insert(0, f"{TOP}/tools/lab")
sys.path.insert(0, f"{TOP}/selftests/lib")
sys.dont_write_bytecode = True

from hoplab import build, guest, ready  # noqa: E402
from tap import Tap  # noqa: E402

# SSE alone, AVX, AVX-512 with protection keys, with AMX, and two that no CPU has yet.
SIZES = (576, 832, 2696, 11008, 16384, 70000)
# Instructions that glibc must not use where the shim does not keep it: a CPU of that size does not have it.
WITHOUT_AVX512 = ("glibc.cpu.hwcaps=-AVX512F,-AVX512VL,-AVX512BW,-AVX512DQ,-AVX512CD,-AVX2,-AVX2_Usable,"
                  "-AVX_Fast_Unaligned_Load,-ERMS,-EVEX")
tap = Tap()


def compiled(folder, name, *flags):
    out = folder / name
    subprocess.run(["gcc", "-O2", "-Wall", "-Wextra", "-mno-avx", *flags, "-o", out,
                    HERE / f"registers/{name}.c"], check=True)
    return out


def widths():
    flags = Path("/proc/cpuinfo").read_text().split("flags", 1)[1].splitlines()[0].split()
    return [word for word, flag in (("sse", "sse2"), ("avx", "avx"), ("avx512", "avx512f")) if flag in flags]


def boots(built, folder, command, **options):
    run = Path(tempfile.mkdtemp(dir=folder))
    with open(folder / "output", "wb") as output:
        outcome = guest.run(guest.Boot(command=command, run=run, built=built, timeout_s=120, output=output,
                                       **options))
    said = (folder / "output").read_text(errors="replace")
    return outcome.problem is None and outcome.status == 0, "\n".join([str(outcome.problem), said, *outcome.lines])


def test_sizes(built, folder, shim, program):
    for size in SIZES:
        os.environ["HOPLAB_XSTATE_BYTES"] = str(size)
        # Words that the kernel does not know are in the environment of its first process.
        few = {"variables": {"GLIBC_TUNABLES": WITHOUT_AVX512},
               "arguments": [f"GLIBC_TUNABLES={WITHOUT_AVX512}"]} if size < 2696 else {}
        good, said = boots(built, folder, f"{program} sse", preload=[shim], **few)
        tap.result(good, f"{built.kernel}: a host with {size} bytes of extended registers", said)
    del os.environ["HOPLAB_XSTATE_BYTES"]


def main():
    # Where guests see it: not in /tmp.
    with tempfile.TemporaryDirectory(dir=build.scratch("registers-")) as name:
        folder = Path(name)
        shim = compiled(folder, "ptrace_shim", "-shared", "-fPIC")
        program = compiled(folder, "keep_registers", "-static", "-pthread")
        for kernel in ("release", "debug"):
            built = ready.prepare(kernel, kernel_modules=False)
            test_sizes(built, folder, shim, program)
            for width in widths():
                good, said = boots(built, folder, f"{program} {width}")
                tap.result(good, f"{kernel}: {width} registers of processes, threads and signal handlers", said)
    return tap.done()


sys.exit(main())
