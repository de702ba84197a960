"""Pictures of values with their intervals: by metric and system, by rank, differences to zero, weeks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hcat.report.charts.base import (
    DECISION_INK,
    GRID,
    INK,
    MUTED_INK,
    SERIES_COLOURS,
    chart_of,
    draw_names,
    draw_strokes,
    encode_series,
    finish,
    shorten,
    wrap,
)

#: Pixels of a row of differences.
DIFFERENCE_HEIGHT = 36
#: Share of the span of the axis that stays free at each end.
AXIS_MARGIN = 0.06
#: Names of weeks that stand side by side below a picture of weeks.
MAXIMUM_WEEK_LABELS = 10


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value with its interval, at a position (``row`` or ``k``) of one series; bounds may be None."""

    position: str
    series: str
    value: float
    lower: float | None
    upper: float | None


@dataclass(frozen=True, slots=True)
class Difference:
    """A difference with its interval: without bounds an open point, and a filled diamond where a test marks it."""

    name: str
    detail: str
    value: float
    lower: float | None
    upper: float | None
    is_marked: bool
    text: str


@dataclass(frozen=True, slots=True)
class WeeklyValue:
    """Mean of one week with its interval (bounds may be None); ``is_marked`` where a drift test fires."""

    week: str
    value: float
    lower: float | None
    upper: float | None
    is_marked: bool = False


def draw_estimates(
    estimates: Sequence[Estimate], rows: Sequence[str], series: Sequence[str], axis_title: str, label: str
) -> str:
    """Return shares with their intervals as SVG: one row per position, one colour and shape per series."""
    import altair as alt

    colour, shape = encode_series(series)
    step = 0.6 / max(len(series), 1)
    data = []
    for estimate in estimates:
        offset = (series.index(estimate.series) - (len(series) - 1) / 2) * step
        data.append(
            {
                "y": rows.index(estimate.position) + 0.5 + offset,
                "value": estimate.value,
                "lower": estimate.value if estimate.lower is None else estimate.lower,
                "upper": estimate.value if estimate.upper is None else estimate.upper,
                "series": estimate.series,
            }
        )
    y = alt.Y("y:Q", scale=alt.Scale(domain=[len(rows), 0], nice=False, zero=False), axis=None)
    scale = alt.Scale(domain=[0, 1], nice=False)
    x = alt.X("value:Q", scale=scale, axis=alt.Axis(title=axis_title, format=".0%", tickCount=5, domain=False))
    borders = [{"y": number} for number in range(1, len(rows))]
    layers = [
        chart_of(borders or [{"y": 0}]).mark_rule(color=GRID).encode(y=y),
        chart_of(data)
        .mark_rule(strokeWidth=2)
        .encode(x=alt.X("lower:Q", scale=scale), x2="upper:Q", y=y, color=colour),
        chart_of(data).mark_point(filled=True, size=70, opacity=1).encode(x=x, y=y, color=colour, shape=shape),
        draw_names([(number + 0.5, name) for number, name in enumerate(rows)], y),
    ]
    height = max(30, 14 + 13 * len(series)) * len(rows)
    return finish(alt.layer(*layers).properties(width=560, height=height), label)


def draw_differences(
    differences: Sequence[Difference], axis_title: str, sides: tuple[str, str], is_share: bool, label: str
) -> str:
    """Return differences with their intervals against a line at zero as SVG (a forest plot), one row each."""
    import altair as alt

    if not differences:
        raise ValueError("a figure of differences needs at least one, got none")
    width, text_left = 430, 442
    bounds = [one.value for one in differences]
    bounds += [bound for one in differences for bound in (one.lower, one.upper) if bound is not None]
    low, high = min([0.0, *bounds]), max([0.0, *bounds])
    margin = AXIS_MARGIN * (high - low) or 1.0
    scale = alt.Scale(domain=[low - margin, high + margin], nice=False, zero=False)
    # Vega's expression and not a format: percent signs would be wrong for points
    expression = "round(datum.value * 1000) / 10" if is_share else "datum.label"
    axis = alt.Axis(title=axis_title, tickCount=6, domain=False, labelExpr=expression)
    x = alt.X("x:Q", scale=scale, axis=axis)
    y = alt.Y("y:Q", scale=alt.Scale(domain=[len(differences), 0], nice=False, zero=False), axis=None)
    rows = [
        {
            "y": number + 0.5,
            "x": one.value,
            "name": shorten(one.name, 46),
            "detail": shorten(one.detail, 64),
            "text": one.text,
            "is_marked": one.is_marked,
        }
        for number, one in enumerate(differences)
    ]
    bars = {
        is_marked: [
            (one.lower, number + 0.5, one.upper, number + 0.5)
            for number, one in enumerate(differences)
            if one.lower is not None and one.upper is not None and one.is_marked is is_marked
        ]
        for is_marked in (True, False)
    }
    zero = [{"x": 0.0}]
    layers: list[Any] = [
        chart_of([{"y": number} for number in range(len(differences) + 1)]).mark_rule(color=GRID).encode(y=y),
        chart_of(zero).mark_rule(color=INK, strokeWidth=1.2).encode(x=x),
    ]
    for is_marked, colour in ((False, MUTED_INK), (True, SERIES_COLOURS[1])):
        chosen = [row for row in rows if row["is_marked"] is is_marked]
        if bars[is_marked]:
            layers.append(draw_strokes(bars[is_marked], x, y, colour, 2.4 if is_marked else 1.8, 1))
        if chosen:
            layers.append(
                chart_of(chosen)
                .mark_point(
                    shape="diamond" if is_marked else "circle",
                    size=110 if is_marked else 60,
                    fill=colour if is_marked else "#ffffff",
                    stroke=colour,
                    strokeWidth=1.8,
                    opacity=1,
                )
                .encode(x=x, y=y)
            )
    for field, rise, size, ink in (("name", -7, 12, INK), ("detail", 8, 10.5, MUTED_INK)):
        layers.append(
            chart_of(rows)
            .mark_text(align="right", baseline="middle", dx=-10, dy=rise, fontSize=size, color=ink)
            .encode(x=alt.value(0), y=y, text=f"{field}:N")
        )
    layers.append(
        chart_of(rows)
        .mark_text(align="left", baseline="middle", fontSize=11, color=MUTED_INK)
        .encode(x=alt.value(text_left), y=y, text="text:N")
    )
    for side, align, shift in ((f"← {sides[0]}", "right", -6), (f"{sides[1]} →", "left", 6)):
        layers.append(
            chart_of([{"x": 0.0, "text": side}])
            .mark_text(align=align, baseline="bottom", dx=shift, dy=-4, fontSize=11, color=MUTED_INK)
            .encode(x=x, y=alt.value(0), text="text:N")
        )
    picture = alt.layer(*layers).properties(width=width, height=DIFFERENCE_HEIGHT * len(differences))
    return finish(picture, label)


