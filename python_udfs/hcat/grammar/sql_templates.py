"""SQL templates: their types, and a strict reader that brings every spelling of a query logic into one form."""

import itertools
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from hcat.engine.keys import hash_text
from hcat.engine.relations import parse_sql
from hcat.grammar.schema import ForeignKey, Schema, Table

MAXIMUM_TEMPLATE_CHARACTERS: Final = 4_000
MAXIMUM_SOURCES: Final = 6


#: A placeholder of a text, in quotes or not, and its parts.
_BRACKETS = re.compile(r"'?(\[[^\[\]'\"\n]*\])'?")
_PLACEHOLDER = re.compile(r"\[([^\[\].]+)\.([^\[\].]+)\]")


class TemplateError(ValueError):
    """A text that is no template; ``criterion`` says which one it breaks and the message why."""

    def __init__(self, criterion: str, reason: str) -> None:
        super().__init__(reason)
        self.criterion = criterion


class Reference(NamedTuple):
    """A column of one source; a source is one table of FROM or JOIN, by its position."""

    source: int
    column: str


class Placeholder(NamedTuple):
    """What a value is filled into: a column of a table, written [Table.Column]."""

    table: str
    column: str

    def __str__(self) -> str:
        return f"[{self.table}.{self.column}]"


class Join(NamedTuple):
    """A foreign key between two sources: its columns lie in ``child`` and refer to ``parent``."""

    child: int
    parent: int
    foreign_key: ForeignKey

    @property
    def equalities(self) -> list[tuple[Reference, Reference]]:
        """Columns of the child and of the parent that the join makes equal."""
        key = self.foreign_key
        return [
            (Reference(self.child, one), Reference(self.parent, two))
            for one, two in zip(key.columns, key.referenced_columns, strict=True)
        ]


@dataclass(frozen=True, slots=True)
class SqlTemplate:
    """A query logic in canonical form: two templates of the same logic are equal, whatever their aliases and order."""

    tables: tuple[str, ...]
    joins: tuple[Join, ...]
    selected: tuple[Reference, ...]
    conditions: tuple[Reference, ...]

    @property
    def placeholders(self) -> tuple[Placeholder, ...]:
        """Distinct placeholders, ordered by table and column."""
        return tuple(sorted({Placeholder(self.tables[place.source], place.column) for place in self.conditions}))

    @property
    def sql_template_id(self) -> str:
        """Content key: the same logic has the same id."""
        joins = (f"{join.child}>{join.parent}:{'+'.join(join.foreign_key.columns)}" for join in self.joins)
        places = (f"{place.source}.{place.column}" for place in (*self.selected, Reference(-1, ""), *self.conditions))
        return hash_text("sql_template", *self.tables, "", *joins, "", *places)


@dataclass(slots=True)
class _Parsed:
    """Names as they were written: (qualifier or None, column)."""

    sources: list[tuple[str, str]] = field(default_factory=list)
    selected: list[tuple[str | None, str]] = field(default_factory=list)
    joins: list[list[tuple[tuple[str | None, str], tuple[str | None, str]]]] = field(default_factory=list)
    conditions: list[tuple[tuple[str | None, str], Placeholder]] = field(default_factory=list)


