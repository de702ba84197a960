"""Tell by its words what a sentence does, in six languages: it claims, talks, declines or refers elsewhere.

A linear head reads hashed words, word openings, their pairs and groups of letters (training/wordings.py). It needs no
encoder, so that every build reads refusals and talk alike.
"""

import re
import zlib
from functools import lru_cache
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np

from hcat.encoders.classifier_heads import load_card

NAME: Final = "wording_head"
BUCKETS: Final = 1 << 15
_WORD = re.compile(r"[^\W\d_]+|\d+|[?!:]")
_OPENING = 5


class Wording(NamedTuple):
    """How probably a sentence claims, is talk, declines, or names somebody else to ask."""

    claim: float
    talk: float
    refusal: float
    referral: float


def hash_wording(sentence: str) -> list[int]:
    """Return the buckets of a sentence's words, of its pairs of words, and of groups of three and four letters."""
    found = _WORD.findall(sentence.lower().replace("\u2019", "'"))
    words = ["^", *("0" if word[0].isdigit() else word for word in found), "$"]
    openings = [word[:_OPENING] for word in words]
    grams = {*words, *(f"p{opening}" for opening in openings)}
    grams.update(f"{first} {second}" for first, second in pairwise(words))
    grams.update(f"P{first} {second}" for first, second in pairwise(openings))
    for word in words[1:-1]:
        framed = f"<{word}>"
        grams.update(f"c{framed[start : start + n]}" for n in (3, 4) for start in range(len(framed) - n + 1))
    return sorted({zlib.crc32(gram.encode()) % BUCKETS for gram in grams})


@lru_cache(maxsize=1 << 14)
def read_wording(sentence: str) -> Wording:
    """Return what a sentence does, each as a probability."""
    _, _, weights = load_card(NAME)
    buckets = hash_wording(sentence)
    scores = weights[buckets].sum(axis=0, dtype=np.float64) / np.sqrt(len(buckets)) + weights[BUCKETS]
    shares = np.exp(scores - scores.max())
    return Wording(*(shares / shares.sum()).tolist())
