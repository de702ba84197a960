from hcat.engine.catalogue import describe_columns
from hcat.engine.relations import read_rows
from hcat.grammar.materials import add_descriptions


def model(dbt, session):
    names = read_rows(dbt.ref("hcat", "int_grammar_relations").order("table_schema, table_name"))
    columns = describe_columns(session, zip(*names.to_pydict().values(), strict=True))
    return add_descriptions(columns, read_rows(dbt.ref("grammar_columns")))
