"""Two versions of an application over the same queries, as Arrow tables: which differences are more than noise.

SQL pairs the queries, averages replicates and sums by cluster (``int_version_cells_measured``).
docs/versions-and-findings.md has the tests and their families.
"""

import math
from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import pyarrow as pa

from hcat.engine.columns import schema
from hcat.statistics.clustered import mean_bounds
from hcat.statistics.intervals import normal_quantile, t_quantile, t_tail
from hcat.statistics.multiple_tests import benjamini_hochberg

VERSION_DIFFERENCE_SCHEMA: Final = schema(
    "string: version_comparison_id status method",
    "float64: difference_lower difference_upper p_value q_value",
    "string: verdict release_answer",
    "int64: queries_needed replicates_needed",
    "bool: is_shared_easier",
)

#: More answers to a query than this are no plan.
MOST_REPLICATES: Final = 100
#: Average share of false verdicts among all verdicts of a family.
FALSE_DISCOVERY_RATE: Final = 0.05
#: With which the target difference would be seen.
POWER: Final = 0.8
#: Clusters with another value below which t is not to be trusted and an exact test takes its place.
LEAST_CHANGED: Final = 10


def compare_versions(cells: pa.Table, *, confidence: float, minimum_clusters: int) -> pa.Table:
    """Return interval, p-value, q-value, verdict and plan of every cell.

    Parameters
    ----------
    cells : Table
        version_comparison_id, version_pair_id, family (`headline`, `metrics` or `segments`; null = none),
        count_shared_queries, count_pairs, count_clusters, clusters_effective (Kish), difference, standard_error
        (jackknife over clusters and documents), candidate_value, others_value and count_other_clusters (share failing
        of the queries that only the candidate was asked, and their clusters; null = none),
        gain and loss (>= 0; what the better and the worse clusters contribute: difference = gain - loss),
        count_clusters_better, count_clusters_worse, value_range (how far two values can lie apart), margin (null = not
        in a family), tolerated_loss, target_difference, is_lower_by_design, noise and noise_of_one (variance of a
        query's difference that comes from answering again: as replicated, and with one answer on each side; null
        without replicates), has_threshold, day_standard_error and day_degrees (of the difference, by the days of the
        answers; null where no queries were answered again on another day). One row per cell, null without a value.
    confidence : float
        Of the two-sided intervals, in (0, 1).
    minimum_clusters : int
        Clusters below which nothing is tested, at least 2.

    Returns
    -------
    Table
        Schema :data:`VERSION_DIFFERENCE_SCHEMA`, in the order of `cells`.

    Raises
    ------
    ValueError
        If a margin is negative, or a tolerated loss or target difference is not above 0.

    Examples
    --------
    Effective clusters 5, difference 0.2, standard error 0.05: t = 4 with 4 degrees of freedom.

    >>> cell = dict(version_comparison_id="v", version_pair_id="p", family="headline", count_shared_queries=12)
    >>> cell |= dict(count_pairs=12, count_clusters=12, clusters_effective=5.0, difference=0.2, standard_error=0.05)
    >>> cell |= dict(gain=0.3, loss=0.1, count_clusters_better=9, count_clusters_worse=3, value_range=1.0, margin=0.02)
    >>> cell |= dict(tolerated_loss=0.05, target_difference=0.1, is_lower_by_design=False, has_threshold=True)
    >>> cell |= dict.fromkeys(("noise", "noise_of_one", "day_standard_error", "day_degrees"))
    >>> cell |= dict(candidate_value=0.1, others_value=0.8, count_other_clusters=9)
    >>> row = compare_versions(pa.Table.from_pylist([cell]), confidence=0.95, minimum_clusters=2).to_pylist()[0]
    >>> row["status"], round(row["p_value"], 4), row["verdict"], row["release_answer"], row["queries_needed"]
    ('tested', 0.0161, 'better', 'loss_excluded', 42)
    """
    _check_rules(cells)
    read = cells.to_pylist()
    rows = [_test_cell(cell, confidence, minimum_clusters) for cell in read]
    _adjust_by_family(read, rows)
    for cell, row in zip(read, rows, strict=True):
        row["verdict"] = _judge(cell, row)
        row["release_answer"] = _answer_release(cell, row)
        row["is_shared_easier"] = _is_easier(cell, confidence)
        row |= _plan(cell, row, confidence)
    return pa.Table.from_pylist(rows, schema=VERSION_DIFFERENCE_SCHEMA)


