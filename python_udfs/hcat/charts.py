"""Charts of the report as SVG text: pure functions from rows to a string, drawn by Altair and vl-convert, no browser.

Nothing here reads a warehouse, a clock or a network. Colours are the report's: lightness ramps that survive grey print
and colour blindness (after ColorBrewer's OrRd and Blues), and series colours after Okabe and Ito, always with a shape
or a number beside them.
"""

from __future__ import annotations

import html
import io
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

#: Ramps from best (left) to worst (right); lightness falls monotonically, so that grey print keeps the order.
FAILURE_RAMP = ("#fff7ec", "#fdd9a5", "#fc9a63", "#d7301f", "#7f0000")
SCORE_RAMP = ("#f7fbff", "#c6dbef", "#7fb3d8", "#2a72b5", "#08306b")
#: Okabe and Ito (2008), the five that stand out on white; shapes repeat what the colours say.
SERIES_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#8a3b78", "#333333")
SERIES_SHAPES = ("circle", "square", "triangle-up", "diamond", "cross")
#: Prediction sets: decided as the two classes are drawn elsewhere, but pale; undecided is grey.
SET_COLOURS = {"accepted": "#8cc1e0", "undecided": "#d3d9e0", "failed": "#f0a67a", "empty": "#8a3b78"}
INK = "#1c2733"
MUTED_INK = "#56616d"
GRID = "#dfe4ea"
#: Share of white mixed into the colour of a cell that cannot be told from the whole.
FADE = 0.62
#: Fewer scores than this are drawn one by one: a density of so few would show the bandwidth and not the data.
MINIMUM_DENSITY_SCORES = 10
#: Points along a violin; 48 are smooth at its printed width.
DENSITY_POINTS = 48
#: Bars of a histogram of conformity scores, .05 wide.
CONFORMITY_BINS = 20
#: Scores closer than this are one score to the eye.
MINIMUM_SPREAD = 1e-6

_FONT = "Helvetica, Arial, sans-serif"


@dataclass(frozen=True, slots=True)
class HeatmapCell:
    """One cell of a heatmap.

    Parameters
    ----------
    row, column : str
        Labels; must be among the rows and columns given to :func:`draw_heatmap`.
    shade : float or None
        0 (best) to 1 (worst); None draws an empty cell.
    lines : sequence of str
        Text in the cell, at most three lines: value, interval, n.
    is_small : bool
        Too few sources to rely on: hatched.
    is_unsure : bool
        The interval holds the value of the whole: faded.
    """

    row: str
    column: str
    shade: float | None
    lines: Sequence[str]
    is_small: bool = False
    is_unsure: bool = False


