from hcat.engine.relations import order_by, read_batches, read_rows
from hcat.monitoring.drift.tables import measure_drift_of
from hcat.statistics.memberships import BATCH_ROWS


def model(dbt, session):
    settings = dbt.config.meta_get("settings")
    interactions = read_rows(order_by(dbt.ref("hcat", "int_interaction_weeks"), "interaction_id"))
    segments = dbt.ref("hcat", "int_segments_monitored")
    evaluations = dbt.ref("hcat", "int_primary_evaluations")
    evaluations = order_by(evaluations, "metric_name, interaction_id", in_groups_of="metric_name")
    members = read_batches(segments, BATCH_ROWS)
    return measure_drift_of(interactions, members, read_batches(evaluations), settings)
