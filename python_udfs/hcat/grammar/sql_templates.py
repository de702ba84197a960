"""SQL templates: read strictly, checked by named criteria, enumerated from a schema, rendered with bound parameters.

A template is `SELECT purpose FROM loans WHERE loan_number = '[loans.loan_number]';`: select, project and inner joins
along foreign keys, and conditions that compare a column with a placeholder of that very column (GRAMMAR, section 3.1).
The own grammar has no literals, functions, subqueries or other operators, so that neither a value nor a second
statement can stand in a template, whoever wrote it. What is run is never the text that was read: it is rendered anew
from the schema's names, in quotes, with one bound parameter per condition.

The criteria are those of GRAMMAR, Table 4, and `well_formed` and `follows_schema`, which a hand-edited template needs
before the others can be asked. That an answer is the only one is proven from keys and foreign keys (the closure of
functional dependencies), not guessed; what the schema cannot tell is `undecided`, and the result of the query decides.
"""

from __future__ import annotations

import itertools
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import pyarrow as pa

from hcat.engine.keys import hash_text
from hcat.grammar.schema import Column, ForeignKey, Schema, Table, quote_identifier

#: In the order in which they are asked; all but the first and the sixth are of GRAMMAR, Table 4.
CRITERIA: Final = (
    "well_formed",  # readable by the grammar of this module
    "select_only",  # one SELECT statement and nothing else
    "columns_named",  # columns by name, never *
    "placeholder_format",  # '[Table.Column]', of the column it is compared with
    "has_placeholder",  # at least one, in WHERE
    "follows_schema",  # tables and columns exist, joins go along foreign keys
    "columns_meaningful",  # names that people without technical knowledge understand
    "columns_not_technical",  # no record identifiers, load times and the like
    "projection_not_in_predicate",  # what is asked for is not given in the question
    "not_redundant",  # nothing twice, no join for nothing, no second template of the same meaning
    "single_answer",  # keys and foreign keys leave one answer
    "specific_requirements",  # what the person who asks wants on top
    "one_line",  # a template is one line without a prefix or a suffix
)

#: undecided: cannot be asked because an earlier criterion is broken, or only the result of the query can tell.
OUTCOMES: Final = ("met", "broken", "undecided")

#: Who wrote a template.
ORIGINS: Final = ("enumerated", "language_model", "person", "imported")

SQL_TEMPLATE_SCHEMA: Final = pa.schema(
    [
        ("sql_template_id", pa.string()),
        ("sql_template", pa.string()),
        ("origin", pa.string()),
        ("is_accepted", pa.bool_()),
        ("count_joins", pa.int64()),
        ("count_placeholders", pa.int64()),
        ("count_columns", pa.int64()),
        ("sql_query", pa.string()),
    ]
)
CRITERION_SCHEMA: Final = pa.schema(
    [
        ("sql_template", pa.string()),
        ("sql_template_id", pa.string()),
        ("criterion", pa.string()),
        ("outcome", pa.string()),
        ("reason", pa.string()),
    ]
)

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
_PLAIN_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_RESERVED_LIST = """
all and any as asc between by case cross desc distinct else end except exists fetch for from full group having in
inner intersect into is join lateral left like limit natural not null offset on or order outer qualify right select
set some then union unique using values when where window with
"""
_RESERVED = frozenset(_RESERVED_LIST.split())
_STATEMENTS_LIST = """
alter analyze attach begin call checkpoint commit copy create deallocate delete describe detach drop execute explain
export grant import insert install load merge pragma prepare replace reset revoke rollback set show truncate update
use vacuum values
"""
_STATEMENTS = frozenset(_STATEMENTS_LIST.split())
_WORDS = re.compile(r"[^\W\d_]+|\d+")
_IDENTIFIER_WORDS_LIST = """
id ids uid uuid guid key keys hash pk fk sk nk oid rowid checksum etag md5 sha
"""
_IDENTIFIER_WORDS = frozenset(_IDENTIFIER_WORDS_LIST.split())
_TECHNICAL_WORDS_LIST = """
dbt etl elt ingested ingestion loaded sys sysdate rowversion surrogate
"""
_TECHNICAL_WORDS = frozenset(_TECHNICAL_WORDS_LIST.split())
_HANDLED_LIST = "created updated modified inserted deleted changed synced extracted processed"
_TECHNICAL_ENDS = frozenset(
    (
        *((verb, "at") for verb in _HANDLED_LIST.split()),
        ("row", "number"),
        ("row", "version"),
        ("valid", "from"),
        ("valid", "to"),
    )
)
_VOID_WORDS_LIST = """
attr attribute aux c col cols column columns data dim f field fields fld flag foo info item misc num obj object
other raw str temp text tmp v val value values var x y z
"""
_VOID_WORDS = frozenset(_VOID_WORDS_LIST.split())
# numbers that people say although they are keys
_SPOKEN_ENDS = frozenset(("code", "number", "year"))
# abbreviations of banks that have no vowel and are words to a customer
_ABBREVIATIONS_LIST = """
atm bsb cfd crm fx gdp kpi ltv lgd npl pd pps sms ssn vat
"""
_ABBREVIATIONS = frozenset(_ABBREVIATIONS_LIST.split())


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


