from hcat.engine.relations import order_by, read_batches, read_rows
from hcat.monitoring.drift.tables import measure_weeks
from hcat.statistics.memberships import BATCH_ROWS


def model(dbt, session):
    settings = dbt.config.meta_get("settings")
    logs = dbt.ref("hcat", "fct_interactions").filter("is_in_monitored_population")
    logs = order_by(logs.select("interaction_id", "cluster_id", "asked_week", "sampling_weight"), "interaction_id")
    segments = dbt.ref("hcat", "int_interaction_segments").select("interaction_id", "dimension", "segment")
    segments = read_batches(segments, BATCH_ROWS)
    deciding = read_rows(dbt.ref("hcat", "dim_metrics").filter("is_deciding").select("metric_name"))["metric_name"]
    scores = dbt.ref("hcat", "int_primary_evaluations").filter("is_in_monitored_population")
    scores = read_batches(order_by(scores, "metric_name, interaction_id", in_groups_of="metric_name"))
    week_keys = "metric_name, dimension, segment, week_start, deletion_number"
    sums = read_rows(order_by(dbt.ref("hcat", "int_week_sums"), week_keys))
    return measure_weeks(sums, read_rows(logs), segments, scores, settings, deciding)
