"""Encoders: batches, slices, and the packaged model against sentence-transformers' own encode."""

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from hcat.encoders import embedding
from hcat.encoders.embedding import EMBEDDED_SCHEMA, HashingEncoder, embed_pending, encode_texts, load_encoder
from hcat.encoders.identities import resolve_encoder
from hcat.engine import devices
from hcat.engine.batching import plan_batches


@given(st.lists(st.integers(1, 300), max_size=60), st.integers(1, 1000))
def test_batches_cover_every_text_once_within_the_budget(counts: list[int], budget: int):
    batches = list(plan_batches(np.array(counts, np.int64), budget))
    assert sorted(index for batch in batches for index in batch.tolist()) == list(range(len(counts)))
    for batch in batches:
        longest = max(counts[index] for index in batch)
        assert longest * len(batch) <= budget or len(batch) == 1


def test_the_packaged_encoder_equals_sentence_transformers():
    identity = resolve_encoder("packaged", "cpu")
    sentence = "A much longer sentence about the conditions of an account. "
    texts = [
        "The fee is 5 euros.",
        sentence * 3,
        "Short.",
        "",
        "Zinsen \u20ac 5 \U0001f600 \u5229\u606f",
        sentence * 40,
    ]
    encoder = load_encoder(identity)
    vectors, counts = encode_texts(encoder, texts, batch_tokens=64)
    # the same model in the general wrapper, as a folder: it cuts long texts as sentence-transformers does
    folder = resolve_encoder(str(devices.packaged_folder()), "cpu", "float32")
    wrapped, wrapped_counts = encode_texts(load_encoder(folder), texts, batch_tokens=64)
    from sentence_transformers import SentenceTransformer

    peer = SentenceTransformer(str(devices.packaged_folder()), device="cpu")
    expected = peer.encode(texts, normalize_embeddings=True)
    assert vectors.shape == (len(texts), 384)
    assert encoder.maximum_tokens == peer.max_seq_length
    assert_allclose(vectors, expected, atol=1e-5)
    assert_allclose(wrapped, expected, atol=1e-5)
    assert_array_equal(wrapped_counts, counts)
    assert counts[1] > counts[0] > counts[2]
    assert counts[5] > encoder.maximum_tokens
    assert load_encoder(identity) is encoder


def test_killed_build_keeps_its_slices(tmp_path, monkeypatch):
    monkeypatch.setattr(embedding, "SLICE_ROWS", 10)
    identity = resolve_encoder("hashing:8", "cpu")
    table = pa.table(
        {
            "text_id": [f"text_{number:04d}" for number in range(25)],
            "encoder_key": [identity.key] * 25,
            "encoded_text": [f"sentence number {number} " * (1 + number % 5) for number in range(25)],
        }
    )

    def embed(pending: pa.Table, folder: str) -> pa.RecordBatchReader:
        return embed_pending(duckdb.from_arrow(pending), identity, str(tmp_path / folder))

    reference = embed(table, "other").read_all()
    first = embed(table, "killed").read_next_batch()
    # the process dies here: one slice is on disk, nothing is in the warehouse
    assert first.num_rows == 10
    encoded: list[int] = []
    original = embedding._embed_slice
    monkeypatch.setattr(
        embedding,
        "_embed_slice",
        lambda batch, identity: (encoded.append(batch.num_rows), original(batch, identity))[1],
    )
    again = embed(table, "killed").read_all()
    assert sum(encoded) == 15
    assert again.schema == EMBEDDED_SCHEMA
    assert again.sort_by("text_id").equals(reference.sort_by("text_id"))
    # a build with nothing to do removes what is no longer needed
    embed(table.slice(0, 0), "killed").read_all()
    assert not list((tmp_path / "killed" / "slices").rglob("*.parquet"))


def test_out_of_memory_halves_the_batch():
    class Small(HashingEncoder):
        def prepare(self, texts):
            prepared = super().prepare(texts)

            def run(batch):
                tried.append(len(batch))
                if len(batch) > 2:
                    raise RuntimeError("CUDA out of memory")
                return prepared.run(batch)

            return prepared._replace(run=run)

    tried: list[int] = []
    texts = [f"text {number}" for number in range(9)]
    vectors, _ = encode_texts(Small(8), texts, batch_tokens=1000)
    assert tried == [9, 4, 2, 2, 5, 2, 3, 1, 2]
    assert_array_equal(vectors, encode_texts(HashingEncoder(8), texts, batch_tokens=1000)[0])


@pytest.mark.parametrize("message", ["out of memory", "device lost"])
def test_other_errors_and_a_text_that_does_not_fit_are_raised(message):
    class Broken(HashingEncoder):
        def prepare(self, texts):
            def run(batch):
                raise RuntimeError(texts[0])

            return super().prepare(texts)._replace(run=run)

    with pytest.raises(RuntimeError, match=message):
        encode_texts(Broken(8), [message], batch_tokens=1000)
