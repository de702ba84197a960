"""Pictures of query groups: how many are robust, not robust or gaps, by system and side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hcat.report.charts.base import INK, MUTED_INK, SERIES_COLOURS, chart_of, finish, shorten, text_colour

#: Types in their order from left to right, with the lightness that keeps the order in grey print.
GROUP_FILLS = {
    "robust": SERIES_COLOURS[0],
    "not robust: retrieval": SERIES_COLOURS[1],
    "not robust: language model": "#f0a36b",
    "not robust: both or unknown": "#f7d3b8",
    "gap": "#8b949e",
}
ROW_HEIGHT = 26
#: Share of a row below which its count has no room.
SMALLEST_LABELLED_SHARE = 0.04
_NAME_CHARACTERS = 44


@dataclass(frozen=True, slots=True)
class GroupBar:
    """Groups of one system and side: counts by the words of :data:`GROUP_FILLS`, and what stands at the right."""

    name: str
    counts: dict[str, int]
    text: str


def draw_group_types(bars: Sequence[GroupBar], label: str) -> str:
    """Return the shares of group types as SVG: one stacked bar per row, counts written where they fit."""
    import altair as alt

    pieces = []
    names = []
    for number, bar in enumerate(bars):
        total = sum(bar.counts.values())
        names.append({"y": number + 0.5, "name": shorten(bar.name, _NAME_CHARACTERS), "text": bar.text})
        start = 0.0
        for word in GROUP_FILLS:
            count = bar.counts.get(word, 0)
            if not count:
                continue
            share = count / total
            pieces.append(
                {
                    "y": number + 0.18,
                    "y2": number + 0.82,
                    "middle": number + 0.5,
                    "start": start,
                    "end": start + share,
                    "centre": start + share / 2,
                    "word": word,
                    "count": f"{count:,}" if share >= SMALLEST_LABELLED_SHARE else "",
                    "ink": text_colour(GROUP_FILLS[word]),
                }
            )
            start += share
    y_scale = alt.Scale(domain=[len(bars), 0], nice=False, zero=False)
    x_scale = alt.Scale(domain=[0, 1], nice=False)
    axis = alt.Axis(title="share of the groups", format=".0%", tickCount=5, domain=False)
    fills = alt.Color(
        "word:N",
        scale=alt.Scale(domain=list(GROUP_FILLS), range=list(GROUP_FILLS.values())),
        legend=alt.Legend(title=None, orient="bottom", columns=3, labelLimit=240),
    )
    y = alt.Y("y:Q", scale=y_scale, axis=None)
    middle = alt.Y("middle:Q", scale=y_scale, axis=None)
    rows = chart_of(names)
    name_y = alt.Y("y:Q", scale=y_scale, axis=None)
    layers = [
        chart_of(pieces)
        .mark_rect(stroke="#ffffff", strokeWidth=1)
        .encode(x=alt.X("start:Q", scale=x_scale, axis=axis), x2="end:Q", y=y, y2="y2:Q", color=fills),
        chart_of(pieces)
        .mark_text(fontSize=11, baseline="middle")
        .encode(
            x=alt.X("centre:Q", scale=x_scale),
            y=middle,
            text="count:N",
            color=alt.Color("ink:N", scale=None, legend=None),
        ),
        rows.mark_text(align="right", baseline="middle", dx=-8, fontSize=12, color=INK).encode(
            x=alt.value(0), y=name_y, text="name:N"
        ),
        rows.mark_text(align="left", baseline="middle", dx=8, fontSize=11, color=MUTED_INK).encode(
            x=alt.value(420), y=name_y, text="text:N"
        ),
    ]
    return finish(alt.layer(*layers).properties(width=420, height=ROW_HEIGHT * max(len(bars), 1)), label)
