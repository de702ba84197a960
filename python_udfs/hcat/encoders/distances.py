"""Measure entailment: whether a premise (evidence) supports a claim (answer sentence), and by what distance.

The distance is that of Sudjianto et al. 2024, section 3.2.2 (docs/metrics.md has the formulas).
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from scipy.special import expit, softmax

from hcat.engine.devices import ModelError
from hcat.statistics.arrays import Floats


class Head(NamedTuple):
    """What the distances need of the last linear layer: rows of classes, and weights, shape (n_classes, n_features)."""

    entailment: int
    contradiction: int | None
    weight: Floats


class Distances(NamedTuple):
    """Probabilities, distances and scores of pairs; every array has shape (n,)."""

    probability_entailment: Floats
    probability_contradiction: Floats | None
    logit_entailment: Floats
    weight_norm: Floats
    distance: Floats
    score: Floats
    margin: Floats


def measure_distances(logits: Floats, head: Head) -> Distances:
    """Return probabilities, margin and signed distance of each pair."""
    entailed = logits[:, head.entailment]
    if logits.shape[1] == 1:
        norm = np.full(len(logits), np.linalg.norm(head.weight[0]))
        distance = entailed / norm
        probability = expit(entailed)
        return Distances(probability, None, entailed, norm, distance, expit(distance), entailed)
    others = [index for index in range(logits.shape[1]) if index != head.entailment]
    norms = np.linalg.norm(head.weight[head.entailment] - head.weight[others], axis=1)
    differences = entailed[:, None] - logits[:, others]
    distances = differences / norms
    closest = distances.argmin(axis=1)
    rows = np.arange(len(logits))
    probabilities = softmax(logits, axis=1)
    distance = distances[rows, closest]
    return Distances(
        probabilities[:, head.entailment],
        None if head.contradiction is None else probabilities[:, head.contradiction],
        entailed,
        norms[closest],
        distance,
        expit(distance),
        differences.min(axis=1),
    )


def find_label(labels: Mapping[int, str], wanted: str) -> int | None:
    """Return the one class whose label starts like ``wanted`` in any case (ENTAILMENT, entail), else None."""
    stem = wanted.lower()[:6]
    found = [index for index, label in labels.items() if str(label).lower().strip().startswith(stem)]
    return found[0] if len(found) == 1 else None


def find_entailment(labels: Mapping[int, str]) -> int:
    """Return the entailment class by the label names of a model; no order of classes is assumed."""
    index = find_label(labels, "entailment")
    if index is None:
        listed = ", ".join(str(label) for label in labels.values())
        raise ModelError(f"classifier needs exactly one label that starts with 'entail', its config has: {listed}")
    return index
