"""Promises: what counts as kept, which parts there are, and that a kept part is not measured again."""

from __future__ import annotations

import importlib

import numpy as np
import pytest

from benchmarks.promises import __main__ as program


@pytest.mark.parametrize("part", program.PARTS)
def test_every_part_measures_promises_with_limits(part: str) -> None:
    promises = importlib.import_module(f"benchmarks.promises.{part}").measure(2, 1)
    assert all(np.isfinite([promise.measured, promise.error]).all() for promise in promises)
    assert any(promise.low is not None or promise.high is not None for promise in promises)
    keys = [(promise.promise, promise.design) for promise in promises]
    assert len(keys) == len(set(keys))
