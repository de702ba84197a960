from hcat.calibration.score_bands import measure_score_bands
from hcat.engine.relations import order_by, read_rows


def model(dbt, session):
    count_bands = dbt.config.meta_get("count_bands")
    decimals = dbt.config.meta_get("decimals")
    confidence = dbt.config.meta_get("confidence")
    labels = order_by(dbt.ref("hcat", "int_labels"), "metric_name, interaction_id")
    targets = read_rows(dbt.ref("hcat", "int_calibration_targets"))
    return measure_score_bands(read_rows(labels), targets, count_bands, decimals, confidence)