def _adjust_by_family(cells: list[dict[str, Any]], rows: list[dict[str, Any]]) -> None:
    """Add the q-values of each family of each pair of versions, in place."""
    families: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for cell, row in zip(cells, rows, strict=True):
        if row["status"] in ("tested", "no_change"):
            families.setdefault((cell["version_pair_id"], cell["family"]), []).append(row)
    for family in families.values():
        q_values = benjamini_hochberg(np.asarray([row["p_value"] for row in family], dtype=np.float64))
        for row, q_value in zip(family, q_values.tolist(), strict=True):
            row["q_value"] = q_value


def _test_cell(cell: Mapping[str, Any], confidence: float, minimum_clusters: int) -> dict[str, Any]:
    """Return the columns of one cell but for what its family, its rule and its plan say."""
    row = {"version_comparison_id": cell["version_comparison_id"], "q_value": None}
    status = _status(cell, minimum_clusters)
    if status not in ("tested", "no_change", "not_in_family"):
        return row | {"status": status, "p_value": None}
    count_changed = cell["count_clusters_better"] + cell["count_clusters_worse"]
    if count_changed < LEAST_CHANGED or not cell["standard_error"]:
        p_value, lower, upper = _compare_exactly(cell, 1 - confidence)
        method = "exact"
    else:
        # siblings that outweigh all others leave less than one effective cluster to spare
        degrees = max(cell["clusters_effective"] - 1, 1.0)
        p_value, lower, upper = _compare_by_t(cell["difference"], cell["standard_error"], degrees, confidence)
        method = "jackknife"
    if cell["day_standard_error"] and cell["day_degrees"]:
        # answers of one day may move together: whichever says less, queries or days, decides
        of_days = _compare_by_t(cell["difference"], cell["day_standard_error"], cell["day_degrees"], confidence)
        method = "days" if of_days[0] > p_value else method
        p_value, lower, upper = max(p_value, of_days[0]), min(lower, of_days[1]), max(upper, of_days[2])
    found = {"method": method, "p_value": p_value, "difference_lower": lower, "difference_upper": upper}
    return row | found | {"status": status}


def _status(cell: Mapping[str, Any], minimum_clusters: int) -> str:
    if cell["count_shared_queries"] == 0:
        return "no_pairs"
    if not cell["has_threshold"]:
        return "no_threshold"
    if cell["count_pairs"] == 0:
        return "no_scores"
    if cell["count_clusters"] < minimum_clusters:
        return "too_few_clusters"
    if cell["margin"] is None:
        return "not_in_family"
    return "tested" if cell["count_clusters_better"] + cell["count_clusters_worse"] else "no_change"


def _compare_by_t(difference: float, error: float, degrees: float, confidence: float) -> tuple[float, float, float]:
    """Return p-value and bounds from a standard error."""
    lower, upper = mean_bounds(np.array([difference]), np.array([error]), np.array([degrees]), confidence)
    return 2 * float(t_tail(abs(difference) / error, degrees)), float(lower[0]), float(upper[0])


def _compare_exactly(cell: Mapping[str, Any], miscoverage: float) -> tuple[float, float, float]:
    """Return p-value of the sign test over the clusters that changed, and bounds from their shares."""
    from scipy.special import bdtr

    better, worse = cell["count_clusters_better"], cell["count_clusters_worse"]
    count = cell["count_clusters"]
    p_value = min(1.0, 2 * float(bdtr(min(better, worse), better + worse, 0.5))) if better + worse else 1.0
    least_better, most_better = _bound_share(better, count, miscoverage / 4)
    least_worse, most_worse = _bound_share(worse, count, miscoverage / 4)
    # gain and loss are means over all queries: over the share of clusters they are what one such cluster contributes
    gain_of_one = cell["gain"] * count / better if better else 0.0
    loss_of_one = cell["loss"] * count / worse if worse else 0.0
    lower = least_better * gain_of_one - most_worse * cell["value_range"]
    upper = most_better * cell["value_range"] - least_worse * loss_of_one
    return p_value, lower, upper


