#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""CSIG's end host on two CPUs: streams with tags, while all settings change, devices are added and
removed, and the module is loaded and unloaded. Prints TAP; exit status 1 if a claim fails. Needs
root in a test guest.

    a ---- r [r-b: csig] ---- b

csig_host.py MODPROBE [SECONDS]
"""
import os
import signal
import subprocess
import sys
import time

NETNS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../netns")
sys.path.insert(0, NETNS)
import csig_tag
import hosts
from csig_tag import Since, knob
from hosts import Stream, close, connect, transfer

tap = hosts.Tap()
MIB = 1 << 20
MODPROBE = sys.argv[1]
SECONDS = float(sys.argv[2]) if len(sys.argv) > 2 else 8
# Commands that are repeated, each in its own shell, while streams run.
CHURN = (
    "for v in 0 2 1 2; do ip netns exec a sysctl -qw net.hopcc.csig=$v; done",
    "for p in a-r '*' ' ' 'a-r x0'; do ip netns exec a sysctl -qw net.hopcc.csig_ports=\"$p\"; done",
    "for w in '1 1 1' '8 8 8' '0 0 0' '0 3 1'; do ip netns exec a sysctl -qw net.hopcc.csig_weights=\"$w\"; done;"
    "for r in 'to 0.0.0.0/0 every 2' 'probes' ' '; do ip netns exec a sysctl -qw net.hopcc.csig_rules=\"$r\"; done",
    "ip -n a link add x0 type veth peer name x1; ip -n a link set x1 name x2; ip -n a link del x0",
    "tc -n r qdisc replace dev r-b root csig rate 1gbit; tc -n r qdisc change dev r-b csig mode strip;"
    "tc -n r -s qdisc show dev r-b; tc -n r qdisc del dev r-b root",
    "ip netns exec b cat /proc/net/hopcc_csig",
    f"python3 -B -c 'import sys; sys.path.insert(0, \"{NETNS}\"); import csig_flows;"
    " [csig_flows.flows(n) for n in 100 * \"ab\"]'",
)


def setup():
    hosts.build_path()
    settle()


def settle():
    for name in "arb":
        knob(name, "csig_ports", "*")
    knob("a", "csig_rules", "\n")
    knob("a", "csig_weights", "1 1 1")
    knob("a", "csig_unsupported_s", 0)
    knob("a", "csig", 2)
    knob("b", "csig", 1)
    knob("a", "csig_cc", "cubic")


def check_streams():
    hosts.run("tc -n r qdisc replace dev r-b root csig rate 10gbit lm all compact 42 lm all expanded 42")
    for version in (4, 6):
        for form in (1, 2):
            knob("a", "csig_form", form)
            since = Since()
            pair = connect(version, "cubic")
            good = transfer([Stream(*pair, 4 * MIB)])
            close(*pair)
            a, r = since("a"), since("r")
            tap.claim(f"IPv{version}, {csig_tag.FORM[form]}: whole, tagged, forwarded, reflected",
                      good and a.get("out_tag", 0) > 1000 and a.get("in_value", 0) > 10 and
                      r.get("out_forwarded") == a["out_tag"], f"{a} {r}")
    knob("a", "csig_form", 1)


def churn(commands):
    """Run commands repeatedly in processes, until the processes and their children are ended."""
    return [subprocess.Popen(["sh", "-c", f"while :; do {line}; done"], stdin=subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                             start_new_session=True) for line in commands]


def end(processes):
    for process in processes:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def streams_for(seconds):
    """Send short streams in both directions. Return (number of intact ones, number of streams)."""
    whole = tried = 0
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        pair = connect(4 if tried % 2 else 6, "cubic")
        tried += 1
        if not pair:
            continue
        whole += transfer([Stream(*pair, MIB), Stream(*reversed(pair), MIB // 2)], 60)
        close(*pair)
    return whole, tried


def check_churn():
    at_once = churn(CHURN)
    whole, tried = streams_for(SECONDS)
    end(at_once)
    tap.claim("streams are whole while knobs, rules, ports, devices and queues change",
              whole == tried > 0, f"{whole} of {tried}")
    at_once = churn((f"rmmod net_csig_tag; {MODPROBE} net_csig_tag; "
                     "for n in a r b; do ip netns exec $n sysctl -qw 'net.hopcc.csig_ports=*' "
                     "net.hopcc.csig=2 net.hopcc.csig_cc=cubic net.hopcc.csig_unsupported_s=0; done",
                     CHURN[3]))
    whole, tried = streams_for(SECONDS)
    end(at_once)
    subprocess.run([MODPROBE, "net_csig_tag"], check=True)
    tap.claim("and while the module goes and comes", whole == tried > 0, f"{whole} of {tried}")
    # Remove the device that an interrupted command may have left.
    hosts.run("ip -n a link del x0", check=False)
    settle()


def check_netns_goes():
    """Namespaces end with open connections, tags in flight, and changing sysctls."""
    pair = connect(4, "cubic")
    pair[0].setblocking(True)
    pair[0].settimeout(2)
    at_once = churn(CHURN[:3])
    try:
        while True:
            pair[0].send(bytes(MIB))
    except OSError:
        pass
    for name in "rab":
        hosts.run(f"ip netns del {name}")
    end(at_once)
    close(*pair)
    tap.claim("network namespaces go in the midst of it", True)


def main():
    setup()
    for check in (check_streams, check_churn, check_netns_goes):
        check()
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
