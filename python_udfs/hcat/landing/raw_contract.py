"""The raw contract: which entities and columns hcat reads, and under which names.

Every column lands as text, objects and lists as JSON text. The staging SQL assigns the types, where a reader can
challenge them. :mod:`hcat.landing.aliases` lists the other names of a column.
"""

import json
import math
from collections.abc import Iterable, Mapping
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from hcat.landing.aliases import ALIASES, CONTRACT, KEY_ALIASES, known_names, plain_name

#: Name of the entity whose records are looked for inside of what tools export.
SPANS = "spans"
#: Endings of a file of queries that a test set is written to and collected from.
QUERY_FILES = (".jsonl", ".csv")


@dataclass(frozen=True)
class Entity:
    """One raw entity."""

    name: str
    #: in the order in which they land
    columns: tuple[str, ...]
    required: tuple[str, ...]
    #: the column that id and _id mean
    key: str | None = None
    #: column -> key of ALIASES, where it is not the name of the column
    meanings: Mapping[str, str] = field(default_factory=dict)
    #: columns that hold objects and lists
    json: tuple[str, ...] = ()
    #: no part of the hash of a record
    beside_content: tuple[str, ...] = ()

    @cached_property
    def aliases(self) -> Mapping[str, str]:
        """Other accepted names, as :func:`plain_name` writes them -> column."""
        aliases = dict.fromkeys(KEY_ALIASES, self.key) if self.key else {}
        for column in self.columns:
            meaning = self.meanings.get(column, column)
            for name in (meaning, *ALIASES.get(meaning, ())):
                if name not in self.columns:
                    aliases.setdefault(name, column)
        return {name: column for name, column in aliases.items() if column is not None}


def _read_entity(name: str, given: Mapping[str, Any]) -> Entity:
    words = {field: tuple(value.split()) for field, value in given.items() if field not in ("key", "meanings")}
    return Entity(name, **{**given, **words})


ENTITIES: Mapping[str, Entity] = {name: _read_entity(name, given) for name, given in CONTRACT["entities"].items()}
#: Columns that hold a number. NaN there lands as a text, so that staging says why the record has no number.
NUMBER_COLUMNS = frozenset(CONTRACT["number_columns"].split())
_NUMBER_NAMES = known_names(NUMBER_COLUMNS)


class RecordError(ValueError):
    """A record that cannot be landed as it is; the message is the reason in the rejects table."""


def canonical_columns(entity: Entity, names: Iterable[str]) -> dict[str, str]:
    """Return the mapping from the names in a file to the canonical columns of an entity."""
    given = list(names)
    mapping = {name: name for name in given if name in entity.columns}
    for columns in ({column: column for column in entity.columns}, entity.aliases):
        for name in given:
            column = columns.get(plain_name(name))
            if name not in mapping and column is not None and column not in mapping.values():
                mapping[name] = column
    return {name: mapping[name] for name in given if name in mapping}


def without_constants(value: Any, is_number: bool = False) -> Any:
    """Return a value with null for NaN and infinity, which stand for what is missing, and names for number columns."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value) if is_number else None
    if isinstance(value, dict):
        # a copy keeps what was noted while the object was read
        kept = copy(value)
        kept.update(
            {name: without_constants(item, plain_name(str(name)) in _NUMBER_NAMES) for name, item in value.items()}
        )
        return kept
    if isinstance(value, list | tuple):
        return [without_constants(item) for item in value]
    return value


def to_text(value: Any) -> str | None:
    """Return ``value`` as the text that lands: None stays None, objects and lists become JSON, the rest ``str``."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict | list | tuple):
        return json.dumps(value, ensure_ascii=False, sort_keys=True, allow_nan=False, default=str)
    if isinstance(value, bytes):
        return value.decode("utf-8")
    if hasattr(value, "isoformat"):
        return str(value.isoformat())
    return str(value)


def json_kind(value: Any) -> str:
    """Return what JSON calls a value, for a message."""
    if value is None:
        return "null"
    kinds = {bool: "true or false", str: "text", int: "number", float: "number", list: "list", dict: "object"}
    return next((name for kind, name in kinds.items() if isinstance(value, kind)), type(value).__name__)


def show_record(record: Mapping[str, Any]) -> str:
    """Return a record for the rejects table: as JSON where JSON can hold it."""
    try:
        return to_text(dict(record)) or ""
    except (ValueError, RecursionError):
        return repr(record)
