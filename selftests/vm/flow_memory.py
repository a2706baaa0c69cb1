#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Who is charged for flow entries: the memory control group of the process that connects. The
same connections are opened twice, with the carrier's knob off and on, each time in a new group;
the difference is what the entries take. Prints TAP.

    a ---- b        the client is in a, and in the group; the listener is in b

Needs root, a kernel with memory control groups, net_xcp and tcp_xcp.
"""
import os
import resource
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../netns"))
import hosts
from hosts import counts, ip, run, sysctl

CONNECTIONS = 1000
MEMORY_MAX = 64 << 20
# The kernel adds up what its CPUs charged every 2 s.
FLUSH_S = 3
# struct hop_flow with net_xcp's state, and the next sizes of the allocator around it.
ENTRY_BYTES = range(256, 1025)

tap = hosts.Tap()


def build():
    hosts.build("a", "b")
    ip("""
        link add w0 netns a type veth peer name w1 netns b
        -n a link set w0 up
        -n b link set w1 up
        -n a addr add 192.0.2.1/24 dev w0
        -n b addr add 192.0.2.2/24 dev w1""")
    sysctl("b", "core/somaxconn", 4 * CONNECTIONS)
    sysctl("b", "ipv4/tcp_max_syn_backlog", 4 * CONNECTIONS)
    # A SYN that is late on an emulated machine goes again without a header: it alone.
    for name in "ab":
        sysctl(name, "hopcc/xcp_unsupported_s", 0)


def mount_groups():
    """The root of the control groups."""
    root = tempfile.mkdtemp()
    run(f"mount -t cgroup2 none {root}")
    hosts.write(f"{root}/cgroup.subtree_control", "+memory")
    return root


def unreclaimable_bytes(group):
    """Slab memory that the group is charged for and that cannot be reclaimed."""
    time.sleep(FLUSH_S)
    with open(f"{group}/memory.stat", encoding="ascii") as file:
        return dict(line.split() for line in file)["slab_unreclaimable"]


def client(group, address, said):
    """In the group: opens the connections, and writes the growth while they are open."""
    hosts.write(f"{group}/cgroup.procs", os.getpid())
    resource.setrlimit(resource.RLIMIT_NOFILE, (2 * CONNECTIONS, 2 * CONNECTIONS))
    before, socks = int(unreclaimable_bytes(group)), []
    for _ in range(CONNECTIONS):
        socks.append(hosts.tcp("a", 4, "xcp"))
        socks[-1].connect(address)
    os.write(said, str(int(unreclaimable_bytes(group)) - before).encode())


def growth_bytes(root, name):
    """(bytes that the group was charged for, flows that the client had)"""
    group = f"{root}/{name}"
    os.mkdir(group)
    hosts.write(f"{group}/memory.max", MEMORY_MAX)
    listener = hosts.tcp("b", 4, "cubic")
    listener.bind(("192.0.2.2", 0))
    listener.listen(4 * CONNECTIONS)
    before = counts("a")["peer_supported"]
    ready, said = os.pipe()
    child = os.fork()
    if not child:
        status = 1
        try:
            client(group, listener.getsockname(), said)
            status = 0
        finally:
            os._exit(status)
    os.close(said)
    os.waitpid(child, 0)
    grown = os.read(ready, 100)
    os.close(ready)
    listener.close()
    os.rmdir(group)
    return int(grown or -1), counts("a")["peer_supported"] - before


def main():
    build()
    root = mount_groups()
    sysctl("a", "hopcc/xcp", 0)
    # The first fills what the kernel keeps for all that follow.
    growth_bytes(root, "first")
    off, no_flows = growth_bytes(root, "off")
    sysctl("a", "hopcc/xcp", 1)
    on, flows = growth_bytes(root, "on")
    tap.claim("a group's process opens connections, with flows where the knob is on",
              off > 0 and not no_flows and flows > 0.9 * CONNECTIONS, f"{no_flows} and {flows} flows")
    tap.claim("the group is charged for the entries", (on - off) // max(flows, 1) in ENTRY_BYTES,
              f"{off} bytes without flows, {on} with {flows}, {(on - off) // max(flows, 1)} each")
    run(f"umount {root}")
    os.rmdir(root)
    for name in "ab":
        run(f"ip netns del {name}")
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
