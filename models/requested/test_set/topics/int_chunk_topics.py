from hcat.engine.relations import read_rows
from hcat.topics.tables import assign_topics


def model(dbt, session):
    return assign_topics(dbt.ref("hcat", "int_chunk_embeddings"), read_rows(dbt.ref("hcat", "int_topics_fitted")))