def _parse(text: str) -> _Parsed:
    """Return the names of a template, read by DuckDB; whatever templates do not have is refused."""
    if len(text) > MAXIMUM_TEMPLATE_CHARACTERS:
        raise TemplateError(
            "well_formed", f"a template has at most {MAXIMUM_TEMPLATE_CHARACTERS} characters, this one has {len(text)}"
        )
    if "--" in text or "/*" in text:
        raise TemplateError("well_formed", "a template holds no comments")
    written = _BRACKETS.sub(r'"\1"', text).replace("`", '"')
    said = parse_sql(written)
    statements = said.get("statements", ())
    if said.get("error_type") == "not implemented" or len(statements) > 1:
        found = ", ".join(part.split()[0].upper()[:80] for part in text.split(";") if part.strip())
        raise TemplateError("select_only", f"a template is one statement, a SELECT query, got {found}")
    if not statements:
        raise TemplateError("well_formed", f"cannot read a SELECT: {said.get('error_message', 'got nothing')[:80]}")
    node, parsed = statements[0]["node"], _Parsed()
    if node["type"] != "SELECT_NODE" or node["cte_map"]["map"]:
        found = "WITH" if node["type"] == "SELECT_NODE" else node["type"]
        raise TemplateError("well_formed", f"got {found}, which templates do not have")
    # a plain DISTINCT is no other query: what runs is always distinct
    node["modifiers"] = [each for each in node["modifiers"] if each.get("distinct_on_targets", True)]
    _refuse(node, "modifiers", "group_expressions", "having", "qualify", "sample")
    for column in node["select_list"]:
        if column["class"] == "STAR":
            relation = f"{column['relation_name'][:80]}." if column["relation_name"] else ""
            raise TemplateError("columns_named", f"columns are selected by name, got {relation}*")
        parsed.selected.append(_read_column(column))
    _read_source(node["from_table"], parsed)
    if len(parsed.sources) > MAXIMUM_SOURCES:
        raise TemplateError(
            "well_formed", f"a template reads at most {MAXIMUM_SOURCES} tables, got {len(parsed.sources)}"
        )
    for left, right in _read_equalities(node["where_clause"]) if node["where_clause"] else ():
        parsed.conditions.append((_read_column(left), _read_placeholder(right)))
    if not parsed.conditions:
        raise TemplateError("has_placeholder", "WHERE must hold at least one placeholder, got none")
    return parsed


def _refuse(part: Mapping[str, Any], *names: str) -> None:
    """Refuse parts of a query; what runs is made of names alone, so that a part that is not listed is left out."""
    for value, name in ((part.get(name), name) for name in names):
        if value:
            found = value[0]["type"] if name == "modifiers" else name.upper()
            raise TemplateError("well_formed", f"got {found}, which templates do not have")


def _read_source(table: Mapping[str, Any], parsed: _Parsed) -> None:
    if table["type"] == "JOIN":
        _refuse(table, "using_columns")
        if (table["join_type"], table["ref_type"]) != ("INNER", "REGULAR") or table["right"]["type"] == "JOIN":
            kind = f"a {table['join_type']} {table['ref_type']} join"
            raise TemplateError("well_formed", f"tables are joined one by one by JOIN ... ON, got {kind}")
        _read_source(table["left"], parsed)
        _read_source(table["right"], parsed)
        pairs = _read_equalities(table["condition"])
        parsed.joins.append([(_read_column(left), _read_column(right)) for left, right in pairs])
        return
    if table["type"] != "BASE_TABLE":
        raise TemplateError("well_formed", f"expected FROM a table, got {table['type']}")
    _refuse(table, "schema_name", "catalog_name", "column_name_alias", "sample", "at_clause")
    parsed.sources.append((table["table_name"], table["alias"] or table["table_name"]))


