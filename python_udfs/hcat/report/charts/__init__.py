"""Pictures of the report as SVG text: pure functions from rows to a string, drawn by Altair and vl-convert, no browser.

Nothing here reads a warehouse, a clock or a network. Colours are the report's: lightness ramps that survive grey print
and colour blindness (after ColorBrewer's OrRd and Blues), and series colours after Okabe and Ito, always with a shape
or a number beside them.
"""

from hcat.report.charts.base import (
    FAILURE_RAMP,
    SCORE_RAMP,
    SERIES_COLOURS,
    contrast_ratio,
    luminance,
    shade_colour,
    shorten,
    text_colour,
)
from hcat.report.charts.calibration import (
    SET_COLOURS,
    Band,
    Cut,
    draw_conformity,
    draw_score_against_label,
    draw_thresholds,
)
from hcat.report.charts.distributions import PointPanel, Violin, draw_points, draw_violins, estimate_density
from hcat.report.charts.heatmap import HeatmapCell, draw_heatmap
from hcat.report.charts.intervals import (
    Difference,
    Estimate,
    WeeklyValue,
    draw_differences,
    draw_estimates,
    draw_weeks,
)

__all__ = [
    "FAILURE_RAMP",
    "SCORE_RAMP",
    "SERIES_COLOURS",
    "SET_COLOURS",
    "Band",
    "Cut",
    "Difference",
    "Estimate",
    "HeatmapCell",
    "PointPanel",
    "Violin",
    "WeeklyValue",
    "contrast_ratio",
    "draw_conformity",
    "draw_differences",
    "draw_estimates",
    "draw_heatmap",
    "draw_points",
    "draw_score_against_label",
    "draw_thresholds",
    "draw_violins",
    "draw_weeks",
    "estimate_density",
    "luminance",
    "shade_colour",
    "shorten",
    "text_colour",
]
