from hcat.calibration.agreement_tables import measure_raters
from hcat.engine.relations import order_by, read_rows


def model(dbt, session):
    random_seed = dbt.config.meta_get("random_seed")
    ratings = order_by(dbt.ref("hcat", "int_ratings_of_clusters"), "criterion, interaction_id, rater, rating_pass")
    rules, targets = read_rows(dbt.ref("rating_criteria")), read_rows(dbt.ref("calibration_targets"))
    return measure_raters(read_rows(ratings), rules, targets, random_seed)
