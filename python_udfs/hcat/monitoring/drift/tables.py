"""Drift as Arrow tables: scores with their weeks become one row per series, window and test.

The statistics are those of :mod:`hcat.monitoring.drift.statistics`. Which weeks are compared is told in
:mod:`hcat.monitoring.drift.periods`, and which rows alarm in :mod:`hcat.monitoring.drift.alarms`.

Memory: four bytes per interaction and dimension, and 200 bytes per membership of the few cells of one metric that are
measured at a time (:data:`hcat.monitoring.drift.measuring.MOST_MEMBERSHIPS`).
"""

from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hcat.engine.columns import as_floats, schema, stack_parts
from hcat.monitoring.drift.alarms import mark_alarms
from hcat.monitoring.drift.measuring import measure_metric, measure_mix
from hcat.monitoring.drift.periods import DriftSettings, plan_periods
from hcat.monitoring.drift.reading import read_interactions, read_metrics, read_strata
from hcat.statistics.arrays import ratio
from hcat.statistics.clustered import rate_bounds
from hcat.statistics.intervals import t_quantile
from hcat.statistics.memberships import read_memberships

DRIFT_SCHEMA: Final = schema(
    "string: metric_name dimension segment test",
    "int64: window_weeks",
    "string: status detail",
    "date32: window_start window_end reference_start reference_end",
    "int64: count_reference count_window count_clusters_reference count_clusters_window",
    "float64: effective_reference effective_window",
    "int64: count_without_week count_incomplete_week",
    "float64: statistic degrees_of_freedom limit_value value_reference value_window standard_deviation_reference",
    "float64: standard_error difference difference_lower difference_upper band_lower band_upper p_value q_value",
    "float64: alarm_level",
    "bool: is_drifting",
)

#: Columns of the sums by week: what a row is about, and what is added up.
_KEYS: Final = ("metric_name", "dimension", "segment", "week_start", "week_status", "range_low", "range_high")
_COUNTS: Final = ("count_interactions", "count_scored", "count_clusters", "count_decided", "count_failing")
_SUMS: Final = ("sum_squared_counts", "sum_scores", "sum_squared_sums", "sum_products", "sum_squared_decided")
_WEIGHTS: Final = ("weight_scored", "weight_decided", "weight_failing")
#: Shares below it are rounding.
_ROUNDING: Final = 1e-9


def measure_drift(
    interactions: pa.Table,
    segments: Iterable[pa.RecordBatch],
    evaluations: Iterable[pa.RecordBatch],
    settings: DriftSettings,
    deciding: Collection[str] | None = None,
) -> pa.Table:
    """Return one row per (metric, dimension, segment, test, window), and one per (dimension, window) for the mix."""
    known = read_interactions(interactions)
    cells = read_memberships(segments, known.ids)
    plan = plan_periods(known.days[known.is_complete], settings)
    rows: list[dict[str, Any]] = []
    strata = read_strata(cells, len(known.ids), settings.mix_dimension)
    for metric_name, owners, scores in read_metrics(evaluations, known):
        rows += measure_metric(metric_name, owners, scores, known, cells, strata, plan, settings)
    rows += measure_mix(known, cells, plan, settings)
    rows.sort(key=lambda row: [row["metric_name"] is None, *(row[name] or "" for name in DRIFT_SCHEMA.names[:5])])
    mark_alarms(rows, settings, deciding)
    for row in rows:
        row |= {name: None for name, value in row.items() if isinstance(value, float) and not np.isfinite(value)}
    return pa.Table.from_pylist(rows, schema=DRIFT_SCHEMA)


