"""The curve from score to probability, with labelled answers above and below it and prediction sets beside it."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from hcat.engine.warehouse import Row, Warehouse
from hcat.report import charts
from hcat.report.calibration.labelled import SAMPLE_LABELLED, find_score_range
from hcat.report.showing import as_markup, distinct_labels, format_number, format_percent, group_by

#: Points drawn of each label, and pairs of points along the curve.
MAXIMUM_POINTS = 110
CURVE_BUCKETS = 60
#: Systems whose prediction sets are drawn, and stretches of one set per system. Sets that depend on more than the score
#: make more stretches and are not drawn.
MAXIMUM_STRIPS = 5
MAXIMUM_STRETCHES = 8
#: Families whose curve is a staircase: it is flat between two scores.
STAIRCASES = ("isotonic", "boosted")

# The first and the last score of every bucket draw a line as fine as a pixel, even over a million interactions.
TRACE_CURVE = """
with scored as (
    select
        raw_score,
        calibrated_probability,
        floor(
            $buckets * (raw_score - min(raw_score) over ())
            / nullif(max(raw_score) over () - min(raw_score) over (), 0)
        ) as bucket
    from fct_evaluations
    where metric_name = $metric_name and raw_score is not null and calibrated_probability is not null
)

select
    min(raw_score) as first_score,
    arg_min(calibrated_probability, raw_score) as first_probability,
    max(raw_score) as last_score,
    arg_max(calibrated_probability, raw_score) as last_probability
from scored
group by bucket
order by first_score
"""

# The table behind the curve: ten groups of equally many scored answers by rising score.
MEASURE_CURVE = """
with ranked as (
    select
        raw_score,
        calibrated_probability,
        human_label,
        ntile(10) over (order by raw_score, interaction_id) as tenth
    from fct_evaluations
    where metric_name = $metric_name and raw_score is not null and calibrated_probability is not null
)

select
    tenth,
    min(raw_score) as lowest_score,
    max(raw_score) as highest_score,
    min(calibrated_probability) as lowest_probability,
    max(calibrated_probability) as highest_probability,
    count(*) as count_scored,
    count(*) filter (where human_label = 1) as count_accepted,
    count(*) filter (where human_label = 0) as count_failed
from ranked
group by tenth
order by tenth
"""

# Stretches of the score with one prediction set, per system.
LIST_SET_STRETCHES = """
with judged as (
    select interactions.system, evaluations.raw_score, evaluations.prediction_set
    from fct_evaluations as evaluations
    inner join fct_interactions as interactions on evaluations.interaction_id = interactions.interaction_id
    where
        evaluations.metric_name = $metric_name
        and evaluations.prediction_set is not null
        and evaluations.raw_score is not null
),

changes as (
    select
        *,
        prediction_set is distinct from lag(prediction_set) over (
            partition by system order by raw_score, prediction_set
        ) as is_change
    from judged
),

numbered as (
    select
        *,
        sum(is_change::integer) over (
            partition by system order by raw_score, prediction_set rows between unbounded preceding and current row
        ) as stretch
    from changes
)

select
    system,
    stretch,
    prediction_set,
    min(raw_score) as low,
    max(raw_score) as high,
    count(*) as count_interactions,
    sum(count(*)) over (partition by system) as count_system
