from hcat.calibration.threshold_tables import fit_thresholds
from hcat.engine.relations import order_by, read_rows


def model(dbt, session):
    confidence = dbt.config.meta_get("confidence")
    random_seed = dbt.config.meta_get("random_seed")
    labels = order_by(dbt.ref("hcat", "int_labels"), "metric_name, interaction_id")
    targets = read_rows(dbt.ref("hcat", "int_calibration_targets"))
    appetites = read_rows(dbt.ref("risk_appetites"))
    return fit_thresholds(read_rows(labels), targets, appetites, confidence, random_seed)