@dataclass(frozen=True, slots=True)
class SqlTemplate:
    """A query logic in canonical form: two templates of the same logic are equal, whatever their aliases and order.

    ``tables`` are the sources by position, names as the schema writes them; sources are a tree under ``joins``.
    Every condition compares a column with the placeholder of its table and column.
    """

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


class Check(NamedTuple):
    """One criterion (:data:`CRITERIA`), its outcome (:data:`OUTCOMES`), and why it is not met (empty if it is)."""

    criterion: str
    outcome: str
    reason: str


class TemplateReport(NamedTuple):
    """A text, the template it was read as (None if it could not be), and one check per criterion in their order."""

    text: str
    template: SqlTemplate | None
    checks: tuple[Check, ...]

    @property
    def is_accepted(self) -> bool:
        """Whether no criterion is broken and it can be run; an undecided answer is decided by the result."""
        return self.template is not None and all(check.outcome != "broken" for check in self.checks)


@dataclass(frozen=True, slots=True)
class Requirements:
    """What a person wants on top of the criteria. ``tables`` must all be among the sources of a template."""

    tables: frozenset[str] = frozenset()
    minimum_joins: int = 0
    maximum_joins: int = 3
    maximum_columns: int = 3
    maximum_placeholders: int = 3

    def __post_init__(self) -> None:
        """Refuse limits that no template can meet."""
        if not 0 <= self.minimum_joins <= self.maximum_joins < MAXIMUM_SOURCES:
            raise ValueError(
                f"joins must satisfy 0 <= minimum <= maximum < {MAXIMUM_SOURCES}, got {self.minimum_joins} and "
                f"{self.maximum_joins}"
            )
        if self.maximum_columns < 1 or self.maximum_placeholders < 1:
            raise ValueError(
                "maximum_columns and maximum_placeholders must be at least 1, got "
                f"{self.maximum_columns} and {self.maximum_placeholders}"
            )


class Enumeration(NamedTuple):
    """Templates up to the cap, in order, and how many there were before it."""

    templates: tuple[SqlTemplate, ...]
    count_possible: int


class RenderedQuery(NamedTuple):
    """SQL with ``?`` per parameter, and the placeholder whose value is bound to each of them, in order."""

    sql: str
    parameters: tuple[Placeholder, ...]


# ---- reading ----------------------------------------------------------------------------------------------------


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
        if token.kind == "word" and token.text.casefold() not in _RESERVED:
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
        start = reader.position
        name = reader.name()
        if reader.accepts("."):
            if reader.peek().text == "*":
                raise TemplateError("columns_named", f"columns are selected by name, got {name[:80]}.*")
            reader.position = start
            parsed.selected.append(reader.column())
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
        is_second = reader.tokens[reader.position - 1].text == ";"
        raise TemplateError(
            "select_only" if is_second else "well_formed",
            f"a template is one statement, got {rest[:80]!r} after its end"
            if is_second
            else f"got {rest[:80]!r}, which templates do not have",
        )
    if not parsed.conditions:
        raise TemplateError("has_placeholder", "WHERE must hold at least one placeholder, got none")
    return parsed


