"""The retrieval metrics of a build against pytrec_eval, on random judgements."""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path

import pytest
from builds import query, run_dbt, write_lines

CUT_OFFS = (1, 3, 5, 10)
MEASURES = {
    **{f"recall_at_{k}": f"recall_{k}" for k in CUT_OFFS},
    **{f"precision_at_{k}": f"P_{k}" for k in CUT_OFFS},
    **{f"ndcg_at_{k}": f"ndcg_cut_{k}" for k in CUT_OFFS},
    "reciprocal_rank": "recip_rank",
    "average_precision": "map",
}

Judgements = Mapping[str, Mapping[str, int]]
Ranking = Mapping[str, list[str]]


def score_by_reference(judgements: Judgements, retrieved: Ranking) -> dict[tuple[str, str], float]:
    """Return pytrec_eval's scores by (query, name of the metric in the catalogue)."""
    pytrec_eval = pytest.importorskip("pytrec_eval")
    measures = {
        f"{name}.{','.join(str(k) for k in CUT_OFFS)}" if name in ("recall", "P", "ndcg_cut") else name
        for name in ("recall", "P", "ndcg_cut", "recip_rank", "map")
    }
    evaluator = pytrec_eval.RelevanceEvaluator({name: dict(grades) for name, grades in judgements.items()}, measures)
    # pytrec_eval ranks by score: 1 / rank keeps the order and has no ties
    run = {
        name: {chunk: 1.0 / rank for rank, chunk in enumerate(chunks, start=1)} for name, chunks in retrieved.items()
    }
    scores = evaluator.evaluate(run)
    return {(name, ours): scores[name][theirs] for name in scores for ours, theirs in MEASURES.items()}


def score_by_build(
    folder: Path, target: Path, judgements: Judgements, retrieved: Ranking
) -> dict[tuple[str, str], float]:
    """Return the scores that dbt computes from raw logs of the same content."""
    raw = folder / "raw"
    write_lines(raw / "queries.jsonl", ({"query_id": name, "text": f"Question {name}?"} for name in judgements))
    write_lines(
        raw / "interactions.jsonl",
        ({"interaction_id": name, "query_id": name, "answer": "An answer."} for name in retrieved),
    )
    write_lines(
        raw / "retrievals.jsonl",
        (
            {"interaction_id": name, "chunk_id": chunk, "rank": rank}
            for name, chunks in retrieved.items()
            for rank, chunk in enumerate(chunks, start=1)
        ),
    )
    write_lines(
        raw / "relevance_judgements.jsonl",
        (
            {"query_id": name, "chunk_id": chunk, "judge": "reference", "grade": grade}
            for name, grades in judgements.items()
            for chunk, grade in grades.items()
        ),
    )
    warehouse = folder / "warehouse"
    exit_code, output = run_dbt(
        ["build", "--select", "+int_retrieval_quality", "--resource-type", "model", "--resource-type", "seed"],
        raw,
        warehouse,
        target,
    )
    assert exit_code == 0, output
    scores = "select interaction_id, concat_ws('_at_', metric_name, k), score from int_retrieval_quality"
    return {(name, metric): score for name, metric, score in query(warehouse / "hcat.duckdb", scores)}


def assert_same(ours: Mapping[tuple[str, str], float], reference: Mapping[tuple[str, str], float]) -> None:
    """Fail unless both hold the same queries and metrics with the same scores to 1e-9."""
    assert ours.keys() == reference.keys()
    for key, expected in reference.items():
        assert ours[key] == pytest.approx(expected, abs=1e-9), key


def test_random_judgements_agree_with_pytrec_eval(tmp_path: Path, plain_target: Path) -> None:
    generator = random.Random(20260101)
    chunks = [f"chunk_{number:02d}" for number in range(40)]
    judgements, retrieved = {}, {}
    for number in range(200):
        name = f"query_{number:03d}"
        judged = generator.sample(chunks, generator.randint(1, 15))
        # at least one relevant chunk, and some that were judged and found irrelevant
        judgements[name] = {chunk: generator.choice([0, 0, 1, 2, 3]) for chunk in judged} | {judged[0]: 1}
        retrieved[name] = generator.sample(chunks, generator.randint(1, 20))
    reference = score_by_reference(judgements, retrieved)
    assert len(reference) == 200 * len(MEASURES)
    assert_same(score_by_build(tmp_path, plain_target, judgements, retrieved), reference)