@dataclass(frozen=True, slots=True)
class Violin:
    """Distribution of one group: its scores, and what is written beside it.

    Parameters
    ----------
    name : str
        Label of the group.
    scores : sequence of float
        Raw scores (all, or a sample) that give the shape.
    quantile_25, median, quantile_75 : float
        Quartiles over all scores, not over the sample.
    count_scored : int
        Number of all scores.
    """

    name: str
    scores: Sequence[float]
    quantile_25: float
    median: float
    quantile_75: float
    count_scored: int


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value with its interval, at a position (``row`` or ``k``) of one series; bounds may be None."""

    position: str
    series: str
    value: float
    lower: float | None
    upper: float | None


@dataclass(frozen=True, slots=True)
class Band:
    """Scores of one group, from ``low`` to ``high``, that all have the prediction set ``word``."""

    group: str
    word: str
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class ReliabilityBin:
    """Mean predicted probability of a bin, the share that people accept with its interval, and the labels behind it."""

    mean_prediction: float
    share: float
    lower: float
    upper: float
    count_labels: int


@dataclass(frozen=True, slots=True)
class Cut:
    """A line across a picture of scores: where it stands and what is written beside it."""

    value: float
    text: str
    is_main: bool = True


def shade_colour(shade: float, ramp: Sequence[str], is_unsure: bool = False) -> str:
    """Return the hex colour of ``shade`` (0 best, 1 worst) on ``ramp``, mixed with white when ``is_unsure``.

    Raises
    ------
    ValueError
        If ``shade`` lies outside [0, 1].
    """
    if not 0 <= shade <= 1:
        raise ValueError(f"shade must lie in [0, 1], got {shade}")
    position = shade * (len(ramp) - 1)
    start = min(int(position), len(ramp) - 2)
    share = position - start
    low, high = _channels(ramp[start]), _channels(ramp[start + 1])
    mixed = [first + (second - first) * share for first, second in zip(low, high, strict=True)]
    if is_unsure:
        mixed = [channel + (255 - channel) * FADE for channel in mixed]
    return "#" + "".join(f"{round(channel):02x}" for channel in mixed)


def contrast_ratio(first: str, second: str) -> float:
    """Return the contrast of two hex colours, 1 to 21 (WCAG 2.2; text needs 4.5)."""
    lighter, darker = sorted((_luminance(first), _luminance(second)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def text_colour(background: str) -> str:
    """Return black or white, whichever reads better on ``background``."""
    return max(("#000000", "#ffffff"), key=lambda colour: contrast_ratio(colour, background))


def estimate_density(scores: Sequence[float]) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return positions and density (peak 1) of ``scores``: Gaussian kernels, Silverman's bandwidth, no tails.

    Parameters
    ----------
    scores : sequence of float
        Finite values of which two differ by at least :data:`MINIMUM_SPREAD`.

    Returns
    -------
    tuple of ndarray
        Positions from the smallest to the largest score and densities in (0, 1], both of length
        :data:`DENSITY_POINTS`.

    Raises
    ------
    ValueError
        If all scores are the same: a density has no width then.

    Notes
    -----
    Silverman (1986), equation 3.31: 0.9 x min(sd, IQR / 1.34) x n^(-1/5); where more than half of the scores are equal
    the quartiles coincide and the standard deviation alone is used. A kernel is never narrower than the distance of two
    positions, where it would be seen or missed by chance.
    """
    values = np.sort(np.asarray(scores, dtype=np.float64))
    width = float(values[-1] - values[0])
    if width < MINIMUM_SPREAD:
        raise ValueError(f"a density needs scores that differ by at least {MINIMUM_SPREAD:g}, got {width:g}")
    deviation = float(values.std(ddof=1))
    quartile_range = float(np.quantile(values, 0.75) - np.quantile(values, 0.25)) / 1.34
    spread = min(deviation, quartile_range) if quartile_range > 0 else deviation
    bandwidth = max(0.9 * spread * values.size**-0.2, width / DENSITY_POINTS)
    positions = np.linspace(values[0], values[-1], DENSITY_POINTS)
    distances = (positions[:, None] - values[None, :]) / bandwidth
    density = np.exp(-0.5 * distances**2).sum(axis=1)
    return positions, density / density.max()


