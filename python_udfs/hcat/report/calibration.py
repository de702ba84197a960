"""The report's section on calibration with people: can the scores be trusted, and what is still to be labelled.

Everything is read from the marts, so that a published copy shows the same; three tables of the full warehouse add what
marts do not hold (fold of a label, quantiles of merged strata, reason of a decision) and are missed with a sentence.
A status becomes a sentence; nothing is shown as a number that nobody could estimate.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hcat.engine.warehouse import Row, Warehouse
from hcat.language.display import LABEL_CHARACTERS, clean_label
from hcat.report import charts
from hcat.report.showing import (
    EXCERPT_CHARACTERS,
    MAXIMUM_SYSTEMS,
    Gap,
    as_markup,
    distinct_labels,
    format_interval,
    format_number,
    format_percent,
    group_by,
)

#: Metric of the figures where several have as many labels.
PREFERRED_METRIC = "groundedness"

#: Points drawn of each label, scores behind a density or histogram, and pairs of points along the curve.
MAXIMUM_POINTS = 110
MAXIMUM_SCORES = 2000
CURVE_BUCKETS = 60
#: Groups whose prediction sets are drawn, and stretches of one set: sets that follow another score would make more.
MAXIMUM_STRIPS = 5
MAXIMUM_STRETCHES = 8
#: Rows of a table; what is left out is counted below it.
MAXIMUM_COVERAGE_ROWS = 40
MAXIMUM_RATE_ROWS = 60
MAXIMUM_RATERS = 20
#: Quantiles drawn per panel.
MAXIMUM_QUANTILES = 4

#: A warehouse without these was built before calibration existed.
CALIBRATION_MARTS = ("fct_calibrators", "fct_calibration_quality")

NOT_BUILT = Gap("Calibration with people.", "a build with a version of hcat that calibrates")
NOT_LABELLED = Gap(
    "Labels from people: no score is a probability, and no error rate of a threshold is known.",
    "`hcat labels export`, raters, and `hcat labels import`",
)

#: Families whose curve is a staircase: between two scores it does not rise.
STAIRCASES = ("isotonic", "boosted")

CALIBRATOR_REASONS = {
    "no_labels": "nobody has labelled answers for it yet",
    "one_class": "people gave one verdict only",
    "insufficient": "too few labels",
    "constant_score": "all labelled answers have the same score",
    "wrong_direction": "people do not accept more often where the score is better",
    "not_converged": "the fit did not settle",
    "out_of_range": "scores lie outside the range of the catalogue",
}
MEASURE_REASONS = {
    "insufficient": "too few labels",
    "one_class": "one verdict only",
    "constant_score": "all probabilities equal",
    "separated": "classes do not overlap",
    "no_threshold": "no threshold",
    "no_labels": "no labels",
}
CHECK_SENTENCES = {
    "passed": "✓ kept, within chance",
    "failed": "✗ below what chance allows",
    "insufficient": "too few labelled sources for a promise: sets hold both labels",
}
THRESHOLD_REASONS = {
    "insufficient": "too few labels",
    "one_class": "people gave one verdict only",
    "constant_score": "all labelled answers have the same score",
    "no_unique_crossing": "the densities cross never or more than once",
    "not_monotone": "acceptance does not rise with the score",
    "out_of_range": "lies outside the range of the scores",
    "no_threshold": "no score keeps the promise",
}
THRESHOLD_VERDICTS = {
    "within": ("passed", "✓ within tolerance"),
    "beyond": ("failed", "✗ beyond tolerance"),
    "not_shown": ("undecided", "? too few labels to show"),
    "no_threshold": ("not_evaluated", "– no threshold"),
}
METHOD_NAMES = {
    "roc_youden": "ROC, Youden",
    "roc_cost": "ROC, cost weighted",
    "logistic": "logistic",
    "polynomial_logistic": "polynomial logistic",
    "gam": "additive model",
    "kde_crossing": "density crossing",
    "conformal": "conformal",
    "normal_floor": "mean − z sd",
    "normal_floor_fold_mean": "mean − z sd, mean of folds",
    "normal_floor_fold_strictest": "mean − z sd, strictest fold",
    "pass_quantile": "quantile of accepted answers",
}
RATE_METHODS = {
    "score": "variance by source",
    "normal": "normal, by source",
    "wilson": "Wilson on the effective n",
    "known": "all labelled",
}
AGREEMENT_NAMES = {
    "percent_agreement": "percent agreement",
    "cohen_kappa": "Cohen’s kappa",
    "cohen_kappa_quadratic": "Cohen’s kappa, quadratic",
    "fleiss_kappa": "Fleiss’ kappa",
    "krippendorff_alpha_nominal": "Krippendorff’s alpha, nominal",
    "krippendorff_alpha_ordinal": "Krippendorff’s alpha, ordinal",
    "krippendorff_alpha_interval": "Krippendorff’s alpha, interval",
    "intra_rater_percent_agreement": "same rater twice, percent agreement",
    "intra_rater_cohen_kappa": "same rater twice, kappa",
    "intra_rater_cohen_kappa_quadratic": "same rater twice, quadratic kappa",
}
AGREEMENT_REASONS = {
    "no_pairable_values": "no interaction was rated by two people: agreement between people is unknown",
    "no_variation": "all ratings are equal: agreement beyond chance is not defined",
    "more_than_two_raters": "defined for two raters only",
    "unequal_ratings_per_unit": "needs as many ratings for every interaction",
}
INTERVAL_REASONS = {
    "too_few_sources": "no interval: fewer than 10 sources",
    "too_few_usable_draws": "no interval: too few usable draws",
    "no_spread": "no interval: all pairs agree",
    "no_estimate": "",
}

# ---------------------------------------------------------------------------------------------------------------------
# Queries. Every order is total, so that the same warehouse gives the same rows in the same order.

LIST_CALIBRATORS = "select * from fct_calibrators where segment = 'all' order by metric_name, is_chosen desc, family"

LIST_QUALITY = "select * from fct_calibration_quality order by metric_name, is_chosen desc, calibrator"

COUNT_LABELS = """
select metric_name, count(*) as count_labels
from fct_evaluations
where label is not null
group by metric_name
order by metric_name
"""

LIST_TARGET_METRICS = """
select * from dim_metrics where list_contains($metric_names::varchar[], metric_name) order by metric_name
"""

LIST_BINS = """
select * from fct_calibration_bins where metric_name = $metric_name and is_chosen order by bin
"""

# The first and the last score of every bucket: enough for a line as fine as a pixel, also over a million interactions.
TRACE_CURVE = """
with scored as (
    select
        raw_score,
        calibrated_probability,
        floor(
            $buckets * (raw_score - min(raw_score) over ())
            / nullif(max(raw_score) over () - min(raw_score) over (), 0)
        ) as bucket
    from fct_evaluations
    where metric_name = $metric_name and raw_score is not null and calibrated_probability is not null
)

