"""How far the probabilities of a calibrator can be trusted, metric by metric."""

from __future__ import annotations

from typing import Final

from hcat.engine.warehouse import Row
from hcat.report.words import WORDS

CALIBRATOR_REASONS: Final = WORDS["trust"]["calibrator_reasons"]

MEASURE_REASONS: Final = WORDS["trust"]["measure_reasons"]


def judge_calibration(row: Row) -> tuple[str, str, str]:
    """Return (state, words, sentence): whether the probabilities of a row of fct_calibration_quality can be trusted."""
    if row["status"] != "measured":
        reason = MEASURE_REASONS.get(row["status"], "no calibrator is in force")
        return "not_evaluated", "– not measured", f"Not measured: {reason}."
    low, high = row["log_loss_difference_low"], row["log_loss_difference_high"]
    slope_low, slope_high = row["calibration_slope_low"], row["calibration_slope_high"]
    findings: list[tuple[str, str, str]] = []
    if low is not None and low > 0:
        findings.append(
            (
                "failed",
                "✗ worse than the base rate",
                "The base rate alone predicts the labels better than these probabilities.",
            )
        )
    if slope_high is not None and slope_high < 1:
        findings.append(
            (
                "failed",
                "✗ too extreme",
                "High probabilities are too high, and low ones are too low.",
            )
        )
    if slope_low is not None and slope_low > 1:
        findings.append(("failed", "✗ too cautious", "High probabilities are too low, and low ones are too high."))
    if row["is_within_chance"] is False:
        findings.append(
            (
                "failed",
                "✗ beyond chance",
                "The calibration error is larger than chance explains for this number of labels.",
            )
        )
    if row["is_within_chance"] is None:
        reason = MEASURE_REASONS.get(row["calibration_error_status"], "there is no limit by chance")
        findings.append(("not_evaluated", "– too few labels", f"The calibration error cannot be judged: {reason}."))
    if not findings and high is not None and high < 0:
        sentence = "The calibration error is within chance, and the probabilities are better than the base rate."
        return "passed", "✓ calibrated within chance", sentence
    if low is None or high is None:
        findings.append(
            ("not_evaluated", "– too few labels", "There is no interval for the comparison with the base rate.")
        )
    elif low <= 0 <= high:
        findings.append(
            (
                "undecided",
                "? not shown to be better than the base rate",
                "The probabilities are not shown to be better than the base rate: the interval contains 0.",
            )
        )
    state, words, _ = findings[0]
    return state, words, " ".join(sentence for _, _, sentence in findings)
