#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""A figure that stands in two places of the documentation is the same in both, and a picture of a table is of the
table as it is: what figures.py would write is what is there.
"""
import os
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "lib")]
sys.dont_write_bytecode = True

import figures  # noqa: E402
from tap import Tap  # noqa: E402

tap = Tap()


def changed(page, old, new):
    """The pages after someone changed one figure, up to date before."""
    pages = figures.load(figures.PAGES)
    figures.update(pages)
    text = pages[page]
    assert text.count(old) == 1, (page, old)
    pages[page] = text.replace(old, new)
    return pages


def test_planted():
    row = "| below 1 kB | 18995 | 1.14, 1.95, {} ± 0.96 |"
    text = figures.load(figures.PAGES)["fabrics.md"]
    now = figures.fabric(figures.LEAF_SPINE, "below 1 kB", "hpccpp").read({"fabrics.md": text})
    pages = changed("fabrics.md", row.format(now), row.format("55.5"))
    found = figures.update(pages)
    tap.equal("a table's new figure differs on each page that quotes it", sorted({line.partition(":")[0] for line in found}),
              ["choose.md", "conformance/hpccpp.md", "fabrics.md"])
    tap.claim("and is put in there", pages["choose.md"].count("55.5") == 1 and not figures.update(pages))
    tap.equal("and the picture of this table is known to be older",
              [path.name for path, _, _ in figures.other_pictures(pages)], ["fabric-leafspine-hadoop30.svg"])
    pages = changed("choose.md", "CUBIC then gets", "CUBIC then has")
    try:
        figures.update(pages)
        said = "nothing"
    except figures.Missing as missing:
        said = str(missing)
    tap.claim("a quotation whose sentence changed is known", "there 0 times: CUBIC then gets" in said, said)


def test_picture():
    points = {"a": [(200.0, 1.0, 2.0, 0.5), (2000.0, 1.5, 3.0, 0.5)], "b": [(200.0, 1.0, 2.0, 0.5), (2000.0, 1.0, 9.0, 4.0)]}
    pages = figures.load(figures.PAGES)
    with tempfile.TemporaryDirectory() as folder:
        for file, kind in figures.PICTURES.items():
            (Path(folder) / file).write_text(figures.draw(kind, figures.slowdowns(pages, kind)), encoding="utf-8")
        tap.equal("a picture that was just drawn is of its table", figures.other_pictures(pages, Path(folder)), [])
    first, second = (figures.draw("x", some) for some in (points, {**points, "b": points["a"]}))
    curves = [svg.partition("</desc>")[2] for svg in (first, second)]
    tap.claim("its curves are the table's, as its words are", curves[0] != curves[1] and "2000 bytes: 1, 9 ± 4" in first)


os.chdir(figures.TOP)
pages_now = figures.load(figures.PAGES)
differing = figures.update(pages_now)
tap.claim("each figure that stands in two places is the same in both: else figures.py puts it in", not differing,
          "\n".join(differing))
tap.claim("each picture of a table is of the table: else figures.py draws it",
          not figures.other_pictures(pages_now), str([path.name for path, _, _ in figures.other_pictures(pages_now)]))
test_planted()
test_picture()
sys.exit(tap.done())