select
    min(raw_score) as first_score,
    arg_min(calibrated_probability, raw_score) as first_probability,
    max(raw_score) as last_score,
    arg_max(calibrated_probability, raw_score) as last_probability
from scored
group by bucket
order by first_score
"""

# A seeded hash order chooses what is drawn, so that the picture does not depend on the order of rows.
# Tenths of the scored answers by rising score: what the picture of the curve shows, in numbers.
MEASURE_CURVE = """
with ranked as (
    select
        raw_score,
        calibrated_probability,
        label,
        ntile(10) over (order by raw_score, interaction_id) as tenth
    from fct_evaluations
    where metric_name = $metric_name and raw_score is not null and calibrated_probability is not null
)

select
    tenth,
    min(raw_score) as lowest_score,
    max(raw_score) as highest_score,
    min(calibrated_probability) as lowest_probability,
    max(calibrated_probability) as highest_probability,
    count(*) as count_scored,
    count(*) filter (where label = 1) as count_accepted,
    count(*) filter (where label = 0) as count_failed
from ranked
group by tenth
order by tenth
"""

SAMPLE_LABELLED = """
select interaction_id, raw_score, calibrated_probability, label, count(*) over (partition by label) as count_labels
from fct_evaluations
where metric_name = $metric_name and label is not null and raw_score is not null
qualify row_number() over (
    partition by label order by md5('calibration' || interaction_id), interaction_id
) <= $maximum
order by label, md5('calibration' || interaction_id), interaction_id
"""

# Labels that the calibrator was not fitted on.
SAMPLE_UNSEEN = """
select evaluations.interaction_id, evaluations.raw_score, evaluations.calibrated_probability, evaluations.label
from fct_evaluations as evaluations
inner join int_labels as labels
    on evaluations.interaction_id = labels.interaction_id and evaluations.metric_name = labels.metric_name
where
    evaluations.metric_name = $metric_name
    and evaluations.label is not null
    and evaluations.calibrated_probability is not null
    and labels.fold <> 'fit'
qualify row_number() over (
    partition by evaluations.label order by md5('calibration' || evaluations.interaction_id), evaluations.interaction_id
) <= $maximum
order by evaluations.label, evaluations.interaction_id
"""

# Stretches of the score with one prediction set, per system.
LIST_SET_STRETCHES = """
with judged as (
    select interactions.system, evaluations.raw_score, evaluations.prediction_set
    from fct_evaluations as evaluations
    inner join fct_interactions as interactions on evaluations.interaction_id = interactions.interaction_id
    where
        evaluations.metric_name = $metric_name
        and evaluations.prediction_set is not null
        and evaluations.raw_score is not null
),

changes as (
    select
        *,
        prediction_set is distinct from lag(prediction_set) over (
            partition by system order by raw_score, prediction_set
        ) as is_change
    from judged
),

numbered as (
    select
        *,
        sum(is_change::integer) over (
            partition by system order by raw_score, prediction_set rows between unbounded preceding and current row
        ) as stretch
    from changes
)

select
    system,
    stretch,
    prediction_set,
    min(raw_score) as low,
    max(raw_score) as high,
    count(*) as count_interactions,
    sum(count(*)) over (partition by system) as count_system
from numbered
group by system, stretch, prediction_set
order by count_system desc, system, stretch
"""

COUNT_SETS = """
select prediction_set, count(*) as count_interactions
from fct_evaluations
where metric_name = $metric_name and prediction_set is not null
group by prediction_set
order by prediction_set
"""

LIST_COVERAGE = """
select *
from fct_conformal_coverage
where metric_name = $metric_name and (
    stratification = 'label_conditional'
    or (stratification = 'marginal' and scope in ('marginal', 'label'))
)
order by
    alpha,
    stratification,
    list_position(['marginal', 'label', 'group', 'label_and_group'], scope),
    stratum nulls first,
    label desc nulls first
