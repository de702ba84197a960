from hcat.engine.relations import read_rows
from hcat.gates.validation import validate_build


def model(dbt, session):
    return validate_build(read_rows(dbt.ref("hcat", "int_gate_measurements")))
