"""Queries made from tables as a file: the raw contract, the same bytes, nothing overwritten by accident."""

import json
from pathlib import Path

import duckdb
import pytest
from alert_materials import Hcat

from hcat.grammar.export import COLUMNS, write_queries
from hcat.landing.raw_contract import ENTITIES

ROWS = """
create table fct_grammar_queries as
select * from (values
    ('q2', 'g1', 't1', 'What''s up?', 'Up', 'simple_factual', 'easy', 'entity', 'answer', 'en', '{"length": "long"}'),
    ('q1', 'g1', 't1', 'Up?', 'Up', 'simple_factual', 'easy', 'entity', 'answer', 'en', '{"length": "short"}')
) as made (query_id, query_group, sql_template_id, query_text, reference_answer, query_type, difficulty, answer_type,
    expected_behaviour, language, tags);
create table fct_rejected_grammar_queries as select 'no_answer' as reason;
"""


@pytest.fixture
def warehouse(tmp_path: Path) -> Path:
    with duckdb.connect(str(tmp_path / "hcat.duckdb")) as connection:
        connection.execute(ROWS)
    return tmp_path


def test_queries_are_of_the_raw_contract(warehouse: Path) -> None:
    written = write_queries(warehouse)
    assert dict(written.lines)["written"] == "2: 1 facts of 1 SQL templates"
    assert dict(written.lines)["not asked"] == "1 fillings: 1 no_answer"
    rows = [json.loads(line) for line in written.path.read_text(encoding="utf-8").splitlines()]
    assert [row["query_id"] for row in rows] == ["q1", "q2"]
    assert rows[0] | {"tags": None} == {
        "query_id": "q1",
        "query_group": "g1",
        "source_group": "g1",
        "variant_type": "original",
        "text": "Up?",
        "reference_answer": "Up",
        "query_type": "simple_factual",
        "difficulty": "easy",
        "answer_type": "entity",
        "expected_behaviour": "answer",
        "language": "en",
        "tags": None,
    }
    assert rows[0]["tags"] == {"length": "short"}
    known = {*ENTITIES["queries"].columns, "query_group", "tags", "language"}
    assert set(COLUMNS) <= known


def test_without_queries_nothing_is_written(warehouse: Path) -> None:
    with duckdb.connect(str(warehouse / "hcat.duckdb")) as connection:
        connection.execute("delete from fct_grammar_queries")
    with pytest.raises(ValueError, match="must hold queries, got none: `dbt build"):
        write_queries(warehouse)
    with pytest.raises(ValueError, match=r"a file \*\.jsonl, got"):
        write_queries(warehouse, warehouse / "queries.csv")


def test_the_command_prints_what_it_wrote(warehouse: Path, hcat: Hcat) -> None:
    assert "2: 1 facts of 1 SQL templates" in hcat("grammar", "--warehouse", warehouse)
