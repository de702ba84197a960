"""Weaknesses as an Arrow table: one row per cell with value, interval, difference to the rest and tests.

The statistics are those of :mod:`hcat.weakness.statistics`; here rows become the arrays it reads, and its results rows.
"""

from collections.abc import Collection, Mapping
from dataclasses import fields, replace
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hcat.engine.columns import as_floats
from hcat.statistics.arrays import Flags, Floats, Integers, Texts, ratio
from hcat.statistics.clustered import mean_bounds
from hcat.weakness.estimates import SUMS, encode, estimate_cells
from hcat.weakness.headline import Pieces, judge_headline
from hcat.weakness.statistics import (
    HEADLINE_CELLS,
    HEADLINE_CLUSTERS,
    HEADLINE_DOCUMENTS,
    HEADLINE_DRAWS,
    HEADLINE_LEVEL,
    LEAST_DOCUMENTS,
    SHARES,
    Cells,
    Judgement,
    WeaknessSettings,
    add_headline,
    can_be_tested,
    cell_mean_bounds,
    cell_share_bounds,
    detectable_difference,
    interactions_needed,
    judge_cells,
    shrink,
    with_documents,
    with_whole,
)

_SEGMENT_COLUMNS: Final = ("metric_name", "first_dimension", "first_segment", "second_dimension", "second_segment")
_WHOLE_NUMBERS: Final = ("count_interactions", "count_scored", "count_clusters", "count_failing")
#: What the tests say of cells, the status of each, and whether it is in the headline.
_Judged = tuple[Judgement, Texts, Flags]


def find_weaknesses(
    cells: pa.Table,
    sums: pa.Table,
    pieces: pa.Table,
    rules: pa.Table,
    catalog: pa.Table,
    *,
    random_seed: int,
    **settings: Any,
) -> pa.Table:
    """Return one row per cell: its value with interval, its difference to the rest, and what the tests say.

    Parameters
    ----------
    cells, sums : Table
        int_metric_cells and int_cell_sums, as in :func:`hcat.weakness.estimates.estimate_cells`. Each metric has the
        cell `all`, `all` of all its rows.
    pieces : Table
        int_headline_pieces: metric_name (the same everywhere), cluster_id, jackknife_group, second_group (as they leave
        with their document), cells (keys of declared cells, joined by commas), whole_weight (of each row), count_rows,
        sum_values (higher = worse), sum_squares. Without rows every cell is in the other family.
    rules : Table
        The seed metric_rules: metric_name, measurement, margin, excluded_dimensions (joined by `|`, or null). A rule
        for a metric without cells changes nothing.
    catalog : Table
        metric_name, direction (`higher_is_better`, `lower_is_better`), range_low, range_high (null = unbounded).
    random_seed : int
        Of the draws of the headline.
    **settings
        Fields of :class:`hcat.weakness.statistics.WeaknessSettings`.

    Returns
    -------
    Table
        The columns below, ordered by metric, dimensions and segments. A metric without a rule shows its
        mean score and no test. `family` is `headline` (few cells of one metric, declared in advance: the chance of any
        false flag among them) or `other` (the share of false ones among the flagged).

    Raises
    ------
    ValueError
        If a rule names an unknown measurement or has a negative margin, or the headline has several metrics.
    """
    _check_rules(rules)
    chosen = WeaknessSettings(**settings)
    cells = cells.sort_by([(name, "ascending") for name in (*_SEGMENT_COLUMNS, "cell_id")]).combine_chunks()
    found = _estimate(cells, sums, rules, catalog)
    judged = _judge(found, pieces, chosen, random_seed)
    return _table(found, judged, _bound(found, chosen.confidence), chosen)


class _Keys(NamedTuple):
    """Where the cells of a metric, of a partition and of a segment stand; arrays of shape (n_cells,)."""

    #: Code of (metric, first dimension, second dimension).
    dimensions: Integers
    #: Codes of the segments of the two dimensions.
    first: Integers
    second: Integers
    #: Cells of all rows of a metric, and cells of two dimensions.
    is_whole: Flags
    is_pair: Flags
    #: Position of the metric's cell `all`.
    wholes: Integers


