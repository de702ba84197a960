"""The fit of linear heads against its optimum and a hand-worked case, and the charge on swaps."""

import numpy as np
from numpy.testing import assert_allclose
from scipy.special import expit

from training.head_fit import balance, fit_head, swap_directions


def test_the_fit_is_where_the_gradient_vanishes():
    random = np.random.default_rng(1)
    vectors, labels = random.normal(size=(60, 5)), (random.random(60) > 0.4).astype(float)
    weights, penalty = random.random(60), np.diag(random.random(5) + 0.1)
    coefficients, intercept = fit_head(vectors, labels, weights, penalty)
    errors = weights / weights.sum() * (expit(vectors @ coefficients + intercept) - labels)
    assert_allclose(vectors.T @ errors + penalty @ coefficients, 0, atol=1e-9)
    assert_allclose(errors.sum(), 0, atol=1e-9)


def test_a_direction_that_only_swaps_move_carries_no_score():
    random = np.random.default_rng(2)
    labels = (np.arange(200) % 2).astype(float)
    # the first number is the truth, the second who is mentioned: here they go together
    vectors = np.column_stack([labels + random.normal(size=200), labels + random.normal(size=200)])
    swaps = np.array([[0.0, -1.0], [0.0, 1.0]])
    free, _ = fit_head(vectors, labels, np.ones(200), 1e-3 * np.eye(2))
    charged, _ = fit_head(
        vectors, labels, np.ones(200), 1e-3 * np.eye(2) + 100 * swap_directions(swaps, np.zeros(2, int))
    )
    assert abs(free[1]) > 0.3
    assert abs(charged[1]) < 0.01
    assert charged[0] > 0.5


def test_swap_directions_are_taken_inside_groups():
    vectors = np.array([[0.0, 0], [2, 0], [5, 1], [5, 3]])
    assert_allclose(swap_directions(vectors, np.array([0, 0, 1, 1])), np.diag([0.5, 0.5]))


def test_balance_shares_the_weight_out():
    assert_allclose(balance(np.array([1, 0, 0.0]), 3.0, 2 / 3), [1, 1, 1])
    assert_allclose(balance(np.zeros(4), 2.0, 2 / 3), 0.5)
