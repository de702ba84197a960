from hcat.engine.relations import order_by, read_rows
from hcat.weakness.estimates import estimate_cells
from hcat.weakness.statistics import WeaknessSettings
from hcat.weakness.tables import Headline, judge_weaknesses


def model(dbt, session):
    settings = dbt.config.meta_get("settings")
    draws = dbt.config.meta_get("draws")
    headline = read_rows(order_by(dbt.ref("hcat", "int_headline_cells"), "headline_rank"))
    headline = Headline(headline, read_rows(dbt.ref("hcat", "int_headline_pieces")), **draws)
    cells = read_rows(order_by(dbt.ref("hcat", "int_metric_cells"), "metric_number, partition_number, cell_number"))
    sums, groups = read_rows(dbt.ref("hcat", "int_cell_sums")), read_rows(dbt.ref("hcat", "int_clusters_bucketed"))
    rules, severities = read_rows(dbt.ref("weakness_rules")), read_rows(dbt.ref("weakness_severities"))
    tables = (estimate_cells(cells, sums, groups), rules, severities, read_rows(dbt.ref("hcat", "int_metric_catalog")))
    return judge_weaknesses(*tables, WeaknessSettings(**settings), headline)