class _Estimates(NamedTuple):
    """Cells with their estimates and what the rules say of each; arrays of shape (n_cells,)."""

    cells: pa.Table
    keys: _Keys
    #: By measurement: as they leave by cluster, by document, and by both keys.
    figures: Mapping[str, Mapping[str, Floats]]
    documents: Mapping[str, Cells]
    parts: Mapping[str, Cells]
    #: Of each cell's measurement; a higher difference is worse.
    whole: Cells
    measurements: Texts
    margins: Floats
    in_family: Flags
    #: The lowest and the highest score of its metric, shape (2, n_cells).
    limits: Floats


def _estimate(cells: pa.Table, sums: pa.Table, rules: pa.Table, catalog: pa.Table) -> _Estimates:
    keys = _read_keys(cells)
    figures, of_documents = estimate_cells(cells, sums)
    documents = {name: _with_whole(name, of_documents[name], cells, keys, "count_second_clusters") for name in SUMS}
    clustered = {name: _with_whole(name, figures[name], cells, keys, "count_clusters") for name in SUMS}
    parts = {name: with_documents(clustered[name], documents[name]) for name in SUMS}
    measurements, margins, in_family, signs = _apply_rules(cells, rules, catalog)
    whole = _choose(parts, measurements)
    whole = replace(whole, difference=whole.difference * signs)
    rules_of_cells = (measurements, margins, in_family, _ranges(cells, catalog))
    return _Estimates(cells, keys, figures, documents, parts, whole, *rules_of_cells)


def _judge(found: _Estimates, pieces: pa.Table, settings: WeaknessSettings, random_seed: int) -> _Judged:
    """Return what the tests say, status and membership of the headline, which leaves its errors in the estimates."""
    cells, whole = found.cells, found.whole
    statuses = _test_statuses(found, settings)
    is_few = pa.array(whole.documents < HEADLINE_DOCUMENTS)
    family = choose_cells(pieces, cells, left_out=set(cells.filter(is_few)["cell_id"].to_pylist()))
    members = _find_headline(cells, family, found.in_family)
    is_headline = np.isin(np.arange(len(statuses)), members)
    # the draws know how little few clusters say, so the fewest clusters of the other family do not bind
    statuses[is_headline] = "tested"
    judged = judge_cells(whole, (statuses == "tested") & ~is_headline, found.margins, settings)
    if len(members):
        drawn = family.pieces(is_share=found.measurements[members[0]] in SHARES)
        tests = judge_headline(drawn, HEADLINE_LEVEL, HEADLINE_DRAWS, random_seed)
        whole.headline_error[members] = tests.errors
        judged = add_headline(judged, tests, members, whole, found.margins, settings, HEADLINE_LEVEL)
    return judged, statuses, is_headline


def _bound(found: _Estimates, confidence: float) -> dict[str, Floats]:
    """Return lower and upper limits, shape (2, n_cells), by measurement."""
    keys = {name: (found.parts[name], found.documents[name], confidence) for name in SUMS}
    of_means = np.clip(cell_mean_bounds(*keys["mean_score"]), *found.limits)
    return {"mean_score": of_means} | {name: np.array(cell_share_bounds(*keys[name])) for name in SHARES}


