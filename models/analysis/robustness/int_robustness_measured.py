from hcat.engine.relations import order_by, read_rows
from hcat.robustness.rates import RobustnessSettings
from hcat.robustness.tables import measure_all


def model(dbt, session):
    settings = dbt.config.meta_get("settings")
    answers = order_by(
        dbt.ref("hcat", "int_robustness_answers"), "system_id, hypothesis, side, group_id, interaction_id"
    )
    pairs = order_by(dbt.ref("hcat", "int_variant_pairs"), "robustness_pair_id")
    verdicts = order_by(dbt.ref("hcat", "int_metric_verdicts"), "system_id, metric, interaction_id")
    orders = order_by(dbt.ref("hcat", "int_chunk_orders"), "system, metric_name, measure, cluster_id")
    tables = (read_rows(relation) for relation in (answers, pairs, verdicts, orders))
    return measure_all(*tables, RobustnessSettings(**settings))
