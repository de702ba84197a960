from hcat.calibration.audits import check_audits
from hcat.engine.relations import read_rows


def model(dbt, session):
    alpha = dbt.config.meta_get("alpha")
    level = dbt.config.meta_get("level")
    minimum_clusters = dbt.config.meta_get("minimum_clusters")
    labels = read_rows(dbt.ref("hcat", "int_audit_labels"))
    targets = read_rows(dbt.ref("hcat", "int_calibration_targets"))
    predictions = read_rows(dbt.ref("hcat", "int_labels_cross_fitted"))
    return check_audits(labels, targets, predictions, alpha, level, minimum_clusters)