def draw_heatmap(
    cells: Sequence[HeatmapCell], rows: Sequence[str], columns: Sequence[str], ramp: Sequence[str], label: str
) -> str:
    """Return a heatmap as SVG: value, interval and n in every cell; small cells hatched, unsure cells faded.

    Parameters
    ----------
    cells : sequence of HeatmapCell
        Combinations that are missing here are drawn as empty.
    rows, columns : sequence of str
        Distinct labels in the order drawn, top to bottom and left to right; neither may be empty.
    ramp : sequence of str
        Hex colours from best to worst.
    label : str
        What the picture shows, for readers who do not see it.
    """
    import altair as alt

    if not rows or not columns:
        raise ValueError(f"a heatmap needs rows and columns, got {len(rows)} and {len(columns)}")
    row_numbers = {name: number for number, name in enumerate(rows)}
    column_numbers = {name: number for number, name in enumerate(columns)}
    width, height = 104, 54
    rectangles, texts, hatches = [], [], []
    for cell in cells:
        left, top = column_numbers[cell.column], row_numbers[cell.row]
        fill = "#ffffff" if cell.shade is None else shade_colour(cell.shade, ramp, cell.is_unsure)
        ink = text_colour(fill)
        rectangles.append({"x": left, "x2": left + 1, "y": top, "y2": top + 1, "fill": fill})
        if cell.is_small:
            # a hatch beside the text and not under it: diagonals in a strip on the left edge and in the corners
            hatches += [{**hatch, "ink": ink} for hatch in _hatch(left, top, width, height)]
        offsets = {1: [0.5], 2: [0.38, 0.66], 3: [0.27, 0.55, 0.80]}[len(cell.lines)]
        for number, (line, offset) in enumerate(zip(cell.lines, offsets, strict=True)):
            texts.append({"x": left + 0.53, "y": top + offset, "text": line, "ink": ink, "is_value": number == 0})
    x_scale = alt.Scale(domain=[0, len(columns)], nice=False, zero=False)
    y_scale = alt.Scale(domain=[len(rows), 0], nice=False, zero=False)
    x = alt.X("x:Q", scale=x_scale, axis=None)
    y = alt.Y("y:Q", scale=y_scale, axis=None)
    frame = [
        {"x": column, "x2": column + 1, "y": row, "y2": row + 1}
        for row in range(len(rows))
        for column in range(len(columns))
    ]
    layers = [
        _chart(frame).mark_rect(fill="#fbfcfd", stroke=GRID).encode(x=x, x2="x2:Q", y=y, y2="y2:Q"),
        _chart(rectangles)
        .mark_rect(stroke="#ffffff", strokeWidth=1.5)
        .encode(x=x, x2="x2:Q", y=y, y2="y2:Q", fill=alt.Fill("fill:N", scale=None)),
    ]
    if hatches:
        layers.append(
            _chart(hatches)
            .mark_rule(strokeWidth=1.1, opacity=0.55)
            .encode(x=x, x2="x2:Q", y=y, y2="y2:Q", stroke=alt.Stroke("ink:N", scale=None))
        )
    for is_value, size, weight in ((True, 14, "bold"), (False, 10.5, "normal")):
        chosen = [text for text in texts if text["is_value"] is is_value]
        layers.append(
            _chart(chosen)
            .mark_text(fontSize=size, fontWeight=weight, baseline="middle")
            .encode(x=x, y=y, text="text:N", color=alt.Color("ink:N", scale=None))
        )
    row_labels = [{"y": number + 0.5, "text": _wrap(name, 24)} for name, number in row_numbers.items()]
    column_labels = [(number + 0.5, _wrap(name, 16).split("\n")) for name, number in column_numbers.items()]
    layers += [
        _chart(row_labels)
        .mark_text(align="right", baseline="middle", dx=-8, fontSize=12, lineBreak="\n", color=INK, lineHeight=14)
        .encode(x=alt.value(0), y=y, text="text:N"),
    ]
    # line by line from the bottom, so that labels of one and of two lines stand on the same ground
    for from_bottom, rise in ((1, -8), (2, -22)):
        chosen = [
            {"x": middle, "text": parts[-from_bottom]} for middle, parts in column_labels if len(parts) >= from_bottom
        ]
        layers.append(
            _chart(chosen)
            .mark_text(align="center", baseline="bottom", dy=rise, fontSize=12, color=INK)
            .encode(x=x, y=alt.value(0), text="text:N")
        )
    return _draw(alt.layer(*layers).properties(width=width * len(columns), height=height * len(rows)), label)


