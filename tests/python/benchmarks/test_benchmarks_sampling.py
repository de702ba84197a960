"""The benchmarks of sampling and retrieval: judgements, ranks, windows, and the SQL on a small population."""

from collections import Counter

import numpy as np
import pytest

from benchmarks.sampling import Population, Sampler, render_models

COUNT_DRAWS = 50


@pytest.fixture(scope="module")
def population() -> Population:
    """Return 240 chunks in 8 strata of 10 to 80, whose sizes differ by a factor of 9."""
    random = np.random.default_rng(3)
    strata = np.repeat(np.arange(8), [10, 12, 18, 20, 25, 30, 45, 80]).astype(np.int64)
    sizes = random.integers(20, 180, len(strata)).astype(np.int64)
    return Population(random.integers(0, 4, len(strata)), strata, sizes, np.where(sizes > 100, 3.0, 1.0))


@pytest.fixture(scope="module", params=[("proportional", "equal"), ("neyman", "size")], ids="-".join)
def design(request: pytest.FixtureRequest) -> tuple[str, str]:
    chosen: tuple[str, str] = request.param
    return chosen


@pytest.fixture(scope="module")
def models(design: tuple[str, str]) -> dict[str, str]:
    return render_models(*design)


def ask_for(models: dict[str, str], total: int) -> dict[str, str]:
    assert "770::bigint" in models["int_strata_weighed"]
    return models | {"int_strata_weighed": models["int_strata_weighed"].replace("770::bigint", f"{total}::bigint")}


@pytest.fixture(scope="module")
def sampler(design: tuple[str, str], models: dict[str, str], population: Population) -> Sampler:
    """Return the models over the population, with 77 of its chunks asked for."""
    return Sampler(ask_for(models, 77), population, design[1] == "equal")


def fill(weights: np.ndarray, populations: np.ndarray, total: int) -> np.ndarray:
    """Return shares of a total by weight, at least 2 and at most all, found by halving the level."""
    least = np.minimum(2, populations)
    low, high = 0.0, 1e9
    for _ in range(200):
        level = (low + high) / 2
        low, high = (level, high) if np.clip(level * weights, least, populations).sum() < total else (low, level)
    return np.clip(high * weights, least, populations)


@pytest.mark.parametrize("seed", range(6))
def test_any_plan_meets_its_total_and_lies_beside_its_shares(models: dict[str, str], seed: int) -> None:
    random = np.random.default_rng(seed)
    populations = random.integers(1, 40, random.integers(1, 12))
    strata = np.repeat(np.arange(len(populations)), populations).astype(np.int64)
    sizes = random.integers(1, 90, len(strata)).astype(np.int64)
    importance = np.where(random.random(len(strata)) < 0.2, 2.5, 1.0)
    least = int(np.minimum(2, populations).sum())
    total = int(random.integers(1, len(strata) + 5))
    planned = Sampler(ask_for(models, total), Population(strata % 3, strata, sizes, importance)).planned
    reachable = min(len(strata), max(total, least))
    assert planned.sum() == reachable
    weights = populations.astype(float)
    if "'neyman' as allocation_asked" in models["int_strata_weighed"]:
        # 20 scores a stratum, which vary as the sizes do; 5 more that vary as those of all strata
        variances = np.array([sizes[strata == stratum].var() for stratum in range(len(populations))])
        if variances.mean() > 0:
            weights *= np.sqrt((5 * variances.mean() + 19 * variances) / 24)
    shares = fill(weights, populations, reachable)
    assert (np.abs(planned - shares) < 1 + 1e-6).all()
    assert ((planned >= np.minimum(2, populations)) & (planned <= populations)).all()


def test_plan_is_met_and_probabilities_are_those_of_the_draws(sampler: Sampler, population: Population) -> None:
    assert sampler.planned.sum() == 77
    assert (sampler.planned >= 2).all()
    drawn: Counter[int] = Counter()
    planned: dict[int, float] = {}
    for seed in range(COUNT_DRAWS):
        rows, weights = sampler.draw(seed)
        assert (np.bincount(population.strata[rows], minlength=8) == sampler.planned).all()
        assert (weights >= 1).all()
        drawn.update(rows.tolist())
        planned.update(zip(rows.tolist(), (1 / weights).tolist(), strict=True))
    # every chunk can be drawn, and is as often as its probability says
    assert len(planned) == 240
    probability = np.array([planned[row] for row in range(240)])
    counts = np.array([drawn[row] for row in range(240)])
    np.testing.assert_allclose(np.bincount(population.strata, probability), sampler.planned)
    errors = np.sqrt(COUNT_DRAWS * probability * (1 - probability))
    certain = errors < 1e-6
    assert (counts[certain] == COUNT_DRAWS).all()
    deviations = (counts - COUNT_DRAWS * probability)[~certain] / errors[~certain]
    assert np.abs(deviations).max() < 4.5
    assert 0.6 < (deviations**2).mean() < 1.4
