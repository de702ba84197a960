from hcat.engine.relations import read_rows
from hcat.safety.bias import BiasSettings, measure_gaps


def model(dbt, session):
    confidence = dbt.config.meta_get("confidence")
    minimum_clusters = dbt.config.meta_get("minimum_clusters")
    random_seed = dbt.config.meta_get("random_seed")
    settings = BiasSettings(confidence, minimum_clusters, random_seed)
    return measure_gaps(read_rows(dbt.ref("hcat", "int_bias_sums")), settings)
