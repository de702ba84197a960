"""Queries with true answers from tables (GRAMMAR, Li et al. 2024): templates, criteria, queries and rejections."""

from __future__ import annotations

from typing import Any, Final

from hcat.engine.warehouse import Row, Warehouse
from hcat.language.display import clean_label, clean_text
from hcat.report.showing import format_percent, group_by, ratio

#: SQL templates shown at most, and characters of each.
MAXIMUM_TEMPLATES: Final = 40
SQL_CHARACTERS: Final = 300

#: The criteria of GRAMMAR, Table 4, in words. The first two are criteria of hcat and not in Table 4.
CRITERIA: Final = {
    "well_formed": "can be parsed: SELECT, projection, joins and equality with placeholders",
    "follows_schema": "tables and columns exist, and joins follow foreign keys",
    "placeholder_format": "a placeholder is a table and a column in square brackets",
    "select_only": "only SELECT statements",
    "columns_named": "columns are named, no *",
    "projection_not_in_predicate": "no projected column that the predicate already fixes",
    "columns_meaningful": "columns are meaningful to people",
    "columns_not_technical": "no technical columns",
    "not_redundant": "not redundant: no two templates of the same meaning",
    "has_placeholder": "at least one placeholder in WHERE",
    "single_answer": "a specific and single answer",
    "specific_requirements": "specific requirements of the user",
    "one_line": "one line, no prefix or suffix",
}
REASONS: Final = {
    "no_answer": "no row matches the values",
    "several_answers": "several distinct answers",
    "null_answer": "the answer is empty",
}

ORIGINS: Final = {
    "person": "people (seeds)",
    "imported": "imported files",
    "language_model": "a language model",
    "enumerated": "the enumerator",
}

LIST_TEMPLATES = """
select
    counts.*,
    templates.sql_template,
    templates.count_joins,
    rejected.reasons
from fct_grammar_counts as counts
inner join fct_grammar_templates as templates
    on counts.sql_template_id = templates.sql_template_id and templates.template_status = 'accepted'
left join (
    select sql_template_id, string_agg(reason || ' ' || count_rejected, ', ' order by reason) as reasons
    from (
        select sql_template_id, reason, count(*) as count_rejected
        from fct_rejected_grammar_queries
        group by sql_template_id, reason
    )
    group by sql_template_id
) as rejected on counts.sql_template_id = rejected.sql_template_id
order by templates.template_number
"""

COUNT_CRITERIA = """
select
    criterion,
    count(*) filter (where outcome = 'met') as count_met,
    count(*) filter (where outcome = 'broken') as count_broken,
    count(*) filter (where outcome = 'undecided') as count_undecided
from fct_grammar_checks
group by criterion
"""

COUNT_ORIGINS = """
select 'SQL templates' as kind, origin, template_status as status, count(*) as count_members
from fct_grammar_templates
group by origin, template_status
union all
select 'text templates' as kind, origin, text_status as status, count(*) as count_members
from fct_grammar_texts
group by origin, text_status
order by kind, origin, count_members desc, status
"""

COUNT_REJECTED = """
select reason, count(*) as count_rejected
from fct_rejected_grammar_queries
group by reason
order by count_rejected desc, reason
"""

COUNT_QUERIES = """
select hypothesis, style, count(*) as count_queries, count(distinct query_group) as count_groups
from fct_grammar_queries
group by hypothesis, style
order by hypothesis, style
"""

COUNT_KINDS = """
select
    difficulty,
    answer_type,
    count(distinct sql_template_id) as count_templates,
    count(distinct query_group) as count_groups,
    count(*) as count_queries
from fct_grammar_queries
group by difficulty, answer_type
order by min(count_joins), answer_type
"""

COUNT_ASKED_BY = """
select placeholder, count(distinct sql_template_id) as count_templates
from (
    select sql_template_id, unnest(placeholders) as placeholder
    from fct_grammar_templates
    where template_status = 'accepted'
)
group by placeholder
order by placeholder
"""

