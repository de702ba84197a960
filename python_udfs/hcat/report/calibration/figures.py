"""Pictures of a calibrated metric: score against label with its prediction sets, reliability."""

import hashlib
import itertools
from collections.abc import Sequence
from typing import Final

from hcat.engine.warehouse import Row, Warehouse
from hcat.report import blocks, charts
from hcat.report.blocks import Block
from hcat.report.ledger import Build
from hcat.report.showing import distinct_labels, format_percent, group_by

#: Metric of the figures where several metrics have equally many labels.
PREFERRED_METRIC: Final = "groundedness"
#: Scores behind a density or histogram, of each label.
MAXIMUM_SCORES: Final = 2000
#: Points drawn of each label, and pairs of points along the curve.
MAXIMUM_POINTS: Final = 110
CURVE_BUCKETS: Final = 60
#: Systems whose prediction sets are drawn, and stretches of one set per system. Sets that depend on more than the score
#: make more stretches and are not drawn.
MAXIMUM_STRIPS: Final = 5
MAXIMUM_STRETCHES: Final = 8
#: Families whose curve is a staircase: it is flat between two scores.
STAIRCASES: Final = ("isotonic", "boosted")

#: System, word of the set, and the scores from which and to which it holds.
Band = tuple[str, str, float, float]


def find_score_range(metric: Row | None, scores: Sequence[float]) -> tuple[float, float]:
    """Return the ends of a score axis: 3 % wider than the scores, but inside the range of the metric."""
    low, high = min(scores), max(scores)
    margin = 0.03 * (high - low) or 0.05
    low, high = low - margin, high + margin
    if metric is not None:
        low = max(low, -float("inf") if metric["range_low"] is None else metric["range_low"])
        high = min(high, float("inf") if metric["range_high"] is None else metric["range_high"])
    return (low, high) if low < high else (low - 0.05, high + 0.05)


def describe_curve(source: Warehouse, build: Build, chosen: Row) -> Block:
    """Return the picture of score against label with its table."""
    name = chosen["metric_name"]
    labelled = blocks.read(source, "sample_labelled", metric_name=name, maximum=MAXIMUM_POINTS)
    traced = blocks.read(source, "trace_curve", metric_name=name, buckets=CURVE_BUCKETS)
    if not labelled or not traced:
        return blocks.absent(
            "No figure of score against label: no labelled answer has both a score and a calibrated probability."
        )
    stretches = blocks.read(source, "list_set_stretches", metric_name=name)
    bands = find_bands(stretches)
    metric = next((each for each in build.metrics if each["metric_name"] == name), None)
    scores = [row["raw_score"] for row in labelled]
    chart = charts.draw_score_against_label(
        [(row["raw_score"], row["human_label"], _jitter(row["interaction_id"])) for row in labelled],
        trace_curve(traced, chosen["family"] in STAIRCASES),
        bands,
        find_score_range(metric, [*scores, traced[0]["first_score"], traced[-1]["last_score"]]),
        f"score of {name}",
        f"Labels and calibrated probability over the score of {name}; fct_calibration_bins has them",
    )
    counts = {row["human_label"]: row["count_labels"] for row in labelled}
    drawn = "; a random sample is drawn" if any(count > MAXIMUM_POINTS for count in counts.values()) else ""
    caption = (
        "One point per labelled answer, spread vertically at random: accepted at the top"
        f" (n {counts.get(1, 0):,}), failed at the bottom (n {counts.get(0, 0):,}){drawn}. The line is the calibrated"
        " probability. A score that separates well has its accepted answers to the right and its failed answers to the"
        f" left. {_describe_strips(source, name, stretches, bands)}"
    )
    return blocks.picture(chart, caption)


def _describe_strips(source: Warehouse, name: str, stretches: Sequence[Row], bands: Sequence[Band]) -> str:
    sets = {
        row["prediction_set"]: row["count_interactions"] for row in blocks.read(source, "count_sets", metric_name=name)
    }
    if not bands:
        return (
            "Prediction sets are not drawn, because they depend on more than score and system."
            if sets
            else "No prediction sets were made."
        )
    total = sum(sets.values())
    decided = format_percent((sets.get("accepted", 0) + sets.get("failed", 0)) / total)
    told = (
        f"The strips show the prediction set for each score, by system: blue is accepted, orange is failed, grey is"
        f" undecided (n {total:,} answers, {decided} decided)."
    )
    if sets.get("accepted|failed", 0) == total:
        told += " All are undecided: with so few labelled clusters, no verdict can be ruled out."
    left_out = len({row["system"] for row in stretches}) - MAXIMUM_STRIPS
    return told + (f" {left_out} smaller systems are not drawn." if left_out > 0 else "")


def trace_curve(rows: Sequence[Row], is_staircase: bool) -> list[tuple[float, float]]:
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


def find_bands(stretches: Sequence[Row]) -> list[Band]:
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
        for place, row in enumerate(rows):
            word = "undecided" if row["prediction_set"] == "accepted|failed" else row["prediction_set"]
            bands.append((labels[system], word, edges[place], edges[place + 1]))
    return bands


def _jitter(interaction_id: str) -> float:
    """Return a number in [0, 1] that is the same for the same interaction."""
    digest = hashlib.md5(f"jitter{interaction_id}".encode(), usedforsecurity=False).hexdigest()
    return int(digest[:6], 16) / 0xFFFFFF
