#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Compare the port's counts that our qdiscs below mq report with the frames of the device. Prints
TAP.

    mq.py [DEVICE]

      CPU 0 --> queue 0: [qdisc] --\\
                                     device --> outgoing frames are captured there
      CPU 1 --> queue 1: [qdisc] --/

DEVICE has two transmit queues, and nothing else sends through it; by default it is a veth made
here. Needs root, two CPUs, the modules and tc's plug-ins. No claim depends on the speed of the
machine.
"""
import json
import os
import re
import socket
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [os.path.join(HERE, "../lib"), os.path.join(HERE, "../tdc")]
import csig_queue as csig
import int_queue
import xcp_queue as xcp
from tap import Tap, must

QUEUES = 2
# The veth that is made here.
OWN = "mq0"
GBIT = 125000000
PACKET_OUTGOING = 4
SO_RCVBUFFORCE = 33
# Maximum relative error of a count.
TOLERANCE = 0.01
# The longest interval of sch_csig: everything sent within it is one sample.
INTERVAL_S = 1
INT_UNIT_BYTES, INT_TX_UNITS = 4, 1 << 20
TRACING = "/sys/kernel/tracing"
INT_AT = 34         # offset of INT's header, behind Ethernet and IPv4

tap = Tap()


class Port:
    """A device, with our qdisc below each of its queues, and the capture of its frames."""

    def __init__(self, device, words):
        self.device, self.kind = device, words.split()[0]
        handles = [f"{n + 1}1:" for n in range(QUEUES)]
        batch = [f"qdisc replace dev {device} root handle 100: mq"]
        batch += [f"qdisc replace dev {device} parent 100:{n + 1:x} handle {handle} {words}"
                  for n, handle in enumerate(handles)]
        tc_batch(batch)
        self.capture = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
        self.capture.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 1 << 26)
        self.capture.bind((device, 3))

    def left(self):
        """Return the frames that left since the last call."""
        frames = []
        while True:
            try:
                frame, address = self.capture.recvfrom(65536, socket.MSG_DONTWAIT)
            except BlockingIOError:
                return frames
            if address[2] == PACKET_OUTGOING:
                frames.append(frame)

    def stats(self):
        """Return tc's statistics of our qdiscs, by queue."""
        return stats(self.device, self.kind)

    def close(self):
        self.capture.close()
        must(f"tc qdisc del dev {self.device} root")


def stats(device, kind):
    shown = json.loads(must(f"tc -s -j qdisc show dev {device}"))
    return sorted((row for row in shown if row["kind"] == kind), key=lambda row: row["parent"])


def qdiscs(rows):
    """Return the number of qdiscs that share the port, as reported by each."""
    return [row.get("qdiscs", 1) for row in rows]


def tc_batch(lines):
    done = subprocess.run(["tc", "-batch", "-"], input="\n".join(lines) + "\n", text=True,
                          capture_output=True, check=False)
    assert not done.returncode, done.stderr


def send(device, cpu, frames):
    """Start a process that sends all frames on one CPU. Return its pid."""
    child = os.fork()
    if child:
        return child
    os.sched_setaffinity(0, {cpu})
    out = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    out.bind((device, 0))
    for frame in frames:
        while True:
            try:
                out.send(frame)
                break
            except OSError:     # no room in the queue
                time.sleep(0.001)
    os._exit(0)


def send_all(device, *frames_of_cpu):
    """Send lists of frames at the same time, each on its own CPU."""
    children = [send(device, cpu, frames) for cpu, frames in enumerate(frames_of_cpu) if frames]
    for child in children:
        _, status = os.waitpid(child, 0)
        assert not status, "a sender failed"


def near(got, want):
    return abs(got - want) <= TOLERANCE * want


def plain(size):
    return int_queue.frame(*int_queue.ip(4, int_queue.filler(size - 34), 17))


def int_frame(cpu):
    """Return a frame with telemetry; the second byte of its source address is the CPU."""
    frame = bytearray(int_queue.inband(4, int_queue.header()))
    frame[11] = cpu
    return bytes(frame)


