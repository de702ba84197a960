from hcat.calibration.failure_rates import EVALUATION_COLUMNS, INTERACTION_COLUMNS, estimate_failure_rates
from hcat.engine.relations import order_by, read_batches, read_rows
from hcat.statistics.memberships import BATCH_ROWS


def model(dbt, session):
    confidence = dbt.config.meta_get("confidence")
    seed = dbt.config.meta_get("random_seed")
    rows = dbt.ref("hcat", "int_target_evaluations").select(*EVALUATION_COLUMNS)
    rows = order_by(rows, "criterion,metric_name,interaction_id", in_groups_of="criterion")
    verdicts = dbt.ref("hcat", "fct_verdicts").select(*INTERACTION_COLUMNS)
    verdicts = read_rows(order_by(verdicts, "interaction_id"))
    segments = read_batches(dbt.ref("hcat", "int_interaction_segments"), BATCH_ROWS)
    return estimate_failure_rates(verdicts, read_batches(rows), segments, confidence=confidence, random_seed=seed)