def _parse_source(reader: _Reader) -> tuple[str, str]:
    table = reader.name()
    has_alias = reader.accepts("as")
    token = reader.peek()
    is_name = token.kind == "quoted" or (token.kind == "word" and token.text.casefold() not in _RESERVED)
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


# ---- from names to a query logic ----------------------------------------------------------------------------------


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
                if (
                    other != position
                    and tables[child].name == key.table
                    and tables[parent].name == key.referenced_table
                    and wanted
                    == {
                        frozenset((Reference(child, one), Reference(parent, two)))
                        for one, two in zip(key.columns, key.referenced_columns, strict=True)
                    }
                ):
                    return Join(child, parent, key)
    raise TemplateError(
        "follows_schema", f"the table {tables[position].name} must be joined along one whole foreign key to one table"
    )


def canonical_template(
    tables: Sequence[str], joins: Iterable[Join], selected: Iterable[Reference], conditions: Iterable[Reference]
) -> SqlTemplate:
    """Return the template with sources, joins and columns in the one order that all spellings of it share.

    Sources are ordered by table; where a table is there more than once, the order that makes the rest smallest counts.
    """
    joins, selected, conditions = tuple(joins), tuple(selected), tuple(conditions)
    groups: dict[str, list[int]] = defaultdict(list)
    for position, name in enumerate(tables):
        groups[name].append(position)
    best: tuple[object, SqlTemplate] | None = None
    for arrangement in itertools.product(*(itertools.permutations(groups[name]) for name in sorted(groups))):
        order = [position for group in arrangement for position in group]
        moved = {old: new for new, old in enumerate(order)}
        candidate = SqlTemplate(
            tables=tuple(tables[old] for old in order),
            joins=tuple(
                sorted(
                    (Join(moved[join.child], moved[join.parent], join.foreign_key) for join in joins),
                    key=lambda join: (join.child, join.parent, join.foreign_key.columns),
                )
            ),
            selected=tuple(sorted(Reference(moved[place.source], place.column) for place in selected)),
            conditions=tuple(sorted(Reference(moved[place.source], place.column) for place in conditions)),
        )
        key = (
            [(join.child, join.parent, join.foreign_key.columns) for join in candidate.joins],
            candidate.conditions,
            candidate.selected,
        )
        if best is None or key < best[0]:  # type: ignore[operator]
            best = key, candidate
    if best is None:
        raise ValueError("a template reads one table at least, got none")
    return best[1]


def read_sql_template(text: str, schema: Schema) -> SqlTemplate:
    """Return the query logic of a template; the criteria on what it means are not asked.

    Raises
    ------
    TemplateError
        If it cannot be read, or names what the schema does not have.
    """
    return _resolve(_parse(text), schema)


# ---- criteria -------------------------------------------------------------------------------------------------


def split_words(name: str) -> list[str]:
    """Return the words of a name in lower case: ``BranchOrRegion`` -> branch, or, region.

    An abbreviation of capitals stays whole: ``IBANCode`` -> iban, code.
    """
    return [hump.lower() for part in _WORDS.findall(name) for hump in _cut_humps(part)]


def _cut_humps(part: str) -> list[str]:
    """Return a run of letters cut before a capital that follows a small letter or begins a word of its own."""
    starts = [0]
    for place in range(1, len(part)):
        begins_word = part[place + 1 : place + 2].islower()
        if part[place].isupper() and (not part[place - 1].isupper() or begins_word):
            starts.append(place)
    return [part[start:end] for start, end in zip(starts, [*starts[1:], len(part)], strict=True)]


