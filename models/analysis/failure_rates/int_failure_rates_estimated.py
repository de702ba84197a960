from hcat.calibration import failure_rates as rates
from hcat.engine.relations import order_by, read_batches, read_rows
from hcat.statistics.memberships import BATCH_ROWS


def model(dbt, session):
    confidence, seed = dbt.config.meta_get("confidence"), dbt.config.meta_get("random_seed")
    rows = dbt.ref("hcat", "int_target_evaluations").select(*rates.EVALUATION_COLUMNS)
    rows = read_batches(order_by(rows, "criterion,metric_name,interaction_id", in_groups_of="criterion"))
    verdicts = dbt.ref("hcat", "fct_verdicts").select(*rates.INTERACTION_COLUMNS)
    verdicts = read_rows(order_by(verdicts, "interaction_id"))
    labels = dbt.ref("hcat", "int_ratings_adjudicated").filter("label is not null").select(*rates.LABEL_COLUMNS)
    segments = read_batches(dbt.ref("hcat", "int_interaction_segments"), BATCH_ROWS)
    read = verdicts, read_rows(labels), rows, segments
    return rates.estimate_failure_rates(*read, confidence=confidence, random_seed=seed)
