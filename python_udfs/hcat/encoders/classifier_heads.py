"""Classify sentences with linear heads on stored embeddings, at the cost of one product per sentence."""

import json
from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True)
class Head:
    """A fitted linear head, with its card; the encoder is that whose unit vectors it reads."""

    name: str
    revision: str
    sha256: str
    encoder_sha256: str
    weights: Floats
    intercept: float

    def score(self, embeddings: npt.NDArray[np.floating]) -> Floats:
        """Return the probability of the positive class for each embedding, shape (n,), 0 to 1."""
        vectors = np.asarray(embeddings, dtype=np.float64)
        if vectors.ndim != 2 or vectors.shape[1] != len(self.weights):
            raise ValueError(f"embeddings must have shape (n, {len(self.weights)}), got {vectors.shape}")
        # Summed row by row, because the last bit of a matrix product may depend on the size of the batch.
        return np.asarray(expit(np.einsum("ij,j->i", vectors, self.weights) + self.intercept))


@cache
def load_card(name: str) -> tuple[dict[str, Any], str, npt.NDArray[np.floating]]:
    """Return card, SHA-256 and weights of a shipped head, from its folder in ``hcat/encoders/weights``."""
    folder = FOLDER / name
    card = json.loads((folder / "card.json").read_text(encoding="utf-8"))
    sha256 = hash_file(folder / "head.npy")
    if sha256 != card["weights_sha256"]:
        raise ModelError(f"{name}: weights must have SHA-256 {card['weights_sha256']}, got {sha256}")
    return card, sha256, np.load(folder / "head.npy", allow_pickle=False)


@cache
def load_head(name: str) -> Head:
    """Return a shipped head on embeddings, loaded once per process."""
    card, sha256, weights = load_card(name)
    values = weights.astype(np.float64)
    return Head(card["name"], card["revision"], sha256, card["encoder_sha256"], values[:-1], float(values[-1]))
