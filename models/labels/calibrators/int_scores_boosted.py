from hcat.calibration.tables import BOOSTED_SCHEMA, BoostedCalibration
from hcat.engine.relations import map_batches, order_by, read_rows
from hcat.engine.stacking import read_part


def model(dbt, session):
    batch_rows = dbt.config.meta_get("batch_rows")
    calibrators = BoostedCalibration(read_part(read_rows(dbt.ref("hcat", "int_labels_fitted")), "calibrators"))
    scores = order_by(dbt.ref("hcat", "int_scores_to_boost"), "interaction_id, metric_name")
    return map_batches(scores, calibrators, BOOSTED_SCHEMA, batch_rows)
