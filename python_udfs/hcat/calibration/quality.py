"""What a calibrated probability is worth on labels that its calibrator never saw, with intervals by cluster.

y = 1 means that people accept the answer; a probability is P(y = 1). A type I error is a false accept, a type II error
a false reject, as in Sarmah et al. 2024 (step 1C), whose positive is a pass. F1 elsewhere takes the failure as its
positive; these two rates do not turn with it.

Intervals resample whole clusters (percentile bootstrap, Efron and Tibshirani 1993, section 13.3). Every figure of the
same rows has the same draws. scikit-learn's Brier score, log loss and AUROC are those of one draw; here a thousand
draws are weighed at once. The bootstrap cannot see what is missing where one side of a share has fewer than 10 cases,
or the share fewer than 10 clusters. The interval is then that of Wilson (1927) on Kish's effective number of clusters.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from hcat.calibration.calibrator_tables import read_calibrators
from hcat.calibration.calibrators import log_losses
from hcat.calibration.targets import as_texts, read_targets
from hcat.engine.columns import schema
from hcat.statistics.arrays import Flags, Floats, Integers, ratio
from hcat.statistics.clusters import draw_clusters, mean_and_error, sum_by_cluster
from hcat.statistics.intervals import kish, normal_quantile, t_quantile, wilson_interval

#: Calibrated probability from which an answer passes: people then accept it more likely than not.
CUT_OFF: Final = 0.5
#: Bins of the reliability diagram and of the calibration error.
COUNT_BINS: Final = 10
COUNT_DRAWS: Final = 1_000
CONFIDENCE: Final = 0.95
MINIMUM_CLUSTERS: Final = 10
#: Below this many cases on one side of a share its interval is Wilson's.
MINIMUM_CASES: Final = 10
SEED: Final = 20260101

#: Log odds are held within this distance of 0.
LOGIT_BOUND: Final = 15.0
_NEWTON_STEPS = 60
_NEWTON_REACH = 3.0
_LARGEST_LOG_ODDS = 30.0
#: Newton converges quadratically: a last step of this length leaves an error far below it.
_NEWTON_TOLERANCE = 1e-7
#: Share of draws in which a figure must exist (both classes drawn, no separation), else it is `insufficient`.
_USABLE_DRAWS = 0.95
#: Numbers held at once: draws are taken in blocks of this many cells.
_BLOCK_CELLS = 200_000

_FIGURE = pa.struct(schema("string: name status method", "float64: value low high"))

_BIN = pa.struct(
    schema(
        "int32: position",
        "float64: lowest highest",
        "int64: count_labels count_clusters",
        "float64: mean_prediction share_accepted low high",
    )
)

_SYSTEM = pa.struct(
    schema(
        "string: system status method",
        "int64: count_labels count_clusters",
        "float64: share_accepted mean_prediction difference low high",
    )
)

MEASURED_SCHEMA = pa.schema(
    [
        *schema(
            "string: metric_name criterion family status",
            "bool: is_chosen",
            "int64: count_labels count_clusters",
            "string: calibration_error_status",
            "float64: calibration_error calibration_error_by_chance calibration_error_limit calibration_error_debiased",
        ),
        ("figures", pa.list_(_FIGURE)),
        ("bins", pa.list_(_BIN)),
        ("systems", pa.list_(_SYSTEM)),
    ]
)


class Figure(NamedTuple):
    """One figure of quality with its 95 % interval; value, low and high are None unless status is `measured`."""

    name: str
    status: str
    method: str | None = None  # of the interval: `cluster_bootstrap` or `wilson`
    value: float | None = None
    low: float | None = None
    high: float | None = None


class _Rows(NamedTuple):
    """Probabilities, labels as 0.0 or 1.0, codes of clusters from 0, weights of mean 1."""

    probabilities: Floats
    labels: Floats
    clusters: Integers
    weights: Floats

    @property
    def count_clusters(self) -> int:
        return len(np.unique(self.clusters))

    def take(self, chosen: Flags) -> _Rows:
        codes = np.unique(self.clusters[chosen], return_inverse=True)[1].astype(np.int64)
        return _Rows(self.probabilities[chosen], self.labels[chosen], codes, self.weights[chosen])

    def describe(self) -> dict[str, Any]:
        """Return the counts and the weighted means that a bin and a system have."""
        return {
            "count_labels": len(self.labels),
            "count_clusters": self.count_clusters,
            "share_accepted": float(np.average(self.labels, weights=self.weights)),
            "mean_prediction": float(np.average(self.probabilities, weights=self.weights)),
        }


def measure_calibrators(predictions: pa.Table, targets: pa.Table, calibrators: pa.Table, random_seed: int) -> pa.Table:
    """Return the quality of every fitted family on out-of-fold probabilities, beside that of an uncalibrated score."""
    calibrated = read_calibrators(calibrators)
    rows: list[dict[str, Any]] = []
    for target in read_targets(targets):
        known = calibrated.get(target.name)
        if known is None:
            nothing = {"family": "none", "status": "not_calibrated", "is_chosen": False}
            nothing |= {"count_labels": 0, "count_clusters": 0, "figures": [], "bins": [], "systems": []}
            rows.append(target.head | nothing)
            continue
        of_metric = predictions.filter(pc.field("metric_name") == target.name)
        for family in dict.fromkeys(of_metric["family"].to_pylist()):
            own = of_metric.filter(pc.field("family") == family).sort_by("interaction_id")
            found = (own["probability"].to_numpy(), own["label"].to_numpy(), as_texts(own["cluster_id"]))
            weights = 1 / own["inclusion_probability"].to_numpy()
            figures, columns = measure_quality(*found, own["share_accepted"].to_numpy(), weights, seed=random_seed)
            rows.append(
                target.head
                | {"family": family, "status": "measured", "is_chosen": family == known.in_force}
                | columns
                | {"figures": [figure._asdict() for figure in figures.values()]}
                | {"systems": calibration_in_the_large(*found, as_texts(own["system"]), weights)}
            )
    return pa.Table.from_pylist(rows, schema=MEASURED_SCHEMA)


def measure_quality(
    probabilities: npt.ArrayLike,
    labels: npt.ArrayLike,
    clusters: npt.ArrayLike,
    base_rate: float | Floats,
    weights: npt.ArrayLike | None = None,
    count_draws: int = COUNT_DRAWS,
    seed: int = SEED,
) -> tuple[dict[str, Figure], dict[str, Any]]:
    """Return every figure of quality of out-of-fold probabilities, and the other columns of the schema."""
    rows = _check(probabilities, labels, clusters, weights)
    counts = draw_clusters(np.random.default_rng(seed), rows.count_clusters, count_draws)
    p, y = rows.probabilities, rows.labels
    base_rates = np.broadcast_to(np.asarray(base_rate, dtype=np.float64), p.shape)
    everyone = np.ones(len(y))
    losses = log_losses(p, y > 0)
    figures = [
        _mean("brier_score", (p - y) ** 2, everyone, rows, counts),
        _mean("log_loss", losses, everyone, rows, counts),
        _mean("log_loss_difference", losses - log_losses(base_rates, y > 0), everyone, rows, counts),
        _auroc(rows, counts),
        _share("type_one_error", p >= CUT_OFF, 1 - y, rows, counts),
        _share("type_two_error", p < CUT_OFF, y, rows, counts),
        _regression("calibration_slope", rows, counts, has_slope=True),
        _regression("calibration_intercept", rows, counts, has_slope=False),
    ]
    error, bins = _calibration_error(rows, count_draws, seed)
    columns = error | {"bins": bins, "count_labels": len(y), "count_clusters": rows.count_clusters}
    return {figure.name: figure for figure in figures}, columns


def calibration_in_the_large(
    probabilities: npt.ArrayLike,
    labels: npt.ArrayLike,
    clusters: npt.ArrayLike,
    systems: npt.ArrayLike,
    weights: npt.ArrayLike | None = None,
) -> list[dict[str, Any]]:
    """Return mean label - mean prediction by system with an interval by cluster; below 0 the system is flattered."""
    rows, names = _check(probabilities, labels, clusters, weights), np.asarray(systems)
    found = []
    for system in np.unique(names).tolist():
        one = rows.take(names == system)
        row = {"system": str(system), "status": "measured"} | one.describe()
        share, prediction = row["share_accepted"], row["mean_prediction"]
        difference = share - prediction
        if one.count_clusters < MINIMUM_CLUSTERS:
            row["status"] = "insufficient"
        elif _is_rare(one.labels > 0, np.ones(len(one.labels))):
            low, high = _wilson(share, one.clusters, one.weights)
            row |= {"method": "wilson", "difference": difference, "low": low - prediction, "high": high - prediction}
        else:
            error = mean_and_error(one.labels - one.probabilities, one.clusters, one.weights)[1]
            reach = float(t_quantile((1 + CONFIDENCE) / 2, one.count_clusters - 1)) * error
            row |= {"method": "linearised", "difference": difference}
            row |= {"low": difference - reach, "high": difference + reach}
        found.append(row)
    return found


def _figure(name: str, value: float, draws: Floats) -> Figure:
    usable = draws[np.isfinite(draws)]
    if len(usable) < _USABLE_DRAWS * len(draws):
        return Figure(name, "insufficient")
    low, high = np.quantile(usable, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return Figure(name, "measured", "cluster_bootstrap", value, float(low), float(high))


def _mean(name: str, values: Floats, members: Floats, rows: _Rows, counts: Floats) -> Figure:
    """Return the mean of values over members (0 or 1 per row)."""
    if rows.count_clusters < MINIMUM_CLUSTERS:
        return Figure(name, "insufficient")
    if not members.any():
        return Figure(name, "one_class")
    sums = sum_by_cluster(rows.weights * members * values, rows.clusters)
    totals = sum_by_cluster(rows.weights * members, rows.clusters)
    return _figure(name, float(sums.sum() / totals.sum()), ratio(counts @ sums, counts @ totals))


def _share(name: str, is_case: Flags, members: Floats, rows: _Rows, counts: Floats) -> Figure:
    """Return the share of cases among members, its interval by Wilson where one side is rare."""
    figure = _mean(name, is_case.astype(np.float64), members, rows, counts)
    own = members > 0
    is_rare = _is_rare(is_case, members) or len(np.unique(rows.clusters[own])) < MINIMUM_CLUSTERS
    if figure.value is None or not is_rare:
        return figure
    low, high = _wilson(figure.value, rows.clusters[own], rows.weights[own])
    return figure._replace(method="wilson", low=low, high=high)


def _auroc(rows: _Rows, counts: Floats) -> Figure:
    status = _status_of_classes(rows)
    if status != "measured":
        return Figure("auroc", status)
    order = np.argsort(rows.probabilities, kind="stable")
    ordered, is_accepted = rows.probabilities[order], rows.labels[order]
    starts = np.concatenate([[0], np.flatnonzero(np.diff(ordered)) + 1])

    def values(weights: Floats) -> Floats:
        accepted = np.add.reduceat(weights[:, order] * is_accepted, starts, axis=1)
        failed = np.add.reduceat(weights[:, order] * (1 - is_accepted), starts, axis=1)
        concordant = (accepted * (np.cumsum(failed, axis=1) - failed / 2)).sum(axis=1)
        return ratio(concordant, accepted.sum(axis=1) * failed.sum(axis=1))

    return _bootstrap("auroc", values, rows, counts)


def _regression(name: str, rows: _Rows, counts: Floats, has_slope: bool) -> Figure:
    """Return the slope of labels on log odds, or the intercept beside them as an offset (calibration in the large)."""
    status = _status_of_classes(rows)
    bound = 1 / (1 + np.exp(LOGIT_BOUND))
    clipped = np.clip(rows.probabilities, bound, 1 - bound)
    log_odds = np.log(clipped) - np.log1p(-clipped)
    if status == "measured" and has_slope and np.ptp(log_odds) == 0:
        status = "constant_score"
    if status != "measured":
        return Figure(name, status)

    # products of standardised values are of one size
    center, scale = (log_odds.mean(), log_odds.std()) if has_slope else (0.0, 1.0)
    values, start = (log_odds - center) / scale, np.array([0.0, 0.0 if has_slope else 1.0])
    point = _regress(values, rows.labels, rows.weights[None, :], start, has_slope)[:, 0]
    if not np.isfinite(point).all():
        return Figure(name, "separated")

    def measure(weights: Floats) -> Floats:
        constants, slopes = _regress(values, rows.labels, weights, point, has_slope)
        return np.asarray(slopes / scale if has_slope else constants)

    return _bootstrap(name, measure, rows, counts)


def _status_of_classes(rows: _Rows) -> str:
    by_class = [len(np.unique(rows.clusters[rows.labels == label])) for label in (0, 1)]
    if rows.count_clusters < MINIMUM_CLUSTERS or 0 < min(by_class) < MINIMUM_CLUSTERS:
        return "insufficient"
    return "measured" if min(by_class) else "one_class"


def _regress(values: Floats, labels: Floats, weights: Floats, start: Floats, has_slope: bool) -> Floats:
    """Return intercepts and slopes of logistic regressions by Newton's method, shape (2, m), for m rows of weights."""
    from scipy.special import expit

    found = np.tile(start[:, None], len(weights))
    steps = np.zeros_like(found)
    for _ in range(_NEWTON_STEPS):
        log_odds = found[0][:, None] + found[1][:, None] * values
        shares = expit(np.clip(log_odds, -_LARGEST_LOG_ODDS, _LARGEST_LOG_ODDS))
        residual, curvature = weights * (labels - shares), weights * shares * (1 - shares)
        first, a = residual.sum(axis=1), curvature.sum(axis=1)
        if has_slope:
            second, b, c = residual @ values, curvature @ values, curvature @ values**2
            determinant = np.maximum(a * c - b * b, 1e-300)
            steps = np.stack([(c * first - b * second) / determinant, (a * second - b * first) / determinant])
        else:
            steps[0] = first / np.maximum(a, 1e-300)
        steps = np.clip(steps, -_NEWTON_REACH, _NEWTON_REACH)
        found = found + steps
        if np.abs(steps).max() < _NEWTON_TOLERANCE:
            break
    # where a cut parts the classes, no finite value exists (Albert and Anderson 1984)
    return np.where(np.abs(steps).max(axis=0) < _NEWTON_TOLERANCE, found, np.nan)