def int_tx_bytes(frame):
    """Return (txBytes of the record, CPU), or None for a frame without telemetry."""
    if frame[23] != int_queue.INT:
        return None
    _, _, _, records = int_queue.read(frame, INT_AT)
    return records[0][2] * INT_UNIT_BYTES, frame[11]


def int_follows(frames):
    """
    Return the greatest error of a record, and how often the CPUs alternated. The port's count when
    a frame left is between that of the previous captured frame of the same CPU and its own.
    """
    sent, worst, turns, last, before = 0, 0, 0, 0, [0] * QUEUES
    for frame in frames:
        told = int_tx_bytes(frame)
        if told:
            tx_bytes, cpu = told
            worst = max(worst, before[cpu] - tx_bytes, tx_bytes - sent)
            before[cpu] = sent
            turns, last = turns + (cpu != last), cpu
        sent += len(frame)
    return worst, turns


def check_int(device):
    port = Port(device, "int rate 1gbit switch_id 1 port_id 7")
    mixed = [[f for _ in range(400) for f in (int_frame(cpu), plain(700 + 300 * cpu))]
             for cpu in range(QUEUES)]
    send_all(device, *mixed)
    frames = port.left()
    sent = sum(map(len, frames))
    tap.equal("int: all frames left", len(frames), sum(map(len, mixed)))
    worst, turns = int_follows(frames)
    tap.claim("int: each record has the port's bytes within 1 %", worst <= TOLERANCE * sent,
              f"off by at most {worst} of {sent} bytes; {turns} times a frame of the other CPU came next")
    for cpu in range(QUEUES):
        send_all(device, *([int_frame(cpu)] if n == cpu else [] for n in range(QUEUES)))
        last, = port.left()
        want = sent // INT_UNIT_BYTES % INT_TX_UNITS * INT_UNIT_BYTES
        tap.equal(f"int: once all is quiet, queue {cpu} reports every byte of both",
                  int_tx_bytes(last)[0], want)
        sent += len(last)
    shown = port.stats()
    tap.equal("int: tc shows the port's bytes for either queue",
              [row["tx_bytes"] for row in shown] + qdiscs(shown), [sent] * QUEUES + [QUEUES] * QUEUES)
    tap.equal("int: the sum of what each queue sent is the device's", sum(row["bytes"] for row in shown),
              sent)
    must(f"tc qdisc replace dev {device} parent 100:1 handle 12: int rate 1gbit port_id 7")
    tap.equal("int: a queue that gets a new qdisc goes on from the port's count",
              [row["tx_bytes"] for row in port.stats()], [sent] * QUEUES)
    must(f"tc qdisc change dev {device} parent 100:2 handle 21: int port_id 8")
    send_all(device, [plain(1000)], [])
    tap.equal("int: a queue with another port ID is another port",
              [(row["tx_bytes"], row.get("qdiscs", 1)) for row in port.stats()],
              [(sent + 1000, 1), (sent, 1)])
    port.close()


def csig_tagged():
    """Return a frame with a tag that asks for ABW, in kbit/s."""
    return csig.frame(csig.tag(csig.EXPANDED, csig.ABW), *csig.ip(4, 100))


def in_time(attempt, *words):
    """Return what the first attempt found in which the machine was fast enough. The guest's limit bounds them."""
    while not (found := attempt(*words)):
        print("# too slow: again", flush=True)
    return found


def csig_try(device, port, words):
    """
    Send traffic of both CPUs in one interval, and a tag after it. Return None if the machine was
    too slow for that; else the used bandwidth according to the tag, and the bytes that left.
    """
    for interval in ("500ms", f"{INTERVAL_S}s"):    # this restarts the estimator
        tc_batch(f"qdisc change dev {device} parent 100:{n} handle {n}1: csig {words} "
                 f"interval {interval}" for n in (1, 2))
    port.left()
    start = time.monotonic()
    send_all(device, *([plain(1000 + 200 * cpu)] * 200 for cpu in range(QUEUES)))
    burst_s = time.monotonic() - start
    frames = port.left()
    time.sleep(max(0, start + burst_s + INTERVAL_S - time.monotonic()))
    send_all(device, [csig_tagged()], [])
    tagged, = port.left()
    if burst_s >= INTERVAL_S or time.monotonic() - start >= 2 * INTERVAL_S:
        return None
    available_kbit = csig.read(tagged)[1]
    return (GBIT - available_kbit * 125) * INTERVAL_S, sum(map(len, frames))


