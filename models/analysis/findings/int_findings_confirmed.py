from hcat.engine.relations import order_by, read_rows, select_pending
from hcat.weakness.retests import retest_findings


def model(dbt, session):
    minimum_clusters = dbt.config.meta_get("minimum_clusters")
    done = str(dbt.this) if dbt.is_incremental else None
    pending = select_pending(dbt.ref("hcat", "int_new_clusters_summed"), done, ["cell_id"])
    sums = read_rows(order_by(pending, "cell_id, is_second, jackknife_group"))
    return retest_findings(sums, minimum_clusters)
