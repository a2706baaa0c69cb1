#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Packets through qdiscs below mq with two CPUs, relative to one, on Debian 12's kernel in QEMU.

    mq_scaling.py count [DEVICE...]  by instructions
    mq_scaling.py clock [DEVICE...]  by the clock

dummy0: a device that takes no time; eth0: a virtio NIC with two queues.

count: instructions that the emulated CPUs execute per packet, including waiting for locks. Other
load of the machine has little effect. Scaling is 2 if a packet takes no more instructions while
another CPU sends. The cost of caches is not included.

clock: the best of three rounds. This needs a machine with two free CPUs and a
third one for QEMU. The last columns are relative to the CPU time of the emulated CPUs.

This is not part of `make check`.
"""
import collections
import glob
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.realpath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
SERIES = "6.1"


def kernel_version():
    return subprocess.run(["sh", "-c", f". {HERE}/vm_lib.sh; newest {SERIES} /boot"], cwd=TOP, check=True,
                          capture_output=True, text=True, env=os.environ | {"PWD": TOP}).stdout.strip()


def cpu_ns(pid):
    """Return the CPU time that the emulated CPUs have used on this machine, ns."""
    total = 0
    for path in glob.glob(f"/proc/{pid}/task/*/comm"):
        with open(path, encoding="ascii") as file:
            if not file.read().startswith("CPU "):
                continue
        with open(path.replace("comm", "schedstat"), encoding="ascii") as file:
            total += int(file.read().split()[0])
    return total


def instructions(path):
    """Return the instructions that the CPUs executed in the last round."""
    with open(path, encoding="ascii") as file:
        total = sum(int(line.split()[1]) for line in file)
    os.remove(path)
    return total


def run(mode, build, version, directory, devices):
    """
    Return rows of (device, qdisc, packet, CPUs, packets, packets per second, CPU time in ns, or
    with count the instructions).
    """
    pidfile, counts = f"{directory}/pid", f"{directory}/counts"
    extra, rounds = {}, ("3", "1")
    if mode == "count":
        extra, rounds = {"VM_PLUGIN": f"file={directory}/mq_count.so,out={counts}"}, ("1", "1")
    guest = subprocess.Popen(
        [f"{HERE}/run_vm.sh", f"/boot/vmlinuz-{version}", f"/lib/modules/{version}",
         f"{HERE}/guest_mq.sh", build, "rates", f"{directory}/mq_send", *rounds, *devices],
        env=os.environ | {"VM_LIMIT_S": "3600", "VM_PIDFILE": pidfile, "VM_QUEUES": "2"} | extra,
        stdout=subprocess.PIPE, text=True)
    for line in guest.stdout:
        words = line.strip().split("|")
        if words[0] == "START":
            with open(pidfile, encoding="ascii") as file:
                pid = int(file.read())
            case, before = words[1:], cpu_ns(pid)
        elif words[0] == "END":
            spent = instructions(counts) if mode == "count" else cpu_ns(pid) - before
            row = (*case[:3], int(case[3]), int(words[1]), int(words[2]), spent)
            print("#", *row, flush=True)
            yield row
        else:
            print("#", line.rstrip(), flush=True)
    if guest.wait():
        sys.exit("mq_scaling.py: the guest failed")


def report_count(rows):
    cost = {row[:4]: row[6] / row[4] for row in rows}
    print("| device | qdisc | packet | instructions a packet, 1 CPU | 2 CPUs | scaling |")
    print("|" + " --- |" * 6)
    for (device, qdisc, packet, cpus), one in cost.items():
        if cpus == 1:
            both = cost[device, qdisc, packet, 2]
            print(f"| {device} | {qdisc} | {packet} | {one:.0f} | {both:.0f} | {2 * one / both:.2f} |")


def report_clock(rows):
    best = collections.defaultdict(lambda: [0, 0])
    for device, qdisc, packet, cpus, packets, rate, ns in rows:
        case = best[device, qdisc, packet, cpus]
        case[0], case[1] = max(case[0], rate), max(case[1], packets * 1e9 / ns)
    print("| device | qdisc | packet | 1 CPU, packets/s | 2 CPUs | scaling | "
          "1 CPU, packets/s of CPU time | 2 CPUs | scaling |")
    print("|" + " --- |" * 9)
    for device, qdisc, packet, cpus in best:
        if cpus == 1:
            one, two = best[device, qdisc, packet, 1], best[device, qdisc, packet, 2]
            print(f"| {device} | {qdisc} | {packet} | {one[0]} | {two[0]} | {two[0] / one[0]:.2f} | "
                  f"{one[1]:.0f} | {2 * two[1]:.0f} | {2 * two[1] / one[1]:.2f} |")


def main():
    if sys.argv[1:2] not in (["count"], ["clock"]):
        sys.exit(__doc__)
    mode, devices = sys.argv[1], sys.argv[2:]
    version = kernel_version()
    build = os.environ.get("MQ_BUILD", f"{TOP}/build/linux-{SERIES}")
    if "MQ_BUILD" not in os.environ:
        subprocess.run([f"{TOP}/selftests/build/built_modules.sh", SERIES,
                        f"/usr/src/linux-headers-{version}"], check=True, cwd=TOP)
        subprocess.run(["make", "-s", "-C", f"{TOP}/tools/tc", f"OUT={build}/tc"], check=True)
    os.makedirs(f"{TOP}/build", exist_ok=True)
    # The folder is not in /tmp, where the guest has its own files.
    with tempfile.TemporaryDirectory(prefix="mq-scaling.", dir=f"{TOP}/build") as directory:
        subprocess.run(["gcc", "-O2", "-Wall", "-static", "-o", f"{directory}/mq_send",
                        f"{HERE}/mq_send.c"], check=True)
        subprocess.run(["gcc", "-O2", "-Wall", "-shared", "-fPIC", "-o", f"{directory}/mq_count.so",
                        f"{HERE}/mq_count.c"], check=True)
        report = report_count if mode == "count" else report_clock
        report(run(mode, build, version, directory, devices or ["dummy0", "eth0"]))


main()
