from hcat.engine.relations import from_name, read_rows, stream
from hcat.grammar.calls import call_for_templates
from hcat.grammar.materials import CALL_SCHEMA, gather


def model(dbt, session):
    settings = dbt.config.meta_get("grammar")
    service = dbt.config.meta_get("language_model")
    columns = read_rows(dbt.ref("hcat", "int_grammar_schema"))
    constraints = read_rows(dbt.ref("hcat", "int_grammar_constraints"))
    edits = read_rows(dbt.ref("grammar_templates"))
    text_edits = read_rows(dbt.ref("grammar_text_templates"))
    earlier = read_rows(from_name(session, str(dbt.this))) if dbt.is_incremental else None
    materials = gather(settings, columns, constraints, edits, text_edits)
    return stream(CALL_SCHEMA, call_for_templates(materials, service, earlier))
