"""What the ratings of a round are worth as of the last build, and what more of them would change.

Widths of intervals fall with the square root of the number of labels: half the width takes four times as many. Where a
mart plans labels for a target (`fct_labels_needed`), its number is shown instead.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from hcat.engine.warehouse import Place, Row, Warehouse, open_warehouse
from hcat.language.display import clean_label
from hcat.review.rounds import Round, describe_needs, find_version, read_round

#: Labels for half the width of an interval, as a multiple of those at hand.
_FOUR_TIMES: Final = 4

_NO_PAIR: Final = "no answer was rated by two raters of one kind: write the desk with --raters and --overlap"

_COUNT_RATINGS = """
select
    criterion,
    rater,
    rater_kind,
    max(guideline_version) as guideline_version,
    count(distinct interaction_id) filter (where not is_unjudged and rating_pass = 1) as count_rated,
    count(distinct interaction_id) filter (where is_unjudged and rating_pass = 1) as count_cannot_judge,
    count(distinct interaction_id) filter (where rating_pass > 1) as count_second
from base_ratings
where record_status = 'staged' and review_round = $review_round
group by criterion, rater, rater_kind
order by criterion, rater, rater_kind
"""

# of whole numbers with an order: the statistic that bears several raters and gaps
_LIST_AGREEMENT = """
select criterion, rater_kind, status, interval_status, agreement, agreement_low, agreement_high, count_units
from fct_rater_agreement
where statistic = 'krippendorff_alpha_ordinal' and other_rater_kind is null and rater is null
order by criterion, rater_kind
"""

_LIST_CALIBRATORS = """
select calibrators.metric_name, calibrators.criterion, calibrators.count_labels,
    calibrators.log_loss, calibrators.log_loss_standard_error, calibrators.status
from fct_calibrators as calibrators
where calibrators.is_chosen and calibrators.segment = 'all'
order by calibrators.criterion, calibrators.metric_name
"""

_LIST_VALIDITY = """
select metric_name, version_class, calibration_status, count_labels
from fct_calibration_validity
order by metric_name, version_class
"""

_LIST_SETS = """
select
    evaluations.metric_name,
    count(*) as count_answers,
    count(*) filter (where evaluations.prediction_set in ('accepted', 'failed')) as count_decided,
    max(needed.target) as target,
    max(needed.count_labels_missing) as count_labels_missing,
    max(needed.label_status) as label_status
from fct_evaluations as evaluations
left join fct_labels_needed as needed
    on evaluations.metric_name = needed.metric_name and needed.purpose = 'decided_share'
where evaluations.prediction_set is not null
group by evaluations.metric_name
order by evaluations.metric_name
"""


def describe_status(warehouse: Path | Place, review_round: str | None = None) -> list[tuple[str, str]]:
    """Return lines of (subject, text) on a round: who rated what, agreement, calibration, sets and labels needed."""
    with open_warehouse(warehouse) as opened:
        found = read_round(opened, review_round)
        return [
            ("round", f"{found.name}, {len(found.drawn)} interactions, as of the last build"),
            *_or_none("ratings", _describe_ratings(opened, found), "none of this round"),
            *_or_none("agreement", _describe_agreement(opened), _NO_PAIR),
            *_or_none("calibration", _describe_calibration(opened), "no score is calibrated"),
            *_or_none("sets", _describe_sets(opened), "no prediction sets"),
            *_or_none("labels", describe_needs(opened), "no targets in the seed review_targets"),
        ]


def describe_half_width(count: int) -> str:
    """Return how many more labels halve the width of an interval on ``count`` labels."""
    return f"about {(_FOUR_TIMES - 1) * count:,} more would halve the interval"


def _or_none(subject: str, texts: Iterable[str], without: str) -> list[tuple[str, str]]:
    return [(subject, text) for text in texts] or [(subject, without)]


def _describe_ratings(opened: Warehouse, found: Round) -> list[str]:
    rows = opened.rows(_COUNT_RATINGS, ("base_ratings",), review_round=found.name)
    count = len(found.drawn)
    lines = []
    for row in rows:
        left = count - row["count_rated"] - row["count_cannot_judge"]
        second = f", {row['count_second']} rated twice" if row["count_second"] else ""
        points = found.guidelines.get(row["criterion"])
        version = row["guideline_version"]
        old = f"; guideline {version}" if points and version not in (None, find_version(points)) else ""
        lines.append(
            f"{row['criterion']} by {clean_label(row['rater'])} ({row['rater_kind'].replace('_', ' ')}): "
            f"{row['count_rated']} rated, {row['count_cannot_judge']} cannot judge, {left} of the round not rated"
            f"{second}{old}"
        )
    return lines


def _describe_agreement(opened: Warehouse) -> list[str]:
    return [
        f"{row['criterion']}, {row['rater_kind'].replace('_', ' ')}: {_describe_alpha(row)}"
        for row in opened.rows(_LIST_AGREEMENT, ("fct_rater_agreement",))
        if row["status"] != "no_pairable_values"
    ]


def _describe_alpha(row: Row) -> str:
    shared = f"on {row['count_units']:,} interactions that several rated"
    if row["agreement"] is None:
        return f"{row['status'].replace('_', ' ')} {shared}"
    alpha = f"Krippendorff's alpha {row['agreement']:.2f}"
    if row["agreement_low"] is None:
        return f"{alpha} {shared}; no interval ({row['interval_status'].replace('_', ' ')})"
    interval = f"({row['agreement_low']:.2f} to {row['agreement_high']:.2f})"
    return f"{alpha} {interval} {shared}; {describe_half_width(row['count_units'])}"


def _describe_calibration(opened: Warehouse) -> list[str]:
    validity: dict[str, list[str]] = {}
    for row in opened.rows(_LIST_VALIDITY, ("fct_calibration_validity",)):
        status = row["calibration_status"].replace("_", " ")
        validity.setdefault(row["metric_name"], []).append(f"{status} for {clean_label(row['version_class'])}")
    return [
        f"{row['metric_name']} by {row['criterion']}: {row['count_labels']:,} labels, log loss {row['log_loss']:.3f} "
        f"(standard error {row['log_loss_standard_error']:.3f}); {describe_half_width(row['count_labels'])}; "
        + ", ".join(validity.get(row["metric_name"], ["in no version"]))
        for row in opened.rows(_LIST_CALIBRATORS, ("fct_calibrators",))
        if row["status"] == "fitted"
    ]


def _describe_sets(opened: Warehouse) -> list[str]:
    lines = []
    for row in opened.rows(_LIST_SETS, ("fct_evaluations.prediction_set", "fct_labels_needed")):
        share = row["count_decided"] / row["count_answers"]
        text = f"{row['metric_name']}: {share:.0%} of {row['count_answers']:,} answers decided"
        if row["target"] is not None:
            missing = {
                "out_of_reach": "out of reach with this score",
                "no_labels": "not planned without labels",
            }.get(row["label_status"]) or f"{row['count_labels_missing']} labels missing"
            text += f"; target {row['target']:.0%}: {missing}"
        lines.append(text)
    return lines
