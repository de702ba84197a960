from hcat.engine.relations import order_by, read_rows
from hcat.robustness.rates import RobustnessSettings
from hcat.robustness.tables import compare_at_equal_size


def model(dbt, session):
    rule = dbt.config.meta_get("rule")
    draws = dbt.config.meta_get("draws")
    confidence = dbt.config.meta_get("confidence")
    random_seed = dbt.config.meta_get("random_seed")
    minimum_groups = dbt.config.meta_get("minimum_groups")
    answers = order_by(
        dbt.ref("hcat", "int_robustness_answers"), "system_id, hypothesis, side, group_id, interaction_id"
    )
    settings = RobustnessSettings(rule, draws, confidence, random_seed, minimum_groups)
    return compare_at_equal_size(read_rows(answers), settings)