"""

LIST_QUANTILES = """
select stratification, stratum, alpha, label, quantile, count_sources
from int_conformal_quantiles
where metric_name = $metric_name and quantile is not null
order by alpha, stratification, stratum, label
"""

LIST_CHECKS = """
select alpha, label, check_status, count(*) over (partition by alpha, label) as count_strata
from int_conformal_quantiles
where metric_name = $metric_name and stratification = 'label_conditional' and check_status is not null
order by alpha, label, stratum
"""

LIST_PUBLISHED_QUANTILES = """
select stratification, stratum, alpha, label, quantile, count_calibration_sources as count_sources
from fct_conformal_coverage
where metric_name = $metric_name and quantile is not null
order by alpha, stratification, stratum, label
"""

LIST_SYSTEM_CALIBRATION = "select * from fct_system_calibration where metric_name = $metric_name order by system"

LIST_RISK_CONTROLS = """
select * from fct_risk_controls where metric_name = $metric_name order by promise, level
"""

LIST_THRESHOLDS = """
select *
from fct_metric_thresholds
where metric_name = $metric_name
order by kind, method, confidence, risk_appetite
"""

LIST_RATES = """
select * from fct_failure_rates where dimension = 'all' order by metric_name, count_interactions desc, system
"""

LIST_LABELS_NEEDED = "select * from fct_labels_needed order by metric_name, purpose desc, target"

LIST_AGREEMENT = "select * from fct_rater_agreement order by criterion, rater nulls first, statistic"

LIST_RATER_REPORTS = "select * from fct_rater_reports order by criterion, rater"


# ---------------------------------------------------------------------------------------------------------------------
# The section


def describe_calibration(source: Warehouse, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the section on calibration shows; ``state`` says how much of it there is.

    Parameters
    ----------
    source : Warehouse
        Opened warehouse or published copy.
    settings : mapping
        Settings of the build, for the level of the prediction sets in force.

    Returns
    -------
    dict
        ``state`` is ``absent`` (built before calibration existed), ``no_labels`` (nobody has rated), or ``described``.
    """
    calibrators = source.rows(LIST_CALIBRATORS, ["fct_calibrators"])
    quality = source.rows(LIST_QUALITY, ["fct_calibration_quality"])
    labelled = {row["metric_name"]: row["count_labels"] for row in source.rows(COUNT_LABELS, ["fct_evaluations"])}
    needed = _describe_labels_needed(source.rows(LIST_LABELS_NEEDED, ["fct_labels_needed"]))
    missing = _name_missing_marts(source)
    described: dict[str, Any] = {"state": "described", "needed": needed, "missing": missing, "gaps": []}
    if not source.has(*CALIBRATION_MARTS):
        return {**described, "state": "absent", "gaps": [NOT_BUILT]}
    counted = [row["count_labels"] for row in (*calibrators, *quality)] + list(labelled.values())
    if not any(counted):
        plan = next((row for row in needed if row["metric_name"] == PREFERRED_METRIC), needed[0] if needed else None)
        return {**described, "state": "no_labels", "plan": plan, "gaps": [NOT_LABELLED]}
    chosen = choose_calibrated_metric(calibrators, labelled)
    names = sorted({row["metric_name"] for row in (*calibrators, *quality)})
    metrics = {row["metric_name"]: row for row in source.rows(LIST_TARGET_METRICS, ["dim_metrics"], metric_names=names)}
    alpha = _read_level(settings)
    return {
        **described,
        "gaps": [Gap(f"Of calibration: {', '.join(missing)}.", NOT_BUILT.supply)] if missing else [],
        "trust": _describe_trust(calibrators, quality),
        "metric_name": chosen["metric_name"] if chosen else None,
        "family": chosen["family"] if chosen else None,
        "level": None if alpha is None else _format_level(1 - alpha),
        "curve": _describe_curve(source, chosen, metrics),
        "reliability": _describe_reliability(source, chosen, quality),
        "conformity": _describe_conformity(source, chosen, alpha),
        "coverage": _describe_coverage(source, chosen, alpha),
        "controls": _describe_risk_controls(source, chosen),
        "systems": _describe_systems(source, chosen),
        "thresholds": _describe_thresholds(source, _threshold_metric(chosen, labelled, names), metrics),
        "decisions": _describe_decisions(names, metrics),
        "rates": _describe_rates(source, chosen, names),
        "agreement": _describe_agreement(source),
        "raters": _describe_raters(source),
    }


def choose_calibrated_metric(calibrators: Sequence[Row], labelled: Mapping[str, int]) -> Row | None:
    """Return the calibrator in force of the metric with most labels; :data:`PREFERRED_METRIC` first among equals.

    Parameters
    ----------
    calibrators : sequence of dict
        Rows of fct_calibrators.
    labelled : mapping of str to int
        Labelled interactions by metric.
    """
    chosen = [row for row in calibrators if row["is_chosen"]]
    if not chosen:
        return None
    return min(
        chosen,
        key=lambda row: (
            -labelled.get(row["metric_name"], row["count_labels"]),
            row["metric_name"] != PREFERRED_METRIC,
            row["metric_name"],
        ),
    )


def judge_calibration(row: Row) -> tuple[str, str, str]:
    """Return (state, words, sentence) about a row of fct_calibration_quality: may its probabilities be believed?

    The worst that the numbers show comes first. ``state`` is a class of the style sheet: passed, failed, undecided or
    not_evaluated. What an interval does not show is not said.
    """
    if row["status"] != "measured":
        reason = MEASURE_REASONS.get(row["status"], "no calibrator is in force")
        return "not_evaluated", "– not measured", f"Nothing was measured: {reason}."
    low, high = row["log_loss_difference_low"], row["log_loss_difference_high"]
    slope_low, slope_high = row["calibration_slope_low"], row["calibration_slope_high"]
    findings: list[tuple[str, str, str]] = []
    if low is not None and low > 0:
        findings.append(
            (
                "failed",
                "✗ worse than the base rate",
                "Saying the same share for every answer would have been closer to the labels of fold test.",
            )
        )
    if slope_high is not None and slope_high < 1:
        findings.append(
            (
                "failed",
                "✗ too extreme",
                "Probabilities lie further from one half than the labels do: high ones too high, low ones too low.",
            )
        )
    if slope_low is not None and slope_low > 1:
        findings.append(
            ("failed", "✗ too timid", "Probabilities lie nearer to one half than the labels do: they could say more.")
        )
    if row["is_within_chance"] is False:
        findings.append(
            (
                "failed",
                "✗ beyond chance",
                "The calibration error is larger than chance explains on this many labels.",
            )
        )
    if row["is_within_chance"] is None:
        reason = MEASURE_REASONS.get(row["calibration_error_status"], "no limit by chance")
        findings.append(("not_evaluated", "– too few labels", f"The calibration error cannot be judged: {reason}."))
    if not findings and high is not None and high < 0:
        sentence = "The error is within chance, and the probabilities tell more than the base rate."
        return "passed", "✓ calibrated within chance", sentence
    if low is None or high is None:
        findings.append(("not_evaluated", "– too few labels", "Whether it beats the base rate cannot be told."))
    elif low <= 0 <= high:
        findings.append(
            (
                "undecided",
                "? not shown better than the base rate",
                "It is not shown that the probabilities tell more than the base rate: the interval holds 0.",
            )
        )
    state, words, _ = findings[0]
    return state, words, " ".join(sentence for _, _, sentence in findings)


def _name_missing_marts(source: Warehouse) -> list[str]:
    wanted = (
        "fct_calibration_bins",
        "fct_system_calibration",
        "fct_conformal_coverage",
        "fct_risk_controls",
        "fct_metric_thresholds",
        "fct_failure_rates",
        "fct_labels_needed",
        "fct_rater_agreement",
    )
    return source.lacks(*wanted)


def _read_level(settings: Mapping[str, Any]) -> float | None:
    value = settings.get("hcat_conformal_alpha")
    return float(value) if isinstance(value, int | float) and 0 < value < 1 else None


def _format_level(share: float) -> str:
    """Return a chosen level in percent, as it was chosen: 90 % and not 90.0 %."""
    return f"{100 * share:.6g} %"