def draw_violins(
    violins: Sequence[Violin], threshold: float | None, domain: tuple[float, float], axis_title: str, label: str
) -> str:
    """Return horizontal violins as SVG, one row per group, with quartiles, median and n in numbers.

    Groups with fewer than :data:`MINIMUM_DENSITY_SCORES` scores, or whose scores are all the same, are drawn score by
    score.

    Parameters
    ----------
    violins : sequence of Violin
        At least one.
    threshold : float or None
        Decided threshold, drawn as a dashed line.
    domain : tuple of float
        Ends of the score axis.
    axis_title, label : str
        Title of the axis; what the picture shows, for readers who do not see it.
    """
    import altair as alt

    if not violins:
        raise ValueError("violins need at least one group, got none")
    areas, ticks, boxes, medians, texts = [], [], [], [], []
    for number, violin in enumerate(violins):
        centre = number + 0.5
        name = _wrap(violin.name, 22)
        if len(violin.scores) < MINIMUM_DENSITY_SCORES or max(violin.scores) - min(violin.scores) < MINIMUM_SPREAD:
            for score in sorted(set(violin.scores)):
                ticks.append({"x": score, "y": centre - 0.22, "y2": centre + 0.22})
        else:
            positions, density = estimate_density(violin.scores)
            for position, height in zip(positions.round(4).tolist(), density.round(3).tolist(), strict=True):
                half = 0.42 * height
                areas.append(
                    {"x": position, "y": round(centre - half, 4), "y2": round(centre + half, 4), "group": number}
                )
        boxes.append({"x": violin.quantile_25, "x2": violin.quantile_75, "y": centre})
        medians.append({"x": violin.median, "y": centre})
        described = f"{_three_digits(violin.median)}  (n {violin.count_scored:,})"
        texts.append({"y": centre, "name": name, "described": described})
    x = alt.X(
        "x:Q",
        scale=alt.Scale(domain=list(domain), nice=False, zero=False, clamp=True),
        axis=alt.Axis(title=axis_title, grid=True, tickCount=5, domain=False),
    )
    y = alt.Y("y:Q", scale=alt.Scale(domain=[len(violins), 0], nice=False, zero=False), axis=None)
    layers: list[Any] = [_chart(texts).mark_rule(color=GRID).encode(y=y)]
    if areas:
        layers.append(
            _chart(areas)
            .mark_area(color="#9ec5e2", stroke="#3b7fb5", strokeWidth=0.8, orient="vertical")
            .encode(x=x, y=y, y2="y2:Q", detail="group:N")
        )
    if ticks:
        layers.append(_chart(ticks).mark_rule(color="#3b7fb5", strokeWidth=1.4).encode(x=x, y=y, y2="y2:Q"))
    if threshold is not None:
        line = [{"x": threshold, "text": f"threshold {_three_digits(threshold)}"}]
        layers.append(_chart(line).mark_rule(color="#b3261e", strokeDash=[5, 3], strokeWidth=1.4).encode(x=x))
        layers.append(
            _chart(line)
            .mark_text(baseline="bottom", dy=-4, fontSize=10.5, color="#b3261e")
            .encode(x=x, y=alt.value(0), text="text:N")
        )
    layers += [
        _chart(boxes).mark_rule(color=INK, strokeWidth=3).encode(x=x, x2="x2:Q", y=y),
        _chart(medians).mark_point(filled=True, fill="#ffffff", stroke=INK, size=44, opacity=1).encode(x=x, y=y),
        _chart(texts)
        .mark_text(align="right", baseline="middle", dx=-8, fontSize=11.5, lineBreak="\n", color=INK, lineHeight=13)
        .encode(x=alt.value(0), y=y, text="name:N"),
        _chart(texts)
        .mark_text(align="left", baseline="middle", dx=8, fontSize=11, color=MUTED_INK)
        .encode(x=alt.value(270), y=y, text="described:N"),
    ]
    return _draw(alt.layer(*layers).properties(width=270, height=36 * len(violins)), label)


def draw_estimates(
    estimates: Sequence[Estimate], rows: Sequence[str], series: Sequence[str], axis_title: str, label: str
) -> str:
    """Return shares with their intervals as SVG: one row per position, one colour and shape per series.

    Parameters
    ----------
    estimates : sequence of Estimate
        Values in [0, 1].
    rows, series : sequence of str
        Positions top to bottom; series in the order of the legend, at most :data:`SERIES_COLOURS` many.
    axis_title, label : str
        Title of the axis; what the picture shows, for readers who do not see it.
    """
    import altair as alt

    _check_series(series)
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
    colour, shape = _series_encodings(series)
    labels = [{"y": number + 0.5, "text": name} for number, name in enumerate(rows)]
    borders = [{"y": number} for number in range(1, len(rows))]
    layers = [
        _chart(borders or [{"y": 0}]).mark_rule(color=GRID).encode(y=y),
        _chart(data).mark_rule(strokeWidth=2).encode(x=alt.X("lower:Q", scale=scale), x2="upper:Q", y=y, color=colour),
        _chart(data).mark_point(filled=True, size=70, opacity=1).encode(x=x, y=y, color=colour, shape=shape),
        _chart(labels)
        .mark_text(align="right", baseline="middle", dx=-10, fontSize=12, color=INK)
        .encode(x=alt.value(0), y=y, text="text:N"),
    ]
    height = max(30, 14 + 13 * len(series)) * len(rows)
    return _draw(alt.layer(*layers).properties(width=560, height=height), label)


