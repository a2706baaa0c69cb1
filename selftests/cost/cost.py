#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""What the modules cost a host: instructions a byte and a packet on a distribution's kernel.

    cost.py [--json FILE] [--modules BUILD] [--raw FILE]
    cost.py --case PATH/CASE... | qdiscs             these streams alone, as veth/xcp, or the qdiscs
    cost.py --profile PATH/CASE                      where the instructions of one stream are
    cost.py --profile qdiscs/CASE/FRAME              where those of a qdisc are

In QEMU (TCG, -icount shift=0) one instruction takes one nanosecond of the guest's clock, on one
CPU, whatever the host does. The guest is an initramfs alone, with a seed: two runs give the same
counts.
"""
import argparse
import base64
import bisect
import collections
import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import frames

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
SERIES = "6.1"
# Own time (lib/limit.py). It takes little more than a minute.
LIMIT_S = 600
# The same seed and date in each run: nothing of the host reaches the guest.
QEMU = ("qemu-system-x86_64", "-accel", "tcg", "-smp", "1", "-icount", "shift=0,sleep=off",
        "-seed", "1", "-rtc", "base=2026-01-01T00:00:00,clock=vm", "-m", "1024",
        "-display", "none", "-monitor", "none", "-no-reboot", "-nodefaults")
KERNEL_OPTIONS = ("console=ttyS0 loglevel=5 panic=-1 oops=panic nokaslr norandmaps mitigations=off "
                  "tsc=nowatchdog random.trust_cpu=on net.ifnames=0")
KERNEL_MODULES = ("veth", "sch_tbf", "sch_netem", "sch_red", "dummy", "tcp_bbr",
                  "tcp_dctcp")
HOPCC = ("hop_core", "sch_wred", "sch_xcp", "sch_int", "sch_csig", "net_xcp", "net_int",
         "net_csig_tag", "tcp_dctcp_ms", "tcp_ldcp", "tcp_xcp", "tcp_hpccpp", "tcp_csig")
# The same as PACKETS of qdisc_cost.c.
QDISC_PACKETS = 1000
PROBES = ("qdisc_cost", "ack_cost")
PROGRAMS = ("cost_stream", "cost_offload", "cost_ports")


def output(*words):
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def kernel_version():
    """The newest kernel of the series in /boot, as vm_lib.sh's newest()."""
    found = [m[1] for name in os.listdir("/boot")
             if (m := re.fullmatch(rf"vmlinuz-({re.escape(SERIES)}\..*-amd64)", name))
             and "cloud" not in name and "-rt-" not in name]
    if not found:
        sys.exit(f"cost.py: no kernel {SERIES} in /boot: run tools/setup/setup.sh check")
    return max(found, key=lambda name: [int(n) for n in re.findall(r"\d+", name)])


def modules(version):
    """Our modules for this kernel, built where the gate builds them."""
    subprocess.run([f"{TOP}/selftests/build/built_modules.sh", SERIES,
                    f"/usr/src/linux-headers-{version}"], check=True)
    build = f"{TOP}/build/linux-{SERIES}"
    subprocess.run(["make", "-s", "-C", f"{TOP}/tools/tc", f"OUT={build}/tc"], check=True)
    return build


def probe(name, version):
    """A module of ours that counts instructions, built for this kernel."""
    build = f"{TOP}/build/cost/{name}"
    shutil.copytree(f"{HERE}/{name}", build, dirs_exist_ok=True)
    subprocess.run(["make", "-s", "-C", f"/usr/src/linux-headers-{version}", f"M={build}",
                    "modules"], check=True, capture_output=True)
    return f"{build}/{name}.ko"


def dependencies(names, version):
    """Paths of the kernel's modules and of all that they need, in the order of loading."""
    paths = []
    for name in names:
        for line in output("/sbin/modprobe", "-S", version, "--show-depends", name).splitlines():
            words = line.split()
            if words[0] == "insmod" and words[1] not in paths:
                paths.append(words[1])
    return paths


