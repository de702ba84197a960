"""Queries that try to take an assistant over (by rule), ask for restricted advice, or lie outside its purpose.

Advice and purpose are told by the cosine to the nearest example of a seed.
"""

from __future__ import annotations

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


class Examples:
    """Examples of queries by topic, among which the nearest one to a sentence is found."""

    def __init__(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Keep the rows topic, encoded_text, embedding."""
        self._topics = [row["topic"] for row in rows]
        self._examples = [row["encoded_text"] for row in rows]
        self._embeddings = np.array([row["embedding"] for row in rows], dtype=np.float32)

    def nearest(
        self, vectors: npt.NDArray[np.float32]
    ) -> tuple[Sequence[str | None], Sequence[str | None], Sequence[float | None]]:
        """Return topic, text and cosine of the nearest example of each vector, None without examples."""
        if not self._topics:
            nothing = [None] * len(vectors)
            return nothing, nothing, nothing
        similarities = np.einsum("id,jd->ij", vectors, self._embeddings)
        nearest = similarities.argmax(axis=1)
        values = similarities[np.arange(len(vectors)), nearest].astype(np.float64)
        return (
            [self._topics[index] for index in nearest],
            [self._examples[index] for index in nearest],
            np.round(values, _SIMILARITY_DIGITS).tolist(),
        )


class Screen:
    """Rules and examples that query sentences are held against."""

    def __init__(self, table: pa.Table) -> None:
        """Keep the rows purpose (restricted_example, scope_example), topic, encoded_text, embedding."""
        rows = table.to_pylist()
        self._restricted, self._scope = (
            Examples([row for row in rows if row["purpose"] == purpose])
            for purpose in ("restricted_example", "scope_example")
        )

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return one row per sentence (schema :data:`SCREENED_SCHEMA`)."""
        texts = batch.column("encoded_text").to_pylist()
        columns: dict[str, Any] = {name: batch.column(name) for name in ("text_id", "screening_key")}
        columns["injection_rule"] = [find_injection(text) for text in texts]
        vectors = np.asarray(batch.column("embedding").flatten(), dtype=np.float32).reshape(len(texts), -1)
        topics, examples, values = self._restricted.nearest(vectors)
        columns |= {"restricted_topic": topics, "restricted_example": examples, "restricted_similarity": values}
        columns["scope_topic"], _, columns["scope_similarity"] = self._scope.nearest(vectors)
        return pa.RecordBatch.from_pydict(columns, schema=SCREENED_SCHEMA)
