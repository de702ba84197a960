"""SQL templates: their types, and a strict reader that brings every spelling of a query logic into one form."""

import itertools
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from hcat.engine.keys import hash_text
from hcat.grammar.schema import ForeignKey, Schema, Table

MAXIMUM_TEMPLATE_CHARACTERS: Final = 4_000
MAXIMUM_SOURCES: Final = 6


_TOKEN = re.compile(
    r"""\s+
    |(?P<placeholder>'\[[^\[\]'"\n]*\]'|\[[^\[\]'"\n]*\])
    |(?P<quoted>"(?:[^"\n]|"")+"|`[^`"\n]+`)
    |(?P<string>'(?:[^'\n]|'')*')
    |(?P<comment>--|/\*)
    |(?P<word>[^\W\d][\w$]*)
    |(?P<number>\d[\d.]*)
    |(?P<sign><>|!=|<=|>=|[-,.;=*()<>+/%|&?:@{}!^~\\#$])""",
    re.VERBOSE,
)
_PLACEHOLDER = re.compile(r"'?\[([^\[\].]+)\.([^\[\].]+)\]'?")
_RESERVED_LIST = """
all and any as asc between by case cross desc distinct else end except exists fetch for from full group having in
inner intersect into is join lateral left like limit natural not null offset on or order outer qualify right select
set some then union unique using values when where window with
"""
RESERVED_WORDS = frozenset(_RESERVED_LIST.split())
_STATEMENTS_LIST = """
alter analyze attach begin call checkpoint commit copy create deallocate delete describe detach drop execute explain
export grant import insert install load merge pragma prepare replace reset revoke rollback set show truncate update
use vacuum values
"""
_STATEMENTS = frozenset(_STATEMENTS_LIST.split())


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


class _Token(NamedTuple):
    kind: str
    text: str


class _Reader:
    """Tokens of a template, read one after another."""

    def __init__(self, text: str) -> None:
        if len(text) > MAXIMUM_TEMPLATE_CHARACTERS:
            raise TemplateError(
                "well_formed",
                f"a template has at most {MAXIMUM_TEMPLATE_CHARACTERS} characters, this one has {len(text)}",
            )
        self.tokens: list[_Token] = []
        position = 0
        while position < len(text):
            match = _TOKEN.match(text, position)
            if match is None:
                raise TemplateError("well_formed", f"cannot read the character {text[position]!r} at {position}")
            if match.lastgroup == "comment":
                raise TemplateError("well_formed", "a template holds no comments")
            if match.lastgroup is not None:
                self.tokens.append(_Token(match.lastgroup, match.group()))
            position = match.end()
        self.position = 0

    def peek(self) -> _Token:
        return self.tokens[self.position] if self.position < len(self.tokens) else _Token("end", "the end")

    def take(self) -> _Token:
        token = self.peek()
        self.position += 1
        return token

    def accepts(self, *words: str) -> bool:
        """Take the next token if it is one of these key words or signs."""
        token = self.peek()
        if token.kind in ("word", "sign") and token.text.casefold() in words:
            self.position += 1
            return True
        return False

    def expect(self, word: str) -> None:
        if not self.accepts(word):
            raise TemplateError("well_formed", f"expected {word.upper()}, got {self.peek().text[:80]!r}")

    def name(self) -> str:
        token = self.take()
        if token.kind == "quoted":
            return token.text[1:-1].replace('""', '"')
        if token.kind == "word" and token.text.casefold() not in RESERVED_WORDS:
            return token.text
        raise TemplateError("well_formed", f"expected a name, got {token.text[:80]!r}")

    def column(self) -> tuple[str | None, str]:
        first = self.name()
        return (first, self.name()) if self.accepts(".") else (None, first)


def _parse(text: str) -> _Parsed:
    reader, parsed = _Reader(text), _Parsed()
    first = reader.peek()
    if first.kind == "word" and first.text.casefold() in _STATEMENTS:
        raise TemplateError("select_only", f"a template is a SELECT query, this one is {first.text.upper()[:80]}")
    if reader.accepts("with"):
        raise TemplateError("well_formed", "a template has no WITH")
    reader.expect("select")
    reader.accepts("distinct")
    while True:
        if reader.peek().text == "*":
            raise TemplateError("columns_named", "columns are selected by name, got *")
        name = reader.name()
        if reader.accepts("."):
            if reader.peek().text == "*":
                raise TemplateError("columns_named", f"columns are selected by name, got {name[:80]}.*")
            parsed.selected.append((name, reader.name()))
        else:
            parsed.selected.append((None, name))
        if not reader.accepts(","):
            break
    reader.expect("from")
    parsed.sources.append(_parse_source(reader))
    while reader.peek().text.casefold() in ("join", "inner"):
        reader.accepts("inner")
        reader.expect("join")
        parsed.sources.append(_parse_source(reader))
        reader.expect("on")
        equalities = []
        while True:
            left = reader.column()
            reader.expect("=")
            equalities.append((left, reader.column()))
            if not reader.accepts("and"):
                break
        parsed.joins.append(equalities)
    if len(parsed.sources) > MAXIMUM_SOURCES:
        raise TemplateError(
            "well_formed", f"a template reads at most {MAXIMUM_SOURCES} tables, got {len(parsed.sources)}"
        )
    if reader.accepts("where"):
        while True:
            column = reader.column()
            sign = reader.take()
            if sign.text != "=":
                raise TemplateError("well_formed", f"conditions compare by =, got {sign.text[:80]!r}")
            parsed.conditions.append((column, _parse_placeholder(reader.take())))
            if not reader.accepts("and"):
                break
    reader.accepts(";")
    if reader.peek().kind != "end":
        rest = reader.peek().text
        if reader.tokens[reader.position - 1].text == ";":
            raise TemplateError("select_only", f"a template is one statement, got {rest[:80]!r} after its end")
        raise TemplateError("well_formed", f"got {rest[:80]!r}, which templates do not have")
    if not parsed.conditions:
        raise TemplateError("has_placeholder", "WHERE must hold at least one placeholder, got none")
    return parsed


def _parse_source(reader: _Reader) -> tuple[str, str]:
    table = reader.name()
    has_alias = reader.accepts("as")
    token = reader.peek()
    is_name = token.kind == "quoted" or (token.kind == "word" and token.text.casefold() not in RESERVED_WORDS)
    return table, reader.name() if has_alias or is_name else table


def _parse_placeholder(token: _Token) -> Placeholder:
    if token.kind == "placeholder":
        match = _PLACEHOLDER.fullmatch(token.text)
        if match is not None:
            return Placeholder(match[1], match[2])
        raise TemplateError("placeholder_format", f"a placeholder is [Table.Column], got {token.text[:80]!r}")
    if token.kind in ("string", "number"):
        # not shown: a value that a person wrote into a template is somebody's data
        raise TemplateError(
            "placeholder_format", "values are not written but bound, compare with [Table.Column]; got a value"
        )
    raise TemplateError("placeholder_format", f"a column is compared with [Table.Column], got {token.text[:80]!r}")


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
