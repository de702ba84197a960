"""Formulas that turn what a judge replied into a score; no model is called."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from hcat.language.text import clean_text, split_sentences


class Extraction(NamedTuple):
    """How much of a context was extracted."""

    score: float
    count_verbatim: int
    count_changed: int
    count_sentences: int


def mean_similarity(query: npt.NDArray[np.floating], questions: npt.NDArray[np.floating]) -> float:
    """Return the mean cosine of generated questions with the query, in [-1, 1] (Es et al. 2024, equation 1)."""
    cosines = np.clip(questions.astype(np.float64) @ query.astype(np.float64), -1.0, 1.0)
    return float(cosines.mean())


def share_extracted(extracted: Sequence[str], context_sentences: Sequence[str]) -> Extraction:
    """Return the share of a context that was extracted word for word (Es et al. 2024, equation 2)."""
    there = Counter(_fold(sentence) for sentence in context_sentences)
    said: Counter[str] = Counter()
    for item in extracted:
        whole = _fold(item)
        parts = [whole] if whole in there else [whole[start:end].strip() for start, end in split_sentences(whole)]
        said.update(part for part in parts if part)
    count_verbatim = sum(min(count, there[sentence]) for sentence, count in said.items())
    count_changed = sum(count for sentence, count in said.items() if sentence not in there)
    total = len(context_sentences)
    return Extraction(count_verbatim / total, count_verbatim, count_changed, total)


def _fold(text: str) -> str:
    return " ".join(clean_text(text).split())
