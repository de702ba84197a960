from hcat.engine.relations import order_by, read_batches, read_rows
from hcat.monitoring.drift.tables import measure_drift_of


def model(dbt, session):
    settings = dbt.config.meta_get("settings")
    interactions = read_rows(order_by(dbt.ref("hcat", "int_interaction_weeks"), "interaction_id"))
    segments = dbt.ref("hcat", "int_segments_monitored")
    evaluations = order_by(dbt.ref("hcat", "int_primary_evaluations"), "metric_name, interaction_id")
    weeks = read_rows(order_by(dbt.ref("hcat", "int_scores_by_week"), "metric_name, dimension, segment, week_start"))
    members, scores = read_batches(segments), read_batches(evaluations)
    return measure_drift_of(interactions, members, scores, weeks, settings)
