from hcat.engine.relations import order_by, read_rows
from hcat.robustness.tables import measure_all


def model(dbt, session):
    confidence = dbt.config.meta_get("confidence")
    random_seed = dbt.config.meta_get("random_seed")
    answer_keys = "system_id, hypothesis, side, group_id, interaction_id"
    measured = dbt.ref("hcat", "int_robustness_answers")
    answers = read_rows(order_by(measured.filter("part = 'answers'"), answer_keys))
    pairs = read_rows(order_by(dbt.ref("hcat", "fct_robustness_pairs"), "robustness_pair_id"))
    verdicts = read_rows(order_by(measured.filter("part = 'verdicts'"), "system_id, metric, interaction_id"))
    order_keys = "system, metric_name, measure, cluster_id"
    orders = read_rows(order_by(dbt.ref("hcat", "int_chunk_orders"), order_keys))
    return measure_all(answers, pairs, verdicts, orders, confidence, random_seed)
