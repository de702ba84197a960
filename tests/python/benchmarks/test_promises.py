"""Promises: what counts as kept, which parts there are, and that a kept part is not measured again."""

import importlib
from pathlib import Path

import numpy as np
import pytest

from benchmarks.promises import __main__ as program
from benchmarks.promises.common import Promise


@pytest.mark.parametrize(
    ("measured", "is_kept"), [(0.95, True), (0.929, False), (0.931, True), (0.959, True), (0.961, False)]
)
def test_a_promise_is_kept_where_two_monte_carlo_errors_more_would_not_break_it(measured: float, is_kept: bool) -> None:
    assert Promise("p", "d", measured, 0.005, 100, 0.93, 0.96).is_kept is is_kept


@pytest.mark.parametrize("part", program.PARTS)
def test_every_part_measures_promises_with_limits(part: str) -> None:
    designs = importlib.import_module(f"benchmarks.promises.{part}").designs(1)
    promises = [promise for measure in designs.values() for promise in measure(2)]
    assert all(np.isfinite([promise.measured, promise.error]).all() for promise in promises)
    assert any(promise.has_limit for promise in promises)
    keys = [(promise.promise, promise.design) for promise in promises]
    assert len(keys) == len(set(keys))


def test_a_design_that_the_folder_holds_is_not_measured_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    measured: list[int] = []

    def measure(count_runs: int) -> list[Promise]:
        measured.append(count_runs)
        return [Promise("p", "d", 0.9, 0.01, count_runs, 0.93)]

    monkeypatch.setattr("benchmarks.promises.sets.designs", lambda seed: {"d": measure})
    for count_runs, expected in ((10, [10]), (10, [10]), (0, [10]), (20, [10, 20])):
        assert program._measure("sets", count_runs, 1, tmp_path)[0].count_runs == expected[-1]
        assert measured == expected
