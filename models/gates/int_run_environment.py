from hcat.engine.ledger import describe_environment


def model(dbt, session):
    return describe_environment()
