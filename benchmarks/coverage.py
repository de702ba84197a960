"""Coverage of conformal sets: 500 resplits of labelled answers by cluster, the exact law in simulation, and a peer.

Each resplit deals whole clusters to `fit` (the calibrator), `conformalize` (the quantiles) and `test`. Two promises are
kept apart. With rows as their own clusters the quantile is the plain order statistic, and the mean coverage of rows is
what it is about. With clusters it weighs siblings, and the promise is for a row drawn at random from a new cluster:
coverage is then the mean over clusters of the share of covered rows (`hcat.calibration.conformal`).
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from benchmarks.calibration import Answers, read_answers
from benchmarks.harness import BenchmarkError, Outcome, Table, argument_parser, data_folder, finish, verdict
from hcat.calibration.calibrators import fit_calibrator, label_scores
from hcat.calibration.conformal import (
    SET_KINDS,
    STRATIFICATIONS,
    conformal_rank,
    fit_conformal,
    measure_coverage,
)
from hcat.statistics.arrays import Floats
from hcat.statistics.multiple_tests import holm

ALPHAS = (0.05, 0.10, 0.20)
#: Distance of mean coverage from 1 - alpha.
LIMIT_DISTANCE = 0.01
#: A simulated law is refuted below this P-value, after Holm's adjustment for all of them.
LIMIT_P_VALUE = 0.001
COUNT_RESPLITS = 500
#: Shares of clusters: fit, conformalize; the rest is test.
SHARES = (0.2, 0.6)
SEED = 20260101

_SIZES = (50, 200)
_COUNT_LAWS = 2_000
_SCOPES = {"marginal": "marginal", "label_conditional": "label"}
_NAMES = {"marginal": "marginal", "label_conditional": "per true label"}


@dataclass(frozen=True, slots=True)
class MeanCoverage:
    """Mean coverage of one cell over resplits.

    Attributes
    ----------
    by_row, by_cluster : float
        Mean over resplits of the share of covered rows, and of the mean over clusters of that share, in [0, 1].
    count_clusters : float
        Mean number of clusters that the quantile rests on.
    """

    by_row: float
    by_cluster: float
    count_clusters: float


#: (stratification, does the quantile weigh siblings?, name of the cell).
Cell = tuple[str, bool, str]


def resplit(
    answers: Answers, alpha: float, count: int, seed: int = SEED
) -> tuple[dict[Cell, MeanCoverage], dict[tuple[str, bool], Floats]]:
    """Return the mean coverage of every cell, and the mean shares of :data:`SET_KINDS`, over ``count`` resplits.

    Resplits whose fold `fit` allows no calibrator are drawn again; quantiles see rows of `conformalize` alone.
    """
    random = np.random.default_rng(seed)
    names, codes = np.unique(answers.clusters, return_inverse=True)
    limits = np.cumsum(SHARES) * len(names)
    found: dict[Cell, list[tuple[float, float, float]]] = {}
    shares: dict[tuple[str, bool], list[list[float]]] = {}
    done = 0
    while done < count:
        fold = np.digitize(random.permutation(len(names)), limits)[codes]
        fit, conformalize, test = fold == 0, fold == 1, fold == 2
        labelled = label_scores(answers.scores[fit], answers.labels[fit], answers.clusters[fit], is_probability=True)
        calibrator = fit_calibrator(labelled, "logistic").calibrator
        if calibrator is None:
            continue
        done += 1
        probabilities = calibrator.apply(answers.scores)
        for stratification in STRATIFICATIONS:
            for has_siblings in (False, True):
                fitted = fit_conformal(
                    probabilities[conformalize],
                    answers.labels[conformalize],
                    alpha,
                    stratification=stratification,
                    clusters=answers.clusters[conformalize] if has_siblings else None,
                )
                sets = fitted.predict(probabilities[test])
                shares.setdefault((stratification, has_siblings), []).append(
                    [sets.shares()[kind] for kind in SET_KINDS]
                )
                counts = {cell.label: cell.count_clusters for cell in fitted.cells}
                for one in measure_coverage(sets, answers.labels[test], clusters=answers.clusters[test]):
                    if one.scope == _SCOPES[stratification]:
                        rests_on = counts[one.label]
                        figures = (one.count_covered / one.count_rows, one.coverage, float(rests_on))
                        found.setdefault((stratification, has_siblings, _name(one.label)), []).append(figures)
    means = {cell: MeanCoverage(*np.mean(figures, axis=0).tolist()) for cell, figures in found.items()}
    return means, {key: np.mean(values, axis=0) for key, values in shares.items()}


def _name(label: int | None) -> str:
    if label is None:
        return "all"
    return "grounded" if label else "hallucinated"


def judge(cell: Cell, found: MeanCoverage, alpha: float) -> tuple[float, bool, str]:
    """Return (mean coverage in the promise's own weights, is it within the limit, limit in words)."""
    coverage = found.by_cluster if cell[1] else found.by_row
    words = f"-{LIMIT_DISTANCE:.3f} to +{LIMIT_DISTANCE:.3f}"
    return coverage, abs(coverage - (1 - alpha)) <= LIMIT_DISTANCE, words


def simulate_laws(count_draws: int = _COUNT_LAWS, seed: int = SEED) -> list[tuple[int, float, float, float, float]]:
    """Return (n, alpha, mean coverage, expected mean, P-value adjusted) of fitted quantiles on independent rows.

    With P(Y = 1) uniform and Y = 1 throughout, the nonconformity is uniform, so that the coverage of a fit is its
    quantile. It must follow Beta(k, n + 1 - k); tested by Kolmogorov-Smirnov.
    """
    from scipy import stats

    random = np.random.default_rng(seed)
    cases = [(size, alpha) for size in _SIZES for alpha in ALPHAS]
    figures, p_values = [], []
    for size, alpha in cases:
        labels = np.ones(size, dtype=np.int64)
        coverages = [
            fit_conformal(random.random(size), labels, alpha, stratification="marginal").cells[0].quantile
            for _ in range(count_draws)
        ]
        rank = conformal_rank(size, alpha)
        law = stats.beta(rank, size + 1 - rank)
        p_values.append(float(stats.kstest(coverages, law.cdf).pvalue))
        figures.append((size, alpha, float(np.mean(coverages)), float(law.mean())))
    return [(*figure, adjusted) for figure, adjusted in zip(figures, holm(p_values).tolist(), strict=True)]


def count_differences(answers: Answers, alpha: float, seed: int = SEED) -> dict[str, tuple[int, int]]:
    """Return, per stratification, how many labels of how many are in one set and not in that of `crepes`.

    One row of every second cluster conformalizes, and the rows of the other clusters get sets. `crepes` keeps a label
    whose P-value equals alpha, the order statistic does not: its confidence is lower by 1e-9.
    """
    try:
        from crepes import ConformalClassifier  # type: ignore[import-untyped]
    except ImportError as error:
        raise BenchmarkError("the comparison needs crepes, one of the development extras") from error

    _, codes = np.unique(answers.clusters, return_inverse=True)
    order = np.random.default_rng(seed).permutation(len(codes))
    _, first = np.unique(codes[order], return_index=True)
    chosen = order[first][::2]
    new = ~np.isin(codes, codes[chosen])
    scores = np.column_stack([answers.scores, 1 - answers.scores])
    confidence = 1 - alpha - 1e-9
    found = {}
    for stratification in STRATIFICATIONS:
        fitted = fit_conformal(
            answers.scores[chosen],
            answers.labels[chosen],
            alpha,
            stratification=stratification,
        )
        own = fitted.predict(answers.scores[new]).includes
        if stratification == "label_conditional":
            bins: npt.NDArray[np.str_] = answers.labels.astype(np.str_)
            peer = ConformalClassifier().fit(fitted.scores, bins=bins[chosen])
            columns = [
                peer.predict_set(
                    scores[new], bins=np.full(new.sum(), str(label)), confidence=confidence, smoothing=False
                )[:, label]
                for label in (0, 1)
            ]
            other = np.column_stack(columns)
        else:
            bins = np.full(len(codes), "all")
            peer = ConformalClassifier().fit(fitted.scores, bins=bins[chosen])
            other = peer.predict_set(scores[new], bins=bins[new], confidence=confidence, smoothing=False)
        found[stratification] = (int((own != (np.asarray(other) > 0)).sum()), own.size)
    return found


def run(is_quick: bool = False) -> Outcome | None:
    """Return the outcome; None when the data are not there."""
    data = data_folder("ragtruth")
    if data is None:
        return None
    answers = read_answers(data)
    count = COUNT_RESPLITS // 25 if is_quick else COUNT_RESPLITS
    met = True
    lines, kinds = [], []
    for alpha in ALPHAS:
        means, shares = resplit(answers, alpha, count)
        for cell, found in sorted(means.items(), key=lambda item: (STRATIFICATIONS.index(item[0][0]), item[0])):
            coverage, is_within, words = judge(cell, found, alpha)
            met &= is_within
            stratification, has_siblings, name = cell
            lines.append(
                (
                    f"{_NAMES[stratification]}, {name}",
                    f"{1 - alpha:.2f}",
                    "by cluster" if has_siblings else "by row",
                    f"{coverage:.4f}",
                    f"{coverage - 1 + alpha:+.4f}",
                    words,
                    verdict(is_within),
                    f"{found.by_row if has_siblings else found.by_cluster:.4f}",
                    f"{found.count_clusters:.0f}",
                )
            )
        kinds += [_describe_kinds(alpha, key, values) for key, values in sorted(shares.items())]
    laws = simulate_laws(_COUNT_LAWS // 10 if is_quick else _COUNT_LAWS)
    met &= all(law[4] >= LIMIT_P_VALUE for law in laws)
    differences = {alpha: count_differences(answers, alpha) for alpha in ALPHAS}
    met &= all(count == 0 for by_kind in differences.values() for count, _ in by_kind.values())
    tables = [
        Table(
            f"Mean coverage over {count} resplits of {len(np.unique(answers.clusters))} clusters",
            (
                "quantile",
                "promised",
                "promise and mean",
                "mean coverage",
                "distance",
                "limit",
                "verdict",
                "the other mean",
                "conformalizing units",
            ),
            lines,
        ),
        Table("Sets, mean share of rows", ("quantile, promised", "empty", "one label", "both labels"), kinds),
        Table(
            f"Independent rows: coverage of {_COUNT_LAWS // 10 if is_quick else _COUNT_LAWS:,} fits against "
            "Beta(k, n + 1 - k)",
            ("n, promised", "mean", "expected", "P-value (Kolmogorov-Smirnov, Holm)", "verdict"),
            [
                (
                    f"{size}, {1 - alpha:.2f}",
                    f"{mean:.4f}",
                    f"{expected:.4f}",
                    f"{p_value:.3f}",
                    verdict(p_value >= LIMIT_P_VALUE),
                )
                for size, alpha, mean, expected, p_value in laws
            ],
        ),
        _compare(differences),
    ]
    notes = [
        f"Clusters: {SHARES[0]:.0%} go to `fit` (a logistic calibrator of the out-of-fold score), {SHARES[1]:.0%} "
        "to `conformalize`, the rest to `test`; rows `split = test`, on average "
        f"{len(answers.labels) / len(np.unique(answers.clusters)):.1f} rows a cluster.",
        "`by row`: every row counts as a cluster of its own, and the promise is about the mean row. `by cluster` (the "
        "default where rows have siblings): the promise is about a random row of a new cluster, so that a cluster "
        "with few rows of a class weighs as much as one with many. Per true label the two means differ widely, "
        "because clusters with one hallucinated answer are unlike those with six: each quantile keeps its promise "
        "only in its own mean.",
        "A marginal quantile hides differences between labels.",
    ]
    return Outcome("coverage", "Coverage of prediction sets", tables, notes, is_quick, is_quick or met)


def _describe_kinds(alpha: float, key: tuple[str, bool], values: Floats) -> tuple[str, str, str, str]:
    by_kind: Mapping[str, float] = dict(zip(SET_KINDS, values.tolist(), strict=True))
    stratification, has_siblings = key
    name = f"{_NAMES[stratification]}, {'by cluster' if has_siblings else 'by row'}, {1 - alpha:.2f}"
    return name, f"{by_kind['empty']:.3f}", f"{by_kind['single']:.3f}", f"{by_kind['all']:.3f}"


def _compare(differences: Mapping[float, Mapping[str, tuple[int, int]]]) -> Table:
    return Table(
        "The same rows through crepes: labels in one set and not in the other",
        ("quantile", *[f"alpha {alpha}" for alpha in differences]),
        [
            (
                _NAMES[stratification],
                *[
                    f"{by_kind[stratification][0]} of {by_kind[stratification][1]:,}"
                    for by_kind in differences.values()
                ],
            )
            for stratification in STRATIFICATIONS
        ],
    )


def main(arguments: list[str] | None = None) -> int:
    """Run from the command line; exit code 1 when a limit is missed."""
    parser = argument_parser("coverage", __doc__.splitlines()[0])
    options = parser.parse_args(arguments)
    outcome = run(options.quick)
    if outcome is None:
        parser.exit(2, "coverage: HCAT_BENCHMARK_DATA must name a folder that holds ragtruth\n")
    return finish(outcome, "python -m benchmarks.coverage")


if __name__ == "__main__":
    sys.exit(main())