def describe_column(column: Column, table: Table, schema: Schema) -> tuple[str, str]:
    """Return why people would not understand a column, and why it is technical; empty where there is no objection.

    A person's word (:attr:`Column.is_descriptive`) goes before the name.
    """
    if column.kind == "other":
        return f"{table.name}.{column.name} holds no text, number, date or boolean", ""
    if column.is_descriptive is not None:
        return "" if column.is_descriptive else f"{table.name}.{column.name} is declared not descriptive", ""
    words = split_words(column.name)
    letters = [word for word in words if not word.isdigit()]
    void = ""
    if not letters or all(word in _VOID_WORDS or len(word) < 2 for word in letters):
        void = f"{table.name}.{column.name} says nothing about what it holds"
    elif any(_is_unreadable(word) for word in letters):
        void = f"{table.name}.{column.name} is an abbreviation that people cannot read"
    return void, _find_technical(column, table, schema, words)


def _is_unreadable(word: str) -> bool:
    has_no_vowel = word.isascii() and not set(word) & set("aeiouy")
    return has_no_vowel and word not in _ABBREVIATIONS and word not in _IDENTIFIER_WORDS


def _find_technical(column: Column, table: Table, schema: Schema, words: Sequence[str]) -> str:
    name = f"{table.name}.{column.name}"
    if words and words[-1] in _IDENTIFIER_WORDS:
        return f"{name} is an identifier of records"
    if set(words) & _TECHNICAL_WORDS or tuple(words[-2:]) in _TECHNICAL_ENDS:
        return f"{name} describes how the row was stored"
    is_key = frozenset((column.name,)) in table.keys or any(
        key.table == table.name and column.name in key.columns for key in schema.foreign_keys
    )
    if is_key and column.kind == "number" and not (words and words[-1] in _SPOKEN_ENDS):
        return f"{name} is a number that only links tables"
    return ""


def determined_columns(
    tables: Sequence[str],
    joins: Sequence[Join],
    known: Iterable[Reference],
    schema: Schema,
    *,
    trusts_unknown: bool = False,
) -> frozenset[Reference]:
    """Return the columns that have at most one value once the columns ``known`` are given: the closure.

    A known key, or a column whose counts say that its values are unique, gives its whole row; a joined column gives
    its partner. ``trusts_unknown``: take columns whose counts nobody knows as unique.
    """
    found = set(known)
    pairs = [
        (Reference(join.child, one), Reference(join.parent, two))
        for join in joins
        for one, two in zip(join.foreign_key.columns, join.foreign_key.referenced_columns, strict=True)
    ]
    whole: set[int] = set()
    while True:
        before = len(found)
        for left, right in pairs:
            if left in found or right in found:
                found |= {left, right}
        for source, name in enumerate(tables):
            table = schema.table(name)
            if source in whole or table is None:
                continue
            held = {place.column for place in found if place.source == source}
            if any(key <= held for key in table.keys) or any(
                table.identifies(column) or (trusts_unknown and table.identifies(column) is None) for column in held
            ):
                whole.add(source)
                found |= {Reference(source, column.name) for column in table.columns}
        if len(found) == before:
            return frozenset(found)


def check_sql_template(
    text: str,
    schema: Schema,
    requirements: Requirements | None = None,
    earlier: Iterable[SqlTemplate] = (),
) -> TemplateReport:
    """Return one check per criterion for a template that anybody wrote.

    Parameters
    ----------
    text : str
        The template, hostile or not.
    schema : Schema
        What it may read.
    requirements : Requirements, optional
        Default: the limits of the class.
    earlier : iterable of SqlTemplate
        Templates that are there already: the same logic once more is redundant.
    """
    wanted = requirements or Requirements()
    try:
        template = read_sql_template(text, schema)
    except TemplateError as error:
        checks = [
            Check(error.criterion, "broken", str(error))
            if criterion == error.criterion
            else Check(criterion, "undecided", f"not asked: {error.criterion} is broken")
            for criterion in CRITERIA[:-1]
        ]
        return TemplateReport(text, None, (*checks, _check_line(text)))
    return TemplateReport(text, template, (*_check_logic(template, schema, wanted, earlier), _check_line(text)))


