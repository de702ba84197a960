from hcat.engine.publication import publish_part


def model(dbt, session):
    folder = dbt.config.meta_get("warehouse")
    marts = {
        "fct_grammar_templates": dbt.ref("hcat", "fct_grammar_templates"),
        "fct_grammar_checks": dbt.ref("hcat", "fct_grammar_checks"),
        "fct_grammar_texts": dbt.ref("hcat", "fct_grammar_texts"),
        "fct_grammar_queries": dbt.ref("hcat", "fct_grammar_queries"),
        "fct_rejected_grammar_queries": dbt.ref("hcat", "fct_rejected_grammar_queries"),
        "fct_grammar_counts": dbt.ref("hcat", "fct_grammar_counts"),
        "fct_grammar_calls": dbt.ref("hcat", "fct_grammar_calls"),
    }
    return publish_part(session, marts, folder, "grammar")
