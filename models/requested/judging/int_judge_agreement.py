from hcat.calibration.agreement import COUNT_DRAWS
from hcat.engine.relations import order_by, read_rows
from hcat.judging.agreement import compare_with_reference


def model(dbt, session):
    random_seed = dbt.config.meta_get("random_seed")
    comparisons = order_by(dbt.ref("hcat", "int_judge_comparisons"), "metric_name, reference, interaction_id")
    return compare_with_reference(read_rows(comparisons), COUNT_DRAWS, random_seed)
