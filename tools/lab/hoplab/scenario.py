# SPDX-License-Identifier: GPL-2.0
"""A scenario file: read it, check every word of it, expand it to cases.

kinds.py knows the values, schema.py the tables, relations.py what tables ask of each other.
"""
import itertools
import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import fabric, relations
from .build import LAB
from .kinds import aslist, text
from .schema import (ARRAYS, TABLES, Case, Change, Claim, Column, FabricTable, Flow, Host, Link, Nodes, NodesOfFabric,
                     Route, RunTable, Sample, Tunnel, matches)
from .tables import REQUIRED, Fault, Params, Table, checked, keys_of, known_keys, read

SCENARIOS = LAB / "scenarios"
FREE = ("title", "source", "params", "sweep", "case")


@dataclass
class Scenario:
    name: str
    file: Path
    title: str
    source: str
    cases: list[Case]
    word: str = ""      # the argument of load()

    def case_named(self, name: str) -> Case | None:
        """A case by its name; by the words that it was made of if there is no such, with a hyphen for "_", say."""
        alike = [c for c in self.cases if c.name == name] or \
                [c for c in self.cases if plain_name(c.name) == plain_name(name)]
        return alike[0] if alike else None


def load(word: str, cases: Sequence[Params] = ()) -> Scenario:
    """A scenario by name or by file; `cases`, if there are some, instead of the file's [[case]]."""
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
        found = build(path, {**raw, "case": list(cases)} if cases else raw)
        found.word = str(word)
        return found
    except Fault as fault:
        raise Fault(f"{path}: {fault}") from None


def available(folder: str = "") -> list[str]:
    """Names of the tree's scenarios: the gate's, or those in a folder below."""
    return sorted(str(p.relative_to(SCENARIOS).with_suffix("")) for p in SCENARIOS.glob(f"{folder}/*.toml".lstrip("/")))


def build(path: Path, raw: dict[str, Any]) -> Scenario:
    known_keys("", raw, [*FREE, *TABLES, *ARRAYS])
    cases = [build_case(case, params, raw, path.parent) for case, params in expand(raw)]
    known = {c.name: c for c in cases}
    for index, claim in enumerate(raw.get("claim", []), 1):
        for pattern in aslist(claim.get("case", [])):
            if not any(matches(pattern, k) for k in known):
                raise Fault(f"claim {index}: case: {pattern!r}: allowed: {' '.join(known)}")
    for case in cases:
        relations.check_formulas(case, known)
    return Scenario(path.stem, path, checked("title", text, raw.get("title", path.stem)),
                    checked("source", text, raw.get("source", "")), cases)


# --- parameters, sweeps, cases ---

def expand(raw: dict[str, Any]) -> Iterator[tuple[str, Params]]:
    """Yield (name, parameters) of each case."""
    base = scalars("params", raw.get("params", {}))
    sweep = raw.get("sweep", {})
    if not isinstance(sweep, dict) or not all(isinstance(v, list) and v for v in sweep.values()):
        raise Fault("sweep: write a list for each parameter, as cc = [\"cubic\", \"dctcp_ms\"]")
    explicit = raw.get("case", [{}])
    if not isinstance(explicit, list) or not explicit:
        raise Fault("case: write as [[case]], with a name and parameters")
    seen = set()
    for index, item in enumerate(explicit, 1):
        extra = dict(scalars(f"case {index}", item))
        label = extra.pop("name", None)
        if raw.get("case") and not isinstance(label, str):
            raise Fault(f"case {index}: name: a string is required")
        for values in itertools.product(*sweep.values()):
            params = {**base, **extra, **dict(zip(sweep, values))}
            words = ([label] if label else []) + [str(v) for v in values]
            name = "-".join(map(plain_name, words)) or "all"
            if name in seen:
                raise Fault(f"case {name!r} is there twice")
            seen.add(name)
            yield name, {"case": name, **params}


def plain_name(word: str) -> str:
    return re.sub(r"[^A-Za-z0-9_.]+", "_", word)


def scalars(place: str, table: Any) -> Params:
    if not isinstance(table, dict):
        raise Fault(f"{place}: write a table of parameters")
    for key, value in table.items():
        if isinstance(value, (dict, list)) or not re.fullmatch(r"[A-Za-z_]\w*", key):
            raise Fault(f"{place}: {key}: a parameter is a name and a number, string or boolean")
    return table


@dataclass
class Reader:
    """Reads the tables of a file for one case."""
    raw: dict[str, Any]
    params: Params

    def one(self, key: str, table: type[Table]) -> Table:
        if key not in self.raw and any(k.default is REQUIRED for k in keys_of(table)):
            raise Fault(f"[{key}] is missing")
        return read(key, table, self.raw.get(key, {}), self.params)

    def items(self, key: str) -> list[tuple[str, Any]]:
        """Place and content of each table of a list."""
        found = self.raw.get(key, [])
        if not isinstance(found, list):
            raise Fault(f"{key}: write as [[{key}]]")
        return [(f"{key} {index}", item) for index, item in enumerate(found, 1)]

    def many(self, key: str, table: type[Table]) -> list[Table]:
        return [read(place, table, item, self.params) for place, item in self.items(key)]

    def links(self) -> list[Link]:
        return [Link.read(place, item, self.params) for place, item in self.items("link")]


def build_case(name: str, params: Params, raw: dict[str, Any], folder: Path) -> Case:
    reader = Reader(raw, params)
    network, links = of_fabric(reader) if "fabric" in raw else (reader.one("network", Nodes), [])
    case = Case(name, params, reader.one("run", RunTable), network, reader.one("sample", Sample),
                reader.many("host", Host), reader.links(), reader.many("tunnel", Tunnel),
                reader.many("route", Route),
                reader.many("flow", Flow), reader.many("change", Change), reader.many("claim", Claim),
                reader.many("column", Column))
    case.links = links + case.links
    relations.check(case, folder)
    return case


def of_fabric(reader: Reader) -> tuple[Nodes, list[Link]]:
    """[network] and links where a [fabric] says which nodes there are."""
    table = reader.one("fabric", FabricTable)
    own = reader.one("network", NodesOfFabric)
    made = checked("fabric", fabric.expand, table)
    nodes = Nodes(hosts=made.hosts, switches=made.switches, sysctl=own.sysctl, of_nodes=made.sysctl)
    return nodes, [Link(a=[a], b=[b], mtu=table.mtu, written=fabric.port_values(table, tier), of_fabric=True)
                   for a, b, tier in made.links]
