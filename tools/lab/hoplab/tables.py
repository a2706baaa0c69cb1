# SPDX-License-Identifier: GPL-2.0
"""A table of a scenario file, read into a dataclass.

A field whose type has a kind (kinds.py) is a key of the table; its default is the key's. A fault is
one line: the place in the file and what is allowed there.
"""
import dataclasses
import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar, get_args, get_origin, get_type_hints

from . import LabError
from .kinds import Kind, T

Table = TypeVar("Table")
Params = dict[str, Any]
REQUIRED = object()
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


def fill(place: str, value: Any, params: Params) -> Any:
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
