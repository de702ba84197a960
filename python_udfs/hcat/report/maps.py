"""Maps of weakness: segments by metric, and pairs of segments for one metric, each with its table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hcat.engine.warehouse import Row, Warehouse
from hcat.language.display import clean_label
from hcat.report import charts
from hcat.report.ledger import Build
from hcat.report.showing import (
    MAXIMUM_TABLE_CELLS,
    as_markup,
    clip,
    describe_cell,
    distinct_labels,
    format_interval,
    format_number,
    format_percent,
)

#: Rows and columns of a map, and number of maps; the number left out is shown below them.
MAXIMUM_ROWS = 24
MAXIMUM_COLUMNS = 8
MAXIMUM_MAPS = 4
#: Segments per dimension in a map of segments, largest first.
MAXIMUM_SEGMENTS = 8

#: Metric of the maps of pairs unless the reader chooses one; the first that is primary, decided and scored.
HEATMAP_METRICS = (
    "groundedness",
    "groundedness_similarity__mean",
    "support_words",
    "semantic_similarity",
    "answer_relevancy__mean",
)

#: Pairs of dimensions drawn first; other declared pairs follow in alphabetical order.
HEATMAP_PAIRS = (("topic", "query_type"), ("topic", "system"))

MARGINAL = "fct_marginal_weaknesses"
BIVARIATE = "fct_bivariate_weaknesses"
#: Dimensions of the first map of segments; others follow in a second one.
MAIN_DIMENSIONS = ("system", "topic", "query_type")
#: Dimensions that are drawn against time instead.
TIME_DIMENSIONS = ("asked_week",)

LIST_PAIRS = """
select distinct first_dimension, second_dimension
from fct_bivariate_weaknesses
order by first_dimension, second_dimension
"""

#: Dimensions with a segment that holds every interaction: such a segment is the whole, and its pairs repeat others.
LIST_CONSTANT_DIMENSIONS = """
select distinct segments.dimension
from fct_marginal_weaknesses as segments
inner join fct_marginal_weaknesses as whole
    on segments.metric_name = whole.metric_name and whole.dimension = 'all'
