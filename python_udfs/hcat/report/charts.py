"""Pictures of the report as SVG text: pure functions from rows to a string, drawn by Altair and vl-convert, no browser.

Nothing here reads a warehouse, a clock or a network. Series colours are after Okabe and Ito, always
with a shape or a number beside them.
"""

import html
import io
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from hcat.engine.warehouse import Row

#: Okabe and Ito (2008), two that stand out on white; shapes and words repeat what the colours say.
SERIES_COLOURS = ("#0072b2", "#d55e00")
INK = "#1c2733"
MUTED_INK = "#56616d"
GRID = "#dfe4ea"
#: Line of a decided threshold; dashed wherever it is drawn, so that it needs no colour.
DECISION_INK = "#b3261e"

_FONT = "Helvetica, Arial, sans-serif"


def three_digits(value: float) -> str:
    """Return ``value`` with three significant digits."""
    return "0" if value == 0 else f"{value:#.3g}".rstrip(".")


def chart_of(rows: Sequence[dict[str, Any]]) -> Any:
    """Return a chart over ``rows``."""
    import altair as alt

    # a tuple: Altair copies lists deeply, row by row, whenever charts are put together
    return alt.Chart({"values": tuple(rows)})


def score_axis(domain: tuple[float, float], **style: Any) -> Any:
    """Return the channel of scores, from one end of `domain` to the other."""
    import altair as alt

    scale = alt.Scale(domain=list(domain), nice=False, zero=False, clamp=True)
    return alt.X("x:Q", scale=scale, axis=alt.Axis(tickCount=5, domain=False, **style))


def draw_points(rows: Sequence[dict[str, Any]], x: Any, y: Any, **style: Any) -> list[Any]:
    """Return a layer of filled points, none where there are none."""
    style = {"filled": True, "opacity": 1} | style
    return [chart_of(rows).mark_point(**style).encode(x=x, y=y)] if rows else []


def draw_strokes(
    strokes: Sequence[tuple[float, float, float, float]],
    x: Any,
    y: Any,
    colour: str,
    width: float,
    opacity: float,
    cap: str = "butt",
) -> Any:
    """Return a layer of strokes (x, y, x2, y2) as one path of the SVG: a tenth of the bytes of one path per stroke."""
    # a stroke whose ends are one is a dot, and a point without a place ends each stroke
    ends = [end for stroke in strokes for end in dict.fromkeys([stroke[:2], stroke[2:], (None, None)])]
    return (
        chart_of([{"x": left, "y": top, "order": number} for number, (left, top) in enumerate(ends)])
        .mark_line(
            color=colour, strokeWidth=width, opacity=opacity, strokeCap=cap, invalid="break-paths-filter-domains"
        )
        .encode(x=x, y=y, order="order:Q")
    )


def draw_texts(rows: Sequence[dict[str, Any]], x: Any, y: Any, field: str = "text", **style: Any) -> Any:
    """Return a layer of the texts of rows: names to the left of a figure, unless `style` says otherwise."""
    style = {"align": "right", "baseline": "middle", "fontSize": 11, "color": INK} | style
    return chart_of(rows).mark_text(**style).encode(x=x, y=y, text=f"{field}:N")


def draw_decision(threshold: float | None, x: Any, word: str) -> list[Any]:
    """Return the dashed line of a decided threshold, and its value above it; nothing without a threshold."""
    import altair as alt

    if threshold is None:
        return []
    line = [{"x": threshold, "text": f"{word} {three_digits(threshold)}"}]
    style: dict[str, Any] = {"align": "center", "baseline": "bottom", "dy": -4, "fontSize": 10.5, "color": DECISION_INK}
    return [
        chart_of(line).mark_rule(color=DECISION_INK, strokeDash=[5, 3], strokeWidth=1.4).encode(x=x),
        draw_texts(line, x, alt.value(0), **style),
    ]


def finish(chart: Any, label: str) -> str:
    """Return ``chart`` as SVG in the common style for an HTML page, which needs a label and no name spaces."""
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
    svg = buffer.getvalue()
    body = svg[svg.index("<svg") :]
    end = body.index(">")
    opening = re.sub(r'\s(?:xmlns(?::\w+)?|class)="[^"]*"', "", body[:end])
    return f'{opening} role="img" aria-label="{html.escape(label, quote=True)}" font-family="{_FONT}"{body[end:]}'


