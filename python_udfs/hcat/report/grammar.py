"""Queries with true answers from tables (GRAMMAR, Li et al. 2024): templates, criteria, queries and rejections."""

from __future__ import annotations

from typing import Final

from hcat.engine.warehouse import Row, Warehouse
from hcat.language.display import clean_label
from hcat.report import blocks
from hcat.report.blocks import Block
from hcat.report.showing import format_percent, ratio
from hcat.report.words import QUERIES, WORDS

CRITERIA: Final = WORDS["grammar"]["criteria"]


def describe_grammar(source: Warehouse) -> list[Block]:
    """Return templates, criteria and queries made from tables; nothing where this warehouse made none."""
    made = source.rows(QUERIES["count_templates"], ["fct_grammar_counts", "fct_grammar_templates"])
    if not made:
        return []
    criteria = {row["criterion"]: row for row in source.rows(QUERIES["count_criteria"], ["fct_grammar_checks"])}
    listed = [criteria[name] for name in CRITERIA if name in criteria]
    return blocks.keep(
        (
            blocks.heading("Queries with true answers from tables (GRAMMAR)"),
            blocks.paragraph(_tell_what_was_made(source, made[0])),
            blocks.fold(
                "Styles and criteria",
                blocks.table(
                    "Queries by style. A hypothesis compares two styles that ask for the same facts; it states a change"
                    " of wording that the application may not be robust against.",
                    ("hypothesis", "style", "count_queries", "count_groups=Facts"),
                    source.rows(QUERIES["count_queries"], ["fct_grammar_queries"]),
                ),
                blocks.table(
                    "Criteria of an SQL template (GRAMMAR, Table 4; the first two are hcat's), checked for every"
                    " template, whoever wrote it. Undecided: an earlier criterion is broken, or only the result of the"
                    " query can decide.",
                    ("criterion", "count_met", "count_broken", "count_undecided"),
                    listed,
                    words={"criterion": CRITERIA},
                ),
            ),
        )
    )


def _tell_what_was_made(source: Warehouse, made: Row) -> str:
    reasons = ", ".join(
        f"{row['count_rejected']:,} ({WORDS['grammar']['reasons'].get(row['reason'], row['reason'])})"
        for row in source.rows(QUERIES["count_rejected"], ["fct_rejected_grammar_queries"])
    )
    calls = "; ".join(
        f"{clean_label(row['model'])}, {blocks.say(row['call_status'])} {row['count_calls']:,},"
        f" {row['count_tokens']:,} tokens"
        for row in source.rows(QUERIES["count_calls"], ["fct_grammar_calls"])
    )
    texts = " to ".join(map(str, sorted({made["fewest_texts"], made["most_texts"]})))
    told = (
        f"{made['count_templates']:,} SQL templates with {texts} texts each and {made['count_groups']:,} facts give"
        f" {made['count_queries']:,} queries. SQL computes their true answers. Of {made['count_possible']:,}"
        f" combinations of values, {made['count_fillings']:,} were drawn by a seeded hash and run;"
        f" {f'left out: {reasons}' if reasons else 'each has a single answer'}."
    )
    for row in source.rows(QUERIES["count_answered"], ["fct_grammar_queries", "fct_interactions.query_id"]):
        share = format_percent(ratio(row["count_answered"], made["count_queries"]))
        told += f" Of these queries, {row['count_answered']:,} ({share}) were answered in the logs of this build."
    told += " fct_grammar_templates and fct_grammar_texts list each template with its author and its reason."
    return told + (f" Calls of a language model, without a row of a table in a prompt: {calls}." if calls else "")