def put_modules(root, build, version):
    os.makedirs(f"{root}/modules")
    ours = [f"{build}/{name}/{name}.ko" for name in HOPCC]
    needed = {name for path in ours for name in
              output("/sbin/modinfo", "-F", "depends", path).strip().split(",")}
    kernel = dependencies(KERNEL_MODULES + tuple(sorted(needed - set(HOPCC) - {""})), version)
    for listing, paths in (("kernel", kernel + [probe(name, version) for name in PROBES]), ("hopcc", ours)):
        with open(f"{root}/modules/{listing}", "w", encoding="ascii") as file:
            for path in paths:
                name = re.sub(r"\.ko.*", "", os.path.basename(path))
                put_module(path, f"{root}/modules/{name}.ko")
                print(name, file=file)


def put_module(path, to):
    if path.endswith(".xz"):
        with open(to, "wb") as file:
            subprocess.run(["xz", "-dc", path], stdout=file, check=True)
    else:
        shutil.copy(path, to)


def put_program(root, path):
    """A program and the libraries that it is linked with, under the same paths."""
    for file in [path, *re.findall(r"(/\S+) \(0x", output("ldd", path))]:
        os.makedirs(root + os.path.dirname(file), exist_ok=True)
        shutil.copy(file, root + file)
    shutil.copy(path, f"{root}/programs/{os.path.basename(path)}")


def put_root(root, build, version):
    os.makedirs(f"{root}/bin")
    os.makedirs(f"{root}/programs")
    os.makedirs(f"{root}/tc")
    shutil.copy(shutil.which("busybox"), f"{root}/bin/busybox")
    for program in ("ip", "tc"):
        put_program(root, os.path.realpath(shutil.which(program, path="/usr/sbin:/sbin:/usr/bin:/bin")))
    for plugin in os.listdir(f"{build}/tc"):
        if plugin.endswith(".so"):
            shutil.copy(f"{build}/tc/{plugin}", f"{root}/tc")
    for program in PROGRAMS:
        subprocess.run(["gcc", "-O2", "-Wall", "-static", "-o", f"{root}/programs/{program}",
                        f"{HERE}/{program}.c"], check=True)
    put_modules(root, build, version)
    frames.put(f"{root}/frames")
    shutil.copy(f"{HERE}/guest.sh", f"{root}/init")
    os.chmod(f"{root}/init", 0o755)


def pack(root, to):
    """The same files give the same archive: its size and times are the guest's to see."""
    names = sorted(os.path.join(folder, name)[len(root) + 1:]
                   for folder, folders, files in os.walk(root) for name in folders + files)
    for name in names:
        os.utime(f"{root}/{name}", (0, 0), follow_symlinks=False)
    with open(to, "wb") as file:
        subprocess.run(["cpio", "--quiet", "-o", "-H", "newc", "--reproducible"], cwd=root, check=True,
                       input="\n".join(names).encode(), stdout=file)


def cases(options):
    """Return the kernel's command line of the guest."""
    if options.profile:
        return f" cost.profile cost.only={options.profile}"
    return " cost.only=" + ",".join(options.case)


def profiler(options, directory):
    """QEMU's arguments for a profile."""
    if not options.profile:
        return []
    subprocess.run(["gcc", "-O2", "-Wall", "-shared", "-fPIC", "-o", f"{directory}/profile.so",
                    f"{HERE}/profile.c"], check=True)
    return ["-plugin", f"file={directory}/profile.so,out={directory}/profile"]


def boot(version, initramfs, directory, options):
    """Run the guest and return its output."""
    said = f"{directory}/said"
    status = subprocess.run(
        [f"{TOP}/selftests/lib/limit.py", str(LIMIT_S), *QEMU, "-kernel", f"/boot/vmlinuz-{version}",
         "-initrd", initramfs, "-append", KERNEL_OPTIONS + cases(options),
         *profiler(options, directory),
         "-serial", f"file:{directory}/console", "-serial", f"file:{said}"],
        stdin=subprocess.DEVNULL, check=False).returncode
    with open(said, encoding="utf-8", errors="replace") as file:
        text = file.read().replace("\r", "")
    if options.raw:
        shutil.copy(said, options.raw)
    if status or "EXIT 0\n" not in text or "TROUBLE" in text:
        with open(f"{directory}/console", encoding="utf-8", errors="replace") as file:
            sys.exit(f"cost.py: the guest ended with status {status}:\n{text[-2000:]}\n"
                     f"{file.read()[-3000:]}")
    return text


