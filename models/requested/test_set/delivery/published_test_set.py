from hcat.engine.publication import publish_part


def model(dbt, session):
    folder = dbt.config.meta_get("warehouse")
    marts = {
        "dim_topics": dbt.ref("dim_topics"),
        "fct_chunk_topics": dbt.ref("fct_chunk_topics"),
        "fct_topic_stability": dbt.ref("fct_topic_stability"),
        "fct_sampled_chunks": dbt.ref("fct_sampled_chunks"),
        "fct_sampling_strata": dbt.ref("fct_sampling_strata"),
        "fct_sample_plan": dbt.ref("fct_sample_plan"),
        "fct_test_queries": dbt.ref("fct_test_queries"),
        "fct_test_variants": dbt.ref("fct_test_variants"),
        "fct_rejected_queries": dbt.ref("fct_rejected_queries"),
        "fct_test_coverage": dbt.ref("fct_test_coverage"),
        "fct_generation_calls": dbt.ref("fct_generation_calls"),
    }
    return publish_part(session, marts, folder, "test_set")
