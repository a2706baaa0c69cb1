#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Figures that stand in two places of the documentation: the table that was measured is the source, and other places
quote it.

    figures.py           write the quotations of all pages, and the pictures of fabrics.md's tables
    figures.py --check   print what differs from its source, and change nothing

A quotation is a sentence or row with {} for each figure, # for each other number that may change, and the figures'
sources. A picture of a table has the table's figures in its <desc>, from which --check knows whether it is the table's.
"""
import argparse
import re
import sys
from dataclasses import dataclass
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
PAGES = TOP / "Documentation"
FIGURE = r"(\d[\d.,]*\d|\d)"
OTHER = r"(?:\d[\d.,]*\d|\d)"


class Missing(Exception):
    """A source, a quotation or a table is not there."""


@dataclass(frozen=True)
class Cell:
    """A figure of a table: the first table behind the line `place`, the row whose first cells are `row`."""
    page: str
    place: str
    row: tuple
    column: str
    number: int = 0         # of those in the cell, by commas

    def read(self, pages):
        head, *rows = table(pages[self.page], self.page, self.place)
        # Of columns with the same name, the first.
        at = {name(cell): number for number, cell in reversed(list(enumerate(head)))}
        found = [row for row in rows if tuple(map(name, row[:len(self.row)])) == self.row]
        if self.column not in at or len(found) != 1:
            raise Missing(f"{self.page}: {self.place!r}: {len(found)} rows {self.row}, column {self.column!r} of {list(at)}")
        return found[0][at[self.column]].split(", ")[self.number].split(" ± ")[0]


@dataclass(frozen=True)
class Said:
    """A figure of a sentence of the source, with {} in its place; the first of them, or another."""
    page: str
    text: str
    number: int = 0

    def read(self, pages):
        return one_match(pages[self.page], self.page, self.text)[self.number + 1]


@dataclass(frozen=True)
class Quotation:
    page: str
    text: str
    sources: tuple

    def update(self, pages):
        """Put the sources' figures in. Return a line for each that differed."""
        match = one_match(pages[self.page], self.page, self.text)
        new, at, differ = "", match.start(), []
        for number, source in enumerate(self.sources, 1):
            figure = source.read(pages)
            new += match.string[at:match.start(number)] + figure
            at = match.end(number)
            if figure != match[number]:
                differ.append(f"{self.page}: {match[number]} is {figure} in {source.page}: {self.text}")
        pages[self.page] = match.string[:match.start()] + new + match.string[at:]
        return differ


def name(cell):
    """What a row or column is about: a congestion control may have fallen back, `xcp`, then `xcp-reno`."""
    return cell.replace("`", "").partition(", then ")[0]


def one_match(text, page, words):
    """The place of a sentence, which may be broken into lines, with a group for each figure."""
    pattern = re.sub(r"\\\s+", r"\\s+", re.escape(words)).replace(r"\{\}", FIGURE).replace(r"\#", OTHER)
    found = list(re.finditer(pattern, text))
    if len(found) != 1:
        raise Missing(f"{page}: there {len(found)} times: {words}")
    return found[0]


def table(text, page, place):
    """Rows of cells of the first table behind a line: its head, then the others."""
    before, found, rest = text.partition(f"\n{place}\n")
    lines = re.search(r"(?:^\|.*\n)+", rest, re.M)
    if not found or not lines:
        raise Missing(f"{page}: no table behind {place!r}")
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines[0].splitlines()]
    return rows[:1] + rows[2:]


def fabric(kind, row, column, number=2):
    return Cell("fabrics.md", f"### {kind}", (row,), column, number)


def lab(scenario, row, column):
    return Cell("what-happens-when.md", f"<!-- lab table {scenario} -->", (row,), column)


