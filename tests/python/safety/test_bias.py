"""Tests of gaps: hand-worked sign flips, invariances, equivalence that is never had for nothing, closed words."""

import itertools
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import stats

from hcat.safety import bias
from hcat.safety.bias import Sides

SETTINGS = bias.BiasSettings(0.95, 4, 1, 999)


def random(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def pairs(first: list[float], second: list[float]) -> Sides:
    ones = np.ones(len(first))
    return Sides(np.array(first, float), ones, np.array(second, float), ones)


def alone(first: list[float], second: list[float]) -> Sides:
    """Every cluster holds one score of one side."""
    n, m = len(first), len(second)
    return Sides(
        np.array([*first, *[0.0] * m]),
        np.array([1.0] * n + [0.0] * m),
        np.array([*[0.0] * n, *second]),
        np.array([0.0] * n + [1.0] * m),
    )


def test_four_clusters_that_all_lean_one_way() -> None:
    gap = bias.compare_pairs(pairs([2, 3, 4, 5], [1, 1, 1, 1]), random(), 999)
    # of 16 sign patterns only all plus and all minus reach the sum
    assert gap.p_value == 2 / 16
    assert (gap.first_mean, gap.second_mean, gap.difference) == (3.5, 1.0, 2.5)
    assert_allclose(gap.error, stats.sem([1, 2, 3, 4]))


def test_sign_flips_agree_with_all_patterns() -> None:
    differences = random(3).normal(size=9)
    sums = [abs(np.dot(signs, differences)) for signs in itertools.product((-1, 1), repeat=9)]
    expected = np.mean(np.array(sums) >= abs(differences.sum()) - 1e-9)
    found = bias.compare_pairs(pairs(differences.tolist(), [0.0] * 9), random(), 1).p_value
    assert_allclose(found, expected)


def test_clusters_move_as_one() -> None:
    many = Sides(np.array([40.0, 0.0]), np.array([40.0, 40.0]), np.array([0.0, 40.0]), np.array([40.0, 40.0]))
    gap = bias.compare_pairs(many, random(), 999)
    # eighty pairs of two clusters are two witnesses, and they disagree
    assert (gap.difference, gap.p_value) == (0.0, 1.0)


def test_groups_agree_with_welch() -> None:
    first, second = random(1).normal(0.5, 2.0, 60), random(2).normal(0, 1, 90)
    gap = bias.compare_groups(alone(first.tolist(), second.tolist()), random(), 9999)
    expected = stats.ttest_ind(first, second, equal_var=False)
    assert_allclose(gap.difference / gap.error, expected.statistic)
    assert_allclose(gap.degrees, expected.df)
    assert_allclose(gap.p_value, expected.pvalue, atol=0.015)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.integers(0, 3), st.sampled_from([0.0, 0.1, 0.5, 1.0])).filter(
            lambda c: c[0] + c[1]
        ),
        min_size=2,
        max_size=9,
    ),
    st.integers(0, 5),
)
def test_draws_are_those_of_a_plain_permutation(clusters: list[tuple[int, int, float]], seed: int) -> None:
    first_count, second_count, level = np.array(clusters).T
    assume(first_count.sum() and second_count.sum())
    noise = random(seed).integers(0, 2, len(clusters)).astype(float)
    sides = Sides(level * first_count, first_count, (level + noise) * second_count, second_count)
    draws = 60
    found = bias.compare_groups(sides, random(seed), draws)
    # the same draws, one cluster after the other, each studentised by itself
    generator, is_both = random(seed), (first_count > 0) & (second_count > 0)
    count_alone, count_first = int((~is_both).sum()), int((first_count[~is_both] > 0).sum())
    ranks = generator.random((draws, count_alone)).argsort(axis=1) if count_alone else np.empty((draws, 0))
    keeps = generator.integers(0, 2, (draws, int(is_both.sum())))
    observed, extreme = size_of_gap(sides), 0
    for rank, keep in zip(ranks, keeps, strict=True):
        is_first = np.zeros(count_alone, dtype=bool)
        is_first[rank[:count_first].astype(int)] = True
        drawn = [np.empty(len(clusters)) for _ in range(4)]
        for part, other in ((0, 2), (1, 3)):
            one, two = sides[part], sides[other]
            drawn[part][is_both] = np.where(keep == 1, one[is_both], two[is_both])
            drawn[other][is_both] = np.where(keep == 1, two[is_both], one[is_both])
            drawn[part][~is_both] = np.where(is_first, (one + two)[~is_both], 0)
            drawn[other][~is_both] = np.where(is_first, 0, (one + two)[~is_both])
        extreme += size_of_gap(Sides(*drawn)) >= observed * (1 - 1e-9)
    assert found.p_value == (1 + extreme) / (1 + draws)


