"""Compute all similarities between the sentences of an interaction in one pass, and the transport distances.

Source: Sudjianto et al. 2024 (HCAT), section 3; S_max(x) = max over y of cos(x, y). SQL aggregates over sentences.
"""

import os
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from hcat.engine.columns import schema
from hcat.metrics.texts import to_matrix
from hcat.statistics.arrays import Vectors as Matrix

#: List columns of an interaction whose elements are text ids.
UNIT_LISTS = (
    "query_text_ids",
    "answer_text_ids",
    "context_text_ids",
    "statement_text_ids",
    "answer_window_ids",
    "reference_window_ids",
)

#: (from, to): each sentence of the first role is matched to its best sentence of the second. For an answer, the context
#: includes what the user said in earlier turns, where that counts: it may prove an answer, and nobody retrieved it.
COMPARISONS = (
    ("query", "context"),
    ("context", "query"),
    ("answer", "context"),
    ("context", "answer"),
    ("answer", "query"),
    ("query", "answer"),
)

COMPARED_SCHEMA = schema(
    "string: interaction_id input_key",
    *(
        part.format(*roles)
        for roles in COMPARISONS
        for part in ("list<float32>: {}_to_{}_similarity", "list<int32>: {}_to_{}_match")
    ),
    "float64: transport_cost average_distance reference_similarity",
    "int32: count_truncated_query count_truncated_answer count_truncated_context count_truncated_windows",
)

#: List columns of a pair of answers whose elements are text ids.
ANSWER_LISTS = ("first_text_ids", "second_text_ids")

ANSWERS_SCHEMA = schema("string: answer_pair_id input_key", "float64: similarity")


_SIMILARITY_DIGITS = 6


def best_matches(similarity: Matrix) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int32]]:
    """Return S_max per row, shape (n,), and the column of its first maximum, shape (n,)."""
    match = similarity.argmax(axis=1).astype(np.int32)
    return similarity[np.arange(len(match)), match], match


def transport_cost(similarity: Matrix) -> float:
    """Return the exact optimal transport cost between context and answer, in [0, 2]; lower is more complete."""
    count_context, count_answer = similarity.shape
    if count_context == 0 or count_answer == 0:
        raise ValueError(f"transport needs sentences on both sides, got {count_context} and {count_answer}")
    cost = np.clip(1.0 - similarity.astype(np.float64), 0.0, 2.0)
    if count_context == 1 or count_answer == 1:
        # One side has one sentence only: all mass goes to it or comes from it.
        return float(cost.mean())
    ot = _load_transport()
    # Uniform marginals are equal by construction, and POT's check of them would cost as much as the solver.
    uniform_context, uniform_answer = ot.unif(count_context), ot.unif(count_answer)
    value, log = ot.emd2(uniform_context, uniform_answer, cost, numItermax=1_000_000, log=True, check_marginals=False)
    if log.get("warning"):
        raise ValueError(f"transport did not converge: {log['warning']}")
    return float(value)


def average_distance(similarity: Matrix) -> float:
    """Return the mean cosine distance over all pairs, in [0, 2]: the approximation of the transport cost in HCAT."""
    return float(np.mean(np.clip(1.0 - similarity.astype(np.float64), 0.0, 2.0)))


