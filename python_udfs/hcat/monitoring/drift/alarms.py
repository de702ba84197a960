"""Alarms: which rows of one build drift.

Two tests alarm. ``mix_share`` of the level a week goes to the mix of segments and the rest to the means, so that the
chance of any alarm without drift is at most the level, however many series there are.

Within a test all rows of a build are one family, adjusted by Benjamini and Hochberg (1995). Rows weigh (Genovese,
Roeder and Wasserman 2006): ``headline_share`` of a family's level goes to the series over all interactions, and every
dimension has the same part of the rest. A dimension of many segments thus takes nothing from the others. Among the
windows, ``window_shares`` give most of the level to the one that finds the smaller changes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from hcat.monitoring.drift.settings import DriftSettings
from hcat.monitoring.drift.statistics import TESTS, rejection_limit
from hcat.statistics.arrays import Floats
from hcat.statistics.intervals import t_quantile
from hcat.statistics.multiple_tests import adjust_p_values


def mark_alarms(rows: list[dict[str, Any]], settings: DriftSettings) -> None:
    """Add alarm_level, is_drifting and, where a row is tested, limit_value, q_value and the band, in place.

    Parameters
    ----------
    rows : list of dict
        All rows of one build. A row needs test, dimension, status, window_weeks and p_value. If it is tested, it also
        needs what the limit is made of: degrees_of_freedom, standard_error, difference,
        standard_deviation_reference, value_reference, count_compared.
    settings : DriftSettings

    Examples
    --------
    >>> rows = [{"test": "mix_shift", "dimension": "topic", "status": "no_timestamps", "window_weeks": 1}]
    >>> mark_alarms(rows, DriftSettings())
    >>> rows[0]["is_drifting"], rows[0]["alarm_level"]
    (False, 0.002)
    """
    levels = {
        "mean_shift": settings.alarm_level * (1 - settings.mix_share),
        "mix_shift": settings.alarm_level * settings.mix_share,
    }
    for row in rows:
        row |= {"alarm_level": levels[row["test"]], "is_drifting": False}
    for test in TESTS:
        family = [row for row in rows if row["test"] == test and row["status"] == "tested"]
        columns = {name: _column(family, name) for name in _READ}
        shares = share_level([row["dimension"] for row in family], [row["window_weeks"] for row in family], settings)
        for name, values in decide(test, columns, shares, levels[test], settings).items():
            for row, value in zip(family, values.tolist(), strict=True):
                row[name] = value


def share_level(dimensions: Sequence[str], windows: Sequence[int], settings: DriftSettings) -> Floats:
    """Return the share of a family's level that each of its rows has, in proportion, shape (n,).

    Parameters
    ----------
    dimensions : sequence of str
        Dimension of each row; `all` is the headline.
    windows : sequence of int
        Weeks of the window of each row, among `settings.window_weeks`.
    settings : DriftSettings

    Examples
    --------
    One headline and two segments of one dimension, in one window: half of the level and a quarter each.

    >>> settings = DriftSettings(window_weeks=[3], window_shares=[1.0])
    >>> share_level(["all", "topic", "topic"], [3, 3, 3], settings).tolist()
    [0.5, 0.25, 0.25]
    """
    of_window = dict(zip(settings.window_weeks, settings.window_shares, strict=True))
    count_others = max(1, len(set(dimensions) - {"all"}))
    headline = settings.headline_share
    members = Counter(zip(dimensions, windows, strict=True))
    return np.array(
        [
            of_window[weeks]
            * (headline if dimension == "all" else (1 - headline) / count_others)
            / members[dimension, weeks]
            for dimension, weeks in zip(dimensions, windows, strict=True)
        ]
    )


def decide(
    test: str, columns: Mapping[str, Floats], shares: Floats, level: float, settings: DriftSettings
) -> dict[str, npt.NDArray[Any]]:
    """Return q_value, limit_value and is_drifting of all tested rows of a test; for means also the band.

    Parameters
    ----------
    test : str
        One of :data:`hcat.monitoring.drift.statistics.TESTS`.
    columns : mapping of str to ndarray, shape (n,)
        As in :func:`mark_alarms`.
    shares : ndarray, shape (n,)
        Shares of the level, in proportion; a row with share 0 never alarms.
    level : float
        Level of the test, in [0, 1); with 0 no row alarms and there is no limit.
    settings : DriftSettings

    Examples
    --------
    Two rows at the level .05: Benjamini and Hochberg double the smaller p-value and keep the larger one.

    >>> columns = {"p_value": np.array([0.01, 0.5]), "degrees_of_freedom": np.array([9.0, 9.0])}
    >>> columns |= {"count_compared": np.array([2.0, 2.0])}
    >>> found = decide("mix_shift", columns, np.ones(2), 0.05, DriftSettings())
    >>> found["q_value"].tolist(), found["is_drifting"].tolist()
    ([0.02, 0.5], [True, False])
    """
    total = float(shares.sum())
    weights = shares * (len(shares) / total) if total > 0 else shares
    with np.errstate(divide="ignore"):
        p_values = np.where(weights > 0, columns["p_value"] / weights, 1.0)
    q_values = np.minimum(adjust_p_values(p_values), 1.0)
    is_drifting = (q_values <= level) & (level > 0)
    found: dict[str, npt.NDArray[Any]] = {"q_value": q_values, "is_drifting": is_drifting}
    if level <= 0:
        return found
    # a weighted limit may exceed 1 when nearly everything is rejected
    limit = np.minimum(rejection_limit(p_values, level) * weights, 1.0)
    limit = np.where(limit > 0, limit, np.nan)
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
