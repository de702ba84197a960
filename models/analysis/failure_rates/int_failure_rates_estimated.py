from hcat.calibration.failure_rates import estimate_failure_rates
from hcat.engine.relations import order_by, read_batches, read_rows
from hcat.engine.stacking import read_part
from hcat.statistics.memberships import BATCH_ROWS


def model(dbt, session):
    confidence = dbt.config.meta_get("confidence")
    seed = dbt.config.meta_get("random_seed")
    rows = order_by(dbt.ref("hcat", "int_target_evaluations"), "metric_name,interaction_id", in_groups_of="metric_name")
    interactions = dbt.ref("hcat", "fct_interactions")
    ids = read_rows(interactions.select("interaction_id"))["interaction_id"].combine_chunks()
    segments = read_batches(dbt.ref("hcat", "int_interaction_segments"), BATCH_ROWS)
    targets = read_part(read_rows(dbt.ref("hcat", "int_labels_fitted")), "targets")
    return estimate_failure_rates(ids, read_batches(rows), segments, targets, confidence=confidence, random_seed=seed)
