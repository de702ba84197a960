from hcat.engine.relations import order_by, read_rows
from hcat.review.sampling import measure_labels_needed


def model(dbt, session):
    labels = order_by(dbt.ref("hcat", "int_labels"), "metric_name, interaction_id")
    targets = order_by(dbt.ref("review_targets"), "metric_name, purpose, target")
    metrics = read_rows(dbt.ref("hcat", "int_calibration_targets"))
    return measure_labels_needed(read_rows(labels), read_rows(targets), metrics)
