"""Pictures of calibration: score against label, reliability, thresholds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hcat.report.charts.base import (
    GRID,
    INK,
    SERIES_COLOURS,
    chart_of,
    draw_decision,
    draw_names,
    encode_series,
    finish,
    shorten,
)
from hcat.report.charts.distributions import MINIMUM_DENSITY_SCORES, MINIMUM_SPREAD, estimate_density
from hcat.report.charts.intervals import Estimate

#: Prediction sets: decided as the two classes are drawn elsewhere, but pale; undecided is grey.
SET_COLOURS = {"accepted": "#8cc1e0", "undecided": "#d3d9e0", "failed": "#f0a67a", "empty": "#8a3b78"}


@dataclass(frozen=True, slots=True)
class Band:
    """Scores of one group, from ``low`` to ``high``, that all have the prediction set ``word``."""

    group: str
    word: str
    low: float
    high: float


def draw_score_against_label(
    points: Sequence[tuple[float, int, float]],
    curve: Sequence[tuple[float, float]],
    bands: Sequence[Band],
    domain: tuple[float, float],
    axis_title: str,
    label: str,
) -> str:
    """Return labels over their score, the calibration curve, and below them where prediction sets decide, as SVG."""
    import altair as alt

    if not points and not curve:
        raise ValueError("a figure of score against label needs points or a curve, got neither")
    groups = list(dict.fromkeys(band.group for band in bands))
    strip, gap, jitter_height = 0.075, 0.02, 0.10
    floor = -0.17 - len(groups) * (strip + gap)
    x = alt.X(
        "x:Q",
        scale=alt.Scale(domain=list(domain), nice=False, zero=False, clamp=True),
        axis=alt.Axis(title=axis_title, grid=False, tickCount=5, domain=False),
    )
    y_scale = alt.Scale(domain=[floor, 1.16], nice=False, zero=False)
    axis = alt.Axis(title=None, values=[0, 0.25, 0.5, 0.75, 1], domain=False, format=".2~f")
    y = alt.Y("y:Q", scale=y_scale, axis=axis)
    layers: list[Any] = []
    if bands:
        strips = [
            {
                "x": band.low,
                "x2": band.high,
                "y": -0.17 - groups.index(band.group) * (strip + gap),
                "y2": -0.17 - groups.index(band.group) * (strip + gap) - strip,
                "fill": SET_COLOURS[band.word],
            }
            for band in bands
        ]
        names = [
            {"y": -0.17 - number * (strip + gap) - strip / 2, "text": shorten(name, 26)}
            for number, name in enumerate(groups)
        ]
        layers += [
            chart_of(strips)
            .mark_rect(stroke="#ffffff", strokeWidth=0.5)
            .encode(x=x, x2="x2:Q", y=y, y2="y2:Q", fill=alt.Fill("fill:N", scale=None)),
            chart_of(names)
            .mark_text(align="right", baseline="middle", dx=-6, fontSize=11, color=INK)
            .encode(x=alt.value(0), y=y, text="text:N"),
        ]
    for is_accepted, colour, shape in ((1, SERIES_COLOURS[0], "circle"), (0, SERIES_COLOURS[1], "square")):
        chosen = [
            {
                "x": round(score, 4),
                "y": round(1.03 + jitter * jitter_height if is_accepted else -0.03 - jitter * jitter_height, 3),
            }
            for score, point_label, jitter in points
            if point_label == is_accepted
        ]
        if chosen:
            layers.append(
                chart_of(chosen)
                .mark_point(filled=True, color=colour, shape=shape, size=20, opacity=0.55)
                .encode(x=x, y=y)
            )
    if curve:
        line = [{"x": round(score, 4), "y": round(probability, 4)} for score, probability in curve]
        layers.append(chart_of(line).mark_line(color=INK, strokeWidth=2).encode(x=x, y=y))
    height = 270 + 24 * len(groups)
    heading = alt.TitleParams("probability that raters accept", fontSize=11.5, fontWeight="normal", anchor="start")
    picture = alt.layer(*layers).properties(width=390 if groups else 430, height=height, title=heading)
    return finish(picture, label)


def draw_thresholds(
    densities: Sequence[tuple[str, Sequence[float]]],
    thresholds: Sequence[Estimate],
    methods: Sequence[str],
    series: Sequence[str],
    decided: float | None,
    domain: tuple[float, float],
    axis_title: str,
    label: str,
) -> str:
    """Return densities of the scores of accepted and failed answers above the thresholds of every method, as SVG."""
    import altair as alt

    if not any(scores for _, scores in densities):
        raise ValueError("a figure of thresholds needs scores, got none")
    width = 520
    x_scale = alt.Scale(domain=list(domain), nice=False, zero=False, clamp=True)
    bare_axis = alt.Axis(title=None, labels=False, ticks=False, domain=False, tickCount=5)
    full_axis = alt.Axis(title=axis_title, tickCount=5, domain=False)
    density_x = alt.X("x:Q", scale=x_scale, axis=bare_axis if methods else full_axis)
    density_y = alt.Y("y:Q", scale=alt.Scale(domain=[0, 1.05], nice=False), axis=None)
    layers: list[Any] = []
    for number, (name, scores) in enumerate(densities):
        colour = SERIES_COLOURS[number]
        if not scores:
            continue
        if len(scores) < MINIMUM_DENSITY_SCORES or max(scores) - min(scores) < MINIMUM_SPREAD:
            ticks = [{"x": score, "y": 0, "y2": 0.25} for score in sorted(set(scores))]
            layers.append(
                chart_of(ticks)
                .mark_rule(color=colour, strokeWidth=1.4)
                .encode(x=density_x, y=density_y, y2=alt.Y2("y2:Q"))
            )
        else:
            positions, density = estimate_density(scores)
            area = [
                {"x": position, "y": height}
                for position, height in zip(positions.round(4).tolist(), density.round(3).tolist(), strict=True)
            ]
            layers.append(
                chart_of(area)
                .mark_area(color=colour, opacity=0.22, line={"color": colour, "strokeWidth": 1.6})
                .encode(x=density_x, y=density_y)
            )
        layers.append(
            chart_of([{"text": name}])
            .mark_text(align="left", baseline="top", fontSize=12, color=colour)
            .encode(x=alt.value(width + 10), y=alt.value(4 + 17 * number), text="text:N")
        )
    layers += draw_decision(decided, density_x, "decided")
    parts = [alt.layer(*layers).properties(width=width, height=140)]
    if methods:
        step = 0.8 / max(len(series), 1)
        data = [
            {
                "x": one.value,
                "y": methods.index(one.position) + 0.5 + (series.index(one.series) - (len(series) - 1) / 2) * step,
                "series": one.series,
            }
            for one in thresholds
        ]
        x = alt.X("x:Q", scale=x_scale, axis=full_axis)
        y = alt.Y("y:Q", scale=alt.Scale(domain=[len(methods), 0], nice=False, zero=False), axis=None)
        colour_by, shape_by = encode_series(series)
        borders = [{"y": number} for number in range(len(methods) + 1)]
        rows: list[Any] = [chart_of(borders).mark_rule(color=GRID).encode(y=y)]
        rows += draw_decision(decided, x, "decided")[:1]
        if data:
            rows.append(
                chart_of(data)
                .mark_point(filled=True, size=44, opacity=1)
                .encode(x=x, y=y, color=colour_by, shape=shape_by)
            )
        rows.append(draw_names([(number + 0.5, name) for number, name in enumerate(methods)], y))
        parts.append(alt.layer(*rows).properties(width=width, height=34 * len(methods)))
    return finish(alt.vconcat(*parts, spacing=4), label)
