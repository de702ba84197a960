from hcat.engine.catalogue import describe_constraints
from hcat.engine.relations import read_rows
from hcat.grammar.materials import add_declared


def model(dbt, session):
    names = read_rows(dbt.ref("hcat", "int_grammar_relations").order("table_schema, table_name"))
    known = describe_constraints(session, zip(*names.to_pydict().values(), strict=True))
    return add_declared(known, read_rows(dbt.ref("grammar_constraints")), names)
