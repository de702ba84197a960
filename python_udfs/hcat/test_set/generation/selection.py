"""Which candidates enter the test set, and why the others do not."""

import re
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from hcat.engine.columns import schema
from hcat.language.features import extract_features
from hcat.language.text import STOP_WORDS
from hcat.metrics.support import Evidence
from hcat.metrics.texts import to_matrix

CHECKED_SCHEMA = schema(
    "string: query_id chunk_id check_status reason duplicate_of",
    "int32: count_words",
    "float64: copied_share similarity_to_chunk similarity_to_nearest",
)

_BLOCK = 1024
_TOKEN = re.compile(r"[^\W_]+(?:['\u2019.,][^\W_]+)*")
_ANCHOR = re.compile(r'\AAccording to "[^"]*", ')
_OPTIONS = re.compile(r"\s+A\) .*\Z", re.DOTALL)
_CONTEXT = re.compile(
    r"\b(?:(?:provided|given|above|following|this|the|supplied|preceding) (?:context|passage|excerpt|snippet|chunk|"
    r"extract)|"
    r"(?:the|this) (?:text|paragraph|section|sentence|article) (?:above|below|says|states|mentions)|(?:in|from|by|"
    r"to) (?:the|this) (?:text|"
    r"passage|paragraph|context)|key facts|as (?:mentioned|stated|described|discussed) (?:above|below|earlier))\b",
    re.IGNORECASE,
)
_UNANSWERABLE = re.compile(
    r"\b(?:(?:table|figure|chart|graph|picture|image|diagram|page|footnote|exhibit|appendix) (?:\d+|above|below|"
    r"shown)|(?:shown|listed|"
    r"presented|depicted) (?:in|on) (?:the|this) (?:table|figure|chart|graph|picture|image|diagram)|what does "
    r"(?:the|this) author|"
    r"lorem ipsum)\b|\{\w*\}|\[\w*\]|_{3,}",
    re.IGNORECASE,
)
_REQUEST = re.compile(
    r"\A(?:[^.?!]*, )?(?:please |can you |could you )?(?:explain|describe|list|name|tell|summari[sz]e|give|compare)\b",
    re.I,
)


#: Least and most words of a query, without the name of its document and without options.
_WORDS = (3, 60)
#: Longest run of words that a query shares with its chunk, as a share of its words. A copied query would test only the
#: search by words.
_COPIED_SHARE = 0.9
#: Cosine of a query and its chunk below which the query asks about something else.
_CHUNK_SIMILARITY = 0.1
#: Cosine and word overlap (Jaccard) from which two queries with the same names and numbers count as duplicates.
_DUPLICATE_SIMILARITY, _DUPLICATE_OVERLAP = 0.92, 0.6


def check_candidates(materials: pa.Table) -> pa.Table:
    """Return one row per candidate with its status and the reason (schema :data:`CHECKED_SCHEMA`).

    Parameters
    ----------
    materials : Table
        query_id, chunk_id, query_text, reference_answer, query_type, expected_behaviour, generator, encoder_name,
        source_text, embedding and chunk_embedding (unit vectors or null); ordered by query_id. Among duplicates,
        imported queries go first, so that a hand-written one is never displaced; then query ids decide.

    Examples
    --------
    >>> candidate = {"query_id": "q1", "chunk_id": "c1", "query_text": "Fee?", "reference_answer": "9 euros"}
    >>> candidate |= {"query_type": "simple_factual", "expected_behaviour": "answer", "generator": "offline"}
    >>> candidate |= {"encoder_name": "none", "source_text": "The fee is 9 euros."}
    >>> candidate |= {"embedding": [1.0, 0.0], "chunk_embedding": [1.0, 0.0]}
    >>> checked = check_candidates(pa.Table.from_pylist([candidate]))
    >>> checked.select(["query_id", "reason"]).to_pylist()
    [{'query_id': 'q1', 'reason': 'too_short'}]
    """
    rows = materials.select([name for name in materials.column_names if "embedding" not in name]).to_pylist()
    vectors = to_matrix(materials["embedding"])
    pairs = zip(vectors, materials["chunk_embedding"].to_pylist(), strict=True)
    similarities = [None if other is None else float(np.clip(np.dot(own, other), -1.0, 1.0)) for own, other in pairs]
    checked = [_check_alone(row, similarity) for row, similarity in zip(rows, similarities, strict=True)]
    order = sorted(
        (position for position, result in enumerate(checked) if result["reason"] is None),
        key=lambda position: (rows[position]["generator"] != "imported", rows[position]["query_id"]),
    )
    _mark_duplicates(rows, checked, order, vectors)
    for row, result in zip(rows, checked, strict=True):
        result |= {"query_id": row["query_id"], "chunk_id": row["chunk_id"]}
        result["check_status"] = "accepted" if result["reason"] is None else "rejected"
    return pa.Table.from_pylist(checked, schema=CHECKED_SCHEMA)