def draw_by_rank(panels: Sequence[tuple[str, Sequence[Estimate]]], series: Sequence[str], label: str) -> str:
    """Return small panels side by side as SVG: a metric (0 to 1) against the cut-off rank k, one line per series.

    Parameters
    ----------
    panels : sequence of (title, estimates)
        Positions of the estimates are ranks as text.
    series : sequence of str
        Series in the order of the legend, at most :data:`SERIES_COLOURS` many.
    label : str
        What the picture shows, for readers who do not see it.
    """
    import altair as alt

    _check_series(series)
    colour, shape = _series_encodings(series)
    charts = []
    for title, estimates in panels:
        ranks = sorted({int(estimate.position) for estimate in estimates})
        step = 0.22 / max(len(series), 1)
        data = [
            {
                # a little to the side, so that intervals of two series do not cover each other
                "x": ranks.index(int(estimate.position))
                + (series.index(estimate.series) - (len(series) - 1) / 2) * step,
                "value": estimate.value,
                "lower": estimate.value if estimate.lower is None else estimate.lower,
                "upper": estimate.value if estimate.upper is None else estimate.upper,
                "series": estimate.series,
            }
            for estimate in estimates
        ]
        names = [{"x": number, "text": str(rank)} for number, rank in enumerate(ranks)]
        x = alt.X("x:Q", scale=alt.Scale(domain=[-0.4, len(ranks) - 0.6], nice=False, zero=False), axis=None)
        scale = alt.Scale(domain=[0, 1], nice=False)
        y = alt.Y("value:Q", scale=scale, axis=alt.Axis(title=None, tickCount=5, domain=False))
        charts.append(
            alt.layer(
                _chart(data)
                .mark_rule(strokeWidth=1.6)
                .encode(x=x, y=alt.Y("lower:Q", scale=scale), y2="upper:Q", color=colour),
                _chart(data).mark_line(strokeWidth=1.2, opacity=1).encode(x=x, y=y, color=colour),
                _chart(data).mark_point(filled=True, size=55, opacity=1).encode(x=x, y=y, color=colour, shape=shape),
                _chart(names)
                .mark_text(baseline="top", dy=6, fontSize=11, color=MUTED_INK)
                .encode(x=x, y=alt.value(170), text="text:N"),
            ).properties(width=215, height=170, title=alt.TitleParams(title, fontSize=12.5, anchor="start", offset=8))
        )
    return _draw(alt.hconcat(*charts, spacing=28), label)


def draw_score_against_label(
    points: Sequence[tuple[float, int, float]],
    curve: Sequence[tuple[float, float]],
    bands: Sequence[Band],
    domain: tuple[float, float],
    axis_title: str,
    label: str,
) -> str:
    """Return labels over their score, the calibration curve, and below them where prediction sets decide, as SVG.

    Parameters
    ----------
    points : sequence of (score, label, jitter)
        Label 1 (accepted, drawn above the curve) or 0 (failed, below it); jitter in [0, 1] spreads equal scores.
    curve : sequence of (score, probability)
        Calibrated probability by rising score; may be empty.
    bands : sequence of Band
        One strip per group, in the order of first appearance; the words are keys of :data:`SET_COLOURS`.
    domain : tuple of float
        Ends of the score axis.
    axis_title, label : str
        Title of the axis; what the picture shows, for readers who do not see it.
    """
    import altair as alt

    if not points and not curve:
        raise ValueError("a picture of score against label needs points or a curve, got neither")
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
            {"y": -0.17 - number * (strip + gap) - strip / 2, "text": _shorten(name, 26)}
            for number, name in enumerate(groups)
        ]
        layers += [
            _chart(strips)
            .mark_rect(stroke="#ffffff", strokeWidth=0.5)
            .encode(x=x, x2="x2:Q", y=y, y2="y2:Q", fill=alt.Fill("fill:N", scale=None)),
            _chart(names)
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
                _chart(chosen)
                .mark_point(filled=True, color=colour, shape=shape, size=20, opacity=0.55)
                .encode(x=x, y=y)
            )
    if curve:
        line = [{"x": round(score, 4), "y": round(probability, 4)} for score, probability in curve]
        layers.append(_chart(line).mark_line(color=INK, strokeWidth=2).encode(x=x, y=y))
    height = 270 + 24 * len(groups)
    heading = alt.TitleParams("probability that people accept", fontSize=11.5, fontWeight="normal", anchor="start")
    picture = alt.layer(*layers).properties(width=390 if groups else 430, height=height, title=heading)
    return _draw(picture, label)