where segments.dimension <> 'all' and segments.count_interactions = whole.count_interactions
"""

LIST_CELLS = """
select *
from fct_bivariate_weaknesses
where metric_name = $metric_name and first_dimension = $first_dimension and second_dimension = $second_dimension
order by first_segment, second_segment
"""


MEASURE_WHOLE = "select * from fct_marginal_weaknesses where metric_name = $metric_name and dimension = 'all'"


LIST_SEGMENTS = """
select weaknesses.*
from fct_marginal_weaknesses as weaknesses
where list_contains($metric_names::varchar[], weaknesses.metric_name)
order by weaknesses.dimension, weaknesses.segment, weaknesses.metric_name
"""


def describe_maps(source: Warehouse, build: Build, metric_name: str | None) -> dict[str, Any]:
    """Return the maps of segments and of pairs of segments."""
    chosen = choose_metric(source, build.metrics, metric_name)
    declared = [(row["first_dimension"], row["second_dimension"]) for row in source.rows(LIST_PAIRS, [BIVARIATE])]
    preferred = [pair for pair in HEATMAP_PAIRS if pair in declared]
    constant = {row["dimension"] for row in source.rows(LIST_CONSTANT_DIMENSIONS, [MARGINAL])}
    # a pair with a dimension that has one segment repeats the map of the other dimension
    pairs = [
        pair
        for pair in (*preferred, *(pair for pair in declared if pair not in HEATMAP_PAIRS))
        if constant.isdisjoint(pair)
    ]
    return {
        "metric": chosen,
        "threshold": format_number(chosen["threshold"]) if chosen else "",
        "is_tested": source.has(f"{MARGINAL}.is_weak", f"{MARGINAL}.difference_lower"),
        "segments": _describe_segment_maps(source, build),
        "pairs": [_describe_heatmap(source, chosen, *pair) for pair in pairs[:MAXIMUM_MAPS]],
        "count_pairs_left_out": max(0, len(pairs) - MAXIMUM_MAPS),
    }


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


def _describe_segment_maps(source: Warehouse, build: Build) -> list[Row]:
    """Return two maps, of the main dimensions and of the others: share failing by segment and decided metric."""
    decided = [name for name, metric in build.primary.items() if metric["threshold"] is not None]
    ordered = [*(name for name in HEATMAP_METRICS if name in decided), *decided]
    rows = source.rows(LIST_SEGMENTS, [MARGINAL], metric_names=decided)
    scored = {row["metric_name"] for row in rows if row["share_failing"] is not None}
    names = [name for name in dict.fromkeys(ordered) if name in scored][:MAXIMUM_COLUMNS]
    whole = {row["metric_name"]: row["share_failing"] for row in rows if row["dimension"] == "all"}
    cells = [row for row in rows if row["dimension"] != "all" and row["metric_name"] in names]
    maps = []
    for is_main in (True, False):
        chosen = [
            row
            for row in cells
            if (row["dimension"] in MAIN_DIMENSIONS) is is_main and row["dimension"] not in TIME_DIMENSIONS
        ]
        drawn, count_left_out = _choose_segments(chosen)
        if not drawn:
            continue
        labels = distinct_labels([f"{dimension}: {segment}" for dimension, segment in drawn])
        by_place = {place: labels[f"{place[0]}: {place[1]}"] for place in drawn}
        pictured = [row for row in chosen if (row["dimension"], row["segment"]) in drawn]
        picture = charts.draw_heatmap(
            [
                charts.HeatmapCell(
                    by_place[row["dimension"], row["segment"]],
                    row["metric_name"],
                    row["share_failing"],
                    _cell_lines(row, "share_failing", True, build.primary[row["metric_name"]]),
                    is_small=row["is_small"] and row["share_failing"] is not None,
                    is_unsure=_is_unsure(row, "share_failing", whole.get(row["metric_name"])),
                    is_weak=bool(row.get("is_weak")),
                )
                for row in pictured
            ],
            [by_place[place] for place in drawn],
            names,
            charts.FAILURE_RAMP,
            "Share failing by segment and metric, with interval and n; see the table below",
        )
        maps.append(
            {
                "is_main": is_main,
                "chart": as_markup(picture),
                "ramp": charts.FAILURE_RAMP,
                "dimensions": sorted({dimension for dimension, _ in drawn}),
                "count_left_out": count_left_out,
                "metric_names": names,
                "rows": _lay_out(pictured, by_place, names),
            }
        )
    return maps


def _choose_segments(rows: Sequence[Row]) -> tuple[list[tuple[str, str]], int]:
    """Return the largest segments of every dimension that a map has room for, and how many are left out."""
    sizes: dict[tuple[str, str], int] = {}
    for row in rows:
        place = (row["dimension"], row["segment"])
        sizes[place] = max(sizes.get(place, 0), row["count_interactions"])
    dimensions = sorted({dimension for dimension, _ in sizes}, key=_rank_dimension)
    drawn: list[tuple[str, str]] = []
    for dimension in dimensions:
        own = sorted((place for place in sizes if place[0] == dimension), key=lambda place: (-sizes[place], place))
        drawn += sorted(own[:MAXIMUM_SEGMENTS])
    return drawn[:MAXIMUM_ROWS], len(sizes) - len(drawn[:MAXIMUM_ROWS])


def _rank_dimension(dimension: str) -> tuple[int, str]:
    main = MAIN_DIMENSIONS.index(dimension) if dimension in MAIN_DIMENSIONS else len(MAIN_DIMENSIONS)
    return main, dimension


def _lay_out(rows: Sequence[Row], labels: Mapping[tuple[str, str], str], names: Sequence[str]) -> list[Row]:
    """Return the table behind a map of segments: one row per segment, one cell per metric."""
    cells = {(labels[row["dimension"], row["segment"]], row["metric_name"]): describe_cell(row) for row in rows}
    return [{"name": label, "cells": [cells.get((label, name)) for name in names]} for label in labels.values()]


def _describe_heatmap(source: Warehouse, metric: Row | None, first: str, second: str) -> dict[str, Any]:
    described: dict[str, Any] = {
        "first": first,
        "second": second,
        "chart": None,
        "cells": [],
        "count_left_out": 0,
        "is_rate": False,
    }
    if metric is None:
        return described
    cells = source.rows(
        LIST_CELLS,
        ["fct_bivariate_weaknesses"],
        metric_name=metric["metric_name"],
        first_dimension=first,
        second_dimension=second,
    )
    if not cells:
        return described
    whole = source.rows(MEASURE_WHOLE, ["fct_marginal_weaknesses"], metric_name=metric["metric_name"])
    is_rate = any(cell["share_failing"] is not None for cell in cells)
    value = "share_failing" if is_rate else "mean_score"
    rows = _largest(cells, "first_segment", MAXIMUM_ROWS)
    columns = _largest(cells, "second_segment", MAXIMUM_COLUMNS)
    row_labels, column_labels = distinct_labels(rows), distinct_labels(columns)
    drawn = [cell for cell in cells if cell["first_segment"] in row_labels and cell["second_segment"] in column_labels]
    shades = _shade(drawn, value, is_rate, metric["direction"])
    reference = whole[0][value] if whole else None
    described["chart"] = as_markup(
        charts.draw_heatmap(
            [
                charts.HeatmapCell(
                    row_labels[cell["first_segment"]],
                    column_labels[cell["second_segment"]],
                    shade,
                    _cell_lines(cell, value, is_rate, metric),
                    is_small=cell["is_small"] and shade is not None,
                    is_unsure=_is_unsure(cell, value, reference),
                    is_weak=bool(cell.get("is_weak")),
                )
                for cell, shade in zip(drawn, shades, strict=True)
            ],
            list(row_labels.values()),
            list(column_labels.values()),
            charts.FAILURE_RAMP if is_rate else charts.SCORE_RAMP,
            f"{metric['metric_name']}: {'share failing' if is_rate else 'mean score'} by {first} and {second}",
        )
    )
    ranked = [
        {
            **describe_cell({**cell, "range_low": metric["range_low"], "range_high": metric["range_high"]}),
            "first_segment": clean_label(cell["first_segment"]),
            "second_segment": clean_label(cell["second_segment"]),
        }
        for cell in cells
    ]
    return {
        **described,
        "is_rate": is_rate,
        "whole": (format_percent(reference) if is_rate else format_number(reference)),
        "cells": ranked[:MAXIMUM_TABLE_CELLS],
        "count_left_out": max(0, len(cells) - MAXIMUM_TABLE_CELLS),
        "count_not_drawn": len(cells) - len(drawn),
        "ramp": charts.FAILURE_RAMP if is_rate else charts.SCORE_RAMP,
    }


def _largest(cells: Sequence[Row], segment: str, maximum: int) -> list[str]:
    """Return the segments with most interactions, at most ``maximum``, in alphabetical order."""
    sizes: dict[str, int] = {}
    for cell in cells:
        sizes[cell[segment]] = sizes.get(cell[segment], 0) + cell["count_interactions"]
    return sorted(sorted(sizes, key=lambda name: (-sizes[name], name))[:maximum])


def _shade(cells: Sequence[Row], value: str, is_rate: bool, direction: str) -> list[float | None]:
    """Return 0 (best) to 1 (worst) for every cell: a rate as it is, a mean by its place between the extreme cells."""
    if is_rate:
        return [cell[value] for cell in cells]
    known = [cell[value] for cell in cells if cell[value] is not None]
    low, span = (min(known), max(known) - min(known)) if known else (0.0, 0.0)
    shades: list[float | None] = []
    for cell in cells:
        if cell[value] is None:
            shades.append(None)
            continue
        place = (cell[value] - low) / span if span else 0.5
        shades.append(min(1.0, max(0.0, 1 - place if direction == "higher_is_better" else place)))
    return shades


def _is_unsure(cell: Row, value: str, reference: float | None) -> bool:
    """Return whether ``cell`` does not differ clearly from the other interactions."""
    if cell.get("measurement") == value and cell.get("difference_lower") is not None:
        return bool(cell["difference_lower"] <= 0 <= cell["difference_upper"])
    lower, upper = cell[f"{value}_lower"], cell[f"{value}_upper"]
    if lower is None or upper is None or reference is None:
        return True
    return bool(lower <= reference <= upper)


def _cell_lines(cell: Row, value: str, is_rate: bool, metric: Row) -> list[str]:
    count = f"n {cell['count_scored']:,}"
    if cell[value] is None:
        return ["–", f"{count} of {cell['count_interactions']:,}"]
    if is_rate:
        interval = format_interval(cell["share_failing_lower"], cell["share_failing_upper"], "share")
        return [format_percent(cell[value]), interval or "no interval", count]
    lower, upper = (
        clip(cell[f"{value}_{side}"], metric["range_low"], metric["range_high"]) for side in ("lower", "upper")
    )
    return [format_number(cell[value]), format_interval(lower, upper) or "no interval", count]
