"""All that labels say about scores, thresholds and prediction sets, measured in one go."""

import pyarrow as pa

from hcat.calibration.audits import check_audits
from hcat.calibration.conformal_tables import cover_labels
from hcat.calibration.quality import measure_calibrators
from hcat.calibration.score_bands import measure_score_bands
from hcat.calibration.threshold_tables import fit_thresholds
from hcat.engine.columns import read_part, stack_parts
from hcat.review.sampling import measure_labels_needed


def measure_labels(
    labels: pa.Table,
    fitted: pa.Table,
    appetites: pa.Table,
    wanted: pa.Table,
    decisions: pa.Table,
    applications: pa.Table,
    *,
    confidence: float,
    alpha: float,
    random_seed: int,
) -> pa.Table:
    """Return what labels say about calibrators, prediction sets, thresholds and the labels that are still needed.

    Parameters
    ----------
    labels : Table
        Labels with scores, as `hcat.calibration.conformal_tables.fit_labels` reads them.
    fitted : Table
        Of :func:`hcat.calibration.conformal_tables.fit_labels`.
    appetites, wanted : Table
        The seeds risk_appetites and review_targets; the latter ordered by its key.
    decisions, applications : Table
        Thresholds in force (metric_name, threshold), and the seed applications.
    confidence : float
        Two-sided confidence of intervals, in (0, 1).
    alpha : float
        Share of labels, in (0, 1), that a prediction set in force may miss.
    random_seed : int

    Returns
    -------
    Table
        The parts ``quality``, ``coverage``, ``audits``, ``bands``, ``thresholds`` and ``labels_needed``
        (:func:`hcat.engine.columns.stack_parts`).
    """
    targets, predictions = read_part(fitted, "targets"), read_part(fitted, "predictions")
    return stack_parts(
        {
            "quality": measure_calibrators(predictions, targets, read_part(fitted, "calibrators"), random_seed),
            "coverage": cover_labels(labels, targets, predictions, alpha),
            "audits": check_audits(labels, targets, predictions, alpha),
            "bands": measure_score_bands(labels, targets, confidence),
            "thresholds": fit_thresholds(labels, targets, appetites, confidence, random_seed, decisions, applications),
            "labels_needed": measure_labels_needed(labels, wanted, targets),
        }
    )
