"""Monitoring plan: weeks and drift, expiry of calibrations, audits, and the next labels to collect."""

from typing import Any, Final

from hcat.engine.warehouse import Row, Warehouse
from hcat.language.display import clean_label
from hcat.report import blocks, charts
from hcat.report.blocks import Block, Column, Gap, Section
from hcat.report.ledger import Build
from hcat.report.showing import EXCERPT_CHARACTERS, describe_segment, format_day, format_interval, format_number

#: Series and latest weeks drawn, and rows listed.
MAXIMUM_SERIES: Final = 4
MAXIMUM_WEEKS: Final = 26
MAXIMUM_DECISIONS: Final = 60

#: Metrics whose weeks are drawn.
WEEKLY_METRICS: Final = ("groundedness", "answer_relevancy__mean", "recall_at_5", "refusal_as_expected")


def describe_monitoring(source: Warehouse, build: Build, count_gates: int) -> Section:
    """Return what every build checks, weeks and drift, and dates on which calibrations end."""
    weeks = _describe_weeks(source, build)
    untimed = weeks is None and Gap("scores by week, and tests of drift", "logs with times of several weeks", "times")
    checked = (
        blocks.rich(
            '{:,} gates run with every build (<a href="#outcomes">outcomes analysis</a>). A gate of severity error that'
            " does not pass ends the build with an error; the last passing copy stays published.",
            count_gates,
        )
        if count_gates
        else "No gate was evaluated, so nothing stops the publication of a bad build."
    )
    return blocks.section(
        blocks.paragraph(checked),
        weeks,
        *_describe_drift(source),
        blocks.fold(
            "Validity of calibrations, and audits",
            blocks.query(
                source,
                "list_validity",
                "A calibration holds for one version class, until its labels are too old.",
                MAXIMUM_DECISIONS,
            ),
            blocks.query(
                source,
                "count_audits",
                "Audits: the labels of each month, tested against what the calibration promised.",
                MAXIMUM_DECISIONS,
            ),
            level=3,
        ),
        gaps=[
            blocks.lacks_mart(source, "fct_metric_drift", "Tests of drift", untimed),
            blocks.lacks_mart(source, "fct_calibration_validity", "Validity of the calibration of each version"),
        ],
    )


def _describe_weeks(source: Warehouse, build: Build) -> Block | None:
    """Return the weeks of the drifting and the main series, with the table behind the picture; None without weeks."""
    names = list(WEEKLY_METRICS)
    series = []
    for row in blocks.read(source, "list_weekly_series", metric_names=names, maximum=MAXIMUM_SERIES):
        key = {each: row[each] for each in ("metric_name", "dimension", "segment")}
        weeks = blocks.read(source, "list_weeks", **key)[-MAXIMUM_WEEKS:]
        segment = "" if row["dimension"] == "all" else f", {describe_segment(row)}"
        if len(weeks) > 1:
            band = next(iter(blocks.read(source, "find_band", **key)), None)
            series.append((row["metric_name"] + segment, weeks, band))
    days = sorted({week["week"] for _, weeks, _ in series for week in weeks})
    if not days:
        return None
    panels = [
        (title, weeks, None if band is None else (band["band_lower"], band["band_upper"]))
        for title, weeks, band in series
    ]
    # segments are text from the logs: they are drawn, but not part of the name of the picture
    text = f"Weekly means with intervals of {len(panels)} series and their reference band; see the table"
    caption = (
        f"Weekly means with {build.level} intervals, series that drift first. The grey band is the range in which the"
        " mean of a week raises no alarm. Red diamonds mark the weeks of a drift alarm. A single week outside the band"
        " is a reason to look: other questions in that week may explain it."
    )
    rows: list[Row] = [{"week": "Band and reference period"} | {title: _show_band(band) for title, _, band in series}]
    rows += [
        {"week": each}
        | {title: _show_week(week) for title, weeks, _ in series for week in weeks if week["week"] == each}
        for each in days
    ]
    behind = blocks.table(
        "Mean, interval and number of scored interactions (n) by week.",
        ("week", *(blocks.text_of(title) for title, *_ in series)),
        rows,
        len(rows),
    )
    return blocks.picture(charts.draw_weeks(panels, days, text), caption, behind, "scroll low")


def _show_week(week: Row) -> str:
    interval = format_interval(week["mean_lower"], week["mean_upper"])
    return f"{format_number(week['mean_score'])} {interval} n {week['count_scored']:,}"


def _show_band(band: Row | None) -> str:
    if band is None:
        return "none"
    period = f"{format_day(band['reference_start'])} to {format_day(band['reference_end'])}"
    return f"{format_interval(band['band_lower'], band['band_upper'])}, {period}"


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
        ),
        blocks.table(
            "Drift alarms.",
            {"segment": Column("Segment", _show_segment, "")},
            blocks.read(source, "list_drifting"),
            noun="drifting series",
            words={"metric_name": {None: "mix of segments"}},
        ),
    ]


def _show_segment(row: Row) -> Any:
    detail = clean_label(row["_detail"], EXCERPT_CHARACTERS) if row["_detail"] else ""
    return blocks.lines(describe_segment({**row, "dimension": row["_dimension"]}), blocks.small(detail))
