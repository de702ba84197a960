"""Texts are tokenized once, padded without a loop, and read by the model exactly as one batch after the other."""

import threading
from concurrent.futures import ThreadPoolExecutor

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal

from hcat.encoders import embedding, tokens
from hcat.encoders.embedding import PackagedEncoder, encode_texts
from hcat.encoders.identities import resolve_classifier, resolve_encoder
from hcat.encoders.pair_classifiers import CompactClassifier
from hcat.encoders.tokens import Padded, TokenizedPair, Tokens, join_encodings, start_fetch, to_pair
from hcat.engine.batching import map_slices, plan_batches
from hcat.engine.devices import ModelError, packaged_folder

TEXTS = ["The fee is 5 euros.", "No.", "", "Interest is paid monthly. " * 60, "Interest is paid monthly.", "No fee."]
OTHERS = ["There is no fee.", "Yes.", "It is free.", "Interest is paid monthly. " * 50, "Interest.", "The fee is 5."]
BUDGET = 64


class Counting:
    """A tokenizer that counts the texts that it reads."""

    def __init__(self, tokenizer):
        self.tokenizer, self.count = tokenizer, 0

    def encode_batch_fast(self, texts):
        self.count += len(texts)
        return self.tokenizer.encode_batch_fast(texts)


@pytest.fixture
def counted(monkeypatch):
    from hcat.encoders import minilm

    tokenizer = Counting(minilm.load_tokenizer())
    monkeypatch.setattr(minilm, "load_tokenizer", lambda: tokenizer)
    return tokenizer


def pad_by_hand(pairs: list[TokenizedPair]) -> Padded:
    import torch

    shape = len(pairs), max(len(pair.ids) for pair in pairs)
    ids, segments, is_padding = np.zeros(shape, np.int64), np.zeros(shape, np.int64), np.ones(shape, np.bool_)
    for row, pair in enumerate(pairs):
        ids[row, : len(pair.ids)], segments[row, : len(pair.ids)] = pair.ids, pair.segments
        is_padding[row, : len(pair.ids)] = False
    return Padded(*map(torch.from_numpy, (ids, segments, is_padding)), bool(is_padding.any()))


def read_one_by_one(model, encodings, run):
    """Return outputs of batches that are padded in a loop and read one after the other."""
    pairs = [tokens.truncate_pair(to_pair(encoding), model.maximum_tokens) for encoding in encodings]
    outputs = [None] * len(pairs)
    for rows in plan_batches(np.array([len(pair.ids) for pair in pairs]), BUDGET):
        for row, found in zip(rows, run(pad_by_hand([pairs[row] for row in rows])).numpy(), strict=True):
            outputs[row] = found
    return np.stack(outputs)


def test_texts_are_tokenized_once_and_every_bit_is_that_of_a_plain_loop(counted):
    encoder = PackagedEncoder(resolve_encoder("packaged", "cpu", "float32"))
    vectors, counts = encode_texts(encoder, TEXTS, BUDGET)
    assert counted.count == len(TEXTS)
    assert counts.max() > encoder.maximum_tokens
    encodings = counted.tokenizer.encode_batch(TEXTS)
    assert_array_equal(counts, [len(encoding.ids) for encoding in encodings])
    assert_array_equal(vectors, read_one_by_one(encoder, encodings, encoder.prepare(TEXTS).run))


def test_pairs_are_tokenized_once_and_every_bit_is_that_of_a_plain_loop(counted):
    classifier = CompactClassifier(resolve_classifier("compact", "cpu", "float32"))
    logits, counts = tokens.start_model(classifier, BUDGET, TEXTS, OTHERS)()
    assert counted.count == len(TEXTS)
    assert counts.max() > classifier.maximum_tokens
    encodings = counted.tokenizer.encode_batch(list(zip(TEXTS, OTHERS, strict=True)))
    expected = read_one_by_one(classifier, encodings, classifier.prepare(TEXTS, OTHERS).run)
    assert_array_equal(logits, expected.astype(np.float64))


def test_no_text_is_no_batch():
    joined, counts = join_encodings([], 9)
    assert (len(joined.ids), joined.starts.tolist(), counts.tolist()) == (0, [0], [])
    assert Tokens.join(np.array([2]), [[5, 6]]).segments.tolist() == [0, 0]


class FakeTensor:
    """Outputs of a GPU, as far as they are asked."""

    is_cuda = True
    device = "cuda:0"

    def __init__(self, log):
        self.log = log

    def to(self, device, non_blocking):
        self.log.append(("copy", device, non_blocking))
        return np.array([1.0])


def test_results_of_a_gpu_are_copied_at_once_and_waited_for_late(monkeypatch):
    import torch

    log: list[object] = []

    class Stream:
        def record_event(self):
            log.append("record")
            return self

        def synchronize(self):
            log.append("wait")

    monkeypatch.setattr(torch.cuda, "current_stream", lambda device: Stream())
    fetch = start_fetch(FakeTensor(log))
    assert log == [("copy", "cpu", True), "record"]
    assert fetch().tolist() == [1.0]
    assert log[-1] == "wait"


@pytest.mark.parametrize("ahead", [0, 1, 2])
def test_slices_are_started_before_the_one_before_is_waited_for(tmp_path, ahead):
    table = pa.table({"text_id": [f"t{number}" for number in range(12)]})
    started = [threading.Event() for _ in range(4)]
    starters = set()

    def score(batch):
        slice_number = int(batch.column("text_id")[0].as_py()[1:]) // 3
        started[slice_number].set()
        starters.add(threading.current_thread())

        def wait():
            # a result is there only after the next slices were started
            assert all(other.wait(10) for other in started[slice_number : slice_number + 1 + ahead])
            assert ahead or not any(other.is_set() for other in started[slice_number + 1 :])
            return batch

        return wait

    reader = map_slices(duckdb.from_arrow(table), "text_id", table.schema, 3, tmp_path, score, "texts", ahead)
    assert reader.read_all().equals(table)
    assert (threading.current_thread() in starters) == (ahead == 0)
    assert len(starters) <= max(ahead, 1)
    assert len(list(tmp_path.glob("*.parquet"))) == 4


@pytest.mark.parametrize("ahead", [0, 2])
def test_a_slice_that_fails_ends_the_work_and_keeps_what_was_finished(tmp_path, ahead):
    table = pa.table({"text_id": [f"t{number}" for number in range(30)]})
    count = []

    def score(batch):
        count.append(batch)
        if batch.column("text_id")[0].as_py() == "t6":
            raise ModelError("the device is gone")
        return lambda: batch

    reader = map_slices(duckdb.from_arrow(table), "text_id", table.schema, 3, tmp_path, score, "texts", ahead)
    with pytest.raises(ModelError, match="the device is gone"):
        reader.read_all()
    assert len(count) <= 3 + ahead
    assert len(list(tmp_path.glob("*.parquet"))) == 2


def test_threads_may_share_a_tokenizer_that_was_saved_to_cut_and_pad():
    # the packaged one was saved so: no later call changes it, because a change while another thread reads fails
    identity = resolve_encoder(str(packaged_folder()), "cpu")
    encoder = embedding.load_encoder(identity)
    own = encoder._model.tokenizer.backend_tokenizer
    assert own.truncation is own.padding is None
    with ThreadPoolExecutor(2) as threads:
        one, other = threads.map(encoder.prepare, [TEXTS, TEXTS])
    assert own.truncation is own.padding is None
    assert_array_equal(one.counts, other.counts)
    assert one.counts.max() > encoder.maximum_tokens
