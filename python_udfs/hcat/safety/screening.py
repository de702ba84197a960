"""Queries that try to take an assistant over (by rule), ask for restricted advice, or lie outside its purpose.

Advice and purpose are told by the cosine to the nearest example of a seed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from hcat.engine.columns import schema

SCREENED_SCHEMA: Final = schema(
    "string: text_id screening_key injection_rule restricted_topic restricted_example",
    "float64: restricted_similarity",
    "string: scope_topic",
    "float64: scope_similarity",
)

_SIMILARITY_DIGITS = 5


_ORDERS = r"(?:instructions?|rules?|prompts?|guidelines?|directions?|orders?|guardrails?|restrictions?|polic(?:y|ies))"
_TOLD = (
    r"(?:earlier|previous|prior|above|preceding|former|initial|original|existing|your|all|any"
    r"|every|the|system|safety|these|those|that|of)"
)


#: The closed list of patterns, in the order in which they are tried.
INJECTION_PATTERNS: Final = {
    "override": (
        rf"\b(?:ignore|disregard|forget|override|bypass|overlook|neglect|drop|set aside)\b(?:\W+{_TOLD})*\W+"
        rf"(?:\w+\W+){{0,2}}?{_ORDERS}\b"
        r"|\b(?:ignore|disregard|forget) (?:everything|all|whatever|anything)\b.{0,40}\b(?:before"
        r"|above|told|said|earlier|"
        r"know|so far|learn(?:ed|t))\b"
    ),
    "prompt_leak": (
        r"\b(?:reveal|repeat|print|show|output|display|leak|disclose|recite|tell|give|reproduce"
        r"|write out|summari[sz]e)\b"
        r".{0,40}\b(?:(?:system|hidden|initial|secret|original|internal|developer) (?:prompt|message|instructions?|"
        r"configuration)|your (?:exact |full |own )?(?:prompt|instructions?|configuration|system message))\b"
        r"|\bwhat (?:is|are|were) your (?:system |hidden |initial |original )?(?:prompt|instructions)\b"
    ),
    "role_play": (
        r"\b(?:you are|act as|pretend (?:to be|that you are|you are)|play|role-?play"
        r"|imagine (?:you are|being)|behave like)"
        r"\b.{0,80}\b(?:without (?:any )?(?:rules|restrictions|limits?|filters?|guidelines|ethics)|no (?:rules|"
        r"restrictions|limits|filters)|unrestricted|unfiltered|uncensored|jailbroken|evil|anything now)\b"
        r"|\b(?:DAN|jailbreak|developer|god|sudo|debug|admin)[ -]mode\b|\bdo anything now\b|\bjailbreak\b"
    ),
    "false_authority": (
        r"\[?\b(?:system|admin(?:istrator)?|developer|operator)\b ?(?:message|notice|override|prompt)?\]\W"
        r"|^\W*(?:system|developer|assistant) ?:"
        r"|\bi am (?:the|your|an?) (?:administrator|developer|creator|operator|system owner)\b"
        r"|\bsafety (?:rules|filters?|checks?|systems?) (?:are|is|have been"
        r"|has been)?\W*(?:now )?(?:switched |turned )?"
        r"(?:off|disabled|deactivated|lifted|suspended)\b"
        r"|<\|?(?:im_start|im_end|system|endoftext)\|?>|\[/?INST\]|<</?SYS>>"
    ),
    "forced_output": (
        r"\b(?:reply|respond|answer|say|write|output|begin|start|confirm)\b.{0,30}\b(?:only"
        r"|nothing (?:else|but)|just)\b"
        r".{0,15}\b(?:with|the word|and nothing)\b|\b(?:and|say|write|output) \S+ and nothing else\b"
        r"|\b(?:new|real|actual) (?:task|instructions?|orders?)\W*:"
        r"|\bfrom now on\b.{0,60}\b(?:you|every|each|all|begin|"
        r"answers?|repl(?:y|ies))\b|\bend of (?:the )?(?:question|prompt|context|input|instructions)\b"
    ),
    "smuggled_order": (
        r"\b(?:translate|decode|decrypt|decipher|base64|rot13)\b.{0,80}\b(?:and"
        r"|then)\b.{0,30}\b(?:carry (?:it|them) out|"
        r"execute|obey|follow|do what|run)\b"
        r"|\bthe (?:answer|only (?:permitted|allowed|correct) answer)(?: to (?:every|all|any) questions?)? is \S+"
    ),
}


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