def parse(text, kind, least_words=8):
    """A dictionary a line that starts with kind; numbers are numbers."""
    rows = []
    for line in text.splitlines():
        if line.startswith(kind + " "):
            words = dict(word.split("=", 1) for word in line.split()[1:] if "=" in word)
            rows.append({k: int(v) if v.isdigit() else v for k, v in words.items()})
            if len(words) < least_words:
                sys.exit("cost.py: " + line)
    return rows


def per_stream(rows):
    """Cost of each stream, alone and relative to cubic on the same path."""
    found = []
    for row in rows:
        packets, mb = row["bytes"] / row["mss"], row["bytes"] / 1e6
        found.append({
            "path": row["path"], "case": row["case"], "cc": row["cc"],
            "instructions_per_byte": round(row["instructions"] / row["bytes"], 4),
            "instructions_per_packet": round(row["instructions"] / packets, 1),
            "skbs_out_per_mb": round(row["skbs_out"] / mb, 1),
            "skbs_in_per_mb": round(row["skbs_in"] / mb, 1),
            "packets_back_per_mb": round(row["pkts_back"] / mb, 1),
            "window_packets": row["cwnd"], "window_bytes": row["cwnd"] * row["mss"],
            "mbit_per_s": round(row["bytes"] * 8e3 / row["took_ns"], 1),
            "instructions_per_ack": round(row["ack_instructions"] / row["acks"], 1),
            "acks": row["acks"], "srtt_us": row["srtt_us"], "retransmits": row["retransmits"]})
    cubic = {row["path"]: row["instructions_per_byte"] for row in found if row["case"] == "cubic"}
    for row in found:
        base = cubic.get(row["path"])
        row["of_cubic"] = round(row["instructions_per_byte"] / base, 3) if base else "-"
    return found


def per_qdisc(rows):
    """Cost of each qdisc a packet, relative to red's for a plain packet, or for a GSO packet."""
    red = {row["frame"] == "tcp-gso": row for row in rows if row["case"] == "red"}
    found = []
    for row in rows:
        base = red[row["frame"] == "tcp-gso"]
        found.append({
            "qdisc": row["case"], "frame": row["frame"], "enqueue": row["enqueue"],
            "dequeue": row["dequeue"], "both": row["both"], "both_mean": row["both_mean"],
            "of_red": round(row["both"] / base["both"], 2),
            "xmit": row["xmit"], "xmit_of_red": round(row["xmit"] / base["xmit"], 2)})
    return found


def per_ports(rows):
    """The cost of busy ports' timers, in a second of a CPU with 10^9 instructions a second."""
    found = {row["case"]: row for row in rows}
    return [{"qdisc": case, "ports": found[case]["ports"],
             "instructions_per_packet": found[f"{case}-rare"]["instructions"] // found[case]["packets"],
             "timers_per_port_ms": (found[case]["instructions"] - found[f"{case}-rare"]["instructions"]) * 10**6
             // found[case]["ports"] // found[case]["took_ns"],
             "timers_share": round((found[case]["instructions"] - found[f"{case}-rare"]["instructions"])
                                   / found[case]["took_ns"], 3)} for case in ("xcp",) if case in found]


STREAM_COLUMNS = (
    ("case", "case"), ("instructions_per_byte", "a byte"), ("of_cubic", "of cubic"),
    ("instructions_per_packet", "a packet"), ("skbs_out_per_mb", "skbs/MB out"),
    ("skbs_in_per_mb", "skbs/MB in"), ("packets_back_per_mb", "back/MB"),
    ("instructions_per_ack", "an ACK"), ("window_packets", "window"), ("mbit_per_s", "Mbit/s"),
    ("retransmits", "rtx"))
QDISC_COLUMNS = (
    ("qdisc", "qdisc"), ("frame", "frame"), ("enqueue", "enqueue"), ("dequeue", "dequeue"),
    ("both", "both"), ("both_mean", "mean"), ("of_red", "of red"), ("xmit", "egress path"),
    ("xmit_of_red", "of red"))


