"""What all figures share: colours, text and the conversion of a chart to SVG for an HTML page."""

from __future__ import annotations

import html
import io
import re
from collections.abc import Sequence
from typing import Any

#: Okabe and Ito (2008), the five that stand out on white; shapes repeat what the colours say.
SERIES_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#8a3b78", "#333333")
SERIES_SHAPES = ("circle", "square", "triangle-up", "diamond", "cross")
INK = "#1c2733"
MUTED_INK = "#56616d"
GRID = "#dfe4ea"
#: Line of a decided threshold; dashed wherever it is drawn, so that it needs no colour.
DECISION_INK = "#b3261e"
#: Decimals of a coordinate in pixels; a tenth is below what a screen or printer shows.
COORDINATE_DECIMALS = 1

_FONT = "Helvetica, Arial, sans-serif"


def encode_series(series: Sequence[str]) -> tuple[Any, Any]:
    """Return the colour and shape channels of ``series``, with one legend for both."""
    import altair as alt

    if len(series) > len(SERIES_COLOURS):
        raise ValueError(f"at most {len(SERIES_COLOURS)} series can be distinguished, got {len(series)}")
    legend = alt.Legend(title=None, orient="bottom", labelLimit=320, columns=3, symbolSize=80)
    colours = alt.Scale(domain=list(series), range=list(SERIES_COLOURS[: len(series)]))
    shapes = alt.Scale(domain=list(series), range=list(SERIES_SHAPES[: len(series)]))
    return alt.Color("series:N", scale=colours, legend=legend), alt.Shape("series:N", scale=shapes, legend=legend)


def shorten(text: str, length: int) -> str:
    """Return ``text`` in at most ``length`` characters; longer texts are cut in the middle."""
    if len(text) <= length:
        return text
    tail = length // 3
    return f"{text[: length - tail - 1]}…{text[-tail:]}"


def wrap(text: str, length: int) -> str:
    """Return ``text`` in at most two lines of ``length`` characters, broken at a space or underscore where possible."""
    if len(text) <= length:
        return text
    breaks = [match.end() for match in re.finditer(r"[\s_/-]+", text[: length + 1])]
    split = breaks[-1] if breaks else length
    first, second = text[:split].rstrip(), text[split:]
    return f"{first}\n{second if len(second) <= length else second[: length - 1] + '…'}"


def three_digits(value: float) -> str:
    """Return ``value`` with three significant digits."""
    return "0" if value == 0 else f"{value:#.3g}".rstrip(".")


def chart_of(rows: Sequence[dict[str, Any]]) -> Any:
    """Return a chart over ``rows``."""
    import altair as alt

    # a tuple: Altair copies lists deeply, row by row, whenever charts are put together
    return alt.Chart({"values": tuple(rows)})


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
    rows: list[dict[str, float | None]] = []
    for left, top, right, bottom in strokes:
        ends = [(left, top)] if (left, top) == (right, bottom) else [(left, top), (right, bottom)]
        rows += [{"x": end_x, "y": end_y} for end_x, end_y in ends]
        rows.append({"x": None, "y": None})
    numbered = [{**row, "order": number} for number, row in enumerate(rows)]
    return (
        chart_of(numbered)
        .mark_line(
            color=colour, strokeWidth=width, opacity=opacity, strokeCap=cap, invalid="break-paths-filter-domains"
        )
        .encode(x=x, y=y, order="order:Q")
    )


def draw_row_names(rows: Sequence[dict[str, Any]], y: Any, size: float, line_height: float) -> list[Any]:
    """Return the names of rows to the left of a figure, in one or two lines centred on the row."""
    import altair as alt

    layers = []
    for count_lines, rise in ((1, 0.0), (2, -line_height / 2)):
        chosen = [row for row in rows if row["name"].count("\n") == count_lines - 1]
        if chosen:
            style = {"fontSize": size, "lineBreak": "\n", "lineHeight": line_height, "color": INK}
            text = chart_of(chosen).mark_text(align="right", baseline="middle", dx=-8, dy=rise, **style)
            layers.append(text.encode(x=alt.value(0), y=y, text="name:N"))
    return layers


def draw_decision(threshold: float | None, x: Any, word: str) -> list[Any]:
    """Return the dashed line of a decided threshold, and its value above it; nothing without a threshold."""
    import altair as alt

    if threshold is None:
        return []
    line = chart_of([{"x": threshold, "text": f"{word} {three_digits(threshold)}"}])
    return [
        line.mark_rule(color=DECISION_INK, strokeDash=[5, 3], strokeWidth=1.4).encode(x=x),
        line.mark_text(baseline="bottom", dy=-4, fontSize=10.5, color=DECISION_INK).encode(
            x=x, y=alt.value(0), text="text:N"
        ),
    ]


def draw_names(names: Sequence[tuple[float, str]], y: Any) -> Any:
    """Return the names of rows to the left of a figure, at their places on its axis."""
    import altair as alt

    text = chart_of([{"y": place, "text": name} for place, name in names])
    style = {"align": "right", "baseline": "middle", "dx": -10, "fontSize": 12, "color": INK}
    return text.mark_text(**style).encode(x=alt.value(0), y=y, text="text:N")


def finish(chart: Any, label: str) -> str:
    """Return ``chart`` as SVG in the common style."""
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
    """Return ``svg`` for an HTML page: without name spaces, which HTML does not need, and with a label."""
    body = svg[svg.index("<svg") :]
    end = body.index(">")
    opening = re.sub(r'\sxmlns(:\w+)?="[^"]*"', "", body[:end])
    opening = re.sub(r'\sclass="[^"]*"', "", opening)
    opening += f' role="img" aria-label="{html.escape(label, quote=True)}" font-family="{_FONT}"'
    # every < in a text is escaped, so the pattern matches tags only
    return opening + re.sub(r"<[^>]*>", _shorten_tag, body[end:])


def _shorten_tag(tag: re.Match[str]) -> str:
    """Return a tag without unused attributes, and with coordinates in tenths of a pixel."""
    bare = re.sub(r'\s(?:class|role|aria-[a-z]+|font-family)="[^"]*"', "", tag[0])
    return re.sub(
        r'\s(?:d|transform)="[^"]*"',
        lambda attribute: re.sub(r"-?\d+\.\d+(?:e-?\d+)?", _round_coordinate, attribute[0]),
        bare,
    )


def _round_coordinate(number: re.Match[str]) -> str:
    return f"{round(float(number[0]), COORDINATE_DECIMALS) + 0.0:g}"
