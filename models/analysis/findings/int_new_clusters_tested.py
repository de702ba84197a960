from hcat.engine.relations import order_by, read_rows
from hcat.weakness.sensitivity import vary_findings


def model(dbt, session):
    confidence = dbt.config.meta_get("confidence")
    error_rate = dbt.config.meta_get("error_rate")
    minimum_clusters = dbt.config.meta_get("minimum_clusters")
    random_seed = dbt.config.meta_get("random_seed")
    sums = read_rows(order_by(dbt.ref("hcat", "int_new_clusters_summed"), "cell_id, variation, jackknife_group"))
    settings = {"confidence": confidence, "error_rate": error_rate, "minimum_clusters": minimum_clusters}
    return vary_findings(sums, count_splits=0, random_seed=random_seed, **settings)
