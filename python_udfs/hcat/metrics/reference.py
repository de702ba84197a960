"""Compare an answer with a reference answer by its words: BLEU, ROUGE-L and exact match."""

import functools
import re
from typing import Any, Final

from hcat.language.features import extract_features
from hcat.language.mentions import claim
from hcat.language.text import CJK_CHARACTERS

BLEU_SMOOTHING: Final = "exp"
"""Smoothing of sentence BLEU in sacrebleu: orders without a match count as 1/2, 1/4, ... of a match (Chen and Cherry
2014, method 3)."""
_CJK_CHARACTER = re.compile(f"[{CJK_CHARACTERS}]")
_ROUGE_WORD = re.compile(rf"[{CJK_CHARACTERS}]|[^\W_{CJK_CHARACTERS}]+")
_MATCH_WORD = re.compile(rf"[{CJK_CHARACTERS}]|(?:[^\W{CJK_CHARACTERS}]|['\u2019](?=\w))+")
_PUNCTUATION = re.compile(r"[\W_]")


def bleu_2(candidate: str, reference: str) -> float:
    """Return the sentence BLEU of unigrams and bigrams, between 0 and 1."""
    if not candidate.strip() or not reference.strip():
        return 0.0
    score = _bleu().sentence_score(_set_cjk_apart(candidate), [_set_cjk_apart(reference)]).score
    return float(min(max(score / 100.0, 0.0), 1.0))


def rouge_l(candidate: str, reference: str) -> float:
    """Return ROUGE-L, the F1 of the longest common subsequence of words, between 0 and 1."""
    candidate_words = _ROUGE_WORD.findall(candidate.lower())
    reference_words = _ROUGE_WORD.findall(reference.lower())
    length = _longest_common_subsequence(candidate_words, reference_words)
    if length == 0:
        return 0.0
    precision = length / len(candidate_words)
    recall = length / len(reference_words)
    return 2 * precision * recall / (precision + recall)


def exact_match(candidate: str, reference: str) -> float:
    """Return 1.0 if two texts are equal after normalisation, else 0.0."""
    left = _comparable_parts(candidate)
    right = _comparable_parts(reference)
    if len(left) != len(right):
        return 0.0
    for (left_sign, left_keys), (right_sign, right_keys) in zip(left, right, strict=True):
        if left_sign != right_sign or (left_keys[0] not in right_keys and right_keys[0] not in left_keys):
            return 0.0
    return 1.0


@functools.cache
def _bleu() -> Any:
    from sacrebleu.metrics.bleu import BLEU  # imported on first use: sacrebleu takes a while

    return BLEU(max_ngram_order=2, smooth_method=BLEU_SMOOTHING, effective_order=True)


def _set_cjk_apart(text: str) -> str:
    return text if text.isascii() else _CJK_CHARACTER.sub(r" \g<0> ", text)


def _longest_common_subsequence(left: list[str], right: list[str]) -> int:
    """Return the length of the longest common subsequence, which is the number of zero bits of the final state."""
    positions: dict[str, int] = {}
    for position, word in enumerate(left):
        positions[word] = positions.get(word, 0) | (1 << position)
    everything = (1 << len(left)) - 1
    state = everything
    for word in right:
        matches = state & positions.get(word, 0)
        state = ((state + matches) | (state - matches)) & everything
    return len(left) - state.bit_count()


def _comparable_parts(text: str) -> list[tuple[str, tuple[str, ...]]]:
    """Return the words and numbers of a text in order, each as its sign and the forms that it may equal."""
    parts: list[tuple[int, str, tuple[str, ...]]] = []
    covered = bytearray(len(text))
    for mention in extract_features(text).number_mentions:
        value, _, unit = mention.keys[0].partition(" ")
        # A value without unit equals the value with any unit. Two units must be the same, except that a half is 50 %.
        keys = mention.keys[:1]
        if unit == "fraction":
            keys = mention.keys
        elif unit not in ("", "ordinal"):
            keys = (*keys, value)
        parts.append((mention.start, "-" if value.startswith("-") else "", keys))
        claim(mention.start, mention.end, covered)
    for match in _MATCH_WORD.finditer(text):
        word = _PUNCTUATION.sub("", match.group().casefold())
        if word and word not in ("a", "an", "the") and not covered[match.start()]:
            parts.append((match.start(), "", (word,)))
    return [(sign, keys) for _, sign, keys in sorted(parts)]
