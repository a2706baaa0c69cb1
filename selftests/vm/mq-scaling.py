#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Packets through qdiscs below mq with two CPUs, relative to one, on Debian 12's kernel in QEMU.

    mq-scaling.py [DEVICE...]

dummy0: a device that takes no time; eth0: a virtio NIC with two queues. Two columns a case: packets
a second by the guest's clock, which needs a machine with nothing else to do, and packets a second of
the emulated CPUs' time, which does not. Of each, the best of three rounds. Not of the gate: what a
clock says depends on the machine.
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
    return subprocess.run(["sh", "-c", f". {HERE}/vm-lib.sh; newest {SERIES} /boot"], cwd=TOP, check=True,
                          capture_output=True, text=True, env=os.environ | {"PWD": TOP}).stdout.strip()


def cpu_ns(pid):
    """What the emulated CPUs have had of this machine's, ns."""
    total = 0
    for path in glob.glob(f"/proc/{pid}/task/*/comm"):
        with open(path, encoding="ascii") as file:
            if not file.read().startswith("CPU "):
                continue
        with open(path.replace("comm", "schedstat"), encoding="ascii") as file:
            total += int(file.read().split()[0])
    return total


def run(build, version, directory, devices):
    """Rows of (device, qdisc, packet, CPUs, packets, packets a second, ns of the CPUs)."""
    pidfile = f"{directory}/pid"
    environment = os.environ | {"VM_QUEUES": "2", "VM_LIMIT_S": "1200", "VM_PIDFILE": pidfile}
    guest = subprocess.Popen(
        [f"{HERE}/run-vm.sh", f"/boot/vmlinuz-{version}", f"/lib/modules/{version}",
         f"{HERE}/guest-mq.sh", build, "rates", f"{directory}/mq_send", *devices],
        env=environment, stdout=subprocess.PIPE, text=True)
    for line in guest.stdout:
        words = line.split()
        if words[:1] == ["START"]:
            with open(pidfile, encoding="ascii") as file:
                pid = int(file.read())
            case, before = words[1:], cpu_ns(pid)
        elif words[:1] == ["END"]:
            yield *case[:3], int(case[3]), int(words[1]), int(words[2]), cpu_ns(pid) - before
        else:
            print("#", line.rstrip())
    if guest.wait():
        sys.exit("mq-scaling.py: the guest failed")


def report(rows):
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
    version = kernel_version()
    build = os.environ.get("MQ_BUILD", f"{TOP}/build/linux-{SERIES}")
    if "MQ_BUILD" not in os.environ:
        subprocess.run([f"{TOP}/selftests/build/built-modules.sh", SERIES,
                        f"/usr/src/linux-headers-{version}"], check=True, cwd=TOP)
        subprocess.run(["make", "-s", "-C", f"{TOP}/tools/tc", f"OUT={build}/tc"], check=True)
    os.makedirs(f"{TOP}/build", exist_ok=True)
    # Not in /tmp: the guest has its own files there.
    with tempfile.TemporaryDirectory(prefix="mq-scaling.", dir=f"{TOP}/build") as directory:
        subprocess.run(["gcc", "-O2", "-Wall", "-static", "-o", f"{directory}/mq_send",
                        f"{HERE}/mq_send.c"], check=True)
        report(list(run(build, version, directory, sys.argv[1:] or ["dummy0", "eth0"])))


main()
