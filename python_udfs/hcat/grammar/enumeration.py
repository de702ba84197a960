"""SQL templates enumerated from a schema: every tree of joins along foreign keys, up to a cap."""

import itertools
from collections import defaultdict
from collections.abc import Iterator, Sequence

from hcat.grammar.column_names import describe_column
from hcat.grammar.criteria import Requirements, check_logic, determined_columns
from hcat.grammar.schema import Schema
from hcat.grammar.sql_templates import Join, Reference, SqlTemplate, canonical_template


def enumerate_sql_templates(schema: Schema, cap: int, wanted: Requirements) -> list[SqlTemplate]:
    """Return templates of select, project and joins along foreign keys that meet every criterion, up to a cap."""
    turns: dict[int, dict[str, list[SqlTemplate]]] = defaultdict(lambda: defaultdict(list))
    seen: set[SqlTemplate] = set()
    for tables, joins in _join_trees(schema, wanted.maximum_joins):
        for template in _templates_of(tables, joins, schema, wanted):
            if template not in seen:
                seen.add(template)
                turns[len(joins)][template.tables[template.selected[0].source]].append(template)
    levels = [_take_turns([turns[level][name] for name in sorted(turns[level])]) for level in sorted(turns)]
    return _take_turns(levels)[:cap]


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
    tables: tuple[str, ...], joins: tuple[Join, ...], schema: Schema, wanted: Requirements
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
    links = [source for join in joins for source in (join.child, join.parent)]
    leaves = {source for source in range(len(tables)) if links.count(source) <= 1}
    closures: dict[frozenset[Reference], frozenset[Reference]] = {}
    for count in range(1, wanted.maximum_placeholders + 1):
        for conditions in itertools.combinations(given, count):
            chosen = frozenset(conditions)
            closure = determined_columns(tables, joins, conditions, schema)
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
                    if not leaves <= used:
                        continue
                    template = canonical_template(tables, joins, selected, conditions)
                    if all(check.outcome == "met" for check in check_logic(template, schema, wanted, ())):
                        yield template
