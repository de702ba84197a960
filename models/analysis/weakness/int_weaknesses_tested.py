from hcat.engine.relations import order_by, read_rows
from hcat.weakness.statistics import WeaknessSettings
from hcat.weakness.tables import Headline, judge_weaknesses


def model(dbt, session):
    settings = dbt.config.meta_get("settings")
    draws = dbt.config.meta_get("draws")
    cells = read_rows(order_by(dbt.ref("hcat", "int_headline_cells"), "headline_rank"))
    pieces = read_rows(dbt.ref("hcat", "int_headline_pieces"))
    estimates = read_rows(dbt.ref("hcat", "int_cell_estimates"))
    rules = read_rows(dbt.ref("weakness_rules"))
    severities = read_rows(dbt.ref("weakness_severities"))
    catalog = read_rows(dbt.ref("hcat", "int_metric_catalog"))
    headline = Headline(cells, pieces, **draws)
    return judge_weaknesses(estimates, rules, severities, catalog, WeaknessSettings(**settings), headline)
