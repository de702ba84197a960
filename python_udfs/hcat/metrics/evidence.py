"""Choose the evidence for each answer sentence: the part of the context that an entailment model reads as its premise.

A whole context does not fit into the model, and few of its sentences matter: entailment with whole documents is worse
than counting words. A window therefore has only the context sentences that are most similar to the answer sentence or
hold words that it still lacks, and the neighbours of the first of them.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from hcat.engine.columns import schema
from hcat.engine.keys import hash_text
from hcat.language.ellipsis import read_claim
from hcat.language.text import content_words
from hcat.language.words import stem_word
from hcat.metrics.texts import TextReader, take_texts, to_batch, to_matrix
from hcat.statistics.arrays import Vectors as Similarities

#: List columns of an interaction whose texts are read.
EVIDENCE_LISTS = ("query_text_ids", "answer_text_ids", "context_text_ids", "statement_text_ids")

WINDOWED_SCHEMA = schema(
    "string: interaction_id evidence_key",
    "int32: sentence_index",
    "list<int32>: chosen_indices",
    "float32: similarity overlap",
    "string: claim claim_id",
    "bool: is_denied is_elliptic",
)

#: Distinct texts whose words are kept between batches; many interactions share a context sentence.
_KEPT_WORDS = 200_000

#: Digits of a similarity that count in a choice; further digits depend on the batch.
_SIMILARITY_DIGITS = 4


class EvidenceSettings(NamedTuple):
    """How the window of a sentence is chosen; the shipped classifier was trained on the defaults."""

    #: Context sentences that are chosen by their own similarity and words. The neighbours of the first are added.
    count_sentences: int = 4
    #: Characters of a window, about 160 word pieces. The first sentence is always included.
    count_characters: int = 700


def choose_window(
    similarity: Similarities,
    words: frozenset[str],
    context_words: Sequence[frozenset[str]],
    lengths: Sequence[int],
    ranks: Sequence[int],
    settings: EvidenceSettings,
) -> list[int]:
    """Return the context positions that are the evidence of one answer sentence, as chosen: the best one first."""
    count = len(similarity)
    cosines = np.round(similarity.astype(np.float64), _SIMILARITY_DIGITS)
    # without words one column that no sentence has
    keys = sorted(words) or [""]
    holds = np.array([[key in held for key in keys] for held in context_words], np.float64)
    lacking = np.full(holds.shape[1], 1.0 / holds.shape[1])
    budget = settings.count_characters
    is_open = np.ones(count, dtype=bool)
    window: list[int] = []
    while len(window) < settings.count_sentences and is_open.any():
        best = int(np.where(is_open, cosines + holds @ lacking, -np.inf).argmax())
        is_open[best] = False
        if window and lengths[best] > budget:
            continue
        window.append(best)
        budget -= lengths[best]
        lacking = lacking * (1.0 - holds[best])
    for neighbour in (window[0] - 1, window[0] + 1):
        is_near = 0 <= neighbour < count and ranks[neighbour] == ranks[window[0]]
        if is_near and neighbour not in window and lengths[neighbour] <= budget:
            window.append(neighbour)
            budget -= lengths[neighbour]
    return window


class EvidenceChoice:
    """Choose the window of evidence for each answer sentence; the words of distinct texts are kept between batches."""

    def __init__(self, settings: EvidenceSettings | None = None) -> None:
        self._settings = settings or EvidenceSettings()
        self._reader = TextReader(read_words, _KEPT_WORDS)

    def __call__(self, batch: pa.RecordBatch, texts: pa.Table) -> pa.RecordBatch:
        """Return one row per answer sentence (schema :data:`WINDOWED_SCHEMA`)."""
        answers = [ids or [] for ids in batch.column("answer_text_ids").to_pylist()]
        contexts, ranks_of_contexts = (_read_evidence(batch, name) for name in ("text_ids", "ranks"))
        queries = [ids or [] for ids in batch.column("query_text_ids").to_pylist()]
        named = [*queries, *answers, *contexts]
        all_words = self._reader.read(named, texts)
        needed = sorted({text_id for ids in named for text_id in ids})
        taken = take_texts(texts, needed)
        text_of = dict(zip(needed, taken["encoded_text"].to_pylist(), strict=True))
        position = {text_id: index for index, text_id in enumerate(needed)}
        matrix = to_matrix(taken["embedding"])
        rows: list[tuple[Any, ...]] = []
        for interaction_id, evidence_key, query, answer, context, ranks in zip(
            batch.column("interaction_id").to_pylist(),
            batch.column("evidence_key").to_pylist(),
            queries,
            answers,
            contexts,
            ranks_of_contexts,
            strict=True,
        ):
            if not answer or not context:
                continue
            lengths = [len(text_of[text_id]) for text_id in context]
            question = " ".join(text_of[text_id] for text_id in query)
            context_words = [all_words[text_id] for text_id in context]
            vectors = matrix[[position[text_id] for text_id in context]]
            similarities = matrix[[position[text_id] for text_id in answer]] @ vectors.T
            for sentence_index, text_id in enumerate(answer):
                words, similarity = all_words[text_id], similarities[sentence_index]
                claim = read_claim(text_of[text_id], question)
                if claim.text != text_of[text_id]:
                    words = read_words(claim.text)
                if claim.is_elliptic:
                    asked = matrix[[position[each] for each in query]] @ vectors.T
                    similarity = np.maximum(similarity, asked.max(axis=0))
                window = choose_window(similarity, words, context_words, lengths, ranks, self._settings)
                held = words.intersection(frozenset().union(*[context_words[each] for each in window]))
                closest = float(np.clip(similarity[window].max(), -1.0, 1.0))
                overlap = len(held) / len(words) if words else 1.0
                # another reader may read a short answer, so that its pair has a key of its own
                key = hash_text(claim.text, "short answer") if claim.is_elliptic else hash_text(claim.text)
                row = (interaction_id, evidence_key, sentence_index, window, closest, overlap)
                rows.append((*row, claim.text, key, claim.is_denied, claim.is_elliptic))
        return to_batch(rows, WINDOWED_SCHEMA)


def _read_evidence(batch: pa.RecordBatch, name: str) -> list[list[Any]]:
    """Return what may prove each answer, in order: earlier statements, then the context; empty without context."""
    statements, contexts = (batch.column(f"{role}_{name}").to_pylist() for role in ("statement", "context"))
    return [[*(said or ()), *found] if found else [] for said, found in zip(statements, contexts, strict=True)]


def read_words(text: str) -> frozenset[str]:
    """Return the stems of the content words of a text; numbers stay as written."""
    return frozenset(stem_word(word) for word in content_words(text))