def check_sql_templates(
    texts: Iterable[str], schema: Schema, requirements: Requirements | None = None
) -> tuple[TemplateReport, ...]:
    """Return the reports of several templates in order; the second of the same logic is redundant."""
    reports: list[TemplateReport] = []
    earlier: list[SqlTemplate] = []
    for text in texts:
        report = check_sql_template(text, schema, requirements, earlier)
        if report.template is not None and report.is_accepted:
            earlier.append(report.template)
        reports.append(report)
    return tuple(reports)


def _check_line(text: str) -> Check:
    is_line = "\n" not in text.strip() and "\r" not in text.strip()
    return Check("one_line", *(("met", "") if is_line else ("broken", "a template is one line, got several")))


def _check_logic(
    template: SqlTemplate, schema: Schema, requirements: Requirements, earlier: Iterable[SqlTemplate]
) -> Iterator[Check]:
    """Yield the checks of a template that could be read, all but the one of its line."""
    void, technical = [], []
    for place in (*template.selected, *template.conditions):
        table = schema.table(template.tables[place.source])
        column = None if table is None else table.column(place.column)
        if table is not None and column is not None:
            one, two = describe_column(column, table, schema)
            void.append(one)
            technical.append(two)
    reasons = {
        "columns_meaningful": "; ".join(dict.fromkeys(filter(None, void))),
        "columns_not_technical": "; ".join(dict.fromkeys(filter(None, technical))),
        "projection_not_in_predicate": _find_given(template),
        "not_redundant": _find_redundant(template, earlier),
        "specific_requirements": _find_unwanted(template, requirements),
    }
    for criterion in CRITERIA[:-1]:
        if criterion == "single_answer":
            yield _check_single_answer(template, schema)
        else:
            reason = reasons.get(criterion, "")
            yield Check(criterion, "broken" if reason else "met", reason)


def _find_given(template: SqlTemplate) -> str:
    """Return which selected column the question gives already: itself, or through a joined column that equals it."""
    given = set(template.conditions)
    pairs = [
        {Reference(join.child, one), Reference(join.parent, two)}
        for join in template.joins
        for one, two in zip(join.foreign_key.columns, join.foreign_key.referenced_columns, strict=True)
    ]
    for _ in template.tables:
        for pair in pairs:
            if pair & given:
                given |= pair
    names = [f"{template.tables[place.source]}.{place.column}" for place in template.selected if place in given]
    return f"{', '.join(names)} is asked for and given by the condition" if names else ""


def _find_redundant(template: SqlTemplate, earlier: Iterable[SqlTemplate]) -> str:
    for places, clause in ((template.selected, "SELECT"), (template.conditions, "WHERE")):
        if len(set(places)) < len(places):
            return f"{clause} names a column twice"
    used = {place.source for place in (*template.selected, *template.conditions)}
    for source, name in enumerate(template.tables):
        links = [join for join in template.joins if source in (join.child, join.parent)]
        # a row of the referred table is always there and adds nothing; a row that refers here is a condition
        if source not in used and len(links) == 1 and links[0].parent == source:
            return f"the table {name} is joined but neither selected from nor restricted"
    if template in set(earlier):
        return "an earlier template asks the same"
    return ""


def _find_unwanted(template: SqlTemplate, requirements: Requirements) -> str:
    present = {name.casefold() for name in template.tables}
    missing = sorted(name for name in requirements.tables if name.casefold() not in present)
    if missing:
        return f"the tables {', '.join(missing)} are required and not read"
    limits = (
        ("joins", len(template.joins), requirements.minimum_joins, requirements.maximum_joins),
        ("columns", len(template.selected), 1, requirements.maximum_columns),
        ("placeholders", len(template.placeholders), 1, requirements.maximum_placeholders),
    )
    for name, count, low, high in limits:
        if not low <= count <= high:
            return f"{name} must lie in [{low}, {high}], got {count}"
    return ""


def _check_single_answer(template: SqlTemplate, schema: Schema) -> Check:
    for trusts_unknown, outcome in ((False, "met"), (True, "undecided")):
        found = determined_columns(
            template.tables, template.joins, template.conditions, schema, trusts_unknown=trusts_unknown
        )
        if found.issuperset(template.selected):
            reason = "" if outcome == "met" else "no key and no count tells whether the condition names one row"
            return Check("single_answer", outcome, reason)
    return Check("single_answer", "broken", "several rows can fit the condition: it covers no key of what is selected")


