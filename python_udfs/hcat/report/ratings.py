"""Ratings, and who gave them."""

from __future__ import annotations

from typing import Any, Final

from hcat.engine.warehouse import Warehouse
from hcat.report import blocks
from hcat.report.blocks import Block
from hcat.report.showing import ratio
from hcat.report.words import QUERIES, WORDS

KINDS: Final = WORDS["ratings"]["kinds"]


def describe_ratings(source: Warehouse) -> list[Block | None]:
    """Return ratings by kind of rater, and labels by criterion; nothing without ratings."""
    kinds = source.rows(QUERIES["count_ratings"], ["fct_ratings"])
    if not kinds:
        return []
    labels = describe_labels(source)
    rows = source.rows(QUERIES["count_unjudged"], ["fct_rater_reports.count_cannot_judge"])
    unjudged = {row["criterion"]: row["count_cannot_judge"] for row in rows}
    given = f": {labels['raters']}" if labels["raters"] else ""
    criteria = [
        {
            **row,
            "count_cannot_judge": unjudged.get(row["criterion"], 0),
            "share_accepted": ratio(row["count_accepted"], row["count_accepted"] + row["count_not_accepted"]),
        }
        for row in source.rows(QUERIES["describe_ratings"], ["fct_ratings.count_raters"])
    ]
    return [
        blocks.heading("Ratings"),
        blocks.paragraph(labels["warning"], "note") if labels["warning"] else None,
        blocks.table(
            f"Who rated. In this section, raters are those who gave the labels{given}. Ratings of other kinds are only"
            " compared with these.",
            ("raters", "count_ratings", "count_interactions=Rated interactions", "count_labels"),
            [
                {
                    **row,
                    "raters": f"{row['count_raters']:,} {KINDS[row['rater_kind']][row['count_raters'] != 1]}",
                    "count_labels": labels["counts"].get(row["rater_kind"], 0),
                }
                for row in kinds
            ],
        ),
        blocks.table(
            "Labels by criterion.",
            (
                "criterion",
                "count_interactions",
                "maximum_raters=Most raters per interaction",
                "mean_scale_point",
                "count_accepted",
                "count_not_accepted",
                "count_ties",
                "count_cannot_judge",
                "share_accepted",
            ),
            criteria,
        ),
    ]


def describe_labels(source: Warehouse) -> dict[str, Any]:
    """Return who gave the labels (empty without any), and a warning unless all are known to be people."""
    rows = source.rows(QUERIES["count_labels"], ["fct_evaluations"])
    counts: dict[str, int] = {row["rater_kind"]: row["count_interactions"] for row in rows}
    sentences = [
        f"{KINDS[kind][2][0].upper()}{KINDS[kind][2][1:]} gave the labels of {counts[kind]:,} answers: what"
        f" rests on them says how far the scores agree with {KINDS[kind][2]}, not with people."
        for kind in ("language_model", "rule")
        if kind in counts
    ]
    if "unknown" in counts:
        sentences.append(
            f"Nobody says who gave the labels of {counts['unknown']:,} answers: the column rater_kind of the ratings,"
            " or the seed raters, can say it."
        )
    warning = " ".join(sentences) or None
    return {"raters": " and ".join(KINDS[kind][2] for kind in counts), "counts": counts, "warning": warning}
