"""Topics of texts from their vectors: smooth, reduce, cluster, name, compare."""

import re
import threading
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from hcat.language.given_names import all_given_names, given_names, surnames
from hcat.language.text import content_words
from hcat.statistics.arrays import Floats, Vectors
from hcat.statistics.arrays import Integers as Labels

METHODS: Final = ("k_means", "dbscan", "hdbscan")

#: Label of texts that belong to no cluster.
NOISE: Final = -1

#: Starts of k-means; the best result is kept.
COUNT_STARTS: Final = 10
#: How many numbers of clusters are tried when none is given, evenly spaced on a logarithmic scale.
COUNT_TRIED: Final = 10
#: Rows from which a silhouette is computed, because its cost grows with their square.
SILHOUETTE_ROWS: Final = 2000
#: Rows whose neighbours are found at once, which bounds the memory of the similarities.
BLOCK_ROWS: Final = 512
#: Neighbours of UMAP, the default of its authors (McInnes, Healy and Melville 2018).
UMAP_NEIGHBOURS: Final = 15
#: Share of the texts in each sample that stability is measured on.
SUBSAMPLE_SHARE: Final = 0.8
#: A later text joins a cluster from the similarity at this quantile of its members.
MEMBER_QUANTILE: Final = 0.05
#: A word with this many digits in a row names no topic, because it may be somebody's number.
_LONG_NUMBER: Final = re.compile(r"\d{5}")
_LOWER_CASE_WORD: Final = re.compile(r"\b[a-z]+\b")

_thread_limit_lock = threading.RLock()


@dataclass(frozen=True, slots=True)
class TopicSettings:
    """How vectors become topics."""

    random_seed: int
    method: str = "k_means"
    reduction: str = "pca"
    #: After the reduction. Distances in several hundred dimensions carry less information and cost more to cluster.
    count_dimensions: int = 50
    #: Of the mean of its document in the vector of a chunk: its siblings say what a chunk is about.
    document_share: float = 0.5
    #: Nearest neighbours with which a vector is averaged before the reduction.
    count_neighbours: int = 10
    #: 0 = the silhouette chooses between the bounds.
    count_topics: int = 0
    count_bounds: tuple[int, int] = (4, 40)
    #: The smallest topic of HDBSCAN, or the neighbours of a core point of DBSCAN.
    minimum_texts: int = 15
    #: Radius of DBSCAN in the reduced space; 0 = the knee of the sorted distances.
    neighbourhood_distance: float = 0.0

    def __post_init__(self) -> None:
        for name, known in (("method", METHODS), ("reduction", ("pca", "umap", "none"))):
            if getattr(self, name) not in known:
                asked = getattr(self, name)
                raise ValueError(f"hcat_topic_method: the {name} must be one of {', '.join(known)}, got {asked!r}")


class Clustering(NamedTuple):
    """Result of one clustering."""

    labels: Labels
    space: Floats


def cluster_vectors(vectors: Vectors, settings: TopicSettings, random_seed: int | None = None) -> Clustering:
    """Return the clusters of unit vectors."""
    seed = (settings.random_seed if random_seed is None else random_seed) % 2**32
    with one_thread():
        space = reduce_vectors(smooth_vectors(vectors, settings.count_neighbours), settings, seed)
        return Clustering(order_labels(_label(space, settings, seed)), space)


def pull_to_documents(vectors: Vectors, documents: Sequence[str | None], share: float) -> Vectors:
    """Return each unit vector moved towards the mean of its document, at unit length again."""
    if share == 0 or not len(vectors):
        return vectors
    names, numbers = np.unique([name or f" {row}" for row, name in enumerate(documents)], return_inverse=True)
    sums = np.zeros((len(names), vectors.shape[1]))
    np.add.at(sums, numbers, vectors.astype(np.float64))
    means = (sums / np.bincount(numbers)[:, None])[numbers]
    return unit_rows(((1 - share) * vectors + share * means).astype(np.float32))


def smooth_vectors(vectors: Vectors, count_neighbours: int) -> Vectors:
    """Return each unit vector averaged with its nearest neighbours by cosine, at unit length again."""
    count = min(count_neighbours, len(vectors) - 1)
    if count < 1:
        return vectors
    smoothed = np.empty_like(vectors)
    for start in range(0, len(vectors), BLOCK_ROWS):
        similarities = vectors[start : start + BLOCK_ROWS] @ vectors.T
        # the vector itself is among its nearest, unless copies tie with it, and copies have the same vector
        nearest = np.argpartition(-similarities, count, axis=1)[:, : count + 1]
        smoothed[start : start + BLOCK_ROWS] = vectors[nearest].mean(axis=1)
    return unit_rows(smoothed)


