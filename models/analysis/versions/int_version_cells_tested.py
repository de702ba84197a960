from hcat.engine.relations import order_by, read_rows
from hcat.weakness.versions import compare_versions


def model(dbt, session):
    confidence = dbt.config.meta_get("confidence")
    false_discovery_rate = dbt.config.meta_get("false_discovery_rate")
    minimum_clusters = dbt.config.meta_get("minimum_clusters")
    least_changed_clusters = dbt.config.meta_get("least_changed_clusters")
    cells = order_by(dbt.ref("int_version_cells_measured"), "version_comparison_id")
    return compare_versions(
        read_rows(cells),
        confidence=confidence,
        false_discovery_rate=false_discovery_rate,
        minimum_clusters=minimum_clusters,
        least_changed_clusters=least_changed_clusters,
    )
