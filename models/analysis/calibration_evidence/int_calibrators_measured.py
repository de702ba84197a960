from hcat.calibration.tables import measure_calibrators
from hcat.engine.relations import read_rows


def model(dbt, session):
    cut_off = dbt.config.meta_get("cut_off")
    count_bins = dbt.config.meta_get("count_bins")
    count_draws = dbt.config.meta_get("count_draws")
    random_seed = dbt.config.meta_get("random_seed")
    predictions = read_rows(dbt.ref("hcat", "int_labels_cross_fitted"))
    targets = read_rows(dbt.ref("hcat", "int_calibration_targets"))
    calibrators = read_rows(dbt.ref("hcat", "int_calibrators_fitted"))
    return measure_calibrators(predictions, targets, calibrators, cut_off, count_bins, count_draws, random_seed)
