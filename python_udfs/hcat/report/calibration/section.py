"""The section on calibration evidence, put together from the modules of this package."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hcat.engine.warehouse import Row, Warehouse
from hcat.report.calibration.conformal import describe_conformity, describe_coverage
from hcat.report.calibration.curve import describe_curve
from hcat.report.calibration.labelled import PREFERRED_METRIC
from hcat.report.calibration.raters import describe_agreement, describe_disagreeing_raters
from hcat.report.calibration.rates import describe_labels_needed, describe_rates
from hcat.report.calibration.reliability import describe_reliability, describe_systems
from hcat.report.calibration.thresholds import choose_threshold_metric, describe_decisions, describe_thresholds
from hcat.report.calibration.trust import describe_trust
from hcat.report.showing import Gap, format_level

#: A warehouse without these tables was built before calibration existed.
CALIBRATION_MARTS = ("fct_calibrators", "fct_calibration_quality")

NOT_BUILT = Gap(
    "Calibration with labels of raters (fct_calibrators, fct_calibration_quality).",
    "`dbt build` with the current version of hcat",
)
NOT_LABELLED = Gap(
    "probabilities instead of raw scores, error rates of thresholds, failure rates, and the agreement of raters",
    "a review sheet from `hcat labels export`, filled in by raters and imported with `hcat labels import`",
    "ratings",
)

LIST_CALIBRATORS = "select * from fct_calibrators where segment = 'all' order by metric_name, is_chosen desc, family"

LIST_QUALITY = "select * from fct_calibration_quality order by metric_name, is_chosen desc, calibrator"

COUNT_LABELS = """
select metric_name, count(*) as count_labels
from fct_evaluations
where human_label is not null
group by metric_name
order by metric_name
"""

LIST_TARGET_METRICS = """
select * from dim_metrics where list_contains($metric_names::varchar[], metric_name) order by metric_name
"""

LIST_LABELS_NEEDED = "select * from fct_labels_needed order by metric_name, purpose desc, target"


def describe_calibration(source: Warehouse, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the section on calibration shows; ``state`` says how much of it the warehouse holds."""
    calibrators = source.rows(LIST_CALIBRATORS, ["fct_calibrators"])
    quality = source.rows(LIST_QUALITY, ["fct_calibration_quality"])
    labelled = {row["metric_name"]: row["count_labels"] for row in source.rows(COUNT_LABELS, ["fct_evaluations"])}
    needed = describe_labels_needed(source.rows(LIST_LABELS_NEEDED, ["fct_labels_needed"]))
    missing = _name_missing_marts(source)
    described: dict[str, Any] = {"state": "described", "needed": needed, "missing": missing, "gaps": []}
    if not source.has(*CALIBRATION_MARTS):
        return {**described, "state": "absent", "gaps": [NOT_BUILT]}
    counted = [row["count_labels"] for row in (*calibrators, *quality)] + list(labelled.values())
    if not any(counted):
        plan = next((row for row in needed if row["metric_name"] == PREFERRED_METRIC), needed[0] if needed else None)
        return {**described, "state": "no_labels", "plan": plan, "gaps": [_name_plan(plan)]}
    chosen = choose_calibrated_metric(calibrators, labelled)
    names = sorted({row["metric_name"] for row in (*calibrators, *quality)})
    metrics = {row["metric_name"]: row for row in source.rows(LIST_TARGET_METRICS, ["dim_metrics"], metric_names=names)}
    alpha = _read_level(settings)
    return {
        **described,
        "gaps": [Gap(f"Parts of the calibration evidence: {', '.join(missing)}.", NOT_BUILT.supply)] if missing else [],
        "trust": describe_trust(calibrators, quality),
        "metric_name": chosen["metric_name"] if chosen else None,
        "family": chosen["family"] if chosen else None,
        "level": None if alpha is None else format_level(1 - alpha),
        "curve": describe_curve(source, chosen, metrics),
        "reliability": describe_reliability(source, chosen, quality),
        "conformity": describe_conformity(source, chosen, alpha),
        "coverage": describe_coverage(source, chosen, alpha),
        "systems": describe_systems(source, chosen),
        "thresholds": describe_thresholds(source, choose_threshold_metric(chosen, labelled, names), metrics),
        "decisions": describe_decisions(names, metrics),
        "rates": describe_rates(source, chosen, names),
        "agreement": describe_agreement(source),
        "raters": describe_disagreeing_raters(source),
    }


def _name_plan(plan: Row | None) -> Gap:
    """Return what labels would add, with the number that is needed."""
    if plan is None or plan["count_needed"] is None:
        return NOT_LABELLED
    needed = f" ({plan['metric_name']} needs {plan['count_needed']:,} labels: {plan['purpose']})"
    return Gap(NOT_LABELLED.what + needed, NOT_LABELLED.supply, NOT_LABELLED.needs)


def choose_calibrated_metric(calibrators: Sequence[Row], labelled: Mapping[str, int]) -> Row | None:
    """Return the calibrator in force that the section shows in full; None where no calibrator is in force."""
    chosen = [row for row in calibrators if row["is_chosen"]]
    if not chosen:
        return None
    return min(
        chosen,
        key=lambda row: (
            row["metric_name"] != PREFERRED_METRIC,
            -labelled.get(row["metric_name"], row["count_labels"]),
            row["metric_name"],
        ),
    )


def _name_missing_marts(source: Warehouse) -> list[str]:
    wanted = (
        "fct_calibration_bins",
        "fct_system_calibration",
        "fct_conformal_coverage",
        "fct_metric_thresholds",
        "fct_score_bands",
        "fct_failure_rates",
        "fct_labels_needed",
        "fct_rater_agreement",
    )
    return source.lacks(*wanted)


def _read_level(settings: Mapping[str, Any]) -> float | None:
    value = settings.get("hcat_conformal_alpha")
    return float(value) if isinstance(value, int | float) and 0 < value < 1 else None
