"""Rows of interactions against rates of arrays; what a predictor says of a cluster comes from other clusters."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hcat.calibration.calibrators import COUNT_FOLDS, fit_calibrator, label_scores
from hcat.calibration.failure_rates import (
    FAILURE_RATE_SCHEMA,
    PREDICTOR_STATUSES,
    Rows,
    estimate_failure_rates,
    predict_failures,
)
from hcat.calibration.targets import Target
from hcat.statistics.clusters import hash_folds
from hcat.statistics.prediction_powered import estimate_failure_rate

SEED = 7
METRIC = Target("m", "faithfulness", "higher_is_better", "share", 0.0, 1.0, 1, 2)
TARGETS = pa.Table.from_pylist(
    [
        {
            "metric_name": name,
            "criterion": "faithfulness",
            "direction": "higher_is_better",
            "unit": "share",
            "range_low": 0.0,
            "range_high": 1.0,
            "accept_from": 1,
            "count_scale_points": 2,
        }
        for name in ("m", "n")
    ]
)
EVALUATIONS = pa.schema(
    [
        *((name, pa.string()) for name in ("metric_name", "interaction_id", "cluster_id", "system")),
        ("raw_score", pa.float64()),
        ("label", pa.int32()),
        ("inclusion_probability", pa.float64()),
    ]
)

Row = dict[str, Any]


def make_rows(count: int, share_labelled: float, seed: int, metric: str = "m") -> list[Row]:
    """Two interactions a cluster; better scores are accepted more often; two systems, two topics."""
    random = np.random.default_rng(seed)
    rows = []
    for number in range(count):
        score = random.random()
        is_labelled = random.random() < share_labelled
        rows.append(
            {
                "metric_name": metric,
                "interaction_id": f"i{number:05}",
                "cluster_id": f"s{number // 2:05}",
                "system": "new" if number % 3 else "old",
                "raw_score": score,
                "label": int(random.random() < 0.1 + 0.8 * score) if is_labelled else None,
                "inclusion_probability": float(0.25 + score / 2) if is_labelled else None,
            }
        )
    return rows


def make_segments(rows: list[Row]) -> pa.Table:
    segments = []
    for identifier in sorted({row["interaction_id"] for row in rows}):
        segments.append({"interaction_id": identifier, "dimension": "all", "segment": "all"})
        topic = "cards" if int(identifier[1:]) % 4 else "loans"
        segments.append({"interaction_id": identifier, "dimension": "topic", "segment": topic})
    names = ("interaction_id", "dimension", "segment")
    return pa.Table.from_pylist(segments, schema=pa.schema([(name, pa.string()) for name in names]))


def name_interactions(rows: list[Row]) -> pa.Array:
    """Ids in no order: it must not matter."""
    return pa.array(sorted({row["interaction_id"] for row in rows}, key=lambda name: name[::-1]), pa.string())


def cut(table: pa.Table, batch_rows: int) -> Iterator[pa.RecordBatch]:
    yield from table.combine_chunks().to_batches(max_chunksize=batch_rows)


def estimate(rows: list[Row], batch_rows: int = 1000) -> list[Row]:
    rows = sorted(rows, key=lambda row: (row["metric_name"], row["interaction_id"]))
    # segments come in whatever order the engine has them
    segments = make_segments(rows)
    order = np.random.default_rng(batch_rows).permutation(segments.num_rows)
    table = estimate_failure_rates(
        name_interactions(rows),
        cut(pa.Table.from_pylist(rows, schema=EVALUATIONS), batch_rows),
        cut(segments.take(order), batch_rows),
        TARGETS,
        confidence=0.95,
        random_seed=SEED,
    )
    assert table.schema == FAILURE_RATE_SCHEMA
    found: list[Row] = table.to_pylist()
    return found


def by_cell(rows: list[Row]) -> dict[tuple[str, str, str], Row]:
    return {(row["metric_name"], row["system"], row["segment"]): row for row in rows}


def cross_fit_by_hand(rows: list[Row]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """One calibrator per fold of clusters with labels, fitted on the other folds; others take the mean."""
    labelled = [row for row in rows if row["label"] is not None]
    names = np.unique([row["cluster_id"] for row in labelled])
    folds = dict(zip(names.tolist(), hash_folds(names, COUNT_FOLDS, f"hcat cross-fit|{SEED}").tolist(), strict=True))
    calibrators = {}
    for fold in sorted(set(folds.values())):
        others = [row for row in labelled if folds[row["cluster_id"]] != fold]
        data = label_scores(
            [row["raw_score"] for row in others],
            [row["label"] for row in others],
            [row["cluster_id"] for row in others],
            [1 / row["inclusion_probability"] for row in others],
        )
        calibrators[fold] = fit_calibrator(data, "logistic").calibrator
    predictions = []
    for row in rows:
        own = folds.get(row["cluster_id"])
        used = [calibrators[own]] if own is not None else list(calibrators.values())
        score = np.array([row["raw_score"]])
        predictions.append(np.mean([1 - found.apply(score)[0] for found in used if found is not None]))
    return np.array(predictions)


def test_rates_of_labels_by_hand() -> None:
    """Four labels of four clusters, two failures drawn with 1 in 2 and two passes drawn for certain: 4 / 6 fail."""
    rows = make_rows(8, 0.0, 1)
    for number, (label, probability) in enumerate(((0, 0.5), (0, 0.5), (1, 1.0), (1, 1.0))):
        rows[2 * number] |= {"label": label, "inclusion_probability": probability}
    for row in rows:
        row["system"] = "old"
    found = by_cell(estimate(rows))["m", "old", "all"]
    assert found["labels_only_rate"] == found["failure_rate"] == pytest.approx(2 / 3)
    assert (found["count_interactions"], found["count_scored"], found["count_labels"]) == (8, 8, 4)
    assert (found["status"], found["predictor_status"]) == ("labels_only", "insufficient")
    assert (found["labels_only_method"], found["prediction_powered_rate"]) == ("score", None)
    assert found["message"] == "no predictor: " + PREDICTOR_STATUSES["insufficient"]
    assert found["statement"].startswith("2 of 4 labelled answers failed; of all, 67 % (")


def test_rates_are_those_of_the_statistics_with_cross_fitted_predictions() -> None:
    rows = make_rows(1200, 0.3, 2)
    predictions = cross_fit_by_hand(rows)
    found = by_cell(estimate(rows))
    for system, segment in (("new", "all"), ("new", "cards"), ("old", "loans")):
        own = [
            place
            for place, row in enumerate(rows)
            if row["system"] == system
            and (segment == "all" or ("cards" if int(row["interaction_id"][1:]) % 4 else "loans") == segment)
        ]
        labelled = [place for place in own if rows[place]["label"] is not None]
        expected = estimate_failure_rate(
            np.array([rows[place]["label"] == 0 for place in labelled]),
            predictions[labelled],
            np.array([rows[place]["cluster_id"] for place in labelled]),
            predictions[own],
            np.array([rows[place]["cluster_id"] for place in own]),
            np.array([rows[place]["inclusion_probability"] for place in labelled]),
        )
        row = found["m", system, segment]
        assert row["status"] == expected.status
        assert expected.chosen is not None
        assert expected.labels_only is not None
        assert row["failure_rate"] == pytest.approx(expected.chosen.estimate)
        assert row["failure_rate_upper"] == pytest.approx(expected.chosen.high)
        assert row["labels_only_lower"] == pytest.approx(expected.labels_only.low)
        if expected.prediction_powered is not None:
            assert row["prediction_powered_standard_error"] == pytest.approx(expected.prediction_powered.standard_error)
            assert row["power_tuning"] == pytest.approx(expected.power_tuning)
    whole = found["m", "new", "all"]
    assert whole["status"] == "prediction_powered"
    # the score tells much of the label: a narrower interval
    assert whole["width_ratio"] < 0.95
    assert whole["message"].startswith("lambda = ")


def test_no_label_moves_the_prediction_of_its_own_cluster() -> None:
    rows = make_rows(400, 0.5, 3)
    clusters = np.array([int(row["cluster_id"][1:]) for row in rows])
    names = [f"s{number:05}" for number in range(200)]
    scores = np.array([row["raw_score"] for row in rows])
    labels = np.array([np.nan if row["label"] is None else row["label"] for row in rows])
    nothing = np.zeros(400, dtype=np.int64)
    found = Rows(nothing, nothing, [], clusters, names, scores, labels, np.ones(400))
    status, before = predict_failures(found, METRIC, SEED)
    own = clusters == clusters[np.flatnonzero(~np.isnan(labels))[0]]
    turned = np.where(own, 1 - labels, labels)
    _, after = predict_failures(found._replace(labels=turned), METRIC, SEED)
    assert status == "fitted"
    assert (before[own] == after[own]).all()
    assert not np.array_equal(before, after)
    assert ((before >= 0) & (before <= 1)).all()


@given(batch_rows=st.integers(1, 500), seed=st.integers(0, 1000))
@settings(max_examples=10, deadline=None)
def test_batch_borders_do_not_matter(batch_rows: int, seed: int) -> None:
    rows = make_rows(160, 0.5, 4) + make_rows(160, 0.5, 5, "n")
    np.random.default_rng(seed).shuffle(rows)  # type: ignore[arg-type]
    assert estimate(rows, batch_rows) == estimate(rows, 10_000)


def test_the_parts_of_a_system_add_up() -> None:
    rows = make_rows(600, 0.4, 6)
    for row in rows[::7]:
        row |= {"raw_score": None, "label": None, "inclusion_probability": None}
    found = estimate(rows)
    assert [(row["system"], row["dimension"], row["segment"]) for row in found] == [
        (system, *cell)
        for system in ("new", "old")
        for cell in (("all", "all"), ("topic", "cards"), ("topic", "loans"))
    ]
    for column in ("count_interactions", "count_scored", "count_labels"):
        for system in ("new", "old"):
            whole, *parts = [row[column] for row in found if row["system"] == system]
            assert whole == sum(parts) > 0


def test_every_cell_has_its_row_with_a_status() -> None:
    rows = make_rows(300, 0.5, 7)
    for row in rows:
        is_unscored = row["system"] == "old"
        if is_unscored:
            row |= {"raw_score": None, "label": None, "inclusion_probability": None}
    rows += [row | {"metric_name": "n", "label": None, "inclusion_probability": None} for row in rows]
    found = by_cell(estimate(rows))
    assert len(found) == 12
    unscored = found["m", "old", "all"]
    assert (unscored["status"], unscored["count_interactions"], unscored["count_scored"]) == ("insufficient", 100, 0)
    assert unscored["failure_rate"] is None
    assert unscored["message"] == "0 labels of 0 clusters; labels of at least 2 clusters are needed"
    unlabelled = found["n", "new", "all"]
    assert (unlabelled["status"], unlabelled["predictor_status"]) == ("insufficient", "insufficient")


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"raw_score": 0.5}, "constant_score"),
        ({"label": 1}, "one_class"),
        ({"raw_score": 1.5}, "out_of_range"),
    ],
)
def test_without_a_predictor_the_labels_stand_alone(change: Row, status: str) -> None:
    rows = make_rows(400, 0.5, 8)
    for row in rows:
        known = {name: value for name, value in change.items() if name != "label" or row["label"] is not None}
        row |= known
    row = by_cell(estimate(rows))["m", "new", "all"]
    assert (row["predictor_status"], row["status"]) == (status, "labels_only")
    assert row["failure_rate"] == row["labels_only_rate"]
    assert (row["prediction_powered_rate"], row["power_tuning"], row["width_ratio"]) == (None, None, None)
    assert status in PREDICTOR_STATUSES