def draw_reliability(bins: Sequence[ReliabilityBin], label: str) -> str:
    """Return the reliability diagram as SVG: share accepted against mean probability, with intervals and n per bin.

    Parameters
    ----------
    bins : sequence of ReliabilityBin
        At least one.
    label : str
        What the picture shows, for readers who do not see it.
    """
    import altair as alt

    if not bins:
        raise ValueError("a reliability diagram needs at least one bin, got none")
    ordered = sorted(bins, key=lambda one: one.mean_prediction)
    rows = _stagger([one.mean_prediction for one in ordered], 0.075)
    step = 0.075
    floor = -0.05 - step * (max(rows) + 1)
    data = [
        {
            "x": round(one.mean_prediction, 4),
            "y": round(one.share, 4),
            "lower": round(one.lower, 4),
            "upper": round(one.upper, 4),
            "at": -0.06 - step * row,
            "text": f"{one.count_labels:,}",
        }
        for one, row in zip(ordered, rows, strict=True)
    ]
    ticks = [0, 0.2, 0.4, 0.6, 0.8, 1]
    x = alt.X(
        "x:Q",
        scale=alt.Scale(domain=[-0.02, 1.02], nice=False),
        axis=alt.Axis(title="mean calibrated probability of the bin", values=ticks, format=".0%", domain=False),
    )
    y_scale = alt.Scale(domain=[floor, 1.02], nice=False)
    axis = alt.Axis(title="share that people accept", values=ticks, format=".0%", domain=False)
    y = alt.Y("y:Q", scale=y_scale, axis=axis)
    diagonal = [{"x": 0, "y": 0}, {"x": 1, "y": 1}]
    layers = [
        _chart(diagonal).mark_line(color=MUTED_INK, strokeDash=[5, 3], strokeWidth=1.2).encode(x=x, y=y),
        _chart(data)
        .mark_rule(color=SERIES_COLOURS[0], strokeWidth=2)
        .encode(x=x, y=alt.Y("lower:Q", scale=y_scale), y2="upper:Q"),
        _chart(data).mark_point(filled=True, color=SERIES_COLOURS[0], size=60, opacity=1).encode(x=x, y=y),
        _chart(data)
        .mark_text(fontSize=10.5, color=MUTED_INK, baseline="middle")
        .encode(x=x, y=alt.Y("at:Q", scale=y_scale), text="text:N"),
        _chart([{"at": -0.06}])
        .mark_text(fontSize=10.5, color=MUTED_INK, align="right", baseline="middle", dx=-8)
        .encode(x=alt.value(0), y=alt.Y("at:Q", scale=y_scale), text=alt.value("n")),
    ]
    return _draw(alt.layer(*layers).properties(width=380, height=300), label)