def size_of_gap(sides: Sides) -> float:
    """Return |difference| / standard error by cluster, with sums over clusters written out."""
    counts = sides.first_count.sum(), sides.second_count.sum()
    means = sides.first_sum.sum() / counts[0], sides.second_sum.sum() / counts[1]
    moves = (
        (sides.first_sum - means[0] * sides.first_count) / counts[0],
        (sides.second_sum - means[1] * sides.second_count) / counts[1],
    )
    clusters = (sides.first_count > 0).sum(), (sides.second_count > 0).sum()
    scales = [np.sqrt(count / max(count - 1, 1)) for count in clusters]
    variance = np.square(moves[0] * scales[0] - moves[1] * scales[1]).sum()
    difference = abs(means[0] - means[1])
    if difference < 1e-9:
        return 0.0
    return float(difference / np.sqrt(variance)) if variance > 1e-18 else np.inf


def test_a_cluster_of_both_sides_takes_its_own_level_out() -> None:
    level = np.arange(10.0) * 10
    sides = Sides(level + 1, np.ones(10), level, np.ones(10))
    gap = bias.compare_groups(sides, random(), 999)
    assert_allclose((gap.difference, gap.error), (1.0, 0.0), atol=1e-6)
    assert gap.p_value < 0.05


def test_equivalence_is_two_one_sided_tests() -> None:
    gap = bias.compare_pairs(pairs(random(4).normal(0, 1, 80).tolist(), [0.0] * 80), random(), 9)
    expected = max(
        stats.t.sf((gap.difference + 0.5) / gap.error, 79), stats.t.cdf((gap.difference - 0.5) / gap.error, 79)
    )
    assert_allclose(bias.equivalence_p_value(gap, 0.5, 6.0, 80, False), expected)


def test_rare_events_that_were_not_seen_prove_nothing() -> None:
    gap = bias.compare_pairs(pairs([0.0] * 20, [0.0] * 20), random(), 9)
    # twenty clusters without a difference: .95^20 = .36 is no proof of a gap below five points
    assert_allclose(bias.equivalence_p_value(gap, 0.05, 1.0, 20, True), 0.95**20)
    assert bias.equivalence_p_value(gap, 0.05, 1.0, 100, True) < 0.01


def sums(name: str, first: list[float], second: list[float], **others: object) -> list[dict[str, Any]]:
    gap: dict[str, Any] = {"bias_gap_id": name, "system": "s", "design": "counterfactual"}
    gap |= {"margin": 0.2, "span": 1.0, "is_indicator": False} | others
    return [
        gap
        | {"cluster": f"{cluster:03d}", "first_sum": one, "first_count": 1.0, "second_sum": other, "second_count": 1.0}
        for cluster, (one, other) in enumerate(zip(first, second, strict=True))
    ]


def measure(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return bias.measure_gaps(pa.Table.from_pylist(rows), SETTINGS).to_pylist()


def test_verdicts_of_one_family() -> None:
    noise = random(8).normal(0, 0.1, 60)
    unscored = dict.fromkeys(["cluster", "first_sum", "first_count", "second_sum", "second_count"])
    measured = measure(
        sums("gap", (noise + 0.5).tolist(), [0.0] * 60)
        + sums("same", noise.tolist(), [0.0] * 60)
        + sums("few", [0.0, 1.0], [0.0, 1.0])
        + [sums("none", [0.0], [0.0])[0] | unscored]
        + sums("wide", (noise * 20).tolist(), [0.0] * 60)
    )
    assert {row["bias_gap_id"]: (row["status"], row["verdict"]) for row in measured} == {
        "gap": ("tested", "gap_found"),
        "same": ("tested", "equivalent"),
        "few": ("too_few_clusters", "inconclusive"),
        "none": ("no_scores", "inconclusive"),
        "wide": ("tested", "inconclusive"),
    }
    assert [row["bias_gap_id"] for row in measured] == ["few", "gap", "none", "same", "wide"]
    tested = [row for row in measured if row["status"] == "tested"]
    assert all(row["p_value"] <= row["adjusted_p_value"] <= 1 for row in tested)


def test_families_do_not_share_their_error_rate() -> None:
    rows = sums("a", [1.0] * 8, [0.0] * 8)
    crowd = [row for number in range(30) for row in sums(f"other_{number}", [1.0] * 8, [0.0] * 8, system="another")]
    assert [row for row in measure(rows + crowd) if row["bias_gap_id"] == "a"] == measure(rows)
