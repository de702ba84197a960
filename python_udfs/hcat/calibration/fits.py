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


def fit_labels(labels: pa.Table, targets: pa.Table, settings: FitSettings) -> pa.Table:
    """Return calibrators, what they say of labels that they did not see, and the limits of prediction sets.

    Parameters
    ----------
    labels : Table
        int_labels: labels with scores. Those of a plain random sample (is_audit) give the limits of prediction sets.
    targets : Table
        The metrics that people calibrate.
    settings : FitSettings

    Returns
    -------
    Table
        The parts ``calibrators``, ``predictions``, ``quantiles`` and ``limits``
        (:func:`hcat.engine.stacking.stack_parts`).
    """
    audits = labels.filter(pc.field("is_audit"))
    folds, seed = settings.count_folds, settings.random_seed
    calibrators = fit_calibrators(labels, targets, folds, seed)
    predictions = cross_fit_labels(labels, targets, calibrators, folds, seed)
    return stack_parts(
        {
            "calibrators": calibrators,
            "predictions": predictions,
            "quantiles": fit_quantiles(audits, targets, calibrators, predictions, settings.alphas),
            "limits": leave_out_limits(audits, targets, calibrators, predictions, settings.alpha),
        }
    )
