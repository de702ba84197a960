"""The five lines with which every page begins: the rows of fct_release_decisions, and the answers to read first."""

from typing import Final

from hcat.engine.warehouse import Row, Warehouse

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
    count(*) filter (where verdict = 'failing' and decided_by in ('threshold', 'prediction_set')) as by_score,
    count(*) filter (where verdict = 'failing' and decided_by = 'rule') as by_rule,
    coalesce(' Most without a verdict: ' || mode(verdict_reason) filter (where verdict = 'not_judged'), '') as unjudged,
    count(human_label) as count_labels
from fct_verdicts
where coalesce(application, 'unnamed') = $application and is_in_release_population
"""
_LIST_SCORERS: Final = """
select metric_name, admission_reason
from dim_metrics
where admission = 'provisional' and criterion is not null
order by metric_name
"""


def read_decisions(source: Warehouse) -> list[Row]:
    """Return one row per application; those that must not be released come first."""
    return source.rows(_LIST_DECISIONS, ["fct_release_decisions.worst_topic"])


def order_lines(row: Row) -> list[str]:
    """Return the sentences of a decision in lines of their order; a change that was found joins the first."""
    first, reason, changed, topic = (row[name] for name in ("headline", "reason", "what_changed", "worst_topic"))
    lines = [(first, reason), (row["how_often"],), (changed, topic), (row["what_next"],)]
    if row["failure_rate_since_change"] is not None:
        lines = [(first, changed), (topic,), (reason,), (row["how_often"],), (row["what_next"],)]
    return [" ".join(filter(None, line)) for line in lines if any(line)]


def say_decision(source: Warehouse, row: Row) -> list[str]:
    """Return the lines of an application, and one on trust where nobody rated an answer."""
    lines = order_lines(row)
    if row["count_labels_by_people"] or row["count_labels_by_language_models"]:
        return lines
    needs = ["fct_verdicts.is_in_release_population", "dim_metrics.admission_reason"]
    counts = source.rows(_COUNT_SCORED, needs, application=row["application"])
    if not counts or counts[0]["count_labels"]:
        return lines
    scorers = source.rows(_LIST_SCORERS, needs)
    trust = " ".join(f"How far to trust {scorer['metric_name']}: {scorer['admission_reason']}." for scorer in scorers)
    said = "Of {count_interactions:,} answers, scores call {by_score:,} wrong, and rules {by_rule:,}.{unjudged}"
    return [*lines, f"{said.format(**counts[0])} {trust or 'No score is good enough to decide.'}"]
