from hcat.engine.relations import order_by, read_rows
from hcat.robustness.tables import measure_variants


def model(dbt, session):
    confidence = dbt.config.meta_get("confidence")
    minimum_clusters = dbt.config.meta_get("minimum_clusters")
    pairs = order_by(dbt.ref("hcat", "int_variant_pairs"), "robustness_pair_id")
    return measure_variants(read_rows(pairs), confidence=confidence, minimum_clusters=minimum_clusters)
