"""Acceptance thresholds: how often one is called within its tolerated share, and how often that is wrong."""

from collections import defaultdict
from functools import partial
from typing import Any, Final

import numpy as np
from scipy.special import ndtr

from benchmarks.promises.common import Designs, Promise, promise_of_share
from benchmarks.promises.sampled import Design, Labels, Population
from hcat.calibration.risk_appetites import RiskAppetite
from hcat.calibration.threshold_tables import ASSURED, accept_out_of_fold, judge, quote
from hcat.calibration.thresholds import fit_all

#: As in the seed risk_appetites.
APPETITE: Final = RiskAppetite("high", 0.90, 0.10, 0.20, 1.0, 1.0)
METHODS: Final = ("conformal", "roc_cost")
CONFIDENCE: Final = 0.95
#: At one appetite, two thresholds with a one-sided limit each.
MOST_WRONG: Final = round(2 * (1 - CONFIDENCE), 12)
LEAST_WITHIN: Final = 0.5

PROMISED: Final = "The conformal threshold accepts more failed answers than promised, appetite 90%"
WITHIN: Final = "The conformal threshold is called within, appetite 90%"
WRONG: Final = "A threshold is called within and accepts more failed answers than tolerated, appetite 90%"
WRONG_GIVEN: Final = "The conformal threshold accepts too many in runs that call it within, appetite 90%"

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


def designs(seed: int) -> Designs:
    """Return verdicts and their errors by design."""
    return {
        design.describe(): partial(_measure, design, np.random.default_rng([seed, number]))
        for number, design in enumerate(DESIGNS)
    }


def _measure(design: Design, random: np.random.Generator, count_runs: int) -> list[Promise]:
    population = Population(design)
    hits: dict[str, list[bool]] = defaultdict(list)
    # a run fits twenty-two thresholds: a fifth of the runs has a Monte Carlo error of at most .025
    for _ in range(max(20, count_runs // 5)):
        found = _run(population.draw(random))
        true_rates = {method: float(1 - ndtr(limit)) for method, (limit, _) in found.items() if limit is not None}
        within = {method for method, (_, verdict) in found.items() if verdict == "within"}
        tolerated = APPETITE.tolerated_false_accept_share
        is_wrong = {method: method in within and rate > tolerated for method, rate in true_rates.items()}
        hits[PROMISED].append(true_rates.get(ASSURED, 0.0) > 1 - APPETITE.confidence)
        hits[WITHIN].append(ASSURED in within)
        hits[WRONG].append(any(is_wrong.values()))
        if ASSURED in within:
            hits[WRONG_GIVEN].append(is_wrong[ASSURED])
    is_demanded = (design.count_labels, design.auroc, design.rate) == (300, 0.86, 0.3)
    most = {PROMISED: round(1 - CONFIDENCE, 12), WRONG: MOST_WRONG, WRONG_GIVEN: MOST_WRONG}
    return [
        promise_of_share(
            text, design.describe(), values, LEAST_WITHIN if is_demanded and text == WITHIN else None, most.get(text)
        )
        for text, values in hits.items()
    ]


def _run(labels: Labels) -> dict[str, tuple[float | None, str]]:
    """Return the threshold of each method and the verdict on its false accepts."""
    accepted = (~labels.is_failing).astype(np.int64)
    arguments: Any = (labels.scores, accepted, labels.clusters, (APPETITE,))
    settings: Any = {"direction": "higher_is_better", "methods": METHODS, "assurance": CONFIDENCE}
    passing = accept_out_of_fold(*arguments, weights=labels.weights, **settings)
    found = {}
    for one in fit_all(*arguments, weights=labels.weights, **settings):
        is_passing = None if one.threshold is None else passing[one.method, one.appetite.name]
        quoted = quote(is_passing, accepted, labels.clusters, confidence=CONFIDENCE, weights=labels.weights)
        if one.method == ASSURED:
            quoted = quoted.assure(round(1 - APPETITE.confidence, 12))
        found[one.method] = one.threshold, judge(quoted.false_accept, APPETITE.tolerated_false_accept_share)
    return found