LEAF_SPINE, LEAF_SPINE_50 = "Leaf-spine, Hadoop's sizes at 30 %", "Leaf-spine, Hadoop's sizes at 50 %"
FAT_TREE, FAT_TREE_50 = "Fat tree, Hadoop's sizes at 30 %", "Fat tree, Hadoop's sizes at 50 %"
VETH, QDISCS = "the device's speed, is done for each. CPU-bound over `veth`:", "red's 1253:"


def chosen():
    """choose.md's table of what each gives."""
    for cc, shown in (("dctcp_ms", ""), ("ldcp", ""), ("xcp", ""), ("hpccpp", ""), ("csig", ""),
                      *((cc, ", of Linux 6.1") for cc in ("dctcp", "bbr", "cubic"))):
        measured = cc not in ("ldcp", "xcp")
        slowdowns = "{} | {}" if measured else "not measured | not measured"
        yield Quotation("choose.md", f"| `{cc}`{shown} | {slowdowns} | {{}} | {{}} | {{}} | {{}} |", (
            *([fabric(LEAF_SPINE, "below 1 kB", cc), fabric(LEAF_SPINE, "to 3 MB", cc)] if measured else []),
            lab("sceptic-defaults", cc, "largest queue"), lab("sceptic-defaults", cc, "queue later"),
            lab("sceptic-loss", cc, "port"), lab("sceptic-beside", cc, "of half of the port")))


def below_1_kb(page, text, cc):
    """The 99th percentile below 1 kB in all four fabrics, of a congestion control and of dctcp."""
    return Quotation(page, text, tuple(fabric(kind, "below 1 kB", of) for of in (cc, "dctcp")
                                       for kind in (LEAF_SPINE, LEAF_SPINE_50, FAT_TREE, FAT_TREE_50)))


def quotations():
    yield from chosen()
    yield Quotation("fabrics.md", "99th percentile of flows below 1 kB is {} and {} times the time alone; for dctcp it is "
                    "{}, for bbr {}, for cubic {}.",
                    tuple(fabric(LEAF_SPINE, "below 1 kB", cc) for cc in ("hpccpp", "csig", "dctcp", "bbr", "cubic")))
    yield below_1_kb("conformance/csig.md", "p99 slowdown below 1 kB | `figures/fabric-leafspine`, "
                     "`figures/fabric-fattree` | {}, {}; {}, {}; dctcp {}, {}; {}, {};", "csig")
    yield below_1_kb("conformance/hpccpp.md", "p99 slowdown below 1 kB {}, {}; {}, {}; dctcp {}, {}; {}, {};", "hpccpp")
    yield Quotation("choose.md", "CUBIC then gets {} of its half", (lab("sceptic-beside", "dctcp_ms", "CUBIC, of half"),))
    yield Quotation("choose.md", "either: a flow with an RTT of 2 ms gets {} of its half of the port beside one with 20 us",
                    (lab("sceptic-rtt", "dctcp_ms", "far, of half"),))
    yield Quotation("choose.md", "an RTT of 2 ms gets {} of its half of the port beside one with 20 us. Large incasts",
                    (lab("sceptic-rtt", "hpccpp", "far, of half"),))
    yield Quotation("choose.md", "two LDCP flows get {} Gbit/s of a 10 Gbit/s port when two CUBIC flows without ECN share it",
                    (Said("reference/tcp_ldcp.md", "those of LDCP have {} Gbit/s"),))
    yield Quotation("choose.md", "with link loads of {} and more",
                    (Said("conformance/xcp.md", "`figures/xcp-capacity-sweep` | load {} to"),))
    yield from costs()
    yield from papers()


