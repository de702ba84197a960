"""Failure rates from few labels: coverage, bias and width of prediction-powered intervals.

Coverage and bias need a known truth and are simulated (`hcat.review.simulation.simulate_failure_rates`);
the width is that on labelled answers, predicted by the out-of-fold groundedness.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence

import numpy as np

from benchmarks.accuracy import lexical_regression
from benchmarks.calibration import Answers, read_answers
from benchmarks.harness import Outcome, Table, argument_parser, data_folder, finish, verdict
from hcat.review.simulation import SimulatedRates, simulate_failure_rates
from hcat.statistics.arrays import Floats
from hcat.statistics.prediction_powered import (
    TARGETS,
    Target,
    estimate_failure_rate,
)

RATES = (0.05, 0.1, 0.3, 0.5)
COUNTS = (100, 200)
#: Coverage of a 95 % interval.
LIMITS_COVERAGE = (0.93, 0.975)
#: Mean width of the interval over that of labels alone.
LIMIT_WIDTH = 0.86
#: |bias| in standard errors of the simulation (32 are looked at), or as a share of the rate: what counts as none.
LIMIT_BIAS_ERRORS = 3.5
LIMIT_BIAS_SHARE = 0.02
COUNT_DRAWS = 4_000
COUNT_SAMPLES = 500
#: Interactions of the simulation. Unequal sampling keeps a floor of .05, so that the plan needs room above it.
COUNT_INTERACTIONS = {False: 2_000, True: 1_000}
SEED = 20260101


def simulate(count_draws: int) -> dict[tuple[str, bool, float, int], SimulatedRates]:
    """Return what the simulation found by target, sampling (are labels drawn by ambiguity?), rate and labels."""
    found = {}
    for target in TARGETS:
        for is_by_ambiguity in (False, True):
            for rate in RATES:
                for count in COUNTS:
                    found[target, is_by_ambiguity, rate, count] = simulate_failure_rates(
                        rate,
                        count,
                        count_draws,
                        target=target,
                        is_by_ambiguity=is_by_ambiguity,
                        count_interactions=COUNT_INTERACTIONS[is_by_ambiguity],
                    )
    return found


def judge(found: SimulatedRates, rate: float, is_by_ambiguity: bool) -> tuple[bool, bool]:
    """Return whether the coverage and the bias are within their limits.

    Under unequal sampling a coverage above the upper limit is no fault: it is that of Wilson's interval on few
    effective labels.
    """
    low, high = LIMITS_COVERAGE[0], 1.0 if is_by_ambiguity else LIMITS_COVERAGE[1]
    return low <= found.coverage <= high, abs(found.bias) <= max(
        LIMIT_BIAS_ERRORS * found.bias_error, LIMIT_BIAS_SHARE * rate
    )


def measure_widths(
    answers: Answers, predictions: Floats, count_labels: int, target: Target, count_samples: int, seed: int = SEED
) -> tuple[float, float, float]:
    """Return (mean width over that of labels alone, share of samples with a ratio, coverage of these answers' rate).

    Each sample labels ``count_labels`` random answers; the others are known by their predictions P(failure) alone.
    """
    random = np.random.default_rng(seed)
    is_failure = answers.labels == 0
    truth = float(is_failure.mean())
    ratios, covered = [], []
    for _ in range(count_samples):
        rows = np.sort(random.choice(len(is_failure), count_labels, replace=False))
        found = estimate_failure_rate(
            is_failure[rows],
            predictions[rows],
            answers.clusters[rows],
            predictions,
            answers.clusters,
            target=target,
        )
        if found.low is None or found.high is None or found.labels_only is None:
            continue
        ratios.append((found.high - found.low) / (found.labels_only.high - found.labels_only.low))
        covered.append(found.low <= truth <= found.high)
    return float(np.mean(ratios)), len(ratios) / count_samples, float(np.mean(covered))


def run(is_quick: bool = False) -> Outcome | None:
    """Return the outcome; None when the data are not there."""
    data = data_folder("ragtruth")
    if data is None:
        return None
    answers = read_answers(data)
    count_draws, count_samples = (200, 50) if is_quick else (COUNT_DRAWS, COUNT_SAMPLES)
    simulated = simulate(count_draws)
    met = all(all(judge(found, rate, unequal)) for (_, unequal, rate, _), found in simulated.items())
    tables = [_tabulate_simulation(simulated, count_draws)]
    predictors: Mapping[str, Floats] = {
        "groundedness, out of fold": 1 - answers.scores,
        "lexical LR": 1 - lexical_regression(answers.rows),
    }
    lines = []
    for name, predictions in predictors.items():
        for target in TARGETS:
            for count in COUNTS:
                width, share, coverage = measure_widths(answers, predictions, count, target, count_samples)
                is_judged = name != "lexical LR"
                is_within = width <= LIMIT_WIDTH
                met &= is_within or not is_judged
                lines.append(
                    (
                        f"{name}, {target}",
                        str(count),
                        f"{width:.3f}",
                        f"<= {LIMIT_WIDTH}" if is_judged else "",
                        verdict(is_within) if is_judged else "",
                        f"{coverage:.3f}" if target == "these_interactions" else "",
                        f"{share:.3f}",
                    )
                )
    tables.append(
        Table(
            f"Labelled answers, n = {len(answers.labels):,}: width of the interval over that of the labels alone, mean "
            f"of {count_samples} random samples of labels",
            ("predictor, target", "labels", "width", "limit", "verdict", "coverage", "samples with a number"),
            lines,
        )
    )
    notes = [
        f"Simulation: {COUNT_INTERACTIONS[False]:,} interactions (unequal: {COUNT_INTERACTIONS[True]:,}), failure "
        "probability logistic(b + 2 x), predictions from an input that correlates at .8 with x, so that they are "
        "biased; `these_interactions` is the failure rate of these interactions, `process` that of the application "
        "that made them. Unequal: labels are drawn where predictions are ambiguous, with known probabilities. "
        f"Standard error of a coverage: {np.sqrt(0.05 * 0.95 / count_draws):.4f}.",
        f"Unbiased: |bias| at most {LIMIT_BIAS_ERRORS} standard errors of the simulation, or {LIMIT_BIAS_SHARE:.0%} "
        "of the rate. Where about 10 failures are expected, it depends on their number whether the rate is "
        "prediction-powered; this alone leaves a bias of 1 to 2 % of the rate.",
        "Where few failures or passes are expected among the labels, the interval uses the labels alone (status "
        "`labels_only`); the table shows the share of draws that were prediction-powered. Under unequal sampling "
        "small rates have few effective labels, and the interval then covers too often: it is wide, never too "
        "narrow.",
        "Widths count every sample; those of status `labels_only` have ratio 1. The rate of a process also varies "
        "with the clusters that happened to be asked, which predictions of these answers cannot reduce; its true "
        "value is unknown here, so that it has no coverage.",
    ]
    return Outcome("rates", "Failure rates from few labels", tables, notes, is_quick, is_quick or met)


def _tabulate_simulation(simulated: Mapping[tuple[str, bool, float, int], SimulatedRates], count_draws: int) -> Table:
    lines: list[Sequence[str]] = []
    for (target, is_by_ambiguity, rate, count), found in simulated.items():
        is_covered, is_unbiased = judge(found, rate, is_by_ambiguity)
        lines.append(
            (
                f"{target}, {'unequal' if is_by_ambiguity else 'equal'}, p = {rate}, n = {count}",
                f"{found.coverage:.4f}",
                verdict(is_covered),
                f"{found.coverage_labels_only:.4f}",
                f"{found.bias:+.5f} ({found.bias_error:.5f})",
                verdict(is_unbiased),
                f"{found.share_prediction_powered:.3f}",
                "none" if np.isnan(found.width_ratio) else f"{found.width_ratio:.3f}",
            )
        )
    columns = (
        "target, sampling, rate, labels",
        "coverage",
        f"{LIMITS_COVERAGE[0]} to {LIMITS_COVERAGE[1]} (unequal: from {LIMITS_COVERAGE[0]})",
        "labels alone",
        "bias (standard error)",
        "unbiased",
        "prediction-powered",
        "width ratio",
    )
    return Table(f"Simulation, {count_draws:,} draws a cell", columns, lines)


def main(arguments: list[str] | None = None) -> int:
    """Run from the command line; exit code 1 when a limit is missed."""
    parser = argument_parser("rates", __doc__.splitlines()[0])
    options = parser.parse_args(arguments)
    outcome = run(options.quick)
    if outcome is None:
        parser.exit(2, "rates: HCAT_BENCHMARK_DATA must name a folder that holds ragtruth\n")
    return finish(outcome, "python -m benchmarks.rates")


if __name__ == "__main__":
    sys.exit(main())
