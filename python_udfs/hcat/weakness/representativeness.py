"""How like production a test set is: shares of segments on both sides, as Arrow tables.

A chi-square statistic of homogeneity grows with n whatever the difference, and a bare limit (PSI above 0.1) fires on
small samples by chance alone. Here the statistic stands beside what chance gives at these effective sizes.
"""

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any, Final

import pyarrow as pa

from hcat.engine.columns import schema
from hcat.statistics.intervals import normal_quantile, wilson_interval

REPRESENTATIVENESS_SCHEMA: Final = schema(
    "string: application dimension segment status",
    "int64: count_test_set count_production count_clusters_test_set count_clusters_production",
    "float64: share_test_set share_production difference difference_lower difference_upper",
    "bool: is_untested",
    "float64: statistic limit_value",
    "int64: degrees_of_freedom",
    "bool: is_representative",
)


def compare_origins(counts: pa.Table, *, confidence: float, minimum_clusters: int) -> pa.Table:
    """Return one row per (application, dimension, segment): both shares, their difference, and the verdict on the dimension.

    Parameters
    ----------
    counts : Table
        application, dimension, segment, count_test_set, count_production, count_clusters_test_set,
        count_clusters_production (which are only passed on), share_test_set, share_production (null without any), and
        of the whole dimension total_clusters_test_set, total_clusters_production, effective_test_set,
        effective_production (Kish over clusters; null without any). Ordered by application and dimension.
    confidence : float
        Of the intervals and of the verdicts, in (0, 1); the verdicts hold together over all compared dimensions
        (Bonferroni).
    minimum_clusters : int
        Clusters that each side needs, at least 1.

    Returns
    -------
    Table
        Schema :data:`REPRESENTATIVENESS_SCHEMA`. difference = share_test_set - share_production. statistic, limit_value
        and is_representative are those of the dimension, on each of its rows.

    Notes
    -----
    With effective sizes n and m, shares p and q, and r = (n p + m q) / (n + m), the statistic is
    n m / (n + m) sum (p - q)^2 / r, and its limit the chi-square quantile with (segments - 1) degrees of freedom. The
    interval of a difference is Newcombe's (1998, method 10) from the two Wilson intervals.

    Examples
    --------
    The test set holds 5 of 10 queries of a task that is 2 of 10 in production.

    >>> total = dict(application="bot", dimension="task", total_clusters_test_set=10, total_clusters_production=10)
    >>> total |= dict(effective_test_set=10.0, effective_production=10.0)
    >>> total |= dict(count_clusters_test_set=5, count_clusters_production=5, count_test_set=5, share_test_set=0.5)
    >>> rows = [total | dict(segment="question", count_production=2, share_production=0.2)]
    >>> rows += [total | dict(segment="summary", count_production=8, share_production=0.8)]
    >>> found = compare_origins(pa.Table.from_pylist(rows), confidence=0.95, minimum_clusters=2).to_pylist()
    >>> [round(row["difference"], 3) for row in found], found[0]["is_representative"]
    ([0.3, -0.3], True)
    """
    grouped = groupby(counts.to_pylist(), key=lambda row: (row["application"], row["dimension"]))
    dimensions = {key: list(group) for key, group in grouped}
    statuses = {name: _status(segments[0], minimum_clusters) for name, segments in dimensions.items()}
    count_compared = sum(status == "compared" for status in statuses.values())
    rows = [
        row
        for name, segments in dimensions.items()
        for row in _compare_dimension(segments, statuses[name], confidence, max(count_compared, 1))
    ]
    return pa.Table.from_pylist(rows, schema=REPRESENTATIVENESS_SCHEMA)


def _status(row: Mapping[str, Any], minimum_clusters: int) -> str:
    if row["share_production"] is None:
        return "no_production"
    if row["share_test_set"] is None:
        return "no_test_set"
    least = min(row["total_clusters_test_set"], row["total_clusters_production"])
    return "compared" if least >= minimum_clusters else "too_few_clusters"


def _compare_dimension(
    segments: Sequence[Mapping[str, Any]], status: str, confidence: float, count_compared: int
) -> list[dict[str, Any]]:
    verdict: dict[str, Any] = {}
    rows = [_compare_segment(segment, status, confidence) for segment in segments]
    if status == "compared":
        from scipy.special import chdtri

        n, m = segments[0]["effective_test_set"], segments[0]["effective_production"]
        shares = [(row["share_test_set"], row["share_production"]) for row in rows]
        statistic = n * m / (n + m) * sum((p - q) ** 2 * (n + m) / (n * p + m * q) for p, q in shares)
        degrees = len(rows) - 1
        # one segment alone cannot be distributed differently
        limit = float(chdtri(degrees, (1 - confidence) / count_compared)) if degrees else 0.0
        verdict = {
            "statistic": statistic,
            "limit_value": limit,
            "degrees_of_freedom": degrees,
            "is_representative": statistic <= limit,
        }
    return [row | verdict for row in rows]


def _compare_segment(segment: Mapping[str, Any], status: str, confidence: float) -> dict[str, Any]:
    row = {name: value for name, value in segment.items() if not name.startswith(("total", "effective"))}
    row |= {"status": status, "is_untested": segment["count_test_set"] == 0 and segment["count_production"] > 0}
    if row["share_test_set"] is None or row["share_production"] is None:
        return row
    row["difference"] = row["share_test_set"] - row["share_production"]
    if status != "compared":
        return row
    quantile = normal_quantile((1 + confidence) / 2)
    p, q = row["share_test_set"], row["share_production"]
    p_lower, p_upper = wilson_interval(p, segment["effective_test_set"], quantile)
    q_lower, q_upper = wilson_interval(q, segment["effective_production"], quantile)
    lower = row["difference"] - ((p - p_lower) ** 2 + (q_upper - q) ** 2) ** 0.5
    upper = row["difference"] + ((p_upper - p) ** 2 + (q - q_lower) ** 2) ** 0.5
    return row | {"difference_lower": lower, "difference_upper": upper}