def draw_weeks(
    panels: Sequence[tuple[str, Sequence[WeeklyValue], tuple[float, float] | None]],
    weeks: Sequence[str],
    label: str,
) -> str:
    """Return weekly means with their intervals as SVG, one panel below the other, each over its reference band."""
    import altair as alt

    if not panels or not weeks:
        raise ValueError(f"a figure of weeks needs panels and weeks, got {len(panels)} and {len(weeks)}")
    numbers = {week: number for number, week in enumerate(weeks)}
    width, height = 620, 96
    x_scale = alt.Scale(domain=[-0.5, len(weeks) - 0.5], nice=False, zero=False)
    x = alt.X("x:Q", scale=x_scale, axis=None)
    step = -(-len(weeks) // MAXIMUM_WEEK_LABELS)
    names = [{"x": number, "text": week} for number, week in enumerate(weeks) if number % step == 0]
    charts = []
    for position, (title, values, band) in enumerate(panels):
        bounds = [one.value for one in values]
        bounds += [bound for one in values for bound in (one.lower, one.upper) if bound is not None]
        bounds += list(band or ())
        low, high = (min(bounds), max(bounds)) if bounds else (0.0, 1.0)
        margin = 2 * AXIS_MARGIN * (high - low) or 0.05
        y = alt.Y(
            "y:Q",
            scale=alt.Scale(domain=[low - margin, high + margin], nice=False, zero=False),
            axis=alt.Axis(title=None, tickCount=4, domain=False),
        )
        layers: list[Any] = []
        if band is not None:
            stripe = [{"x": -0.5, "x2": len(weeks) - 0.5, "y": band[0], "y2": band[1]}]
            layers.append(
                chart_of(stripe).mark_rect(color="#d3d9e0", opacity=0.7).encode(x=x, x2="x2:Q", y=y, y2="y2:Q")
            )
        bars = [
            (float(numbers[one.week]), one.lower, float(numbers[one.week]), one.upper)
            for one in values
            if one.lower is not None and one.upper is not None
        ]
        if bars:
            layers.append(draw_strokes(bars, x, y, SERIES_COLOURS[0], 1.8, 1))
        points = [{"x": numbers[one.week], "y": one.value, "is_marked": one.is_marked} for one in values]
        layers.append(chart_of(points).mark_line(color=SERIES_COLOURS[0], strokeWidth=1).encode(x=x, y=y))
        for is_marked, symbol, size, colour in (
            (False, "circle", 45, SERIES_COLOURS[0]),
            (True, "diamond", 130, DECISION_INK),
        ):
            chosen = [point for point in points if point["is_marked"] is is_marked]
            if chosen:
                layers.append(
                    chart_of(chosen)
                    .mark_point(filled=True, shape=symbol, size=size, color=colour, opacity=1)
                    .encode(x=x, y=y)
                )
        if position == len(panels) - 1:
            layers.append(
                chart_of(names)
                .mark_text(baseline="top", dy=8, fontSize=11, color=MUTED_INK)
                .encode(x=x, y=alt.value(height), text="text:N")
            )
        heading = alt.TitleParams(wrap(title, 90).split("\n"), fontSize=12.5, anchor="start", offset=6)
        charts.append(alt.layer(*layers).properties(width=width, height=height, title=heading))
    return finish(alt.vconcat(*charts, spacing=16), label)