def measure_weeks(
    sums: pa.Table,
    interactions: pa.Table,
    segments: Iterable[pa.RecordBatch],
    evaluations: Iterable[pa.RecordBatch],
    settings: Mapping[str, Any],
    deciding: pa.Array | pa.ChunkedArray | None = None,
) -> pa.Table:
    """Return the parts ``weeks`` (:func:`bound_weeks`) and ``drift`` (:func:`measure_drift`).

    Parameters
    ----------
    sums : Table
        Sums by week, ordered by their key. They say which dimensions are monitored and which weeks are over.
    interactions : Table
        interaction_id, cluster_id, asked_week (a Monday; null without a time), sampling_weight.
    segments, evaluations : iterable of RecordBatch
        As for :func:`measure_drift`. Dimensions without sums and interactions that are not monitored are left out.
    settings : mapping
        Fields of :class:`hcat.monitoring.drift.periods.DriftSettings`.
    deciding : Array, optional
        Metrics that may alarm; all without it. The others are shown.
    """
    chosen = DriftSettings(**settings)
    dimensions = pc.unique(sums["dimension"])
    ids = interactions["interaction_id"].combine_chunks()
    is_monitored = pc.field("dimension").isin(dimensions) & pc.field("interaction_id").isin(ids)
    monitored = (batch.filter(is_monitored) for batch in segments)
    weeks = interactions["asked_week"].cast(pa.date32())
    over = pc.unique(sums.filter(pc.field("week_status") == "complete")["week_start"].cast(pa.date32()))
    status = pc.if_else(pc.is_in(weeks, value_set=over), "complete", "incomplete")
    logs = interactions.select(["interaction_id", "cluster_id", "sampling_weight"]).append_column("week_start", weeks)
    logs = logs.append_column("week_status", pc.if_else(pc.is_null(weeks), "no_timestamp", status))
    return stack_parts(
        {
            "weeks": bound_weeks(average_sums(sums), chosen.confidence),
            "drift": measure_drift(
                logs, monitored, evaluations, chosen, None if deciding is None else set(deciding.to_pylist())
            ),
        }
    )


def average_sums(sums: pa.Table) -> pa.Table:
    """Return one row per week and series, with its mean, its error by cluster and the share that fails."""
    added = (*_COUNTS, *_SUMS, *_WEIGHTS)
    # one thread: the sums of doubles keep the order of the rows
    grouped = sums.group_by(list(_KEYS), use_threads=False)
    found = grouped.aggregate([(name, "sum") for name in added] + [("deletion_number", "max")])
    found = found.select([*_KEYS, *(f"{name}_sum" for name in added), "deletion_number_max"])
    found = found.rename_columns([*_KEYS, *added, "deletion_number"])
    value = {name: as_floats(found[name]) for name in added}
    scored, clusters, decided = value["weight_scored"], value["count_clusters"], value["weight_decided"]
    mean = ratio(value["sum_scores"], scored)
    # sum over clusters of (their sum - their count x mean)^2, linearised: siblings count together
    squares = value["sum_squared_sums"] - mean * value["sum_products"]
    squares = squares - mean * (value["sum_products"] - mean * value["sum_squared_counts"])
    spread = ratio(np.maximum(squares, 0) * clusters, np.maximum(clusters - 1, 0))
    for name, values in (
        ("scored_effective", ratio(scored * scored, value["sum_squared_counts"])),
        ("mean_score", mean / 1e9),
        ("standard_error", ratio(np.sqrt(spread), scored) / 1e9),
        ("share_failing", ratio(value["weight_failing"], decided)),
        ("decided_effective", ratio(decided * decided, value["sum_squared_decided"])),
    ):
        found = found.append_column(name, pa.array(values, pa.float64(), from_pandas=True))
    return found.append_column("is_pruned", pc.greater(found["deletion_number"], 0)).drop_columns(
        ["deletion_number", *_SUMS, *_WEIGHTS]
    )


def bound_weeks(weeks: pa.Table, confidence: float) -> pa.Table:
    """Return ``weeks`` with mean_lower and mean_upper: the interval of each week's mean, each on its own."""
    mean, error, effective, low, high = (
        as_floats(weeks[name])
        for name in ("mean_score", "standard_error", "scored_effective", "range_low", "range_high")
    )
    is_known = np.isfinite(mean) & np.isfinite(error) & (np.nan_to_num(effective) > 1 + _ROUNDING)
    effective = np.where(is_known, effective, np.nan)
    margin = t_quantile((1 + confidence) / 2, effective - 1) * error
    width = high - low
    share = np.clip(ratio(mean - low, width), 0, 1)
    variation = share * (1 - share)
    # rows that agree say no more than as many passes
    is_varying = (error > _ROUNDING * width) & (variation > 0)
    rows = np.where(is_varying, ratio(variation, ratio(error, width) ** 2), effective)
    lower, upper = rate_bounds(np.where(is_known, share, np.nan), rows, effective - 1, confidence)
    has_range = np.isfinite(width)
    for name, values in (
        # rounding must not push a bound past the mean
        ("mean_lower", np.where(has_range, np.minimum(low + width * lower, mean), mean - margin)),
        ("mean_upper", np.where(has_range, np.maximum(low + width * upper, mean), mean + margin)),
    ):
        weeks = weeks.append_column(name, pa.array(values, pa.float64(), from_pandas=True))
    return weeks
