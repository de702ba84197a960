from hcat.engine.relations import read_rows, select_runner
from hcat.grammar.queries import rerun_answers


def model(dbt, session):
    statements = read_rows(dbt.ref("hcat", "fct_grammar_queries").select("query_group", "sql_text").distinct())
    maximum_rows = dbt.config.meta_get("maximum_rows")
    return rerun_answers(select_runner(session, maximum_rows), statements)
