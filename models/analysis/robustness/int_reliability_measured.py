from hcat.engine.relations import order_by, read_rows
from hcat.robustness.reliability import ReliabilitySettings, measure_reliability


def model(dbt, session):
    confidence = dbt.config.meta_get("confidence")
    minimum_groups = dbt.config.meta_get("minimum_groups")
    verdicts = order_by(dbt.ref("hcat", "int_metric_verdicts"), "system_id, metric, interaction_id")
    return measure_reliability(read_rows(verdicts), ReliabilitySettings(confidence, minimum_groups))
