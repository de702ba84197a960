from hcat.engine.relations import order_by, read_rows, select_pending
from hcat.test_set.variants.tables import vary_pending


def model(dbt, session):
    columns = ("variant_key", "variant_type", "query_text", "reference_answer", "language", "rate")
    keyed = dbt.ref("hcat", "int_variants_planned").select(*columns).distinct()
    materials = read_rows(dbt.ref("hcat", "int_variant_materials"))
    done = str(dbt.this) if dbt.is_incremental else None
    pending = select_pending(keyed, done, ["variant_key"])
    return vary_pending(order_by(pending, "variant_key"), materials)
