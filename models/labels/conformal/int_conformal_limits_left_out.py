from hcat.calibration.conformal_tables import leave_out_limits
from hcat.engine.relations import read_rows


def model(dbt, session):
    alpha = dbt.config.meta_get("alpha")
    labels = read_rows(dbt.ref("hcat", "int_audit_labels"))
    targets = read_rows(dbt.ref("hcat", "int_calibration_targets"))
    calibrators = read_rows(dbt.ref("hcat", "int_calibrators_fitted"))
    predictions = read_rows(dbt.ref("hcat", "int_labels_cross_fitted"))
    return leave_out_limits(labels, targets, calibrators, predictions, alpha)
