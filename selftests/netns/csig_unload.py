#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""net_csig_tag is unloaded while GRO holds merged packets for a second, and net_xcp while 32 instances of
NAPI poll without a pause. Prints TAP.

    a ---- [r-a] r [r-b] ---- b             [busy0]

csig_unload.py BUSY_NIC    the module of the test

Needs root; changes nothing outside its own network namespaces.
"""
import subprocess
import sys
import time

import csig_tag
import hosts
from csig_tag import ABW, COMPACT

tap = hosts.Tap()


def received():
    return hosts.snmp("b", "Ip", "InReceives")


def busy(module):
    """All instances are waited for together, without the lock of the network's configuration."""
    hosts.run(f"insmod {module}")
    start_s = time.monotonic()
    with subprocess.Popen(["rmmod", "tcp_xcp", "net_xcp"]) as unloads:
        time.sleep(0.03)
        hosts.run("ip link set lo up")
        set_s = time.monotonic() - start_s
        good = not unloads.wait()
    took_s = time.monotonic() - start_s
    tap.claim("32 instances that poll all the time delay it by 0.1 s in all", good and took_s <= 0.2, f"{took_s:.3f} s")
    tap.claim("meanwhile, a device is configured without delay", set_s <= 0.06, f"{set_s:.3f} s")
    hosts.run(f"rmmod {module.rsplit('/', 1)[-1].removesuffix('.ko')}")


def main():
    csig_tag.setup()
    csig_tag.merge_at_b(True, 1000000000)
    wire, head = csig_tag.wire_to_b()
    before = received()
    for number in range(3):
        wire.put(head + csig_tag.segment(number, csig_tag.tag_of(COMPACT, ABW, 9, 1)))
    time.sleep(0.01)
    held = received() - before
    start_s = time.monotonic()
    hosts.run("rmmod tcp_csig net_csig_tag")
    took_s = time.monotonic() - start_s
    came = received() - before
    time.sleep(1.5)
    log = subprocess.check_output(["dmesg", "-t"], text=True)
    tap.equal("three segments are held as one packet, which comes through as the module goes",
              (held, came, received() - before), (0, 1, 1))
    tap.claim("the kernel has nothing to say of it", "WARNING" not in log, log[-300:])
    tap.claim("the module waits for nothing else: 50 ms at most", took_s <= 0.05, f"{took_s:.3f} s")
    wire.close()
    busy(sys.argv[1])
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
