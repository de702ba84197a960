"""Embed texts with sentence encoders: identity, loading and batches.

The key of an embedding covers its text and its encoder (name, revision, SHA-256 of its files, dtype). A row of one
model can therefore not be taken for a row of another one, and no text is embedded twice.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from hcat.encoders.tokens import (
    Padded,
    Prepared,
    copy_to,
    join_encodings,
    join_pairs,
    keep_whole,
    name_inputs,
    start_prepared,
    to_text,
)
from hcat.engine.batching import SLICES_AHEAD, map_slices
from hcat.engine.devices import (
    MINILM,
    ModelError,
    check_packaged_weights,
    choose_device,
    choose_dtype,
    hash_model,
    require_gpu,
    silence_transformers,
    weight_options,
)
from hcat.engine.keys import hash_text
from hcat.statistics.arrays import Vectors

#: The offline default: the official all-MiniLM-L6-v2 (Apache-2.0), packaged on the package index.
PACKAGED_NAME = "all-MiniLM-L6-v2"
PACKAGED_DIMENSIONS = 384
PACKAGED_MAXIMUM_TOKENS = 256

#: Device -> padded tokens (longest x count) of one batch. A small batch fits the cache of a CPU; a GPU needs more.
DEFAULT_BATCH_TOKENS = {"cpu": 2048, "cuda": 262144}

#: Device -> how many slices of texts are read as one: a GPU idles between small ones (decision 49).
SLICES_JOINED = {"cpu": 1, "cuda": 4}

EMBEDDED_SCHEMA = pa.schema(
    [
        ("text_id", pa.string()),
        ("encoder_key", pa.string()),
        ("encoder_name", pa.string()),
        ("encoder_revision", pa.string()),
        ("encoder_sha256", pa.string()),
        ("embedding", pa.list_(pa.float32())),
        ("count_tokens", pa.int32()),
        ("was_truncated", pa.bool_()),
    ]
)

_load_lock = threading.Lock()
_loaded: dict[str, Encoder] = {}


@dataclass(frozen=True, slots=True)
class EncoderIdentity:
    """Identity of an encoder: everything that its embeddings depend on.

    Attributes
    ----------
    encoder_key : str
        MD5 of name, revision, SHA-256 of all files and dtype, which is part of the content key of an embedding.
    encoder_name, encoder_revision, encoder_sha256 : str
        Name as configured, revision (commit, or the packaged version), SHA-256 of the packaged weights or of all files
        of a local folder.
    device, dtype : str
        Device and precision of the encoder.
    location : str
        What is loaded: ``packaged``, a local path, a Hub id, or ``hashing:<dimensions>``. It never has the absolute
        path of the packaged weights, so that two installations write identical rows.
    """

    encoder_key: str
    encoder_name: str
    encoder_revision: str
    encoder_sha256: str
    device: str
    dtype: str
    location: str

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> EncoderIdentity:
        """Return the identity that a row of the model int_models holds."""
        return cls(**{name: row[name] for name in ENCODER_COLUMNS})


ENCODER_COLUMNS = tuple(field.name for field in fields(EncoderIdentity))


class Encoder(Protocol):
    """Interface of an encoder: turns texts into unit vectors."""

    def prepare(self, texts: Sequence[str]) -> Prepared:
        """Tokenize texts; the outputs of a batch are unit vectors, shape (n, dimensions), float32."""
        ...

    @property
    def maximum_tokens(self) -> int:
        """Longest input in tokens; a longer one is truncated and recorded as such."""
        ...


def resolve_encoder(name: str, revision: str, device: str, dtype: str) -> EncoderIdentity:
    """Return the identity of the configured encoder without loading it.

    Parameters
    ----------
    name : str
        ``packaged``, ``hashing:<dimensions>``, a local folder or a Hub id.
    revision : str
        Commit of a Hub model; required for a Hub id, because the weights behind a name may change.
    device : str
        ``auto``, ``cpu`` or ``cuda``.
    dtype : str
        ``auto``, ``float32`` or ``bfloat16``.

    Raises
    ------
    ModelError
        If the packaged files do not have the pinned SHA-256, a Hub id comes without revision, or the name is unknown.

    Examples
    --------
    >>> identity = resolve_encoder("hashing:8", "", "cpu", "float32")
    >>> identity.encoder_name, identity.device
    ('hashing:8', 'cpu')
    """
    device = choose_device(device)
    dtype = choose_dtype(dtype, device)
    files: tuple[str, ...] = ()
    if name == "packaged":
        parts = (PACKAGED_NAME, "packaged", check_packaged_weights(), device, dtype, "packaged")
        files = (MINILM.sha256,)
    elif name.startswith("hashing:"):
        if not name.removeprefix("hashing:").isdecimal():
            raise ModelError(f"encoder {name!r} must be hashing:<dimensions>, for instance hashing:32")
        parts = (name, "1", hash_text("hcat hashing encoder 1"), "cpu", "float32", name)
    elif Path(name).is_dir():
        parts = (Path(name).name, "local", hash_model(Path(name)), device, dtype, name)
    else:
        if not revision:
            meant = get_close_matches(name, ["packaged"], n=1)
            raise ModelError(
                f"encoder {name!r} is no folder and none of packaged, hashing:<dimensions>; as a Hub id it needs "
                f"hcat_encoder_revision (a commit), got none{'; did you mean packaged?' if meant else ''}"
            )
        parts = (name, revision, "of the pinned revision", device, dtype, name)
    encoder_name, encoder_revision, sha256, device, dtype, location = parts
    key = hash_text(encoder_name, encoder_revision, sha256, dtype, *files)
    return EncoderIdentity(key, encoder_name, encoder_revision, sha256, device, dtype, location)


def describe_encoder(name: str, revision: str, device: str, dtype: str) -> pa.Table:
    """Return the identity of the configured encoder as one row; the column ``problem`` has an error, if any."""
    try:
        row = asdict(resolve_encoder(name, revision, device, dtype)) | {"problem": None}
    except ModelError as error:
        row = dict.fromkeys(ENCODER_COLUMNS) | {"problem": str(error)}
    schema = pa.schema([(column, pa.string()) for column in (*ENCODER_COLUMNS, "problem")])
    return pa.Table.from_pylist([row], schema=schema)


def load_encoder(identity: EncoderIdentity) -> Encoder:
    """Return the encoder, which is loaded once per process."""
    with _load_lock:
        if identity.encoder_key not in _loaded:
            if identity.location.startswith("hashing:"):
                _loaded[identity.encoder_key] = HashingEncoder(int(identity.location.split(":")[1]))
            elif identity.location == "packaged":
                _loaded[identity.encoder_key] = PackagedEncoder(identity)
            else:
                _loaded[identity.encoder_key] = SentenceTransformerEncoder(identity)
        return _loaded[identity.encoder_key]


class PackagedEncoder:
    """The packaged all-MiniLM-L6-v2 (BERT, mean pooling, unit length) without sentence-transformers.

    The import of sentence-transformers takes longer than a nightly build spends on its new texts. A test checks that
    the vectors equal those of sentence-transformers.
    """

    def __init__(self, identity: EncoderIdentity) -> None:
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "true")
        import torch

        from hcat.encoders import minilm

        require_gpu(identity.device, torch)
        self._torch = torch
        self._tokenizer = minilm.load_tokenizer()
        self._device = torch.device(identity.device)
        self._model = minilm.MiniLM(minilm.read_weights()).to(self._device, getattr(torch, identity.dtype))

    @property
    def maximum_tokens(self) -> int:
        """Longest input in tokens (the published max_seq_length)."""
        return PACKAGED_MAXIMUM_TOKENS

    def prepare(self, texts: Sequence[str]) -> Prepared:
        """Tokenize texts; truncation keeps the closing [SEP]."""
        tokens, counts = join_encodings(self._tokenizer.encode_batch_fast(list(texts)), self.maximum_tokens)
        return Prepared(counts, lambda rows: copy_to(tokens.pad(rows), self._device), self._encode)

    def _encode(self, batch: Padded) -> Any:
        torch = self._torch
        with torch.inference_mode():
            states = self._model(*batch).float()
            weights = (~batch.is_padding).unsqueeze(2).float()
            pooled = (states * weights).sum(dim=1) / weights.sum(dim=1)
            return torch.nn.functional.normalize(pooled, dim=1)


class SentenceTransformerEncoder:
    """A model of sentence-transformers, from a local folder or from the Hub at a pinned revision."""

    def __init__(self, identity: EncoderIdentity) -> None:
        is_local = Path(identity.location).is_dir()
        if is_local:
            os.environ.setdefault("HF_HUB_OFFLINE", "1")
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "true")
        import torch
        from sentence_transformers import SentenceTransformer

        location = identity.location
        self._torch = torch
        require_gpu(identity.device, torch)
        silence_transformers()
        try:
            self._model = SentenceTransformer(
                location,
                device=identity.device,
                revision=None if is_local else identity.encoder_revision,
                trust_remote_code=False,
                model_kwargs={"dtype": getattr(torch, identity.dtype), **weight_options()},
            ).eval()
        except (OSError, ValueError) as error:
            raise ModelError(f"encoder {location!r} cannot be loaded: {str(error).splitlines()[0]}") from error
        if self._model.tokenizer.is_fast:
            keep_whole(self._model.tokenizer)

    @property
    def maximum_tokens(self) -> int:
        """Longest input in tokens."""
        return int(self._model.max_seq_length or 512)

    def prepare(self, texts: Sequence[str]) -> Prepared:
        """Tokenize texts; truncation keeps the special tokens at the end."""
        tokenizer = self._model.tokenizer
        options = {"add_special_tokens": True, "truncation": False, "return_special_tokens_mask": True}
        encoded = tokenizer(list(texts), **options, verbose=False)
        pairs = [
            to_text(ids, special)
            for ids, special in zip(encoded["input_ids"], encoded["special_tokens_mask"], strict=True)
        ]
        tokens, counts = join_pairs(pairs, self.maximum_tokens)
        padding, device = int(tokenizer.pad_token_id or 0), self._model.device
        uses_segments = "token_type_ids" in tokenizer.model_input_names

        def run(batch: Padded) -> Any:
            with self._torch.inference_mode():
                vectors = self._model.forward(name_inputs(batch, uses_segments))["sentence_embedding"].float()
                return self._torch.nn.functional.normalize(vectors, dim=1)

        return Prepared(counts, lambda rows: copy_to(tokens.pad(rows, padding), device), run)


class HashingEncoder:
    """Random unit vectors seeded by the hash of the text, to measure the cost of the pipeline without a model.

    The vectors have no meaning. Each row has the name of the encoder, so that its scores are not taken for real ones.

    Examples
    --------
    >>> vectors, _ = encode_texts(HashingEncoder(8), ["fee", "fee", "rate"], 16)
    >>> vectors.shape, bool((vectors[0] == vectors[1]).all()), bool((vectors[0] == vectors[2]).all())
    ((3, 8), True, False)
    """

    def __init__(self, dimensions: int) -> None:
        if dimensions < 2:
            raise ModelError(f"hashing encoder needs at least 2 dimensions, got {dimensions}")
        self._dimensions = dimensions

    @property
    def maximum_tokens(self) -> int:
        """Longest input in tokens, more than any text has."""
        return 1 << 20

    def prepare(self, texts: Sequence[str]) -> Prepared:
        """Count words; the vectors are seeded by the hash of each text."""
        counts = np.array([text.count(" ") + 1 for text in texts], dtype=np.int64)
        return Prepared(counts, lambda rows: [texts[row] for row in rows], self._encode)

    def _encode(self, texts: Sequence[str]) -> Vectors:
        rows = [
            np.random.Generator(np.random.SFC64(int(hash_text(text), 16))).standard_normal(self._dimensions, np.float32)
            for text in texts
        ]
        vectors = np.stack(rows)
        normalised: Vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        return normalised


def encode_texts(encoder: Encoder, texts: Sequence[str], batch_tokens: int) -> tuple[Vectors, npt.NDArray[np.int64]]:
    """Return unit vectors, shape (n, dimensions), in the order of ``texts``, and token counts, shape (n,)."""
    return start_encoding(encoder, texts, batch_tokens)()


def start_encoding(
    encoder: Encoder, texts: Sequence[str], batch_tokens: int
) -> Callable[[], tuple[Vectors, npt.NDArray[np.int64]]]:
    """Return a function that waits for what :func:`encode_texts` returns; the device is given all batches at once."""
    prepared = encoder.prepare(texts)
    finish = start_prepared(prepared, encoder.maximum_tokens, batch_tokens)

    def wait() -> tuple[Vectors, npt.NDArray[np.int64]]:
        vectors = finish()
        return (np.empty((0, 0), dtype=np.float32) if vectors is None else vectors), prepared.counts

    return wait


def embed_texts(identity: EncoderIdentity, batch_tokens: int) -> Callable[[Sequence[str]], Vectors]:
    """Return a function from texts to unit vectors, shape (n, dimensions); its first call loads the encoder.

    Parameters
    ----------
    identity : EncoderIdentity
    batch_tokens : int
        Padded tokens per batch; 0 = :data:`DEFAULT_BATCH_TOKENS` of the device.
    """
    budget = batch_tokens or DEFAULT_BATCH_TOKENS.get(identity.device, DEFAULT_BATCH_TOKENS["cpu"])

    def embed(texts: Sequence[str]) -> Vectors:
        return encode_texts(load_encoder(identity), texts, budget)[0]

    return embed


def embed_pending(
    pending: Any, identity: EncoderIdentity, slice_texts: int, batch_tokens: int, warehouse: str
) -> pa.RecordBatchReader:
    """Return the embeddings of all pending texts as a stream (:func:`hcat.engine.batching.map_slices`).

    Parameters
    ----------
    pending : relation
        Columns text_id, encoder_key, encoded_text, count_characters; ordered by length.
    identity : EncoderIdentity
        Encoder of this build; it is loaded only if a text is pending.
    slice_texts : int
        Texts per slice, times :data:`SLICES_JOINED` of the device; the slices are in ``<warehouse>/slices``.
    batch_tokens : int
        Padded tokens per batch; 0 = :data:`DEFAULT_BATCH_TOKENS` of the device.
    warehouse : str
        Folder of the warehouse.
    """
    budget = batch_tokens or DEFAULT_BATCH_TOKENS.get(identity.device, DEFAULT_BATCH_TOKENS["cpu"])
    folder = Path(warehouse) / "slices" / identity.encoder_key

    def embed(batch: pa.RecordBatch) -> Callable[[], pa.RecordBatch]:
        return _embed_slice(batch, identity, budget)

    ahead = SLICES_AHEAD.get(identity.device, 0)
    rows = slice_texts * SLICES_JOINED.get(identity.device, 1)
    return map_slices(pending, "text_id", EMBEDDED_SCHEMA, rows, folder, embed, "embedding texts", ahead)


def _embed_slice(batch: pa.RecordBatch, identity: EncoderIdentity, budget: int) -> Callable[[], pa.RecordBatch]:
    encoder = load_encoder(identity)
    wait = start_encoding(encoder, batch.column("encoded_text").to_pylist(), budget)

    def finish() -> pa.RecordBatch:
        vectors, counts = wait()
        offsets = np.arange(0, vectors.size + 1, vectors.shape[1], dtype=np.int32)
        count = batch.num_rows
        return pa.RecordBatch.from_arrays(
            [
                batch.column("text_id").cast(pa.string()),
                batch.column("encoder_key").cast(pa.string()),
                pa.array([identity.encoder_name] * count, pa.string()),
                pa.array([identity.encoder_revision] * count, pa.string()),
                pa.array([identity.encoder_sha256] * count, pa.string()),
                pa.ListArray.from_arrays(pa.array(offsets), pa.array(vectors.ravel())),
                pa.array(counts, pa.int32()),
                pa.array(counts > encoder.maximum_tokens),
            ],
            schema=EMBEDDED_SCHEMA,
        )

    return finish
