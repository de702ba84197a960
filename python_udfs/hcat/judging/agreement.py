"""How far a metric and people agree: share, kappa, and whether answers that people accept score higher."""

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa

from hcat.calibration.agreement import (
    COUNT_DRAWS,
    MINIMUM_CLUSTERS,
    SEED,
    Agreement,
    close_interval,
    cohen_kappa,
    percent_agreement,
)
from hcat.engine.columns import schema
from hcat.statistics.arrays import Floats, ratio
from hcat.statistics.clusters import draw_clusters

STATISTICS: Final = ("percent_agreement", "cohen_kappa", "cohen_kappa_quadratic", "ranking_accuracy", "paired_accuracy")
"""The first two compare verdicts at the decided threshold, the third compares scale points (rubric alone)."""

_CELLS = 4_000_000

AGREEMENT_SCHEMA = schema(
    "string: metric_name reference statistic status interval_status",
    "float64: value low high",
    "int64: count_labelled count_compared count_clusters",
)


def ranking_accuracy(
    scores: Floats, labels: Floats, clusters: Sequence[str], count_draws: int = COUNT_DRAWS, seed: int = SEED
) -> Agreement:
    """Return the share of (accepted, failed) answers of which the accepted one has the higher score, in [0, 1]."""
    passed, failed, found = _tabulate("ranking_accuracy", "no_variation", scores, labels, clusters)
    if not passed.sum() or not failed.sum():
        return found

    def measure(counts: Floats) -> Floats:
        good, bad = counts @ passed, counts @ failed
        concordant = (good * (np.cumsum(bad, axis=1) - bad / 2)).sum(axis=1)
        return ratio(concordant, good.sum(axis=1) * bad.sum(axis=1))

    return _with_interval(measure, found, count_draws, seed)


def paired_accuracy(
    scores: Floats, labels: Floats, clusters: Sequence[str], count_draws: int = COUNT_DRAWS, seed: int = SEED
) -> Agreement:
    """Return the share of (accepted, failed) answers of one cluster of which the accepted one has the higher score."""
    passed, failed, found = _tabulate("paired_accuracy", "no_pairs", scores, labels, clusters)
    pairs = passed.sum(axis=1) * failed.sum(axis=1)
    if not pairs.sum():
        return found
    concordant = (passed * (np.cumsum(failed, axis=1) - failed / 2)).sum(axis=1)
    has_pair = pairs > 0
    found = found._replace(
        count_units=int((passed[has_pair] + failed[has_pair]).sum()), count_clusters=int(has_pair.sum())
    )
    # every draw holds clusters with a pair, so that the sum is never 0
    return _with_interval(
        lambda counts: (counts @ concordant[has_pair]) / (counts @ pairs[has_pair]), found, count_draws, seed
    )


def compare_with_reference(comparisons: pa.Table, count_draws: int, random_seed: int) -> pa.Table:
    """Return the agreement of every (metric, reference) of the comparisons, one row per statistic.

    Parameters
    ----------
    comparisons : Table
        metric_name, reference, cluster_id, oriented_score (higher is better), metric_label (0, 1, null without a
        threshold), label (0, 1), metric_point, scale_point (null where the metric has no points).
    count_draws : int
        Draws of the bootstrap over whole clusters.
    random_seed : int
        Its seed.

    Returns
    -------
    Table
        Schema :data:`AGREEMENT_SCHEMA`, ordered by metric, reference and :data:`STATISTICS`.
    """
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in comparisons.to_pylist():
        groups.setdefault((row["metric_name"], row["reference"]), []).append(row)
    rows = [
        {"metric_name": metric_name, "reference": reference, "count_labelled": len(members)}
        | figure._asdict()
        | {"count_compared": figure.count_units}
        for (metric_name, reference), members in sorted(groups.items())
        for figure in _figures(members, count_draws, random_seed)
    ]
    return pa.Table.from_pylist(rows, schema=AGREEMENT_SCHEMA)


def _figures(members: list[dict[str, Any]], count_draws: int, seed: int) -> list[Agreement]:
    scored = [row for row in members if row["oriented_score"] is not None]
    clusters = [row["cluster_id"] for row in scored]
    values = np.array([row["oriented_score"] for row in scored], dtype=np.float64)
    labels = np.array([row["label"] for row in scored], dtype=np.float64)
    decided = [row for row in scored if row["metric_label"] is not None]
    pointed = [row for row in scored if row["metric_point"] is not None and row["scale_point"] is not None]
    compared = [(statistic, decided, ("metric_label", "label")) for statistic in STATISTICS[:2]]
    compared += [(STATISTICS[2], pointed, ("metric_point", "scale_point"))] if pointed else []
    return [
        *(
            _compare(statistic, rows, columns, count_draws, seed)
            if rows
            else Agreement(statistic, "no_threshold" if scored else "no_scores")
            for statistic, rows, columns in compared
        ),
        ranking_accuracy(values, labels, clusters, count_draws, seed),
        paired_accuracy(values, labels, clusters, count_draws, seed),
    ]


def _compare(
    statistic: str, rows: list[dict[str, Any]], columns: tuple[str, str], count_draws: int, seed: int
) -> Agreement:
    """Return how far two columns agree."""
    ratings = np.array([[row[name] for name in columns] for row in rows], dtype=np.float64)
    codes = np.unique(np.array([row["cluster_id"] for row in rows], dtype=object), return_inverse=True)[1]
    if statistic == "percent_agreement":
        return percent_agreement(ratings, codes, count_draws, seed)
    return cohen_kappa(ratings, codes, "quadratic" if "quadratic" in statistic else "nominal", count_draws, seed)


def _tabulate(
    statistic: str, unknown: str, scores: Floats, labels: Floats, clusters: Sequence[str]
) -> tuple[Floats, Floats, Agreement]:
    """Return accepted and failed answers by cluster and score level, shape (n_clusters, n_levels), levels ascending."""
    levels, level_codes = np.unique(scores, return_inverse=True)
    names, cluster_codes = np.unique(np.asarray(clusters, dtype=object).astype(str), return_inverse=True)
    tables = np.zeros((2, len(names), len(levels)))
    np.add.at(tables, (labels.astype(np.int64), cluster_codes, level_codes), 1.0)
    status = unknown if len(scores) else "no_scores"
    return tables[1], tables[0], Agreement(statistic, status, count_units=len(scores), count_clusters=len(names))


def _with_interval(measure: Callable[[Floats], Floats], found: Agreement, count_draws: int, seed: int) -> Agreement:
    """Return the figure of all rows with its percentile interval over clusters."""
    value = float(measure(np.ones((1, found.count_clusters)))[0])
    found = found._replace(status="estimated", value=value, interval_status="too_few_clusters")
    if found.count_clusters < MINIMUM_CLUSTERS:
        return found
    random = np.random.default_rng(seed)
    block = max(1, _CELLS // max(found.count_units, 1))
    sizes = (min(block, count_draws - start) for start in range(0, count_draws, block))
    draws = np.concatenate([measure(draw_clusters(random, found.count_clusters, size)) for size in sizes])
    return close_interval(found, value, [draws])
