from hcat.calibration.calibrated_scores import BATCH_ROWS, CALIBRATED_SCHEMA, ScoreCalibration
from hcat.engine.relations import map_batches, read_rows


def model(dbt, session):
    alpha = dbt.config.meta_get("alpha")
    fitted = read_rows(dbt.ref("hcat", "int_labels_fitted"))
    calibration = ScoreCalibration(fitted, read_rows(dbt.ref("hcat", "fct_calibration_validity")), alpha)
    scores = dbt.ref("hcat", "int_target_evaluations").filter("raw_score is not null")
    return map_batches(scores, calibration, CALIBRATED_SCHEMA, BATCH_ROWS)
