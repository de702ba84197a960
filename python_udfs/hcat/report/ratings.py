"""Human ratings, and the mean scores of accepted and other answers before calibration."""

from __future__ import annotations

from typing import Any

from hcat.engine.warehouse import Warehouse
from hcat.language.display import clean_label
from hcat.report.showing import format_number, format_percent, ratio

COUNT_RATINGS = """
select count(*) as count_ratings, count(distinct rater) as count_raters,
    count(distinct interaction_id) as count_interactions
from stg_ratings
"""

DESCRIBE_RATINGS = """
select
    criterion,
    count(*) as count_interactions,
    max(count_raters) as maximum_raters,
    avg(mean_scale_point) as mean_scale_point,
    count(*) filter (where label = 1) as count_accepted,
    count(*) filter (where label = 0) as count_not_accepted,
    count(*) filter (where label is null) as count_ties
from int_ratings_adjudicated
group by criterion
order by criterion
"""

COMPARE_LABELS = """
select
    metric_name,
    count(*) filter (where label = 1) as count_accepted,
    count(*) filter (where label = 0) as count_not_accepted,
    avg(raw_score) filter (where label = 1) as mean_accepted,
    avg(raw_score) filter (where label = 0) as mean_not_accepted
from fct_evaluations
where label is not null and raw_score is not null
group by metric_name
order by metric_name
"""


def describe_ratings(source: Warehouse) -> dict[str, Any]:
    """Return counts of ratings, labels by criterion, and mean scores of accepted and other answers."""
    totals = source.rows(COUNT_RATINGS, ["stg_ratings"])
    criteria = source.rows(DESCRIBE_RATINGS, ["int_ratings_adjudicated"])
    compared = source.rows(COMPARE_LABELS, ["fct_evaluations"])
    return {
        "totals": totals[0] if totals and totals[0]["count_ratings"] else None,
        "criteria": [
            {
                **row,
                "criterion": clean_label(row["criterion"]),
                "mean": format_number(row["mean_scale_point"]),
                "accepted": format_percent(
                    ratio(row["count_accepted"], row["count_accepted"] + row["count_not_accepted"])
                ),
            }
            for row in criteria
        ],
        "compared": [
            {
                **row,
                "accepted": format_number(row["mean_accepted"]),
                "not_accepted": format_number(row["mean_not_accepted"]),
            }
            for row in compared
        ],
    }
