"""Classify sentences with linear heads on stored embeddings, at the cost of one product per sentence."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from hcat.engine.devices import ModelError
from hcat.engine.keys import hash_file
from hcat.statistics.arrays import Floats

FOLDER = Path(__file__).parent / "weights"


@cache
def load_card(name: str) -> tuple[dict[str, Any], str, npt.NDArray[np.floating]]:
    """Return card, SHA-256 and weights of a shipped head, from its folder in ``hcat/encoders/weights``."""
    folder = FOLDER / name
    card = json.loads((folder / "card.json").read_text(encoding="utf-8"))
    sha256 = hash_file(folder / "head.npy")
    if sha256 != card["weights_sha256"]:
        raise ModelError(f"{name}: weights must have SHA-256 {card['weights_sha256']}, got {sha256}")
    return card, sha256, np.load(folder / "head.npy", allow_pickle=False)


def score_embeddings(name: str, embeddings: npt.NDArray[np.floating]) -> Floats:
    """Return the probability of the positive class of a head for each vector of its encoder, shape (n,), 0 to 1."""
    vectors, weights = np.asarray(embeddings, dtype=np.float64), load_card(name)[2].astype(np.float64)
    if vectors.ndim != 2 or vectors.shape[1] != len(weights) - 1:
        raise ValueError(f"embeddings must have shape (n, {len(weights) - 1}), got {vectors.shape}")
    # Summed row by row, because the last bit of a matrix product may depend on the size of the batch.
    return np.asarray(expit(np.einsum("ij,j->i", vectors, weights[:-1]) + weights[-1]))