# ---- enumeration ------------------------------------------------------------------------------------------------


def enumerate_sql_templates(
    schema: Schema, cap: int, requirements: Requirements | None = None, *, accepts_undecided: bool = False
) -> Enumeration:
    """Return templates of select, project and joins along foreign keys that meet every criterion, up to a cap.

    Conditions are on text and date columns, and on numbers that are a key of their own and that people say (an account
    number). A condition that the others make needless is left out, so that fillings have rows. Templates with no
    join, one join and so on take turns, and so do the tables within: a cap keeps both kinds.

    Parameters
    ----------
    schema : Schema
        Tables, keys, counts.
    cap : int
        Templates wanted at most, at least 1.
    requirements : Requirements, optional
        Default: 2 joins, 1 column, 2 placeholders at most.
    accepts_undecided : bool
        Also templates whose single answer only the result can tell (no keys and no counts in the schema).
    """
    if cap < 1:
        raise ValueError(f"cap must be at least 1, got {cap}")
    wanted = requirements or Requirements(maximum_joins=2, maximum_columns=1, maximum_placeholders=2)
    turns: dict[int, dict[str, list[SqlTemplate]]] = defaultdict(lambda: defaultdict(list))
    seen: set[SqlTemplate] = set()
    for tables, joins in _join_trees(schema, wanted.maximum_joins):
        for template in _templates_of(tables, joins, schema, wanted, accepts_undecided):
            if template not in seen:
                seen.add(template)
                turns[len(joins)][template.tables[template.selected[0].source]].append(template)
    levels = [_take_turns([turns[level][name] for name in sorted(turns[level])]) for level in sorted(turns)]
    return Enumeration(tuple(_take_turns(levels)[:cap]), len(seen))


def _take_turns(groups: Sequence[Sequence[SqlTemplate]]) -> list[SqlTemplate]:
    rounds = itertools.zip_longest(*groups)
    return [template for row in rounds for template in row if template is not None]


def _join_trees(schema: Schema, maximum_joins: int) -> Iterator[tuple[tuple[str, ...], tuple[Join, ...]]]:
    """Yield every tree of tables along foreign keys once, smaller ones first."""
    trees: list[tuple[tuple[str, ...], tuple[Join, ...]]] = [((table.name,), ()) for table in schema.tables]
    seen: set[SqlTemplate] = set()
    for count in range(maximum_joins + 1):
        kept = []
        for tables, joins in trees:
            shape = canonical_template(tables, joins, (), ())
            if shape not in seen:
                seen.add(shape)
                kept.append((shape.tables, shape.joins))
        yield from kept
        if count == maximum_joins:
            return
        trees = []
        for tables, joins in kept:
            new = len(tables)
            for key, source in itertools.product(schema.foreign_keys, range(new)):
                # the same key from the same row once more is the same row, and a second row that refers to it (another
                # loan of the account) is nothing that people ask by
                has_parent = any(join.child == source and join.foreign_key == key for join in joins)
                has_child = any(join.parent == source and join.foreign_key == key for join in joins)
                if tables[source] == key.table and not has_parent:
                    trees.append(((*tables, key.referenced_table), (*joins, Join(source, new, key))))
                if tables[source] == key.referenced_table and not has_child:
                    trees.append(((*tables, key.table), (*joins, Join(new, source, key))))


