from hcat.engine.relations import order_by, read_rows
from hcat.test_set.sampling import plan_sample_sizes


def model(dbt, session):
    confidence = dbt.config.meta_get("confidence")
    strata = order_by(dbt.ref("hcat", "int_strata_planned"), "stratum_id")
    return plan_sample_sizes(read_rows(strata), confidence)
