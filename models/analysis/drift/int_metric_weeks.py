from hcat.engine.relations import order_by, read_rows
from hcat.monitoring.drift.tables import bound_weeks


def model(dbt, session):
    confidence = dbt.config.meta_get("confidence")
    weeks = dbt.ref("hcat", "int_scores_by_week")
    return bound_weeks(read_rows(order_by(weeks, "metric_name, dimension, segment, week_start")), confidence)