from numbered
group by system, stretch, prediction_set
order by count_system desc, system, stretch
"""

COUNT_SETS = """
select prediction_set, count(*) as count_interactions
from fct_evaluations
where metric_name = $metric_name and prediction_set is not null
group by prediction_set
order by prediction_set
"""


def describe_curve(source: Warehouse, chosen: Row | None, metrics: Mapping[str, Row]) -> dict[str, Any] | None:
    """Return the figure of score against label with its table; None without a calibrator or without labelled scores."""
    if chosen is None:
        return None
    name = chosen["metric_name"]
    labelled = source.rows(SAMPLE_LABELLED, ["fct_evaluations"], metric_name=name, maximum=MAXIMUM_POINTS)
    traced = source.rows(TRACE_CURVE, ["fct_evaluations"], metric_name=name, buckets=CURVE_BUCKETS)
    if not labelled or not traced:
        return None
    stretches = source.rows(LIST_SET_STRETCHES, ["fct_evaluations", "fct_interactions"], metric_name=name)
    bands = _find_bands(stretches)
    sets = {
        row["prediction_set"]: row["count_interactions"]
        for row in source.rows(COUNT_SETS, ["fct_evaluations"], metric_name=name)
    }
    domain = find_score_range(
        metrics.get(name),
        [*(row["raw_score"] for row in labelled), traced[0]["first_score"], traced[-1]["last_score"]],
    )
    counts = {row["human_label"]: row["count_labels"] for row in labelled}
    points = [(row["raw_score"], row["human_label"], _jitter(row["interaction_id"])) for row in labelled]
    chart = charts.draw_score_against_label(
        points,
        _trace_curve(traced, chosen["family"] in STAIRCASES),
        bands,
        domain,
        f"score of {name}",
        f"Labels and calibrated probability over the score of {name}; see the table below",
    )
    total = sum(sets.values())
    return {
        "chart": as_markup(chart),
        "rows": [
            {
                **row,
                "scores": f"{format_number(row['lowest_score'])} to {format_number(row['highest_score'])}",
                "probabilities": f"{format_percent(row['lowest_probability'])} to"
                f" {format_percent(row['highest_probability'])}",
            }
            for row in source.rows(MEASURE_CURVE, ["fct_evaluations"], metric_name=name)
        ],
        "count_accepted": counts.get(1, 0),
        "count_failed": counts.get(0, 0),
        "is_sampled": any(count > MAXIMUM_POINTS for count in counts.values()),
        "has_strips": bool(bands),
        "has_sets": bool(sets),
        "key": [(word, charts.SET_COLOURS[word]) for word in charts.SET_COLOURS if word in {one.word for one in bands}],
        "is_all_undecided": bool(total) and sets.get("accepted|failed", 0) == total,
        "share_decided": format_percent((sets.get("accepted", 0) + sets.get("failed", 0)) / total) if total else None,
        "count_sets": total,
        "count_strips_left_out": max(0, len({row["system"] for row in stretches}) - MAXIMUM_STRIPS) if bands else 0,
    }


def _trace_curve(rows: Sequence[Row], is_staircase: bool) -> list[tuple[float, float]]:
    """Return the points of the curve by rising score; a staircase rises half way between two scores."""
    points: list[tuple[float, float]] = []
    for row in rows:
        for end in ("first", "last"):
            point = (row[f"{end}_score"], row[f"{end}_probability"])
            if points and point == points[-1]:
                continue
            if points and is_staircase and point[1] != points[-1][1]:
                middle = (points[-1][0] + point[0]) / 2
                points += [(middle, points[-1][1]), (middle, point[1])]
            # of three points on one step, the middle one adds nothing to the line
            if is_staircase and len(points) > 1 and points[-1][1] == points[-2][1] == point[1]:
                points.pop()
            points.append(point)
    return points


def _find_bands(stretches: Sequence[Row]) -> list[charts.Band]:
    """Return the strips of the largest systems; none where prediction sets depend on more than the score."""
    by_system = dict(list(group_by(stretches, "system").items())[:MAXIMUM_STRIPS])
    if any(len(rows) > MAXIMUM_STRETCHES for rows in by_system.values()):
        return []
    labels = distinct_labels(list(by_system))
    bands = []
    for system, rows in by_system.items():
        # neighbouring stretches meet half way, because no score was seen between them
        edges = [
            rows[0]["low"],
            *((left["high"] + right["low"]) / 2 for left, right in itertools.pairwise(rows)),
            rows[-1]["high"],
        ]
        for number, row in enumerate(rows):
            word = "undecided" if row["prediction_set"] == "accepted|failed" else row["prediction_set"]
            bands.append(charts.Band(labels[system], word, edges[number], edges[number + 1]))
    return bands


def _jitter(interaction_id: str) -> float:
    """Return a number in [0, 1] that is the same for the same interaction."""
    digest = hashlib.md5(f"jitter{interaction_id}".encode(), usedforsecurity=False).hexdigest()
    return int(digest[:6], 16) / 0xFFFFFF
