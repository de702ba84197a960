"""Alarms: which rows of one build drift.

One level a week is divided over the tests (``alarm_shares``), so that the chance of any alarm without drift is at most
that level, however many series there are. Within a test all series and windows of a build are one family. Its p-values
are adjusted by Benjamini and Hochberg (1995), except those of the stability index, which is compared with a chance
limit under Bonferroni's correction. Windows weigh by ``window_shares``: p-values are divided by weights of mean 1
(Genovese, Roeder and Wasserman 2006), so that most of the level goes to the window that finds the smaller changes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from hcat.monitoring.drift.settings import DriftSettings
from hcat.monitoring.drift.statistics import TESTS, distance_limit, rejection_limit, stability_limit
from hcat.statistics.arrays import Floats
from hcat.statistics.intervals import t_quantile
from hcat.statistics.multiple_tests import adjust_p_values


def mark_alarms(rows: list[dict[str, Any]], settings: DriftSettings) -> None:
    """Add q_value, limit_value, band, alarm_level and is_drifting to the rows of one build, in place.

    Parameters
    ----------
    rows : list of dict
        A row needs test, status, window_weeks and p_value. Where its test has a limit, it also needs what the limit is
        made of: degrees_of_freedom, standard_error, difference, standard_deviation_reference, value_reference,
        effective_reference, effective_window.
    settings : DriftSettings

    Examples
    --------
    >>> rows = [{"test": "mix_shift", "status": "no_scores", "window_weeks": 1}]
    >>> mark_alarms(rows, DriftSettings())
    >>> rows[0]["is_drifting"], round(rows[0]["alarm_level"], 6)
    (False, 0.0001)
    """
    for test in TESTS:
        level = settings.alarm_level * settings.alarm_shares[test]
        family = [row for row in rows if row["test"] == test]
        for row in family:
            row |= {"alarm_level": level, "is_drifting": False}
        tested = [row for row in family if row["status"] == "tested"]
        if not tested:
            continue
        columns = {
            name: _column(tested, name)
            for name in (
                "p_value",
                "statistic",
                "degrees_of_freedom",
                "effective_reference",
                "effective_window",
                "difference",
                "standard_error",
                "standard_deviation_reference",
                "value_reference",
            )
        }
        shares = dict(zip(settings.window_weeks, settings.window_shares, strict=True))
        columns["share"] = np.array([shares.get(row["window_weeks"], 1.0) for row in tested])
        if test == "sequential_mean":
            columns["share"] = np.ones(len(tested))
        found = decide(test, columns, level, settings)
        for name, values in found.items():
            for row, value in zip(tested, values.tolist(), strict=True):
                row[name] = value


def decide(
    test: str, columns: Mapping[str, Floats], level: float, settings: DriftSettings
) -> dict[str, npt.NDArray[Any]]:
    """Return q_value, limit_value and is_drifting of all tested rows of one test; for `mean_shift` also the band.

    Parameters
    ----------
    test : str
        One of :data:`hcat.monitoring.drift.statistics.TESTS`.
    columns : mapping of str to ndarray, shape (n,)
        As in :func:`mark_alarms`, and `share`: the share of the level that the row's window has.
    level : float
        Level of the test; with 0 no row alarms and there is no limit.
    settings : DriftSettings

    Examples
    --------
    Two rows at the level .05: Benjamini and Hochberg double the smaller p-value and keep the larger one.

    >>> columns = {"p_value": np.array([0.01, 0.5]), "share": np.array([1.0, 1.0])}
    >>> columns |= {"effective_reference": np.array([9.0, 9.0]), "effective_window": np.array([9.0, 9.0])}
    >>> found = decide("sequential_mean", columns, 0.05, DriftSettings())
    >>> found["q_value"].tolist(), found["is_drifting"].tolist()
    ([0.02, 0.5], [True, False])
    """
    from scipy.special import chdtri

    weights = columns["share"] / columns["share"].mean()
    p_values = columns["p_value"] / weights
    count = len(p_values)
    before, after = columns["effective_reference"], columns["effective_window"]
    nothing: Floats = np.full(count, np.nan)
    if test == "population_stability":
        q_values: Floats = np.minimum(1.0, p_values * count)
        limit = level / count * weights
    else:
        q_values = adjust_p_values(p_values)
        limit = rejection_limit(p_values, level) * weights
    # a weighted limit may exceed 1 when nearly everything is rejected
    limit = np.minimum(limit, 1.0)
    found: dict[str, npt.NDArray[Any]] = {"q_value": q_values}
    is_drifting = (q_values <= level) & (level > 0)
    if level <= 0:
        return found | {"limit_value": nothing, "is_drifting": is_drifting}
    if test == "mean_shift":
        quantile = -t_quantile(limit / 2, columns["degrees_of_freedom"])
        least = settings.minimum_shift * np.nan_to_num(columns["standard_deviation_reference"])
        margin = np.fmax(quantile * columns["standard_error"], least)
        found |= {
            "limit_value": np.fmax(quantile, least / columns["standard_error"]),
            "band_lower": columns["value_reference"] - margin,
            "band_upper": columns["value_reference"] + margin,
        }
        is_drifting &= np.abs(columns["difference"]) >= least
    elif test == "population_stability":
        found["limit_value"] = stability_limit(limit, columns["degrees_of_freedom"], before, after)
    elif test == "kolmogorov_smirnov":
        found["limit_value"] = np.fmax(distance_limit(limit, before, after), settings.minimum_distance)
        is_drifting &= columns["statistic"] >= settings.minimum_distance
    elif test == "sequential_mean":
        found["limit_value"] = -np.log(limit)
    else:
        found["limit_value"] = chdtri(columns["degrees_of_freedom"], limit)
    return found | {"is_drifting": is_drifting}


def _column(rows: Sequence[Mapping[str, Any]], name: str) -> Floats:
    """Return one column of rows, NaN where it is missing or null."""
    return np.array([np.nan if row.get(name) is None else row[name] for row in rows], dtype=np.float64)
