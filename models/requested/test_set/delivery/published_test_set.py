from hcat.engine.publication import publish_part


def model(dbt, session):
    folder = dbt.config.meta_get("warehouse")
    marts = {
        "dim_topics": dbt.ref("hcat", "dim_topics"),
        "fct_chunk_topics": dbt.ref("hcat", "fct_chunk_topics"),
        "fct_topic_stability": dbt.ref("hcat", "fct_topic_stability"),
        "fct_sampled_chunks": dbt.ref("hcat", "fct_sampled_chunks"),
        "fct_sampling_strata": dbt.ref("hcat", "fct_sampling_strata"),
        "fct_test_queries": dbt.ref("hcat", "fct_test_queries"),
        "fct_test_variants": dbt.ref("hcat", "fct_test_variants"),
        "fct_rejected_queries": dbt.ref("hcat", "fct_rejected_queries"),
        "fct_test_coverage": dbt.ref("hcat", "fct_test_coverage"),
        "fct_generation_calls": dbt.ref("hcat", "fct_generation_calls"),
    }
    return publish_part(session, marts, folder, "test_set")
