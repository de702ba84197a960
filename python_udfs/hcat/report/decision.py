"""The first page: may each application go live, why, and which answers to read first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from hcat.engine.warehouse import Row, Warehouse
from hcat.language.display import clean_label, clean_text
from hcat.monitoring.decisions import DECISION_CHARACTERS, read_decisions, say_decision
from hcat.report import blocks
from hcat.report.blocks import Block, Column, Section
from hcat.report.showing import (
    ANSWER_CHARACTERS,
    EXCERPT_CHARACTERS,
    QUERY_CHARACTERS,
    SENTENCE_CHARACTERS,
    format_number,
    to_anchor,
)
from hcat.report.words import QUERIES, WORDS
from hcat.report.worst import show_cards

STATES: Final = WORDS["decision"]["states"]


def describe_decisions(source: Warehouse) -> list[dict[str, Any]]:
    """Return the first lines of each application, cleaned, with the state of its decision."""
    return [
        {
            "state": STATES[row["decision"]][0],
            "word": STATES[row["decision"]][1],
            "is_rated_by_people": bool(row["count_labels_by_people"]),
            "is_rated": bool(row["count_labels_by_people"] or row["count_labels_by_language_models"]),
            "lines": [clean_label(line, DECISION_CHARACTERS) for line in say_decision(source, row)],
        }
        for row in read_decisions(source)
    ]


def list_signers(applications: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return who signs: the owners that the seed names, and a validator."""
    owners = dict.fromkeys(clean_label(row["owner_role"]) for row in applications if row["owner_role"])
    return [*owners, "an independent validator"]


def list_to_read(source: Warehouse) -> list[Row]:
    """Return the answers to read first, one of each question."""
    return source.rows(
        QUERIES["list_to_read"],
        ["fct_verdicts.reading_rank", "fct_interactions", "fct_evaluations", "dim_metrics.is_deciding"],
        # one character more than is shown, so that a cut text is recognised
        query_characters=QUERY_CHARACTERS + 1,
        answer_characters=ANSWER_CHARACTERS + 1,
        sentence_characters=SENTENCE_CHARACTERS + 1,
    )


def describe_reading(source: Warehouse, rows: Sequence[Row], explorer: str) -> Section:
    """Return the answers to read first as a list, with the evidence of each behind it."""
    listed = blocks.table(
        "The candidate's answers with the lowest score, one of each question. A low score is a reason to read an"
        " answer, not a proof that it is wrong.",
        (
            "reading_rank=No.",
            Column("Question and answer", _show_exchange, "wide"),
            Column("Verdict", lambda row: str(row["verdict"]).replace("_", " "), ""),
            "verdict_reason=Why",
            Column("Score", lambda row: format_number(row["raw_score"])),
        ),
        rows,
    )
    shown: list[Block | None] = [listed or blocks.absent("No answer of the candidate has a score to order it by.")]
    if rows:
        shown.append(blocks.fold("The same answers with their evidence", *show_cards(source, rows, explorer)))
    return blocks.section(*shown)


def _show_exchange(row: Row) -> Any:
    query = clean_text(row["query_text"], EXCERPT_CHARACTERS) or "(not logged)"
    equal = f"asked {row['count_equal']:,} times" if row["count_equal"] > 1 else ""
    return blocks.lines(
        blocks.rich("<b>{}</b>", query),
        clean_text(row["answer"], EXCERPT_CHARACTERS) or "(empty)",
        blocks.small(blocks.link(to_anchor("answer", row["interaction_id"]), clean_label(row["interaction_id"]))),
        blocks.small(equal),
    )
