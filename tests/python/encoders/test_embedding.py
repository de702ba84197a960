"""Encoders: identity, batches, slices, and the packaged model against sentence-transformers' own encode."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sentence_transformers import SentenceTransformer

from hcat.encoders import embedding as encoders
from hcat.encoders.embedding import (
    EMBEDDED_SCHEMA,
    HashingEncoder,
    describe_encoder,
    embed_pending,
    encode_texts,
    load_encoder,
    resolve_encoder,
)
from hcat.engine import devices
from hcat.engine.batching import plan_batches
from hcat.engine.devices import PACKAGED_SHA256, ModelError


class FakeRelation:
    """The two calls that embed_pending makes on a relation of pending texts."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table

    def aggregate(self, expression: str) -> "FakeRelation":
        assert expression == "count(*)"
        return self

    def fetchall(self) -> list[tuple[int]]:
        return [(self._table.num_rows,)]

    def to_arrow_reader(self, batch_rows: int) -> pa.RecordBatchReader:
        return pa.RecordBatchReader.from_batches(self._table.schema, self._table.to_batches(batch_rows))


def pending_texts(count: int, key: str) -> pa.Table:
    return pa.table(
        {
            "text_id": [f"text_{number:04d}" for number in range(count)],
            "encoder_key": [key] * count,
            "encoded_text": [f"sentence number {number} " * (1 + number % 5) for number in range(count)],
            "count_characters": list(range(count)),
        }
    )


@given(st.lists(st.integers(1, 300), max_size=60), st.integers(1, 1000))
def test_batches_cover_every_text_once_within_the_budget(counts: list[int], budget: int):
    batches = list(plan_batches(np.array(counts, np.int64), budget))
    assert sorted(index for batch in batches for index in batch.tolist()) == list(range(len(counts)))
    for batch in batches:
        longest = max(counts[index] for index in batch)
        assert longest * len(batch) <= budget or len(batch) == 1


def test_budget_must_be_positive():
    with pytest.raises(ValueError, match="positive, got 0"):
        list(plan_batches(np.array([1]), 0))


def test_packaged_encoder_is_pinned_and_equals_sentence_transformers():
    identity = resolve_encoder("packaged", "", "cpu", "auto")
    assert identity.encoder_sha256 == PACKAGED_SHA256
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
    folder = resolve_encoder(str(devices.packaged_folder()), "", "cpu", "float32")
    wrapped, wrapped_counts = encode_texts(load_encoder(folder), texts, batch_tokens=64)
    peer = SentenceTransformer(str(devices.packaged_folder()), device="cpu")
    expected = peer.encode(texts, normalize_embeddings=True)
    assert vectors.shape == (len(texts), encoders.PACKAGED_DIMENSIONS)
    assert encoder.maximum_tokens == peer.max_seq_length
    assert_allclose(vectors, expected, atol=1e-5)
    assert_allclose(wrapped, expected, atol=1e-5)
    assert_array_equal(wrapped_counts, counts)
    assert counts[1] > counts[0] > counts[2]
    assert load_encoder(identity) is encoder


def test_truncation_is_counted():
    encoder = load_encoder(resolve_encoder("packaged", "", "cpu", "float32"))
    _, counts = encode_texts(encoder, ["word " * 400], batch_tokens=2048)
    assert counts[0] > encoder.maximum_tokens


def test_the_key_covers_all_files_of_the_packaged_model(monkeypatch):
    key = resolve_encoder("packaged", "", "cpu", "float32").encoder_key
    monkeypatch.setattr(encoders, "MINILM", devices.MINILM._replace(sha256="0" * 64))
    other = resolve_encoder("packaged", "", "cpu", "float32")
    assert other.encoder_key != key
    assert other.encoder_sha256 == PACKAGED_SHA256


@pytest.mark.parametrize(
    ("name", "revision", "dtype", "message"),
    [
        ("someone/model", "", "auto", "needs hcat_encoder_revision"),
        ("packaged", "", "float16", "auto, float32 or bfloat16, got 'float16'"),
    ],
)
def test_faulty_settings_are_named(name: str, revision: str, dtype: str, message: str):
    row = describe_encoder(name, revision, "cpu", dtype).to_pylist()[0]
    assert message in row["problem"]
    assert row["encoder_key"] is None


