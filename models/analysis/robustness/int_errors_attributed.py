from hcat.engine.relations import order_by, read_rows
from hcat.robustness.groups import attribute_errors


def model(dbt, session):
    rule = dbt.config.meta_get("rule")
    answers = order_by(
        dbt.ref("hcat", "int_robustness_answers"), "system_id, hypothesis, side, group_id, interaction_id"
    )
    return attribute_errors(read_rows(answers), rule)
