from hcat.engine.relations import order_by, read_rows
from hcat.weakness.versions import compare_versions


def model(dbt, session):
    settings = dbt.config.meta_get("settings")
    cells = order_by(dbt.ref("hcat", "int_version_cells_measured"), "version_comparison_id")
    return compare_versions(read_rows(cells), **settings)