def _bound_share(count: int, total: int, tail: float) -> tuple[float, float]:
    """Return the Clopper-Pearson bounds of count / total, each missed with at most the probability `tail`."""
    from scipy.special import betaincinv

    lower = float(betaincinv(count, total - count + 1, tail)) if count else 0.0
    upper = float(betaincinv(count + 1, total - count, 1 - tail)) if count < total else 1.0
    return lower, upper


def _judge(cell: Mapping[str, Any], row: Mapping[str, Any]) -> str:
    if row["q_value"] is None:
        return "not_evaluated"
    if row["q_value"] > FALSE_DISCOVERY_RATE or abs(cell["difference"]) <= cell["margin"]:
        return "no_difference_shown"
    if cell["difference"] > 0:
        return "better"
    return "lower_by_design" if cell["is_lower_by_design"] else "worse"


def _answer_release(cell: Mapping[str, Any], row: Mapping[str, Any]) -> str:
    """Return whether the interval lies above minus the tolerated loss, below it, or on both sides."""
    if row["q_value"] is None:
        return "not_evaluated"
    if row["difference_lower"] > -cell["tolerated_loss"]:
        return "loss_excluded"
    return "loss_shown" if row["difference_upper"] < -cell["tolerated_loss"] else "loss_not_excluded"


def _is_easier(cell: Mapping[str, Any], confidence: float) -> bool | None:
    """Return whether the shared queries fail less than the candidate's others, beyond chance; null without others."""
    if cell["others_value"] is None or not cell["clusters_effective"]:
        return None
    shared, others = cell["clusters_effective"], cell["count_other_clusters"]
    rate = (shared * cell["candidate_value"] + others * cell["others_value"]) / (shared + others)
    error = math.sqrt(rate * (1 - rate) * (1 / shared + 1 / others))
    return bool(cell["others_value"] - cell["candidate_value"] > normal_quantile(confidence) * error)


def _plan(cell: Mapping[str, Any], row: Mapping[str, Any], confidence: float) -> dict[str, int | None]:
    """Return how many queries, or answers to each of the same queries, would show the target difference."""
    nothing: dict[str, int | None] = {"queries_needed": None, "replicates_needed": None}
    # where days decide, more queries on the same days would not help
    if row["status"] != "tested" or row["method"] == "days" or not cell["standard_error"]:
        return nothing
    degrees = max(cell["clusters_effective"] - 1, 1.0)
    reach = float(t_quantile((1 + confidence) / 2, degrees) + t_quantile(POWER, degrees))
    count, variance = cell["count_pairs"], cell["count_pairs"] * cell["standard_error"] ** 2
    planned = {"queries_needed": math.ceil(variance * (reach / cell["target_difference"]) ** 2)}
    if row["method"] == "exact":
        # so few changed that their variance says little: the target difference alone must change enough of them
        enough = math.ceil(LEAST_CHANGED * cell["value_range"] / cell["target_difference"])
        return nothing | {"queries_needed": max(planned["queries_needed"], enough)}
    if cell["noise_of_one"] is None:
        return nothing | planned
    left = count * (cell["target_difference"] / reach) ** 2 - max(variance - cell["noise"], 0.0)
    replicates = math.ceil(cell["noise_of_one"] / left) if left > 0 else MOST_REPLICATES + 1
    return planned | {"replicates_needed": max(1, replicates) if replicates <= MOST_REPLICATES else None}


def _check_rules(cells: pa.Table) -> None:
    """Refuse what the seed metric_rules must not say."""
    for name, least in (("margin", "at least 0"), ("tolerated_loss", "above 0"), ("target_difference", "above 0")):
        for value in cells[name].to_pylist():
            if value is not None and not (value > 0 or (value == 0 and name == "margin")):
                raise ValueError(f"metric_rules: {name} must be {least}, got {value}")