#: Fewer scores than this are drawn one by one: a density of so few would show the bandwidth and not the data.
MINIMUM_DENSITY_SCORES = 10
#: Points along a violin; 48 are smooth at its printed width.
DENSITY_POINTS = 48
#: Scores closer than this are one score to the eye.
MINIMUM_SPREAD = 1e-6
#: Dots drawn over a violin: every k-th score by rank, so that they show the same distribution.
MAXIMUM_VIOLIN_DOTS = 60
#: Of consecutive numbers, spreads them most evenly over [0, 1): dots of neighbouring scores lie apart.
GOLDEN_SECTION = 0.6180339887498949

_SCORE_INK = "#1b5e8f"


def is_sparse(scores: Sequence[float]) -> bool:
    """Return whether scores are too few, or too much alike, for a density."""
    return len(scores) < MINIMUM_DENSITY_SCORES or max(scores) - min(scores) < MINIMUM_SPREAD


def estimate_density(scores: Sequence[float]) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return positions and density (peak 1) of ``scores``: Gaussian kernels, Silverman's bandwidth, no tails."""
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


def draw_violins(
    violins: Sequence[Row], threshold: float | None, domain: tuple[float, float], axis_title: str, label: str
) -> str:
    """Return violins with dots as SVG, one for each group (name, scores, quartiles and number of all its scores)."""
    import altair as alt

    x = score_axis(domain, title=axis_title, grid=True)
    y = alt.Y("y:Q", scale=alt.Scale(domain=[len(violins), 0], nice=False, zero=False), axis=None)
    areas, boxes, medians = [], [], []
    texts: list[dict[str, Any]] = []
    ticks: list[tuple[float, float, float, float]] = []
    dots: list[tuple[float, float]] = []
    for number, violin in enumerate(violins):
        centre, scores = number + 0.5, violin["scores"]
        if is_sparse(scores):
            ticks += [(score, centre - 0.22, score, centre + 0.22) for score in sorted(set(scores))]
        else:
            positions, density = estimate_density(scores)
            for position, height in zip(positions.round(4).tolist(), density.round(3).tolist(), strict=True):
                half = 0.42 * height
                areas.append(
                    {"x": position, "y": round(centre - half, 4), "y2": round(centre + half, 4), "group": number}
                )
            dots += _spread_dots(scores, centre, positions, density)
        boxes.append({"x": violin["quantile_25"], "x2": violin["quantile_75"], "y": centre})
        medians.append({"x": violin["quantile_50"], "y": centre})
        described = f"{three_digits(violin['quantile_50'])}  (n {violin['count_scored']:,})"
        texts.append({"y": centre, "name": violin["name"], "described": described})
    layers: list[Any] = [chart_of(texts).mark_rule(color=GRID).encode(y=y)]
    if areas:
        layers.append(
            chart_of(areas)
            .mark_area(color="#bcd9ee", stroke="#3b7fb5", strokeWidth=0.8, orient="vertical")
            .encode(x=x, y=y, y2="y2:Q", detail="group:N")
        )
    if dots:
        layers.append(draw_strokes([(*dot, *dot) for dot in dots], x, y, _SCORE_INK, 2.6, 0.6, cap="round"))
    if ticks:
        layers.append(draw_strokes(ticks, x, y, _SCORE_INK, 1.4, 1))
    layers += draw_decision(threshold, x, "threshold")
    layers += [
        chart_of(boxes).mark_rule(color=INK, strokeWidth=3).encode(x=x, x2="x2:Q", y=y),
        *draw_points(medians, x, y, fill="#ffffff", stroke=INK, size=44),
    ]
    layers.append(draw_texts(texts, alt.value(0), y, "name", dx=-8, fontSize=11.5, limit=240))
    layers.append(draw_texts(texts, alt.value(270), y, "described", align="left", dx=8, color=MUTED_INK))
    return finish(alt.layer(*layers).properties(width=270, height=36 * len(violins)), label)


