from hcat.engine.relations import order_by, read_rows
from hcat.review.evidence import EvidenceSettings, measure_labels


def model(dbt, session):
    settings = dbt.config.meta_get("settings")
    evaluations = dbt.ref("hcat", "int_target_evaluations")
    labels = evaluations.filter("label is not null and raw_score is not null")
    labels = read_rows(order_by(labels, "metric_name, interaction_id"))
    fitted = read_rows(dbt.ref("hcat", "int_labels_fitted"))
    appetites = read_rows(dbt.ref("risk_appetites"))
    wanted = read_rows(order_by(dbt.ref("review_targets"), "metric_name, purpose, target"))
    return measure_labels(labels, fitted, appetites, wanted, EvidenceSettings(**settings))
