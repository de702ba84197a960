from hcat.grammar.materials import read_imports


def model(dbt, session):
    return read_imports(dbt.config.meta_get("files"))