def costs():
    """choose.md's table of what each costs, and the sentences that repeat it."""
    def host(row):
        return Cell("cost.md", VETH, (row,), "of cubic")

    def switch(*row):
        return Cell("cost.md", QDISCS, row, "of red")

    def memory(row):
        return Cell("cost.md", "## Memory", (row,), "bytes")
    choose = "choose.md"
    yield Quotation(choose, "| `dctcp_ms` | {} | 0 | none | {} |", (host("dctcp_ms"), switch("wred", "plain")))
    yield Quotation(choose, "| `ldcp` | {} | 0 | none; more ACKs | {} |", (host("ldcp"), switch("wred", "plain")))
    yield Quotation(choose, "| `xcp` | {} | {} bytes | 20 a segment | {}; {} with a header |",
                    (host("xcp"), memory("xcp"), switch("xcp", "plain"), switch("xcp", "header")))
    yield Quotation(choose, "| `hpccpp` | {} to {}; {} at 100 Gbit/s | {} bytes | a probe and an answer per T | {}; {} for a probe |",
                    (Said("cost.md", "probes took {}, #,"), Said("cost.md", "# and {} in six"),
                     host("hpccpp, probes, 100 Gbit/s"), memory("hpccpp"), switch("int", "plain"), switch("int", "probe")))
    yield Quotation(choose, "| `csig` | {} | {} bytes | 4 or 8 a packet | {}; {} with a tag |",
                    (host("csig"), memory("csig"), switch("csig", "plain"), switch("csig", "compact tag")))
    yield Quotation(choose, "It costs* little on hosts ({} of CUBIC's instructions)", (host("csig"),))


# figures.md's column "measured" by scenario, and the same figures in the results of a page of conformance.
PAPERS = {
    "conformance/dctcp.md": (
        ("ten times DCTCP's queue | CUBIC {} packets", "mean queue # packets | CUBIC on the same port: {} |"),
        ("| {} of the ceiling (0.94 Gbit/s), queue {} |", "`dctcp-1g` | {} of the ceiling, mean queue {} packets"),
        ("alpha 0.167 | queue {} to", "queue p95 #, p5 {}, alpha"),
        ("alpha 0.167 | queue # to {}, alpha", "queue p95 {}, p5 #, alpha"),
        ("alpha 0.167 | queue # to #, alpha {} |", "queue p95 #, p5 #, alpha {} |"),
        ("within 20 to 30 ms | Jain {} to {}, {} to {} ms", "| Jain {} to {} in each second, fair within {} to {} ms"),
        ("TCP 19 ms | {} to {} ms; CUBIC {} to {} ms", "`dctcp-short` | median {} to {} ms | CUBIC {} to {} ms")),
    "conformance/hpccpp.md": (
        ("near-zero queue | {}, {}, {}; queue {}, {}, {} packets",
         "after its start | `hpccpp-single` | {}, {}, {} of the payload rate; mean queue {}, {}, {} packets"),
        ("about 15 BDP | {} of 15 BDP inband", "`hpccpp-incast` | peak {} and # (N - 1) BDP"),
        ("of 15 BDP inband, {} by probes", "the same by probes | `hpccpp-incast` | peak {} and"),
        ("| gone | {} and", "(N + 10) T later {} and # packets in the mean"),
        ("| gone | # and {} packets in the mean", "by probes | `hpccpp-incast` | peak # and #; {} and # packets"),
        ("0.9 eta within 3 RTT | {} after 3 RTT (maxStage 0)", "3 RTT after its end {} (maxStage 0)"),
        ("near the empty path's | {} us of {}; cubic {} us", "`hpccpp-mice` | {} us one way of {}; cubic {} us")),
    "conformance/xcp.md": (
        ("`figures/xcp-capacity-sweep` | utilisation near 1, no drop | load {} to {},",
         "`figures/xcp-capacity-sweep` | load {} to {};"),
        ("`figures/xcp-delay-sweep` | utilisation near 1, no drop | load {} to {},", "`xcp-delay` | load {} to {} |"),
        ("no drop, up to {} flows a second", "up to {} short flows a second"),
        ("every link {} and more", "every link {} and more"),
        ("| fair | Jain {} from {} RTT on", "`xcp-fair` | Jain {} from {} RTT on"),
        ("`xcp-rtts` | fair | Jain {} |", "`xcp-rtts` | Jain {} |"),
        ("within {} % of fair; utilisation {} |", "within {} % of fair in each plateau; utilisation {},"),
        ("no drop; Reno drops {} |", "load 0.99 and more; Reno drops {} |"),
        ("equal throughputs | Jain {} and {} |", "no drop, Jain {} and {} |")),
    "conformance/ldcp.md": (
        ("the path's rate | {} BDP after two RTT", "is the limit | `ldcp-first` | {},"),
        ("{}: all done in {} ms of {}; no timeout", "{}: all done in {} ms of {} ideal"),
        ("deviation {} to", "`figures/ldcp-stable-32` | {}, #, # of"),
        ("deviation # to {} of", "`figures/ldcp-stable-32` | #, {}, # of")),
}


