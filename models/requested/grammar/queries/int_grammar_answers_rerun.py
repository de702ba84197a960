from hcat.engine.relations import read_rows, select_runner
from hcat.grammar.materials import MAXIMUM_ROWS
from hcat.grammar.queries import rerun_answers


def model(dbt, session):
    statements = read_rows(dbt.ref("hcat", "fct_grammar_queries").select("query_group", "sql_text").distinct())
    return rerun_answers(select_runner(session, MAXIMUM_ROWS), statements)
