"""Bands of the score: every label is in one, no label chooses a bound, and rates are those of the shared interval."""

from typing import Any

import numpy as np
import pyarrow as pa
from test_calibration_tables import TARGET
from test_threshold_tables import make_labels

from hcat.calibration.score_bands import BAND_SCHEMA, band_bounds, measure_score_bands
from hcat.statistics.clustered import rate_interval


def measure(scores: Any, labels: Any, clusters: Any, direction: str = "higher_is_better") -> list[dict[str, Any]]:
    targets = [TARGET | {"direction": direction, "metric_name": name} for name in ("m", "unlabelled")]
    found = measure_score_bands(make_labels(scores, labels, clusters=clusters), pa.Table.from_pylist(targets), 0.95)
    assert found.schema == BAND_SCHEMA
    rows: list[dict[str, Any]] = found.to_pylist()
    return rows


def test_every_label_is_in_one_band_with_its_interval() -> None:
    random = np.random.default_rng(1)
    scores, clusters = random.random(200).round(3), np.arange(200) // 2
    labels = random.random(200) < scores
    rows = measure(scores, labels, clusters)
    assert [row["band"] for row in rows] == [1, 2, 3, 4, 5]
    assert {row["metric_name"] for row in rows} == {"m"}
    assert sum(row["count_labels"] for row in rows) == 200
    best = rows[-1]
    assert best["upper_bound"] is None
    members = scores >= best["lower_bound"]
    rate = rate_interval(~labels[members], clusters[members])
    assert (best["failure_rate"], best["failure_rate_low"]) == (rate.estimate, rate.low)
    assert best["count_failed"] == (~labels[members]).sum()
    assert [row["lower_bound"] for row in rows] == [row["lower_bound"] for row in measure(scores, ~labels, clusters)]


def test_where_lower_is_better_the_best_band_is_the_lowest() -> None:
    scores = np.arange(40) / 40
    rows = measure(scores, scores < 0.5, np.arange(40), "lower_is_better")
    assert rows[-1]["lower_bound"] is None
    assert (rows[-1]["count_failed"], rows[0]["count_failed"]) == (0, rows[0]["count_labels"])


def test_tied_scores_share_a_band() -> None:
    assert len(measure([0.5] * 30, [1] * 30, np.arange(30))) == 1
    assert band_bounds(np.array([0.0, 1.0, 1.0, 1.0])).tolist() == [-np.inf, 0.6, 1.0]
