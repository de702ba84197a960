"""Labelled answers as a bank would have them: a sample of rows from clusters of very uneven size.

The population has 600 clusters whose sizes fall as 1 / rank, the largest a tenth of all rows. People label some rows.
In the stratified designs a row of the larger half of the clusters is drawn a third as often as another row, and labels
weigh by 1 / inclusion probability. Scores of failed answers are N(0, 1) and those of accepted ones N(d, 1), with
d = sqrt(2) z(AUROC); a share of the variance belongs to the cluster, so that the true rate of any threshold is known.
"""

from typing import Final, NamedTuple

import numpy as np

from benchmarks.promises.common import failure_probabilities, zipf_sizes
from hcat.statistics.arrays import Flags, Floats, Integers
from hcat.statistics.intervals import normal_quantile

COUNT_CLUSTERS: Final = 600
#: Inclusion probability of a row of a large cluster, over that of another row.
LARGE_SHARE: Final = 1 / 3


class Labels(NamedTuple):
    """Labelled rows: score, does it fail, cluster, and 1 / inclusion probability."""

    scores: Floats
    is_failing: Flags
    clusters: Integers
    weights: Floats


class Design(NamedTuple):
    """One design, in the order in which it is described."""

    count_labels: int
    auroc: float
    rate: float
    likeness: float
    is_stratified: bool

    @property
    def distance(self) -> float:
        """Return d of the module."""
        return float(np.sqrt(2)) * normal_quantile(self.auroc)

    def describe(self) -> str:
        """Return the design in words."""
        sampling = "stratified sample with weights" if self.is_stratified else "plain sample"
        return (
            f"{self.count_labels} labels, AUROC {self.auroc:.2f}, {self.rate:.0%} failing, likeness of siblings "
            f"{self.likeness}, {sampling}"
        )


class Population:
    """Clusters, their sizes and the inclusion probabilities of their rows, the same in every run of a design."""

    def __init__(self, design: Design) -> None:
        self.design = design
        sizes = zipf_sizes(np.random.default_rng(1), COUNT_CLUSTERS)
        self.clusters: Integers = np.repeat(np.arange(COUNT_CLUSTERS), sizes)
        relative = np.ones(len(self.clusters))
        if design.is_stratified:
            relative = np.where(sizes[self.clusters] > np.median(sizes), LARGE_SHARE, 1.0)
        self.inclusion: Floats = relative * design.count_labels / relative.sum()

    def draw(self, random: np.random.Generator) -> Labels:
        """Return a sample of labels; failures and scores of the population are drawn afresh."""
        design = self.design
        chosen = random.choice(len(self.clusters), design.count_labels, False, self.inclusion / self.inclusion.sum())
        clusters = self.clusters[chosen]
        probabilities = failure_probabilities(random, design.rate, design.likeness, COUNT_CLUSTERS)
        is_failing = random.random(len(clusters)) < probabilities[clusters]
        shared = random.normal(size=COUNT_CLUSTERS)[clusters]
        noise = np.sqrt(design.likeness) * shared + np.sqrt(1 - design.likeness) * random.normal(size=len(clusters))
        scores = np.where(is_failing, 0.0, design.distance) + noise
        return Labels(scores, is_failing, clusters, 1 / self.inclusion[chosen])
