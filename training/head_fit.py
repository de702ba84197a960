"""The fit of a linear head: a logistic regression whose penalty also charges what swapped words move."""

import json
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from hcat.engine.keys import hash_file
from hcat.statistics.arrays import Floats

_NEWTON_STEPS = 30
_TOLERANCE = 1e-8
_LEAST_CURVATURE = 1e-9


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
        scores = expit(vectors @ solution)
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