def check_csig(device):
    words = "rate 1gbit quantum abw 1kbit"
    port = Port(device, f"csig {words} interval 1s")
    used, sent = in_time(csig_try, device, port, words)
    tap.claim("csig: what is not available is what both queues sent, within 1 %",
              near(used, sent), f"used {used}, sent {sent} bytes")
    shown = port.stats()
    tap.equal("csig: tc shows the same port for either queue",
              [row["tx_bytes"] for row in shown] + qdiscs(shown),
              [sum(row["bytes"] for row in shown)] * QUEUES + [QUEUES] * QUEUES)
    port.close()


def write(path, text):
    with open(path, "w", encoding="ascii") as file:
        file.write(text)


def xcp_try(device):
    """
    Send traffic of both CPUs in one control interval of each queue. Return None if the machine was
    too slow for that; else the bytes that left, and the trace of the interval, by queue.
    """
    port = Port(device, f"xcp rate 1gbit min_interval {INTERVAL_S}s max_interval {INTERVAL_S}s")
    write(f"{TRACING}/trace", "")
    write(f"{TRACING}/events/xcp/xcp_interval/enable", "1")
    start = time.monotonic()
    for cpu in range(QUEUES):   # both intervals start before the burst
        send_all(device, *([plain(100)] if n == cpu else [] for n in range(QUEUES)))
    send_all(device, *([asking, plain(700 + 600 * cpu)] * 150
                       for cpu, asking in enumerate([xcp_frame()] * QUEUES)))
    burst_s = time.monotonic() - start
    time.sleep(burst_s + 1.5 * INTERVAL_S)
    write(f"{TRACING}/events/xcp/xcp_interval/enable", "0")
    with open(f"{TRACING}/trace", encoding="ascii") as file:
        lines = [dict(re.findall(r"(\w+)=(-?\w+)", line)) for line in file if "xcp_interval:" in line]
    first = {}
    for line in lines:
        first.setdefault(line["handle"], {k: int(v) for k, v in line.items() if k != "handle"})
    sent = sum(map(len, port.left()))
    shown = port.stats()
    port.close()
    return (sent, list(first.values()), shown) if burst_s < INTERVAL_S else None


def xcp_frame():
    return int_queue.frame(*xcp.V4(xcp.header()))


