"""An own metric from Python: whether an answer ends with a closing mark."""


def model(dbt, session):
    """Return one row per answered interaction: 1 if its answer ends with a closing mark, else 0."""
    dbt.config(materialized="table")
    interactions = dbt.ref("hcat", "int_interaction_attributes").filter("is_answered")
    frame = interactions.project("interaction_id, answer").df()
    frame["metric_name"] = "complete_ending"
    frame["raw_score"] = frame["answer"].str.rstrip().str.endswith((".", "!", "?")).astype(float)
    frame["score_status"] = "scored"
    frame["scored_count"] = 1
    frame["detail"] = "last character: " + frame["answer"].str.rstrip().str[-1]
    return frame.drop(columns="answer")
