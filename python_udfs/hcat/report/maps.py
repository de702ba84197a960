"""Maps of weakness: segments by metric, and pairs of segments for one metric, each with its table."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, Final

from hcat.engine.warehouse import Row, Warehouse
from hcat.language.display import clean_label
from hcat.report import blocks, charts
from hcat.report.blocks import Block, Column
from hcat.report.ledger import Build
from hcat.report.showing import clip, distinct_labels, format_interval, format_number, format_percent

#: Rows and columns of a map, and pairs that are drawn.
MAXIMUM_ROWS: Final = 24
MAXIMUM_COLUMNS: Final = 8
MAXIMUM_PAIRS: Final = 2
#: Segments per dimension in a map of segments, largest first.
MAXIMUM_SEGMENTS: Final = 8

#: Metric of the maps of pairs unless the reader chooses one; the first that is primary, decided and scored.
HEATMAP_METRICS: Final = (
    "groundedness",
    "groundedness_similarity__mean",
    "support_words",
    "semantic_similarity",
    "answer_relevancy__mean",
)
#: Pairs of dimensions drawn first; other declared pairs follow in alphabetical order.
HEATMAP_PAIRS: Final = (("topic", "query_type"), ("topic", "system"))
#: Dimensions of the first map of segments; others follow in a second one.
MAIN_DIMENSIONS: Final = ("system", "topic", "query_type")
#: Dimensions that are drawn against time instead.
TIME_DIMENSIONS: Final = ("asked_week",)

MARGINAL: Final = "fct_marginal_weaknesses"
BIVARIATE: Final = "fct_bivariate_weaknesses"

LIST_PAIRS: Final = """
select distinct first_dimension, second_dimension
from fct_bivariate_weaknesses
order by first_dimension, second_dimension
"""
#: Dimensions with a segment that holds every interaction: such a segment is the whole, and its pairs repeat others.
LIST_CONSTANT_DIMENSIONS: Final = """
select distinct segments.dimension
from fct_marginal_weaknesses as segments
inner join fct_marginal_weaknesses as whole
    on segments.metric_name = whole.metric_name and whole.dimension = 'all'
