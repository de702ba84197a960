from hcat.calibration.conformal_tables import fit_labels
from hcat.calibration.targets import describe_targets
from hcat.engine.relations import read_rows


def model(dbt, session):
    alpha = dbt.config.meta_get("alpha")
    random_seed = dbt.config.meta_get("random_seed")
    evaluations = dbt.ref("hcat", "int_target_evaluations")
    labels = read_rows(evaluations.filter("label is not null and raw_score is not null"))
    targets, scales = read_rows(dbt.ref("calibration_targets")), read_rows(dbt.ref("rating_scales"))
    targets = describe_targets(targets, scales, read_rows(dbt.ref("hcat", "int_metric_catalog")))
    return fit_labels(labels, targets, alpha, random_seed)