def _templates_of(
    tables: tuple[str, ...], joins: tuple[Join, ...], schema: Schema, wanted: Requirements, accepts_undecided: bool
) -> Iterator[SqlTemplate]:
    askable, given = [], []
    for source, name in enumerate(tables):
        table = schema.table(name)
        for column in () if table is None else table.columns:
            if table is not None and not any(describe_column(column, table, schema)):
                askable.append(Reference(source, column.name))
                is_spoken_key = column.kind == "number" and frozenset((column.name,)) in table.keys
                if column.kind in ("text", "date") or is_spoken_key:
                    given.append(Reference(source, column.name))
    closures: dict[frozenset[Reference], frozenset[Reference]] = {}
    for count in range(1, wanted.maximum_placeholders + 1):
        for conditions in itertools.combinations(given, count):
            chosen = frozenset(conditions)
            closure = determined_columns(tables, joins, conditions, schema, trusts_unknown=accepts_undecided)
            closures[chosen] = closure
            # what fewer conditions determine needs no more of them; a value that another one determines is needless
            smaller = [
                closures[frozenset(part)]
                for size in range(1, count)
                for part in itertools.combinations(conditions, size)
            ]
            if any(len(part & chosen) == count for part in smaller):
                continue
            fresh = closure.difference(*smaller)
            free = [place for place in askable if place in fresh and place not in chosen]
            for size in range(1, wanted.maximum_columns + 1):
                for selected in itertools.combinations(free, size):
                    used = {place.source for place in (*selected, *conditions)}
                    if not _leaves(tables, joins) <= used:
                        continue
                    template = canonical_template(tables, joins, selected, conditions)
                    checks = list(_check_logic(template, schema, wanted, ()))
                    if all(check.outcome == "met" or _is_open(check, accepts_undecided) for check in checks):
                        yield template


def _is_open(check: Check, accepts_undecided: bool) -> bool:
    return accepts_undecided and check.criterion == "single_answer" and check.outcome == "undecided"


def _leaves(tables: Sequence[str], joins: Sequence[Join]) -> set[int]:
    links = [source for join in joins for source in (join.child, join.parent)]
    return {source for source in range(len(tables)) if links.count(source) <= 1}


# ---- writing ----------------------------------------------------------------------------------------------------


def write_sql_template(template: SqlTemplate) -> str:
    """Return the template as one line of text in the shape people edit; reading it gives the same template."""
    several = len(template.tables) > 1

    def name(text: str) -> str:
        is_plain = _PLAIN_NAME.fullmatch(text) and text.casefold() not in _RESERVED
        return text if is_plain else quote_identifier(text)

    def column(place: Reference) -> str:
        return f"t{place.source + 1}.{name(place.column)}" if several else name(place.column)

    def source(place: int) -> str:
        return f"{name(template.tables[place])} t{place + 1}" if several else name(template.tables[place])

    text = f"SELECT {', '.join(map(column, template.selected))} FROM {source(0)}"
    for place, join in _join_order(template):
        text += f" JOIN {source(place)} ON {' AND '.join(f'{column(a)} = {column(b)}' for a, b in _equalities(join))}"
    conditions = (
        f"{column(place)} = '{Placeholder(template.tables[place.source], place.column)}'"
        for place in template.conditions
    )
    return f"{text} WHERE {' AND '.join(conditions)};"


def render_query(template: SqlTemplate, schema: Schema) -> RenderedQuery:
    """Return the SQL to run for one filling: names quoted and only of the schema, values as parameters ``?``.

    Rows are distinct and ordered, so that the same data give the same result.

    Raises
    ------
    ValueError
        If the schema has not all the tables and columns of the template.
    """
    conditions = " and ".join(f"{_quote(place, template, schema)} = ?" for place in template.conditions)
    columns = [_quote(place, template, schema) for place in template.selected]
    sql = f"select distinct {', '.join(columns)} {_from(template, schema)} where {conditions} {_order(len(columns))}"
    parameters = tuple(Placeholder(template.tables[place.source], place.column) for place in template.conditions)
    return RenderedQuery(sql, parameters)


def render_fillings(template: SqlTemplate, schema: Schema) -> RenderedQuery:
    """Return SQL without parameters whose rows are the fillings that have an answer, and their answers.

    One column per placeholder (:attr:`RenderedQuery.parameters` names them), then the selected columns. Where two
    placeholders lie in two tables, most of the Cartesian product has no answer: here is the part that has one.
    A placeholder that two conditions share must have the same value in both.
    """
    first: dict[Placeholder, str] = {}
    same = []
    for place in template.conditions:
        column = _quote(place, template, schema)
        placeholder = Placeholder(template.tables[place.source], place.column)
        if first.setdefault(placeholder, column) != column:
            same.append(f"{first[placeholder]} = {column}")
    present = [f"{column} is not null" for column in first.values()]
    columns = [*first.values(), *(_quote(place, template, schema) for place in template.selected)]
    sql = f"select distinct {', '.join(columns)} {_from(template, schema)} where {' and '.join([*present, *same])}"
    return RenderedQuery(f"{sql} {_order(len(columns))}", tuple(first))


