"""All that labels say about scores, thresholds and prediction sets, measured in one go."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from hcat.calibration.audits import check_audits
from hcat.calibration.conformal_tables import cover_labels
from hcat.calibration.score_bands import measure_score_bands
from hcat.calibration.tables import measure_calibrators
from hcat.calibration.threshold_tables import fit_thresholds
from hcat.engine.stacking import read_part, stack_parts
from hcat.review.sampling import measure_labels_needed


@dataclass(frozen=True, slots=True)
class EvidenceSettings:
    """How the evidence of labels is measured.

    Parameters
    ----------
    confidence : float
        Two-sided confidence of intervals, in (0, 1).
    random_seed : int
    count_draws : int
        Draws of the bootstrap over clusters.
    cut_off : float
        Probability from which an answer counts as accepted, in (0, 1).
    count_bins, count_bands : int
        Bins of the calibrated probability, and bands of the raw score.
    decimals : int
        Decimals of the bounds of bands.
    alphas : sequence of float
        Shares of labels, in (0, 1), that a prediction set may miss.
    alpha : float
        The one in force.
    level : float
        Level of the tests of audit labels, in (0, 1).
    minimum_clusters : int
        Clusters of a class below which it is not tested.
    """

    confidence: float
    random_seed: int
    count_draws: int
    cut_off: float
    count_bins: int
    count_bands: int
    decimals: int
    alphas: Sequence[float]
    alpha: float
    level: float
    minimum_clusters: int


def measure_labels(
    labels: pa.Table, fitted: pa.Table, appetites: pa.Table, wanted: pa.Table, settings: EvidenceSettings
) -> pa.Table:
    """Return what labels say about calibrators, prediction sets, thresholds and the labels that are still needed.

    Parameters
    ----------
    labels : Table
        Labels with scores, ordered by metric_name and interaction_id, with is_audit and rated_month.
    fitted : Table
        Of :func:`hcat.calibration.fits.fit_labels`.
    appetites, wanted : Table
        The seeds risk_appetites and review_targets; the latter ordered by its key.
    settings : EvidenceSettings

    Returns
    -------
    Table
        The parts ``quality``, ``coverage``, ``audits``, ``bands``, ``thresholds`` and ``labels_needed``
        (:func:`hcat.engine.stacking.stack_parts`).
    """
    audits = labels.filter(pc.field("is_audit"))
    chosen, seed, targets = settings, settings.random_seed, read_part(fitted, "targets")
    calibrators, predictions = read_part(fitted, "calibrators"), read_part(fitted, "predictions")
    return stack_parts(
        {
            "quality": measure_calibrators(
                predictions, targets, calibrators, chosen.cut_off, chosen.count_bins, chosen.count_draws, seed
            ),
            "coverage": cover_labels(audits, targets, calibrators, predictions, chosen.alphas),
            "audits": check_audits(audits, targets, predictions, chosen.alpha, chosen.level, chosen.minimum_clusters),
            "bands": measure_score_bands(labels, targets, chosen.count_bands, chosen.decimals, chosen.confidence),
            "thresholds": fit_thresholds(labels, targets, appetites, chosen.confidence, seed),
            "labels_needed": measure_labels_needed(labels, wanted, targets),
        }
    )
