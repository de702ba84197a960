from hcat.engine.relations import order_by, read_rows
from hcat.weakness.tables import find_weaknesses


def model(dbt, session):
    settings = dbt.config.meta_get("settings")
    cells = read_rows(order_by(dbt.ref("hcat", "int_metric_cells"), "cell_id"))
    sums = read_rows(dbt.ref("hcat", "int_cell_sums"))
    pieces = read_rows(dbt.ref("hcat", "int_headline_pieces"))
    rules = read_rows(dbt.ref("metric_rules").filter("rule_for = 'weakness'"))
    catalog = read_rows(dbt.ref("hcat", "int_metric_catalog"))
    return find_weaknesses(cells, sums, pieces, rules, catalog, **settings)
