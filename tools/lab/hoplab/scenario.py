# SPDX-License-Identifier: GPL-2.0
"""A scenario file: read, check every word of it, expand it to cases.

A fault is one line: the file, the place in it, what is allowed there.
"""
import difflib
import itertools
import math
import re
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

from . import LabError, arrivals, fabric, topology
from .build import LAB, TOP
from .units import probability, rate_bps, show_time, size_bytes, time_ns

SCENARIOS = LAB / "scenarios"
BUILT_IN_CCS = ("reno", "cubic", "dctcp", "bbr", "westwood")
FROM_HOST = "host"      # a cc: the one that the host's routes and sysctls choose
REQUIRED = object()
RANGE_MAX_NAMES = 1000
SEED_MAX = 2**32
# Of the kernel's networks, of a bridge's own device, of our files.
TAKEN_NAMES = ("lo", "all", "default", "bridge", "net")


class Fault(LabError):
    """Bad input, by place."""


# --- kinds of values: each takes what TOML gave and returns what the lab uses ---

def text(value):
    if not isinstance(value, str):
        raise ValueError(f"{value!r}: write a string")
    return value


def flag(value):
    if not isinstance(value, bool):
        raise ValueError(f"{value!r}: write true or false")
    return value


def integer(low, high):
    def kind(value):
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise ValueError(f"{value!r}: write a whole number, {low} to {high}")
        return value
    return kind


def one_of(*allowed):
    def kind(value):
        if value not in allowed:
            raise ValueError(f"{value!r}: allowed: {' '.join(map(str, allowed))}")
        return value
    return kind


def list_of(kind):
    def parse(value):
        if not isinstance(value, list):
            raise ValueError(f"{value!r}: write a list, as [1, 2]")
        return [kind(v) for v in value]
    return parse


def distinct(kind):
    """A list of at least one, each once."""
    def parse(value):
        found = list_of(kind)(value)
        if not found:
            raise ValueError("the list is empty: write at least one")
        twice = [v for v in found if found.count(v) > 1]
        if twice:
            raise ValueError(f"{twice[0]!r} is there twice")
        return found
    return parse


def one_or_list(kind):
    return lambda value: distinct(kind)(aslist(value))


def within(kind, low, high, allowed):
    def parse(value):
        found = kind(value)
        if not low <= found <= high:
            raise ValueError(f"{value!r} is out of range: {allowed}")
        return found
    return parse


def wire(name):
    """A bound of sch_link, from where it is written."""
    header = (LAB / "sch_link/pkt_sched_link.h").read_text()
    return int(re.search(rf"^#define LINK_{name}\s+(\d+)", header, re.M)[1])


def names(value):
    """'h[1-3]' or ['h1', 'rx'] -> ['h1', 'h2', 'h3'] or ['h1', 'rx']"""
    found = []
    for item in value if isinstance(value, list) else [value]:
        match = re.fullmatch(r"([a-z][a-z0-9]*)(?:\[([0-9]{1,7})-([0-9]{1,7})\])?", item) \
            if isinstance(item, str) else None
        if not match:
            raise ValueError(f"{item!r} is no name: letters and digits, as \"h1\", or \"h[1-5]\"")
        if match.group(2) is None:
            found.append(item)
            continue
        numbers = range(int(match[2]), int(match[3]) + 1)
        if not 0 < len(numbers) <= RANGE_MAX_NAMES:
            raise ValueError(f"{item!r} is no range: upwards, {RANGE_MAX_NAMES} names at most")
        found += [f"{match[1]}{i}" for i in numbers]
    if not found:
        raise ValueError("no name: write at least one")
    long = [n for n in found if len(n) > 8]
    if long:
        raise ValueError(f"{long[0]!r} is too long: 8 letters and digits at most")
    taken = [n for n in found if n in TAKEN_NAMES]
    if taken:
        raise ValueError(f"{taken[0]!r} has a meaning of its own, as have {' '.join(TAKEN_NAMES)}: "
                         "take another name")
    return found


def names_or_none(value):
    return [] if value == [] else names(value)


def group(value):
    """A flow's name: a word of the plan, of JSON and of HTML."""
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.+-]{0,31}", text(value)):
        raise ValueError(f"{value!r} is no name: letters, digits, _ . + -, 32 at most")
    return value


