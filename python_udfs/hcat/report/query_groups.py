"""Query groups: robustness of answers to the wording, the faulty module, and precision and recall of the metrics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from hcat.engine.warehouse import Row, Warehouse
from hcat.language.display import clean_label, clean_text
from hcat.report import blocks
from hcat.report.blocks import Block, Column, Gap
from hcat.report.ledger import Build
from hcat.report.showing import QUERY_CHARACTERS
from hcat.report.words import QUERIES, WORDS

#: Rows of each table; the number left out is shown below it.
MAXIMUM_SIDES: Final = 24
MAXIMUM_GROUPS: Final = 12

SCOPES: Final = WORDS["query_groups"]["scopes"]
GAP_RULES: Final = {"own_side": "", "every_side": "; gap only if wrong on all sides"}


def describe_query_groups(source: Warehouse, build: Build) -> tuple[list[Block], Gap | bool]:
    """Return group types, robustness, variants and reliability as far as their marts exist, and what is missing."""
    if not source.has("fct_robustness_groups", "fct_answer_correctness"):
        what = (
            "Robustness to paraphrased, misspelled or otherwise changed queries: this warehouse lacks"
            " fct_robustness_groups or fct_answer_correctness."
        )
        return [], Gap(what, blocks.REBUILD)
    # groups of one answer have no contexts to compare
    rates = [
        row
        for row in source.rows(QUERIES["query_groups_list_rates"], ["fct_robustness_rates"], scopes=list(SCOPES))
        if row["gap_rule"] == "own_side" or row["scope"] == "all"
    ]
    correctness = blocks.table(
        "True correctness of the answers. Labels take precedence over rules, and rules over the comparison of facts"
        " with the reference answer. Answers that none of them can decide stay undecided and enter no rate below.",
        (
            "system",
            "count_answers",
            "count_correct",
            "count_incorrect",
            "count_undecided",
            "count_label=Decided by raters",
            "count_rule=By rules",
            "count_other=By comparison",
            "count_disputed",
        ),
        source.rows(QUERIES["count_correctness"], ["fct_answer_correctness"]),
    )
    shown = blocks.keep(
        (
            correctness,
            *_describe_rates(build, rates),
            blocks.fold(
                "Query groups that are not robust",
                blocks.table(
                    "Groups with the fewest right answers first.",
                    (
                        "system",
                        Column("Query", _show_query, "wide"),
                        "count_correct=Right answers",
                        "count_answers",
                        "faulty_module",
                        "count_retrieval_errors",
                        "count_language_model_errors",
                    ),
                    source.rows(QUERIES["list_groups"], ["fct_robustness_groups"]),
                    MAXIMUM_GROUPS,
                    "groups",
                    {"faulty_module": WORDS["query_groups"]["modules"]},
                ),
            ),
            blocks.paragraph(
                "fct_robustness_variants compares variants with their original queries, fct_robustness_differences the"
                " sides of a hypothesis, and fct_metric_reliability the verdicts of metrics with true correctness.",
                "note",
            )
            if rates
            else None,
        )
    )
    if shown:
        shown.insert(0, blocks.heading("Query groups and true correctness"))
    # a group of one query has no meaningful type
    groups = source.rows(
        "select 1 from fct_robustness_groups where count_queries > 1 limit 1", ["fct_robustness_groups"]
    )
    return shown, not groups and Gap(
        "whether an answer depends on the wording of the query",
        "logs that ask for one fact in several wordings (query_group, or variants with parent_query_id) and hold its"
        " reference answer",
        "wordings",
    )


def _name(row: Row) -> str:
    if row["hypothesis"] == "all":
        return clean_label(row["system"])
    return f"{clean_label(row['system'])}: {clean_label(row['hypothesis'])} = {clean_label(row['side'])}"


def _describe_rates(build: Build, rates: Sequence[Row]) -> list[Block | None]:
    if not rates:
        return []
    wholes = [row for row in rates if row["hypothesis"] == "all" and row["scope"] == "all"]
    sides = [row for row in rates if row not in wholes]
    return [
        blocks.paragraph(
            "A group is a set of queries that ask for the same fact. It is robust when every answer is right, and not"
            " robust when only some are right. It is a gap when every answer is wrong; the documents may then lack the"
            " knowledge. In a group that is not robust, a wrong answer is a fault of the language model when its"
            " context held a document that was enough for a right answer. Otherwise it is a fault of retrieval."
        ),
        _list_rates(build, wholes),
        blocks.fold(
            f"Without errors of the language model, and by side of each hypothesis ({len(sides)})",
            _list_rates(build, sides),
        ),
    ]


def _list_rates(build: Build, rows: Sequence[Row]) -> Block | None:
    return blocks.table(
        "Robustness R is the share of right answers outside of gap groups. Accuracy is R (1 − λ), where λ is the share"
        f" of answers in gap groups. The {build.level} intervals resample whole groups. R is higher for small groups.",
        (
            Column("System and side", _name, ""),
            Column("Answers counted", lambda row: SCOPES[row["scope"]] + GAP_RULES[row["gap_rule"]], ""),
            "count_robust_groups",
            "count_non_robust_groups",
            "count_gap_groups",
            "smallest_group",
            "largest_group",
            "count_answers",
            "gap_share=λ",
            "robustness=R",
            "chance_robustness=R by chance",
            "accuracy",
            "status",
        ),
        rows,
        MAXIMUM_SIDES * len(SCOPES),
        words={"status": WORDS["query_groups"]["rate_statuses"]},
    )


def _show_query(row: Row) -> Any:
    return blocks.show_quote(clean_text(row["example_query"], QUERY_CHARACTERS) or clean_label(row["query_group"]))