def papers():
    for page, pairs in PAPERS.items():
        for text, source in pairs:
            yield Quotation("figures.md", text, tuple(Said(page, source, i) for i in range(source.count("{}"))))


PICTURES = {"fabric-leafspine-hadoop30.svg": LEAF_SPINE, "fabric-fattree-hadoop30.svg": FAT_TREE}
UNITS = {"kB": 10**3, "MB": 10**6}
# The sizes' distribution has no smaller flows to speak of.
LEAST_BYTES = 100


def size_bytes(label):
    _, number, unit = label.split()
    return int(number) * UNITS[unit]


def slowdowns(pages, kind):
    """congestion control -> [(size in bytes, median, 99th percentile, half of its confidence interval)]"""
    head, *rows = table(pages["fabrics.md"], "fabrics.md", f"### {kind}")
    rows = [row for row in rows if row[0].startswith(("below ", "to "))]
    ends = [LEAST_BYTES, *(size_bytes(row[0]) for row in rows)]
    found = {}
    for cc, column in zip(map(name, head[2:]), zip(*(row[2:] for row in rows))):
        cells = [[float(figure) for figure in re.findall(FIGURE, cell)] for cell in column]
        found[cc] = [((low * high) ** 0.5, p50, p99, half) for low, high, (p50, _, p99, half) in zip(ends, ends[1:], cells)]
    return found


def described(found):
    lines = (f"{cc} {size:.0f} bytes: {p50:g}, {p99:g} ± {half:g}"
             for cc, points in found.items() for size, p50, p99, half in points)
    return "<desc>\n" + "\n".join(lines) + "\n</desc>"


def draw(kind, found):
    sys.path.insert(0, f"{TOP}/tools/lab")
    from hoplab.plot import plot_slowdown   # matplotlib takes a second to load
    svg = plot_slowdown(kind, {cc: [(size, p50, p99, (p99 - half, p99 + half))
                                    for size, p50, p99, half in points]
                               for cc, points in found.items()})
    start = svg.index(">") + 1
    return svg[:start] + described(found) + svg[start:]


def load(folder):
    return {str(path.relative_to(folder)): path.read_text(encoding="utf-8") for path in folder.rglob("*.md")}


def update(pages):
    """Put all figures into the pages. Return a line for each that differed."""
    return [line for quotation in quotations() for line in quotation.update(pages)]


def other_pictures(pages, folder=PAGES):
    """Pictures that are not of their table: (file, kind, its slowdowns)."""
    found = ((folder / file, kind, slowdowns(pages, kind)) for file, kind in PICTURES.items())
    return [(path, kind, points) for path, kind, points in found
            if described(points) not in path.read_text(encoding="utf-8")]


def main():
    options = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    options.add_argument("--check", action="store_true", help="print what differs, and change nothing")
    check = options.parse_args().check
    pages = load(PAGES)
    before = dict(pages)
    differ = update(pages)
    pictures = other_pictures(pages)
    for line in differ + [f"{path.name}: not the table's" for path, _, _ in pictures]:
        print(line)
    if check:
        return int(bool(differ or pictures))
    for page, text in pages.items():
        if text != before[page]:
            (PAGES / page).write_text(text, encoding="utf-8")
    for path, kind, points in pictures:
        path.write_text(draw(kind, points), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
