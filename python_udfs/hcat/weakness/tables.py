"""Weaknesses as an Arrow table: one row per cell with value, interval, difference to the rest, tests and severity.

The statistics are those of :mod:`hcat.weakness.statistics`; here rows become the arrays it reads, and its results rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hcat.statistics.arrays import Flags, Floats, Integers, Keys, Texts
from hcat.statistics.clustered import mean_bounds
from hcat.statistics.clusters import JackknifeEstimates
from hcat.weakness.headline import Pieces, judge_headline
from hcat.weakness.statistics import (
    MEASUREMENTS,
    SHARES,
    Cells,
    WeaknessSettings,
    add_headline,
    can_be_tested,
    cell_mean_bounds,
    cell_share_bounds,
    detectable_difference,
    interactions_needed,
    judge_cells,
    shrink,
    turn,
    with_whole,
)

#: Why a cell has a P-value or none.
TEST_STATUSES: Final = {
    "tested": "has a P-value and a place in a family",
    "too_few_clusters": "fewer clusters than the least, in the cell or in its rest",
    "no_threshold": "nobody has decided a threshold, so nothing fails",
    "no_scores": "no interaction of the cell has a score",
    "constant": "the metric gave every interaction the same",
    "no_rest": "the cell holds everything",
    "not_in_family": "the metric has no rule, or the dimension is made of the metric itself",
}

#: Family -> what its adjusted P-values promise.
FAMILIES: Final = {
    "headline": "few cells of one metric, declared in advance: the chance of any false flag among them",
    "other": "all other cells of all metrics: the share of false ones among the flagged",
}

WEAKNESS_SCHEMA: Final = pa.schema(
    [
        ("cell_id", pa.string()),
        ("metric_name", pa.string()),
        ("first_dimension", pa.string()),
        ("first_segment", pa.string()),
        ("second_dimension", pa.string()),
        ("second_segment", pa.string()),
        ("measurement", pa.string()),
        ("test_status", pa.string()),
        ("family", pa.string()),
        ("severity", pa.string()),
        *((name, pa.int64()) for name in ("count_interactions", "count_scored", "count_clusters", "count_failing")),
        *(
            (name, pa.float64())
            for name in (
                "clusters_effective",
                "mean_score",
                "mean_score_lower",
                "mean_score_upper",
                "standard_deviation",
                "share_failing",
                "share_failing_lower",
                "share_failing_upper",
                "share_failing_of_all",
                "value",
                "value_lower",
                "value_upper",
                "shrunken_value",
                "rest_value",
                "difference",
                "difference_lower",
                "difference_upper",
                "difference_bound",
                "difference_standard_error",
                "degrees_of_freedom",
                "p_value",
                "q_value",
                "cut_off",
                "margin",
                "minimum_detectable_difference",
                "count_needed_to_flag",
                "count_needed_to_confirm",
                "largest_cluster_share",
            )
        ),
        ("is_dominated", pa.bool_()),
        ("is_weak", pa.bool_()),
    ]
)


_WHOLE = "all"
_KEY_COLUMNS: Final = (
    "cell_id",
    "metric_name",
    "first_dimension",
    "first_segment",
    "second_dimension",
    "second_segment",
)


class Headline(NamedTuple):
    """The headline family, declared before the scores are seen.

    Attributes
    ----------
    pieces : Table
        int_headline_pieces: metric_name (the same everywhere), cluster_id, jackknife_group, cells (keys of declared
        cells, joined by commas), count_rows, sum_values (higher = worse), sum_squares.
    cells : Table
        int_metric_cells: cell_id, cell_key, metric_name.
    least_groups : int
        Jackknife groups that a headline cell and its rest need.
    count_cells : int
        Cells of the family at most, those with most clusters first. No score has a say in the choice.
    level : float
        Probability that any cell is flagged although none is worse, in (0, 1).
    count_draws, random_seed : int
        Of the bootstrap.
    """

    pieces: pa.Table
    cells: pa.Table
    least_groups: int
    count_cells: int
    level: float
    count_draws: int
    random_seed: int


def judge_weaknesses(
    estimates: pa.Table,
    rules: pa.Table,
    severities: pa.Table,
    catalog: pa.Table,
    settings: WeaknessSettings,
    headline: Headline | None = None,
) -> pa.Table:
    """Return one row per cell: its value with interval, its difference to the rest, and what the tests say.

    Parameters
    ----------
    estimates : Table
        Of :func:`hcat.weakness.estimates.estimate_cells`. Each metric has the cell `all`, `all` of all its rows.
    rules : Table
        The seed weakness_rules: metric_name, measurement, margin, excluded_dimensions (joined by `|`, or null). A rule
        for a metric without cells changes nothing.
    severities : Table
        The seed weakness_severities: measurement, severity, difference_from.
    catalog : Table
        metric_name, direction (`higher_is_better`, `lower_is_better`), range_low, range_high (null = unbounded).
    settings : WeaknessSettings
    headline : Headline, optional
        Without it every cell is in the other family.

    Returns
    -------
    Table
        Schema :data:`WEAKNESS_SCHEMA`, ordered by metric, dimensions and segments. A metric without a rule shows its
        mean score and no test.

    Raises
    ------
    ValueError
        If a rule names an unknown measurement or metric or has a negative margin, a metric lacks its cell `all`, a
        severity names an unknown measurement, or the headline has several metrics.

    Examples
    --------
    Answers in the app score .2 below the rest, with a standard error of .04.

    >>> cells = {"cell_id": ["w", "a"], "first_dimension": ["all", "channel"], "first_segment": ["all", "app"]}
    >>> cells |= {name: pa.nulls(2, pa.string()) for name in ("second_dimension", "second_segment")}
    >>> cells |= {"metric_name": ["groundedness"] * 2, "measurement": ["mean_score"] * 2}
    >>> counts = ("count_interactions", "count_scored", "count_clusters", "jackknife_groups", "clusters_effective")
    >>> cells |= {name: [100.0, 50.0] for name in counts}
    >>> cells |= {name: [0.0, 50.0] for name in ("count_scored_rest", "jackknife_groups_rest")}
    >>> cells |= {"clusters_carrying": pa.nulls(2, pa.float64()), "largest_share": [0.01, 0.02]}
    >>> cells |= {"value": [0.8, 0.7], "standard_deviation": [0.2, 0.2], "standard_error": [0.02, 0.03]}
    >>> cells |= {"rest_value": [None, 0.9], "difference": [None, -0.2], "difference_standard_error": [None, 0.04]}
    >>> rule = {"metric_name": ["groundedness"], "measurement": ["mean_score"], "margin": [0.05]}
    >>> rules = pa.table(rule | {"excluded_dimensions": pa.nulls(1, pa.string())})
    >>> severities = pa.table({"measurement": ["mean_score"], "severity": ["high"], "difference_from": [0.1]})
    >>> catalog = pa.table({"metric_name": ["groundedness"], "direction": ["higher_is_better"]})
    >>> catalog = catalog.append_column("range_low", [[0.0]]).append_column("range_high", [[1.0]])
    >>> found = judge_weaknesses(pa.table(cells), rules, severities, catalog, WeaknessSettings(0.05, 0.95, 0.8, 10))
    >>> [(row["first_segment"], row["test_status"], row["severity"]) for row in found.to_pylist()]
    [('all', 'no_rest', None), ('app', 'tested', 'high')]
    """
    _check_seeds(rules, severities)
    keys = _read_cells(estimates)
    parts = {
        measurement: _read_measurement(
            estimates.filter(pc.equal(estimates["measurement"], measurement)), keys, measurement
        )
        for measurement in MEASUREMENTS
    }
    rule_of = {row["metric_name"]: row for row in rules.to_pylist()}
    direction_of = dict(zip(catalog["metric_name"].to_pylist(), catalog["direction"].to_pylist(), strict=True))
    measurements, margins, in_family, signs = _apply_rules(keys, rule_of, direction_of)
    whole = turn(_choose(parts, measurements), signs)
    is_share = np.isin(measurements, SHARES)
    status = _test_statuses(keys, parts, whole, measurements, in_family, settings)
    family = None if headline is None else choose_cells(headline)
    members = _find_headline(keys, family, in_family)
    is_headline = np.isin(np.arange(len(status)), members)
    # the draws know how little few clusters say, so the fewest clusters of the other family do not bind
    status[is_headline] = "tested"
    judged = judge_cells(whole, (status == "tested") & ~is_headline, margins, settings)
    if headline is not None and family is not None and len(members):
        pieces = family.pieces(is_share=bool(is_share[members[0]]))
        tests = judge_headline(pieces, headline.level, headline.count_draws, headline.random_seed)
        judged = add_headline(judged, tests, members, whole, margins, settings, headline.level)
    means, shares = parts["mean_score"], parts["share_failing"]
    described = _described(estimates, keys)
    limits = _ranges(keys, catalog)
    mean_low, mean_high = np.clip(cell_mean_bounds(means, settings.confidence), *limits)
    share_low, share_high = cell_share_bounds(shares, settings.confidence)
    # whatever is tested has the interval of its kind
    as_share = replace(whole, value=np.where(is_share, whole.value, np.nan))
    own_share = cell_share_bounds(as_share, settings.confidence)
    low, high = np.where(is_share, own_share, (mean_low, mean_high))
    has_difference = can_be_tested(whole, 2)
    error = np.where(has_difference, whole.test_error, np.nan)
    degrees = np.where(has_difference, whole.degrees_of_freedom, np.nan)
    difference_low, difference_high = mean_bounds(whole.difference, error, degrees, settings.confidence)
    needed_to_flag, needed_to_confirm = interactions_needed(whole, margins, judged.cut_off, settings)
    # no two values of a scale lie further apart than its ends; few clusters would say more than that
    span = np.where(is_share, 1.0, limits[1] - limits[0])
    columns: dict[str, Any] = {
        **{name: keys.columns[name] for name in _KEY_COLUMNS},
        "measurement": measurements,
        "test_status": status,
        "family": [_family(*of_cell) for of_cell in zip(status.tolist(), is_headline.tolist(), strict=True)],
        "severity": _severities(whole.difference, judged.is_weak, measurements, severities),
        "count_interactions": described["count_interactions"],
        "count_scored": means.count_scored,
        "count_clusters": means.clusters,
        "count_failing": np.where(shares.count_scored > 0, np.round(shares.value * shares.count_scored), np.nan),
        "clusters_effective": means.clusters_effective,
        "mean_score": means.value,
        "mean_score_lower": mean_low,
        "mean_score_upper": mean_high,
        "standard_deviation": described["standard_deviation"],
        "share_failing": shares.value,
        "share_failing_lower": share_low,
        "share_failing_upper": share_high,
        "share_failing_of_all": parts["share_failing_of_all"].value,
        "value": whole.value,
        "value_lower": low,
        "value_upper": high,
        "shrunken_value": _shrink_cells(keys, whole),
        "rest_value": whole.rest_value,
        "difference": whole.difference,
        "difference_lower": np.maximum(difference_low, -span),
        "difference_upper": np.minimum(difference_high, span),
        "difference_bound": judged.difference_bound,
        "difference_standard_error": error,
        "degrees_of_freedom": degrees,
        "p_value": judged.p_value,
        "q_value": judged.q_value,
        "cut_off": judged.cut_off,
        "margin": margins,
        "minimum_detectable_difference": detectable_difference(whole, is_share, margins, judged.critical, settings),
        "count_needed_to_flag": needed_to_flag,
        "count_needed_to_confirm": needed_to_confirm,
        "largest_cluster_share": whole.largest_share,
        "is_dominated": whole.is_dominated,
        "is_weak": judged.is_weak,
    }
    return pa.table([_to_arrow(columns[entry.name], entry.type) for entry in WEAKNESS_SCHEMA], schema=WEAKNESS_SCHEMA)


class _Keys(NamedTuple):
    """The cells in the order of the result.

    Attributes
    ----------
    columns : dict of str to Array
        :data:`_KEY_COLUMNS`.
    metrics : ndarray of str, shape (n_cells,)
    dimensions : ndarray of int, shape (n_cells,)
        Code of (metric, first dimension, second dimension).
    first, second : ndarray of int, shape (n_cells,)
        Codes of the segments of the two dimensions.
    is_whole, is_pair : ndarray of bool, shape (n_cells,)
        Cells of all rows of a metric, and cells of two dimensions.
    positions : dict of str to int
        cell_id -> position.
    wholes : ndarray of int, shape (n_cells,)
        Position of the metric's cell `all`.
    """

    columns: dict[str, pa.Array]
    metrics: Keys
    dimensions: Integers
    first: Integers
    second: Integers
    is_whole: Flags
    is_pair: Flags
    positions: dict[str, int]
    wholes: Integers


def _read_cells(estimates: pa.Table) -> _Keys:
    is_key = pc.equal(estimates["measurement"], "mean_score")
    ordering = [(name, "ascending") for name in (*_KEY_COLUMNS[1:], "cell_id")]
    cells = estimates.filter(is_key).select(list(_KEY_COLUMNS)).sort_by(ordering).combine_chunks()
    columns = {name: cells[name].combine_chunks() if cells.num_rows else cells[name] for name in _KEY_COLUMNS}
    positions = {cell: position for position, cell in enumerate(cells["cell_id"].to_pylist())}
    if len(positions) != cells.num_rows:
        raise ValueError(
            f"a cell must have one row per measurement, got {cells.num_rows} rows for {len(positions)} cells"
        )
    metrics = np.asarray(cells["metric_name"].to_pylist(), dtype=object)
    is_whole = np.asarray([dimension == _WHOLE for dimension in cells["first_dimension"].to_pylist()], dtype=bool)
    whole_of = {metrics[position]: position for position in np.flatnonzero(is_whole).tolist()}
    without = sorted(set(metrics.tolist()) - set(whole_of))
    if without:
        raise ValueError(f"every metric must have the cell 'all', got none for {', '.join(without)}")
    return _Keys(
        columns,
        metrics,
        _codes(cells, ("metric_name", "first_dimension", "second_dimension")),
        _codes(cells, ("first_segment",)),
        _codes(cells, ("second_segment",)),
        is_whole,
        np.asarray(cells["second_dimension"].is_valid().to_pylist(), dtype=bool),
        positions,
        np.asarray([whole_of[metric] for metric in metrics.tolist()], dtype=np.int64),
    )


def _codes(table: pa.Table, names: tuple[str, ...]) -> Integers:
    """Return whole numbers for the distinct tuples of some columns, shape (n,)."""
    known: dict[tuple[str | None, ...], int] = {}
    rows = zip(*(table[name].to_pylist() for name in names), strict=True)
    return np.asarray([known.setdefault(row, len(known)) for row in rows], dtype=np.int64)


def _read_measurement(rows: pa.Table, keys: _Keys, measurement: str) -> Cells:
    targets = np.asarray([keys.positions[cell] for cell in rows["cell_id"].to_pylist()], dtype=np.int64)

    def column(name: str, missing: float) -> Floats:
        values = np.full(len(keys.metrics), missing)
        found = rows[name].cast(pa.float64()).to_numpy()
        values[targets] = np.where(np.isnan(found), missing, found)
        return values

    # a count that is missing is 0, a figure that is missing is none
    counts = ("count_scored", "jackknife_groups", "count_scored_rest", "jackknife_groups_rest")
    arrays = {name: column(name, 0.0 if name in counts else np.nan) for name in JackknifeEstimates._fields}
    spread = (
        np.sqrt(arrays["value"] * (1 - arrays["value"]))
        if measurement in SHARES
        else column("standard_deviation", np.nan)
    )
    return with_whole(arrays, column("count_clusters", 0.0), spread, keys.wholes)


def _described(estimates: pa.Table, keys: _Keys) -> dict[str, Floats]:
    """Return what describes a cell and has no part in its tests: its interactions, and the deviation of its scores."""
    rows = estimates.filter(pc.equal(estimates["measurement"], "mean_score"))
    positions = [keys.positions[cell] for cell in rows["cell_id"].to_pylist()]
    found = {}
    for name in ("count_interactions", "standard_deviation"):
        found[name] = np.full(len(keys.metrics), np.nan)
        found[name][positions] = rows[name].cast(pa.float64()).to_numpy()
    return found


def _family(status: str, is_headline: bool) -> str | None:
    return None if status != "tested" else "headline" if is_headline else "other"


class _Family(NamedTuple):
    """The chosen cells of the headline, and where the rows of its pieces lie.

    Attributes
    ----------
    metrics : list of str
        Metrics of the pieces.
    cell_ids : list of str
        Those with most clusters first; equal ones in the order of their ids.
    rows : Table
        The pieces.
    members, partitions : ndarray of bool, shape (n_pieces, n_cells)
        As in :class:`hcat.weakness.headline.Pieces`.
    """

    metrics: list[str]
    cell_ids: list[str]
    rows: pa.Table
    members: Flags
    partitions: Flags

    def pieces(self, *, is_share: bool) -> Pieces:
        """Return the pieces, in the order of their clusters and of the chosen cells in which they lie."""
        # rows of one cluster that lie in the same chosen cells and rests are one piece
        places, codes = np.unique(np.hstack([self.members, self.partitions]), axis=0, return_inverse=True)
        names = ("count_rows", "sum_values", "sum_squares")
        table = self.rows.select(["cluster_id", "jackknife_group", *names]).append_column("place", pa.array(codes))
        merged = table.group_by(["cluster_id", "jackknife_group", "place"]).aggregate([(name, "sum") for name in names])
        merged = merged.sort_by([("cluster_id", "ascending"), ("place", "ascending")])
        counts, sums, squares = (merged[f"{name}_sum"].to_numpy().astype(np.float64) for name in names)
        count = counts.sum()
        spread = None if is_share else float(np.sqrt(max(squares.sum() / count - (sums.sum() / count) ** 2, 0)))
        members, partitions = np.hsplit(places[merged["place"].to_numpy()], 2)
        clusters, groups = (_codes(merged, (name,)) for name in ("cluster_id", "jackknife_group"))
        return Pieces(clusters, groups, counts, sums, members, partitions, spread)


def choose_cells(headline: Headline) -> _Family:
    """Return the cells that have groups enough, and whose rest has them: those with most clusters first."""
    rows = headline.pieces
    texts, codes = np.unique(np.asarray(rows["cells"].to_pylist(), dtype=np.str_), return_inverse=True)
    listed = [text.split(",") if text else [] for text in texts.tolist()]
    metrics = sorted(set(rows["metric_name"].to_pylist()))
    keys = sorted({key for of_text in listed for key in of_text})
    is_own = pc.is_in(headline.cells["metric_name"], pa.array(metrics, pa.string()))
    named = {str(row["cell_key"]): row for row in headline.cells.filter(is_own).to_pylist()}
    dimensions = [(named[key]["first_dimension"], named[key]["second_dimension"]) for key in keys]
    is_in = np.asarray([[key in of_text for key in keys] for of_text in listed], dtype=bool)
    is_in = is_in.reshape(len(listed), len(keys))
    is_alike = np.asarray([[one == other for one in dimensions] for other in dimensions], dtype=bool)
    members = is_in[codes]
    partitions = (is_in @ is_alike.reshape(len(keys), len(keys)))[codes]
    clusters, groups = (_codes(rows, (name,)) for name in ("cluster_id", "jackknife_group"))
    has_rest = partitions & ~members
    chosen = []
    for place, key in enumerate(keys):
        count_clusters = len(np.unique(clusters[members[:, place]]))
        count_groups = len(np.unique(groups[members[:, place]]))
        # a group that lies wholly in the cell says nothing of its rest
        count_rest = len(np.unique(groups[has_rest[:, place]]))
        if min(count_groups, count_rest) >= headline.least_groups:
            chosen.append((-count_clusters, named[key]["cell_id"], place))
    chosen = sorted(chosen)[: headline.count_cells]
    places = [place for _, _, place in chosen]
    return _Family(metrics, [cell for _, cell, _ in chosen], rows, members[:, places], partitions[:, places])


def _find_headline(keys: _Keys, family: _Family | None, in_family: Flags) -> Integers:
    """Return the positions of the headline cells, in their order."""
    if family is None:
        return np.zeros(0, dtype=np.int64)
    if len(family.metrics) > 1:
        raise ValueError(f"the headline must have one metric, got {', '.join(family.metrics)}")
    found = np.asarray([keys.positions[cell] for cell in family.cell_ids], dtype=np.int64)
    if not in_family[found].all():
        raise ValueError(f"weakness_rules must test every headline cell, {family.metrics[0]} has one that it does not")
    return found


def _choose(parts: Mapping[str, Cells], measurements: Texts) -> Cells:
    """Return for each cell the estimates of its measurement."""
    names = list(parts)
    codes = np.asarray([names.index(measurement) for measurement in measurements.tolist()], dtype=np.int64)
    chosen = {}
    for entry in fields(Cells):
        stacked = np.stack([getattr(parts[name], entry.name) for name in names])
        chosen[entry.name] = stacked[codes, np.arange(len(codes))]
    return Cells(**chosen)


def _apply_rules(
    keys: _Keys, rule_of: Mapping[str, Mapping[str, Any]], direction_of: Mapping[str, str]
) -> tuple[Texts, Floats, Flags, Floats]:
    """Return measurement, margin (NaN = none), membership of the family and sign of each cell."""
    measurements: list[str] = []
    margins: list[float] = []
    members: list[bool] = []
    signs: list[float] = []
    dimensions = zip(
        keys.columns["first_dimension"].to_pylist(), keys.columns["second_dimension"].to_pylist(), strict=True
    )
    for metric, pair in zip(keys.metrics.tolist(), dimensions, strict=True):
        rule = rule_of.get(metric)
        measurement = rule["measurement"] if rule else "mean_score"
        excluded = set((rule["excluded_dimensions"] or "").split("|")) if rule else set()
        measurements.append(measurement)
        margins.append(float(rule["margin"]) if rule else np.nan)
        members.append(rule is not None and not excluded & set(pair))
        is_worse_below = measurement == "mean_score" and direction_of.get(metric) == "higher_is_better"
        signs.append(-1.0 if is_worse_below else 1.0)
    return (
        np.asarray(measurements, dtype=np.str_),
        np.asarray(margins, dtype=np.float64),
        np.asarray(members, dtype=bool),
        np.asarray(signs, dtype=np.float64),
    )


def _ranges(keys: _Keys, catalog: pa.Table) -> Floats:
    """Return the lowest and the highest score that the metric of each cell can have, shape (2, n_cells)."""
    rows = {row["metric_name"]: row for row in catalog.to_pylist()}
    bounds = [
        [-np.inf if rows[metric]["range_low"] is None else rows[metric]["range_low"] for metric in keys.metrics],
        [np.inf if rows[metric]["range_high"] is None else rows[metric]["range_high"] for metric in keys.metrics],
    ]
    return np.asarray(bounds, dtype=np.float64)


def _test_statuses(
    keys: _Keys,
    parts: Mapping[str, Cells],
    whole: Cells,
    measurements: Texts,
    in_family: Flags,
    settings: WeaknessSettings,
) -> Texts:
    """Return one of :data:`TEST_STATUSES` for each cell: the first reason that holds."""
    has_scores = parts["mean_score"].count_scored > 0
    # a metric with scores and no share of failures has no threshold
    is_undecided = np.isnan(whole.value[keys.wholes]) & has_scores[keys.wholes] & (measurements != "mean_score")
    is_few = (whole.jackknife_groups < settings.minimum_clusters) | (
        whole.jackknife_groups_rest < settings.minimum_clusters
    )
    # one cluster with nearly all rows counts as one
    is_few |= ~(whole.degrees_of_freedom > 0)
    reasons = {
        "not_in_family": ~in_family,
        "no_threshold": is_undecided,
        "no_scores": ~(whole.count_scored > 0),
        "no_rest": keys.is_whole | ~(whole.count_scored_rest > 0),
        "too_few_clusters": is_few,
        "constant": ~can_be_tested(whole, settings.minimum_clusters),
    }
    found: Texts = np.select(list(reasons.values()), list(reasons), default="tested")
    return found


def _severities(differences: Floats, is_weak: Flags, measurements: Texts, severities: pa.Table) -> list[str | None]:
    """Return for each weak cell the severity with the largest bound that its difference reaches; None for others."""
    steps: dict[str, list[tuple[float, str]]] = {}
    for row in severities.to_pylist():
        steps.setdefault(row["measurement"], []).append((float(row["difference_from"]), row["severity"]))
    found: list[str | None] = [None] * len(differences)
    for position in np.flatnonzero(is_weak).tolist():
        reached = [step for step in steps.get(str(measurements[position]), []) if step[0] <= differences[position]]
        found[position] = max(reached)[1] if reached else None
    return found


def _shrink_cells(keys: _Keys, cells: Cells) -> Floats:
    """Return the empirical-Bayes values: within metric and dimension, pairs towards the sum of their dimensions."""
    errors = np.fmax(cells.standard_error, cells.value_null_error)
    shrunken = cells.value.copy()
    usable = np.isfinite(cells.value) & np.isfinite(errors) & (errors > 0)
    for members in _groups(keys.dimensions, usable):
        design = np.ones((len(members), 1))
        if keys.is_pair[members[0]]:
            design = np.column_stack([_indicators(keys.first[members]), _indicators(keys.second[members])])
        shrunken[members] = shrink(cells.value[members], errors[members], design)[0]
    return shrunken


def _groups(codes: Integers, usable: Flags) -> Iterator[Integers]:
    """Yield the positions of the usable cells of each code."""
    positions = np.flatnonzero(usable)
    order = positions[np.argsort(codes[positions], kind="stable")]
    borders = np.flatnonzero(np.diff(codes[order])) + 1
    yield from (group for group in np.split(order, borders) if len(group))


def _indicators(codes: Integers) -> Floats:
    distinct, positions = np.unique(codes, return_inverse=True)
    return np.eye(len(distinct))[positions]


def _check_seeds(rules: pa.Table, severities: pa.Table) -> None:
    for row in rules.to_pylist():
        if not (row["margin"] is not None and row["margin"] >= 0):
            raise ValueError(
                f"margin of weakness_rules must be at least 0, got {row['margin']} for {row['metric_name']}"
            )
    for table, name in ((rules, "weakness_rules"), (severities, "weakness_severities")):
        unknown = sorted(set(table["measurement"].to_pylist()) - set(MEASUREMENTS))
        if unknown:
            raise ValueError(
                f"measurement of {name} must be one of {', '.join(MEASUREMENTS)}, got {', '.join(unknown)}"
            )


def _to_arrow(values: Any, dtype: pa.DataType) -> pa.Array:
    """Return a column; NaN becomes null."""
    if isinstance(values, pa.Array | pa.ChunkedArray):
        return values
    if isinstance(values, np.ndarray) and values.dtype.kind == "U":
        values = values.tolist()
    return pa.array(values, type=dtype, from_pandas=True)
