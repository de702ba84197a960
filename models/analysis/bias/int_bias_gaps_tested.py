from hcat.engine.relations import read_rows
from hcat.safety.bias_tables import BiasSettings, measure_gaps


def model(dbt, session):
    error_rate = dbt.config.meta_get("error_rate")
    confidence = dbt.config.meta_get("confidence")
    minimum_clusters = dbt.config.meta_get("minimum_clusters")
    count_draws = dbt.config.meta_get("count_draws")
    random_seed = dbt.config.meta_get("random_seed")
    settings = BiasSettings(error_rate, confidence, minimum_clusters, count_draws, random_seed)
    return measure_gaps(read_rows(dbt.ref("hcat", "int_bias_sums")), settings)
