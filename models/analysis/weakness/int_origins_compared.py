from hcat.engine.relations import order_by, read_rows
from hcat.weakness.representativeness import compare_origins


def model(dbt, session):
    confidence = dbt.config.meta_get("confidence")
    minimum_clusters = dbt.config.meta_get("minimum_clusters")
    counts = order_by(dbt.ref("hcat", "int_origins_counted"), "application, dimension, segment")
    return compare_origins(read_rows(counts), confidence=confidence, minimum_clusters=minimum_clusters)