def _table(found: _Estimates, judged: _Judged, bounds: Mapping[str, Floats], settings: WeaknessSettings) -> pa.Table:
    """Return the columns of :func:`find_weaknesses`."""
    tests, statuses, is_headline = judged
    cells, whole, margins = found.cells, found.whole, found.margins
    means, shares = found.parts["mean_score"], found.parts["share_failing"]
    (mean_low, mean_high), (share_low, share_high) = bounds["mean_score"], bounds["share_failing"]
    # whatever is tested has the interval of its kind
    low, high = np.select([found.measurements == name for name in bounds], list(bounds.values()))
    has_difference = can_be_tested(whole, 2)
    error = np.where(has_difference, whole.test_error, np.nan)
    degrees = np.where(has_difference, whole.degrees_of_freedom, np.nan)
    difference_low, difference_high = mean_bounds(whole.difference, error, degrees, settings.confidence)
    # in rows of equal weight; unequal ones say less
    rows_each = ratio(whole.count_rows, whole.count_scored)
    needed = [np.ceil(rows_each * rows) for rows in interactions_needed(whole, margins, tests.cut_off, settings)]
    # no two values of a scale lie further apart than its ends; few clusters would say more than that
    is_share = np.isin(found.measurements, SHARES)
    span = np.where(is_share, 1.0, found.limits[1] - found.limits[0])
    families = np.where(is_headline, "headline", "other").astype(object)
    families[statuses != "tested"] = None
    count_failing = found.figures["share_failing"]["count_failing"]
    columns: dict[str, Any] = {
        **{name: cells[name] for name in ("cell_id", *_SEGMENT_COLUMNS)},
        "measurement": found.measurements,
        "test_status": statuses,
        "family": families.tolist(),
        "count_interactions": cells["count_interactions"],
        "count_scored": means.count_rows,
        "count_clusters": means.clusters,
        "count_failing": np.where(shares.count_rows > 0, count_failing, np.nan),
        "clusters_effective": means.clusters_effective,
        "mean_score": means.value,
        "mean_score_lower": mean_low,
        "mean_score_upper": mean_high,
        "standard_deviation": found.figures["mean_score"]["standard_deviation"],
        "share_failing": shares.value,
        "share_failing_lower": share_low,
        "share_failing_upper": share_high,
        "share_failing_of_all": found.parts["share_failing_of_all"].value,
        "value": whole.value,
        "value_lower": low,
        "value_upper": high,
        "shrunken_value": _shrink_cells(found.keys, whole),
        "rest_value": whole.rest_value,
        "difference": whole.difference,
        "difference_lower": np.maximum(difference_low, -span),
        "difference_upper": np.minimum(difference_high, span),
        "difference_bound": tests.difference_bound,
        "difference_standard_error": error,
        "degrees_of_freedom": degrees,
        "p_value": tests.p_value,
        "q_value": tests.q_value,
        "margin": margins,
        "minimum_detectable_difference": detectable_difference(whole, is_share, margins, tests.critical, settings),
        "count_needed_to_flag": needed[0],
        "count_needed_to_confirm": needed[1],
        "largest_cluster_share": whole.largest_share,
        "is_dominated": whole.is_dominated,
        "is_weak": tests.is_weak,
    }
    return pa.table({name: _to_arrow(name, values) for name, values in columns.items()})


def _read_keys(cells: pa.Table) -> _Keys:
    metrics = cells["metric_name"].to_pylist()
    is_whole = np.asarray([dimension == "all" for dimension in cells["first_dimension"].to_pylist()], dtype=bool)
    whole_of = {metrics[position]: position for position in np.flatnonzero(is_whole).tolist()}
    return _Keys(
        encode(cells, "metric_name", "first_dimension", "second_dimension"),
        encode(cells, "first_segment"),
        encode(cells, "second_segment"),
        is_whole,
        np.asarray(cells["second_dimension"].is_valid().to_pylist(), dtype=bool),
        np.asarray([whole_of[metric] for metric in metrics], dtype=np.int64),
    )


def _with_whole(measurement: str, figures: Mapping[str, Floats], cells: pa.Table, keys: _Keys, clusters: str) -> Cells:
    rate = figures["value"]
    spread = np.sqrt(rate * (1 - rate)) if measurement in SHARES else figures["standard_deviation"]
    own = {name: column for name, column in figures.items() if name not in ("standard_deviation", "count_failing")}
    counts, own["pairs"] = (as_floats(cells[name]) for name in (clusters, "count_cluster_pairs"))
    return with_whole(own, counts, spread, keys.wholes)


class _Family(NamedTuple):
    """The chosen cells of the headline, and where the rows of its pieces lie."""

    metrics: list[str]
    #: Those with most clusters first; equal ones in the order of their ids. Then the codes of their dimensions.
    cell_ids: list[str]
    dimensions: Integers
    #: The pieces.
    rows: pa.Table
    #: As in :class:`hcat.weakness.headline.Pieces`, shape (n_pieces, n_cells).
    members: Flags
    partitions: Flags

    def pieces(self, *, is_share: bool) -> Pieces:
        """Return the pieces, in the order of their clusters and of the chosen cells in which they lie."""
        # rows of one cluster that lie in the same chosen cells and rests are one piece
        places, codes = np.unique(np.hstack([self.members, self.partitions]), axis=0, return_inverse=True)
        names = ("count_rows", "sum_values", "sum_squares")
        keys = ["cluster_id", "jackknife_group", "second_group", "whole_weight"]
        table = self.rows.select([*keys, *names]).append_column("place", pa.array(codes))
        merged = table.group_by([*keys, "place"]).aggregate([(name, "sum") for name in names])
        merged = merged.sort_by([(key, "ascending") for key in ("cluster_id", "second_group", "place", "whole_weight")])
        counts, sums, squares = (merged[f"{name}_sum"].to_numpy().astype(np.float64) for name in names)
        weights = merged["whole_weight"].to_numpy().astype(np.float64)
        count, total = weights @ counts, weights @ sums
        spread = None if is_share else float(np.sqrt(max(weights @ squares / count - (total / count) ** 2, 0)))
        members, partitions = np.hsplit(places[merged["place"].to_numpy()], 2)
        clusters, groups, documents = (encode(merged, name) for name in keys[:3])
        return Pieces(clusters, groups, documents, counts, sums, members, partitions, self.dimensions, spread, weights)