def _show_measure(row: Row, name: str) -> dict[str, str]:
    """Return a measure with its interval as text, or the reason why there is none."""
    value = row.get(name)
    if value is None:
        reason = MEASURE_REASONS.get(str(row.get(f"{name}_status")), "not measured")
        return {"value": "", "interval": reason}
    return {
        "value": format_number(value),
        "interval": format_interval(row[f"{name}_low"], row[f"{name}_high"]) or "no interval",
    }


def _describe_trust(calibrators: Sequence[Row], quality: Sequence[Row]) -> list[Row]:
    """Return one group of rows per metric: the calibrator in force, and the score itself where it is a probability."""
    measured = group_by(quality, "metric_name")
    described = []
    for metric_name, rows in sorted(group_by(calibrators, "metric_name").items()):
        chosen = next((row for row in rows if row["is_chosen"]), None)
        # the simplest family tells best why there is none
        reference = chosen or next((row for row in rows if row["family"] == "logistic"), rows[0])
        shown = []
        if chosen is None:
            reason = CALIBRATOR_REASONS.get(reference["status"], "no family could be fitted")
            message = clean_label(reference["message"], EXCERPT_CHARACTERS) if reference["message"] else ""
            state = "not_evaluated"
            words = "– too few labels" if reference["status"] in ("insufficient", "no_labels") else "– no calibrator"
            shown.append(
                {
                    "calibrator": "none",
                    "is_measured": False,
                    "state": state,
                    "words": words,
                    "sentence": f"No calibrator: {reason}{': ' + message if message else ''}.",
                }
            )
        for row in measured.get(metric_name, []):
            if row["calibrator"] == "none" or not (row["is_chosen"] or row["calibrator"] == "uncalibrated"):
                continue
            state, words, sentence = judge_calibration(row)
            error, limit = row["calibration_error"], row["calibration_error_limit"]
            shown.append(
                {
                    "calibrator": "the score itself" if row["calibrator"] == "uncalibrated" else row["calibrator"],
                    "is_measured": True,
                    "state": state,
                    "words": words,
                    "sentence": sentence,
                    "test": f"{row['count_labels']:,} ({row['count_sources']:,})",
                    "difference": _show_measure(row, "log_loss_difference"),
                    "error": format_number(error) if error is not None else "",
                    "limit": f"limit {format_number(limit)}"
                    if limit is not None
                    else MEASURE_REASONS.get(str(row["calibration_error_status"]), "not measured"),
                    "slope": _show_measure(row, "calibration_slope"),
                    "auroc": _show_measure(row, "auroc"),
                }
            )
        described.append(
            {
                "metric_name": metric_name,
                "criterion": clean_label(reference["criterion"]),
                "fit": f"{reference['count_labels']:,} ({reference['count_sources']:,})",
                "rows": shown,
            }
        )
    return described


def _jitter(interaction_id: str) -> float:
    """Return a number in [0, 1] that is the same for the same interaction."""
    digest = hashlib.md5(f"jitter{interaction_id}".encode(), usedforsecurity=False).hexdigest()
    return int(digest[:6], 16) / 0xFFFFFF


def _score_range(metric: Row | None, scores: Sequence[float]) -> tuple[float, float]:
    """Return the ends of the score axis: those of the data, a little wider, but inside the metric's range."""
    low, high = min(scores), max(scores)
    margin = 0.03 * (high - low) or 0.05
    low, high = low - margin, high + margin
    if metric is not None:
        low = max(low, -float("inf") if metric["range_low"] is None else metric["range_low"])
        high = min(high, float("inf") if metric["range_high"] is None else metric["range_high"])
    return (low, high) if low < high else (low - 0.05, high + 0.05)


def _trace_curve(rows: Sequence[Row], is_staircase: bool) -> list[tuple[float, float]]:
    """Return the points of the curve by rising score; a staircase rises between two scores and not along the way."""
    points: list[tuple[float, float]] = []
    for row in rows:
        for end in ("first", "last"):
            point = (row[f"{end}_score"], row[f"{end}_probability"])
            if points and point == points[-1]:
                continue
            if points and is_staircase and point[1] != points[-1][1]:
                middle = (points[-1][0] + point[0]) / 2
                points += [(middle, points[-1][1]), (middle, point[1])]
            # three in a line of a staircase: the middle one says nothing
            if is_staircase and len(points) > 1 and points[-1][1] == points[-2][1] == point[1]:
                points.pop()
            points.append(point)
    return points


def _describe_curve(source: Warehouse, chosen: Row | None, metrics: Mapping[str, Row]) -> dict[str, Any] | None:
    if chosen is None:
        return None
    name = chosen["metric_name"]
    labelled = source.rows(SAMPLE_LABELLED, ["fct_evaluations"], metric_name=name, maximum=MAXIMUM_POINTS)
    traced = source.rows(TRACE_CURVE, ["fct_evaluations"], metric_name=name, buckets=CURVE_BUCKETS)
    if not labelled or not traced:
        return None
    stretches = source.rows(LIST_SET_STRETCHES, ["fct_evaluations", "fct_interactions"], metric_name=name)
    bands = _find_bands(stretches)
    sets = {
        row["prediction_set"]: row["count_interactions"]
        for row in source.rows(COUNT_SETS, ["fct_evaluations"], metric_name=name)
    }
    domain = _score_range(
        metrics.get(name),
        [*(row["raw_score"] for row in labelled), traced[0]["first_score"], traced[-1]["last_score"]],
    )
    counts = {row["label"]: row["count_labels"] for row in labelled}
    points = [(row["raw_score"], row["label"], _jitter(row["interaction_id"])) for row in labelled]
    chart = charts.draw_score_against_label(
        points,
        _trace_curve(traced, chosen["family"] in STAIRCASES),
        bands,
        domain,
        f"score of {name}",
        f"Labels and calibrated probability over the score of {name}; the table above holds the numbers",
    )
    total = sum(sets.values())
    return {
        "chart": as_markup(chart),
        "rows": [
            {
                **row,
                "scores": f"{format_number(row['lowest_score'])} to {format_number(row['highest_score'])}",
                "probabilities": f"{format_percent(row['lowest_probability'])} to"
                f" {format_percent(row['highest_probability'])}",
            }
            for row in source.rows(MEASURE_CURVE, ["fct_evaluations"], metric_name=name)
        ],
        "count_accepted": counts.get(1, 0),
        "count_failed": counts.get(0, 0),
        "is_sampled": any(count > MAXIMUM_POINTS for count in counts.values()),
        "has_strips": bool(bands),
        "has_sets": bool(sets),
        "key": [(word, charts.SET_COLOURS[word]) for word in charts.SET_COLOURS if word in {one.word for one in bands}],
        "is_all_undecided": bool(total) and sets.get("accepted|failed", 0) == total,
        "share_decided": format_percent((sets.get("accepted", 0) + sets.get("failed", 0)) / total) if total else None,
        "count_sets": total,
        "count_strips_left_out": max(0, len({row["system"] for row in stretches}) - MAXIMUM_STRIPS) if bands else 0,
    }


