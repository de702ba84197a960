from hcat.engine.relations import order_by, read_rows
from hcat.weakness.sensitivity import vary_findings


def model(dbt, session):
    confidence = dbt.config.meta_get("confidence")
    minimum_clusters = dbt.config.meta_get("minimum_clusters")
    sums = read_rows(order_by(dbt.ref("hcat", "int_new_clusters_summed"), "cell_id, variation, jackknife_group"))
    return vary_findings(sums, confidence=confidence, minimum_clusters=minimum_clusters)
