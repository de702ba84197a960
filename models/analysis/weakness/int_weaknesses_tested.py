from hcat.engine.relations import read_rows
from hcat.weakness.statistics import WeaknessSettings
from hcat.weakness.tables import judge_weaknesses


def model(dbt, session):
    error_rate = dbt.config.meta_get("error_rate")
    confidence = dbt.config.meta_get("confidence")
    power = dbt.config.meta_get("power")
    minimum_clusters = dbt.config.meta_get("minimum_clusters")
    estimates = read_rows(dbt.ref("int_cell_estimates"))
    rules = read_rows(dbt.ref("weakness_rules"))
    severities = read_rows(dbt.ref("weakness_severities"))
    catalog = read_rows(dbt.ref("metric_catalog"))
    settings = WeaknessSettings(error_rate, confidence, power, minimum_clusters)
    return judge_weaknesses(estimates, rules, severities, catalog, settings)