def choose_cells(
    pieces: pa.Table,
    cells: pa.Table,
    least_groups: int = HEADLINE_CLUSTERS,
    count_cells: int = HEADLINE_CELLS,
    left_out: Collection[str] = (),
) -> _Family:
    """Return the cells that, like their rest, have groups enough, most clusters first; no score has a say."""
    texts, codes = np.unique(np.asarray(pieces["cells"].to_pylist(), dtype=np.str_), return_inverse=True)
    listed = [text.split(",") if text else [] for text in texts.tolist()]
    metrics = sorted(set(pieces["metric_name"].to_pylist()))
    keys = sorted({key for of_text in listed for key in of_text})
    is_own = pc.is_in(cells["metric_name"], pa.array(metrics, pa.string()))
    named = {str(row["cell_key"]): row for row in cells.filter(is_own).to_pylist()}
    dimensions = [(named[key]["first_dimension"], named[key]["second_dimension"]) for key in keys]
    is_in = np.asarray([[key in of_text for key in keys] for of_text in listed], dtype=bool)
    is_in = is_in.reshape(len(listed), len(keys))
    is_alike = np.asarray([[one == other for one in dimensions] for other in dimensions], dtype=bool)
    members = is_in[codes]
    partitions = (is_in @ is_alike.reshape(len(keys), len(keys)))[codes]
    clusters, groups = (encode(pieces, name) for name in ("cluster_id", "jackknife_group"))
    has_rest = partitions & ~members
    chosen = []
    for place, key in enumerate(keys):
        count_clusters = len(np.unique(clusters[members[:, place]]))
        count_groups = len(np.unique(groups[members[:, place]]))
        # a group that lies wholly in the cell says nothing of its rest
        count_rest = len(np.unique(groups[has_rest[:, place]]))
        if min(count_groups, count_rest) >= least_groups and named[key]["cell_id"] not in left_out:
            chosen.append((-count_clusters, named[key]["cell_id"], place))
    chosen = sorted(chosen)[:count_cells]
    places = [place for _, _, place in chosen]
    cell_ids = [cell for _, cell, _ in chosen]
    codes_of = np.asarray([dimensions.index(dimensions[place]) for place in places], dtype=np.int64)
    return _Family(metrics, cell_ids, codes_of, pieces, members[:, places], partitions[:, places])


def _find_headline(cells: pa.Table, family: _Family, in_family: Flags) -> Integers:
    """Return the positions of the headline cells, in their order."""
    if len(family.metrics) > 1:
        raise ValueError(f"the headline must have one metric, got {', '.join(family.metrics)}")
    positions = {cell: position for position, cell in enumerate(cells["cell_id"].to_pylist())}
    found = np.asarray([positions[cell] for cell in family.cell_ids], dtype=np.int64)
    if not in_family[found].all():
        raise ValueError(f"metric_rules must test every headline cell, {family.metrics[0]} has one that it does not")
    return found


def _choose(parts: Mapping[str, Cells], measurements: Texts) -> Cells:
    """Return for each cell the estimates of its measurement."""
    names = list(parts)
    codes = np.asarray([names.index(measurement) for measurement in measurements.tolist()], dtype=np.int64)
    columns = {each.name: np.stack([getattr(parts[name], each.name) for name in names]) for each in fields(Cells)}
    return Cells(**{name: stacked[codes, np.arange(len(codes))] for name, stacked in columns.items()})


