"""A long relation read in parts: sorted whole, it would hold the memory of the engine until its last row is read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

#: Rows of a part: some 100 MB of the widest table, the ids of the sentences of an interaction.
PART_ROWS = 50_000


@dataclass(frozen=True, slots=True)
class Parts:
    """Rows of a relation in parts by the hash of a key, each part in order."""

    relation: Any
    key: str
    columns: str
    count_rows: int

    def relations(self) -> Iterator[Any]:
        """Yield one ordered relation for each part."""
        count = -(-self.count_rows // PART_ROWS)
        for part in range(count):
            rows = self.relation.filter(f"hash({self.key}) % {count} = {part}") if count > 1 else self.relation
            yield rows.order(self.columns)


@dataclass(frozen=True, slots=True)
class Groups:
    """Rows of a relation value by value of a column without null; it has few, for all rows are scanned for each."""

    relation: Any
    key: str
    columns: str

    def relations(self) -> Iterator[Any]:
        """Yield one ordered relation for each group."""
        values = self.relation.project(self.key).distinct().order(self.key).fetchall()
        for (value,) in values:
            if value is None:
                raise ValueError(f"{self.key} must not be null in rows that are read in groups of it")
            quoted = "'" + str(value).replace("'", "''") + "'"
            yield self.relation.filter(f"{self.key} = {quoted}").order(self.columns)
