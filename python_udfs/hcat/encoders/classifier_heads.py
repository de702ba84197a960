"""Classify sentences with linear heads on stored embeddings, at the cost of one product per sentence.

A head is a logistic regression with a quadratic penalty. The penalty has a shrinkage term and a swap term. The swap
term acts on each direction in which an embedding moves if only an identity term or a name is swapped. With D the rows
"embedding of a made sentence minus the mean of its swaps", it is ``swap_penalty * w' D'D / n w``. It keeps the score
from depending on who is mentioned (the quadratic form of counterfactual logit pairing, Garg et al. 2019).
"""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass
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
_lock = threading.Lock()
_loaded: dict[str, Head] = {}


@dataclass(frozen=True, slots=True)
class Head:
    """A fitted linear head.

    Attributes
    ----------
    name, revision : str
        Name and revision on the card.
    sha256 : str
        SHA-256 of the file of weights; empty if the head was not loaded from a file.
    encoder_sha256 : str
        SHA-256 of the weights of the encoder whose unit vectors the head reads.
    weights : ndarray of float64, shape (dimensions,)
    intercept : float

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
        """Return the probability of the positive class for each embedding, shape (n,), 0 to 1.

        Raises
        ------
        ValueError
            If the embeddings do not have as many dimensions as the head.
        """
        vectors = np.asarray(embeddings, dtype=np.float64)
        if vectors.ndim != 2 or vectors.shape[1] != len(self.weights):
            raise ValueError(f"embeddings must have shape (n, {len(self.weights)}), got {vectors.shape}")
        # Summed row by row, because the last bit of a matrix product may depend on the size of the batch.
        return logistic(np.einsum("ij,j->i", vectors, self.weights) + self.intercept)


def logistic(values: Floats) -> Floats:
    """Return 1 / (1 + exp(-values)) without overflow, in the same shape.

    Examples
    --------
    >>> logistic(np.array([-1000.0, 0.0, 1000.0])).tolist()
    [0.0, 0.5, 1.0]
    """
    return np.asarray(0.5 * (1.0 + np.tanh(0.5 * np.asarray(values, dtype=np.float64))))


def fit_head(
    embeddings: npt.NDArray[np.floating],
    labels: npt.NDArray[np.floating],
    weights: npt.NDArray[np.floating],
    penalty: Floats,
) -> tuple[Floats, float]:
    """Return (coefficients, intercept) that minimise the weighted log loss plus ``w' penalty w / 2``.

    Newton's method starts from zero, so that the same input gives the same bits.

    Parameters
    ----------
    embeddings : ndarray, shape (n, d)
    labels : ndarray, shape (n,)
        0 to 1; a value in between is a soft label.
    weights : ndarray, shape (n,)
        At least 0; they are scaled to a sum of 1.
    penalty : ndarray, shape (d, d)
        Positive definite; the intercept is free.

    Raises
    ------
    ValueError
        If shapes differ, a label is outside [0, 1], a weight is negative, or no weight is positive.

    Examples
    --------
    Three of four labels are 1 and the embeddings are equal to zero: the intercept is log(3 / 1).

    >>> coefficients, intercept = fit_head(np.zeros((4, 1)), np.array([1, 1, 1, 0]), np.ones(4), np.eye(1))
    >>> coefficients.tolist(), round(intercept, 6)
    ([0.0], 1.098612)
    """
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
    """Return D'D / n, shape (d, d): how embeddings move within groups that differ only in the swapped words.

    Parameters
    ----------
    embeddings : ndarray, shape (n, d)
    groups : ndarray of int, shape (n,)
        Number of the frame that each sentence was made of.

    Examples
    --------
    >>> swap_directions(np.array([[1.0, 0.0], [3.0, 0.0]]), np.array([7, 7])).tolist()
    [[1.0, 0.0], [0.0, 0.0]]
    """
    vectors = np.asarray(embeddings, dtype=np.float64)
    _, index = np.unique(groups, return_inverse=True)
    sums = np.zeros((int(index.max()) + 1, vectors.shape[1]))
    np.add.at(sums, index, vectors)
    moved = vectors - (sums / np.bincount(index)[:, None])[index]
    return np.asarray(moved.T @ moved / len(vectors))


def balance(labels: npt.NDArray[np.floating], total: float, negative_share: float) -> Floats:
    """Return weights of sum ``total``, shape (n,), of which class 0 has ``negative_share``.

    If there is only one class, it has the whole total.

    Parameters
    ----------
    labels : ndarray, shape (n,)
        Class 1 from 0.5 on, else class 0.
    total : float
        Sum of all weights.
    negative_share : float
        Share of class 0, 0 to 1.

    Examples
    --------
    >>> balance(np.array([1, 0, 0]), 1.0, 0.5).tolist()
    [0.5, 0.25, 0.25]
    """
    positive = np.asarray(labels) >= 0.5
    if positive.all() or not positive.any():
        return np.full(len(positive), total / len(positive))
    count = int(positive.sum())
    return np.where(positive, total * (1 - negative_share) / count, total * negative_share / (len(positive) - count))


def save_head(folder: Path, coefficients: Floats, intercept: float, card: dict[str, object]) -> None:
    """Write ``head.npy`` and ``card.json``; the card gets the SHA-256 of the weights.

    Parameters
    ----------
    folder : Path
        Created if it is missing.
    coefficients : ndarray, shape (d,)
    intercept : float
    card : dict
        Other fields of the card.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "head.npy"
    np.save(path, np.append(coefficients, intercept).astype(np.float32))
    text = json.dumps(card | {"weights_sha256": hash_file(path)}, indent=1, sort_keys=True)
    (folder / "card.json").write_text(text + "\n", encoding="utf-8")


def load_head(name: str) -> Head:
    """Return a shipped head, loaded once per process from its folder in ``hcat/encoders/weights``.

    Raises
    ------
    ModelError
        If the weights do not have the SHA-256 on their card.
    """
    with _lock:
        if name not in _loaded:
            folder = FOLDER / name
            card = json.loads((folder / "card.json").read_text(encoding="utf-8"))
            sha256 = hash_file(folder / "head.npy")
            if sha256 != card["weights_sha256"]:
                raise ModelError(f"{name}: weights must have SHA-256 {card['weights_sha256']}, got {sha256}")
            values = np.load(folder / "head.npy", allow_pickle=False).astype(np.float64)
            _loaded[name] = Head(
                card["name"], card["revision"], sha256, card["encoder_sha256"], values[:-1], float(values[-1])
            )
        return _loaded[name]