def reduce_vectors(vectors: Vectors, settings: TopicSettings, random_seed: int) -> Floats:
    """Return vectors in fewer dimensions, shape (n, at most ``count_dimensions``)."""
    count = min(settings.count_dimensions, vectors.shape[1], len(vectors))
    # umap starts from that many eigenvectors, which needs more rows than dimensions
    if settings.reduction == "none" or len(vectors) < 2 or (settings.reduction == "umap" and len(vectors) < count + 3):
        return vectors.astype(np.float64)
    if settings.reduction == "pca":
        from sklearn.decomposition import PCA

        # copies of one text have no variance, and its share would be 0 / 0
        with np.errstate(invalid="ignore"):
            return np.asarray(PCA(count, svd_solver="covariance_eigh").fit_transform(vectors.astype(np.float64)))
    try:
        from umap import UMAP  # type: ignore[import-not-found, unused-ignore]
    except ImportError as error:
        raise ValueError(
            "reduction 'umap' needs umap-learn, which is not installed: pip install umap-learn, or choose pca"
        ) from error
    neighbours = min(UMAP_NEIGHBOURS, len(vectors) - 1)
    model = UMAP(neighbours, count, metric="cosine", min_dist=0.0, random_state=random_seed, n_jobs=1)
    return np.asarray(model.fit_transform(vectors), dtype=np.float64)


