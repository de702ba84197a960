from hcat.engine.relations import order_by, read_rows
from hcat.review.evidence import measure_labels


def model(dbt, session):
    settings = dbt.config.meta_get("settings")
    evaluations = dbt.ref("hcat", "int_target_evaluations")
    labels = read_rows(evaluations.filter("label is not null and raw_score is not null"))
    fitted = read_rows(dbt.ref("hcat", "int_labels_fitted"))
    appetites = read_rows(dbt.ref("risk_appetites"))
    wanted = read_rows(order_by(dbt.ref("review_targets"), "metric_name, purpose, target"))
    decisions = read_rows(dbt.ref("hcat", "int_threshold_decisions").filter("threshold is not null"))
    applications = read_rows(dbt.ref("applications"))
    return measure_labels(labels, fitted, appetites, wanted, decisions, applications, **settings)
