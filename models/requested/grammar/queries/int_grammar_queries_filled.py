from hcat.engine.relations import read_rows, stream
from hcat.grammar.queries import QUERY_SCHEMA, fill_queries


def model(dbt, session):
    fillings = read_rows(dbt.ref("hcat", "int_grammar_fillings").order("sql_template_id, query_group"))
    return stream(QUERY_SCHEMA, fill_queries(fillings, read_rows(dbt.ref("hcat", "fct_grammar_texts"))))
