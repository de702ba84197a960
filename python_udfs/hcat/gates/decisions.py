"""The four lines with which every page begins: the rows of fct_release_decisions, and the answers to read first."""

from __future__ import annotations

from typing import Final

from hcat.engine.warehouse import Row, Warehouse

#: Sentences of a decision in their order, and characters of each that are shown.
DECISION_LINES: Final = ("headline", "how_often", "what_changed", "what_next")
DECISION_CHARACTERS: Final = 600

_LIST_DECISIONS: Final = """
select *
from fct_release_decisions
order by decision <> 'do_not_release', application
"""

# What the scorers alone say where nobody rated an answer, and how far each of them can be trusted.
_COUNT_SCORED: Final = """
select
    count(*) as count_interactions,
    count(*) filter (where verdict = 'failing') as count_failing,
    count(*) filter (where verdict = 'acceptable') as count_acceptable
from fct_verdicts
where application = $application and is_in_release_population
"""

_LIST_SCORERS: Final = """
select metric_name, admission, admission_reason
from dim_metrics
where is_deciding and admission = 'provisional'
order by metric_name
"""


def read_decisions(source: Warehouse) -> list[Row]:
    """Return one row per application; those that must not be released come first."""
    return source.rows(_LIST_DECISIONS, ["fct_release_decisions"])


def say_decision(source: Warehouse, row: Row) -> list[str]:
    """Return the four lines of an application, and one on trust where nobody rated an answer."""
    lines = [str(row[column]) for column in DECISION_LINES]
    if row["count_labels_by_people"] or row["count_labels_by_language_models"]:
        return lines
    counts = source.rows(_COUNT_SCORED, ["fct_verdicts"], application=row["application"])
    scorers = source.rows(_LIST_SCORERS, ["dim_metrics"])
    if not counts:
        return lines
    count = counts[0]
    trust = "; ".join(f"{scorer['metric_name']}: {scorer['admission_reason']}" for scorer in scorers)
    trust = trust or "no scorer is admitted without labels"
    return [
        *lines,
        f"The score calls {count['count_failing']:,} of {count['count_interactions']:,} answers wrong and"
        f" {count['count_acceptable']:,} right. How far to trust it: {trust}.",
    ]
