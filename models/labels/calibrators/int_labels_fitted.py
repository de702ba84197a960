from hcat.calibration.fits import FitSettings, fit_labels
from hcat.engine.relations import read_rows


def model(dbt, session):
    settings = dbt.config.meta_get("settings")
    labels = read_rows(dbt.ref("hcat", "int_labels"))
    targets = read_rows(dbt.ref("hcat", "int_calibration_targets"))
    return fit_labels(labels, targets, FitSettings(**settings))
