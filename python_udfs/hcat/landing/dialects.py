"""Dialects in which tools write spans: at which keys the fields of a record stand (``span_dialects.yml``)."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

from hcat.landing.aliases import CONTRACT

#: Shipped beside this module; a project adds to it with a file of the same name beside its dbt_project.yml.
DIALECTS_FILE: Final = "span_dialects.yml"

#: What a span is by its kind; a kind with two roles has the first one.
_ROLES: Final = ("chain", "model", "retriever", "reranker", "tool")
_FIELDS: Final = tuple(CONTRACT["fields_of_dialects"].split())
#: Keys below which a query, an answer or documents stand, told by what they are where no field names their key.
_AROUND: Final = ("inputs", "outputs", "documents")
_OTHERS: Final = ("recognised_by", "texts_are_json", "model_may_answer", "people", "kind", "roles", *_AROUND)
_WRITTEN_KEY: Final = re.compile(r"(?P<key>\S+)(?: if (?:(?P<text>text)|(?P<other>\S+) is (?P<word>.+)))?")


class DialectError(ValueError):
    """A file of dialects that cannot be used; the message names the dialect."""


@dataclass(frozen=True, slots=True)
class Place:
    """One key at which a field may stand, and when its value counts; a smaller priority goes first."""

    field: str
    priority: int
    is_text_alone: bool = False
    other_key: str | None = None
    word: str | None = None


@dataclass(frozen=True, slots=True)
class Dialect:
    """What the spans of a tool say, and where."""

    name: str
    recognised_by: frozenset[str]
    kinds: Sequence[str]
    roles: Mapping[str, str]
    people: frozenset[str]
    texts_are_json: bool
    model_may_answer: bool
    places: Mapping[str, Sequence[Place]]
    inputs: Sequence[str] = ()
    outputs: Sequence[str] = ()
    documents: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Dialects:
    """All dialects in order of precedence, and the ratings that annotations by people stand for."""

    dialects: Sequence[Dialect]
    annotations: Sequence[Mapping[str, str | None]]

    @property
    def general(self) -> Dialect:
        """The one of traces that no other one reads: its keys are words with which keys end."""
        return next(each for each in self.dialects if each.name == "general")


def read_dialects(own: Path | None = None) -> Dialects:
    """Return the shipped dialects with what the file of a project adds, where it has one."""
    written = _read(Path(__file__).with_name(DIALECTS_FILE))
    if own is not None and own.is_file():
        written = _add(written, _read(own))
    dialects = [_read_dialect(name, given or {}) for name, given in (written.get("dialects") or {}).items()]
    return Dialects(dialects, [_read_annotation(each) for each in written.get("annotations") or []])


def _read(path: Path) -> dict[str, Any]:
    found = yaml.safe_load(path.read_text(encoding="utf-8")) or {}
    unknown = sorted(set(found) - {"dialects", "annotations"})
    if unknown:
        raise DialectError(f"{path.name} holds {unknown[0]}, and only dialects and annotations are read")
    return dict(found)


def _add(shipped: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
    """Return dialects with those of a project: its keys of a field stand before the shipped ones."""
    dialects = dict(shipped["dialects"])
    for name, given in (own.get("dialects") or {}).items():
        merged = dict(dialects.pop(name, {}))
        for field, value in (given or {}).items():
            if field == "roles":
                roles = {role: _as_list(kinds) for role, kinds in value.items()}
                before = merged.get("roles") or {}
                merged["roles"] = {**before, **{role: [*roles[role], *before.get(role, [])] for role in roles}}
            else:
                is_list = field not in ("texts_are_json", "model_may_answer")
                merged[field] = [*_as_list(value), *_as_list(merged.get(field))] if is_list else value
        dialects[name] = merged
    # a dialect keeps its place; new ones go before all
    order = [*(name for name in dialects if name not in shipped["dialects"]), *shipped["dialects"]]
    return {
        "dialects": {name: dialects[name] for name in order},
        "annotations": [*(own.get("annotations") or []), *(shipped.get("annotations") or [])],
    }


def _read_dialect(name: str, given: Mapping[str, Any]) -> Dialect:
    unknown = sorted(set(given) - {*_FIELDS, *_OTHERS})
    if unknown:
        raise DialectError(f"the dialect {name} has no field {unknown[0]}")
    if not given.get("recognised_by") or not given.get("kind"):
        raise DialectError(f"the dialect {name} needs recognised_by and kind")
    places: defaultdict[str, list[Place]] = defaultdict(list)
    for field in _FIELDS:
        for priority, written in enumerate(_as_list(given.get(field))):
            read = _WRITTEN_KEY.fullmatch(written)
            if read is None or "{" in written:
                raise DialectError(f"the dialect {name} has a key that cannot be read: {written}")
            place = Place(field, priority, read["text"] is not None, read["other"], read["word"])
            places[read["key"]].append(place)
    given_roles = given.get("roles") or {}
    roles = {kind.lower(): role for role in reversed(_ROLES) for kind in _as_list(given_roles.get(role))}
    return Dialect(
        name,
        frozenset(_as_list(given["recognised_by"])),
        _as_list(given["kind"]),
        roles,
        frozenset(each.lower() for each in _as_list(given.get("people"))),
        bool(given.get("texts_are_json")),
        bool(given.get("model_may_answer", True)),
        dict(places),
        *(_as_list(given.get(name)) for name in _AROUND),
    )


def _read_annotation(given: Mapping[str, Any]) -> dict[str, str | None]:
    names = ("name", "value", "criterion", "scale_point")
    if not given.get("name") or not given.get("criterion") or set(given) - set(names):
        raise DialectError(f"an annotation needs name and criterion and may have value and scale_point, got {given}")
    return {name: None if given.get(name) is None else str(given[name]) for name in names}


def _as_list(given: Any) -> list[str]:
    if given is None:
        return []
    return [str(each) for each in given] if isinstance(given, list) else [str(given)]
