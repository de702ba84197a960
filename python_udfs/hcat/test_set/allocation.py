"""Numbers of sampled chunks by stratum, between a minimum and all chunks."""

from typing import Final

import numpy as np
import pyarrow as pa

ALLOCATION_SCHEMA: Final = pa.schema(
    [("stratum_id", pa.string()), ("count_allocated", pa.float64()), ("count_planned", pa.int64())]
)
#: Beyond billionths lies rounding noise: it must not decide who gets the last chunk.
_DECIMALS: Final = 9


def allocate_chunks(strata: pa.Table) -> pa.Table:
    """Return how many chunks each stratum gives, so that the total is met exactly.

    A stratum gives level x weight, held between its bounds. The sum over strata rises with the level along straight
    lines that bend where a stratum leaves its minimum or has been taken whole. Rounding is by largest remainder.

    Parameters
    ----------
    strata
        Columns ``stratum_id``, ``allocation_weight`` (from 0), ``count_least``, ``count_population`` and
        ``count_total``, which is equal in all n rows and lies between the sums of the two bounds.

    Returns
    -------
    pa.Table
        Rows of `ALLOCATION_SCHEMA`, shape (n,): ``count_allocated`` is level x weight in chunks, without bounds.

    Examples
    --------
    >>> table = pa.table({"stratum_id": ["a", "b", "c"], "allocation_weight": [6.0, 3.0, 0.1], "count_least": [1] * 3,
    ...     "count_population": [9, 9, 9], "count_total": [7] * 3})
    >>> allocate_chunks(table)["count_planned"].to_pylist()
    [4, 2, 1]
    """
    strata = strata.sort_by("stratum_id")
    names = ("allocation_weight", "count_least", "count_population")
    weights, least, population = (strata[name].to_numpy().astype(np.float64) for name in names)
    if not len(weights):
        return ALLOCATION_SCHEMA.empty_table()
    total = float(strata["count_total"][0].as_py())
    # a stratum without weight comes last
    weights = np.maximum(weights, 1e-12 * max(weights.max(), 1.0))
    levels = np.concatenate([least / weights, population / weights])
    order = np.argsort(levels, kind="stable")
    levels = levels[order]
    slopes = np.cumsum(np.concatenate([weights, -weights])[order])
    constants = np.cumsum(np.concatenate([-least, population])[order])
    reached = np.round(least.sum() + constants + levels * slopes, _DECIMALS)
    # where the line is level, every stratum is held by a bound, and its beginning will do
    end = int(np.searchsorted(reached, total))
    line = slice(max(end - 1, 0), end + 1)
    allocated = np.interp(total, reached[line], levels[line]) * weights
    exact = np.round(np.clip(allocated, least, population), _DECIMALS)
    planned = np.floor(exact)
    remainders = np.round(exact - planned, _DECIMALS)
    # the last key counts most; a stratum that is taken whole gives no more
    by_remainder = np.lexsort((-population, -remainders, planned >= population))
    planned[by_remainder[: int(total - planned.sum())]] += 1
    columns = [strata["stratum_id"], allocated, planned.astype(np.int64)]
    return pa.table(columns, schema=ALLOCATION_SCHEMA)
