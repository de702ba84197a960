from hcat.engine.relations import order_by, read_batches, read_rows
from hcat.monitoring.drift.tables import measure_weeks
from hcat.statistics.memberships import BATCH_ROWS


def model(dbt, session):
    settings = dbt.config.meta_get("settings")
    interactions = dbt.ref("hcat", "fct_interactions").filter("is_in_monitored_population")
    interactions = interactions.select("interaction_id", "cluster_id", "asked_week")
    segments = dbt.ref("hcat", "int_interaction_segments").select("interaction_id", "dimension", "segment")
    evaluations = dbt.ref("hcat", "int_primary_evaluations").filter("is_in_monitored_population")
    evaluations = order_by(evaluations, "metric_name, interaction_id", in_groups_of="metric_name")
    week_keys = "metric_name, dimension, segment, week_start, deletion_number"
    sums = read_rows(order_by(dbt.ref("hcat", "int_week_sums"), week_keys))
    logs = read_rows(order_by(interactions, "interaction_id"))
    return measure_weeks(sums, logs, read_batches(segments, BATCH_ROWS), read_batches(evaluations), settings)
