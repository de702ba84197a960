"""Pictures of a calibrated metric: score against label with its prediction sets, reliability."""

from collections.abc import Sequence
from typing import Final

from hcat.engine.warehouse import Row, Warehouse
from hcat.report import blocks, charts
from hcat.report.blocks import Block
from hcat.report.ledger import Build
from hcat.report.showing import distinct_labels, format_percent

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
    bands = [row for row in stretches if row["place"] <= MAXIMUM_STRIPS]
    if any(row["count_stretches"] > MAXIMUM_STRETCHES for row in bands):
        bands = []
    labels = distinct_labels(list(dict.fromkeys(row["system"] for row in bands)))
    metric = next((each for each in build.metrics if each["metric_name"] == name), None)
    scores = [row["raw_score"] for row in labelled]
    chart = charts.draw_score_against_label(
        labelled,
        traced,
        [row | {"system": labels[row["system"]]} for row in bands],
        find_score_range(metric, [*scores, traced[0]["score"], traced[-1]["score"]]),
        f"score of {name}",
        f"Labels and calibrated probability over the score of {name}; fct_calibration_bins has them",
        is_staircase=chosen["family"] in STAIRCASES,
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


def _describe_strips(source: Warehouse, name: str, stretches: Sequence[Row], bands: Sequence[Row]) -> str:
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
    left_out = stretches[-1]["place"] - MAXIMUM_STRIPS
    return told + (f" {left_out} smaller systems are not drawn." if left_out > 0 else "")