def choose_count(space: Floats, bounds: Sequence[int], minimum_texts: int, random_seed: int) -> int:
    """Return the number of k-means clusters with the largest silhouette (Rousseeuw 1987), the smallest of equals."""
    affordable = max(bounds[0], len(space) // minimum_texts)
    largest = min(bounds[1], affordable, len(np.unique(space.round(6), axis=0)) - 1)
    if largest <= bounds[0]:
        return min(bounds[0], max(largest + 1, 1))
    tried = np.unique(np.geomspace(bounds[0], largest, COUNT_TRIED).round().astype(int)).tolist()
    # one start is enough to compare numbers; the fit that follows takes the best of several
    quality = [_silhouette(space, _k_means(space, count, random_seed, 1), random_seed) for count in tried]
    return int(tried[int(np.argmax(np.round(np.nan_to_num(quality, nan=-1.0), 9)))])


def measure_silhouette(clustering: Clustering, random_seed: int) -> float:
    """Return the mean silhouette of the clustered texts in [-1, 1], without noise; NaN with fewer than two clusters."""
    is_clustered = clustering.labels != NOISE
    with one_thread():
        return _silhouette(clustering.space[is_clustered], clustering.labels[is_clustered], random_seed % 2**32)


def knee_distance(space: Floats, minimum_texts: int) -> float:
    """Return the radius of DBSCAN at the knee of the sorted distances to the neighbour that makes a core point."""
    from sklearn.neighbors import NearestNeighbors

    count = min(minimum_texts, len(space))
    distances, _ = NearestNeighbors(n_neighbors=count).fit(space).kneighbors(space)
    curve = np.sort(distances[:, -1])
    line = np.linspace(curve[0], curve[-1], len(curve))
    return float(curve[int(np.argmax(np.round(line - curve, 12)))])


def measure_stability(
    vectors: Vectors, settings: TopicSettings, count_fits: int
) -> Iterator[tuple[str, int, int, float]]:
    """Yield (variation, first fit, second fit, adjusted Rand index) for each pair of fits that vary in one respect."""
    from sklearn.metrics import adjusted_rand_score

    every = np.arange(len(vectors))
    size = max(1, round(SUBSAMPLE_SHARE * len(vectors)))
    for variation in ("seed", "sample"):
        fits = []
        for number in range(count_fits):
            seed = settings.random_seed + (number if variation == "seed" else 0)
            draw = np.random.default_rng([settings.random_seed % 2**32, number])
            rows = every if variation == "seed" else np.sort(draw.permutation(len(vectors))[:size])
            labels = np.full(len(vectors), NOISE - 1)
            labels[rows] = cluster_vectors(vectors[rows], settings, seed).labels
            fits.append(labels)
        for first, second in combinations(range(count_fits), 2):
            shared = (fits[first] >= NOISE) & (fits[second] >= NOISE)
            agreement = adjusted_rand_score(fits[first][shared], fits[second][shared])
            yield variation, first + 1, second + 1, float(agreement)


def find_centres(vectors: Vectors, labels: Labels) -> Floats:
    """Return the mean vector of each cluster, shape (clusters, d); the tighter a cluster, the longer its mean."""
    count = int(labels.max(initial=NOISE)) + 1
    means = [vectors[labels == label].mean(axis=0, dtype=np.float64) for label in range(count)]
    return np.array(means).reshape(count, vectors.shape[1])


def match_centres(earlier: Floats, later: Floats, least_similarity: float) -> dict[int, tuple[int, float]]:
    """Return later cluster -> (earlier cluster, cosine) for the pairs that are one topic."""
    if not len(earlier) or not len(later):
        return {}
    from scipy.optimize import linear_sum_assignment

    cosines = unit_rows(later) @ unit_rows(earlier).T
    gains = np.where(cosines.round(9) >= least_similarity, cosines, 0.0)
    rows, columns = linear_sum_assignment(-gains)
    pairs = zip(rows.tolist(), columns.tolist(), strict=True)
    return {row: (column, float(cosines[row, column])) for row, column in pairs if gains[row, column] > 0}


def find_people(texts: Sequence[str]) -> frozenset[str]:
    """Return the words, case-folded, that count as names of people in these texts."""
    in_lower_case = {word for text in texts for word in _LOWER_CASE_WORD.findall(text)}
    return frozenset(given_names() | ((all_given_names() | surnames()) - in_lower_case))


def is_telling(word: str, people: Collection[str]) -> bool:
    """Return whether a case-folded word may name a topic: no short word, no name of a person and no long number."""
    return (
        len(word) > 2
        and any(map(str.isalpha, word))
        and word.removesuffix("'s") not in people
        and not _LONG_NUMBER.search(word)
    )


def count_words(texts: Sequence[str], labels: Labels, count_topics: int) -> list[Counter[str]]:
    """Return, for each cluster, the content words that may name it (:func:`is_telling`) with their frequencies."""
    counts = [Counter[str]() for _ in range(count_topics)]
    people = find_people(texts)
    for text, label in zip(texts, labels.tolist(), strict=True):
        if label != NOISE:
            counts[label].update(word for word in content_words(text) if is_telling(word, people))
    return counts


def weigh_words(counts: Sequence[Counter[str]], count_words: int) -> list[list[tuple[str, float]]]:
    """Return the words that distinguish each cluster, with their weights from the largest."""
    total = sum(counts, Counter[str]())
    average = sum(total.values()) / max(len(counts), 1)
    weighed = []
    for count in counts:
        words = sum(count.values()) or 1
        weights = {word: times / words * float(np.log1p(average / total[word])) for word, times in count.items()}
        weighed.append(sorted(weights.items(), key=lambda item: (-item[1], item[0]))[:count_words])
    return weighed


def find_picture_axes(vectors: Vectors) -> tuple[Floats, Floats]:
    """Return origin, shape (2,), and axes, shape (2, d), of a picture of the vectors."""
    axes = np.zeros((2, vectors.shape[1]))
    count = min(2, len(vectors) - 1, vectors.shape[1])
    if count >= 1:
        from sklearn.decomposition import PCA

        with one_thread(), np.errstate(invalid="ignore"):
            axes[:count] = PCA(count, svd_solver="covariance_eigh").fit(vectors.astype(np.float64)).components_
    return axes @ vectors.mean(axis=0, dtype=np.float64), axes


def unit_rows(vectors: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return rows scaled to unit length; a row of zeros stays zero."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True).astype(vectors.dtype)
    return np.asarray(vectors / np.maximum(lengths, 1e-12))


@contextmanager
def one_thread() -> Iterator[None]:
    """Restrict numerical libraries to one thread, because sums shared by several threads differ in the last digits."""
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    with _thread_limit_lock, threadpool_limits(limits=1):
        yield


def _label(space: Floats, settings: TopicSettings, random_seed: int) -> Labels:
    if not len(space):
        return np.empty(0, dtype=np.int64)
    if settings.method == "k_means":
        count = settings.count_topics or choose_count(space, settings.count_bounds, settings.minimum_texts, random_seed)
        return _k_means(space, count, random_seed, COUNT_STARTS)
    if len(space) < settings.minimum_texts:
        return np.full(len(space), NOISE, dtype=np.int64)
    if settings.method == "dbscan":
        from sklearn.cluster import DBSCAN

        radius = settings.neighbourhood_distance or knee_distance(space, settings.minimum_texts)
        # the library refuses a radius of zero, which occurs if all texts are copies
        model = DBSCAN(eps=max(radius, 1e-9), min_samples=settings.minimum_texts)
    else:
        from sklearn.cluster import HDBSCAN

        model = HDBSCAN(min_cluster_size=settings.minimum_texts, copy=True)
    return np.asarray(np.maximum(model.fit(space).labels_.astype(np.int64), NOISE))


def _k_means(space: Floats, count_topics: int, random_seed: int, count_starts: int) -> Labels:
    from sklearn.cluster import KMeans

    count = min(count_topics, len(np.unique(space.round(6), axis=0)))
    model = KMeans(count, n_init=count_starts, random_state=random_seed)
    return np.asarray(model.fit(space).labels_, dtype=np.int64)


def _silhouette(space: Floats, labels: Labels, random_seed: int) -> float:
    from sklearn.metrics import silhouette_score

    if len(space) > SILHOUETTE_ROWS:
        rows = np.sort(np.random.default_rng(random_seed).permutation(len(space))[:SILHOUETTE_ROWS])
        space, labels = space[rows], labels[rows]
    count = len(np.unique(labels))
    return float(silhouette_score(space, labels)) if 2 <= count < len(space) else float("nan")


def order_labels(labels: Labels) -> Labels:
    """Return labels renumbered from the largest cluster; of equal clusters, the one met first comes first."""
    names, first_rows, sizes = np.unique(labels, return_index=True, return_counts=True)
    order = [name for name in names[np.lexsort((first_rows, -sizes))].tolist() if name != NOISE]
    numbers = {name: number for number, name in enumerate(order)} | {NOISE: NOISE}
    return np.array([numbers[label] for label in labels.tolist()], dtype=np.int64)
