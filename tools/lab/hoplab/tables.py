# SPDX-License-Identifier: GPL-2.0
"""A table of a scenario file, read into a dataclass.

A field whose type has a kind (kinds.py) is a key of the table; its default is the key's. A fault is
one line: the place in the file and what is allowed there.
"""
import ast
import dataclasses
import difflib
import operator
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar, get_args, get_origin, get_type_hints

from . import LabError
from .kinds import Kind, T

Table = TypeVar("Table")
Params = dict[str, Any]
REQUIRED = object()
ARITHMETIC: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod}
# Keys that are Python's own words: the field has another name.
RENAMED = {"sources": "from", "targets": "to"}


class Fault(LabError):
    """Bad input, with its place."""


@dataclass(frozen=True)
class Key:
    """One key of a table."""
    name: str       # in the file
    field: str      # in the dataclass
    kind: Kind[Any]
    default: Any    # REQUIRED: there is none


# Results of keys_of(), by dataclass.
KEYS: dict[Any, tuple[Key, ...]] = {}


def checked(place: str, kind: Kind[T], value: Any) -> T:
    try:
        return kind(value)
    except ValueError as error:
        raise Fault(f"{place}: {error}") from None


def known_keys(place: str, table: Any, allowed: Iterable[str]) -> None:
    allowed = list(allowed)
    if not isinstance(table, dict):
        raise Fault(f"{place}: write a table, with keys of: {' '.join(allowed)}")
    for key in table:
        if key not in allowed:
            near = difflib.get_close_matches(key, allowed, 1)
            hint = f" (did you mean {near[0]!r}?)" if near else ""
            where = f"{place}: " if place else ""
            raise Fault(f"{where}unknown key {key!r}{hint}; allowed: {' '.join(allowed)}")


def computed(place: str, text: str, params: Params) -> int | float:
    """The value of {= arithmetic over parameters}; a whole number where the result is one."""
    def value(node: ast.expr) -> float:
        if isinstance(node, ast.BinOp) and type(node.op) in ARITHMETIC:
            found: float = ARITHMETIC[type(node.op)](value(node.left), value(node.right))
            return found
        if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
            return node.value
        if isinstance(node, ast.Name) and isinstance(params.get(node.id), (int, float)):
            return float(params[node.id])
        raise ValueError("allowed: numbers, + - * / // %, parameters that are numbers: "
                         f"{' '.join(k for k, v in params.items() if isinstance(v, (int, float)))}")
    try:
        found = value(ast.parse(text.strip(), mode="eval").body)
    except (SyntaxError, ValueError, ArithmeticError) as error:
        raise Fault(f"{place}: {{={text}}}: {error}") from None
    return int(found) if found == int(found) else found


def fill(place: str, value: Any, params: Params) -> Any:
    """Put parameters and {= arithmetic} in: alone they keep their type, within a string they are text."""
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
    if re.fullmatch(r"\{=[^{}]*\}", value):
        return computed(place, value[2:-1], params)
    value = re.sub(r"\{=([^{}]*)\}", lambda m: str(computed(place, m[1], params)), value)
    return re.sub(r"\{(\w+)\}", lambda m: str(params[m[1]]), value)


def kind_in(hint: Any) -> Kind[Any] | None:
    """The kind in a field's type, which may be optional."""
    for inner in (hint, *get_args(hint)):
        if get_origin(inner) is Annotated:
            kind: Kind[Any] = inner.__metadata__[0]
            return kind
    return None


def default_of(field: Any) -> Any:
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return REQUIRED if field.default is dataclasses.MISSING else field.default


def keys_of(table: Any) -> tuple[Key, ...]:
    """The keys of a table, in the order of its dataclass."""
    if table not in KEYS:
        hints = get_type_hints(table, include_extras=True)
        found = ((field, kind_in(hints[field.name])) for field in dataclasses.fields(table))
        KEYS[table] = tuple(Key(RENAMED.get(field.name, field.name), field.name, kind, default_of(field))
                            for field, kind in found if kind)
    return KEYS[table]


def values(place: str, keys: Iterable[Key], raw: Any, params: Params) -> dict[str, Any]:
    """field -> value, of the keys that the file has."""
    keys = list(keys)
    known_keys(place, raw, [key.name for key in keys])
    found = {}
    for key in keys:
        if key.name in raw:
            value = fill(f"{place}: {key.name}", raw[key.name], params)
            found[key.field] = checked(f"{place}: {key.name}", key.kind, value)
        elif key.default is REQUIRED:
            raise Fault(f"{place}: {key.name!r} is missing")
    return found


def read(place: str, table: type[Table], raw: Any, params: Params) -> Table:
    return table(**values(place, keys_of(table), raw, params))
