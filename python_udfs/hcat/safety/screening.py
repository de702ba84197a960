"""Queries that try to take an assistant over (by rule), ask for restricted advice, or lie outside its purpose.

Advice and purpose are told by the cosine to the nearest example of a seed.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from hcat.engine.columns import schema
from hcat.language.expressions import read_expressions

SCREENED_SCHEMA: Final = schema(
    "string: text_id screening_key injection_rule restricted_topic restricted_example",
    "float64: restricted_similarity",
    "string: scope_topic",
    "float64: scope_similarity",
)

_SIMILARITY_DIGITS = 5

#: Name -> expression, in the order in which they are tried.
INJECTION_PATTERNS: Final[Mapping[str, str]] = read_expressions(Path(__file__).with_name("injections.yml"))["patterns"]


def find_injection(text: str) -> str | None:
    """Return the name of the first pattern of an injection or jailbreak in a text, None if there is none."""
    return next((name for name, rule in INJECTION_PATTERNS.items() if re.search(rule, text, re.IGNORECASE)), None)


def _find_nearest(
    examples: Sequence[Mapping[str, Any]], vectors: npt.NDArray[np.float32]
) -> tuple[Sequence[str | None], Sequence[str | None], Sequence[float | None]]:
    """Return topic, text and cosine of the nearest example of each vector, None without examples."""
    if not examples:
        nothing = [None] * len(vectors)
        return nothing, nothing, nothing
    embeddings = np.array([row["embedding"] for row in examples], dtype=np.float32)
    similarities = np.einsum("id,jd->ij", vectors, embeddings)
    nearest = [examples[index] for index in similarities.argmax(axis=1)]
    cosines = np.round(similarities.max(axis=1).astype(np.float64), _SIMILARITY_DIGITS)
    return [row["topic"] for row in nearest], [row["encoded_text"] for row in nearest], cosines.tolist()


class Screen:
    """Rules and examples that query sentences are held against."""

    def __init__(self, table: pa.Table) -> None:
        """Keep the rows purpose (restricted_example, scope_example), topic, encoded_text, embedding."""
        rows = table.to_pylist()
        self._restricted, self._scope = (
            [row for row in rows if row["purpose"] == purpose] for purpose in ("restricted_example", "scope_example")
        )

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return one row per sentence (schema :data:`SCREENED_SCHEMA`)."""
        texts = batch.column("encoded_text").to_pylist()
        columns: dict[str, Any] = {name: batch.column(name) for name in ("text_id", "screening_key")}
        columns["injection_rule"] = [find_injection(text) for text in texts]
        vectors = np.asarray(batch.column("embedding").flatten(), dtype=np.float32).reshape(len(texts), -1)
        topics, examples, values = _find_nearest(self._restricted, vectors)
        columns |= {"restricted_topic": topics, "restricted_example": examples, "restricted_similarity": values}
        columns["scope_topic"], _, columns["scope_similarity"] = _find_nearest(self._scope, vectors)
        return pa.RecordBatch.from_pydict(columns, schema=SCREENED_SCHEMA)
