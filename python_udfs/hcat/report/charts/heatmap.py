"""Heatmaps of weakness: a cell holds its value, its interval and its n, so that the colour says nothing alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hcat.report.charts.base import (
    GRID,
    INK,
    chart_of,
    draw_row_names,
    draw_strokes,
    finish,
    shade_colour,
    text_colour,
    wrap,
)

#: Pixels of a cell; three lines of text fit into it.
CELL_WIDTH = 104
CELL_HEIGHT = 54
#: Where the lines of a cell stand, as shares of its height, by their number.
LINE_POSITIONS = {1: (0.5,), 2: (0.38, 0.66), 3: (0.27, 0.55, 0.80)}


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
        Too few clusters to rely on: hatched.
    is_unsure : bool
        The cell cannot be told from the others: faded.
    is_weak : bool
        Tested and found weak: framed.
    """

    row: str
    column: str
    shade: float | None
    lines: Sequence[str]
    is_small: bool = False
    is_unsure: bool = False
    is_weak: bool = False


def draw_heatmap(
    cells: Sequence[HeatmapCell], rows: Sequence[str], columns: Sequence[str], ramp: Sequence[str], label: str
) -> str:
    """Return a heatmap as SVG: value, interval and n in every cell; small hatched, unsure faded, weak framed."""
    import altair as alt

    if not rows or not columns:
        raise ValueError(f"a heatmap needs rows and columns, got {len(rows)} and {len(columns)}")
    row_numbers = {name: number for number, name in enumerate(rows)}
    column_numbers = {name: number for number, name in enumerate(columns)}
    x = alt.X("x:Q", scale=alt.Scale(domain=[0, len(columns)], nice=False, zero=False), axis=None)
    y = alt.Y("y:Q", scale=alt.Scale(domain=[len(rows), 0], nice=False, zero=False), axis=None)
    rectangles, texts, frames = [], [], []
    hatches: dict[str, list[tuple[float, float, float, float]]] = {}
    for cell in cells:
        left, top = column_numbers[cell.column], row_numbers[cell.row]
        fill = "#fbfcfd" if cell.shade is None else shade_colour(cell.shade, ramp, cell.is_unsure)
        ink = text_colour(fill)
        rectangles.append({"x": left, "x2": left + 1, "y": top, "y2": top + 1, "fill": fill})
        if cell.is_small:
            # a hatch beside the text and not under it: diagonals in a strip on the left edge
            hatches.setdefault(ink, []).extend(hatch(left, top))
        if cell.is_weak:
            frames.append((left, top))
        for number, (line, offset) in enumerate(zip(cell.lines, LINE_POSITIONS[len(cell.lines)], strict=True)):
            texts.append({"x": left + 0.53, "y": top + offset, "text": line, "ink": ink, "is_value": number == 0})
    grid = [(0.0, float(row), float(len(columns)), float(row)) for row in range(len(rows) + 1)]
    grid += [(float(column), 0.0, float(column), float(len(rows))) for column in range(len(columns) + 1)]
    layers: list[Any] = [draw_strokes(grid, x, y, GRID, 1, 1)]
    layers.append(
        chart_of(rectangles)
        .mark_rect(stroke="#ffffff", strokeWidth=1.5)
        .encode(x=x, x2="x2:Q", y=y, y2="y2:Q", fill=alt.Fill("fill:N", scale=None))
    )
    layers += [draw_strokes(strokes, x, y, ink, 1.1, 0.55) for ink, strokes in sorted(hatches.items())]
    # black outside, white inside: one of them stands out on any fill
    for inset, colour, stroke_width in ((0.0, "#000000", 3.0), (2.0, "#ffffff", 1.2)) if frames else ():
        across, down = inset / CELL_WIDTH, inset / CELL_HEIGHT
        edges = [
            {"x": left + across, "x2": left + 1 - across, "y": top + down, "y2": top + 1 - down} for left, top in frames
        ]
        shape = chart_of(edges).mark_rect(fill=None, stroke=colour, strokeWidth=stroke_width)
        layers.append(shape.encode(x=x, x2="x2:Q", y=y, y2="y2:Q"))
    for is_value, size, weight in ((True, 14, "bold"), (False, 10.5, "normal")):
        layers.append(
            chart_of([text for text in texts if text["is_value"] is is_value])
            .mark_text(fontSize=size, fontWeight=weight, baseline="middle")
            .encode(x=x, y=y, text="text:N", color=alt.Color("ink:N", scale=None))
        )
    row_labels = [{"y": number + 0.5, "name": wrap(name, 24)} for name, number in row_numbers.items()]
    layers += draw_row_names(row_labels, y, 12, 14)
    column_labels = [(number + 0.5, wrap(name, 16).split("\n")) for name, number in column_numbers.items()]
    # line by line from the bottom, so that labels of one and of two lines stand on the same ground
    for from_bottom, rise in ((1, -8), (2, -22)):
        chosen = [
            {"x": middle, "text": parts[-from_bottom]} for middle, parts in column_labels if len(parts) >= from_bottom
        ]
        layers.append(
            chart_of(chosen)
            .mark_text(align="center", baseline="bottom", dy=rise, fontSize=12, color=INK)
            .encode(x=x, y=alt.value(0), text="text:N")
        )
    picture = alt.layer(*layers).properties(width=CELL_WIDTH * len(columns), height=CELL_HEIGHT * len(rows))
    return finish(picture, label)


def hatch(left: int, top: int) -> list[tuple[float, float, float, float]]:
    """Return diagonal strokes (x, y, x2, y2) along the left edge of the cell at ``left`` and ``top``, in cell units."""
    strip, step = 10.0, 6.0
    strokes = []
    for number in range(1, int((CELL_HEIGHT + strip) // step)):
        # from the left edge upwards to the right, clipped to the strip and the cell
        start_y = number * step
        x_start, y_start = 0.0, start_y
        if y_start > CELL_HEIGHT:
            x_start, y_start = y_start - CELL_HEIGHT, float(CELL_HEIGHT)
        x_end = min(strip, start_y)
        if x_end <= x_start:
            continue
        strokes.append(
            (
                left + x_start / CELL_WIDTH,
                top + y_start / CELL_HEIGHT,
                left + x_end / CELL_WIDTH,
                top + (start_y - x_end) / CELL_HEIGHT,
            )
        )
    return strokes
