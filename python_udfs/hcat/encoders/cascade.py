"""Read every pair with the compact classifier, and with the accurate one those that the compact one cannot settle.

The accurate classifier costs several times as much a pair, and most pairs are clear. The compact one overlooks
negations and numbers. A short answer that is read with its question is always read again. The rule was chosen on
labelled sets and with the demo in view (docs/model-card.md).
"""

import re
from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from hcat.encoders.distances import Distances
from hcat.language.bounds import LEAST, MOST
from hcat.language.features import extract_features
from hcat.language.text import split_sentences

#: Setting of the first and of the second reader.
FIRST: Final = "compact"
SECOND: Final = "accurate"

#: Version of the rule: part of the identity of the cascade, because other pairs give other scores.
RULE: Final = "2"

#: Probability of entailment between which the compact classifier is unsure. Below, the sentence has no support anyway.
UNSETTLED_ENTAILMENT: Final = (0.15, 0.7)

#: Logit of entailment of what its evidence states word for word; the other classes have 0. People found 214 of 216 such
#: public answers and sentences supported (docs/model-card.md), and it gives entailment .987.
STATED_LOGIT: Final = 5.0
_FEWEST_WORDS_STATED: Final = 4

_WORD = re.compile(r"[^\W_]+")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_NEGATION = re.compile(r"\b(?:no|not|never|none|neither|nor|cannot|without)\b|n['\u2019]t\b", re.IGNORECASE)


def is_stated(premise: str, claim: str) -> bool:
    """Return whether a premise states a claim of four words or more, whole sentences word for word.

    A part of a sentence is not stated: what stands around it may deny or limit it.

    Examples
    --------
    >>> is_stated("It is free. Coins cost 2 euros a roll.", "Coins cost 2 euros a roll.")
    True
    >>> is_stated("In no branch coins cost 2 euros a roll.", "coins cost 2 euros a roll.")
    False
    """
    is_long = len(claim.split()) >= _FEWEST_WORDS_STATED
    return is_long and set(_SENTENCE_END.split(claim)).issubset(_SENTENCE_END.split(premise))


def find_unsettled(premises: Sequence[str], claims: Sequence[str], first: Distances) -> npt.NDArray[np.bool_]:
    """Return which pairs the second classifier reads, shape (n,)."""
    low, high = UNSETTLED_ENTAILMENT
    entailment = first.probability_entailment
    unsettled: npt.NDArray[np.bool_] = (entailment > low) & (entailment < high)
    for row in np.flatnonzero(entailment >= high).tolist():
        unsettled[row] = differs_in_detail(premises[row], claims[row])
    return unsettled


def differs_in_detail(premise: str, claim: str) -> bool:
    """Return whether a sentence has other negations or bounds, or a number more, than the nearest of its premise."""
    words = _words(claim)
    sentences = [premise[start:end] for start, end in split_sentences(premise)] or [premise]
    nearest = max(sentences, key=lambda sentence: len(words & _words(sentence)))
    numbers = set(_NUMBER.findall(claim))
    has_other_negations = len(_NEGATION.findall(claim)) != len(_NEGATION.findall(nearest))
    has_more_numbers = not numbers.issubset(_NUMBER.findall(nearest))
    if not numbers or has_other_negations or has_more_numbers:
        return has_other_negations or has_more_numbers
    said, stated = ({each.bound for each in extract_features(text).number_mentions} for text in (claim, nearest))
    return {LEAST, MOST} <= said ^ stated


def _words(text: str) -> frozenset[str]:
    return frozenset(word.lower() for word in _WORD.findall(text))