def check_xcp(device):
    sent, intervals, shown = in_time(xcp_try, device)
    loads = [row["input_bw_bytes_ps"] * row["elapsed_ns"] // 10**9 for row in intervals]
    tap.claim("xcp: the load that either queue sees is the port's, within 1 %",
              len(loads) == QUEUES and all(near(load, sent) for load in loads), f"{loads}, sent {sent}")
    pools = [row["residue_pos_bytes_ps"] for row in intervals]
    feedback = intervals[0]["feedback_bytes_ps"]
    tap.claim("xcp: the queues' pools add up to the port's feedback, within 1 %",
              near(sum(pools), feedback), f"{pools}, feedback {feedback}")
    tap.equal("xcp: tc shows how many queues there are", qdiscs(shown), [QUEUES] * QUEUES)


def check_wred(device):
    port = Port(device, "wred limit 1m ect min 0 max 0")
    ect = int_queue.frame(*int_queue.ip(4, int_queue.filler(900), 17, dsfield=2))
    send_all(device, *([ect, plain(900)] * 300 for _ in range(QUEUES)))
    marked = sum(frame[15] & 3 == 3 for frame in port.left())
    shown = port.stats()
    tap.equal("wred: the queues' counters add up to what left", (marked, sum(row["marked"] for row in shown)),
              (300 * QUEUES,) * 2)
    port.close()


def check_places(device):
    """The place of a qdisc in the tree decides if it shares the port."""
    if device == OWN:   # its driver reports a speed
        must("sysctl -qw net.core.default_qdisc=csig")
        must(f"tc qdisc replace dev {device} root handle 100: mq")
        must("sysctl -qw net.core.default_qdisc=pfifo_fast")
        tap.equal("csig: as the default qdisc of each queue it has the port in common",
                  qdiscs(stats(device, "csig")), [QUEUES] * QUEUES)
        must(f"tc qdisc del dev {device} root")
    below = {}
    for above in ("csig rate 1gbit", "tbf rate 1gbit burst 100k limit 1m"):
        must(f"tc qdisc add dev {device} root handle 100: mq")
        tc_batch([f"qdisc replace dev {device} parent 100:{n} handle {n}0: {above}" for n in (1, 2)] +
                 [f"qdisc replace dev {device} parent {n}0:1 handle {n}1: int rate 1gbit"
                  for n in (1, 2)])
        below[above.split()[0]] = qdiscs(stats(device, "int"))
        must(f"tc qdisc del dev {device} root")
    tap.equal("int: below csig it has the port in common, below a shaper it is one by itself", below,
              {"csig": [QUEUES] * QUEUES, "tbf": [1] * QUEUES})
    must(f"tc qdisc add dev {device} root handle 100: prio")
    tc_batch(f"qdisc replace dev {device} parent 100:{n} handle {n}1: int rate 1gbit" for n in (1, 2))
    tap.equal("int: so is each class of prio",
              qdiscs(stats(device, "int")), [1] * QUEUES)
    must(f"tc qdisc del dev {device} root")


# The last change of each kind restores the defaults.
CHANGES = {
    "int": ("port_id 1", "port_id 2", "sojourn", "share limit 2m", "noshare nosojourn port_id 0"),
    "csig": ("interval 20us", "interval 1ms estimator ewma", "estimator dre", "port_id 3",
             "port_id 0 estimator raw interval 256us"),
    "xcp": ("alpha 0.3", "share cubic", "min_interval 10us max_interval 100us allowed_queue 10us",
            "noshare", "alpha 0.4 min_interval 1ms max_interval 1s allowed_queue 2ms"),
}


FRAMES = {
    "int": int_queue.flood_frames,
    "csig": csig.flood_frames,
    "xcp": lambda: [xcp_frame(), plain(500)],
}


def check_changes(device, kind):
    """Settings change, and qdiscs are added and removed, while both CPUs send."""
    port = Port(device, f"{kind} rate 1gbit")
    frames = FRAMES[kind]()
    children = [send(device, cpu, frames * (600 // len(frames))) for cpu in range(QUEUES)]
    for turn in range(3):
        lines = [f"qdisc change dev {device} parent 100:{queue} handle {queue}1: {kind} {change}"
                 for change in CHANGES[kind] for queue in (1, 2)]
        lines += [f"qdisc replace dev {device} parent 100:{1 + turn % 2} handle 9{turn}: {kind} rate 10gbit",
                  f"qdisc show dev {device}",
                  f"qdisc replace dev {device} parent 100:{1 + turn % 2} handle {1 + turn % 2}1: "
                  f"{kind} rate 1gbit"]
        tc_batch(lines)
        port.stats()
    statuses = [os.waitpid(child, 0)[1] for child in children]
    tc_batch(f"qdisc change dev {device} parent 100:{queue} handle {queue}1: {kind} {CHANGES[kind][-1]}"
             for queue in (1, 2))
    tap.equal(f"{kind}: changes while both CPUs send", statuses, [0] * QUEUES)
    tap.equal(f"{kind}: then both queues are one port", qdiscs(port.stats()),
              [QUEUES] * QUEUES)
    port.close()


def steer(device):
    """Make CPU n send through queue n."""
    for n in range(QUEUES):
        write(f"/sys/class/net/{device}/queues/tx-{n}/xps_cpus", f"{1 << n:x}")


def main(device=OWN):
    if device == OWN:
        queues = f"numtxqueues {QUEUES} numrxqueues {QUEUES}"
        must(f"ip link add {device} {queues} type veth peer name mq1 {queues}")
        for end in (device, "mq1"):
            write(f"/proc/sys/net/ipv6/conf/{end}/disable_ipv6", "1")
            must(f"ip link set {end} up")
    steer(device)
    check_int(device)
    check_csig(device)
    check_xcp(device)
    check_wred(device)
    check_places(device)
    for kind in CHANGES:
        check_changes(device, kind)
    if device == OWN:
        must(f"ip link del {device}")
    return tap.done()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