def _read_equalities(condition: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    """Yield the sides of what is compared by = and joined by AND."""
    if condition["type"] == "CONJUNCTION_AND":
        for each in condition["children"]:
            yield from _read_equalities(each)
    elif condition["type"] == "COMPARE_EQUAL":
        yield condition["left"], condition["right"]
    else:
        raise TemplateError("well_formed", f"conditions compare by = and are joined by AND, got {condition['type']}")


def _read_column(column: Mapping[str, Any]) -> tuple[str | None, str]:
    if column["class"] != "COLUMN_REF" or len(column["column_names"]) > 2:
        raise TemplateError("well_formed", f"expected a column, got {column['type']}")
    _refuse(column, "alias")
    *qualifier, name = column["column_names"]
    return (qualifier[0] if qualifier else None), name


def _read_placeholder(value: Mapping[str, Any]) -> Placeholder:
    written = ".".join(value.get("column_names", [value["type"]]))
    match = _PLACEHOLDER.fullmatch(written)
    if match is not None:
        return Placeholder(match[1], match[2])
    if value["class"] == "CONSTANT":
        # not shown: a value that a person wrote into a template is somebody's data
        raise TemplateError(
            "placeholder_format", "values are not written but bound, compare with [Table.Column]; got a value"
        )
    raise TemplateError("placeholder_format", f"a column is compared with [Table.Column], got {written[:80]!r}")


def _resolve(parsed: _Parsed, schema: Schema) -> SqlTemplate:
    tables: list[Table] = []
    aliases: dict[str, int] = {}
    for position, (name, alias) in enumerate(parsed.sources):
        table = schema.table(name)
        if table is None:
            raise TemplateError("follows_schema", f"the schema has no table {name[:80]!r}")
        if aliases.setdefault(alias.casefold(), position) != position:
            raise TemplateError("follows_schema", f"the name {alias[:80]!r} stands for two tables")
        tables.append(table)

    def find(written: tuple[str | None, str], until: int) -> Reference:
        qualifier, name = written
        if qualifier is None:
            places = [place for place in range(until) if tables[place].column(name) is not None]
            if len(places) != 1:
                raise TemplateError(
                    "follows_schema", f"the column {name[:80]!r} must be of one table, {len(places)} have it"
                )
            place = places[0]
        else:
            found = aliases.get(qualifier.casefold())
            if found is None or found >= until:
                raise TemplateError("follows_schema", f"no table here is called {qualifier[:80]!r}")
            place = found
        column = tables[place].column(name)
        if column is None:
            raise TemplateError("follows_schema", f"the table {tables[place].name} has no column {name[:80]!r}")
        return Reference(place, column.name)

    joins = []
    for position, written in enumerate(parsed.joins, start=1):
        pairs = [(find(left, position + 1), find(right, position + 1)) for left, right in written]
        joins.append(_find_join(pairs, position, tables, schema))
    conditions = []
    for column, placeholder in parsed.conditions:
        place = find(column, len(tables))
        own = Placeholder(tables[place.source].name, place.column)
        if str(own).casefold() != str(placeholder).casefold():
            raise TemplateError(
                "placeholder_format",
                f"the placeholder must be {own}, of the column it is compared with, got {str(placeholder)[:80]}",
            )
        conditions.append(place)
    selected = [find(column, len(tables)) for column in parsed.selected]
    return canonical_template([table.name for table in tables], joins, selected, conditions)


def _find_join(
    pairs: Sequence[tuple[Reference, Reference]], position: int, tables: Sequence[Table], schema: Schema
) -> Join:
    """Return the foreign key whose columns these equalities pair; ``position`` is the source that the JOIN adds."""
    own = {left if left.source == position else right for left, right in pairs}
    others = {right if left.source == position else left for left, right in pairs}
    if {place.source for place in own} == {position} and len({place.source for place in others}) == 1:
        other = next(iter(others)).source
        wanted = {frozenset(pair) for pair in pairs}
        for key in schema.foreign_keys:
            for child, parent in ((position, other), (other, position)):
                join = Join(child, parent, key)
                is_between = (tables[child].name, tables[parent].name) == (key.table, key.referenced_table)
                if other != position and is_between and wanted == set(map(frozenset, join.equalities)):
                    return join
    raise TemplateError(
        "follows_schema", f"the table {tables[position].name} must be joined along one whole foreign key to one table"
    )


def canonical_template(
    tables: Sequence[str], joins: Iterable[Join], selected: Iterable[Reference], conditions: Iterable[Reference]
) -> SqlTemplate:
    """Return the template with sources, joins and columns in the one order that all spellings of it share."""
    joins, selected, conditions = tuple(joins), tuple(selected), tuple(conditions)
    groups: dict[str, list[int]] = defaultdict(list)
    for position, name in enumerate(tables):
        groups[name].append(position)
    candidates = []
    for arrangement in itertools.product(*(itertools.permutations(groups[name]) for name in sorted(groups))):
        order = [position for group in arrangement for position in group]
        moved = {old: new for new, old in enumerate(order)}
        placed = (Join(moved[join.child], moved[join.parent], join.foreign_key) for join in joins)
        candidates.append(
            SqlTemplate(
                tables=tuple(tables[old] for old in order),
                joins=tuple(sorted(placed, key=_place_of)),
                selected=tuple(sorted(Reference(moved[place.source], place.column) for place in selected)),
                conditions=tuple(sorted(Reference(moved[place.source], place.column) for place in conditions)),
            )
        )
    return min(candidates, key=lambda each: (list(map(_place_of, each.joins)), each.conditions, each.selected))


def _place_of(join: Join) -> tuple[int, int, tuple[str, ...]]:
    return join.child, join.parent, join.foreign_key.columns


def read_sql_template(text: str, schema: Schema) -> SqlTemplate:
    """Return the query logic of a template; the criteria about its meaning are not checked."""
    return _resolve(_parse(text), schema)
