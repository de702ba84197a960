from hcat.calibration.failure_rates import estimate_failure_rates
from hcat.engine.relations import order_by, read_batches, read_rows
from hcat.statistics.memberships import BATCH_ROWS


def model(dbt, session):
    confidence = dbt.config.meta_get("confidence")
    seed = dbt.config.meta_get("random_seed")
    order = "criterion,metric_name,interaction_id"
    rows = order_by(dbt.ref("hcat", "int_target_evaluations"), order, in_groups_of="criterion")
    verdicts = read_rows(order_by(dbt.ref("hcat", "fct_verdicts"), "interaction_id"))
    segments = read_batches(dbt.ref("hcat", "int_interaction_segments"), BATCH_ROWS)
    return estimate_failure_rates(verdicts, read_batches(rows), segments, confidence=confidence, random_seed=seed)
