#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""The HTML page of results: the words of a scenario are text, whatever characters they have."""
import html.parser
import json
import sys
import tempfile
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, f"{TOP}/tools/lab")
sys.path.insert(0, f"{TOP}/selftests/lib")
sys.dont_write_bytecode = True

from hoplab import claims, report, results  # noqa: E402
from tap import Tap  # noqa: E402

S = 10**9
TITLE, SOURCE, NOTE = "a <b>bold</b> \"title\"", "RFC 1 & <script>2</script>", "it's {{ 3 }} < 4"
PICTURES = 2    # the queue over time and its distribution
FLOW = {"id": 0, "group": "f", "cc": "reno", "from": "h1", "to": "h2", "family": 4, "path": ["s1:h2"], "bytes": 1000,
        "start_ns": 0, "stop_ns": S, "ideal_base_ns": 1000, "ceiling_bps": 10**9}
PORT = {"rate_bps": 10**9, "overhead_bytes": 24, "ceiling_bps": 10**9, "ceiling6_bps": 10**9}
tap = Tap()


def claim(metric, low, note):
    return {"metric": metric, "case": None, "min": low, "max": None, "window": None, "source": "", "note": note,
            "debug": False}


def lines():
    yield {"type": "meta", "schema": results.SCHEMA, "scenario": "made", "title": TITLE, "source": SOURCE, "case": "all",
           "params": {}, "seed": 1, "kernel": "release", "duration_ns": S, "window_ns": [0, S], "goodput_ns": S // 10,
           "ports": {"s1:h2": PORT}, "flows": [FLOW], "arrivals": [],
           "claims": [claim("drops", 0, NOTE), claim("drops", 1, "none")]}
    for t_ns in range(0, S, S // 4):
        yield {"type": "queue", "port": "s1:h2", "t_ns": t_ns, "pkts": 1, "bytes": 1000, "sent_bytes": t_ns, "sent_pkts": 1}
    yield {"type": "port", "port": "s1:h2", "drops": 0, "marked": 0, "pkts": 1, "xstats": {}}
    yield {"type": "host", "host": "h1"}
    yield {"type": "flow", "id": 0, "cc": "reno", "done": False, "start_ns": 0, "end_ns": S, "bytes": 0, "retrans": 0}


class Page(html.parser.HTMLParser):
    """The tags of a page, and its text outside of pictures."""
    def __init__(self, text):
        super().__init__()
        self.tags, self.words = [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        if data.strip():
            self.words.append(data.strip())


def main():
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "made.all.1.jsonl")
        file.write_text("".join(json.dumps(line) + "\n" for line in lines()))
        runs = [results.Run(file)]
        text = report.write(Path(folder, "report.html"), runs, claims.decide(runs)).read_text()
    page = Page(text)
    tags = [tag for tag, _ in page.tags]
    for name, words, count in (("title", TITLE, 2), ("source", SOURCE, 1), ("note of a claim", NOTE, 1)):
        tap.equal(f"the {name} is text", "\n".join(page.words).count(words), count)
    tap.result("b" not in tags and "script" not in tags, "no tag comes from a scenario", str(sorted(set(tags))))
    tap.equal("pictures are drawn, not shown as text", tags.count("svg"), PICTURES)
    titles = [attrs["aria-label"] for tag, attrs in page.tags if tag == "svg"]
    tap.equal("each picture of one run says its seed", [t for t in titles if not t.endswith(", seed 1")], [])
    decisions = [attrs["class"] for tag, attrs in page.tags if tag == "td" and "class" in attrs]
    tap.equal("a claim that holds and one that does not", decisions, ["pass", "fail"])
    return tap.done()


sys.exit(main())