def _find_bands(stretches: Sequence[Row]) -> list[charts.Band]:
    """Return the strips of the largest systems; none where sets do not follow the score alone."""
    by_system = dict(list(group_by(stretches, "system").items())[:MAXIMUM_STRIPS])
    if any(len(rows) > MAXIMUM_STRETCHES for rows in by_system.values()):
        return []
    labels = distinct_labels(list(by_system))
    bands = []
    for system, rows in by_system.items():
        # neighbours meet half way: between two scores nothing was seen
        edges = [
            rows[0]["low"],
            *((left["high"] + right["low"]) / 2 for left, right in itertools.pairwise(rows)),
            rows[-1]["high"],
        ]
        for number, row in enumerate(rows):
            word = "undecided" if row["prediction_set"] == "accepted|failed" else row["prediction_set"]
            bands.append(charts.Band(labels[system], word, edges[number], edges[number + 1]))
    return bands


def _describe_reliability(source: Warehouse, chosen: Row | None, quality: Sequence[Row]) -> dict[str, Any] | None:
    if chosen is None:
        return None
    rows = source.rows(LIST_BINS, ["fct_calibration_bins"], metric_name=chosen["metric_name"])
    if not rows:
        return None
    bins = [
        charts.ReliabilityBin(
            row["mean_prediction"],
            row["share_accepted"],
            row["share_accepted_low"],
            row["share_accepted_high"],
            row["count_labels"],
        )
        for row in rows
    ]
    label = f"Reliability of the calibrated {chosen['metric_name']}: share accepted against probability, with intervals"
    measured = next((row for row in quality if row["metric_name"] == chosen["metric_name"] and row["is_chosen"]), None)
    return {
        "chart": as_markup(charts.draw_reliability(bins, label)),
        "rows": [
            {
                "prediction": format_percent(row["mean_prediction"]),
                "share": format_percent(row["share_accepted"]),
                "interval": format_interval(row["share_accepted_low"], row["share_accepted_high"], "share"),
                "count_labels": row["count_labels"],
                "count_sources": row["count_sources"],
            }
            for row in rows
        ],
        "count_labels": sum(row["count_labels"] for row in rows),
        "count_bins": len(rows),
        "count_outside": sum(
            1 for row in rows if not row["share_accepted_low"] <= row["mean_prediction"] <= row["share_accepted_high"]
        ),
        "error": format_number(measured["calibration_error"]) if measured else "–",
        "limit": format_number(measured["calibration_error_limit"]) if measured else "–",
    }


def _describe_conformity(source: Warehouse, chosen: Row | None, alpha: float | None) -> dict[str, Any] | None:
    if chosen is None:
        return None
    name = chosen["metric_name"]
    has_folds = source.has("int_labels")
    rows = (
        source.rows(SAMPLE_UNSEEN, ["fct_evaluations", "int_labels"], metric_name=name, maximum=MAXIMUM_SCORES)
        if has_folds
        else [
            row
            for row in source.rows(SAMPLE_LABELLED, ["fct_evaluations"], metric_name=name, maximum=MAXIMUM_SCORES)
            if row["calibrated_probability"] is not None
        ]
    )
    if not rows:
        return None
    quantiles = source.rows(LIST_QUANTILES, ["int_conformal_quantiles"], metric_name=name) or source.rows(
        LIST_PUBLISHED_QUANTILES, ["fct_conformal_coverage"], metric_name=name
    )
    panels = []
    for label, title in ((1, "answers that people accept"), (0, "answers that people fail")):
        # 1 - P(label): how badly the true label fits the probability
        scores = [
            1 - row["calibrated_probability"] if label else row["calibrated_probability"]
            for row in rows
            if row["label"] == label
        ]
        panels.append((f"{title} (n {len(scores):,})", scores, _find_cuts(quantiles, label, alpha)))
    text = f"Conformity scores of {name} for accepted and failed answers with the quantiles that cut prediction sets"
    chart = charts.draw_conformity(panels, "1 − probability of the label that people gave", text)
    return {
        "chart": as_markup(chart),
        "rows": [
            {
                "title": title,
                "quartiles": ", ".join(
                    format_number(value) for value in np.quantile(scores, (0.25, 0.5, 0.75)).tolist()
                )
                if scores
                else "–",
                "cuts": "; ".join(f"{cut.text} {format_number(cut.value)}" for cut in cuts) or "none",
            }
            for title, scores, cuts in panels
        ],
        "has_folds": has_folds,
        "count_labels": len(rows),
        "without_own": [
            words
            for label, words in ((1, "accepted"), (0, "failed"))
            if not any(
                row["stratification"] == "label_conditional" and row["label"] == label and alpha in (None, row["alpha"])
                for row in quantiles
            )
        ],
    }


def _find_cuts(quantiles: Sequence[Row], label: int, alpha: float | None) -> list[charts.Cut]:
    """Return the quantiles of ``label`` that are drawn: in force first, the paper's marginal ones dashed."""
    own = [row for row in quantiles if row["stratification"] == "label_conditional" and row["label"] == label]
    if len({row["stratum"] for row in own}) > 1:
        # one line per stratum: of the level in force only, else nobody could read them
        own = [row for row in own if alpha is None or row["alpha"] == alpha]
        own.sort(key=lambda row: (-(row["count_sources"] or 0), row["stratum"], row["alpha"]))
        names = distinct_labels(list(dict.fromkeys(row["stratum"] for row in own)))
        cuts = [
            charts.Cut(
                row["quantile"], f"{_format_level(1 - row['alpha'])} {charts.shorten(names[row['stratum']], 20)}"
            )
            for row in own[:MAXIMUM_QUANTILES]
        ]
    else:
        cuts = [charts.Cut(row["quantile"], _format_level(1 - row["alpha"])) for row in own[:MAXIMUM_QUANTILES]]
    marginal = [row for row in quantiles if row["stratification"] == "marginal" and alpha in (None, row["alpha"])]
    return cuts + [
        charts.Cut(row["quantile"], f"marginal {_format_level(1 - row['alpha'])}", is_main=False) for row in marginal
    ]


