"""Acceptance thresholds: how often one is called within its tolerated share, and how often that is wrong."""

from __future__ import annotations

from collections import defaultdict
from typing import Final

import numpy as np
from scipy.special import ndtr

from benchmarks.promises.common import Promise, promise_of_share
from benchmarks.promises.sampled import Design, Labels, Population
from hcat.calibration.risk_appetites import RiskAppetite
from hcat.calibration.threshold_tables import ASSURED, accept_out_of_fold, judge, quote
from hcat.calibration.thresholds import fit_all

#: As in the seed risk_appetites.
APPETITES: Final = (
    RiskAppetite("high", 0.90, 0.10, 0.20, 1.0, 1.0),
    RiskAppetite("moderate", 0.95, 0.05, 0.30, 3.0, 1.0),
)
METHODS: Final = ("conformal", "roc_cost")
CONFIDENCE: Final = 0.95
#: At one appetite, two thresholds with a one-sided limit each.
MOST_WRONG: Final = round(2 * (1 - CONFIDENCE), 12)
LEAST_WITHIN: Final = 0.5

PROMISED: Final = "The conformal threshold accepts more failed answers than promised, appetite {confidence:.0%}"
WITHIN: Final = "The conformal threshold is called within, appetite {confidence:.0%}"
WRONG: Final = "A threshold is called within and accepts more failed answers than tolerated, appetite {confidence:.0%}"
WRONG_GIVEN: Final = "The conformal threshold accepts too many in runs that call it within, appetite {confidence:.0%}"
COVERED: Final = "The 90 % interval of a cross-validated rate covers the true rate of the threshold, {name}"

DESIGNS: Final = (
    *(Design(count, auroc, 0.3, 0.1, False) for count in (100, 300) for auroc in (0.74, 0.80, 0.86)),
    *(
        Design(300, 0.86, rate, likeness, False)
        for rate in (0.1, 0.3)
        for likeness in (0.1, 0.4, 0.7)
        if (rate, likeness) != (0.3, 0.1)
    ),
    *(Design(300, 0.86, 0.3, likeness, True) for likeness in (0.1, 0.7)),
    Design(300, 0.86, 0.02, 0.1, False),
)


def measure(count_runs: int, seed: int) -> list[Promise]:
    """Return verdicts and their errors by design."""
    # a run fits twenty-two thresholds: a fifth of the runs has a Monte Carlo error of at most .025
    count = max(20, count_runs // 5)
    found = []
    for number, design in enumerate(DESIGNS):
        found += _measure(design, count, np.random.default_rng([seed, number]))
    order = list(dict.fromkeys(row.promise for row in found))
    return sorted(found, key=lambda row: order.index(row.promise))


def _measure(design: Design, count_runs: int, random: np.random.Generator) -> list[Promise]:
    population = Population(design)
    hits: dict[str, list[bool]] = defaultdict(list)
    for _ in range(count_runs):
        for appetite, found in _run(population.draw(random), design).items():
            promised = {"confidence": appetite.confidence}
            true_rates = {method: float(1 - ndtr(one.threshold)) for method, one in found.items() if one.is_fitted}
            is_wrong = {
                method: found[method].verdict == "within" and rate > appetite.tolerated_false_accept_share
                for method, rate in true_rates.items()
            }
            hits[PROMISED.format(**promised)].append(
                "conformal" in true_rates and true_rates["conformal"] > 1 - appetite.confidence
            )
            hits[WITHIN.format(**promised)].append(found["conformal"].verdict == "within")
            hits[WRONG.format(**promised)].append(any(is_wrong.values()))
            if found["conformal"].verdict == "within":
                hits[WRONG_GIVEN.format(**promised)].append(is_wrong["conformal"])
            for method, rate in true_rates.items():
                hits[COVERED.format(name=method)].append(found[method].low <= rate <= found[method].high)
    rows = []
    for text, values in hits.items():
        low, high = _limits(text, design)
        rows.append(promise_of_share(text, design.describe(), values, low, high))
    return rows


class _Found:
    """One threshold with the quote of its false accepts."""

    def __init__(self, threshold: float | None, verdict: str, low: float | None, high: float | None) -> None:
        self.is_fitted = threshold is not None
        self.threshold = np.inf if threshold is None else threshold
        self.verdict = verdict
        self.low, self.high = (0.0 if low is None else low), (1.0 if high is None else high)


def _run(labels: Labels, design: Design) -> dict[RiskAppetite, dict[str, _Found]]:
    accepted = (~labels.is_failing).astype(np.int64)
    arguments = (labels.scores, accepted, labels.clusters, APPETITES)
    fitted = fit_all(
        *arguments, direction="higher_is_better", weights=labels.weights, methods=METHODS, assurance=CONFIDENCE
    )
    passing = accept_out_of_fold(
        *arguments, direction="higher_is_better", weights=labels.weights, methods=METHODS, assurance=CONFIDENCE
    )
    found: dict[RiskAppetite, dict[str, _Found]] = {appetite: {} for appetite in APPETITES}
    for one in fitted:
        is_passing = None if one.threshold is None else passing[one.method, one.appetite.name]
        quoted = quote(is_passing, accepted, labels.clusters, confidence=CONFIDENCE, weights=labels.weights)
        if one.method == ASSURED:
            quoted = quoted.assure(round(1 - one.appetite.confidence, 12))
        rate = quoted.false_accept
        verdict = judge(rate, one.appetite.tolerated_false_accept_share)
        found[one.appetite][one.method] = _Found(one.threshold, verdict, rate.rate_lower, rate.rate_upper)
    return found


def _limits(text: str, design: Design) -> tuple[float | None, float | None]:
    if text in (PROMISED.format(confidence=one.confidence) for one in APPETITES):
        return None, round(1 - CONFIDENCE, 12)
    if text in (WRONG.format(confidence=one.confidence) for one in APPETITES):
        return None, MOST_WRONG
    if text == WRONG_GIVEN.format(confidence=APPETITES[0].confidence):
        return None, MOST_WRONG
    is_demanded = (design.count_labels, design.auroc, design.rate) == (300, 0.86, 0.3)
    if is_demanded and text == WITHIN.format(confidence=APPETITES[0].confidence):
        return LEAST_WITHIN, None
    return None, None
