"""All that labels decide about scores, fitted in one go."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from hcat.calibration.conformal_tables import fit_quantiles, leave_out_limits
from hcat.calibration.tables import cross_fit_labels, fit_calibrators
from hcat.engine.stacking import stack_parts


@dataclass(frozen=True, slots=True)
class FitSettings:
    """How labels are fitted.

    Parameters
    ----------
    count_folds : int
        Folds of cross-validation; at least 2. A cluster lies in one fold.
    random_seed : int
    alphas : sequence of float
        Shares of labels, in (0, 1), that a prediction set may miss.
    alpha : float
        The one in force.
    """

    count_folds: int
    random_seed: int
    alphas: Sequence[float]
    alpha: float


def describe_targets(targets: pa.Table, scales: pa.Table, metrics: pa.Table) -> pa.Table:
    """Return the metrics that people calibrate, with the scale of their labels and what the catalogue says of them.

    Parameters
    ----------
    targets, scales : Table
        The seeds calibration_targets and rating_scales.
    metrics : Table
        int_metric_catalog.

    Returns
    -------
    Table
        One row per target that the catalogue holds: metric_name, criterion, accept_from, count_scale_points, direction,
        unit, range_low and range_high.
    """
    known = metrics.select(["metric_name", "direction", "unit", "range_low", "range_high"])
    points = scales.group_by("criterion").aggregate([([], "count_all")])
    points = points.rename_columns({"count_all": "count_scale_points"})
    wanted = targets.select(["metric_name", "criterion", "accept_from"])
    joined = wanted.join(known, "metric_name", join_type="inner").join(points, "criterion", join_type="inner")
    return joined.sort_by("metric_name")


def fit_labels(labels: pa.Table, targets: pa.Table, settings: FitSettings) -> pa.Table:
    """Return calibrators, what they say of labels that they did not see, and the limits of prediction sets.

    Parameters
    ----------
    labels : Table
        Rows of int_target_evaluations with a label and a score. Those of a plain random sample (is_audit) give the
        limits of prediction sets.
    targets : Table
        Of :func:`describe_targets`.
    settings : FitSettings

    Returns
    -------
    Table
        The parts ``targets``, ``calibrators``, ``predictions``, ``quantiles`` and ``limits``
        (:func:`hcat.engine.stacking.stack_parts`).
    """
    audits = labels.filter(pc.field("is_audit"))
    folds, seed = settings.count_folds, settings.random_seed
    calibrators = fit_calibrators(labels, targets, folds, seed)
    predictions = cross_fit_labels(labels, targets, calibrators, folds, seed)
    return stack_parts(
        {
            "targets": targets,
            "calibrators": calibrators,
            "predictions": predictions,
            "quantiles": fit_quantiles(audits, targets, calibrators, predictions, settings.alphas),
            "limits": leave_out_limits(audits, targets, calibrators, predictions, settings.alpha),
        }
    )
