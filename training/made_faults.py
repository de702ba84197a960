"""Faults made in sentences that people called supported: what each kind of fault is caught by.

A faulty sentence stands beside the sentence that it was made from, with the same passages. Kinds are those of
`training.faults`, and a sentence borrowed from another document of the same set.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Final

from hcat.language.text import split_sentences
from training import faults
from training.labelled_sets import LabelledAnswer

BORROWED: Final = "borrowed"
KINDS: Final = (*faults.KINDS, BORROWED)

#: Kinds that say the opposite of their evidence, if the evidence says anything: those that keep its words.
CONTRADICTING: Final = frozenset({faults.NEGATION, faults.ANTONYM, faults.NUMBER_INSIDE, faults.ENTITY_INSIDE})

_SHORTEST = 25
_POOL = 40


@dataclass(frozen=True, slots=True)
class MadeAnswer:
    """One sentence with a fault, or a faithful one that faults were made from."""

    #: The sentence as an answer of its own.
    answer: LabelledAnswer
    #: One of :data:`KINDS`; None for a faithful sentence.
    kind: str | None
    #: Identifier of the faithful sentence.
    origin: str


def make_faults(answers: Sequence[LabelledAnswer], count_per_kind: int, seed: int) -> list[MadeAnswer]:
    """Return faithful sentences of each set and the faults made from them, at most ``count_per_kind`` of a kind a set.

    The draw of a set depends on its answers and the seed alone.
    """
    by_set: dict[str, list[LabelledAnswer]] = {}
    for answer in answers:
        if not answer.is_bad and answer.contexts:
            by_set.setdefault(answer.set_name, []).append(answer)
    return [made for name in sorted(by_set) for made in _make_of_set(by_set[name], count_per_kind, seed)]


def _make_of_set(answers: Sequence[LabelledAnswer], count_per_kind: int, seed: int) -> Iterator[MadeAnswer]:
    sentences = list(_read_sentences(answers, seed))
    counts = dict.fromkeys(KINDS, 0)
    for position, (answer, sentence) in enumerate(sentences):
        if min(counts.values()) >= count_per_kind:
            return
        stream = Random(f"{seed}|{answer.answer_id}|{sentence}")
        pool = [text for other, text in stream.sample(sentences, min(_POOL, len(sentences)))
                if other.cluster != answer.cluster]  # fmt: skip
        context = [text for passage in answer.contexts for text in _split(passage)]
        origin = f"{answer.answer_id}-faithful-{position}"
        made = []
        for kind in KINDS:
            if counts[kind] >= count_per_kind:
                continue
            text = _apply(kind, sentence, context, stream, pool)
            if text is not None:
                counts[kind] += 1
                made.append(MadeAnswer(_replace(answer, f"{origin}-{kind}", text, kind), kind, origin))
        if made:
            yield MadeAnswer(_replace(answer, origin, sentence, None), None, origin)
            yield from made


def _apply(kind: str, sentence: str, context: Sequence[str], stream: Random, pool: Sequence[str]) -> str | None:
    if kind == BORROWED:
        return next((text for text in pool if text != sentence), None)
    fault = faults.perturb(sentence, kind, context, stream, pool)
    return fault.text if fault else None


def _read_sentences(answers: Sequence[LabelledAnswer], seed: int) -> Iterator[tuple[LabelledAnswer, str]]:
    """Yield the sentences in the order of a hash, so that the first ones are a random part of the set."""
    found = [(answer, text) for answer in answers for text in _split(answer.answer) if len(text) >= _SHORTEST]
    yield from sorted(found, key=lambda each: hashlib.md5(f"{seed}|{each[0].answer_id}|{each[1]}".encode(),
                                                          usedforsecurity=False).hexdigest())  # fmt: skip


def _split(text: str) -> list[str]:
    return [text[start:end] for start, end in split_sentences(text)]


def _replace(answer: LabelledAnswer, answer_id: str, text: str, kind: str | None) -> LabelledAnswer:
    is_contradicted = None if kind is not None and kind not in CONTRADICTING else kind is not None
    return replace(answer, answer_id=answer_id, answer=text, is_bad=kind is not None, is_contradicted=is_contradicted)
