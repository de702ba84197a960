"""How far the probabilities of a calibrator can be trusted, metric by metric."""

from __future__ import annotations

from collections.abc import Sequence

from hcat.engine.warehouse import Row
from hcat.language.display import clean_label
from hcat.report.showing import EXCERPT_CHARACTERS, format_interval, format_number, group_by

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


def describe_trust(calibrators: Sequence[Row], quality: Sequence[Row]) -> list[Row]:
    """Return one group of rows per metric: the calibrator in force, and the score itself where it is a probability."""
    measured = group_by(quality, "metric_name")
    described = []
    for metric_name, rows in sorted(group_by(calibrators, "metric_name").items()):
        chosen = next((row for row in rows if row["is_chosen"]), None)
        # the status of the simplest family is the clearest reason why none is in force
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
