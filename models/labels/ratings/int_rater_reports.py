from hcat.calibration.agreement_tables import report_raters
from hcat.engine.relations import order_by, read_rows


def model(dbt, session):
    count_draws = dbt.config.meta_get("count_draws")
    random_seed = dbt.config.meta_get("random_seed")
    ratings = order_by(dbt.ref("hcat", "int_ratings_of_clusters"), "criterion, interaction_id, rater, rating_pass")
    return report_raters(read_rows(ratings), count_draws, random_seed)