def render_values(placeholder: Placeholder, schema: Schema) -> str:
    """Return SQL for the distinct values that can be filled into a placeholder, in order, without null."""
    template = SqlTemplate((placeholder.table,), (), (Reference(0, placeholder.column),), ())
    column = _quote(template.selected[0], template, schema)
    return f"select distinct {column} {_from(template, schema)} where {column} is not null order by 1"


def reports_table(reports: Iterable[TemplateReport], origin: str, schema: Schema) -> pa.Table:
    """Return one row per template that could be read (schema :data:`SQL_TEMPLATE_SCHEMA`)."""
    if origin not in ORIGINS:
        raise ValueError(f"origin must be one of {', '.join(ORIGINS)}, got {origin!r}")
    rows = [
        {
            "sql_template_id": report.template.sql_template_id,
            "sql_template": write_sql_template(report.template),
            "origin": origin,
            "is_accepted": report.is_accepted,
            "count_joins": len(report.template.joins),
            "count_placeholders": len(report.template.placeholders),
            "count_columns": len(report.template.selected),
            "sql_query": render_query(report.template, schema).sql,
        }
        for report in reports
        if report.template is not None
    ]
    return pa.Table.from_pylist(rows, schema=SQL_TEMPLATE_SCHEMA)


def checks_table(reports: Iterable[TemplateReport]) -> pa.Table:
    """Return one row per template and criterion (schema :data:`CRITERION_SCHEMA`)."""
    rows = [
        {
            "sql_template": report.text,
            "sql_template_id": None if report.template is None else report.template.sql_template_id,
            **check._asdict(),
        }
        for report in reports
        for check in report.checks
    ]
    return pa.Table.from_pylist(rows, schema=CRITERION_SCHEMA)


def _equalities(join: Join) -> list[tuple[Reference, Reference]]:
    key = join.foreign_key
    return [
        (Reference(join.child, one), Reference(join.parent, two))
        for one, two in zip(key.columns, key.referenced_columns, strict=True)
    ]


def _join_order(template: SqlTemplate) -> Iterator[tuple[int, Join]]:
    """Yield the sources behind the first, each with the join to one that was there before it."""
    placed, left = {0}, list(template.joins)
    while left:
        join = next((join for join in left if (join.child in placed) != (join.parent in placed)), None)
        if join is None:
            raise ValueError(f"the tables {', '.join(template.tables)} are not joined into one tree")
        left.remove(join)
        new = join.parent if join.child in placed else join.child
        placed.add(new)
        yield new, join


def _quote(place: Reference, template: SqlTemplate, schema: Schema) -> str:
    table = schema.table(template.tables[place.source])
    column = None if table is None else table.column(place.column)
    if column is None:
        raise ValueError(f"the schema has no column {template.tables[place.source]}.{place.column}")
    return f"t{place.source + 1}.{quote_identifier(column.name)}"


def _from(template: SqlTemplate, schema: Schema) -> str:
    def relation(source: int) -> str:
        table = schema.table(template.tables[source])
        if table is None:
            raise ValueError(f"the schema has no table {template.tables[source]}")
        names = (table.name,) if table.namespace is None else (table.namespace, table.name)
        return f"{'.'.join(map(quote_identifier, names))} as t{source + 1}"

    text = f"from {relation(0)}"
    for source, join in _join_order(template):
        pairs = (f"{_quote(one, template, schema)} = {_quote(two, template, schema)}" for one, two in _equalities(join))
        text += f" inner join {relation(source)} on {' and '.join(pairs)}"
    return text


def _order(count: int) -> str:
    return f"order by {', '.join(str(number) for number in range(1, count + 1))}"
