"""Texts tokenized once, while a GPU works: nothing waits for the device before a result is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from hcat.engine.batching import start_batches

Rows = npt.NDArray[np.int64]


class TokenizedPair(NamedTuple):
    """Tokens of a pair, or of one text without claim; [premise_start, premise_end) is cut if it is too long."""

    ids: list[int]
    segments: list[int]
    premise_start: int
    premise_end: int


class Padded(NamedTuple):
    """One batch, padded to its longest row, shape (n, tokens): arrays, or the same as tensors on a device."""

    ids: Any
    segments: Any
    is_padding: Any
    #: known before the copy: to ask the device would mean to wait for it
    has_padding: bool


@dataclass(frozen=True, slots=True)
class Tokens:
    """Tokens of n texts or pairs, one after another: row i has the tokens [starts[i], starts[i + 1])."""

    ids: Rows
    segments: npt.NDArray[np.uint8]
    starts: Rows

    @classmethod
    def join(cls, counts: Rows, ids: Iterable[list[int]], segments: Iterable[list[int]] | None = None) -> Tokens:
        """Return the tokens of rows given as lists; without segments all are of the first text."""
        starts = np.concatenate([[0], np.cumsum(counts)])
        flat = np.fromiter(chain.from_iterable(ids), np.int64, starts[-1])
        # a list of small numbers becomes bytes in one call
        kinds = b"".join(map(bytes, segments)) if segments is not None else bytes(len(flat))
        return cls(flat, np.frombuffer(kinds, np.uint8), starts)

    def pad(self, rows: Rows, padding: int = 0) -> Padded:
        """Return some rows, padded with the token id ``padding``."""
        starts = self.starts[rows]
        lengths = self.starts[rows + 1] - starts
        places = np.arange(lengths.max())
        is_padding = places >= lengths[:, None]
        # reads on into the next rows, and then covers what is not the row's own
        taken = starts[:, None] + places
        ids = self.ids.take(taken, mode="clip")
        segments = self.segments.take(taken, mode="clip").astype(np.int64)
        has_padding = bool(lengths.min() < len(places))
        if has_padding:
            ids[is_padding], segments[is_padding] = padding, 0
        return Padded(ids, segments, is_padding, has_padding)


class Prepared(NamedTuple):
    """Tokenized texts: tokens of each before truncation, rows -> inputs of a batch, and inputs -> its outputs."""

    counts: Rows
    load: Callable[[Rows], Any]
    run: Callable[[Any], Any]


def start_model(model: Any, budget: int, *texts: Sequence[str]) -> Callable[[], tuple[npt.NDArray[Any], Rows]]:
    """Return a function that waits for the outputs of all rows in order, and for their tokens before truncation."""
    prepared: Prepared = model.prepare(*texts)
    finish = start_prepared(prepared, model.maximum_tokens, budget)
    return lambda: (finish(), prepared.counts)


def start_prepared(prepared: Prepared, maximum_tokens: int, budget: int) -> Callable[[], npt.NDArray[Any]]:
    """Start all batches, and return a function that waits for the outputs of all rows in their order."""

    def start(rows: Rows) -> Callable[[], npt.NDArray[Any]]:
        return start_fetch(prepared.run(prepared.load(rows)))

    started = list(start_batches(np.minimum(prepared.counts, maximum_tokens), budget, start))

    def finish() -> npt.NDArray[Any]:
        outputs = np.empty((0, 0), np.float32)
        for rows, fetch in started:
            found = fetch()
            if not len(outputs):
                outputs = np.empty((len(prepared.counts), found.shape[1]), found.dtype)
            outputs[rows] = found
        return outputs

    return finish


def copy_to(padded: Padded, device: Any) -> Padded:
    """Return a batch as tensors on ``device``; a copy to a GPU is started and not waited for."""
    import torch

    def copy(array: npt.NDArray[Any]) -> Any:
        tensor = torch.from_numpy(array)
        return tensor.pin_memory().to(device, non_blocking=True) if device.type == "cuda" else tensor.to(device)

    return Padded(copy(padded.ids), copy(padded.segments), copy(padded.is_padding), padded.has_padding)


def keep_whole(tokenizer: Any) -> Any:
    """Return a tokenizer of the library tokenizers that neither cuts nor pads, whatever was saved with it."""
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def name_inputs(batch: Padded, uses_segments: bool) -> dict[str, Any]:
    """Return a batch under the names that models of transformers give their inputs."""
    inputs = {"input_ids": batch.ids, "attention_mask": (~batch.is_padding).long()}
    return inputs | {"token_type_ids": batch.segments} if uses_segments else inputs


def start_fetch(outputs: Any) -> Callable[[], npt.NDArray[Any]]:
    """Return a function that waits for outputs as an array; their copy from a GPU is started at once."""
    if not getattr(outputs, "is_cuda", False):
        return lambda: np.asarray(outputs)
    import torch

    # into pinned memory, so that the copy runs behind the batch; the event marks its end and not that of later batches
    copied = outputs.to("cpu", non_blocking=True)
    event = torch.cuda.current_stream(outputs.device).record_event()

    def fetch() -> npt.NDArray[Any]:
        event.synchronize()
        return np.asarray(copied)

    return fetch


def join_encodings(encodings: Sequence[Any], maximum: int) -> tuple[Tokens, Rows]:
    """Return the tokens of encodings of a fast tokenizer, cut to ``maximum``, and their counts before the cut."""
    counts = np.array([len(encoding) for encoding in encodings], dtype=np.int64)
    cut = {row: truncate_pair(to_pair(encodings[row]), maximum) for row in np.flatnonzero(counts > maximum).tolist()}
    ids = (cut[row].ids if row in cut else encoding.ids for row, encoding in enumerate(encodings))
    segments = None
    if encodings and encodings[0].n_sequences > 1:
        segments = (cut[row].segments if row in cut else encoding.type_ids for row, encoding in enumerate(encodings))
    return Tokens.join(np.minimum(counts, maximum), ids, segments), counts


def join_pairs(pairs: Sequence[TokenizedPair], maximum: int) -> tuple[Tokens, Rows]:
    """Return the tokens of pairs, cut to ``maximum``, and their counts before the cut."""
    counts = np.array([len(pair.ids) for pair in pairs], dtype=np.int64)
    cut = [truncate_pair(pair, maximum) for pair in pairs]
    ids, segments = (pair.ids for pair in cut), (pair.segments for pair in cut)
    return Tokens.join(np.minimum(counts, maximum), ids, segments), counts


def truncate_pair(pair: TokenizedPair, maximum: int) -> TokenizedPair:
    """Return the pair cut to at most ``maximum`` tokens."""
    excess = len(pair.ids) - maximum
    if excess <= 0:
        return pair
    count_premise = pair.premise_end - pair.premise_start
    dropped = min(excess, max(count_premise - maximum // 2, 0))
    first, last = pair.premise_end - dropped, pair.premise_end
    ids, segments = pair.ids[:first] + pair.ids[last:], pair.segments[:first] + pair.segments[last:]
    if len(ids) > maximum:
        ids, segments = [*ids[: maximum - 1], ids[-1]], [*segments[: maximum - 1], segments[-1]]
    return TokenizedPair(ids, segments, pair.premise_start, first)


def to_pair(encoding: Any) -> TokenizedPair:
    """Return the tokens of an encoding of a fast tokenizer, which marks those of the premise (or of a text alone)."""
    sequences = encoding.sequence_ids
    count = sequences.count(0)
    start = sequences.index(0) if count else 0
    return TokenizedPair(encoding.ids, encoding.type_ids, start, start + count)


def to_text(ids: list[int], is_special: Sequence[int]) -> TokenizedPair:
    """Return a text as a premise without claim, given which of its tokens are special (1)."""
    own = [place for place, special in enumerate(is_special) if not special]
    return TokenizedPair(ids, [0] * len(ids), own[0] if own else 0, own[-1] + 1 if own else 0)
