from hcat.calibration.tables import fit_calibrators
from hcat.engine.relations import read_rows


def model(dbt, session):
    count_folds = dbt.config.meta_get("count_folds")
    random_seed = dbt.config.meta_get("random_seed")
    labels = read_rows(dbt.ref("hcat", "int_labels"))
    targets = read_rows(dbt.ref("hcat", "int_calibration_targets"))
    return fit_calibrators(labels, targets, count_folds, random_seed)