def _describe_coverage(source: Warehouse, chosen: Row | None, alpha: float | None) -> dict[str, Any]:
    rows = (
        []
        if chosen is None
        else source.rows(LIST_COVERAGE, ["fct_conformal_coverage"], metric_name=chosen["metric_name"])
    )
    labels = distinct_labels(list(dict.fromkeys(row["stratum"] for row in rows if row["stratum"] is not None)))
    merged = {} if chosen is None else _find_merged_checks(source, chosen["metric_name"])
    shown = []
    for row in rows:
        # per class and stratum only where a quantile of its own makes a promise
        if row["scope"] == "label_and_group" and row["quantile_status"] is None:
            continue
        stratum = "" if row["stratum"] is None else labels[row["stratum"]]
        verdict = {1: "accepted by people", 0: "failed by people"}.get(row["label"], "")
        status = row["check_status"]
        if status is None and row["stratification"] == "label_conditional" and row["scope"] == "label":
            status = merged.get((row["alpha"], row["label"]))
        if status is not None:
            check = CHECK_SENTENCES.get(status, status)
        elif row["share_all"] == 1:
            check = "sets hold both labels: a quantile is missing"
        else:
            check = "measured; no promise of its own"
        shown.append(
            {
                "is_in_force": row["stratification"] == "label_conditional" and alpha in (None, row["alpha"]),
                "promised": _format_level(1 - row["alpha"]),
                "sets": {
                    "label_conditional": "per label and group",
                    "marginal": "one quantile for all",
                }.get(row["stratification"], row["stratification"]),
                "answers": ", ".join(part for part in (stratum, verdict) if part) or "all answers",
                "is_measured": row["status"] == "measured" and row["coverage"] is not None,
                "coverage": format_percent(row["coverage"]),
                "count_labels": row["count_labels"],
                "count_sources": row["count_sources"],
                "check": check if row["status"] == "measured" else "not measured: no labels in fold test",
                "state": {"passed": "passed", "failed": "failed"}.get(str(status), ""),
                "decided": format_percent(row["share_single"]),
                "undecided": format_percent(row["share_all"]),
                "empty": format_percent(row["share_empty"]),
            }
        )
    force = [row for row in shown if row["is_in_force"]]
    other = [row for row in shown if not row["is_in_force"]]
    return {
        "rows": force[:MAXIMUM_COVERAGE_ROWS],
        "count_left_out": max(0, len(force) - MAXIMUM_COVERAGE_ROWS) + max(0, len(other) - MAXIMUM_COVERAGE_ROWS),
        "other": other[:MAXIMUM_COVERAGE_ROWS],
    }


def _find_merged_checks(source: Warehouse, metric_name: str) -> dict[tuple[float, int], str]:
    """Return the check by level and label where all strata were too small and share one quantile per label."""
    rows = source.rows(LIST_CHECKS, ["int_conformal_quantiles"], metric_name=metric_name)
    merged: dict[tuple[float, int], str] = {}
    for row in rows:
        if row["count_strata"] == 1:
            merged[row["alpha"], row["label"]] = row["check_status"]
    return merged


def _describe_risk_controls(source: Warehouse, chosen: Row | None) -> list[Row]:
    rows = (
        []
        if chosen is None
        else source.rows(LIST_RISK_CONTROLS, ["fct_risk_controls"], metric_name=chosen["metric_name"])
    )
    promises = {
        "share_bad_and_accepted": "of all answers, failed ones that the machine accepts",
        "share_accepted_among_bad": "of failed answers, those that the machine accepts",
        "share_bad_among_accepted": "of accepted answers, those that people would fail",
    }
    reasons = {
        "insufficient": "too few labelled sources: the machine may accept nothing on its own",
        "no_threshold": "no threshold keeps the risk: the machine may accept nothing on its own",
        "not_calibrated": "no calibrator is in force",
    }
    return [
        {
            "promise": promises[row["promise"]],
            "level": _format_level(row["level"]),
            "confidence": "" if row["confidence"] is None else f"with probability {_format_level(row['confidence'])}",
            "is_controlled": row["status"] == "controlled",
            "reason": reasons.get(row["status"], row["status"]),
            "threshold": format_number(row["threshold"]),
            "risk": format_percent(row["test_risk"]),
            "share": format_percent(row["test_share_accepted"]),
            "count_labels": row["count_test_labels"],
            "count_sources": row["count_test_sources"],
        }
        for row in rows
        if row["promise"] in promises
    ]


def _describe_systems(source: Warehouse, chosen: Row | None) -> dict[str, Any]:
    rows = (
        []
        if chosen is None
        else source.rows(LIST_SYSTEM_CALIBRATION, ["fct_system_calibration"], metric_name=chosen["metric_name"])
    )
    labels = distinct_labels([row["system"] for row in rows[:MAXIMUM_SYSTEMS]])
    shown = []
    for row in rows[:MAXIMUM_SYSTEMS]:
        low, high = row["difference_low"], row["difference_high"]
        if row["difference"] is None:
            words = "too few labelled sources to say"
        elif low is None or high is None:
            words = "no interval: too few labelled sources"
        elif high < 0:
            words = "probabilities flatter the system"
        elif low > 0:
            words = "probabilities are too low for the system"
        else:
            words = "no difference shown"
        shown.append(
            {
                "system": labels[row["system"]],
                "accepted": format_percent(row["share_accepted"]),
                "predicted": format_percent(row["mean_prediction"]),
                "difference": "" if row["difference"] is None else format_number(row["difference"]),
                "interval": format_interval(low, high),
                "count_labels": row["count_labels"],
                "count_sources": row["count_sources"],
                "words": words,
            }
        )
    return {"rows": shown, "count_left_out": max(0, len(rows) - MAXIMUM_SYSTEMS)}


def _threshold_metric(chosen: Row | None, labelled: Mapping[str, int], names: Sequence[str]) -> str | None:
    """Return the metric whose thresholds are drawn: the calibrated one, else that with most labels."""
    if chosen is not None:
        return str(chosen["metric_name"])
    with_labels = [name for name in names if labelled.get(name)]
    return min(with_labels, key=lambda name: (-labelled[name], name != PREFERRED_METRIC, name), default=None)


