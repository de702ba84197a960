"""Calibrators, their quality, prediction sets and risks as tables: equal to the statistics they are made of."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from hcat.calibration import calibrator_tables as tables
from hcat.calibration import conformal_tables as conformal
from hcat.calibration.conformal import conformal_quantile, fit_conformal
from hcat.calibration.decidable import standings
from hcat.calibration.quality import MEASURED_SCHEMA, measure_calibrators, measure_quality

TARGET: dict[str, Any] = {
    "metric_name": "m",
    "criterion": "faithfulness",
    "accept_from": 1,
    "count_scale_points": 2,
    "direction": "higher_is_better",
    "unit": "score",
    "range_low": 0.0,
    "range_high": 1.0,
}


def make_labels(count: int = 900, metric_name: str = "m", seed: int = 7) -> pa.Table:
    """Return labels whose probability is a known logistic of the score, one cluster in three with a sibling."""
    random = np.random.default_rng(seed)
    scores = random.uniform(size=count)
    labels = random.uniform(size=count) < 1 / (1 + np.exp(-(6 * scores - 3)))
    clusters = [f"s{number * 3 // 4}" for number in range(count)]
    return pa.table(
        {
            "interaction_id": [f"i{number:05}" for number in range(count)],
            "metric_name": [metric_name] * count,
            "cluster_id": clusters,
            "second_cluster_id": clusters,
            "system": ["a" if number % 2 else "b" for number in range(count)],
            "segment": ["all"] * count,
            "stratum": ["a" if number % 2 else "b" for number in range(count)],
            "label": labels.astype(np.int64),
            "scale_point": labels.astype(np.int64),
            "raw_score": scores,
            "inclusion_probability": np.where(scores > 0.5, 1.0, 0.5),
            "is_audit": [True] * count,
            "rater_code": [1] * count,
            "rated_month": ["2026-05"] * count,
        }
    )


def targets(**changes: Any) -> pa.Table:
    return pa.Table.from_pylist([TARGET | changes])


def fit(labels: pa.Table, **changes: Any) -> pa.Table:
    return tables.fit_calibrators(labels, targets(**changes), 1)


def cross_fit(labels: pa.Table, calibrators: pa.Table, **changes: Any) -> pa.Table:
    found = tables.cross_fit_labels(labels, targets(**changes), calibrators, 1)
    assert found.schema == tables.CROSS_FITTED_SCHEMA
    return found


def measure(labels: pa.Table, calibrators: pa.Table, **changes: Any) -> pa.Table:
    predictions = cross_fit(labels, calibrators, **changes)
    return measure_calibrators(predictions, targets(**changes), calibrators, 1)


def fit_sets(labels: pa.Table, alpha: float, function: Any = conformal.fit_quantiles, **changes: Any) -> list[Any]:
    calibrators = fit(labels, **changes)
    predictions = cross_fit(labels, calibrators, **changes)
    read = (calibrators, predictions) if function is conformal.fit_quantiles else (predictions,)
    rows: list[Any] = function(labels, targets(**changes), *read, alpha).to_pylist()
    return [row for row in rows if row.get("alpha", alpha) == alpha]


@pytest.mark.parametrize(
    ("change", "status"),
    [
        (lambda table: table.slice(0, 0), "no_labels"),
        (lambda table: table.slice(0, 30), "insufficient"),
        (lambda table: _replace(table, "raw_score", np.full(table.num_rows, 0.5)), "constant_score"),
        (lambda table: _replace(table, "raw_score", 1 - table["raw_score"].to_numpy()), "wrong_direction"),
        (lambda table: _replace(table, "raw_score", 2 * table["raw_score"].to_numpy()), "out_of_range"),
        (lambda table: _replace(table, "raw_score", np.full(table.num_rows, np.nan)), "out_of_range"),
        (lambda table: _both(table, np.ones(table.num_rows, dtype=np.int64)), "one_class"),
    ],
)
def test_what_cannot_be_fitted_has_a_status_and_no_number(change: Any, status: str) -> None:
    labels = change(make_labels())
    found = fit(labels)
    row = found.to_pylist()[0]
    assert (row["family"], row["status"], row["is_chosen"]) == ("logistic", status, False)
    assert row["message"]
    assert row["log_loss"] is None
    assert row["parameters"] == []
    assert not any(found["is_chosen"].to_pylist())
    predictions = cross_fit(labels, found)
    assert predictions.num_rows == 0
    measured = measure(labels, found).to_pylist()
    assert [(each["family"], each["status"]) for each in measured] == [("none", "not_calibrated")]
    for table in (
        conformal.fit_quantiles(labels, targets(), found, predictions, 0.1),
        conformal.cover_labels(labels, targets(), predictions, 0.1),
    ):
        assert {each["status"] for each in table.to_pylist()} == {"not_calibrated"}


def _replace(table: pa.Table, name: str, values: Any) -> pa.Table:
    return table.set_column(table.schema.get_field_index(name), name, pa.array(values))


def _both(table: pa.Table, values: Any) -> pa.Table:
    return _replace(_replace(table, "label", values), "scale_point", values)


def test_no_label_contributes_to_its_own_probability() -> None:
    labels = make_labels(600)
    found = fit(labels)
    before = cross_fit(labels, found)
    cluster = labels["cluster_id"][0].as_py()
    is_own = np.array(labels["cluster_id"]) == cluster
    turned = np.where(is_own, 1 - labels["label"].to_numpy(), labels["label"].to_numpy())
    changed = _both(labels, turned)
    after = cross_fit(changed, fit(changed))
    own, other = ([row["cluster_id"] == cluster for row in table.to_pylist()] for table in (before, after))
    assert own == other
    probabilities = [table["probability"].to_numpy() for table in (before, after)]
    assert_allclose(probabilities[0][own], probabilities[1][own], rtol=0, atol=0)
    assert not np.array_equal(*probabilities)


def test_quality_is_that_of_out_of_fold_probabilities() -> None:
    labels = make_labels(900)
    found = fit(labels, unit="probability")
    measured = measure(labels, found, unit="probability")
    assert measured.schema == MEASURED_SCHEMA
    rows = {row["family"]: row for row in measured.to_pylist()}
    assert set(rows) == {"uncalibrated", "logistic"}
    own = cross_fit(labels, found, unit="probability").to_pandas()
    own = own[own.family == "logistic"]
    assert len(own) == labels.num_rows
    quality = measure_quality(
        own.probability, own.label, own.cluster_id, own.share_accepted.to_numpy(), 1 / own.inclusion_probability, seed=1
    )
    figures = {figure["name"]: figure for figure in rows["logistic"]["figures"]}
    assert len(figures) == 8
    assert_allclose(figures["log_loss"]["value"], quality[0]["log_loss"].value)
    assert figures["calibration_slope"]["low"] <= 1 <= figures["calibration_slope"]["high"]
    assert sum(one["count_labels"] for one in rows["logistic"]["bins"]) == len(own)
    assert {one["system"] for one in rows["logistic"]["systems"]} == {"a", "b"}
    assert [family for family, row in rows.items() if row["is_chosen"]] == ["logistic"]


def test_segments_with_labels_enough_have_their_own_calibrator() -> None:
    labels = make_labels(1500)
    # in segment a people accept by the score, in b by its opposite half: no map for all is right in both
    segments = np.array(["a" if number % 10 < 5 else "b" for number in range(labels.num_rows)])
    segments = np.where(np.arange(labels.num_rows) < 40, "few", segments)
    shift = np.where(segments == "b", -0.35, 0.35)
    random = np.random.default_rng(9)
    outcome = random.uniform(size=labels.num_rows) < 1 / (
        1 + np.exp(-(8 * (labels["raw_score"].to_numpy() + shift) - 4))
    )
    parted = _both(_replace(labels, "segment", segments), outcome.astype(np.int64))
    found = fit(parted)
    known = tables.read_calibrators(found)["m"]
    assert set(known.by_segment) == {"a", "b"}
    assert {(row["segment"], row["status"]) for row in found.to_pylist() if row["family"] == "logistic"} == {
        ("all", "fitted"),
        ("a", "fitted"),
        ("b", "fitted"),
        ("few", "insufficient"),
    }
    scores = np.array([0.5, 0.5, 0.5])
    of_a, of_b, of_few = known.apply(scores, np.array(["a", "b", "few"]))
    assert of_a > of_few > of_b
    assert of_few == known.by_family[known.chosen].apply(scores)[0]
    rows = {row["family"]: row for row in measure(parted, found).to_pylist()}
    assert [family for family, row in rows.items() if row["is_chosen"]] == ["by_segment"]
    loss = {family: _figure(row, "log_loss") for family, row in rows.items()}
    assert loss["by_segment"] < loss[known.chosen]


def _figure(row: dict[str, Any], name: str) -> float:
    return next(figure["value"] for figure in row["figures"] if figure["name"] == name)


def test_limits_are_those_of_ranks_and_quantiles_of_the_calibrator() -> None:
    labels = make_labels(900)
    cells = fit_sets(labels, 0.1)
    own = labels.to_pandas()
    by_key = {(cell["stratification"], cell["stratum"], cell["label"]): cell for cell in cells}
    predictions = cross_fit(labels, fit(labels)).to_pandas()
    chosen = predictions[predictions.is_chosen].set_index("interaction_id").probability[own.interaction_id].to_numpy()
    nonconformity = np.where(own.label == 1, 1 - chosen, chosen)
    assert_allclose(by_key["marginal", "all", None]["quantile"], conformal_quantile(nonconformity, 0.1, own.cluster_id))
    known = tables.read_calibrators(fit(labels))["m"]
    for label, sign in ((0, 1), (1, -1)):
        rows = (own.label == label) & (own.stratum == "a")
        cell = by_key["label_conditional", "a", label]
        limit = sign * conformal_quantile(sign * own.raw_score[rows].to_numpy(), 0.1, own.cluster_id[rows])
        assert_allclose(cell["score_limit"], limit)
        accepted = known.by_family[known.chosen].apply([limit])[0]
        assert_allclose(cell["quantile"], 1 - accepted if label else accepted)
        assert cell["status"] == "conformalized"
        assert cell["count_labels"] == rows.sum()


@pytest.mark.parametrize("direction", ["higher_is_better", "lower_is_better"])
def test_where_no_label_fits_limits_meet_as_the_sets_do(direction: str) -> None:
    labels = make_labels(600)
    sign = 1 if direction == "higher_is_better" else -1
    scores = labels["raw_score"].to_numpy().round(2)
    labels = _replace(labels, "raw_score", scores if sign > 0 else 1 - scores)
    limits = {}
    for row in fit_sets(labels, 0.6, conformal.leave_out_limits, direction=direction):
        limits[row["stratum"], row["cluster_id"], row["label"]] = row["score_limit"]
    own = labels.to_pandas()
    failed, accepted = (
        sign * np.array([limits[key] for key in zip(own.stratum, own.cluster_id, [label] * len(own), strict=True)])
        for label in (0, 1)
    )
    scores = sign * own.raw_score.to_numpy()
    is_failed, is_accepted = scores <= failed, scores >= accepted
    # neither empty nor open, between labelled scores too
    assert (is_failed != is_accepted).all()
    assert (np.nextafter(failed, np.inf) == accepted).all()
    ranks = standings(own.raw_score.to_numpy(), direction)
    groups, clusters = own.stratum.to_numpy(), own.cluster_id.to_numpy()
    fitted = fit_conformal(ranks, own.label.to_numpy(), 0.6, groups=groups, clusters=clusters)
    sets = fitted.predict(ranks, groups, clusters)
    assert_array_equal(sets.includes, np.column_stack([is_failed, is_accepted]))


def test_small_strata_share_a_cell_and_too_few_clusters_hold_every_label() -> None:
    labels = make_labels(70)
    lax, strict = (
        [cell for cell in fit_sets(labels, alpha) if cell["stratification"] == "label_conditional"]
        for alpha in (0.05, 0.01)
    )
    assert {cell["stratum"] for cell in lax} == {"other"}
    assert {(cell["status"], cell["quantile"]) for cell in strict} == {("insufficient", None)}
    covered = fit_sets(labels, 0.01, conformal.cover_labels)
    everything = next(
        row for row in covered if row["stratification"] == "label_conditional" and row["scope"] == "marginal"
    )
    assert (everything["coverage"], everything["share_all"]) == (1.0, 1.0)
    assert [row for row in covered if row["share_decidable"] is not None] == [everything]
    together = [
        row
        for row in fit_sets(labels, 0.05, conformal.cover_labels)
        if (row["stratification"], row["scope"], row["stratum"]) == ("label_conditional", "label_and_group", "other")
    ]
    assert sum(row["count_labels"] for row in together) == 70


def test_a_graded_scale_has_sets_of_scale_points() -> None:
    labels = make_labels(900)
    random = np.random.default_rng(5)
    points = labels["label"].to_numpy() + (random.uniform(size=labels.num_rows) < labels["raw_score"].to_numpy())
    graded = _replace(_replace(labels, "scale_point", points), "label", (points >= 2).astype(np.int64))
    scale = {"accept_from": 2, "count_scale_points": 3}
    cells = [cell for cell in fit_sets(graded, 0.1, **scale) if cell["stratification"] == conformal.SCALE_POINT]
    assert [(cell["label"], cell["status"]) for cell in cells] == [(point, "conformalized") for point in range(3)]
    covered = [
        row
        for row in fit_sets(graded, 0.1, conformal.cover_labels, **scale)
        if row["stratification"] == conformal.SCALE_POINT
    ]
    for row in covered:
        if row["scope"] in ("marginal", "label"):
            assert abs(row["coverage"] - 0.9) < 0.04
    assert sum(row["share_several"] for row in covered) > 0
