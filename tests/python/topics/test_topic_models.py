"""Topics from vectors: groups are found, words set them apart, ids are matched, stability is measured."""

import sys
from collections import Counter
from math import log1p
from typing import Any

import numpy as np
import pytest

from hcat.topics.models import (
    NOISE,
    TopicSettings,
    cluster_vectors,
    count_words,
    find_picture_axes,
    knee_distance,
    match_centres,
    measure_silhouette,
    measure_stability,
    smooth_vectors,
    unit_rows,
    weigh_words,
)


def make_settings(**changes: Any) -> TopicSettings:
    values = {
        "method": "k_means",
        "reduction": "pca",
        "count_dimensions": 5,
        "document_share": 0.0,
        "count_neighbours": 3,
        "count_topics": 0,
        "count_bounds": (2, 8),
        "minimum_texts": 5,
        "neighbourhood_distance": 0.0,
        "random_seed": 11,
    }
    return TopicSettings(**(values | changes))


def make_vectors(sizes: tuple[int, ...] = (30, 20, 10), spread: float = 0.1, dimensions: int = 12) -> Any:
    """Return unit vectors around one axis per group, shuffled, and the group of each."""
    generator = np.random.default_rng(3)
    groups = np.repeat(np.arange(len(sizes)), sizes)
    generator.shuffle(groups)
    vectors = np.eye(dimensions)[groups] + generator.normal(0, spread, (len(groups), dimensions))
    return unit_rows(vectors).astype(np.float32), groups


def test_the_number_of_topics_follows_the_silhouette() -> None:
    vectors, _ = make_vectors((20, 20, 20, 20, 20))
    clustering = cluster_vectors(vectors, make_settings())
    assert clustering.labels.max() == 4
    assert measure_silhouette(clustering, 1) > 0.5


@pytest.mark.parametrize("method", ["k_means", "dbscan", "hdbscan"])
@pytest.mark.parametrize("count", [0, 1, 2, 3, 6])
def test_few_texts_have_one_label_each(method: str, count: int) -> None:
    vectors, _ = make_vectors()
    labels = cluster_vectors(vectors[:count], make_settings(method=method)).labels
    assert len(labels) == count
    assert set(labels.tolist()) <= set(range(NOISE, count))


@pytest.mark.parametrize("method", ["k_means", "dbscan", "hdbscan"])
def test_copies_of_one_text_are_one_topic(method: str) -> None:
    vectors = np.repeat(make_vectors()[0][:1], 12, axis=0)
    assert len(set(cluster_vectors(vectors, make_settings(method=method)).labels.tolist())) == 1


def test_smoothing_is_the_mean_with_the_nearest() -> None:
    angles = np.radians([0, 10, 90, 100])
    vectors = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)
    smoothed = smooth_vectors(vectors, 1)
    # of two unit vectors, the mean points half way between
    assert np.degrees(np.arctan2(smoothed[:, 1], smoothed[:, 0])) == pytest.approx([5, 5, 95, 95], abs=1e-4)
    assert np.array_equal(smooth_vectors(vectors, 0), vectors)
    assert smooth_vectors(vectors, 99) == pytest.approx(
        np.tile(unit_rows(vectors.mean(axis=0)[None]), (4, 1)), abs=1e-6
    )


def test_knee_lies_between_the_dense_and_the_far() -> None:
    dense = np.linspace(0, 1, 50)[:, None]
    far = np.array([[10.0], [20.0], [30.0]])
    assert 1 / 49 - 1e-9 <= knee_distance(np.concatenate([dense, far]), 3) < 8


def test_umap_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "umap", None)
    vectors, _ = make_vectors()
    with pytest.raises(ValueError, match="pip install umap-learn, or choose pca"):
        cluster_vectors(vectors, make_settings(reduction="umap"))


def test_umap_keeps_groups_apart() -> None:
    pytest.importorskip("umap", reason="umap-learn is not installed: the extra topics")
    vectors, groups = make_vectors((40, 30, 20), spread=0.05)
    settings = make_settings(reduction="umap", count_dimensions=2, count_topics=3)
    labels = cluster_vectors(vectors, settings).labels
    assert np.array_equal(labels, groups)
    assert np.array_equal(labels, cluster_vectors(vectors, settings).labels)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"method": "spectral"}, "k_means, dbscan, hdbscan, got 'spectral'"),
        ({"reduction": "tsne"}, "pca, umap, none, got 'tsne'"),
    ],
)
def test_unknown_methods_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make_settings(**changes)


def test_words_by_class_based_tf_idf() -> None:
    # A = (4 + 2) / 2 = 3; fee stands 3 times in all, card 1, loan 2
    counts = [Counter(fee=3, card=1), Counter(loan=2)]
    weighed = weigh_words(counts, 2)
    assert weighed[0] == [("fee", pytest.approx(3 / 4 * log1p(3 / 3))), ("card", pytest.approx(1 / 4 * log1p(3 / 1)))]
    assert weighed[1] == [("loan", pytest.approx(log1p(3 / 2)))]


def test_counted_are_words_with_letters_of_texts_that_have_a_topic() -> None:
    counts = count_words(["The 2019 fees of an ATM x1y", "loans", "stray"], np.array([0, 1, NOISE]), 2)
    assert counts == [Counter(fees=1, atm=1, x1y=1), Counter(loans=1)]


def test_names_of_people_and_long_numbers_name_no_topic() -> None:
    texts = ["Jasmine Smith's mortgage, case 4711002x. Price it.", "Mark the price of 2024q1, Mark"]
    counts = count_words(texts, np.array([0, 1]), 2)
    assert counts == [Counter(mortgage=1, case=1, price=1), Counter({"price": 1, "2024q1": 1})]


def test_matching_takes_the_best_pairs_and_no_pair_below_the_bar() -> None:
    angles = np.radians([0, 90, 180])
    earlier = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    moved = np.radians([95, 5, 130])
    later = 0.5 * np.stack([np.cos(moved), np.sin(moved)], axis=1)
    matched = match_centres(earlier, later, 0.9)
    assert {new: old for new, (old, _) in matched.items()} == {0: 1, 1: 0}
    assert matched[0][1] == pytest.approx(np.cos(np.radians(5)))
    assert match_centres(earlier[:0], later, 0.9) == {}


def test_the_picture_shows_the_two_widest_directions() -> None:
    points = np.array([[4.0, 0, 0], [-4, 0, 0], [0, 2, 0], [0, -2, 0], [0, 0, 0.1]], dtype=np.float32) + 7
    origin, axes = find_picture_axes(points)
    places = points @ axes.T - origin
    assert np.abs(axes[0]) == pytest.approx([1, 0, 0], abs=1e-3)
    assert np.abs(axes[1]) == pytest.approx([0, 1, 0], abs=1e-3)
    assert places.mean(axis=0) == pytest.approx([0, 0], abs=1e-6)


def test_clear_groups_are_stable_and_a_cloud_is_not() -> None:
    vectors, _ = make_vectors((40, 30, 30), spread=0.05)
    clear = list(measure_stability(vectors, make_settings(count_topics=3), 3))
    assert [row[:3] for row in clear] == [
        (variation, first, second) for variation in ("seed", "sample") for first, second in ((1, 2), (1, 3), (2, 3))
    ]
    assert [row[3] for row in clear] == pytest.approx([1.0] * 6)
    cloud = unit_rows(np.random.default_rng(1).normal(size=(100, 12))).astype(np.float32)
    loose = [row[3] for row in measure_stability(cloud, make_settings(count_topics=3, count_neighbours=0), 3)]
    assert min(loose) < 0.8