def draw_conformity(panels: Sequence[tuple[str, Sequence[float], Sequence[Cut]]], axis_title: str, label: str) -> str:
    """Return histograms of conformity scores one above the other as SVG, each with the quantiles that cut it.

    Parameters
    ----------
    panels : sequence of (title, scores, cuts)
        Scores and cuts in [0, 1]; a panel without scores keeps its cuts.
    axis_title, label : str
        Title of the axis; what the picture shows, for readers who do not see it.
    """
    import altair as alt

    if not panels:
        raise ValueError("a picture of conformity scores needs at least one panel, got none")
    width, height = 560, 92
    x_scale = alt.Scale(domain=[0, 1], nice=False)
    charts = []
    for number, (title, scores, cuts) in enumerate(panels):
        counts, edges = np.histogram(np.asarray(scores, dtype=np.float64), bins=CONFORMITY_BINS, range=(0.0, 1.0))
        bars = [
            {"x": round(float(left), 4), "x2": round(float(right), 4), "y": int(count)}
            for count, left, right in zip(counts, edges[:-1], edges[1:], strict=True)
            if count
        ]
        is_last = number == len(panels) - 1
        axis = alt.Axis(title=axis_title if is_last else None, tickCount=5, domain=False, labels=is_last, grid=True)
        x = alt.X("x:Q", scale=x_scale, axis=axis)
        top = max([1, *(int(count) for count in counts)])
        y = alt.Y(
            "y:Q",
            scale=alt.Scale(domain=[0, top], nice=False),
            axis=alt.Axis(title="labels", tickCount=3, format="d", domain=False, tickMinStep=1),
        )
        colour = SERIES_COLOURS[number % len(SERIES_COLOURS)]
        layers = [
            _chart(bars or [{"x": 0, "x2": 0, "y": 0}])
            .mark_rect(color=colour, opacity=0.55, stroke="#ffffff", strokeWidth=0.5)
            .encode(x=x, x2="x2:Q", y=y, y2=alt.datum(0))
        ]
        rows = _stagger([cut.value for cut in cuts], 0.17)
        for is_main, dash in ((True, [1, 0]), (False, [4, 3])):
            lines: list[dict[str, Any]] = [
                {"x": cut.value, "text": cut.text, "row": row}
                for cut, row in zip(cuts, rows, strict=True)
                if cut.is_main is is_main
            ]
            if not lines:
                continue
            ink = INK if is_main else MUTED_INK
            layers.append(_chart(lines).mark_rule(color=ink, strokeDash=dash, strokeWidth=1.5).encode(x=x))
            for row in sorted({line["row"] for line in lines}):
                layers.append(
                    _chart([line for line in lines if line["row"] == row])
                    .mark_text(baseline="bottom", dy=-3 - 13 * row, fontSize=10.5, color=ink)
                    .encode(x=x, y=alt.value(0), text="text:N")
                )
        heading = alt.TitleParams(title, fontSize=12.5, anchor="start", offset=8)
        charts.append(alt.layer(*layers).properties(width=width, height=height, title=heading))
    return _draw(alt.vconcat(*charts, spacing=14), label)


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
    """Return densities of the scores of accepted and failed answers above the thresholds of every method, as SVG.

    Each density is scaled to its own peak; a group with fewer than :data:`MINIMUM_DENSITY_SCORES` scores, or whose
    scores are all the same, is drawn score by score.

    Parameters
    ----------
    densities : sequence of (name, scores)
        At most two groups; the first is drawn in the first series colour.
    thresholds : sequence of Estimate
        ``position`` is one of ``methods``, ``series`` one of ``series``, ``value`` the threshold; bounds are not drawn.
    methods, series : sequence of str
        Rows top to bottom; series in the order of the legend, at most :data:`SERIES_COLOURS` many.
    decided : float or None
        Threshold in force, drawn through both parts.
    domain : tuple of float
        Ends of the score axis.
    axis_title, label : str
        Title of the axis; what the picture shows, for readers who do not see it.
    """
    import altair as alt

    _check_series(series)
    if not any(scores for _, scores in densities):
        raise ValueError("a picture of thresholds needs scores, got none")
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
                _chart(ticks)
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
                _chart(area)
                .mark_area(color=colour, opacity=0.22, line={"color": colour, "strokeWidth": 1.6})
                .encode(x=density_x, y=density_y)
            )
        layers.append(
            _chart([{"text": name}])
            .mark_text(align="left", baseline="top", fontSize=12, color=colour)
            .encode(x=alt.value(width + 10), y=alt.value(4 + 17 * number), text="text:N")
        )
    cut = [] if decided is None else [{"x": decided, "text": f"decided {_three_digits(decided)}"}]
    rule = {"color": "#b3261e", "strokeDash": [5, 3], "strokeWidth": 1.4}
    if cut:
        layers += [
            _chart(cut).mark_rule(**rule).encode(x=density_x),
            _chart(cut)
            .mark_text(baseline="bottom", dy=-4, fontSize=10.5, color="#b3261e")
            .encode(x=density_x, y=alt.value(0), text="text:N"),
        ]
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
        colour_by, shape_by = _series_encodings(series)
        names = [{"y": number + 0.5, "text": name} for number, name in enumerate(methods)]
        borders = [{"y": number} for number in range(len(methods) + 1)]
        rows: list[Any] = [_chart(borders).mark_rule(color=GRID).encode(y=y)]
        if cut:
            rows.append(_chart(cut).mark_rule(**rule).encode(x=x))
        if data:
            rows.append(
                _chart(data)
                .mark_point(filled=True, size=44, opacity=1)
                .encode(x=x, y=y, color=colour_by, shape=shape_by)
            )
        rows.append(
            _chart(names)
            .mark_text(align="right", baseline="middle", dx=-10, fontSize=12, color=INK)
            .encode(x=alt.value(0), y=y, text="text:N")
        )
        parts.append(alt.layer(*rows).properties(width=width, height=34 * len(methods)))
    return _draw(alt.vconcat(*parts, spacing=4), label)


