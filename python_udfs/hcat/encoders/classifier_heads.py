"""Classify sentences with linear heads on stored embeddings, at the cost of one product per sentence.

A head is a logistic regression with a quadratic penalty. The penalty has a shrinkage term and a swap term. The swap
term acts on each direction in which an embedding moves if only an identity term or a name is swapped. With D the rows
"embedding of a made sentence minus the mean of its swaps", it is ``swap_penalty * w' D'D / n w``. It keeps the score
from depending on who is mentioned (the quadratic form of counterfactual logit pairing, Garg et al. 2019).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from hcat.engine.devices import ModelError
from hcat.engine.keys import hash_file
from hcat.statistics.arrays import Floats

FOLDER = Path(__file__).parent / "weights"

_NEWTON_STEPS = 30
_TOLERANCE = 1e-8
_LEAST_CURVATURE = 1e-9


@dataclass(frozen=True, slots=True)
class Head:
    """A fitted linear head, with its card; the encoder is that whose unit vectors it reads.

    Examples
    --------
    >>> head = Head("example", "1", "", "", np.array([2.0, 0.0]), -2.0)
    >>> head.score(np.array([[1.0, 0.0]])).tolist()
    [0.5]
    """

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
        return logistic(np.einsum("ij,j->i", vectors, self.weights) + self.intercept)


def logistic(values: Floats) -> Floats:
    """Return 1 / (1 + exp(-values)) without overflow, in the same shape."""
    return np.asarray(0.5 * (1.0 + np.tanh(0.5 * np.asarray(values, dtype=np.float64))))


def fit_head(
    embeddings: npt.NDArray[np.floating],
    labels: npt.NDArray[np.floating],
    weights: npt.NDArray[np.floating],
    penalty: Floats,
) -> tuple[Floats, float]:
    """Return (coefficients, intercept) that minimise the weighted log loss plus ``w' penalty w / 2``."""
    vectors = np.column_stack([np.asarray(embeddings, dtype=np.float64), np.ones(len(embeddings))])
    targets, shares = np.asarray(labels, dtype=np.float64), np.asarray(weights, dtype=np.float64)
    dimensions = vectors.shape[1] - 1
    if targets.shape != (len(vectors),) or shares.shape != (len(vectors),) or penalty.shape != (dimensions,) * 2:
        raise ValueError(
            f"expected {len(vectors)} labels and weights and a penalty of shape {(dimensions,) * 2}, got "
            f"{targets.shape}, {shares.shape} and {penalty.shape}"
        )
    if targets.min() < 0 or targets.max() > 1:
        raise ValueError(f"labels must lie in [0, 1], got {targets.min()} to {targets.max()}")
    if shares.min() < 0 or shares.sum() <= 0:
        raise ValueError(f"weights must be at least 0 with a positive sum, got {shares.min()} and {shares.sum()}")
    shares = shares / shares.sum()
    charged = np.zeros((dimensions + 1, dimensions + 1))
    charged[:dimensions, :dimensions] = penalty
    solution = np.zeros(dimensions + 1)
    for _ in range(_NEWTON_STEPS):
        scores = logistic(vectors @ solution)
        gradient = vectors.T @ (shares * (scores - targets)) + charged @ solution
        curvature = shares * np.maximum(scores * (1 - scores), _LEAST_CURVATURE)
        hessian = (vectors * curvature[:, None]).T @ vectors + charged
        step = np.linalg.solve(hessian, gradient)
        solution = solution - step
        if float(np.abs(step).max()) < _TOLERANCE:
            break
    return solution[:dimensions], float(solution[dimensions])


def swap_directions(embeddings: npt.NDArray[np.floating], groups: npt.NDArray[np.int64]) -> Floats:
    """Return D'D / n, shape (d, d): how embeddings move within groups that differ only in the swapped words."""
    vectors = np.asarray(embeddings, dtype=np.float64)
    _, index = np.unique(groups, return_inverse=True)
    sums = np.zeros((int(index.max()) + 1, vectors.shape[1]))
    np.add.at(sums, index, vectors)
    moved = vectors - (sums / np.bincount(index)[:, None])[index]
    return np.asarray(moved.T @ moved / len(vectors))


def balance(labels: npt.NDArray[np.floating], total: float, negative_share: float) -> Floats:
    """Return weights of sum ``total``, shape (n,), of which class 0 has ``negative_share``."""
    positive = np.asarray(labels) >= 0.5
    if positive.all() or not positive.any():
        return np.full(len(positive), total / len(positive))
    count = int(positive.sum())
    return np.where(positive, total * (1 - negative_share) / count, total * negative_share / (len(positive) - count))


def save_head(folder: Path, coefficients: Floats, intercept: float, card: dict[str, object]) -> None:
    """Write ``head.npy`` and ``card.json``; the card gets the SHA-256 of the weights."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "head.npy"
    np.save(path, np.append(coefficients, intercept).astype(np.float32))
    text = json.dumps(card | {"weights_sha256": hash_file(path)}, indent=1, sort_keys=True)
    (folder / "card.json").write_text(text + "\n", encoding="utf-8")


@cache
def load_head(name: str) -> Head:
    """Return a shipped head, loaded once per process from its folder in ``hcat/encoders/weights``."""
    folder = FOLDER / name
    card = json.loads((folder / "card.json").read_text(encoding="utf-8"))
    sha256 = hash_file(folder / "head.npy")
    if sha256 != card["weights_sha256"]:
        raise ModelError(f"{name}: weights must have SHA-256 {card['weights_sha256']}, got {sha256}")
    values = np.load(folder / "head.npy", allow_pickle=False).astype(np.float64)
    return Head(card["name"], card["revision"], sha256, card["encoder_sha256"], values[:-1], float(values[-1]))
