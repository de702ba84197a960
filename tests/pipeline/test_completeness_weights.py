"""Weights of the logs replace those of hcat, for a whole interaction or text and no other."""

from __future__ import annotations

import pytest
from builds import SCORES, Build, Dbt, write_lines
from numpy.testing import assert_allclose

#: Weights of the two contexts of an interaction. The first context is its answer, word for word.
WEIGHTS_OF_CONTEXTS = {"context_second": (0, 2), "context_first": (3, None)}
ANSWER_OF_CONTEXT = "The fee is 5 euros."

#: Two sentences each. The context holds the first one of query and answer word for word, and nothing of the second.
QUERY = "What is the fee? Is it due today?"
ANSWER = "The fee is 5 euros. Bananas are yellow."
REFERENCE = "The fee is 5 euros. Payment happens yearly in June."
CONTEXT = ("What is the fee?", "The fee is 5 euros.")

#: Weights of the interaction and of its query, by interaction.
WEIGHED = {
    "plain": ({}, {}),
    "first": ({"answer_sentence_weights": [1, 0]}, {"query_sentence_weights": [1, 0]}),
    # JSON as text, and the weights of the interaction before those of its query
    "second": (
        {"answer_sentence_weights": "[0, 2]", "query_sentence_weights": [0, 0.5]},
        {"query_sentence_weights": [1, 0], "reference_sentence_weights": [0, 1]},
    ),
    "mostly_first": ({}, {"reference_sentence_weights": "[3, 1]"}),
    "without_weight": ({"answer_sentence_weights": [0, 0]}, {}),
    "too_few": ({"answer_sentence_weights": [1]}, {"reference_sentence_weights": [1, 2, 3]}),
}


@pytest.fixture(scope="module")
def build(dbt: Dbt, tmp_path_factory: pytest.TempPathFactory) -> Build:
    """Build interactions with weights of contexts, and interactions with weights of sentences."""
    raw, warehouse = tmp_path_factory.mktemp("logs"), tmp_path_factory.mktemp("warehouse")
    interactions = [
        {"interaction_id": name, "query_text": "What is the fee?", "answer": ANSWER_OF_CONTEXT}
        for name in WEIGHTS_OF_CONTEXTS
    ]
    interactions += [
        {"interaction_id": name, "query_id": name, "answer": ANSWER, **own} for name, (own, _) in WEIGHED.items()
    ]
    write_lines(raw / "interactions.jsonl", interactions)
    write_lines(
        raw / "queries.jsonl",
        [{"query_id": name, "text": QUERY, "reference_answer": REFERENCE, **own} for name, (_, own) in WEIGHED.items()],
    )
    retrievals = [
        {"interaction_id": name, "rank": rank, "text": text, "completeness_weight": weights[rank - 1]}
        for name, weights in WEIGHTS_OF_CONTEXTS.items()
        for rank, text in ((1, ANSWER_OF_CONTEXT), (2, "Bananas are yellow."))
    ]
    retrievals += [{"interaction_id": "context_first", "rank": 3, "text": "Apples.", "completeness_weight": -1}]
    retrievals += [
        {"interaction_id": name, "rank": rank, "text": text}
        for name in WEIGHED
        for rank, text in enumerate(CONTEXT, start=1)
    ]
    write_lines(raw / "retrievals.jsonl", retrievals)
    made = dbt(f"{SCORES} stg_rejected_records", raw, warehouse)
    assert made.exit_code == 0, made.output
    return made


def test_logged_weights_decide_which_context_counts(build: Build):
    scores = dict(
        build.query(
            "select interaction_id || ' ' || metric_name, raw_score from fct_evaluations"
            " where metric_name in ('completeness_similarity__weighted', 'completeness_similarity__minimum')"
        )
    )
    # the answer is word for word the first context; a chunk without weight beside one that has one counts nothing
    assert_allclose(scores["context_first completeness_similarity__weighted"], 1.0, atol=1e-6)
    assert_allclose(
        scores["context_second completeness_similarity__weighted"],
        scores["context_second completeness_similarity__minimum"],
        atol=1e-6,
    )
    assert build.query("select reject_reason from stg_rejected_records where entity = 'retrievals'") == [
        ("completeness_weight is not a finite number of at least 0: -1",)
    ]


def test_logged_weights_decide_which_sentences_count(build: Build):
    rows = build.query("select interaction_id, metric_name, raw_score, score_status, detail from fct_evaluations")
    scores = {(name, metric): score for name, metric, score, _, _ in rows}
    reasons = {(name, metric): (status, detail) for name, metric, _, status, detail in rows}

    for metric in ("context_relevancy", "groundedness_similarity"):
        assert scores["plain", f"{metric}__minimum"] < 0.9
        assert_allclose(scores["first", f"{metric}__weighted"], 1.0, atol=1e-6)
        assert_allclose(scores["second", f"{metric}__weighted"], scores["plain", f"{metric}__minimum"], atol=1e-6)
    for metric in ("query_coverage", "answer_relevancy"):
        ends = [scores[name, f"{metric}__weighted"] for name in ("first", "second")]
        assert_allclose(sum(ends) / 2, scores["plain", f"{metric}__mean"], atol=1e-6)
        assert abs(ends[0] - ends[1]) > 1e-3

    # the answer leaves out when, and the whole second sentence of the reference is about that
    assert 0 < scores["plain", "reference_recall"] < 1
    assert_allclose(scores["second", "reference_recall"], 0.0, atol=1e-9)
    assert_allclose(scores["mostly_first", "reference_recall"], 0.75, atol=1e-9)
    assert scores["first", "reference_recall"] == scores["plain", "reference_recall"]

    # weights of 0 alone say nothing, so that sentences count alike
    metric = "groundedness_similarity"
    assert_allclose(scores["without_weight", f"{metric}__weighted"], scores["plain", f"{metric}__mean"], atol=1e-6)

    for metric, role, count in (
        ("groundedness_similarity__weighted", "answer", 1),
        ("answer_relevancy__weighted", "answer", 1),
        ("reference_recall", "reference", 3),
    ):
        assert scores["too_few", metric] is None
        detail = f"missing: a weight for each sentence of the {role} (weights: {count}, sentences: 2)"
        assert reasons["too_few", metric] == ("missing_input", detail)
    # what does not weigh these sentences has its score
    for metric in ("groundedness_similarity__mean", "context_relevancy__weighted", "reference_precision"):
        assert scores["too_few", metric] == scores["plain", metric]
