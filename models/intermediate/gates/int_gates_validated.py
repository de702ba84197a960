from hcat.gates import validate_gates
from hcat.relations import read_rows


def model(dbt, session):
    return validate_gates(read_rows(dbt.ref("int_gate_measurements")))
