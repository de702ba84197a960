"""Alarms: which rows of one build drift. docs/drift.md says how tests, windows and dimensions share the level.

The rows of metrics that may not decide are a second family. They are shown and never alarm.
"""

import itertools
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from hcat.monitoring.drift.chart import pool_correlations, widen_errors
from hcat.monitoring.drift.periods import DriftSettings
from hcat.monitoring.drift.statistics import NEGLIGIBLE, TESTS
from hcat.statistics.arrays import Floats
from hcat.statistics.intervals import t_quantile, t_tail
from hcat.statistics.multiple_tests import benjamini_hochberg

_VERDICT: Final = "verdict"


def mark_alarms(rows: list[dict[str, Any]], settings: DriftSettings, deciding: Collection[str] | None = None) -> None:
    """Add alarm_level, is_drifting and, where a row is tested, limit_value, q_value and the band, in place."""
    levels = {
        "mean_shift": settings.alarm_level * (1 - settings.mix_share),
        "mix_shift": settings.alarm_level * settings.mix_share,
    }
    for row in rows:
        row |= {"alarm_level": levels[row["test"]], "is_drifting": False}
    _test_means([row for row in rows if row["status"] == "tested" and row["test"] == "mean_shift"], rows, settings)
    for test, may_alarm in itertools.product(TESTS, (True, False)):
        family = [
            row
            for row in rows
            if row["test"] == test
            and row["status"] == "tested"
            # the mix of segments is no metric
            and (deciding is None or row["metric_name"] in {None, *deciding}) == may_alarm
        ]
        columns = {name: _column(family, name) for name in _READ}
        keys = {name: [row[name] for row in family] for name in ("dimension", "window_weeks", "metric_name")}
        shares = share_level(keys["dimension"], keys["window_weeks"], settings, keys["metric_name"])
        for name, values in decide(test, columns, shares, levels[test], settings).items():
            for row, value in zip(family, values.tolist(), strict=True):
                row[name] = value and may_alarm if name == "is_drifting" else value


def _test_means(tested: list[dict[str, Any]], rows: Sequence[Mapping[str, Any]], settings: DriftSettings) -> None:
    """Add tests and intervals of means, wider where weeks correlate, and a detail that says so, in place."""
    count_weeks = max((row["reference_weeks"] for row in rows if "lag_correlation" in row), default=0)
    correlations = np.array([row["lag_correlation"] for row in rows if "lag_correlation" in row])
    correlation = pool_correlations(correlations, count_weeks, settings.minimum_weeks_correlated)
    detail = None
    if correlation:
        detail = f"Neighbouring weeks correlate by {correlation:.2f}: the limits are wider"
    elif count_weeks < settings.minimum_weeks_correlated:
        detail = f"Weeks count as independent: {count_weeks} weeks of reference cannot show whether they correlate"
    columns = {name: _column(tested, name) for name in ("reference_weeks", "window_weeks", *_READ)}
    factor, share = widen_errors(correlation, columns["reference_weeks"], columns["window_weeks"])
    error, degrees = columns["standard_error"] * factor, columns["degrees_of_freedom"] * share
    difference = columns["difference"]
    margin = t_quantile((1 + settings.confidence) / 2, degrees) * error
    found = {
        "standard_error": error,
        "degrees_of_freedom": degrees,
        "statistic": difference / error,
        "p_value": 2 * t_tail(np.abs(difference) / error, degrees),
        "difference_lower": difference - margin,
        "difference_upper": difference + margin,
    }
    for number, row in enumerate(tested):
        row |= {"detail": detail} | {name: float(column[number]) for name, column in found.items()}


def share_level(
    dimensions: Sequence[str],
    windows: Sequence[int],
    settings: DriftSettings,
    metrics: Sequence[str | None] | None = None,
) -> Floats:
    """Return the share of a family's level that each of its rows has, in proportion, shape (n,)."""
    of_window = dict(zip(settings.window_weeks, settings.window_shares, strict=True))
    groups = [
        _VERDICT if metric == _VERDICT and dimension == "all" else dimension
        for dimension, metric in zip(dimensions, metrics or [None] * len(dimensions), strict=True)
    ]
    headlines = {"all", _VERDICT} & set(groups)
    others = set(groups) - headlines
    of_group = dict.fromkeys(headlines, settings.headline_share / max(1, len(headlines)))
    of_group |= dict.fromkeys(others, (1 - settings.headline_share) / max(1, len(others)))
    places = list(zip(groups, windows, strict=True))
    members = Counter(places)
    return np.array([of_window[weeks] * of_group[group] / members[group, weeks] for group, weeks in places])


def decide(
    test: str, columns: Mapping[str, Floats], shares: Floats, level: float, settings: DriftSettings
) -> dict[str, npt.NDArray[Any]]:
    """Return q_value, limit_value and is_drifting of all tested rows of a test; for means also the band."""
    # an empty family has no shares
    weights = shares * (len(shares) / max(shares.sum(), NEGLIGIBLE))
    p_values = columns["p_value"] / weights
    q_values = np.minimum(benjamini_hochberg(p_values), 1.0)
    is_drifting = q_values <= level
    found: dict[str, npt.NDArray[Any]] = {"q_value": q_values, "is_drifting": is_drifting}
    # a weighted limit may exceed 1 when nearly everything is rejected
    limit = np.minimum(rejection_limit(p_values, level) * weights, 1.0)
    if test == "mix_shift":
        return found | {
            "limit_value": -t_quantile(limit / columns["count_compared"] / 2, columns["degrees_of_freedom"])
        }
    quantile = -t_quantile(limit / 2, columns["degrees_of_freedom"])
    least = settings.minimum_shift * np.nan_to_num(columns["standard_deviation_reference"])
    margin = np.fmax(quantile * columns["standard_error"], least)
    return found | {
        "limit_value": np.fmax(quantile, least / columns["standard_error"]),
        "band_lower": columns["value_reference"] - margin,
        "band_upper": columns["value_reference"] + margin,
        "is_drifting": is_drifting & (np.abs(columns["difference"]) >= least),
    }


def rejection_limit(p_values: Floats, level: float) -> float:
    """Return the p-value up to which Benjamini and Hochberg reject at ``level``; level / count if they reject none."""
    members = p_values[~np.isnan(p_values)]
    if not len(members):
        return level
    return level * max(1, int((benjamini_hochberg(members) <= level).sum())) / len(members)


#: Columns of a row that a decision or a limit reads.
_READ = (
    "p_value",
    "degrees_of_freedom",
    "count_compared",
    "difference",
    "standard_error",
    "standard_deviation_reference",
    "value_reference",
)


def _column(rows: Sequence[Mapping[str, Any]], name: str) -> Floats:
    """Return one column of rows, NaN where it is missing or null."""
    return np.array([np.nan if row.get(name) is None else row[name] for row in rows], dtype=np.float64)
