from hcat.engine.relations import order_by, read_rows
from hcat.topics.queries import cluster_queries


def model(dbt, session):
    random_seed = dbt.config.meta_get("random_seed")
    sentences = read_rows(order_by(dbt.ref("hcat", "int_query_sentences"), "passage_id, sentence_index"))
    return cluster_queries(sentences, random_seed)
