from hcat.engine.relations import order_by, read_rows
from hcat.test_set.generation.selection import check_candidates


def model(dbt, session):
    materials = order_by(dbt.ref("hcat", "int_generated_materials"), "query_id")
    return check_candidates(read_rows(materials))