where segments.dimension <> 'all' and segments.count_interactions = whole.count_interactions
"""
LIST_CELLS: Final = """
select *
from fct_bivariate_weaknesses
where metric_name = $metric_name and first_dimension = $first_dimension and second_dimension = $second_dimension
order by first_segment, second_segment
"""
MEASURE_WHOLE: Final = "select * from fct_marginal_weaknesses where metric_name = $metric_name and dimension = 'all'"
LIST_SEGMENTS: Final = """
select *
from fct_marginal_weaknesses
where list_contains($metric_names::varchar[], metric_name)
order by dimension, segment, metric_name
"""


def describe_maps(source: Warehouse, build: Build, metric_name: str | None) -> list[Block | None]:
    """Return the maps of segments and of pairs of segments."""
    chosen = choose_metric(source, build.metrics, metric_name)
    segments = _describe_segment_maps(source, build)
    pairs = [] if chosen is None else _describe_pairs(source, build, chosen)
    return [
        blocks.heading("Maps of segments"),
        *(segments or [blocks.absent("No map of segments: no primary metric has a decided threshold and scores.")]),
        *pairs,
    ]


def choose_metric(source: Warehouse, metrics: Sequence[Row], metric_name: str | None) -> Row | None:
    """Return the metric of the maps of pairs; None in a warehouse without a scored primary metric."""
    primary = {metric["metric_name"]: metric for metric in metrics if metric["is_primary"]}
    if metric_name is not None:
        if metric_name not in primary:
            raise ValueError(
                f"metric must be one of {', '.join(sorted(primary)) or '(none)'}, got {clean_label(metric_name)}"
            )
        return primary[metric_name]
    scored = {
        row["metric_name"]: row["count_scored"]
        for name in primary
        for row in source.rows(MEASURE_WHOLE, ["fct_marginal_weaknesses"], metric_name=name)
    }
    preferred = [name for name in HEATMAP_METRICS if name in primary]
    names = [*preferred, *(name for name in primary if name not in preferred)]
    with_scores = [name for name in names if scored.get(name)]
    decided = [name for name in with_scores if primary[name]["threshold"] is not None]
    return primary[(decided or with_scores)[0]] if with_scores else None


def _describe_segment_maps(source: Warehouse, build: Build) -> list[Block | None]:
    """Return two maps, of the main dimensions and of the others: share failing by segment and decided metric."""
    decided = [name for name, metric in build.primary.items() if metric["threshold"] is not None]
    ordered = [*(name for name in HEATMAP_METRICS if name in decided), *decided]
    rows = source.rows(LIST_SEGMENTS, [MARGINAL], metric_names=decided)
    scored = {row["metric_name"] for row in rows if row["share_failing"] is not None}
    names = [name for name in dict.fromkeys(ordered) if name in scored][:MAXIMUM_COLUMNS]
    wholes = {row["metric_name"]: row["share_failing"] for row in rows if row["dimension"] == "all"}
    maps: list[Block | None] = []
    for is_main in (True, False):
        cells = [
            row
            for row in rows
            if row["metric_name"] in names
            and row["dimension"] not in ("all", *TIME_DIMENSIONS)
            and (row["dimension"] in MAIN_DIMENSIONS) is is_main
        ]
        drawn, count_left_out = _choose_segments(cells)
        if not drawn:
            continue
        labels = distinct_labels([f"{dimension}: {segment}" for dimension, segment in drawn])
        by_place = {place: labels[f"{place[0]}: {place[1]}"] for place in drawn}
        dimensions = ", ".join(sorted({dimension for dimension, _ in drawn}))
        shown = _show_map(
            [
                (by_place[row["dimension"], row["segment"]], row["metric_name"], row)
                for row in cells
                if (row["dimension"], row["segment"]) in by_place
            ],
            list(by_place.values()),
            names,
            lambda row: wholes.get(row["metric_name"]),
            "Share failing by segment and metric",
            f"Share failing by segment ({dimensions}) and metric, with its {build.level} interval and the number of"
            " scored interactions (n). Darker is worse; white cells have no interactions. Metrics without a decided"
            f" threshold have no failure rate and are not drawn. {count_left_out} smaller segments are not drawn.",
        )
        maps += shown if is_main else [blocks.fold(f"Other dimensions: {dimensions}", *shown)]
    return maps


def _choose_segments(rows: Sequence[Row]) -> tuple[list[tuple[str, str]], int]:
    """Return the largest segments of every dimension that a map has room for, and how many are left out."""
    sizes: dict[tuple[str, str], int] = {}
    for row in rows:
        place = (row["dimension"], row["segment"])
        sizes[place] = max(sizes.get(place, 0), row["count_interactions"])
    main = {dimension: number for number, dimension in enumerate(MAIN_DIMENSIONS)}
    dimensions = sorted({dimension for dimension, _ in sizes}, key=lambda name: (main.get(name, len(main)), name))
    drawn: list[tuple[str, str]] = []
    for dimension in dimensions:
        own = sorted((place for place in sizes if place[0] == dimension), key=lambda place: (-sizes[place], place))
        drawn += sorted(own[:MAXIMUM_SEGMENTS])
    return drawn[:MAXIMUM_ROWS], len(sizes) - len(drawn[:MAXIMUM_ROWS])


def _describe_pairs(source: Warehouse, build: Build, metric: Row) -> list[Block | None]:
    """Return maps of pairs of dimensions, without dimensions of one segment: they repeat the map of the other one."""
    declared = [(row["first_dimension"], row["second_dimension"]) for row in source.rows(LIST_PAIRS, [BIVARIATE])]
    constant = {row["dimension"] for row in source.rows(LIST_CONSTANT_DIMENSIONS, [MARGINAL])}
    ordered = [*(pair for pair in HEATMAP_PAIRS if pair in declared), *declared]
    pairs = [pair for pair in dict.fromkeys(ordered) if constant.isdisjoint(pair)]
    if not pairs:
        return []
    decided = "" if metric["threshold"] is None else f", threshold {format_number(metric['threshold'])}"
    better = "higher" if metric["direction"] == "higher_is_better" else "lower"
    return [
        blocks.heading(f"Maps of pairs of segments: {metric['metric_name']}"),
        blocks.paragraph(
            blocks.rich(
                "Metric: <code>{}</code> ({}, {} is better{}); <code>hcat report --metric</code> draws another metric."
                " fct_bivariate_weaknesses has the {} other pairs of dimensions.",
                metric["metric_name"],
                metric["unit"],
                better,
                decided,
                max(0, len(pairs) - MAXIMUM_PAIRS),
            )
        ),
        *(
            blocks.fold(
                f"{first.replace('_', ' ').capitalize()} by {second.replace('_', ' ')}",
                *_describe_pair(source, build, metric, first, second),
                level=4,
            )
            for first, second in pairs[:MAXIMUM_PAIRS]
        ),
    ]


def _describe_pair(source: Warehouse, build: Build, metric: Row, first: str, second: str) -> list[Block | None]:
    cells = source.rows(
        LIST_CELLS, [BIVARIATE], metric_name=metric["metric_name"], first_dimension=first, second_dimension=second
    )
    whole = source.rows(MEASURE_WHOLE, [MARGINAL], metric_name=metric["metric_name"])
    if not cells:
        return [
            blocks.absent(f"No map: no interaction has a score of {metric['metric_name']} with {first} and {second}.")
        ]
    is_rate = any(cell["share_failing"] is not None for cell in cells)
    reference = whole[0]["share_failing" if is_rate else "mean_score"] if whole else None
    rows = distinct_labels(_largest(cells, "first_segment", MAXIMUM_ROWS))
    columns = distinct_labels(_largest(cells, "second_segment", MAXIMUM_COLUMNS))
    drawn = [
        (rows[cell["first_segment"]], columns[cell["second_segment"]], cell)
        for cell in cells
        if cell["first_segment"] in rows and cell["second_segment"] in columns
    ]
    what = f"{'Share failing' if is_rate else 'Mean score'} of {metric['metric_name']} by {first} and {second}"
    return _show_map(
        drawn,
        list(rows.values()),
        list(columns.values()),
        lambda row: reference,
        what,
        f"{what}, with its {build.level} interval and n. Darker is worse. The value over all interactions is"
        f" {format_percent(reference) if is_rate else format_number(reference)}. White cells have no interactions."
        f" {len(cells) - len(drawn)} cells of smaller segments are not drawn.",
        None if is_rate else metric,
    )


def _largest(cells: Sequence[Row], segment: str, maximum: int) -> list[str]:
    """Return the segments with most interactions, at most ``maximum``, in alphabetical order."""
    sizes: dict[str, int] = {}
    for cell in cells:
        sizes[cell[segment]] = sizes.get(cell[segment], 0) + cell["count_interactions"]
    return sorted(sorted(sizes, key=lambda name: (-sizes[name], name))[:maximum])


def _show_map(
    cells: Sequence[tuple[str, str, Row]],
    rows: Sequence[str],
    columns: Sequence[str],
    find_reference: Callable[[Row], float | None],
    name: str,
    caption: str,
    metric: Row | None = None,
) -> list[Block | None]:
    """Return the key, the picture and the table of a map: of shares failing, or of the means of a metric."""
    value = "share_failing" if metric is None else "mean_score"
    ramp = charts.FAILURE_RAMP if metric is None else charts.SCORE_RAMP
    ends = _find_ends([row[value] for _, _, row in cells], metric)
    drawn = [
        charts.HeatmapCell(
            left,
            top,
            None if row[value] is None else _shade(row[value], *ends),
            _show_cell(row, metric),
            is_small=row["is_small"] and row[value] is not None,
            is_unsure=_is_unsure(row, value, find_reference(row)),
            is_weak=bool(row["is_weak"]),
        )
        for left, top, row in cells
    ]
    found = {(left, top): row for left, top, row in cells}
    behind = blocks.table(
        "† marks few clusters, not reliable.",
        (
            "name=Segment",
            *(Column(column, operator.itemgetter(column)) for column in columns),
        ),
        [
            {"name": row, **{column: _show_lines(found.get((row, column)), metric) for column in columns}}
            for row in rows
        ],
    )
    picture_of = charts.draw_heatmap(drawn, rows, columns, ramp, f"{name}, with interval and n; see the table")
    words = "share failing, 0 % to 100 %" if metric is None else "mean score, best cell to worst cell"
    return [blocks.paragraph(_show_key(ramp, words), "key"), blocks.picture(picture_of, caption, behind)]


def _find_ends(values: Sequence[float | None], metric: Row | None) -> tuple[float, float]:
    """Return the best and the worst value of a map: a share is shaded as it is, a mean between the extreme cells."""
    known = [value for value in values if value is not None]
    if metric is None or not known:
        return 0.0, 1.0
    ends = (min(known), max(known))
    return ends[::-1] if metric["direction"] == "higher_is_better" else ends


def _shade(value: float, best: float, worst: float) -> float:
    return min(1.0, max(0.0, (value - best) / (worst - best))) if worst != best else 0.5


def _is_unsure(cell: Row, value: str, reference: float | None) -> bool:
    """Return whether `cell` does not differ clearly from the other interactions."""
    if cell["measurement"] == value and cell["difference_lower"] is not None:
        return bool(cell["difference_lower"] <= 0 <= cell["difference_upper"])
    lower, upper = cell[f"{value}_lower"], cell[f"{value}_upper"]
    if lower is None or upper is None or reference is None:
        return True
    return bool(lower <= reference <= upper)


def _show_cell(cell: Row, metric: Row | None) -> list[str]:
    """Return the lines of a cell: value, interval and n."""
    count = f"n {cell['count_scored']:,}"
    value = cell["share_failing" if metric is None else "mean_score"]
    if value is None:
        return ["–", f"{count} of {cell['count_interactions']:,}"]
    if metric is None:
        interval = format_interval(cell["share_failing_lower"], cell["share_failing_upper"], "share")
        return [format_percent(value), interval or "no interval", count]
    low, high = metric["range_low"], metric["range_high"]
    interval = format_interval(clip(cell["mean_score_lower"], low, high), clip(cell["mean_score_upper"], low, high))
    return [format_number(value), interval or "no interval", count]


def _show_lines(cell: Row | None, metric: Row | None) -> Any:
    if cell is None:
        return "–"
    value, *others = _show_cell(cell, metric)
    return blocks.lines(
        f"{value}{' †' if cell['is_small'] else ''}", *(blocks.small(other, "interval") for other in others)
    )


def _show_key(ramp: Sequence[str], words: str) -> Any:
    swatch = '<span><span class="swatch {}" style="{}"></span>{}</span>'
    return blocks.rich(" ").join(
        blocks.rich(swatch, *parts)
        for parts in (
            ("ramp", f"background: linear-gradient(90deg, {', '.join(ramp)})", words),
            ("", f"background: {ramp[3]}; opacity: .38", "faded: no clear difference from the other interactions"),
            ("hatched", "", "hatched edge: few clusters, not reliable"),
            ("framed", "", "framed: the test finds the cell weak"),
        )
    )
