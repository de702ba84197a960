"""Do the tests of bias find what was planted, and nothing else? Simulated responders over counterfactual pairs.

A responder answers both sides of a pair. Its score has a part of the template, a part of the query and noise of each
answer; whether it refuses is drawn with a chance of its own per template. The symmetric responder treats both sides
alike; the biased one shifts one attribute and metric. All gaps of a run stand in one family, as in a build.
"""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from benchmarks.harness import Outcome, Table, run_alone, verdict
from hcat.safety.bias import COUNTERFACTUAL, ERROR_RATE, BiasSettings, measure_gaps
from hcat.statistics.intervals import wilson_interval

ATTRIBUTES = ("gender", "age", "origin", "religion", "skin_colour", "disability", "sexual_orientation")
SCORES = ("sentiment", "answer_relevancy", "groundedness", "answer_length")
MARGIN_SCORE, MARGIN_REFUSAL = 0.2, 0.05
PAIRS_SCORE, PAIRS_REFUSAL, TEMPLATES = 200, 500, 50
GAP_SCORE, GAP_REFUSAL = 0.3, 0.1
LIMIT_FALSE, LIMIT_FOUND = 0.05, 0.80
SETTINGS = BiasSettings(confidence=0.95, minimum_clusters=10, random_seed=20260101)
_QUANTILE = 1.959964


def simulate_scores(random: np.random.Generator, shift: float, pairs: int = PAIRS_SCORE) -> list[dict[str, Any]]:
    """Return sums by query of one attribute and score; the standard deviation of a pair's difference is one."""
    query, noise = random.standard_normal(pairs), random.standard_normal((2, pairs)) * np.sqrt(0.5)
    first, second = query + noise[0] + shift, query + noise[1]
    return _sums(np.arange(pairs), first, np.ones(pairs), second, np.ones(pairs))


def simulate_refusals(
    random: np.random.Generator, shift: float, pairs: int = PAIRS_REFUSAL, base: float = 0.1
) -> list[dict[str, Any]]:
    """Return refusals by template: chances vary from template to template (beta, standard deviation .09)."""
    chances = random.beta(10 * base, 10 * (1 - base), TEMPLATES)
    template = np.arange(pairs) % TEMPLATES
    first = random.random(pairs) < np.clip(chances[template] + shift, 0, 1)
    second = random.random(pairs) < chances[template]
    return _sums(template, first, np.ones(pairs), second, np.ones(pairs))


def simulate_groups(random: np.random.Generator, shift: float, clusters: int = 400) -> list[dict[str, Any]]:
    """Return sums by cluster of logged traffic: three answers each, a fifth of the group, unequal spread."""
    is_first = random.random(clusters) < 0.2
    own = random.standard_normal(clusters) * np.where(is_first, 1.5, 1.0)
    scores = own[:, None] + random.standard_normal((clusters, 3)) + np.where(is_first, shift, 0.0)[:, None]
    total, count = scores.sum(axis=1), np.full(clusters, 3.0)
    return _sums(np.arange(clusters), total * is_first, count * is_first, total * ~is_first, count * ~is_first)


def _sums(cluster: Any, *of_sides: Any) -> list[dict[str, Any]]:
    """Return sums by cluster of the first side's values and count, and of the second side's."""
    names, codes = np.unique(cluster, return_inverse=True)
    columns = [np.bincount(codes, weights=values) for values in of_sides]
    return [
        {
            "cluster": f"{name:05d}",
            "first_sum": columns[0][row],
            "first_count": columns[1][row],
            "second_sum": columns[2][row],
            "second_count": columns[3][row],
        }
        for row, name in enumerate(names.tolist())
    ]


def run_family(random: np.random.Generator, planted: tuple[str, str] | None) -> dict[tuple[str, str], str]:
    """Return the verdict of each (attribute, metric) of one run; ``planted`` has the gap of its kind."""
    sums = []
    for attribute in ATTRIBUTES:
        for metric in (*SCORES, "refusal"):
            is_planted = planted == (attribute, metric)
            is_refusal = metric == "refusal"
            rows = (
                simulate_refusals(random, GAP_REFUSAL if is_planted else 0.0)
                if is_refusal
                else simulate_scores(random, GAP_SCORE if is_planted else 0.0)
            )
            gap = {
                "bias_gap_id": f"{attribute}|{metric}",
                "system": "s",
                "design": COUNTERFACTUAL,
                "margin": MARGIN_REFUSAL if is_refusal else MARGIN_SCORE,
                "span": 1.0 if is_refusal else 6.0,
                "is_indicator": is_refusal,
            }
            sums += [gap | row for row in rows]
    measured = measure_gaps(pa.Table.from_pylist(sums), SETTINGS).to_pylist()
    return {tuple(row["bias_gap_id"].split("|", 1)): row["verdict"] for row in measured}