def pool_windows(vectors: Matrix, weights: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the unit vector of a text that was split into windows, shape (d,): their mean weighted by length."""
    pooled = weights @ vectors.astype(np.float64)
    norm = float(np.linalg.norm(pooled))
    return pooled / norm if norm > 0 else pooled


def compare_interactions(batch: pa.RecordBatch, embeddings: pa.Table) -> pa.RecordBatch:
    """Return one row of similarities per interaction (schema :data:`COMPARED_SCHEMA`).

    Parameters
    ----------
    batch : RecordBatch
        Columns interaction_id, input_key, the lists :data:`UNIT_LISTS`, answer_window_characters and
        reference_window_characters; a missing role is a null list.
    embeddings : Table
        Columns text_id (unique), embedding (unit vectors, float32), was_truncated; at least the ids that the batch
        names.

    Raises
    ------
    KeyError
        If a text of the batch has no embedding: a score from a part of the sentences would be wrong without notice.
    """
    matrix, known = to_matrix(embeddings["embedding"]), _list_ids(embeddings)
    truncated = embeddings["was_truncated"].to_numpy().astype(np.bool_)
    roles = {name: _positions(batch.column(name), known) for name in UNIT_LISTS}
    columns: dict[str, list[Any]] = {name: [] for name in COMPARED_SCHEMA.names}
    columns["interaction_id"] = batch.column("interaction_id").to_pylist()
    columns["input_key"] = batch.column("input_key").to_pylist()
    answer_characters = batch.column("answer_window_characters").to_pylist()
    reference_characters = batch.column("reference_window_characters").to_pylist()
    for row in range(batch.num_rows):
        found = {role: roles[f"{role}_text_ids"][row] for role in ("query", "answer", "context", "statement")}
        vectors = {role: matrix[positions] if positions is not None else None for role, positions in found.items()}
        pairs: dict[tuple[str, str], Matrix] = {}
        for first, second in (("query", "context"), ("answer", "context"), ("answer", "query")):
            left, right = vectors[first], vectors[second]
            if left is not None and right is not None:
                # Rounding may put a cosine just outside [-1, 1].
                cosines = np.clip(left @ right.T, -1.0, 1.0)
                pairs[first, second] = cosines
                pairs[second, first] = cosines.T
        answers, statements = vectors["answer"], vectors["statement"]
        if answers is not None and statements is not None and ("answer", "context") in pairs:
            said = np.clip(answers @ statements.T, -1.0, 1.0)
            pairs["answer", "context"] = np.hstack([said, pairs["answer", "context"]])
        for first, second in COMPARISONS:
            cosines_or_none = pairs.get((first, second))
            best, match = (None, None) if cosines_or_none is None else best_matches(cosines_or_none)
            columns[f"{first}_to_{second}_similarity"].append(best)
            columns[f"{first}_to_{second}_match"].append(match)
        completeness = pairs.get(("context", "answer"))
        columns["transport_cost"].append(None if completeness is None else transport_cost(completeness))
        columns["average_distance"].append(None if completeness is None else average_distance(completeness))
        answer_windows, reference_windows = roles["answer_window_ids"][row], roles["reference_window_ids"][row]
        if answer_windows is None or reference_windows is None:
            columns["reference_similarity"].append(None)
            columns["count_truncated_windows"].append(0)
        else:
            answer = pool_windows(matrix[answer_windows], np.asarray(answer_characters[row], np.float64))
            reference = pool_windows(matrix[reference_windows], np.asarray(reference_characters[row], np.float64))
            columns["reference_similarity"].append(float(np.clip(answer @ reference, -1.0, 1.0)))
            columns["count_truncated_windows"].append(int(truncated[np.r_[answer_windows, reference_windows]].sum()))
        counts = {role: 0 if places is None else int(truncated[places].sum()) for role, places in found.items()}
        columns["count_truncated_query"].append(counts["query"])
        columns["count_truncated_answer"].append(counts["answer"])
        columns["count_truncated_context"].append(counts["context"] + counts["statement"])
    arrays = [pa.array(columns[field.name], field.type) for field in COMPARED_SCHEMA]
    return pa.RecordBatch.from_arrays(arrays, schema=COMPARED_SCHEMA)


def compare_answers(batch: pa.RecordBatch, embeddings: pa.Table) -> pa.RecordBatch:
    """Return the similarity of each pair of answers, in [-1, 1] (schema :data:`ANSWERS_SCHEMA`).

    It is the mean of the mean S_max of both directions. It is 1 if each sentence of either answer has an equal one in
    the other, in any order. A sentence that only one answer has lowers it.

    Parameters
    ----------
    batch : RecordBatch
        Columns answer_pair_id, input_key and the lists :data:`ANSWER_LISTS`, none of them empty.
    embeddings : Table
        Columns text_id (unique), embedding (unit vectors, float32), was_truncated; at least the ids that the batch
        names.

    Raises
    ------
    KeyError
        If a text of the batch has no embedding.
    ValueError
        If an answer of the batch has no sentence.
    """
    matrix, known = to_matrix(embeddings["embedding"]), _list_ids(embeddings)
    firsts, seconds = (_positions(batch.column(name), known) for name in ANSWER_LISTS)
    similarities = []
    for first, second in zip(firsts, seconds, strict=True):
        if first is None or second is None:
            raise ValueError("both answers of a pair must hold a sentence, got an empty list")
        cosines = np.clip(matrix[first] @ matrix[second].T, -1.0, 1.0).astype(np.float64)
        both = (float(cosines.max(axis=axis).mean()) for axis in (0, 1))
        similarities.append(round(sum(both) / 2, _SIMILARITY_DIGITS))
    columns = [batch.column("answer_pair_id"), batch.column("input_key"), pa.array(similarities, pa.float64())]
    return pa.RecordBatch.from_arrays(columns, schema=ANSWERS_SCHEMA)


@cache
def _load_transport() -> Any:
    """Return POT without its optional backends: it would import torch, jax and others without any use here."""
    for backend in ("PYTORCH", "JAX", "CUPY", "TENSORFLOW"):
        os.environ.setdefault(f"POT_BACKEND_DISABLE_{backend}", "1")
    import ot

    return ot


def _list_ids(embeddings: pa.Table) -> pa.Array:
    return embeddings["text_id"].cast(pa.string()).combine_chunks()


def _positions(lists: pa.ListArray, known: pa.Array) -> list[npt.NDArray[np.int64] | None]:
    """Return for every row the positions of its text ids in ``known``, or None where the role is missing."""
    flat = pc.list_flatten(lists).cast(pa.string())
    found = pc.index_in(flat, value_set=known)
    if found.null_count:
        missing = flat.filter(pc.is_null(found))[0].as_py()
        raise KeyError(f"text {missing} has no embedding ({found.null_count} of {len(flat)} sentences missing)")
    positions = found.to_numpy(zero_copy_only=False).astype(np.int64)
    lengths = pc.fill_null(pc.list_value_length(lists), 0).to_numpy(zero_copy_only=False)
    ends = np.cumsum(lengths)
    return [
        positions[end - length : end] if length else None
        for end, length in zip(ends.tolist(), lengths.tolist(), strict=True)
    ]
