from hcat.calibration.conformal_tables import cover_labels
from hcat.engine.relations import read_rows


def model(dbt, session):
    alphas = dbt.config.meta_get("alphas")
    labels = read_rows(dbt.ref("hcat", "int_audit_labels"))
    targets = read_rows(dbt.ref("hcat", "int_calibration_targets"))
    calibrators = read_rows(dbt.ref("hcat", "int_calibrators_fitted"))
    predictions = read_rows(dbt.ref("hcat", "int_labels_cross_fitted"))
    return cover_labels(labels, targets, calibrators, predictions, alphas)
