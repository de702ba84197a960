"""The picture of topics: chunks in two dimensions, each topic with a mark and a number of its own beside its colour."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hcat.report.charts.base import (
    GRID,
    INK,
    MUTED_INK,
    SERIES_COLOURS,
    chart_of,
    draw_strokes,
    finish,
    shorten,
)

#: Pixels of the plane, and of a row of the key beside it.
SIDE = 480
KEY_ROW = 17
#: Characters of a topic's name in the key.
NAME_CHARACTERS = 50
#: Chunks that are drawn at most: more only make ink, and a file of many megabytes.
COUNT_DRAWN = 4000
#: Pixels from the middle of a mark to its end.
MARK_REACH = 2.6
#: Pixels between the middles of two numbers, below which they would touch.
NUMBER_GAP = 19.0
#: Share of the chunks on each side that may lie outside: one far chunk would press all others together.
OUTLYING_SHARE = 0.002

#: Marks made of strokes from the middle, in units of :data:`MARK_REACH`; an empty one is a dot.
MARKS: dict[str, tuple[tuple[float, float, float, float], ...]] = {
    "dot": (),
    "plus": ((-1, 0, 1, 0), (0, -1, 0, 1)),
    "cross": ((-0.8, -0.8, 0.8, 0.8), (-0.8, 0.8, 0.8, -0.8)),
    "triangle": ((-0.9, -0.7, 0.9, -0.7), (0.9, -0.7, 0, 1), (0, 1, -0.9, -0.7)),
    "bar": ((0, -1, 0, 1),),
}


@dataclass(frozen=True, slots=True)
class TopicCloud:
    """The chunks of one topic.

    Parameters
    ----------
    name : str
        What stands in the key, for instance its typical words.
    count_chunks : int
        Chunks of the topic, drawn or not.
    points : sequence of (x, y)
        Where its chunks stand; may be empty.
    is_noise : bool
        The stratum of what belongs to no topic: small grey dots, no number.
    """

    name: str
    count_chunks: int
    points: Sequence[tuple[float, float]]
    is_noise: bool = False


def draw_topics(clouds: Sequence[TopicCloud], label: str) -> str:
    """Return the chunks of all topics in two dimensions as SVG, with a key of mark, number, name and n."""
    import altair as alt

    points = np.array([point for cloud in clouds for point in cloud.points], dtype=np.float64).reshape(-1, 2)
    if not len(points):
        raise ValueError("a figure of topics needs at least one point, got none")
    low, high = np.quantile(points, [OUTLYING_SHARE, 1 - OUTLYING_SHARE], axis=0)
    span = np.where(high > low, high - low, 1.0)
    height = max(SIDE, KEY_ROW * (len(clouds) + 1))
    x = alt.X("x:Q", scale=alt.Scale(domain=[0, SIDE], nice=False, zero=False), axis=None)
    y = alt.Y("y:Q", scale=alt.Scale(domain=[0, height], nice=False, zero=False), axis=None)
    step = max(1, -(-len(points) // COUNT_DRAWN))
    margin = 12.0
    room = np.array([SIDE, height]) - 2 * margin
    # places have no unit: a frame and no axes
    frame = [(0, 0, SIDE, 0), (SIDE, 0, SIDE, height), (SIDE, height, 0, height), (0, height, 0, 0)]
    layers: list[Any] = [draw_strokes(frame, x, y, GRID, 1, 1)]
    middles: list[tuple[float, float]] = []
    for number, cloud in enumerate(clouds):
        if not cloud.points:
            continue
        # pixels: a mark keeps its shape whatever the units of the axes
        placed = margin + (np.clip(np.array(cloud.points), low, high) - low) / span * room
        colour, mark = style_of(number)
        if cloud.is_noise:
            layers.insert(1, _draw_marks(placed[::step], "dot", "#9aa3ad", x, y, 0.55))
        else:
            layers.append(_draw_marks(placed[::step], mark, colour, x, y, 0.6))
            middles.append((float(np.median(placed[:, 0])), float(np.median(placed[:, 1]))))
    numbers = [number for number, cloud in enumerate(clouds) if cloud.points and not cloud.is_noise]
    discs = [
        {"x": left, "y": top, "text": str(number + 1), "colour": style_of(number)[0]}
        for number, (left, top) in zip(numbers, part_numbers(middles, SIDE, height), strict=True)
    ]
    if discs:
        base = chart_of(discs)
        ring = alt.Stroke("colour:N", scale=None)
        layers.append(
            base.mark_point(filled=True, fill="#ffffff", size=250, opacity=1, strokeWidth=1.6).encode(
                x=x, y=y, stroke=ring
            )
        )
        layers.append(
            base.mark_text(fontSize=10.5, fontWeight="bold", color=INK, baseline="middle").encode(
                x=x, y=y, text="text:N"
            )
        )
    plane = alt.layer(*layers).properties(width=SIDE, height=height)
    return finish(alt.hconcat(plane, _draw_key(clouds, height), spacing=14), label)


def style_of(number: int) -> tuple[str, str]:
    """Return colour and mark of the topic at ``number`` (from 0); 25 pairs differ, and neighbours differ in both."""
    marks = list(MARKS)
    return SERIES_COLOURS[number % 5], marks[(number + number // 5) % 5]


def part_numbers(middles: Sequence[tuple[float, float]], width: float, height: float) -> list[tuple[float, float]]:
    """Return places for numbers near ``middles``, moved along a spiral where they would touch one placed before."""
    border = NUMBER_GAP / 2
    taken: list[tuple[float, float]] = []
    for middle in middles:
        # 40 turns of a spiral reach farther than the plane is wide; the last place is taken as it is
        for number in range(640):
            angle, radius = number * np.pi / 8, number / 16 * NUMBER_GAP / 2
            place = (
                float(np.clip(middle[0] + radius * np.cos(angle), border, width - border)),
                float(np.clip(middle[1] + radius * np.sin(angle), border, height - border)),
            )
            if all(np.hypot(place[0] - other[0], place[1] - other[1]) >= NUMBER_GAP for other in taken):
                break
        taken.append(place)
    return taken


def _draw_marks(placed: Any, mark: str, colour: str, x: Any, y: Any, opacity: float) -> Any:
    strokes = MARKS[mark]
    if not strokes:
        dots = [(left, top, left, top) for left, top in placed.tolist()]
        return draw_strokes(dots, x, y, colour, 3.4, opacity, cap="round")
    reach = MARK_REACH
    lines = [
        (left + reach * x1, top + reach * y1, left + reach * x2, top + reach * y2)
        for left, top in placed.tolist()
        for x1, y1, x2, y2 in strokes
    ]
    return draw_strokes(lines, x, y, colour, 1.1, opacity)


def _draw_key(clouds: Sequence[TopicCloud], height: float) -> Any:
    """Return the key: mark, number, name and n of each topic, line by line from the top."""
    import altair as alt

    width = 340
    x = alt.X("x:Q", scale=alt.Scale(domain=[0, width], nice=False, zero=False), axis=None)
    y = alt.Y("y:Q", scale=alt.Scale(domain=[0, height], nice=False, zero=False), axis=None)
    layers = []
    rows = []
    for number, cloud in enumerate(clouds):
        line = height - KEY_ROW * (number + 0.8)
        colour, mark = ("#9aa3ad", "dot") if cloud.is_noise else style_of(number)
        layers.append(_draw_marks(np.array([(8.0, line)]), mark, colour, x, y, 1.0))
        rows.append(
            {
                "y": line,
                "number": "–" if cloud.is_noise else str(number + 1),
                "name": shorten(cloud.name, NAME_CHARACTERS),
                "count": f"n {cloud.count_chunks:,}",
            }
        )
    for field, place, align, colour, weight in (
        ("number", 34, "right", INK, "bold"),
        ("name", 42, "left", INK, "normal"),
        ("count", width, "right", MUTED_INK, "normal"),
    ):
        style = {"fontSize": 11, "align": align, "baseline": "middle", "color": colour, "fontWeight": weight}
        text = chart_of([{**row, "x": place} for row in rows]).mark_text(**style)
        layers.append(text.encode(x=x, y=y, text=f"{field}:N"))
    return alt.layer(*layers).properties(width=width, height=height)
