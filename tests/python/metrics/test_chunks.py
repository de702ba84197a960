"""Each retrieved chunk is scored as if it were the whole context."""

import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose
from schemas import make_schema

from hcat.metrics.chunks import COMPARED_CHUNKS_SCHEMA, compare_chunks

#: text id -> (text, unit vector)
TEXTS = {
    "asks_fee": ("What is the fee?", (1.0, 0.0)),
    "asks_date": ("When is it due?", (0.0, 1.0)),
    "fee": ("The fee is 5 euros.", (0.6, 0.8)),
    "date": ("It is due in June.", (0.0, 1.0)),
    "noise": ("Bananas are yellow.", (-1.0, 0.0)),
    "greeting": ("Who is it?", (1.0, 0.0)),
}


def table_of(names: list[str]) -> pa.Table:
    return pa.table(
        {
            "text_id": names,
            "encoded_text": [TEXTS[name][0] for name in names],
            "embedding": pa.array([TEXTS[name][1] for name in names], pa.list_(pa.float32())),
        }
    )


def batch_of(*rows: tuple[str, list[str], list[str], list[int]]) -> pa.RecordBatch:
    schema = make_schema(
        string="interaction_id input_key", string_lists="query_text_ids context_text_ids", int64_lists="context_ranks"
    )
    return pa.RecordBatch.from_pylist(
        [
            dict(zip(schema.names, (name, "now", query, context, ranks), strict=True))
            for name, query, context, ranks in rows
        ],
        schema=schema,
    )


def test_a_chunk_counts_with_its_own_sentences() -> None:
    batch = batch_of(("i1", ["asks_fee", "asks_date"], ["fee", "date", "noise"], [1, 1, 4]))
    found = compare_chunks(batch, table_of(list(TEXTS)))
    assert found.schema == COMPARED_CHUNKS_SCHEMA
    first, second = found.to_pylist()
    assert (first["interaction_id"], first["input_key"], first["rank"], second["rank"]) == ("i1", "now", 1, 4)
    # best matches of the query in (fee, date): .6 and 1; of fee and date in the query: .8 and 1
    assert_allclose([first["context_relevancy"], first["context_precision"]], [0.8, 0.9], atol=1e-6)
    # of the noise: -1 and 0, and its own best match is 0
    assert_allclose([second["context_relevancy"], second["context_precision"]], [-0.5, 0.0], atol=1e-6)
    # "fee" and "due" are the content words of the query
    assert (first["word_overlap"], second["word_overlap"]) == (1.0, 0.0)


def test_a_query_without_content_words_overlaps_with_nothing() -> None:
    found = compare_chunks(batch_of(("i1", ["greeting"], ["fee", "noise"], [1, 2])), table_of(list(TEXTS)))
    assert found.column("word_overlap").to_pylist() == [0.0, 0.0]


def test_scores_do_not_depend_on_the_borders_of_batches() -> None:
    rows = [
        (f"i{number}", ["asks_fee"], ["fee", "date", "noise"][: 1 + number % 3], [1, 2, 3][: 1 + number % 3])
        for number in range(7)
    ]
    whole = compare_chunks(batch_of(*rows), table_of(list(TEXTS))).to_pylist()
    random = np.random.default_rng(1)
    for _ in range(5):
        cut = int(random.integers(1, len(rows)))
        texts = table_of(list(random.permutation(list(TEXTS))))
        parts = [compare_chunks(batch_of(*part), texts).to_pylist() for part in (rows[:cut], rows[cut:])]
        assert parts[0] + parts[1] == whole


def test_a_missing_text_and_an_empty_batch() -> None:
    with pytest.raises(KeyError, match="text fee has no embedding"):
        compare_chunks(batch_of(("i1", ["asks_fee"], ["fee"], [1])), table_of(["asks_fee"]))
    assert compare_chunks(batch_of(), table_of([])).num_rows == 0
