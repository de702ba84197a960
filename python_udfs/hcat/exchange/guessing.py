"""A first `warehouse.yml` for a warehouse: which tables hold questions and answers, by the names of their columns."""

import re
from collections.abc import Sequence
from typing import Any, Final

import yaml

from hcat.exchange.connections import address_of, open_warehouse, passwords_of
from hcat.exchange.pushing import LEDGER
from hcat.landing.aliases import CONTRACT, known_names, plain_name
from hcat.landing.calls import CALLS
from hcat.landing.contexts import LOOKS
from hcat.landing.raw_contract import ENTITIES, canonical_columns

_TELLING: Final = {entity: set(names.split()) for entity, names in CONTRACT["telling_columns"].items()}
_CONTENT: Final = CONTRACT["columns_of_content"].split()
_PASSAGES: Final = known_names(["contexts"]).union(LOOKS)


def guess_exchange(uri: str) -> tuple[list[tuple[str, str]], str]:
    """Return which tables of a warehouse seem to hold logs, in words, and the file that pulls them."""
    if passwords_of(uri):
        raise ValueError("--from holds a password, which no file may keep: leave it out, and set PGPASSWORD")
    target = address_of(uri)
    with open_warehouse(target) as warehouse:
        listed = warehouse.list_tables("columns")
    tables = [(schema, *each) for schema, found in listed.items() if LEDGER not in found for each in found.items()]
    streams: dict[str, dict[str, Any]] = {}
    lines = []
    for schema, table, columns in sorted(tables):
        shape, key = guess_shape(columns)
        if shape:
            name = re.sub(r"[^a-z0-9]+", "_", table.casefold()).strip("_") or "logs"
            stream = {"as": shape, "table": [schema, table], "key": key}
            streams[f"{name}_{len(streams)}" if name in streams else name] = stream
            lines.append(("guessed", f"{schema}.{table} holds {shape}: {', '.join(columns)}"))
    if not streams:
        raise ValueError(f"{target.shown}: none of {len(tables)} tables has columns such as question and answer")
    stated = {"connection": {"uri": uri}, "pull": streams, "push": {"schema": "hcat"}}
    head = "# Guessed by the names of columns: look at each table before `hcat pull` (docs/warehouses.md).\n"
    return lines, head + yaml.safe_dump(stated, sort_keys=False, allow_unicode=True)


def guess_shape(columns: Sequence[str]) -> tuple[str | None, list[str]]:
    """Return what a table with these columns holds, None if it is no log, and the columns of its key."""
    found: list[tuple[int, str, list[str]]] = []
    for entity in ENTITIES.values():
        ours = {column: name for name, column in canonical_columns(entity, columns).items()}
        if all(each in ours for each in entity.required) and ours.keys() & _TELLING.get(entity.name, ours.keys()):
            key = [entity.key] if entity.key else [each for each in entity.required if each not in _CONTENT]
            found.append((len(ours), entity.name, [ours[each] for each in key]))
    # the first of equals: interactions before what belongs to them
    _, name, key = max(found, key=lambda each: each[0], default=(0, None, []))
    has_passages = not _PASSAGES.isdisjoint(map(plain_name, columns))
    return CALLS if name == "interactions" and has_passages else name, key
