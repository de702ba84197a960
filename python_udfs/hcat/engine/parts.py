"""A relation that is read in parts: for tables that grow with the logs.

A table that is sorted whole holds the memory of the engine until its last row is read, and the model that runs beside
it finds none. A part is small.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

#: Rows of a part: some 100 MB of the widest table, the ids of the sentences of an interaction.
PART_ROWS = 50_000


@dataclass(frozen=True, slots=True)
class Parts:
    """Rows of a relation in parts by the hash of a key, each part in order.

    Parameters
    ----------
    relation : DuckDBPyRelation
        All rows.
    key : str
        Column whose equal values stand in one part.
    columns : str
        Order within a part.
    count_rows : int
        Rows of all parts.

    Examples
    --------
    >>> import duckdb
    >>> work = Parts(duckdb.sql("select range as number from range(100000)"), "number", "number", 100_000)
    >>> len(list(work.relations())), sum(len(part) for part in work.relations())
    (2, 100000)
    """

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
    """Rows of a relation group by group, in the order of the groups, each group in order.

    Parameters
    ----------
    relation : DuckDBPyRelation
        All rows.
    key : str
        Column of texts without nulls. It has few values, because all rows are scanned for each of them.
    columns : str
        Order of all rows; it begins with `key`.

    Raises
    ------
    ValueError
        If the key of a row is null.

    Examples
    --------
    >>> import duckdb
    >>> scores = duckdb.sql("select * from (values ('b', 3), ('a', 2), ('b', 1)) as scores (metric, score)")
    >>> [group.fetchall() for group in Groups(scores, "metric", "metric, score").relations()]
    [[('a', 2)], [('b', 1), ('b', 3)]]
    """

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
