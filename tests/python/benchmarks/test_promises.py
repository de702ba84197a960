"""Promises: what counts as kept, which parts there are, and that a kept part is not measured again."""

from __future__ import annotations

import importlib

import numpy as np
import pytest

from benchmarks.promises import __main__ as program
from benchmarks.promises.common import Promise, failure_probabilities, heavy_sizes, zipf_sizes


@pytest.mark.parametrize(
    ("measured", "is_kept"), [(0.93, True), (0.911, True), (0.909, False), (0.999, True), (1.001, False)]
)
def test_a_promise_is_kept_within_two_monte_carlo_errors(measured: float, is_kept: bool) -> None:
    assert Promise("p", "d", measured, 0.01, 100, 0.93, 0.98).is_kept is is_kept


def test_the_generators_are_as_uneven_as_they_say() -> None:
    random = np.random.default_rng(1)
    sizes = zipf_sizes(random, 200)
    assert sizes.max() / sizes.sum() == pytest.approx(0.1, abs=0.01)
    heavy = np.concatenate([heavy_sizes(random, 200) for _ in range(50)])
    assert heavy.max() > 20 * np.median(heavy)
    probabilities = failure_probabilities(random, 0.02, 0.7, 100_000)
    assert probabilities.mean() == pytest.approx(0.02, abs=0.002)


@pytest.mark.parametrize("part", program.PARTS)
def test_every_part_measures_promises_with_limits(part: str) -> None:
    promises = importlib.import_module(f"benchmarks.promises.{part}").measure(2, 1)
    assert all(np.isfinite([promise.measured, promise.error]).all() for promise in promises)
    assert any(promise.low is not None or promise.high is not None for promise in promises)
    keys = [(promise.promise, promise.design) for promise in promises]
    assert len(keys) == len(set(keys))
