from hcat.encoders.embedding import embed_texts
from hcat.encoders.identities import ModelIdentity
from hcat.engine.relations import read_one, read_rows
from hcat.judging.tables import read_verdicts


def model(dbt, session):
    requests = read_rows(dbt.ref("hcat", "int_judge_requests").filter("request_status = 'wanted'"))
    calls = read_rows(dbt.ref("hcat", "int_judge_calls"))
    encoder = ModelIdentity.from_row(read_one(dbt.ref("hcat", "int_models").filter("part = 'encoder'")))
    return read_verdicts(requests, calls, embed_texts(encoder))
