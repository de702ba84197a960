"""Tell by its words what a sentence does, in six languages: it claims, talks, declines or refers elsewhere.

A linear head (training/wordings.py) reads hashed words, word openings, their pairs and groups of letters. It also reads
in which order words of like sense stand (wordings.yml), which the languages share. It needs no encoder, so that every
build reads refusals and talk alike.
"""

import re
import zlib
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
import yaml

from hcat.encoders.classifier_heads import load_card

NAME: Final = "wording_head"
BUCKETS: Final = 1 << 17
_WORD = re.compile(r"[^\W\d_]+|\d+|[?!:]")
_OPENING = 5
# Classes are read together up to this distance; longer sentences count alike.
_REACH, _LONG = 6, 7
_CLASSES = {
    word: name
    for name, words in reversed(yaml.safe_load(Path(__file__).with_suffix(".yml").read_text("utf-8")).items())
    for word in words.split()
}


class Wording(NamedTuple):
    """How probably a sentence claims, is talk, declines, or names somebody else to ask."""

    claim: float
    talk: float
    refusal: float
    referral: float


def hash_wording(sentence: str) -> tuple[npt.NDArray[np.int64], ...]:
    """Return the buckets of a sentence's words, pairs and groups of letters, and those of the order of its classes."""
    found = _WORD.findall(sentence.lower().replace("\u2019", "'"))
    words = ["^", *("0" if word[0].isdigit() else word for word in found), "$"]
    grams = set().union(*map(_hash_word, words), *map(_hash_pair, words, words[1:]))
    read = [_classify(word) for word in found]
    classes = ["^", *filter(None, read), "$"]
    orders = {f"k{name}" for name in classes}
    for place, name in enumerate(classes):
        orders.update(f"k{' '.join(classes[place : place + size])}" for size in (2, 3))
        orders.update(f"j{name} {later}" for later in classes[place + 1 : place + _REACH])
    orders |= {f"n{min(len(words) // 2, _LONG)}", f"u{min(read.count(''), _LONG)}"}
    return tuple(np.sort(np.fromiter(buckets, np.int64, len(buckets))) for buckets in (grams, _place(orders)))


def _place(grams: Iterable[str]) -> set[int]:
    return {zlib.crc32(gram.encode()) % BUCKETS for gram in grams}


@lru_cache(maxsize=1 << 14)
def _hash_word(word: str) -> set[int]:
    """Return the buckets of a word, its opening and its groups of letters; a frame of the sentence has no groups."""
    framed = f"<{word}>" if word not in "^$" else ""
    groups = (f"c{framed[start : start + n]}" for n in (3, 4) for start in range(len(framed) - n + 1))
    return _place([word, f"p{word[:_OPENING]}", *groups])


@lru_cache(maxsize=1 << 14)
def _hash_pair(first: str, second: str) -> set[int]:
    """Return the buckets of two words side by side, and of their openings."""
    return _place([f"{first} {second}", f"P{first[:_OPENING]} {second[:_OPENING]}"])


@lru_cache(maxsize=1 << 14)
def _classify(word: str) -> str:
    """Return the class of a word by its longest entry, or nothing."""
    starts = (f"{word[:size]}*" for size in range(len(word), 2, -1))
    return next((_CLASSES[entry] for entry in (word, *starts) if entry in _CLASSES), "")


@lru_cache(maxsize=1 << 14)
def read_wording(sentence: str) -> Wording:
    """Return what a sentence does, each as a probability."""
    _, _, weights = load_card(NAME)
    grams, orders = (
        np.add.reduce(weights.take(part, axis=0), axis=0, dtype=np.float64) / np.sqrt(len(part))
        for part in hash_wording(sentence)
    )
    scores = grams + orders + weights[BUCKETS]
    shares = np.exp(scores - scores.max())
    return Wording(*(shares / shares.sum()).tolist())
