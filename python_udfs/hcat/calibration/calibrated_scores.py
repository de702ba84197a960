"""What calibrators and limits say of every score, batch by batch."""

from collections.abc import Iterator
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hcat.calibration.calibrator_tables import read_calibrators
from hcat.calibration.conformal import OTHER_GROUP
from hcat.calibration.conformal_tables import IN_FORCE
from hcat.engine.columns import read_part, schema
from hcat.statistics.arrays import Floats

CALIBRATED_SCHEMA: Final = schema(
    "string: interaction_id metric_name", "float64: calibrated_probability", "string: prediction_set"
)

BATCH_ROWS: Final = 100_000

#: Sets by the labels in them; none is empty, as limits meet where an answer would have neither.
_SETS: Final = np.array(["failed", "accepted", "accepted|failed"], dtype=object)


class ScoreCalibration:
    """Gives every score its probability and its prediction set, row by row.

    A score has neither where its metric has no calibrator, or its version class too few labels.

    Parameters
    ----------
    fitted : Table
        Of :func:`hcat.calibration.conformal_tables.fit_labels`.
    validity : Table
        metric_name, version_class and calibration_status, one row per pair.
    alpha : float
        Miscoverage of the sets in force.
    """

    def __init__(self, fitted: pa.Table, validity: pa.Table, alpha: float) -> None:
        self._calibrators = read_calibrators(read_part(fitted, "calibrators"))
        valid = validity.filter(pc.field("calibration_status").isin(["in_force", "expired", "undated"]))
        cells, left_out = read_part(fitted, "quantiles"), read_part(fitted, "limits")
        cells = cells.filter((pc.field("stratification") == IN_FORCE) & (pc.field("alpha") == alpha))
        self._classes: dict[str, pa.Array] = {}
        self._limits: dict[str, _Limits] = {}
        for name in self._calibrators:
            is_own = pc.field("metric_name") == name
            self._classes[name] = valid.filter(is_own)["version_class"].combine_chunks()
            self._limits[name] = _Limits(cells.filter(is_own), left_out.filter(is_own))

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return the rows that have a probability (schema :data:`CALIBRATED_SCHEMA`)."""
        nothing = pa.RecordBatch.from_pylist([], schema=CALIBRATED_SCHEMA)
        return pa.concat_batches([nothing, *self._calibrate(batch)])

    def _calibrate(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        for name, known in self._calibrators.items():
            is_valid = pc.field("version_class").isin(self._classes[name])
            rows = batch.filter((pc.field("metric_name") == name) & is_valid)
            scores = rows["raw_score"].to_numpy(zero_copy_only=False)
            calibrator = known.by_family[known.chosen]
            # people rated scores of the range that the catalogue states; another one counts as its bound
            inputs = np.clip(scores, 0, 1) if len(calibrator.values("logit_bound")) else scores
            probabilities = np.clip(known.apply(inputs, rows["segment"].to_numpy(zero_copy_only=False)), 0, 1)
            failed, accepted = self._limits[name].find(rows["stratum"], rows["cluster_id"])
            sign = calibrator.values("direction")[0]
            # if one class has no limit, the set holds both labels
            is_open = np.isnan(failed) | np.isnan(accepted)
            is_like_failed = is_open | (sign * scores <= sign * failed)
            is_like_accepted = is_open | (sign * scores >= sign * accepted)
            sets = pa.array(_SETS[np.where(is_like_failed & is_like_accepted, 2, is_like_accepted)], type=pa.string())
            columns = [rows["interaction_id"], rows["metric_name"], pa.array(probabilities), sets]
            yield pa.RecordBatch.from_arrays(columns, schema=CALIBRATED_SCHEMA)


class _Limits:
    """The score limits of one metric by label, stratum and cluster; NaN where the labels are too few."""

    def __init__(self, cells: pa.Table, left_out: pa.Table) -> None:
        # strata without a cell share one
        self._strata = sorted({OTHER_GROUP, *cells["stratum"].to_pylist()})
        # a cluster with labels has the limits of the other clusters; the last place is for all that have none
        self._clusters = sorted(set(left_out["cluster_id"].to_pylist()))
        clusters = {cluster: place for place, cluster in enumerate(self._clusters)}
        self._values = np.full((2, len(self._strata), len(clusters) + 1), np.nan)
        for limit in [*cells.to_pylist(), *left_out.to_pylist()]:
            place = slice(None) if limit["cluster_id"] is None else clusters[limit["cluster_id"]]
            value = np.nan if limit["score_limit"] is None else limit["score_limit"]
            self._values[limit["label"], self._strata.index(limit["stratum"]), place] = value

    def find(self, strata: pa.Array, clusters: pa.Array) -> Floats:
        """Return the limits of the failed and of the accepted label, shape (2, n)."""
        other = self._strata.index(OTHER_GROUP)
        of_strata = pc.fill_null(pc.index_in(strata, value_set=pa.array(self._strata)), other)
        own_clusters = pa.array(self._clusters, type=pa.string())
        of_clusters = pc.fill_null(pc.index_in(clusters, value_set=own_clusters), len(own_clusters))
        return np.asarray(self._values[:, of_strata.to_numpy(), of_clusters.to_numpy()])
