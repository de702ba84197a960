from hcat.engine.relations import order_by, read_rows
from hcat.robustness.chunk_orders import measure_orders
from hcat.robustness.reliability import ReliabilitySettings


def model(dbt, session):
    confidence = dbt.config.meta_get("confidence")
    minimum_groups = dbt.config.meta_get("minimum_groups")
    orders = order_by(dbt.ref("hcat", "int_chunk_orders"), "system, metric_name, measure, cluster_id")
    return measure_orders(read_rows(orders), ReliabilitySettings(confidence, minimum_groups))