def _describe_thresholds(source: Warehouse, metric_name: str | None, metrics: Mapping[str, Row]) -> dict[str, Any]:
    described: dict[str, Any] = {"metric_name": metric_name, "chart": None, "acceptance": [], "monitoring": []}
    if metric_name is None:
        return described
    rows = source.rows(LIST_THRESHOLDS, ["fct_metric_thresholds"], metric_name=metric_name)
    order = list(METHOD_NAMES)
    rows.sort(key=lambda row: order.index(row["method"]) if row["method"] in order else len(order))
    for kind in ("acceptance", "monitoring"):
        described[kind] = [
            {"method": _name_method(method), "rows": [_show_threshold(row) for row in chosen]}
            for method, chosen in group_by([row for row in rows if row["kind"] == kind], "method").items()
        ]
    labelled = source.rows(SAMPLE_LABELLED, ["fct_evaluations"], metric_name=metric_name, maximum=MAXIMUM_SCORES)
    levels = sorted({row["interval_level"] for row in rows if row["kind"] == "acceptance"})
    counts = {row["label"]: row["count_labels"] for row in labelled}
    return {
        **described,
        "chart": _draw_thresholds(rows, labelled, metric_name, metrics.get(metric_name)),
        "count_accepted": counts.get(1, 0),
        "count_failed": counts.get(0, 0),
        "interval_level": format_percent(levels[0]) if levels else "–",
        "is_decided": bool(metrics.get(metric_name, {}).get("threshold") is not None),
        "fit": f"{rows[0]['count_fit_accepted']:,} accepted and {rows[0]['count_fit_failed']:,} failed answers of "
        f"{rows[0]['count_fit_sources']:,} sources"
        if rows
        else "",
    }


def _name_method(method: str) -> str:
    return METHOD_NAMES.get(method, method)


def _show_threshold(row: Row) -> Row:
    state, words = THRESHOLD_VERDICTS.get(row["verdict"], ("not_evaluated", row["verdict"]))
    reason = THRESHOLD_REASONS.get(row["status"], "")
    if row["accepts"]:
        reason += f": it would accept {row['accepts']}"
    return {
        "appetite": clean_label(row["risk_appetite"]),
        "confidence": _format_level(row["confidence"]),
        "threshold": format_number(row["threshold"]) if row["threshold"] is not None else "",
        "reason": reason,
        "is_decided": row["is_decided"],
        "accept": _show_error(row, "false_accept"),
        "reject": _show_error(row, "false_reject"),
        "state": state,
        "words": words,
        "held_out": "" if row["held_out_flag_share"] is None else format_percent(row["held_out_flag_share"]),
    }


def _show_error(row: Row, name: str) -> dict[str, str]:
    """Return an error rate of fold test as text, with its interval, n and tolerated share."""
    rate, tolerated = row[f"{name}_rate"], row[f"{name}_tolerated_share"]
    if rate is None:
        reason = "no such label in fold test" if row[f"{name}_status"] == "one_class" else "–"
        return {"rate": "", "interval": reason, "count": "", "tolerated": ""}
    return {
        "rate": format_percent(rate),
        "interval": format_interval(row[f"{name}_rate_lower"], row[f"{name}_rate_upper"], "share"),
        "count": f"n {row[f'{name}_count_labels']:,}",
        "tolerated": "" if tolerated is None else f"tolerated {_format_level(tolerated)}",
    }


def _draw_thresholds(rows: Sequence[Row], labelled: Sequence[Row], metric_name: str, metric: Row | None) -> Any:
    if not labelled:
        return None
    found = [row for row in rows if row["kind"] == "acceptance" and row["threshold"] is not None]
    appetites = list(
        dict.fromkeys(
            row["risk_appetite"] for row in sorted(found, key=lambda row: (row["confidence"], row["risk_appetite"]))
        )
    )[: len(charts.SERIES_COLOURS)]
    names = {appetite: f"{label} risk appetite" for appetite, label in distinct_labels(appetites).items()}
    estimates = [
        charts.Estimate(_name_method(row["method"]), names[row["risk_appetite"]], row["threshold"], None, None)
        for row in found
        if row["risk_appetite"] in names
    ]
    decided = None if metric is None else metric["threshold"]
    scores = [row["raw_score"] for row in labelled]
    values = [*scores, *(estimate.value for estimate in estimates), *([] if decided is None else [decided])]
    chart = charts.draw_thresholds(
        [
            (words, [row["raw_score"] for row in labelled if row["label"] == label])
            for label, words in ((1, "accepted by people"), (0, "failed by people"))
        ],
        estimates,
        list(dict.fromkeys(estimate.position for estimate in estimates)),
        list(names.values()),
        decided,
        _score_range(metric, values),
        f"score of {metric_name}",
        f"Scores of accepted and failed answers of {metric_name} with thresholds by method; the table has the numbers",
    )
    return as_markup(chart)


def _describe_decisions(names: Sequence[str], metrics: Mapping[str, Row]) -> dict[str, Any]:
    rows = []
    for name in names:
        metric = metrics.get(name)
        if metric is None or metric["threshold"] is None:
            rows.append({"metric_name": name, "is_decided": False})
            continue
        reason = metric.get("decision_rationale")
        rows.append(
            {
                "metric_name": name,
                "is_decided": True,
                "threshold": format_number(metric["threshold"]),
                "decided_by": clean_label(metric["decided_by"]) if metric["decided_by"] else "not recorded",
                "reason": clean_label(reason, EXCERPT_CHARACTERS) if reason else "not recorded",
                "valid_until": str(metric["valid_until"]) if metric["valid_until"] else "no date",
                "is_provisional": bool(metric["is_provisional"]),
                "is_expired": bool(metric["is_decision_expired"]),
            }
        )
    return {"rows": rows}


