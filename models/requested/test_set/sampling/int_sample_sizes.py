from hcat.engine.relations import order_by, read_rows
from hcat.test_set.sampling import plan_sample_sizes


def model(dbt, session):
    half_widths = dbt.config.meta_get("half_widths")
    expected_share = dbt.config.meta_get("expected_share")
    confidence = dbt.config.meta_get("confidence")
    design_effect = dbt.config.meta_get("design_effect")
    strata = order_by(dbt.ref("hcat", "int_strata_planned"), "stratum_id")
    return plan_sample_sizes(read_rows(strata), half_widths, expected_share, confidence, design_effect)
