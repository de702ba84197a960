"""Pictures of the report as SVG text: pure functions from rows to a string, drawn by Altair and vl-convert, no browser.

Nothing here reads a warehouse, a clock or a network. Series colours are after Okabe and Ito, always
with a shape or a number beside them.
"""

from hcat.report.charts.base import SERIES_COLOURS, shorten
from hcat.report.charts.calibration import (
    SET_COLOURS,
    Band,
    draw_score_against_label,
    draw_thresholds,
)
from hcat.report.charts.distributions import Violin, draw_violins, estimate_density
from hcat.report.charts.intervals import (
    Difference,
    Estimate,
    WeeklyValue,
    draw_differences,
    draw_estimates,
    draw_weeks,
)

__all__ = [
    "SERIES_COLOURS",
    "SET_COLOURS",
    "Band",
    "Difference",
    "Estimate",
    "Violin",
    "WeeklyValue",
    "draw_differences",
    "draw_estimates",
    "draw_score_against_label",
    "draw_thresholds",
    "draw_violins",
    "draw_weeks",
    "estimate_density",
    "shorten",
]
