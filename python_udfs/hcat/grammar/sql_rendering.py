"""SQL of a template: the line that people edit, and the statements that run, with quoted names and bound values."""

import re
from collections.abc import Iterator

from hcat.engine.relations import reserved_words
from hcat.engine.warehouse import quote
from hcat.grammar.schema import Schema
from hcat.grammar.sql_templates import Join, Placeholder, Reference, SqlTemplate

_PLAIN_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)


def write_sql_template(template: SqlTemplate) -> str:
    """Return the template as the line of text that people edit; reading it gives the same template."""
    several = len(template.tables) > 1

    def name(text: str) -> str:
        is_plain = _PLAIN_NAME.fullmatch(text) and text.casefold() not in reserved_words()
        return text if is_plain else quote(text)

    def column(place: Reference) -> str:
        return f"t{place.source + 1}.{name(place.column)}" if several else name(place.column)

    def source(place: int) -> str:
        return f"{name(template.tables[place])} t{place + 1}" if several else name(template.tables[place])

    text = f"SELECT {', '.join(map(column, template.selected))} FROM {source(0)}"
    for place, join in _join_order(template):
        text += f" JOIN {source(place)} ON {' AND '.join(f'{column(a)} = {column(b)}' for a, b in join.equalities)}"
    conditions = (
        f"{column(place)} = '{Placeholder(template.tables[place.source], place.column)}'"
        for place in template.conditions
    )
    return f"{text} WHERE {' AND '.join(conditions)};"


def render_query(template: SqlTemplate, schema: Schema) -> tuple[str, list[Placeholder]]:
    """Return the SQL to run for one filling, quoted names and ``?`` for values, and the placeholder of each value."""
    conditions = " and ".join(f"{_quote(place, template, schema)} = ?" for place in template.conditions)
    columns = [_quote(place, template, schema) for place in template.selected]
    order = ", ".join(str(number) for number in range(1, len(columns) + 1))
    sql = f"select distinct {', '.join(columns)} {_from(template, schema)} where {conditions} order by {order}"
    return sql, [Placeholder(template.tables[place.source], place.column) for place in template.conditions]


def render_values(placeholder: Placeholder, schema: Schema) -> str:
    """Return SQL for the distinct values of a placeholder, ordered and without null."""
    template = SqlTemplate((placeholder.table,), (), (Reference(0, placeholder.column),), ())
    column = _quote(template.selected[0], template, schema)
    return f"select distinct {column} {_from(template, schema)} where {column} is not null order by 1"


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
    _, column = schema.find(template.tables[place.source], place.column)
    return f"t{place.source + 1}.{quote(column.name)}"


def _from(template: SqlTemplate, schema: Schema) -> str:
    def relation(source: int) -> str:
        table = schema.table(template.tables[source])
        if table is None:
            raise ValueError(f"the schema has no table {template.tables[source]}")
        names = (table.name,) if table.namespace is None else (table.namespace, table.name)
        return f"{'.'.join(map(quote, names))} as t{source + 1}"

    text = f"from {relation(0)}"
    for source, join in _join_order(template):
        pairs = (f"{_quote(one, template, schema)} = {_quote(two, template, schema)}" for one, two in join.equalities)
        text += f" inner join {relation(source)} on {' and '.join(pairs)}"
    return text