def _check_alone(row: Mapping[str, Any], similarity: float | None) -> dict[str, Any]:
    """Return the measures of one candidate and the reason for its rejection that needs no other candidate."""
    text = row["query_text"]
    core = _OPTIONS.sub("", _ANCHOR.sub("", text))
    words = _tokens(core)
    is_imported = row["generator"] == "imported"
    is_refused = row["expected_behaviour"] == "refuse"
    copied = _copied_share(words, _tokens(row["source_text"] or ""))
    # hashing vectors carry no meaning
    has_meaning = similarity is not None and not str(row["encoder_name"]).startswith("hashing:")
    reason = None
    if is_imported:
        pass  # people chose it
    elif len(words) < _WORDS[0]:
        reason = "too_short"
    elif len(words) > _WORDS[1]:
        reason = "too_long"
    elif _CONTEXT.search(text):
        reason = "mentions_context"
    elif _UNANSWERABLE.search(core) or not ("?" in core or _REQUEST.match(core)):
        reason = "unanswerable_form"
    elif not is_refused and not (row["reference_answer"] or "").strip():
        reason = "missing_reference"
    elif not is_refused and not _is_supported(row):
        reason = "unsupported_reference"
    elif not is_refused and copied >= _COPIED_SHARE:
        reason = "copied_from_chunk"
    elif not is_refused and has_meaning and (similarity or 0.0) < _CHUNK_SIMILARITY:
        reason = "far_from_chunk"
    return {"reason": reason, "count_words": len(words), "copied_share": copied, "similarity_to_chunk": similarity}


def _tokens(text: str) -> list[str]:
    return [token.casefold() for token in _TOKEN.findall(text)]


def _copied_share(words: Sequence[str], source: Sequence[str]) -> float:
    """Return the longest run of words that both have, as a share of the first, in [0, 1]."""
    if not words:
        return 0.0
    return SequenceMatcher(None, words, source, autojunk=False).find_longest_match().size / len(words)


def _is_supported(row: Mapping[str, Any]) -> bool:
    """Return whether the sources hold every number of the reference answer; without sources nothing can be said."""
    if not row["source_text"]:
        return True
    evidence = Evidence.from_features([extract_features(row["source_text"]), extract_features(row["query_text"])])
    mentions = extract_features(row["reference_answer"]).number_mentions
    return all(any(key in evidence.numbers for key in mention.keys) for mention in mentions)


def _mark_duplicates(
    rows: Sequence[Mapping[str, Any]],
    checked: list[dict[str, Any]],
    order: Sequence[int],
    vectors: npt.NDArray[np.float32],
) -> None:
    """Go through candidates in order; one that repeats an accepted one is rejected. Cosines are made in blocks."""
    texts: dict[str, int] = {}
    words = {position: frozenset(_tokens(rows[position]["query_text"])) - STOP_WORDS for position in order}
    facts = {position: _facts(rows[position]["query_text"]) for position in order}
    accepted: list[int] = []
    for start in range(0, len(order), _BLOCK):
        block = order[start : start + _BLOCK]
        earlier = np.asarray(accepted, np.int64)
        outside = vectors[block] @ vectors[earlier].T if accepted else np.empty((len(block), 0), np.float32)
        inside = vectors[block] @ vectors[block].T
        kept_inside: list[int] = []
        for number, position in enumerate(block):
            result, text = checked[position], " ".join(_tokens(rows[position]["query_text"]))
            if text in texts:
                result |= {
                    "reason": "duplicate_text",
                    "duplicate_of": rows[texts[text]]["query_id"],
                    "similarity_to_nearest": 1.0,
                }
                continue
            cosines = np.concatenate([outside[number], inside[number, kept_inside]])
            candidates = [*accepted[: len(earlier)], *[block[other] for other in kept_inside]]
            if len(cosines):
                result["similarity_to_nearest"] = float(np.clip(cosines.max(), -1.0, 1.0))
            for index in np.flatnonzero(cosines >= _DUPLICATE_SIMILARITY).tolist():
                other = candidates[index]
                if facts[position] != facts[other]:
                    continue
                union = words[position] | words[other]
                overlap = len(words[position] & words[other]) / len(union) if union else 1.0
                if overlap >= _DUPLICATE_OVERLAP:
                    result |= {"reason": "near_duplicate", "duplicate_of": rows[other]["query_id"]}
                    break
            if result["reason"] is None:
                texts[text] = position
                kept_inside.append(number)
        accepted += [block[number] for number in kept_inside]


def _facts(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the numbers and names of a query: two that ask about other years or other banks are no duplicates."""
    features = extract_features(text)
    return frozenset(features.numbers), frozenset(features.entities)
