"""Prediction sets from the ranks of all audit labels: coverage by true label, and what they decide."""

import math
from collections.abc import Sequence
from functools import partial
from typing import Final

import numpy as np
from scipy.special import ndtr

from benchmarks.promises.common import Designs, Promise, promise_of_mean
from benchmarks.promises.sampled import Design, Labels, Population
from hcat.calibration.conformal import fit_conformal
from hcat.calibration.decidable import share_decidable, standings
from hcat.statistics.arrays import Floats

ALPHAS: Final = (0.1, 0.2)
COVERED: Final = "A prediction set that promises {promised:.0%} holds the true label of a new answer that people {word}"
DECIDED: Final = "Share of answers whose set has one label, promise {promised:.0%}"

#: Least share of answers that 100 labels decide at AUROC .86 and 30 % failing, by alpha.
LEAST_DECIDED: Final = {0.1: 0.5, 0.2: 0.8}

DESIGNS: Final = (
    *(Design(count, auroc, 0.3, 0.1, False) for count in (100, 300) for auroc in (0.74, 0.80, 0.86)),
    *(
        Design(count, 0.86, rate, likeness, False)
        for count in (100, 300)
        for rate in (0.02, 0.1)
        for likeness in (0.1, 0.7)
    ),
    *(Design(count, 0.86, 0.3, 0.7, False) for count in (100, 300)),
    *(Design(count, 0.86, 0.3, likeness, True) for count in (100, 300) for likeness in (0.1, 0.7)),
)


def designs(seed: int) -> Designs:
    """Return coverage and share decided by design and alpha."""
    return {
        design.describe(): partial(_measure, design, np.random.default_rng([seed, number]))
        for number, design in enumerate(DESIGNS)
    }


_TEXTS: Final = ((COVERED, "failed"), (COVERED, "accepted"), (DECIDED, ""))


def _measure(design: Design, random: np.random.Generator, count_runs: int) -> list[Promise]:
    population = Population(design)
    runs = [population.draw(random) for _ in range(count_runs)]
    return [row for alpha in ALPHAS for row in _at_level(design, alpha, runs)]


def _at_level(design: Design, alpha: float, runs: Sequence[Labels]) -> list[Promise]:
    of_failed, of_accepted, decided, insufficient = [], [], [], 0
    for labels in runs:
        low, high = _fit(labels, alpha)
        insufficient += math.isinf(low)
        # new clusters: each score of its class is normal
        of_failed.append(float(ndtr(high)))
        of_accepted.append(float(ndtr(design.distance - low)))
        decided.append(_share_decided(design, low, high))
    promised, words = 1 - alpha, design.describe()
    note = f"{insufficient / len(runs):.0%} of runs have too few clusters of a class" if insufficient else ""
    ceiling = f"this AUROC allows {share_decidable(design.auroc, alpha):.2f}"
    is_demanded = (design.count_labels, design.auroc, design.rate) == (100, 0.86, 0.3) and not design.is_stratified
    text = [one.format(promised=promised, word=word) for one, word in _TEXTS]
    return [
        promise_of_mean(text[0], words, of_failed, promised, note=note),
        promise_of_mean(text[1], words, of_accepted, promised, note=note),
        promise_of_mean(text[2], words, decided, LEAST_DECIDED[alpha] if is_demanded else None, note=ceiling),
    ]


def _fit(labels: Labels, alpha: float) -> tuple[float, float]:
    """Return the lowest score that counts as accepted and the highest that counts as failed."""
    standing, accepted = standings(labels.scores), (~labels.is_failing).astype(np.int64)
    weights = labels.weights / labels.weights.max()
    fitted = fit_conformal(standing, accepted, alpha, clusters=labels.clusters, weights=weights)
    limits = []
    for cell in fitted.cells:
        nonconformity = 1 - standing if cell.label else standing
        is_limit = nonconformity == cell.quantile
        limits.append(float(labels.scores[is_limit][0]) if is_limit.any() else math.inf)
    if math.isinf(max(limits)):
        # one class without a quantile, and sets hold both labels
        return -math.inf, math.inf
    return limits[1], limits[0]


def _share_decided(design: Design, low: float, high: float) -> float:
    first, last = min(low, high), max(low, high)
    edges: Floats = np.array([first, last])
    of_failed, of_accepted = np.diff(ndtr(edges))[0], np.diff(ndtr(edges - design.distance))[0]
    return float(1 - design.rate * of_failed - (1 - design.rate) * of_accepted)
