from hcat.engine.relations import read_rows
from hcat.landing.rejections import say_rejections


def model(dbt, session):
    return say_rejections(read_rows(dbt.ref("hcat", "int_rejections_counted")))