def _describe_rates(source: Warehouse, chosen: Row | None, names: Sequence[str]) -> dict[str, Any]:
    rows = [row for row in source.rows(LIST_RATES, ["fct_failure_rates"]) if row["metric_name"] in names]
    labels = distinct_labels(list(dict.fromkeys(row["system"] for row in rows)))
    first = chosen["metric_name"] if chosen else PREFERRED_METRIC
    rows.sort(key=lambda row: row["metric_name"] != first)
    shown = [_show_rate(row, labels[row["system"]]) for row in rows[:MAXIMUM_RATE_ROWS]]
    # a metric without any rate says it once, below the table
    drawn = [row for row in rows if row["metric_name"] == first][:MAXIMUM_SYSTEMS]
    return {
        "rows": [row for row in shown if row["metric_name"] == first],
        "other": [row for row in shown if row["metric_name"] != first],
        "count_left_out": max(0, len(rows) - MAXIMUM_RATE_ROWS),
        "metric_name": first,
        "is_process": all(row["target"] == "process" for row in rows),
        "count_labels": sum(row["count_labels"] for row in drawn),
        "chart": _draw_rates(drawn, labels),
    }


def _show_rate(row: Row, label: str) -> Row:
    def show(name: str) -> dict[str, str]:
        rate = row[f"{name}_rate"]
        return {
            "rate": "" if rate is None else format_percent(rate),
            "interval": "none"
            if rate is None
            else format_interval(row[f"{name}_lower"], row[f"{name}_upper"], "share"),
            "method": RATE_METHODS.get(str(row[f"{name}_method"]), ""),
        }

    message = clean_label(row["message"], EXCERPT_CHARACTERS) if row["message"] else ""
    words = {
        "prediction_powered": "prediction-powered",
        "labels_only": "labels only",
        "insufficient": "no rate: too few labelled sources",
    }
    return {
        "metric_name": row["metric_name"],
        "criterion": clean_label(row["criterion"]),
        "system": label,
        "status": words.get(row["status"], row["status"]),
        "message": message,
        "count_scored": row["count_scored"],
        "count_labels": row["count_labels"],
        "count_sources": row["count_sources"],
        "is_small": row["is_small"],
        "labels_only": show("labels_only"),
        "powered": show("prediction_powered"),
        "ratio": "" if row["width_ratio"] is None else format_number(row["width_ratio"]),
    }


def _draw_rates(rows: Sequence[Row], labels: Mapping[str, str]) -> Any:
    series = {"labels_only": "labels alone", "prediction_powered": "labels and calibrated scores"}
    estimates = [
        charts.Estimate(
            charts.shorten(labels[row["system"]], 40),
            words,
            row[f"{name}_rate"],
            row[f"{name}_lower"],
            row[f"{name}_upper"],
        )
        for row in rows
        for name, words in series.items()
        if row[f"{name}_rate"] is not None
    ]
    if not estimates:
        return None
    systems = list(dict.fromkeys(estimate.position for estimate in estimates))
    label = (
        "Failure rate by system, from labels alone and prediction-powered, with intervals; the table holds the numbers"
    )
    return as_markup(
        charts.draw_estimates(estimates, systems, list(series.values()), "share of answers that people fail", label)
    )


def _describe_labels_needed(rows: Sequence[Row]) -> list[Row]:
    described = []
    for row in rows:
        points = f"{100 * row['target']:g} percentage points"
        if row["purpose"] == "half_width":
            purpose = f"failure rate to ± {points}"
        else:
            power = "" if row["power"] is None else f", found with probability {_format_level(row['power'])}"
            purpose = f"difference of {points} between two groups{power}"
        described.append(
            {
                "metric_name": row["metric_name"],
                "purpose": f"{purpose} ({_format_level(row['confidence'])} confidence)",
                "count_needed": row["count_labels_needed"],
                "count_labels": row["count_labels"],
                "count_missing": row["count_labels_missing"],
                "planning_rate": format_percent(row["planning_rate"]),
                "words": {
                    "reached": "✓ reached",
                    "labels_missing": f"{row['count_labels_missing']:,} labels missing",
                    "no_labels": "nobody has labelled yet: planned with a rate of one half",
                }.get(row["label_status"], row["label_status"]),
                "rate": ""
                if row["failure_rate"] is None
                else f"{format_percent(row['failure_rate'])} "
                f"{format_interval(row['failure_rate_low'], row['failure_rate_high'], 'share')}",
            }
        )
    return described


def _describe_agreement(source: Warehouse) -> list[Row]:
    """Return one row per criterion and figure that exists; a criterion without any says why, once."""
    described = []
    rows = source.rows(LIST_AGREEMENT, ["fct_rater_agreement"])
    for criterion, figures in group_by(rows, "criterion").items():
        name = clean_label(criterion)
        between = [row for row in figures if row["rater"] is None]
        within = [row for row in figures if row["rater"] is not None]
        estimated = [row for row in between if row["status"] == "estimated"]
        if between and not estimated:
            reasons = list(dict.fromkeys(AGREEMENT_REASONS.get(row["status"], row["status"]) for row in between))
            described.append({"criterion": name, "is_estimated": False, "reason": f"Between people: {reasons[0]}."})
        for row in [*estimated, *within[:MAXIMUM_RATERS]]:
            figure = AGREEMENT_NAMES.get(row["statistic"], row["statistic"])
            if row["rater"] is not None:
                figure += f" ({clean_label(row['rater'], LABEL_CHARACTERS // 2)})"
            if row["agreement"] is None:
                reason = AGREEMENT_REASONS.get(row["status"], row["status"])
                described.append({"criterion": name, "is_estimated": False, "reason": f"{figure}: {reason}."})
                continue
            described.append(
                {
                    "criterion": name,
                    "is_estimated": True,
                    "figure": figure,
                    "value": format_number(row["agreement"]),
                    "interval": format_interval(row["agreement_low"], row["agreement_high"])
                    or INTERVAL_REASONS.get(row["interval_status"], "no interval"),
                    "count_units": row["count_units"],
                    "count_ratings": row["count_ratings"],
                    "count_sources": row["count_sources"],
                }
            )
    return described


def _describe_raters(source: Warehouse) -> list[str]:
    """Return a sentence per rater who disagrees with everyone."""
    return [
        f"{clean_label(row['rater'])} ({clean_label(row['criterion'])}): agrees with the majority of the others on "
        f"{format_percent(row['agreement'])} of {row['count_shared_units']:,} shared interactions, the others with "
        f"each other on {format_percent(row['agreement_of_others'])}."
        for row in source.rows(LIST_RATER_REPORTS, ["fct_rater_reports"])
        if row["disagrees_with_everyone"]
    ][:MAXIMUM_RATERS]
