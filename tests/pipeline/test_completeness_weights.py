"""Weights of the logs replace the similarity weights of completeness, for a whole interaction and no other."""

from __future__ import annotations

import pytest
from builds import SCORES, Dbt, write_lines
from numpy.testing import assert_allclose


def test_logged_weights_decide_which_context_counts(dbt: Dbt, tmp_path_factory: pytest.TempPathFactory):
    raw, warehouse = tmp_path_factory.mktemp("logs"), tmp_path_factory.mktemp("warehouse")
    answer = "The fee is 5 euros."
    write_lines(
        raw / "interactions.jsonl",
        [{"interaction_id": name, "query_text": "What is the fee?", "answer": answer} for name in ("second", "first")],
    )
    weights = {"second": (0, 2), "first": (3, None)}
    write_lines(
        raw / "retrievals.jsonl",
        [
            {"interaction_id": name, "rank": rank, "text": text, "completeness_weight": weights[name][rank - 1]}
            for name in weights
            for rank, text in ((1, answer), (2, "Bananas are yellow."))
        ]
        + [{"interaction_id": "first", "rank": 3, "text": "Apples.", "completeness_weight": -1}],
    )
    build = dbt(f"{SCORES} stg_retrievals__rejected", raw, warehouse)
    assert build.exit_code == 0, build.output
    scores = dict(
        build.query(
            "select interaction_id || ' ' || metric_name, raw_score from fct_evaluations"
            " where metric_name in ('completeness_similarity__weighted', 'completeness_similarity__minimum')"
        )
    )
    # the answer is word for word the first context; a chunk without weight beside one that has one counts nothing
    assert_allclose(scores["first completeness_similarity__weighted"], 1.0, atol=1e-6)
    assert_allclose(
        scores["second completeness_similarity__weighted"], scores["second completeness_similarity__minimum"], atol=1e-6
    )
    assert build.query("select reject_reason from stg_retrievals__rejected") == [
        ("completeness_weight is not a finite number of at least 0: -1",)
    ]