COUNT_ANSWERED = """
select count(distinct queries.query_id) as count_answered
from fct_grammar_queries as queries
inner join fct_interactions as interactions on queries.query_id = interactions.query_id
"""

COUNT_CALLS = """
select model, call_status, count(*) as count_calls, sum(prompt_tokens + completion_tokens) as count_tokens
from fct_grammar_calls
group by model, call_status
order by model, call_status
"""


def describe_grammar(source: Warehouse) -> dict[str, Any] | None:
    """Return templates, criteria, fillings and queries made from tables; None where this warehouse made none."""
    marts = ["fct_grammar_counts", "fct_grammar_templates", "fct_rejected_grammar_queries"]
    templates = source.rows(LIST_TEMPLATES, marts)
    if not templates:
        return None
    criteria = {row["criterion"]: row for row in source.rows(COUNT_CRITERIA, ["fct_grammar_checks"])}
    answered = source.rows(COUNT_ANSWERED, ["fct_grammar_queries", "fct_interactions.query_id"])
    count_queries = sum(row["count_queries"] for row in templates)
    numbers_of_texts = [row["count_texts"] for row in templates]
    return {
        "count_templates": len(templates),
        "count_groups": sum(row["count_groups"] for row in templates),
        "count_queries": count_queries,
        "texts": " to ".join(map(str, sorted({min(numbers_of_texts), max(numbers_of_texts)}))),
        "count_fillings": sum(row["count_fillings"] for row in templates),
        "count_possible": sum(row["count_fillings_possible"] for row in templates),
        "answered": None
        if not answered
        else {
            "count": answered[0]["count_answered"],
            "share": format_percent(ratio(answered[0]["count_answered"], count_queries)),
        },
        "templates": [_describe_template(row) for row in templates[:MAXIMUM_TEMPLATES]],
        "count_templates_left_out": max(0, len(templates) - MAXIMUM_TEMPLATES),
        "criteria": [
            {**criteria[name], "words": words, "is_of_table_4": name not in ("well_formed", "follows_schema")}
            for name, words in CRITERIA.items()
            if name in criteria
        ],
        "origins": _describe_origins(
            source.rows(COUNT_ORIGINS, ["fct_grammar_templates", "fct_grammar_texts", "fct_grammar_checks"])
        ),
        "reasons": [
            {**row, "words": REASONS.get(row["reason"], row["reason"])}
            for row in source.rows(COUNT_REJECTED, ["fct_rejected_grammar_queries"])
        ],
        "styles": source.rows(COUNT_QUERIES, ["fct_grammar_queries"]),
        "kinds": source.rows(COUNT_KINDS, ["fct_grammar_queries"]),
        "asked_by": [
            {**row, "placeholder": clean_label(row["placeholder"])}
            for row in source.rows(COUNT_ASKED_BY, ["fct_grammar_templates"])
        ],
        "calls": [
            {**row, "model": clean_label(row["model"])} for row in source.rows(COUNT_CALLS, ["fct_grammar_calls"])
        ],
    }


def _describe_template(row: Row) -> Row:
    return {
        **row,
        "sql_template": clean_text(row["sql_template"], SQL_CHARACTERS),
        "drawn": format_percent(ratio(row["count_fillings"], row["count_fillings_possible"])),
        "reasons": (row["reasons"] or "").replace("_", " "),
    }


def _describe_origins(rows: list[Row]) -> list[Row]:
    """Return one row per kind and origin, with the statuses of its members in words."""
    named = [{**row, "name": f"{row['kind']} of {ORIGINS.get(row['origin'], row['origin'])}"} for row in rows]
    return [
        {
            "name": name,
            "count_members": sum(row["count_members"] for row in members),
            "statuses": ", ".join(f"{row['status'].replace('_', ' ')} {row['count_members']:,}" for row in members),
        }
        for name, members in group_by(named, "name").items()
    ]
