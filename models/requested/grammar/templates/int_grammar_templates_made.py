from hcat.engine.relations import read_rows
from hcat.grammar.materials import gather
from hcat.grammar.templates import make_templates


def model(dbt, session):
    settings = dbt.config.meta_get("grammar")
    columns = read_rows(dbt.ref("hcat", "int_grammar_schema"))
    constraints = read_rows(dbt.ref("hcat", "int_grammar_constraints"))
    edits = read_rows(dbt.ref("grammar_templates"))
    text_edits = read_rows(dbt.ref("grammar_text_templates"))
    calls = read_rows(dbt.ref("hcat", "int_grammar_calls"))
    return make_templates(gather(settings, columns, constraints, edits, text_edits, calls))
