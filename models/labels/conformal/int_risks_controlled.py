from hcat.calibration.conformal_tables import control_risks
from hcat.engine.relations import read_rows
from hcat.engine.stacking import read_part


def model(dbt, session):
    levels = dbt.config.meta_get("levels")
    delta = dbt.config.meta_get("delta")
    random_seed = dbt.config.meta_get("random_seed")
    labels = read_rows(dbt.ref("hcat", "int_labels").filter("is_audit"))
    targets = read_rows(dbt.ref("hcat", "int_calibration_targets"))
    fitted = read_rows(dbt.ref("hcat", "int_labels_fitted"))
    calibrators, predictions = read_part(fitted, "calibrators"), read_part(fitted, "predictions")
    return control_risks(labels, targets, calibrators, predictions, levels, delta, random_seed)
