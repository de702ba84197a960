"""What the parts share: a measured promise with its Monte Carlo error, and clusters that are hard on statistics."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from hcat.statistics.arrays import Flags, Floats, Integers

#: Largest share of all rows that one cluster of a Zipf design holds.
LARGEST_SHARE = 0.1
#: Mean rows of a cluster.
ROWS_PER_CLUSTER = 5
#: A promise is kept where the Monte Carlo bound of the measured value lies within this of the limit.
MARGIN = 0.01


@dataclass(frozen=True, slots=True)
class Promise:
    """One promise under one design."""

    #: What is promised, in words that a validator reads; promises of one text share a table.
    promise: str
    #: How the data were made.
    design: str
    #: A share of runs, or another mean over runs.
    measured: float
    #: Its Monte Carlo standard error.
    error: float
    count_runs: int
    #: What the measured value must reach and not exceed; None = no limit on that side.
    low: float | None = None
    high: float | None = None
    #: What else a reader must know, for instance the width of the interval beside another one.
    note: str = ""

    @property
    def has_limit(self) -> bool:
        """Whether anything is promised."""
        return self.low is not None or self.high is not None

    @property
    def is_kept(self) -> bool:
        """Whether the value is inside its limits even if it is off by two Monte Carlo errors."""
        return self.excess(2 * self.error) <= MARGIN

    def excess(self, slack: float) -> float:
        """Return how far the value, off by ``slack``, lies beyond its limits; negative = inside."""
        above = -math.inf if self.high is None else self.measured + slack - self.high
        below = -math.inf if self.low is None else self.low - self.measured + slack
        return max(above, below)


#: Designs by name: each takes a number of runs.
Designs = Mapping[str, Callable[[int], Sequence[Promise]]]


def promise_of_share(
    promise: str,
    design: str,
    hits: Sequence[bool] | Flags,
    low: float | None = None,
    high: float | None = None,
    note: str = "",
) -> Promise:
    """Return the promise about the share of runs that are hits, with the binomial error of the simulation.

    The error is that of (hits + 1) / (runs + 2), because no hit in 40 runs does not show that there are none.
    """
    count = len(hits)
    smoothed = (float(np.sum(hits)) + 1) / (count + 2)
    error = math.sqrt(smoothed * (1 - smoothed) / count)
    return Promise(promise, design, float(np.mean(hits)), error, count, low, high, note)


def promise_of_mean(
    promise: str,
    design: str,
    values: Sequence[float] | Floats,
    low: float | None = None,
    high: float | None = None,
    note: str = "",
) -> Promise:
    """Return the promise about the mean of one number per run."""
    of_runs = np.asarray(values, dtype=np.float64)
    count = len(of_runs)
    return Promise(
        promise, design, float(of_runs.mean()), float(of_runs.std(ddof=1)) / math.sqrt(count), count, low, high, note
    )


def equal_sizes(random: np.random.Generator, count_clusters: int) -> Integers:
    """Return clusters of :data:`ROWS_PER_CLUSTER` rows each, shape (count_clusters,)."""
    return np.full(count_clusters, ROWS_PER_CLUSTER)


def zipf_sizes(random: np.random.Generator, count_clusters: int) -> Integers:
    """Return rows by cluster that fall as 1 / rank, the largest with a tenth of all rows, shape (count_clusters,)."""
    shares = 1 / np.arange(1, count_clusters + 1)
    shares /= shares.sum()
    for _ in range(100):
        shares = np.minimum(shares, max(LARGEST_SHARE, 1 / count_clusters))
        shares /= shares.sum()
    rows: Integers = np.maximum(1, np.round(shares * count_clusters * ROWS_PER_CLUSTER)).astype(np.int64)
    return rows


def heavy_sizes(random: np.random.Generator, count_clusters: int) -> Integers:
    """Return log-normal rows by cluster (sd 1.2 of the logarithm), drawn afresh, shape (count_clusters,)."""
    rows: Integers = np.maximum(1, np.round(random.lognormal(0.8, 1.2, count_clusters))).astype(np.int64)
    return rows


def failure_probabilities(
    random: np.random.Generator, rate: float | Floats, likeness: float, count_clusters: int
) -> Floats:
    """Return the probability of a failure by cluster: beta with the mean rate and the correlation likeness."""
    spread = 1 / likeness - 1
    return random.beta(rate * spread, (1 - rate) * spread, count_clusters)


def failures_of_rows(random: np.random.Generator, probabilities: Floats, sizes: Integers) -> tuple[Flags, Integers]:
    """Return a failure or not for each row, and the cluster of each row, shapes (sum of sizes,)."""
    clusters = np.repeat(np.arange(len(sizes)), sizes)
    return random.random(len(clusters)) < probabilities[clusters], clusters
