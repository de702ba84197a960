"""Longest copied run: against brute force, by hand, and in linear time."""

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from hcat.metrics.copying import COPIED_SCHEMA, Run, WordAutomaton, longest_copy, measure_copies


def brute_force(answer, context):
    best = 0
    for start in range(len(answer)):
        for end in range(start + 1, len(answer) + 1):
            run = answer[start:end]
            if any(context[place : place + len(run)] == run for place in range(len(context))):
                best = max(best, end - start)
    return best


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from("abc"), max_size=12), st.lists(st.sampled_from("abc"), max_size=14))
def test_runs_are_as_long_as_brute_force_says(answer, context):
    run = WordAutomaton(answer).longest_run(context)
    assert run.length == brute_force(answer, context)
    found = answer[run.start : run.start + run.length]
    assert any(context[place : place + run.length] == found for place in range(len(context) + 1))


def test_case_and_punctuation_do_not_count_and_nothing_in_common_is_zero():
    assert longest_copy("We say: The fee, is 5 euros today", ["the Fee is 5 EUROS!", "we say"]) == (Run(2, 5), 8)
    assert longest_copy("alpha beta", ["gamma"]) == (Run(0, 0), 2)
    assert longest_copy("", ["gamma"]) == (Run(0, 0), 0)


def test_the_worst_case_ends():
    # quadratic work would take hours
    assert longest_copy("a " * 50_000, ["a " * 50_000]) == (Run(0, 50_000), 50_000)


def test_batches_leave_out_what_has_no_context():
    batch = pa.RecordBatch.from_pylist(
        [
            {"interaction_id": "i1", "input_key": "k", "answer_text_ids": ["a", "b"], "context_text_ids": ["c"]},
            {"interaction_id": "i2", "input_key": "k", "answer_text_ids": ["a"], "context_text_ids": None},
        ]
    )
    texts = pa.table({"text_id": ["a", "b", "c"], "encoded_text": ["One two.", "Three.", "zero one two three"]})
    rows = measure_copies(batch, texts)
    assert rows.schema == COPIED_SCHEMA
    assert [tuple(row.values()) for row in rows.to_pylist()] == [("i1", "k", 1, 3, 3)]