def _calibration_error(rows: _Rows, count_draws: int, seed: int) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the expected calibration error, the mean |share accepted - mean prediction|, also by chance; and bins."""
    bins = _bins(rows.probabilities)
    count_bins = int(bins.max()) + 1 if len(bins) else 0
    table = [_describe_bin(position, rows.take(bins == position)) for position in range(count_bins)]
    if rows.count_clusters < MINIMUM_CLUSTERS:
        return {"calibration_error_status": "insufficient"}, table
    members, total = np.eye(count_bins)[bins], rows.weights.sum()
    residuals = rows.labels - rows.probabilities
    masses = rows.weights @ members
    gaps = (rows.weights * residuals) @ members / masses
    random = np.random.default_rng(seed)
    # by chance: labels redrawn independently; the limit is the larger one where siblings share their errors
    by_chance = []
    for block in _blocks(count_draws, len(bins)):
        redrawn = random.random((block, len(bins))) < rows.probabilities
        by_chance.append(np.abs((rows.weights * (redrawn - rows.probabilities)) @ members).sum(axis=1) / total)
    null = np.concatenate(by_chance)
    signs = random.integers(0, 2, (count_draws, rows.count_clusters)) * 2.0 - 1.0
    deviations = sum_by_cluster((rows.weights * residuals)[:, None] * members, rows.clusters)
    null_of_clusters = np.abs(signs @ deviations).sum(axis=1) / total
    about_gap = sum_by_cluster((rows.weights * (residuals - gaps[bins]))[:, None] * members, rows.clusters)
    count_in_bin = np.array([one["count_clusters"] for one in table])
    # the part of the mean square that noise adds
    variances = count_in_bin / np.maximum(count_in_bin - 1, 1) * (about_gap**2).sum(axis=0) / masses**2
    return {
        "calibration_error_status": "measured",
        "calibration_error": float(masses @ np.abs(gaps) / total),
        "calibration_error_by_chance": float(null.mean()),
        "calibration_error_limit": float(max(np.quantile(one, CONFIDENCE) for one in (null, null_of_clusters))),
        "calibration_error_debiased": float(np.sqrt(max(0.0, masses @ (gaps**2 - variances) / total))),
    }, table


def _bins(probabilities: Floats) -> Integers:
    """Return the bin of each row: ranks cut into equal counts, equal probabilities in the bin of their lowest rank."""
    lowest_ranks = np.searchsorted(np.sort(probabilities), probabilities, side="left")
    raw = lowest_ranks * COUNT_BINS // max(len(probabilities), 1)
    return np.unique(raw, return_inverse=True)[1].astype(np.int64)


def _describe_bin(position: int, rows: _Rows) -> dict[str, Any]:
    row = {"position": position} | rows.describe()
    row |= {"lowest": float(rows.probabilities.min()), "highest": float(rows.probabilities.max())}
    row["low"], row["high"] = _wilson(row["share_accepted"], rows.clusters, rows.weights)
    return row


def _blocks(count_draws: int, count_rows: int) -> list[int]:
    """Return numbers of draws that add up to count_draws and hold at most _BLOCK_CELLS numbers each."""
    size = max(1, _BLOCK_CELLS // max(count_rows, 1))
    return [min(size, count_draws - start) for start in range(0, count_draws, size)]


def _bootstrap(name: str, values: Callable[[Floats], Floats], rows: _Rows, counts: Floats) -> Figure:
    """Return the figure of a function from row weights, shape (m, n), to values, shape (m,)."""
    point = float(values(rows.weights[None, :])[0])
    parts = np.split(counts, np.cumsum(_blocks(len(counts), len(rows.labels)))[:-1])
    draws = [values(part[:, rows.clusters] * rows.weights) for part in parts]
    return _figure(name, point, np.concatenate(draws))


def _is_rare(is_case: Flags, members: Floats) -> bool:
    count = float(is_case @ members)
    return min(count, float(members.sum()) - count) < MINIMUM_CASES


def _wilson(share: float, clusters: Integers, weights: Floats) -> tuple[float, float]:
    """Return the Wilson (1927) interval of a share on the effective number of clusters."""
    # a mean of ones may exceed 1 by rounding
    quantile = normal_quantile((1 + CONFIDENCE) / 2)
    return wilson_interval(min(1.0, share), kish(np.bincount(clusters, weights=weights)), quantile)


def _check(
    probabilities: npt.ArrayLike, labels: npt.ArrayLike, clusters: npt.ArrayLike, weights: npt.ArrayLike | None
) -> _Rows:
    p, y = np.asarray(probabilities, dtype=np.float64), np.asarray(labels, dtype=np.float64)
    if not ((p >= 0) & (p <= 1)).all():
        raise ValueError(f"probabilities must lie in [0, 1], got {p.min()} to {p.max()}")
    if not np.isin(y, [0, 1]).all():
        raise ValueError(f"labels must be 0 or 1, got {np.unique(y).tolist()}")
    codes = np.unique(np.asarray(clusters), return_inverse=True)[1].astype(np.int64)
    weight = np.ones(len(p)) if weights is None else np.asarray(weights, dtype=np.float64)
    return _Rows(p, y, codes, weight / weight.mean() if len(weight) else weight)