def test_local_folder_needs_weights(tmp_path):
    with pytest.raises(ModelError, match="holds no"):
        resolve_encoder(str(tmp_path), "", "cpu", "auto")


@pytest.mark.parametrize("file", ["model.safetensors", "tokenizer.json", "1_Pooling/config.json", "added_tokens.json"])
def test_every_file_of_a_local_folder_is_part_of_the_key(tmp_path, file):
    (tmp_path / "1_Pooling").mkdir()
    for name in ("model.safetensors", "tokenizer.json", "1_Pooling/config.json"):
        (tmp_path / name).write_bytes(b"first")
    first = resolve_encoder(str(tmp_path), "", "cpu", "auto")
    (tmp_path / file).write_bytes(b"second")
    second = resolve_encoder(str(tmp_path), "", "cpu", "auto")
    assert second.encoder_key != first.encoder_key
    assert second.encoder_sha256 != first.encoder_sha256


def test_precision_is_part_of_the_key():
    assert (
        resolve_encoder("packaged", "", "cpu", "float32").encoder_key
        != resolve_encoder("packaged", "", "cpu", "bfloat16").encoder_key
    )


def test_hashing_encoder_is_deterministic_and_unit_length():
    encoder = HashingEncoder(16)
    vectors, _ = encode_texts(encoder, ["a", "b", "a"], 16)
    assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    assert_allclose(vectors[0], vectors[2], atol=0)
    assert abs(float(vectors[0] @ vectors[1])) < 0.99


def test_killed_build_keeps_its_slices(tmp_path, monkeypatch):
    identity = resolve_encoder("hashing:8", "", "cpu", "auto")
    table = pending_texts(25, identity.encoder_key)
    reference = embed_pending(FakeRelation(table), identity, 10, 0, str(tmp_path / "other")).read_all()
    reader = embed_pending(FakeRelation(table), identity, 10, 0, str(tmp_path))
    first = reader.read_next_batch()
    # the process dies here: one slice is on disk, nothing is in the warehouse
    assert first.num_rows == 10
    encoded: list[int] = []
    original = encoders._embed_slice

    def counting(batch: pa.RecordBatch, *arguments: object) -> pa.RecordBatch:
        encoded.append(batch.num_rows)
        return original(batch, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(encoders, "_embed_slice", counting)
    again = embed_pending(FakeRelation(table), identity, 10, 0, str(tmp_path)).read_all()
    assert sum(encoded) == 15
    assert again.schema == EMBEDDED_SCHEMA
    assert again.sort_by("text_id").equals(reference.sort_by("text_id"))
    # a build with nothing to do removes what is no longer needed
    embed_pending(FakeRelation(table.slice(0, 0)), identity, 10, 0, str(tmp_path)).read_all()
    assert not list((tmp_path / "slices").rglob("*.parquet"))


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


def test_other_errors_and_a_text_that_does_not_fit_are_raised():
    class Broken(HashingEncoder):
        def prepare(self, texts):
            def run(batch):
                raise RuntimeError(texts[0])

            return super().prepare(texts)._replace(run=run)

    for message in ("out of memory", "device lost"):
        with pytest.raises(RuntimeError, match=message):
            encode_texts(Broken(8), [message], batch_tokens=1000)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "pakcaged",
            "encoder 'pakcaged' is no folder and none of packaged, hashing:<dimensions>; as a Hub id it needs ",
        ),
        ("hashing:many", "encoder 'hashing:many' must be hashing:<dimensions>, for instance hashing:32"),
    ],
)
def test_a_mistyped_encoder_is_told_what_there_is(name: str, message: str) -> None:
    with pytest.raises(ModelError) as problem:
        resolve_encoder(name, "", "cpu", "float32")
    assert str(problem.value).startswith(message)
    assert ("did you mean packaged?" in str(problem.value)) == (name == "pakcaged")
