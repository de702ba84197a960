"""Monitoring plan: drift, expiry of calibrations, and audits."""

from hcat.engine.warehouse import Warehouse
from hcat.report import blocks
from hcat.report.blocks import Block, Gap, Section
from hcat.report.showing import format_day


def describe_monitoring(source: Warehouse) -> Section:
    """Return drift, and dates on which calibrations end."""
    weeks = source.rows("select 1 from fct_metric_weeks having count(distinct week_start) > 1", ["fct_metric_weeks"])
    untimed = not weeks and Gap("scores by week, and tests of drift", "logs with times of several weeks", "times")
    return blocks.section(
        *_describe_drift(source),
        blocks.fold(
            "Validity of calibrations, and audits",
            blocks.query(
                source, "list_validity", "A calibration holds for one version class, until its labels are too old."
            ),
            blocks.query(
                source,
                "count_audits",
                "Audits: the labels of each month, tested against what the calibration promised.",
            ),
            level=3,
        ),
        gaps=[
            blocks.lacks_mart(source, "fct_metric_drift", "Tests of drift", untimed),
            blocks.lacks_mart(source, "fct_calibration_validity", "Validity of the calibration of each version"),
        ],
    )


def _describe_drift(source: Warehouse) -> list[Block | None]:
    if not source.has("fct_metric_drift"):
        return []
    (counts,) = blocks.read(source, "count_drift")
    if not counts["count_tested"]:
        return [blocks.heading("Drift"), blocks.absent("No series was long enough to be tested for drift.")]
    return [
        blocks.heading("Drift"),
        blocks.paragraph(
            f"Of {counts['count_windows']:,} series and windows, {counts['count_tested']:,} were tested and"
            f" {counts['count_drifting']:,} drift; the last window starts on {format_day(counts['last_window'])}. A"
            " series is a metric in a segment, or the mix of segments of a dimension. An alarm says that it moved"
            " further than the weeks of the reference differ from each other, corrected for all series."
            " fct_metric_drift lists every one."
        ),
    ]
