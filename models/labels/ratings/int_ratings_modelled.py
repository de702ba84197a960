from hcat.calibration.agreement_tables import adjudicate_by_model
from hcat.engine.relations import order_by, read_rows


def model(dbt, session):
    ratings = order_by(dbt.ref("hcat", "int_ratings_of_clusters"), "criterion, interaction_id, rater, rating_pass")
    return adjudicate_by_model(read_rows(ratings), read_rows(dbt.ref("adjudication_rules")))
