"""The pair block against hand-worked similarities, an independent solver, and its own batch borders."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from schemas import make_schema
from scipy.optimize import linprog

from hcat.metrics.similarity import (
    ANSWERS_SCHEMA,
    COMPARED_SCHEMA,
    average_distance,
    best_matches,
    compare_answers,
    compare_interactions,
    pool_windows,
    transport_cost,
)

UNITS_SCHEMA = make_schema(
    string="interaction_id input_key",
    string_lists="query_text_ids answer_text_ids context_text_ids statement_text_ids answer_window_ids"
    " reference_window_ids",
    int64_lists="answer_window_characters reference_window_characters",
)


def embeddings_of(vectors: dict[str, list[float]], truncated: tuple[str, ...] = ()) -> pa.Table:
    ids = sorted(vectors)
    units = [np.asarray(vectors[name], np.float32) / np.linalg.norm(vectors[name]) for name in ids]
    return pa.table(
        {
            "text_id": ids,
            "embedding": pa.array([unit.tolist() for unit in units], pa.list_(pa.float32())),
            "was_truncated": [name in truncated for name in ids],
        }
    )


def units_of(**roles: list[str] | None) -> dict[str, object]:
    row: dict[str, object] = dict.fromkeys(UNITS_SCHEMA.names)
    return row | {"interaction_id": "one", "input_key": "key"} | roles


def random_units(count: int, seed: int) -> tuple[pa.RecordBatch, pa.Table]:
    generator = np.random.default_rng(seed)
    vectors = {f"t{number:03d}": generator.standard_normal(8).tolist() for number in range(40)}
    rows = []
    for number in range(count):
        picked = [
            [f"t{index:03d}" for index in generator.integers(0, 40, size)] for size in generator.integers(1, 6, 3)
        ]
        row = units_of(query_text_ids=picked[0], answer_text_ids=picked[1], context_text_ids=picked[2])
        rows.append(row | {"interaction_id": f"i{number}"})
    return pa.RecordBatch.from_pylist(rows, schema=UNITS_SCHEMA), embeddings_of(vectors)


def test_a_worked_interaction():
    table = embeddings_of({"q": [1, 0], "a1": [1, 0], "a2": [0, 1], "c1": [1, 1], "c2": [1, 0]}, truncated=("a2",))
    row = units_of(query_text_ids=["q"], answer_text_ids=["a1", "a2"], context_text_ids=["c1", "c2"])
    result = compare_interactions(pa.RecordBatch.from_pylist([row], schema=UNITS_SCHEMA), table).to_pylist()[0]
    diagonal = 1 / np.sqrt(2)
    # a1 equals c2; a2 is nearest to c1
    assert_allclose(result["answer_to_context_similarity"], [1, diagonal], atol=1e-6)
    assert result["answer_to_context_match"] == [1, 0]
    assert_allclose(result["context_to_answer_similarity"], [diagonal, 1], atol=1e-6)
    assert_allclose(result["query_to_answer_similarity"], [1], atol=1e-6)
    assert_allclose(result["answer_to_query_similarity"], [1, 0], atol=1e-6)
    # c2 moves to a1 for nothing, c1 to a2 for 1 - cos 45 degrees, half the mass each
    assert_allclose(result["transport_cost"], (1 - diagonal) / 2, atol=1e-6)
    assert_allclose(result["average_distance"], ((1 - diagonal) * 2 + 0 + 1) / 4, atol=1e-6)
    assert result["count_truncated_answer"] == 1
    assert result["count_truncated_context"] == 0
    assert result["reference_similarity"] is None


def test_statements_stand_before_the_context_of_an_answer_and_nowhere_else():
    table = embeddings_of({"q": [1, 0], "a": [0, 1], "c": [1, 1], "s": [0, 1]}, truncated=("s",))
    row = units_of(query_text_ids=["q"], answer_text_ids=["a"], context_text_ids=["c"])
    rows = [row, row | {"statement_text_ids": ["s"]}, units_of(answer_text_ids=["a"], statement_text_ids=["s"])]
    batch = pa.RecordBatch.from_pylist(rows, schema=UNITS_SCHEMA)
    without, beside, alone = compare_interactions(batch, table).to_pylist()
    assert (without["answer_to_context_match"], beside["answer_to_context_match"]) == ([0], [0])
    assert_allclose(without["answer_to_context_similarity"], [1 / np.sqrt(2)], atol=1e-6)
    assert_allclose(beside["answer_to_context_similarity"], [1], atol=1e-6)
    assert beside["count_truncated_context"] == 1
    changed = {"answer_to_context_similarity", "count_truncated_context"}
    assert {name for name in COMPARED_SCHEMA.names if without[name] != beside[name]} == changed
    # nothing was retrieved: groundedness is missing
    assert alone["answer_to_context_similarity"] is None


def test_missing_roles_give_nulls_and_never_numbers():
    table = embeddings_of({"q": [1, 0], "a": [0, 1]})
    rows = [units_of(query_text_ids=["q"]), units_of(answer_text_ids=["a"]), units_of()]
    result = compare_interactions(pa.RecordBatch.from_pylist(rows, schema=UNITS_SCHEMA), table).to_pylist()
    for row in result:
        assert all(row[name] is None for name in COMPARED_SCHEMA.names if "_to_" in name)
        assert row["transport_cost"] is None


def test_a_text_without_embedding_is_an_error():
    row = units_of(query_text_ids=["q"], answer_text_ids=["lost"])
    with pytest.raises(KeyError, match="lost has no embedding"):
        compare_interactions(pa.RecordBatch.from_pylist([row], schema=UNITS_SCHEMA), embeddings_of({"q": [1, 0]}))


def test_windows_are_pooled_by_length():
    pooled = pool_windows(np.array([[1, 0], [0, 1]], np.float32), np.array([3.0, 4.0]))
    assert_allclose(pooled, [0.6, 0.8], atol=1e-7)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 12))
def test_results_do_not_depend_on_batch_borders(seed: int, border: int):
    batch, table = random_units(12, seed)
    whole = compare_interactions(batch, table).to_pylist()
    parts = [
        row
        for part in (batch.slice(0, border), batch.slice(border))
        if part.num_rows
        for row in compare_interactions(part, table).to_pylist()
    ]
    assert parts == whole


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 5), st.integers(1, 6))
def test_transport_equals_linear_programming(seed: int, count_context: int, count_answer: int):
    similarity = np.random.default_rng(seed).uniform(-1, 1, (count_context, count_answer)).astype(np.float32)
    cost = 1 - similarity.astype(np.float64)
    rows = np.kron(np.eye(count_context), np.ones(count_answer))
    columns = np.kron(np.ones(count_context), np.eye(count_answer))
    solution = linprog(
        cost.ravel(),
        A_eq=np.vstack([rows, columns]),
        b_eq=np.r_[np.full(count_context, 1 / count_context), np.full(count_answer, 1 / count_answer)],
    )
    assert_allclose(transport_cost(similarity), solution.fun, atol=1e-8)
    # the plan of the approximation is one admissible plan, so it never costs less
    assert transport_cost(similarity) <= average_distance(similarity) + 1e-9


def test_transport_needs_both_sides():
    with pytest.raises(ValueError, match="both sides, got 0 and 2"):
        transport_cost(np.empty((0, 2), np.float32))


def test_ties_go_to_the_first_match():
    best, match = best_matches(np.array([[0.5, 0.5, 0.1]], np.float32))
    assert_allclose(best, [0.5])
    assert match.tolist() == [0]


def pairs_of(*pairs: tuple[list[str], list[str]]) -> pa.RecordBatch:
    return pa.RecordBatch.from_pydict(
        {
            "answer_pair_id": [f"p{row}" for row in range(len(pairs))],
            "input_key": ["k"] * len(pairs),
            "first_text_ids": pa.array([first for first, _ in pairs], pa.list_(pa.string())),
            "second_text_ids": pa.array([second for _, second in pairs], pa.list_(pa.string())),
        }
    )


def test_a_sentence_of_one_answer_alone_makes_answers_unlike():
    vectors = embeddings_of({"a": [1, 0], "b": [0, 1], "c": [3, 4]})
    batch = pairs_of((["a", "b"], ["b", "a"]), (["a"], ["a", "b"]), (["a"], ["c"]))
    rows = compare_answers(batch, vectors)
    assert rows.schema == ANSWERS_SCHEMA
    # order does not matter; of (1 + 0) / 2 back and 1 forth the mean is .75; .6 either way
    assert_allclose(rows.column("similarity").to_numpy(), [1.0, 0.75, 0.6], atol=1e-6)
    swapped = compare_answers(pairs_of((["a", "b"], ["a"])), vectors)
    assert swapped.column("similarity").to_pylist() == rows.column("similarity").to_pylist()[1:2]
    with pytest.raises(ValueError, match="got an empty list"):
        compare_answers(pairs_of(([], ["a"])), vectors)
