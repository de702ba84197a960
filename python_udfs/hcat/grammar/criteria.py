"""Named criteria that every SQL template has to meet, whoever wrote it."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from hcat.grammar.column_names import describe_column
from hcat.grammar.schema import Schema
from hcat.grammar.sql_templates import Join, Reference, SqlTemplate, TemplateError, read_sql_template

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
    "specific_requirements",  # few joins, columns and placeholders
    "one_line",  # a template is one line without a prefix or a suffix
)


class Check(NamedTuple):
    """One criterion (:data:`CRITERIA`), its outcome, and why it is not met (empty if it is)."""

    criterion: str
    outcome: str  # met, broken, or undecided where an earlier one is broken or only the result of the query can tell
    reason: str


class TemplateReport(NamedTuple):
    """A text, the template it was read as (None if it could not be), and one check per criterion in their order."""

    text: str
    template: SqlTemplate | None
    checks: tuple[Check, ...]


class Requirements(NamedTuple):
    """The largest numbers of a template."""

    maximum_joins: int = 3
    maximum_columns: int = 3
    maximum_placeholders: int = 3


ENUMERATED: Final = Requirements(maximum_joins=2, maximum_columns=1, maximum_placeholders=2)
"""Of enumerated templates, because questions of people have few parts."""


def determined_columns(
    tables: Sequence[str],
    joins: Sequence[Join],
    known: Iterable[Reference],
    schema: Schema,
    *,
    trusts_unknown: bool = False,
) -> frozenset[Reference]:
    """Return the columns that have at most one value once the columns ``known`` are given (the closure)."""
    found = set(known)
    pairs = [pair for join in joins for pair in join.equalities]
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


def check_sql_template(text: str, schema: Schema, earlier: Iterable[SqlTemplate] = ()) -> TemplateReport:
    """Return one check per criterion for a template, whoever wrote it."""
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
    return TemplateReport(text, template, (*check_logic(template, schema, Requirements(), earlier), _check_line(text)))


def _check_line(text: str) -> Check:
    is_line = "\n" not in text.strip() and "\r" not in text.strip()
    return Check("one_line", *(("met", "") if is_line else ("broken", "a template is one line, got several")))


def check_logic(
    template: SqlTemplate, schema: Schema, requirements: Requirements, earlier: Iterable[SqlTemplate]
) -> Iterator[Check]:
    """Yield the checks of a template that could be read, all but that of its line."""
    void, technical = [], []
    for place in (*template.selected, *template.conditions):
        table, column = schema.find(template.tables[place.source], place.column)
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
    given = determined_columns(template.tables, template.joins, template.conditions, Schema(()))
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
    limits = (
        ("joins", len(template.joins), 0, requirements.maximum_joins),
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
