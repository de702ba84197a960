from hcat.engine.relations import order_by, read_rows
from hcat.weakness.estimates import estimate_cells
from hcat.weakness.statistics import WeaknessSettings
from hcat.weakness.tables import Headline, judge_weaknesses


def model(dbt, session):
    settings = dbt.config.meta_get("settings")
    family = dbt.config.meta_get("family")
    cells = read_rows(order_by(dbt.ref("hcat", "int_metric_cells"), "cell_id"))
    headline = Headline(read_rows(dbt.ref("hcat", "int_headline_pieces")), cells, **family)
    seeds = read_rows(dbt.ref("weakness_rules")), read_rows(dbt.ref("weakness_severities"))
    catalog = read_rows(dbt.ref("hcat", "int_metric_catalog"))
    estimates = estimate_cells(cells, read_rows(dbt.ref("hcat", "int_cell_sums")))
    return judge_weaknesses(estimates, *seeds, catalog, WeaknessSettings(**settings), headline)