PORTS_COLUMNS = (
    ("qdisc", "qdisc"), ("ports", "ports"), ("instructions_per_packet", "a packet"),
    ("timers_per_port_ms", "timers, a port and ms"), ("timers_share", "share of 10^9 a second"))


def table(columns, rows):
    cells = [[title for _, title in columns]] + [[str(row[key]) for key, _ in columns] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells)]
    for n, line in enumerate(cells):
        print("| " + " | ".join(cell.ljust(width) if not at else cell.rjust(width)
                                for at, (cell, width) in enumerate(zip(line, widths))) + " |")
        if not n:
            print("|" + "|".join("-" * (width + 2) for width in widths) + "|")
    print()


def report(result):
    for path, title in (("veth", "CPU-bound over veth, TSO and GRO on"),
                        ("segmented", "CPU-bound over veth, segmented by software in front of the receiver"),
                        ("bottleneck", "Behind 500 Mbit/s, 4 ms"),
                        ("unused", "cubic before the modules are loaded, and after")):
        rows = [row for row in result["streams"] if row["path"] == path]
        if rows:
            print(f"Instructions of sender, router and receiver. {title}:\n")
            table(STREAM_COLUMNS, rows)
    if result["qdiscs"]:
        print("Instructions of a qdisc a packet, 50 packets in the queue:\n")
        table(QDISC_COLUMNS, result["qdiscs"])
    if result["ports"]:
        print("Instructions of ports that have a packet in every millisecond, their period:\n")
        table(PORTS_COLUMNS, result["ports"])


def symbols(text):
    """(addresses, names of functions with their modules), by address"""
    found = re.search(r"^SYMBOLS\n(.*)^END$", text, re.MULTILINE | re.DOTALL)
    lines = gzip.decompress(base64.b64decode(found[1])).decode().splitlines()
    pairs = sorted((int(words[0], 16), " ".join(words[2:])) for words in map(str.split, lines))
    return [address for address, _ in pairs], [name for _, name in pairs]


def profile(text, path):
    """Functions with at least 0.1 % of the instructions of a stream, or of QDISC_PACKETS packets."""
    row = (parse(text, "STREAM") + [{"bytes": QDISC_PACKETS, "mss": 1} for _ in parse(text, "QDISC")])[0]
    addresses, names = symbols(text)
    cost = collections.Counter()
    with open(path, encoding="ascii") as file:
        for line in file:
            address, instructions = line.split()
            at = bisect.bisect_right(addresses, int(address, 16)) - 1
            cost[names[at] if at >= 0 else "programs"] += int(instructions)
    total, packets = sum(cost.values()), row["bytes"] / row["mss"]
    print(f"{total / row['bytes']:.3f} instructions a byte, {total / packets:.0f} a packet of the MSS\n")
    rows = [{"name": name, "share": f"{n / total:.2%}", "byte": f"{n / row['bytes']:.4f}",
             "packet": f"{n / packets:.1f}"} for name, n in cost.most_common() if n >= total / 1000]
    table((("name", "function"), ("share", "share"), ("byte", "a byte"), ("packet", "a packet")), rows)
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--modules", metavar="BUILD", help="measure these, not this tree's")
    parser.add_argument("--case", metavar="PATH/CASE", default=[], nargs="+")
    parser.add_argument("--profile", metavar="PATH/CASE", default="",
                        help="functions of one stream, as veth/xcp, or qdisc, as qdiscs/xcp/tcp")
    parser.add_argument("--raw", metavar="FILE", help="keep what the guest printed")
    options = parser.parse_args()
    version = kernel_version()
    build = options.modules or modules(version)
    with tempfile.TemporaryDirectory(prefix="hopcc-cost.") as directory:
        put_root(f"{directory}/root", build, version)
        pack(f"{directory}/root", f"{directory}/initramfs")
        text = boot(version, f"{directory}/initramfs", directory, options)
        if options.profile:
            return profile(text, f"{directory}/profile")
    result = {"kernel": version, "streams": per_stream(parse(text, "STREAM")),
              "qdiscs": per_qdisc(parse(text, "QDISC")), "ports": per_ports(parse(text, "PORTS", 5))}
    report(result)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(result, file, indent=1)
    return 0


sys.exit(main())