def _apply_rules(cells: pa.Table, rules: pa.Table, catalog: pa.Table) -> tuple[Texts, Floats, Flags, Floats]:
    """Return measurement, margin (NaN = none), membership of the family and sign of each cell."""
    rule_of = {row["metric_name"]: row for row in rules.to_pylist()}
    direction_of = dict(zip(catalog["metric_name"].to_pylist(), catalog["direction"].to_pylist(), strict=True))
    found: list[tuple[str, float, bool, float]] = []
    for cell in cells.select(["metric_name", "first_dimension", "second_dimension"]).to_pylist():
        rule = rule_of.get(cell["metric_name"])
        measurement = rule["measurement"] if rule else "mean_score"
        excluded = set((rule["excluded_dimensions"] or "").split("|")) if rule else set()
        is_member = rule is not None and not excluded & {cell["first_dimension"], cell["second_dimension"]}
        is_worse_below = measurement == "mean_score" and direction_of.get(cell["metric_name"]) == "higher_is_better"
        margin = float(rule["margin"]) if rule else np.nan
        found.append((measurement, margin, is_member, -1.0 if is_worse_below else 1.0))
    measurements, margins, members, signs = zip(*found, strict=True) if found else ((), (), (), ())
    return (
        np.asarray(measurements, dtype=np.str_),
        np.asarray(margins, dtype=np.float64),
        np.asarray(members, dtype=bool),
        np.asarray(signs, dtype=np.float64),
    )


def _ranges(cells: pa.Table, catalog: pa.Table) -> Floats:
    """Return the lowest and the highest score that the metric of each cell can have, shape (2, n_cells)."""
    rows = {row["metric_name"]: row for row in catalog.to_pylist()}
    ranges = [[rows[metric]["range_low"], rows[metric]["range_high"]] for metric in cells["metric_name"].to_pylist()]
    found = np.asarray(ranges, dtype=np.float64).reshape(-1, 2).T
    return np.where(np.isnan(found), np.asarray([[-np.inf], [np.inf]]), found)


def _test_statuses(found: _Estimates, settings: WeaknessSettings) -> Texts:
    """Return `tested` for each cell, or the first reason against it that holds."""
    keys, whole = found.keys, found.whole
    has_scores = found.parts["mean_score"].count_scored > 0
    # a metric with scores and no share of failures has no threshold
    is_undecided = np.isnan(whole.value[keys.wholes]) & has_scores[keys.wholes] & (found.measurements != "mean_score")
    is_few = np.minimum(whole.jackknife_groups, whole.jackknife_groups_rest) < settings.minimum_clusters
    # one cluster with nearly all rows counts as one
    is_few |= ~(whole.degrees_of_freedom > 0)
    reasons = {
        "not_in_family": ~found.in_family,
        "no_threshold": is_undecided,
        "no_scores": ~(whole.count_scored > 0),
        "no_rest": keys.is_whole | ~(whole.count_scored_rest > 0),
        "too_few_clusters": is_few,
        "too_few_documents": whole.documents < LEAST_DOCUMENTS,
        "constant": ~can_be_tested(whole, settings.minimum_clusters),
    }
    return np.asarray(np.select(list(reasons.values()), list(reasons), default="tested"))


def _shrink_cells(keys: _Keys, cells: Cells) -> Floats:
    """Return the empirical-Bayes values: within metric and dimension, pairs towards the sum of their dimensions."""
    errors = np.fmax(cells.standard_error, cells.value_null_error)
    shrunken = cells.value.copy()
    usable = np.isfinite(cells.value) & np.isfinite(errors) & (errors > 0)
    for dimension in np.unique(keys.dimensions[usable]):
        members = np.flatnonzero(usable & (keys.dimensions == dimension))
        design = np.ones((len(members), 1))
        if keys.is_pair[members[0]]:
            codes = (keys.first[members], keys.second[members])
            design = np.column_stack([own[:, None] == np.unique(own) for own in codes]).astype(np.float64)
        shrunken[members] = shrink(cells.value[members], errors[members], design)[0]
    return shrunken


def _check_rules(rules: pa.Table) -> None:
    for row in rules.to_pylist():
        if not (row["margin"] is not None and row["margin"] >= 0):
            raise ValueError(f"margin of metric_rules must be at least 0, got {row['margin']} for {row['metric_name']}")
    unknown = sorted(set(rules["measurement"].to_pylist()) - set(SUMS))
    if unknown:
        raise ValueError(f"measurement of metric_rules must be one of {', '.join(SUMS)}, got {', '.join(unknown)}")


def _to_arrow(name: str, values: Any) -> pa.Array | pa.ChunkedArray:
    """Return a column; NaN becomes null."""
    if isinstance(values, pa.ChunkedArray):
        return values
    if isinstance(values, list) or values.dtype.kind == "U":
        return pa.array(list(values), pa.string())
    return pa.array(values, pa.int64() if name in _WHOLE_NUMBERS else None, from_pandas=True)
