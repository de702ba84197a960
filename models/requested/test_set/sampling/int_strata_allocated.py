from hcat.engine.relations import read_rows
from hcat.test_set.allocation import allocate_chunks


def model(dbt, session):
    return allocate_chunks(read_rows(dbt.ref("hcat", "int_strata_weighed")))
