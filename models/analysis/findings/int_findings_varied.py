from hcat.engine.relations import order_by, read_rows
from hcat.weakness.sensitivity import vary_findings


def model(dbt, session):
    confidence = dbt.config.meta_get("confidence")
    error_rate = dbt.config.meta_get("error_rate")
    minimum_clusters = dbt.config.meta_get("minimum_clusters")
    count_splits = dbt.config.meta_get("count_splits")
    random_seed = dbt.config.meta_get("random_seed")
    sums = read_rows(order_by(dbt.ref("hcat", "int_finding_variations_summed"), "cell_id, variation, jackknife_group"))
    settings = {"confidence": confidence, "error_rate": error_rate, "minimum_clusters": minimum_clusters}
    return vary_findings(sums, count_splits=count_splits, random_seed=random_seed, **settings)
