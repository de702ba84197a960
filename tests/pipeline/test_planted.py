"""What `make build` says about the demo, held against what is planted in it; skipped without that build."""

import re
from pathlib import Path

import duckdb
from builds import DEMO, REPOSITORY

from benchmarks import planted


def test_all_that_is_planted_is_found_and_little_else(built: Path) -> None:
    outcome = planted.measure(built, DEMO, planted.read_planted())
    items, judged = outcome.tables
    assert [row for row in items.rows if row[1] != "yes"] == []
    assert len(items.rows) >= 20
    assert [row for row in judged.rows if row[5] == "contradicted"] == []
    assert sum(row[5] == "silent" for row in judged.rows) <= planted.UNSUPPORTED_ALLOWED


def test_most_prediction_sets_have_one_label(built: Path) -> None:
    with duckdb.connect(str(built / "hcat.duckdb"), read_only=True) as connection:
        row = connection.execute(
            "select avg((prediction_set in ('accepted', 'failed'))::int) from int_evaluations_calibrated"
            " where metric_name = 'groundedness' and prediction_set is not null"
        ).fetchone()
    assert row is not None
    assert row[0] >= planted.LEAST_DECIDED


def test_no_join_compares_all_pairs_of_interactions(built: Path) -> None:
    compiled = sorted((REPOSITORY / "target" / "compiled" / "hcat" / "models").rglob("*.sql"))
    assert len(compiled) > 100
    with duckdb.connect(str(built / "hcat.duckdb"), read_only=True) as connection:
        for path in compiled:
            plan = str(connection.execute(f"explain (format json) {path.read_text(encoding='utf-8')}").fetchall())
            conditions = re.findall(r'"BLOCKWISE_NL_JOIN",.+?"Condition": "(.+?)"', plan)
            assert [each for each in conditions if re.search("interaction_id (=|IN) ", each)] == [], path.name
