"""All that labels decide about scores, fitted in one go."""

from __future__ import annotations

import pyarrow as pa

from hcat.calibration.calibrator_tables import cross_fit_labels, fit_calibrators
from hcat.calibration.conformal_tables import fit_quantiles, leave_out_limits
from hcat.engine.columns import stack_parts


def fit_labels(labels: pa.Table, targets: pa.Table, alpha: float, random_seed: int) -> pa.Table:
    """Return calibrators, what they say of labels that they did not see, and the limits of prediction sets.

    Parameters
    ----------
    labels : Table
        Rows of int_target_evaluations with a label and a score. Those of a plain random sample (is_audit) give the
        limits of prediction sets.
    targets : Table
        Of :func:`hcat.calibration.targets.describe_targets`.
    alpha : float
        Share of labels, in (0, 1), that a prediction set in force may miss.
    random_seed : int

    Returns
    -------
    Table
        The parts ``targets``, ``calibrators``, ``predictions``, ``quantiles`` and ``limits``
        (:func:`hcat.engine.columns.stack_parts`).
    """
    calibrators = fit_calibrators(labels, targets, random_seed)
    predictions = cross_fit_labels(labels, targets, calibrators, random_seed)
    return stack_parts(
        {
            "targets": targets,
            "calibrators": calibrators,
            "predictions": predictions,
            "quantiles": fit_quantiles(labels, targets, calibrators, predictions, alpha),
            "limits": leave_out_limits(labels, targets, predictions, alpha),
        }
    )
