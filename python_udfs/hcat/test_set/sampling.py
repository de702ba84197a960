"""How many queries a test set needs: the total, and the number per stratum, for a wanted half-width of an interval."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa

from hcat.engine.columns import schema
from hcat.review.sampling import labels_for_half_width
from hcat.statistics.intervals import normal_quantile, wilson_interval

HALF_WIDTHS: Final = (0.02, 0.03, 0.05, 0.1)
"""Wanted halves of the width of the interval of a failure share."""

EXPECTED_SHARE: Final = 0.1
"""Failure share that is expected; .5 would need most."""

#: What a row plans for: the share of the whole collection, of one stratum, or of each stratum at once.
SCOPES = ("overall", "stratum", "every_stratum")

#: reached: the plan holds as many; all_chunks_taken: every chunk of the scope, so nothing is drawn; not_reached: the
#: plan holds fewer; not_reachable: more than there are chunks. From the best to the worst.
PLAN_STATUSES = ("reached", "all_chunks_taken", "not_reached", "not_reachable")

SAMPLE_PLAN_SCHEMA = schema(
    "string: scope stratum_id stratum_label plan_status",
    "float64: half_width expected_share confidence design_effect",
    "int64: count_population count_planned count_needed",
    "float64: half_width_planned",
)


def weighting_design_effect(populations: Sequence[int], counts: Sequence[int]) -> float:
    """Return by which factor unequal weights of strata raise the variance of an overall share, at least 1."""
    sizes, sampled = np.asarray(populations, dtype=np.float64), np.asarray(counts, dtype=np.float64)
    return max(1.0, float(sampled.sum() * (sizes**2 / sampled).sum() / sizes.sum() ** 2))


def expected_half_width(count: int, expected_share: float, confidence: float, design_effect: float) -> float:
    """Return half the width of Wilson's interval of a share on ``count`` queries, in (0, .5]."""
    low, high = wilson_interval(expected_share, count / design_effect, normal_quantile((1 + confidence) / 2))
    return (high - low) / 2


def plan_sample_sizes(strata: pa.Table, confidence: float) -> pa.Table:
    """Return which number of queries buys which half-width, one row per (scope, stratum, half-width).

    The number is that of :func:`hcat.review.sampling.labels_for_half_width` without a finite population correction:
    the failure share is that of all queries that the documents allow, of which a chunk has many, so that having asked
    one about every chunk does not end the doubt. A number above that of the chunks needs several queries a chunk.

    Parameters
    ----------
    strata : Table
        stratum_id, stratum_label, count_population (N_h), count_planned (n_h).
    confidence : float
        Two-sided, in (0, 1).

    Returns
    -------
    Table
        Schema :data:`SAMPLE_PLAN_SCHEMA`, overall first, then strata in the order of their ids. ``every_stratum`` is
        the total with which each stratum has the half-width by itself. ``half_width_planned`` is what the planned
        number gives; null for every_stratum, and where every chunk is taken: an interval describes a draw, and there
        is none. No strata, no rows.
    """
    rows = sorted(strata.to_pylist(), key=lambda row: str(row["stratum_id"]))
    if not rows:
        return SAMPLE_PLAN_SCHEMA.empty_table()
    populations, counts = [row["count_population"] for row in rows], [row["count_planned"] for row in rows]
    whole = {"stratum_label": "all", "count_population": sum(populations), "count_planned": sum(counts)}
    overall_effect = weighting_design_effect(populations, counts)
    planned: list[dict[str, Any]] = []
    for half_width in HALF_WIDTHS:
        settings = {"half_width": half_width, "expected_share": EXPECTED_SHARE, "confidence": confidence}
        # a chunk has one query of a kind, so that only unequal weights raise the variance
        each = labels_for_half_width(EXPECTED_SHARE, half_width, confidence, 1.0)
        overall = labels_for_half_width(EXPECTED_SHARE, half_width, confidence, overall_effect)
        planned.append(_plan(whole | {"scope": "overall"}, settings, overall_effect, overall))
        own = [_plan(row | {"scope": "stratum"}, settings, 1.0, each) for row in rows]
        statuses = {row["plan_status"] for row in own}
        # as good as the worst of its strata
        status = next(word for word in reversed(PLAN_STATUSES) if word in statuses)
        total = {
            "scope": "every_stratum",
            "plan_status": status,
            "design_effect": 1.0,
            "count_needed": each * len(rows),
        }
        planned += [whole | settings | total, *own]
    return pa.Table.from_pylist(planned, schema=SAMPLE_PLAN_SCHEMA)


def _plan(row: dict[str, Any], settings: dict[str, float], design_effect: float, needed: int) -> dict[str, Any]:
    count = row["count_planned"]
    is_drawn = count < row["count_population"]
    if not is_drawn:
        status = "all_chunks_taken"
    elif count >= needed:
        status = "reached"
    elif needed > row["count_population"]:
        status = "not_reachable"
    else:
        status = "not_reached"
    reached = expected_half_width(count, settings["expected_share"], settings["confidence"], design_effect)
    return (
        row
        | settings
        | {
            "plan_status": status,
            "design_effect": design_effect,
            "count_needed": needed,
            "half_width_planned": reached if is_drawn else None,
        }
    )