def sysctls(value):
    if not isinstance(value, dict):
        raise ValueError(f"{value!r}: write a table, as {{ \"net.ipv4.tcp_ecn\" = 1 }}")
    for key, setting in value.items():
        if not re.fullmatch(r"[a-z0-9_]+(\.[a-zA-Z0-9_-]+)+", key):
            raise ValueError(f"{key!r} is no sysctl: write as \"net.ipv4.tcp_ecn\"")
        if isinstance(setting, (dict, list, float)) or not str(setting).isprintable():
            raise ValueError(f"{key}: {setting!r}: write a number or a string")
    return {k: str(int(v) if isinstance(v, bool) else v) for k, v in value.items()}


def bound(value):
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not isinstance(value, str) and not (number and math.isfinite(value)):
        raise ValueError(f"{value!r}: write a number or a formula in a string")
    return value


def window(value):
    if not isinstance(value, list) or len(value) != 2:
        raise ValueError(f"{value!r}: write two times, as [\"100ms\", \"1s\"]")
    low, high = (TIME(v) for v in value)
    if low >= high:
        raise ValueError(f"{value!r}: the first must be below the second")
    return (low, high)


def queue(value):
    """Qdisc strings, the next one below: the first word is a kind, the rest is tc's to judge."""
    for one in text(value).split(" / "):
        words = one.split()
        if not words or not re.fullmatch(r"[a-z_]+", words[0]) or not re.fullmatch(r"[\w .,:%/-]*", one):
            raise ValueError(f"{value!r} is no qdisc: write as tc does, \"bfifo limit 150k\", or "
                             "\"int switch_id 1 / wred limit 150k\"")
    return value


def tracepoint(value):
    if not re.fullmatch(r"\w+:\w+", text(value)):
        raise ValueError(f"{value!r} is no tracepoint: write as \"tcp:tcp_probe\"")
    return value


def ccs():
    """Built into the lab's kernel, and one for each tcp_ folder of the tree."""
    return (FROM_HOST, *BUILT_IN_CCS, *sorted(p.name[4:] for p in TOP.glob("tcp_*") if p.is_dir()))


def cc(value):
    return one_of(*ccs())(value)


def share(value):
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value <= 2:
        raise ValueError(f"{value!r} is no load: write above 0, up to 2, as 0.3")
    return float(value)


def either(*keys):
    """A link's value for both ends, or for one."""
    return [f"{k}{end}" for k in keys for end in ("", "_a", "_b")]


# --- the schema: table -> key -> (kind, default) ---

TIME = within(time_ns, 0, 10**13, "0s to 10000s")
PERIOD = within(time_ns, 1_000, 10**13, "1us to 10000s")
DELAY = within(time_ns, 0, wire("DELAY_MAX_NS"), f"0s to {wire('DELAY_MAX_NS') // 10**9}s")
MTU = integer(576, 65000)
SIZE = within(size_bytes, 0, 2**50, "0 to 2^50 bytes")
# Of the socket option, which the kernel doubles: an int in the end.
SNDBUF = within(size_bytes, 4096, 2**30, "4k to 1g")
RUN = {
    "duration": (PERIOD, REQUIRED),
    "warmup": (TIME, 0),
    "window": (window, None),
    "seeds": (distinct(integer(0, SEED_MAX)), [1]),
    "debug_duration": (PERIOD, None),
    "timeout": (PERIOD, 600 * 10**9),
}
NETWORK = {
    "hosts": (names, REQUIRED),
    "switches": (names_or_none, []),
    "bridges": (names_or_none, []),
    "sysctl": (sysctls, {}),
}
FABRIC = {
    "kind": (one_of(*fabric.KEYS), REQUIRED),
    "hosts": (integer(1, 256), None), "leaves": (integer(1, 256), None), "spines": (integer(1, 256), None),
    "k": (one_of(2, 4, 6, 8), None),
    "rate": (rate_bps, REQUIRED), "up_rate": (rate_bps, None),
    "delay": (DELAY, 0),
    "queue": (queue, None), "up_queue": (queue, None), "host_queue": (queue, None),
    "overhead": (integer(0, wire("OVERHEAD_MAX_BYTES")), None),
    "mtu": (MTU, 1500),
}
NODE = {"name": (names, REQUIRED), "sysctl": (sysctls, {}), "nft": (text, "")}
LINK = {
    "a": (names, REQUIRED), "b": (names, REQUIRED),
    "mtu": (MTU, 1500),
    "tso": (flag, True),
    **dict.fromkeys(either("rate"), (rate_bps, None)),
    **dict.fromkeys(either("delay"), (DELAY, None)),
    **dict.fromkeys(either("overhead"), (integer(0, wire("OVERHEAD_MAX_BYTES")), None)),
    **dict.fromkeys(either("queue"), (queue, None)),
    **dict.fromkeys(either("loss", "reorder", "duplicate", "corrupt"), (probability, None)),
}
LINK_DEFAULTS = {"delay": 0, "overhead": 24, "queue": "bfifo limit 64m", "loss": 0.0,
                 "reorder": 0.0, "duplicate": 0.0, "corrupt": 0.0}
