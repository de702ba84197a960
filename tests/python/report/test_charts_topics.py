"""The picture of topics: each found by mark and number, hostile names escaped, the same bytes for the same rows."""

from __future__ import annotations

import itertools
import math
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hcat.report.charts.topics import (
    COUNT_DRAWN,
    MARKS,
    NUMBER_GAP,
    TopicCloud,
    draw_topics,
    part_numbers,
    style_of,
)


def make_clouds(count: int, per_topic: int = 12) -> list[TopicCloud]:
    generator = np.random.default_rng(5)
    return [
        TopicCloud(
            f"words of topic {number + 1}",
            per_topic,
            [(float(x), float(y)) for x, y in generator.normal((number % 4, number // 4), 0.2, (per_topic, 2))],
        )
        for number in range(count)
    ]


def find_texts(svg: str) -> list[str]:
    return re.findall(r"<text[^>]*>([^<]*)</text>", svg)


def test_every_topic_has_its_number_in_the_plane_and_in_the_key() -> None:
    texts = find_texts(draw_topics(make_clouds(7), "topics"))
    for number in range(1, 8):
        assert texts.count(str(number)) == 2
        assert f"words of topic {number}" in texts
    assert texts.count("n 12") == 7


def test_twenty_five_topics_differ_in_colour_or_mark_and_neighbours_in_both() -> None:
    styles = [style_of(number) for number in range(25)]
    assert len(set(styles)) == 25
    for (first_colour, first_mark), (second_colour, second_mark) in itertools.pairwise(styles):
        assert first_colour != second_colour
        assert first_mark != second_mark
    assert {mark for _, mark in styles} == set(MARKS)


def test_noise_is_drawn_without_a_number() -> None:
    clouds = [*make_clouds(2), TopicCloud("noise", 3, [(0.0, 0.0), (1.0, 1.0), (0.5, 0.2)], is_noise=True)]
    texts = find_texts(draw_topics(clouds, "topics"))
    assert "3" not in texts
    assert "–" in texts
    assert "noise" in texts


def test_names_are_text_and_never_markup() -> None:
    hostile = '"><script>alert(1)</script>'
    svg = draw_topics([TopicCloud(hostile, 1, [(0.0, 0.0)])], hostile)
    assert "<script" not in svg
    assert "&lt;script&gt;" in svg


def test_the_same_rows_give_the_same_bytes() -> None:
    assert draw_topics(make_clouds(5), "topics") == draw_topics(make_clouds(5), "topics")


def test_many_chunks_make_no_large_picture() -> None:
    svg = draw_topics(make_clouds(20, COUNT_DRAWN // 4), "topics")
    assert len(svg) < 600_000
    assert f"n {COUNT_DRAWN // 4:,}" in find_texts(svg)


@pytest.mark.parametrize("points", [[(0.0, 0.0)], [(1.0, 2.0)] * 5, [(0.0, 0.0), (1.0, 0.0)]])
def test_points_without_spread_are_drawn(points: list[tuple[float, float]]) -> None:
    assert "NaN" not in draw_topics([TopicCloud("one", len(points), points)], "topics")


def test_a_topic_without_chunks_stands_in_the_key_alone() -> None:
    texts = find_texts(draw_topics([*make_clouds(1), TopicCloud("empty", 0, [])], "topics"))
    assert "empty" in texts
    assert texts.count("2") == 1


def test_a_picture_needs_a_point() -> None:
    with pytest.raises(ValueError, match="at least one point, got none"):
        draw_topics([TopicCloud("empty", 0, [])], "topics")


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.floats(0, 480), st.floats(0, 480)), max_size=30))
def test_numbers_never_touch(middles: list[tuple[float, float]]) -> None:
    places = part_numbers(middles, 480, 480)
    assert len(places) == len(middles)
    for first, second in itertools.combinations(places, 2):
        assert math.dist(first, second) >= NUMBER_GAP - 1e-9
    assert all(0 <= x <= 480 and 0 <= y <= 480 for x, y in places)