def _spread_dots(
    scores: Sequence[float], centre: float, positions: npt.NDArray[np.float64], density: npt.NDArray[np.float64]
) -> list[tuple[float, float]]:
    """Return dots inside the violin: every k-th score by rank, spread over the width that the density has there."""
    ranked = np.sort(np.asarray(scores, dtype=np.float64))
    chosen = ranked[:: -(-ranked.size // MAXIMUM_VIOLIN_DOTS)]
    shifts = (np.arange(chosen.size) * GOLDEN_SECTION) % 1 - 0.5
    rows = centre + 0.72 * shifts * np.interp(chosen, positions, density)
    return list(zip(chosen.round(4).tolist(), rows.round(3).tolist(), strict=True))


#: Prediction sets: decided as the two classes are drawn elsewhere, but pale; undecided is grey.
SET_COLOURS = {"accepted": "#8cc1e0", "accepted|failed": "#d3d9e0", "failed": "#f0a67a"}


def draw_score_against_label(
    points: Sequence[Row],
    curve: Sequence[Row],
    bands: Sequence[Row],
    domain: tuple[float, float],
    axis_title: str,
    label: str,
    *,
    is_staircase: bool,
) -> str:
    """Return labels over their score, the curve, and below them the bands of prediction sets by system, as SVG."""
    import altair as alt

    axis = alt.Axis(title=None, values=[0, 0.25, 0.5, 0.75, 1], domain=False, format=".2~f")
    y = alt.Y("y:Q", scale=alt.Scale(domain=[-0.16, 1.16], nice=False, zero=False), axis=axis)
    x, scores = score_axis(domain, title=axis_title, grid=False), score_axis(domain, title=None, grid=False)
    layers: list[Any] = []
    for is_accepted, colour, shape in ((1, SERIES_COLOURS[0], "circle"), (0, SERIES_COLOURS[1], "square")):
        chosen = [
            {"x": row["raw_score"], "y": (1.03 if is_accepted else -0.13) + row["jitter"] / 10}
            for row in points
            if row["human_label"] == is_accepted
        ]
        layers += draw_points(chosen, scores, y, color=colour, shape=shape, size=20, opacity=0.55)
    line = [{"x": row["score"], "y": row["probability"]} for row in curve]
    steps = "step" if is_staircase else "linear"
    layers.append(chart_of(line).mark_line(color=INK, strokeWidth=2, interpolate=steps).encode(x=scores, y=y))
    heading = alt.TitleParams("probability that raters accept", fontSize=11.5, fontWeight="normal", anchor="start")
    strips = [
        {"x": row["low"], "x2": row["high"], "system": row["system"], "fill": SET_COLOURS[row["prediction_set"]]}
        for row in bands
    ]
    below = (
        chart_of(strips)
        .mark_rect(stroke="#ffffff")
        .encode(
            x=x,
            x2="x2:Q",
            y=alt.Y("system:N", sort=None, axis=alt.Axis(title=None, domain=False, ticks=False, labelLimit=160)),
            fill=alt.Fill("fill:N", scale=None),
        )
    )
    above = alt.layer(*layers).properties(width=400, height=270, title=heading)
    return finish(alt.vconcat(above, below.properties(width=400, height=alt.Step(24)), spacing=4), label)


def draw_densities(
    densities: Sequence[tuple[str, Sequence[float]]],
    decided: float | None,
    domain: tuple[float, float],
    axis_title: str,
    label: str,
) -> str:
    """Return densities of accepted and failed scores beside the threshold in force as SVG."""
    import altair as alt

    width = 520
    x = score_axis(domain, title=axis_title)
    y = alt.Y("y:Q", scale=alt.Scale(domain=[0, 1.05], nice=False), axis=None)
    layers: list[Any] = []
    for number, (name, scores) in enumerate(densities):
        colour = SERIES_COLOURS[number]
        if not scores:
            continue
        if is_sparse(scores):
            layers.append(
                draw_strokes([(score, 0, score, 0.25) for score in sorted(set(scores))], x, y, colour, 1.4, 1)
            )
        else:
            positions, density = (values.round(4).tolist() for values in estimate_density(scores))
            area = [{"x": position, "y": height} for position, height in zip(positions, density, strict=True)]
            line = {"color": colour, "strokeWidth": 1.6}
            layers.append(chart_of(area).mark_area(color=colour, opacity=0.22, line=line).encode(x=x, y=y))
        place = (alt.value(width + 10), alt.value(4 + 17 * number))
        layers.append(draw_texts([{"text": name}], *place, align="left", baseline="top", fontSize=12, color=colour))
    layers += draw_decision(decided, x, "decided")
    return finish(alt.layer(*layers).properties(width=width, height=140), label)