CHANGE = {"at": (TIME, REQUIRED), "a": (names, REQUIRED), "b": (names, REQUIRED),
          "mtu": (MTU, None), "rate": (rate_bps, None), "delay": (DELAY, None),
          "loss": (probability, None), "reorder": (probability, None),
          "up": (flag, None), "routed": (flag, None)}
CHANGED = tuple(key for key in CHANGE if key not in ("at", "a", "b"))
ROUTE = {"from": (names, REQUIRED), "to": (names, REQUIRED), "options": (text, REQUIRED)}
FLOW = {
    "name": (group, REQUIRED),
    "from": (names, REQUIRED), "to": (names, REQUIRED),
    "cc": (cc, FROM_HOST), "sink_cc": (cc, None), "accept_cc": (cc, FROM_HOST),
    "start": (TIME, 0), "stop": (TIME, None), "stagger": (TIME, 0),
    "jitter": (TIME, 10_000),
    "bytes": (SIZE, 0),
    "sndbuf": (SNDBUF, None),
    "warm": (SIZE, 0),
    "mode": (one_of("once", "persistent", "reconnect", *arrivals.MODES), "once"),
    "sizes": (text, None),
    "load": (share, None),
    "fanin": (integer(1, 1000), None),
    "period": (PERIOD, None),
    "count": (integer(1, 10**6), 1),
    "parallel": (integer(1, 1000), 1),
    "think": (TIME, 0),
    "initcwnd": (integer(1, 1000), None),
    "family": (one_of(4, 6), 4),
    "verify": (flag, False),
}
SAMPLE = {
    "ports": (list_of(text), None),
    "queue": (PERIOD, None),
    "sockets": (PERIOD, 1_000_000),
    "goodput": (PERIOD, 10_000_000),
    "trace": (list_of(tracepoint), []),
}
CLAIM = {
    "metric": (text, REQUIRED),
    "case": (one_or_list(text), None),
    "min": (bound, None), "max": (bound, None),
    "window": (window, None),
    "source": (text, ""), "note": (text, ""),
    "debug": (flag, False),
}
COLUMN = {
    "title": (text, REQUIRED),
    "metric": (text, REQUIRED),
    "window": (window, None),
    "show": (one_of("number", "time", "rate"), "number"),
    "digits": (integer(0, 6), 2),
}
TABLES = {"run": RUN, "network": NETWORK, "sample": SAMPLE, "fabric": FABRIC}
ARRAYS = {"host": NODE, "link": LINK, "route": ROUTE, "flow": FLOW, "change": CHANGE,
          "claim": CLAIM, "column": COLUMN}
FREE = ("title", "source", "params", "sweep", "case")


@dataclass
class Case:
    """One network, one set of flows: a scenario with its parameters filled in."""
    name: str
    params: dict
    run: dict
    network: dict
    sample: dict
    hosts: list = field(default_factory=list)
    links: list = field(default_factory=list)
    routes: list = field(default_factory=list)
    flows: list = field(default_factory=list)
    changes: list = field(default_factory=list)
    claims: list = field(default_factory=list)
    columns: list = field(default_factory=list)

    @property
    def window(self):
        return self.run["window"] or (self.run["warmup"], self.run["duration"])

    @property
    def counters(self):
        """Comments of the rules of nodes' firewalls that count."""
        found = [re.findall(r'\bcounter\b[^\n]*\bcomment "([^"\n]*)"', host["nft"]) for host in self.hosts]
        return list(dict.fromkeys(itertools.chain(*found)))