def run_groups(random: np.random.Generator, shift: float) -> str:
    """Return the verdict on one gap of logged groups, a family of its own."""
    gap = {
        "bias_gap_id": "g",
        "system": "s",
        "design": "logged_groups",
        "margin": 0.5,
        "span": 6.0,
        "is_indicator": False,
    }
    sums = [gap | row for row in simulate_groups(random, shift)]
    return str(measure_gaps(pa.Table.from_pylist(sums), SETTINGS).to_pylist()[0]["verdict"])


def run(is_quick: bool = False, _folder: Path | None = None) -> Outcome:
    """Return how often gaps and equivalences are claimed, rightly and wrongly."""
    count = 20 if is_quick else 200
    rows, is_within = [], True

    def add(name: str, hits: list[bool], limit: float, is_upper: bool) -> None:
        nonlocal is_within
        share = float(np.mean(hits))
        low, high = wilson_interval(share, len(hits), _QUANTILE)
        is_met = share <= limit if is_upper else share >= limit
        # a quick run is too short to tell .05 from .10
        is_within = is_within and (is_met or is_quick)
        sign = "at most" if is_upper else "at least"
        rows.append(
            (name, str(len(hits)), f"{share:.3f}", f"[{low:.3f}, {high:.3f}]", f"{sign} {limit:.2f}", verdict(is_met))
        )

    def repeat(seed: int, job: Callable[[np.random.Generator], Any], times: int = count) -> list[Any]:
        return [job(np.random.default_rng([20260101, seed, number])) for number in range(times)]

    symmetric = repeat(1, lambda random: run_family(random, None))
    add(
        "symmetric responder: any gap claimed in a run",
        [any(verdict == "gap_found" for verdict in found.values()) for found in symmetric],
        LIMIT_FALSE,
        True,
    )
    planted = ("gender", "sentiment")
    found = repeat(2, lambda random: run_family(random, planted)[planted])
    add(
        f"gap of {GAP_SCORE} standard deviations, {PAIRS_SCORE} pairs: found",
        [v == "gap_found" for v in found],
        LIMIT_FOUND,
        False,
    )
    add("the same gap, larger than the margin: called equivalent", [v == "equivalent" for v in found], 0.05, True)
    planted = ("origin", "refusal")
    found = repeat(3, lambda random: run_family(random, planted)[planted])
    add(
        f"gap of 10 points in refusals, {PAIRS_REFUSAL} pairs of {TEMPLATES} templates: found",
        [v == "gap_found" for v in found],
        LIMIT_FOUND,
        False,
    )
    add("the same gap, larger than the margin: called equivalent", [v == "equivalent" for v in found], 0.05, True)
    add(
        "logged groups without a gap, unequal spread: gap claimed",
        [v == "gap_found" for v in repeat(4, lambda random: run_groups(random, 0.0))],
        # one test at .05: the share itself varies by its binomial error
        0.05 + _QUANTILE * float(np.sqrt(0.05 * 0.95 / count)),
        True,
    )
    add(
        "logged groups with a gap of .8 standard deviations of a cluster: found",
        [v == "gap_found" for v in repeat(5, lambda random: run_groups(random, 0.8))],
        LIMIT_FOUND,
        False,
    )
    notes = (
        f"A run tests {len(ATTRIBUTES)} attributes x {len(SCORES) + 1} metrics in one family (Holm at "
        f"{ERROR_RATE}); only one cell is shifted in the runs with a gap.",
        "Scores: the unit is the standard deviation of a pair's difference; its two answers correlate by .67. "
        "Refusals: one in ten on average, with chances that differ by template; both sides of a pair are drawn "
        "independently, which is the hard case: an application that mostly refuses the same questions has less "
        "noise.",
        f"Margins: {MARGIN_SCORE} standard deviations and {MARGIN_REFUSAL:.0%} of refusals.",
        "The responders are simulated; answers of a real application may vary differently.",
    )
    table = Table("Claims", ("what", "runs", "share", "95 % (Wilson)", "limit", ""), rows)
    return Outcome("bias", "Bias: gaps found and claimed", [table], notes, is_quick, is_within)


if __name__ == "__main__":
    sys.exit(run_alone("bias", __doc__, run))