def _series_encodings(series: Sequence[str]) -> tuple[Any, Any]:
    import altair as alt

    legend = alt.Legend(title=None, orient="bottom", labelLimit=320, columns=3, symbolSize=80)
    colours = alt.Scale(domain=list(series), range=list(SERIES_COLOURS[: len(series)]))
    shapes = alt.Scale(domain=list(series), range=list(SERIES_SHAPES[: len(series)]))
    return alt.Color("series:N", scale=colours, legend=legend), alt.Shape("series:N", scale=shapes, legend=legend)


def _stagger(positions: Sequence[float], width: float) -> list[int]:
    """Return a row for every position, so that texts of ``width`` in one row do not touch; 0 where there is room."""
    ends: list[float] = []
    rows = [0] * len(positions)
    for index in sorted(range(len(positions)), key=lambda one: (positions[one], one)):
        start = positions[index] - width / 2
        row = next((number for number, end in enumerate(ends) if end <= start), len(ends))
        if row == len(ends):
            ends.append(0.0)
        ends[row] = start + width
        rows[index] = row
    return rows


def _shorten(text: str, length: int) -> str:
    """Return ``text`` in at most ``length`` characters, cut in the middle: versions stand at the end of names."""
    if len(text) <= length:
        return text
    tail = length // 3
    return f"{text[: length - tail - 1]}…{text[-tail:]}"


def _check_series(series: Sequence[str]) -> None:
    if len(series) > len(SERIES_COLOURS):
        raise ValueError(f"at most {len(SERIES_COLOURS)} series can be told apart, got {len(series)}")


def _chart(rows: Sequence[dict[str, Any]]) -> Any:
    import altair as alt

    return alt.Chart({"values": list(rows)})


def _draw(chart: Any, label: str) -> str:
    configured = (
        chart.configure(font=_FONT, background="transparent", aria=False, padding=4)
        .configure_view(stroke=None)
        .configure_axis(
            labelColor=MUTED_INK,
            titleColor=INK,
            gridColor=GRID,
            tickColor=GRID,
            labelFontSize=11,
            titleFontWeight="normal",
            titleFontSize=11.5,
        )
        .configure_legend(labelFontSize=12, labelColor=INK)
    )
    buffer = io.StringIO()
    configured.save(buffer, format="svg")
    return _inline(buffer.getvalue(), label)


def _inline(svg: str, label: str) -> str:
    """Return ``svg`` fit to stand in an HTML page: no name spaces (HTML knows SVG), a name for screen readers."""
    body = svg[svg.index("<svg") :]
    end = body.index(">")
    opening = re.sub(r'\sxmlns(:\w+)?="[^"]*"', "", body[:end])
    opening = re.sub(r'\sclass="[^"]*"', "", opening)
    return f'{opening} role="img" aria-label="{html.escape(label, quote=True)}"{body[end:]}'


def _hatch(left: int, top: int, width: int, height: int) -> list[dict[str, float]]:
    """Return diagonal strokes along the left edge of a cell, in cell units."""
    strip, step = 10.0, 6.0
    strokes = []
    for number in range(1, int((height + strip) // step)):
        # from the left edge upwards to the right, clipped to the strip and the cell
        start_y = number * step
        x_start, y_start = 0.0, start_y
        if y_start > height:
            x_start, y_start = y_start - height, float(height)
        x_end = min(strip, start_y)
        if x_end <= x_start:
            continue
        strokes.append(
            {
                "x": left + x_start / width,
                "y": top + y_start / height,
                "x2": left + x_end / width,
                "y2": top + (start_y - x_end) / height,
            }
        )
    return strokes


def _wrap(text: str, length: int) -> str:
    """Return ``text`` in at most two lines of ``length`` characters, broken at a space or underscore where possible."""
    if len(text) <= length:
        return text
    breaks = [match.end() for match in re.finditer(r"[\s_/-]+", text[: length + 1])]
    split = breaks[-1] if breaks else length
    first, second = text[:split].rstrip(), text[split:]
    return f"{first}\n{second if len(second) <= length else second[: length - 1] + '…'}"


def _three_digits(value: float) -> str:
    return "0" if value == 0 else f"{value:#.3g}".rstrip(".")


def _channels(colour: str) -> list[int]:
    return [int(colour[start : start + 2], 16) for start in (1, 3, 5)]


def _luminance(colour: str) -> float:
    linear = [
        share / 12.92 if share <= 0.04045 else math.pow((share + 0.055) / 1.055, 2.4)
        for share in (channel / 255 for channel in _channels(colour))
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
