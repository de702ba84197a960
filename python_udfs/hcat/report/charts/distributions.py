"""Pictures of where scores lie: violins with their points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hcat.report.charts.base import (
    GRID,
    INK,
    MUTED_INK,
    chart_of,
    draw_decision,
    draw_row_names,
    draw_strokes,
    finish,
    three_digits,
    wrap,
)

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
_SCORE_FILL = "#bcd9ee"


@dataclass(frozen=True, slots=True)
class Violin:
    """Distribution of one group: scores (all, or a sample) that give the shape, and quartiles and number of all."""

    name: str
    scores: Sequence[float]
    quantile_25: float
    median: float
    quantile_75: float
    count_scored: int


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
    violins: Sequence[Violin], threshold: float | None, domain: tuple[float, float], axis_title: str, label: str
) -> str:
    """Return horizontal violins with dots as SVG, one row per group, with quartiles, median and n in numbers."""
    import altair as alt

    if not violins:
        raise ValueError("violins need at least one group, got none")
    x = alt.X(
        "x:Q",
        scale=alt.Scale(domain=list(domain), nice=False, zero=False, clamp=True),
        axis=alt.Axis(title=axis_title, grid=True, tickCount=5, domain=False),
    )
    y = alt.Y("y:Q", scale=alt.Scale(domain=[len(violins), 0], nice=False, zero=False), axis=None)
    areas, boxes, medians, texts = [], [], [], []
    ticks: list[tuple[float, float, float, float]] = []
    dots: list[tuple[float, float]] = []
    for number, violin in enumerate(violins):
        centre = number + 0.5
        if len(violin.scores) < MINIMUM_DENSITY_SCORES or max(violin.scores) - min(violin.scores) < MINIMUM_SPREAD:
            ticks += [(score, centre - 0.22, score, centre + 0.22) for score in sorted(set(violin.scores))]
        else:
            positions, density = estimate_density(violin.scores)
            for position, height in zip(positions.round(4).tolist(), density.round(3).tolist(), strict=True):
                half = 0.42 * height
                areas.append(
                    {"x": position, "y": round(centre - half, 4), "y2": round(centre + half, 4), "group": number}
                )
            dots += _spread_dots(violin.scores, centre, positions, density)
        boxes.append({"x": violin.quantile_25, "x2": violin.quantile_75, "y": centre})
        medians.append({"x": violin.median, "y": centre})
        described = f"{three_digits(violin.median)}  (n {violin.count_scored:,})"
        texts.append({"y": centre, "name": wrap(violin.name, 22), "described": described})
    layers: list[Any] = [chart_of(texts).mark_rule(color=GRID).encode(y=y)]
    if areas:
        layers.append(
            chart_of(areas)
            .mark_area(color=_SCORE_FILL, stroke="#3b7fb5", strokeWidth=0.8, orient="vertical")
            .encode(x=x, y=y, y2="y2:Q", detail="group:N")
        )
    if dots:
        layers.append(draw_strokes([(*dot, *dot) for dot in dots], x, y, _SCORE_INK, 2.6, 0.6, cap="round"))
    if ticks:
        layers.append(draw_strokes(ticks, x, y, _SCORE_INK, 1.4, 1))
    layers += draw_decision(threshold, x, "threshold")
    layers += [
        chart_of(boxes).mark_rule(color=INK, strokeWidth=3).encode(x=x, x2="x2:Q", y=y),
        chart_of(medians).mark_point(filled=True, fill="#ffffff", stroke=INK, size=44, opacity=1).encode(x=x, y=y),
        *draw_row_names(texts, y, 11.5, 13),
        chart_of(texts)
        .mark_text(align="left", baseline="middle", dx=8, fontSize=11, color=MUTED_INK)
        .encode(x=alt.value(270), y=y, text="described:N"),
    ]
    return finish(alt.layer(*layers).properties(width=270, height=36 * len(violins)), label)


def _spread_dots(
    scores: Sequence[float],
    centre: float,
    positions: npt.NDArray[np.float64],
    density: npt.NDArray[np.float64],
) -> list[tuple[float, float]]:
    """Return dots inside the violin: every k-th score by rank, spread over the width that the density has there."""
    ranked = np.sort(np.asarray(scores, dtype=np.float64))
    chosen = ranked[:: -(-ranked.size // MAXIMUM_VIOLIN_DOTS)]
    shifts = (np.arange(chosen.size) * GOLDEN_SECTION) % 1 - 0.5
    rows = centre + 0.72 * shifts * np.interp(chosen, positions, density)
    return list(zip(chosen.round(4).tolist(), rows.round(3).tolist(), strict=True))
