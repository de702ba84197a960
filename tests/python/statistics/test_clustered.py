"""The interval of clustered rates and means against hand-worked answers, and its behaviour where clusters are hard."""

from typing import Any

import numpy as np
import pytest
from scipy.stats import t as student
from scipy.stats import ttest_1samp

from hcat.statistics.clustered import crossed_rate_interval, mean_interval, rate_interval
from hcat.statistics.intervals import wilson_interval


def test_the_jackknife_error_of_a_rate_by_hand() -> None:
    # clusters of 3, 2 and 1 rows with 1, 0 and 1 failures: without each the rate is 1/3, 2/4 and 1/5, with all 1/3
    is_failing = np.array([True, False, False, False, False, True])
    found = rate_interval(is_failing, ["a", "a", "a", "b", "b", "c"])
    squares = (1 / 3 - 1 / 3) ** 2 + (2 / 4 - 1 / 3) ** 2 + (1 / 5 - 1 / 3) ** 2
    assert found.estimate == pytest.approx(1 / 3)
    assert found.standard_error == pytest.approx(np.sqrt(2 / 3 * squares))
    assert found.effective_clusters == pytest.approx(36 / 14)
    assert (found.count_rows, found.count_clusters, found.largest_share) == (6, 3, 0.5)


def test_strangers_have_the_interval_of_wilson() -> None:
    found = rate_interval(np.arange(40) < 12, np.arange(40))
    # the jackknife divides by 39, the model by 40: n lies between
    low, high = wilson_interval(0.3, 2 / (1 / 39 + 1 / 40), float(student.ppf(0.975, 39)))
    assert (found.low, found.high) == pytest.approx((low, high))


def test_a_single_cluster_says_nothing_of_others() -> None:
    rate = rate_interval(np.array([True, False]), [7, 7])
    assert (rate.estimate, rate.low, rate.high) == (0.5, 0.0, 1.0)
    mean = mean_interval(np.array([1.0, 3.0]), [7, 7])
    assert mean.estimate == 2.0
    assert np.isnan([mean.low, mean.high, mean.standard_error]).all()


def test_one_row_a_cluster_is_the_t_interval() -> None:
    values = np.random.default_rng(1).normal(0.4, 0.2, 30)
    found = mean_interval(values, np.arange(30), confidence=0.9)
    expected = ttest_1samp(values, 0).confidence_interval(0.9)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))


def test_few_failing_clusters_do_not_show_that_siblings_differ() -> None:
    # one failure in 300 rows of 60 clusters: the jackknife alone would take all rows for strangers
    found = rate_interval(np.arange(300) == 0, np.arange(300) // 5)
    assert found.effective_n < 220
    many = rate_interval(np.arange(300) % 5 == 0, np.arange(300) // 5)
    assert many.effective_n == pytest.approx(300, rel=0.02)
    # ten outages among clusters of one row, which know nothing of siblings: no large cluster failed, and one might
    sizes = np.repeat([1, 10], [90, 10])
    clusters = np.repeat(np.arange(100), sizes)
    assert rate_interval(clusters < 8, clusters).high > 0.1


def test_one_cluster_is_never_less_than_one_by_rounding() -> None:
    # 2.759 ** 2 / (2.759 * 2.759) is less than 1 in double precision
    found = rate_interval(np.array([True]), ["a"], np.array([2.759]))
    assert (found.effective_clusters, found.degrees) == (1.0, 0.0)
    assert (found.low, found.high) == (0.0, 1.0)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"clusters": [1]}, "one length of at least 1"),
        ({"weights": np.array([1.0, 0.0])}, "weights finite and above 0"),
        ({"confidence": 1.0}, r"confidence must lie in \(0, 1\), got 1.0"),
    ],
)
def test_arguments_outside_their_range_are_named(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        rate_interval(np.array([True, False]), **({"clusters": [1, 2]} | changed))


def test_a_second_key_counts_its_own_siblings() -> None:
    """Clusters are single rows, and whole documents fail: what counts are the documents."""
    documents = np.arange(300) // 10
    is_failing = documents % 3 == 0
    found = crossed_rate_interval(is_failing, np.arange(300), documents)
    expected = rate_interval(is_failing, documents)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))
    # a key of single rows says nothing, and neither does one of few values
    alone = rate_interval(is_failing, documents)
    for second in (np.arange(300), np.arange(300) % 9):
        joined = crossed_rate_interval(is_failing, documents, second)
        assert (joined.low, joined.high) == pytest.approx((alone.low, alone.high))


def test_few_heavy_rows_leave_few_degrees_of_freedom() -> None:
    """90 rows of weight 1 and ten of weight 9: 2 (90 + 810)^2 / (90 + 65 610) = 24.7. Equal weights change nothing."""
    is_failing, rows = np.arange(100) % 5 == 0, np.arange(100)
    found = crossed_rate_interval(is_failing, rows, rows, np.where(rows < 10, 9.0, 1.0))
    assert found.degrees == pytest.approx(2 * 900**2 / 65_700)
    equal = crossed_rate_interval(is_failing, rows, rows, np.full(100, 3.0))
    assert equal.degrees == crossed_rate_interval(is_failing, rows, rows).degrees


def test_raters_widen_a_rate_the_more_they_differ() -> None:
    """Two people with 100 answers each cannot show that others are like them: without a failure .25 is possible."""
    found = []
    for counts in ((20, 20), (30, 10), (0, 0), (4,) * 60):
        size = 20 if len(counts) > 2 else 100
        is_failing, raters = (
            np.ravel([np.arange(size) < count for count in counts]),
            np.arange(len(counts) * size) // size,
        )
        found.append(crossed_rate_interval(is_failing, np.arange(len(raters)), np.arange(len(raters)), raters=raters))
    alike, unlike, nothing, many = ((each.low, each.high) for each in found)
    assert alike == pytest.approx((0.127, 0.471), abs=0.005)
    assert unlike[0] < alike[0] < alike[1] < unlike[1]
    assert nothing == pytest.approx((0.0, 0.254), abs=0.005)
    # sixty people who are alike show it
    assert many == pytest.approx((0.178, 0.224), abs=0.002)
