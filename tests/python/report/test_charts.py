"""Pictures: legible in colour blindness and print, whole with any text, small, the same bytes for the same rows."""

import re

import numpy as np
import pytest

from hcat.report import charts

HOSTILE = '"><script>alert(1)</script> d="1.23456" class="x" transform="2.34567"'


def make_violin(name: str, scores: list[float], low: float, median: float, high: float) -> dict[str, object]:
    quantiles = {"quantile_25": low, "quantile_50": median, "quantile_75": high}
    return {"name": name, "scores": scores, "count_scored": len(scores), **quantiles}


def draw_violin(scores: list[float]) -> str:
    return charts.draw_violins([make_violin("cards", scores, 0.2, 0.5, 0.8)], 0.6, (0.0, 1.0), "cosine", "violins")


def find_dots(svg: str) -> int:
    """Number of dots that are parts of one path: places from which no line leads."""
    return len(re.findall(r"M-?[\d.]+,-?[\d.]+Z", svg))


def compute_luminance(colour: str) -> float:
    """Relative luminance of a hex colour, as WCAG 2.2 defines it."""
    channels = np.array([int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)])
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return float(np.array([0.2126, 0.7152, 0.0722]) @ linear)


def test_series_colours_and_report_inks_are_legible_on_white() -> None:
    assert min(1.05 / (compute_luminance(colour) + 0.05) for colour in charts.SERIES_COLOURS) >= 3
    assert min(1.05 / (compute_luminance(colour) + 0.05) for colour in ("#1c2733", "#56616d", "#b3261e")) >= 4.5


def test_density_of_equal_scores_is_refused() -> None:
    for scores in ([0.5, 0.5], [0.5], [0.0, 5e-324]):
        with pytest.raises(ValueError, match="a density needs scores that differ by at least 1e-06, got"):
            charts.estimate_density(scores)


def test_few_scores_are_drawn_one_by_one_and_many_as_a_shape_with_dots() -> None:
    few, many = draw_violin([0.1, 0.5, 0.9]), draw_violin([number / 20 for number in range(20)])
    assert "#bcd9ee" not in few
    assert "#bcd9ee" in many
    assert "(n 3)" in few
    assert "threshold 0.600" in few
    assert find_dots(few) == 0
    assert find_dots(many) == 20


def test_dots_of_a_violin_are_bounded_and_show_the_same_quartiles() -> None:
    scores = np.random.default_rng(3).beta(5, 2, size=997)
    positions, density = charts.estimate_density(scores.tolist())
    dots = charts._spread_dots(scores.tolist(), 0.5, positions, density)
    assert len(dots) <= charts.MAXIMUM_VIOLIN_DOTS
    shown = [score for score, _ in dots]
    np.testing.assert_allclose(np.quantile(shown, [0.25, 0.5, 0.75]), np.quantile(scores, [0.25, 0.5, 0.75]), atol=0.02)
    # inside the violin, which is .42 wide at its peak on either side of the middle
    assert all(0.08 < row < 0.92 for _, row in dots)


@pytest.mark.parametrize("name", [HOSTILE, "\u2028 line", "a" * 500])
def test_any_name_is_text_and_stays_as_it_is(name: str) -> None:
    svg = charts.draw_violins([make_violin(name, [0.1, 0.2], 0.1, 0.15, 0.2)], None, (0, 1), name, name)
    assert "<script" not in svg
    assert svg.startswith("<svg")