@dataclass
class Scenario:
    name: str
    file: Path
    title: str
    source: str
    cases: list
    word: str = ""      # what load() was given


def load(word):
    """A scenario by name or by file."""
    path = Path(word)
    if path.suffix != ".toml":
        path = SCENARIOS / f"{word}.toml"
    try:
        raw = tomllib.loads(path.read_text())
    except FileNotFoundError:
        raise Fault(f"{word}: no such scenario; there are: {' '.join(available())}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise Fault(f"{path}: {error}") from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise Fault(f"{path}: not TOML: {error}") from None
    try:
        found = build(path, raw)
        found.word = str(word)
        return found
    except Fault as fault:
        raise Fault(f"{path}: {fault}") from None


def available(folder=""):
    """Names of the tree's scenarios: those of the gate, or those of a folder below."""
    return sorted(str(p.relative_to(SCENARIOS).with_suffix("")) for p in SCENARIOS.glob(f"{folder}/*.toml".lstrip("/")))


def build(path, raw):
    known_keys("", raw, [*FREE, *TABLES, *ARRAYS])
    cases = [build_case(case, params, raw, path.parent) for case, params in expand(raw)]
    known = {c.name: c for c in cases}
    for index, claim in enumerate(raw.get("claim", []), 1):
        for pattern in aslist(claim.get("case", [])):
            if not any(matches(pattern, k) for k in known):
                raise Fault(f"claim {index}: case: {pattern!r}: allowed: {' '.join(known)}")
    for case in cases:
        check_claims(case, known)
        check_columns(case, known)
    return Scenario(path.stem, path, checked("title", text, raw.get("title", path.stem)),
                    checked("source", text, raw.get("source", "")), cases)


def aslist(value):
    return value if isinstance(value, list) else [value]


def matches(pattern, case):
    return re.fullmatch(re.escape(str(pattern)).replace(r"\*", ".*"), case)


def applies(claim, case):
    return claim["case"] is None or any(matches(p, case) for p in claim["case"])


def checked(place, kind, value):
    try:
        return kind(value)
    except ValueError as error:
        raise Fault(f"{place}: {error}") from None


def known_keys(place, table, allowed):
    if not isinstance(table, dict):
        raise Fault(f"{place}: write a table, with keys of: {' '.join(allowed)}")
    for key in table:
        if key not in allowed:
            near = difflib.get_close_matches(key, allowed, 1)
            hint = f" (did you mean {near[0]!r}?)" if near else ""
            where = f"{place}: " if place else ""
            raise Fault(f"{where}unknown key {key!r}{hint}; allowed: {' '.join(allowed)}")


# --- parameters, sweeps, cases ---

def expand(raw):
    """Yield (name, parameters) of each case."""
    base = scalars("params", raw.get("params", {}))
    sweep = raw.get("sweep", {})
    if not isinstance(sweep, dict) or not all(isinstance(v, list) and v for v in sweep.values()):
        raise Fault("sweep: write a list for each parameter, as cc = [\"cubic\", \"dctcp_ms\"]")
    explicit = raw.get("case", [{}])
    if not isinstance(explicit, list) or not explicit:
        raise Fault("case: write as [[case]], with a name and parameters")
    seen = set()
    for index, extra in enumerate(explicit, 1):
        extra = dict(scalars(f"case {index}", extra))
        label = extra.pop("name", None)
        if raw.get("case") and not isinstance(label, str):
            raise Fault(f"case {index}: name: a string is required")
        for values in itertools.product(*sweep.values()):
            params = {**base, **extra, **dict(zip(sweep, values))}
            words = ([label] if label else []) + [str(v) for v in values]
            name = "-".join(re.sub(r"[^A-Za-z0-9_.]+", "_", w) for w in words) or "all"
            if name in seen:
                raise Fault(f"case {name!r} is there twice")
            seen.add(name)
            yield name, {"case": name, **params}


def scalars(place, table):
    if not isinstance(table, dict):
        raise Fault(f"{place}: write a table of parameters")
    for key, value in table.items():
        if isinstance(value, (dict, list)) or not re.fullmatch(r"[A-Za-z_]\w*", key):
            raise Fault(f"{place}: {key}: a parameter is a name and a number, string or boolean")
    return table


def fill(place, value, params):
    """Put parameters in: "{k}" alone keeps its type, within a string it is text."""
    if isinstance(value, dict):
        return {k: fill(f"{place}: {k}", v, params) for k, v in value.items()}
    if isinstance(value, list):
        return [fill(place, v, params) for v in value]
    if not isinstance(value, str):
        return value
    for word in re.findall(r"\{(\w*)\}", value):
        if word not in params:
            raise Fault(f"{place}: unknown parameter {{{word}}}; allowed: {' '.join(params)}")
    if re.fullmatch(r"\{\w+\}", value):
        return params[value[1:-1]]
    return re.sub(r"\{(\w+)\}", lambda m: str(params[m[1]]), value)


def table(place, schema, raw, params):
    known_keys(place, raw, list(schema))
    out = {}
    for key, (kind, default) in schema.items():
        if key in raw:
            value = fill(f"{place}: {key}", raw[key], params)
            out[key] = checked(f"{place}: {key}", kind, value)
        elif default is REQUIRED:
            raise Fault(f"{place}: {key!r} is missing")
        else:
            out[key] = default
    return out


def build_case(name, params, raw, folder):
    def section(key):
        if key not in raw and any(d is REQUIRED for _, d in TABLES[key].values()):
            raise Fault(f"[{key}] is missing")
        return table(key, TABLES[key], raw.get(key, {}), params)

    def array(key):
        value = raw.get(key, [])
        if not isinstance(value, list):
            raise Fault(f"{key}: write as [[{key}]]")
        return [table(f"{key} {i}", ARRAYS[key], item, params) for i, item in enumerate(value, 1)]

    made = section("fabric") if "fabric" in raw else None
    network = network_of(made, raw, params) if made else section("network")
    case = Case(name, params, section("run"), network, section("sample"),
                array("host"), array("link"), array("route"), array("flow"), array("change"),
                array("claim"), array("column"))
    case.links = fabric_links(made) + case.links if made else case.links
    check_nodes(case)
    check_links(case)
    check_flows(case, folder)
    check_changes(case)
    check_paths(case)
    check_ports(case)
    return case


def network_of(made, raw, params):
    """[network] where a [fabric] says which nodes there are."""
    stated = table("network", {"sysctl": NETWORK["sysctl"]}, raw.get("network", {}), params)
    made["nodes"] = found = checked("fabric", fabric.expand, made)
    return {"hosts": found.hosts, "switches": found.switches, "bridges": [],
            "sysctl": stated["sysctl"], "of_nodes": found.sysctl}


def fabric_links(made):
    blank = {key: default for key, (_, default) in LINK.items()}
    return [{**blank, "a": [a], "b": [b], "place": "fabric", **fabric.port_values(made, tier)}
            for a, b, tier in made["nodes"].links]


# --- relations between tables ---

def nodes(case):
    return case.network["hosts"] + case.network["switches"] + case.network["bridges"]


def node_in(place, words, allowed):
    for word in words:
        if word not in allowed:
            raise Fault(f"{place}: unknown node {word!r}; allowed: {' '.join(allowed)}")


def check_nodes(case):
    every = nodes(case)
    twice = [n for n in every if every.count(n) > 1]
    if twice:
        raise Fault(f"network: {twice[0]!r} is there twice")
    for index, host in enumerate(case.hosts, 1):
        node_in(f"host {index}: name", host["name"], every)


def check_links(case):
    seen = set()
    stated = itertools.count(1)
    for link in case.links:
        place = link.get("place") or f"link {next(stated)}"
        node_in(f"{place}: a", link["a"], nodes(case))
        node_in(f"{place}: b", link["b"], nodes(case))
        settle_ends(place, link)
        for pair in itertools.product(link["a"], link["b"]):
            if pair[0] == pair[1] or frozenset(pair) in seen:
                raise Fault(f"{place}: {pair[0]} and {pair[1]} cannot be linked (again)")
            seen.add(frozenset(pair))
    linked = set().union(*seen) if seen else set()
    for node in nodes(case):
        if node not in linked:
            raise Fault(f"network: {node!r} has no link")


def check_changes(case):
    linked = {frozenset(p) for link in case.links for p in itertools.product(link["a"], link["b"])}
    for index, change in enumerate(case.changes, 1):
        place = f"change {index}"
        node_in(f"{place}: a", change["a"], nodes(case))
        node_in(f"{place}: b", change["b"], nodes(case))
        for pair in itertools.product(change["a"], change["b"]):
            if frozenset(pair) not in linked:
                raise Fault(f"{place}: there is no link of {pair[0]} and {pair[1]}")
        if all(change[key] is None for key in CHANGED):
            raise Fault(f"{place}: nothing changes; allowed: {' '.join(CHANGED)}")
        for node in change["a"] + change["b"]:
            if node in case.network["bridges"] and (change["up"], change["routed"]) != (None, None):
                raise Fault(f"{place}: {node!r} is a bridge: what has routes can be up, down or routed")
        if change["at"] >= case.run["duration"]:
            raise Fault(f"{place}: at: not within the run's duration, "
                        f"{show_time(case.run['duration'])}")


def settle_ends(place, link):
    """Give both ends their own value of what was written once for both."""
    link["stated"] = [end for end in "ab" if link["queue"] or link[f"queue_{end}"]]
    for key in ("rate", *LINK_DEFAULTS):
        both = link.pop(key)
        for end in "ab":
            if link[f"{key}_{end}"] is None:
                link[f"{key}_{end}"] = LINK_DEFAULTS.get(key) if both is None else both
    if not link["rate_a"] or not link["rate_b"]:
        raise Fault(f"{place}: 'rate' is missing")


def check_flows(case, folder):
    hosts = case.network["hosts"]
    for index, flow in enumerate(case.flows, 1):
        place = f"flow {index}"
        node_in(f"{place}: from", flow["from"], hosts)
        node_in(f"{place}: to", flow["to"], hosts)
        check_mode(place, flow, folder)
        check_times(place, flow, case.run["duration"])
        flow["sink_cc"] = flow["sink_cc"] or flow["cc"]
    for index, route in enumerate(case.routes, 1):
        node_in(f"route {index}: from", route["from"], hosts)
        node_in(f"route {index}: to", route["to"], hosts)


MODE_KEYS = {"poisson": {"sizes", "load"}, "incast": {"bytes", "fanin", "period", "load", "parallel"}}


def check_mode(place, flow, folder):
    """What a flow's mode needs, and what means nothing in it."""
    mode = flow["mode"]
    if mode in ("persistent", "reconnect") and not flow["bytes"]:
        raise Fault(f"{place}: bytes: mode {mode!r} needs a size")
    if flow["count"] > 1 and mode == "once":
        raise Fault(f"{place}: count: mode 'once' is one transfer; allowed: persistent reconnect")
    # Warming up would be load that nobody counts, amid what is measured.
    common = {"count", "parallel", "think", "bytes", "stagger", "warm"}
    for key in ("sizes", "load", "fanin", "period", *sorted(common)):
        own = MODE_KEYS.get(mode, common)
        if flow[key] != FLOW[key][1] and key not in own:
            raise Fault(f"{place}: {key}: means nothing in mode {mode!r}; allowed: {' '.join(sorted(own))}")
    if mode in arrivals.MODES:
        check_arrivals(place, flow, folder)


def check_arrivals(place, flow, folder):
    for key in {"poisson": ("sizes", "load"), "incast": ("bytes", "fanin")}[flow["mode"]]:
        if not flow[key]:
            raise Fault(f"{place}: {key}: mode {flow['mode']!r} needs it")
    if flow["mode"] == "incast" and bool(flow["period"]) == bool(flow["load"]):
        raise Fault(f"{place}: period: mode 'incast' needs this or a load, and not both")
    if flow["sizes"]:
        flow["sizes"] = checked(f"{place}: sizes", lambda word: arrivals.load(word, folder), flow["sizes"])
    for key in ("from", "to"):
        twice = [n for n in flow[key] if flow[key].count(n) > 1]
        if twice:
            raise Fault(f"{place}: {key}: {twice[0]!r} is there twice")
    for source in flow["from"] if flow["mode"] == "poisson" else []:
        if flow["to"] == [source]:
            raise Fault(f"{place}: to: {source!r} has none to send to but itself")
    others = len(flow["from"]) - bool(set(flow["from"]) & set(flow["to"]))
    if flow["fanin"] and flow["fanin"] > others:
        raise Fault(f"{place}: fanin: {flow['fanin']} senders, and a receiver has {others}; "
                    "`parallel` gives each several connections")


def check_times(place, flow, duration_ns):
    connections = 1 if flow["mode"] in arrivals.MODES else \
        len(flow["from"]) * len(flow["to"]) * flow["parallel"]
    last_ns = flow["start"] + (connections - 1) * flow["stagger"] + flow["jitter"]
    stop_ns = duration_ns if flow["stop"] is None else flow["stop"]
    if stop_ns > duration_ns:
        raise Fault(f"{place}: stop: not within the run's duration")
    if last_ns >= stop_ns:
        raise Fault(f"{place}: start: the last connection may start at {show_time(last_ns)}, "
                    f"not before its stop (default: the duration) at {show_time(stop_ns)}")


def check_paths(case):
    """Each pair of a flow or a route: two hosts, and a way there and back."""
    net = topology.build(case)
    for kind, items in (("flow", case.flows), ("route", case.routes)):
        for index, item in enumerate(items, 1):
            for a, b in itertools.product(item["from"], item["to"]):
                if a == b and item.get("mode") in arrivals.MODES:
                    continue
                if a == b:
                    raise Fault(f"{kind} {index}: from {a!r} to itself")
                if not topology.joined(net, a, b):
                    raise Fault(f"{kind} {index}: no path from {a!r} to {b!r} and back")
    check_number(case, net)


def check_number(case, net):
    """Each connection has a port of its own."""
    count = 0
    for index, flow in enumerate(case.flows, 1):
        own = topology.connections(net, flow)
        count += own
        if count > topology.FLOWS_MAX:
            raise Fault(f"flow {index}: {own} connections, {count} in all: at most {topology.FLOWS_MAX}; "
                        "shorten the time from start to stop, or lower the load")


def ports(case):
    """All egress ports: name -> (link, end, node, peer)."""
    found = {}
    for link in case.links:
        for a, b in itertools.product(link["a"], link["b"]):
            found[f"{a}:{b}"] = (link, "a", a, b)
            found[f"{b}:{a}"] = (link, "b", b, a)
    return found


def check_ports(case):
    known = ports(case)
    if case.sample["ports"] is None:
        stated = [p for p, (link, end, *_) in known.items() if end in link["stated"]]
        case.sample["ports"] = stated[:8]
    for port in case.sample["ports"]:
        if port not in known:
            raise Fault(f"sample: ports: unknown port {port!r}; allowed: {' '.join(known)}")
    if case.sample["queue"] is None:
        case.sample["queue"] = sample_period([known[p] for p in case.sample["ports"]])
    low, high = case.window
    if not low < high <= case.run["duration"]:
        raise Fault("run: the window must lie within the duration, and the warm-up below it")


def sample_period(sampled):
    """Four frames of the fastest sampled port, and no less than 10 us: a sample costs wall time."""
    rates = [link[f"rate_{end}"] for link, end, *_ in sampled]
    return max(10_000, 4 * 1538 * 8 * 10**9 // max(rates, default=10**9))


def check_claims(case, known):
    from .claims import check, constant     # claims knows the metrics; here only their places are known
    for index, claim in enumerate(case.claims, 1):
        place = f"claim {index}"
        if not applies(claim, case.name):
            continue
        if claim["min"] is None and claim["max"] is None:
            raise Fault(f"{place}: 'min' or 'max' is missing")
        for key in ("metric", "min", "max"):
            if isinstance(claim[key], str):
                checked(f"{place}: {key}", lambda v: check(v, known, case.name), claim[key])
        if claim["window"] and claim["window"][1] > case.run["duration"]:
            raise Fault(f"{place}: window: not within the run's duration")
        low, high = (constant(claim[key]) for key in ("min", "max"))
        if low is not None and high is not None and low > high:
            raise Fault(f"{place}: 'min' exceeds 'max'")


def check_columns(case, known):
    from .claims import check
    for index, column in enumerate(case.columns, 1):
        place = f"column {index}"
        checked(f"{place}: metric", lambda v: check(v, known, case.name), column["metric"])
        if column["window"] and column["window"][1] > case.run["duration"]:
            raise Fault(f"{place}: window: not within the run's duration")
