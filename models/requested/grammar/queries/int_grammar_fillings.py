from hcat.engine.relations import read_rows, select_runner, stream
from hcat.grammar.materials import MAXIMUM_ROWS
from hcat.grammar.queries import FILLING_SCHEMA, answer_fillings
from hcat.grammar.schema import read_schema


def model(dbt, session):
    settings = dbt.config.meta_get("grammar")
    schema = read_schema(
        read_rows(dbt.ref("hcat", "int_grammar_schema")), read_rows(dbt.ref("hcat", "int_grammar_constraints"))
    )
    templates = read_rows(dbt.ref("hcat", "fct_grammar_templates"))
    run = select_runner(session, MAXIMUM_ROWS)
    return stream(FILLING_SCHEMA, answer_fillings(run, templates, schema, settings))
