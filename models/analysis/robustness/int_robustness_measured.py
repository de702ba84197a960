from hcat.engine.relations import order_by, read_rows
from hcat.robustness.rates import RobustnessSettings, measure_robustness


def model(dbt, session):
    rule = dbt.config.meta_get("rule")
    draws = dbt.config.meta_get("draws")
    confidence = dbt.config.meta_get("confidence")
    random_seed = dbt.config.meta_get("random_seed")
    minimum_groups = dbt.config.meta_get("minimum_groups")
    groups = order_by(dbt.ref("hcat", "int_groups_typed"), "system_id, hypothesis, side, group_id")
    settings = RobustnessSettings(rule, draws, confidence, random_seed, minimum_groups)
    return measure_robustness(read_rows(groups), settings)
