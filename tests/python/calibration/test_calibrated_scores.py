"""Probabilities and sets of scores: every family and limit by hand, and the same in batches of any size."""

import math
from typing import Any

import pyarrow as pa
import pytest
from numpy.testing import assert_allclose

from hcat.calibration.calibrated_scores import CALIBRATED_SCHEMA, ScoreCalibration
from hcat.calibration.calibrator_tables import CALIBRATOR_SCHEMA
from hcat.calibration.conformal_tables import CELL_SCHEMA, LEFT_OUT_SCHEMA
from hcat.calibration.targets import describe_targets
from hcat.engine.columns import stack_parts

LOGISTIC = {"intercept": 0.0, "slope": 3.0, "logit_bound": 1e-6, "direction": 1.0}


def parameters(values: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the rows of parameters; a list has several positions, the first of them 1."""
    rows = []
    for name, value in values.items():
        several = value if isinstance(value, list) else [value]
        rows += [
            {"parameter": name, "position": place + isinstance(value, list), "value": one}
            for place, one in enumerate(several)
        ]
    return rows


def calibrator(metric: str, family: str, rows: list[dict[str, Any]], **changes: Any) -> dict[str, Any]:
    found = {"metric_name": metric, "criterion": "faithfulness", "segment": "all", "family": family, "status": "fitted"}
    return found | {"is_chosen": True, "parameters": rows} | changes


def calibrate(
    scores: list[dict[str, Any]],
    calibrators: list[dict[str, Any]],
    cells: list[dict[str, Any]] | None = None,
    left_out: list[dict[str, Any]] | None = None,
    batch_rows: int = 100,
    validity: dict[str, str] | None = None,
) -> dict[tuple[str, str], dict[str, Any]]:
    fitted = stack_parts(
        {
            "calibrators": pa.Table.from_pylist(calibrators, schema=CALIBRATOR_SCHEMA),
            "quantiles": pa.Table.from_pylist(cells or [], schema=CELL_SCHEMA),
            "limits": pa.Table.from_pylist(left_out or [], schema=LEFT_OUT_SCHEMA),
        }
    )
    metrics = {row["metric_name"] for row in scores}
    pairs = [
        {"metric_name": metric, "version_class": name, "calibration_status": status}
        for metric in metrics
        for name, status in (validity or {"one": "in_force"}).items()
    ]
    function = ScoreCalibration(fitted, pa.Table.from_pylist(pairs), 0.1)
    common = {"cluster_id": "c", "version_class": "one", "stratum": "a", "segment": "all"}
    table = pa.Table.from_pylist([common | row for row in scores])
    batches = [function(batch) for batch in table.to_batches(max_chunksize=batch_rows)]
    assert all(batch.schema == CALIBRATED_SCHEMA for batch in batches)
    return {(row["interaction_id"], row["metric_name"]): row for batch in batches for row in batch.to_pylist()}


def score(interaction: str, metric: str, value: float, **changes: Any) -> dict[str, Any]:
    return {"interaction_id": interaction, "metric_name": metric, "raw_score": value} | changes


def test_every_family_gives_the_probability_of_its_formula() -> None:
    steps = [
        {"parameter": "direction", "position": 0, "value": 1.0},
        {"parameter": "step", "position": 0, "probability": 0.1},
        {"parameter": "step", "position": 1, "lower_bound": 0.6, "probability": 0.8},
    ]
    calibrators = [
        calibrator("logistic", "logistic", parameters(LOGISTIC)),
        # not chosen, so not applied
        calibrator("logistic", "isotonic", steps, is_chosen=False),
        # ln 3 more gives odds of three to one
        calibrator("logistic", "logistic", parameters(LOGISTIC | {"intercept": math.log(3)}), segment="cards"),
        # at cut point 2 of two, the log odds are 1 x 2 - 2 = 0
        calibrator(
            "ordinal",
            "ordinal",
            parameters({"cut_point": [1.0, 2.0], "slope": 1.0, "accept_from": 2.0, "direction": 1.0}),
        ),
        # points 1 and 2 have log odds 0 and ln 2 against 0 of point 0: point 2 has 2 of 4
        calibrator(
            "multinomial",
            "multinomial",
            parameters({"intercept": [0.0, 0.0], "slope": [0.0, math.log(2)], "accept_from": 2.0, "direction": 1.0}),
        ),
        calibrator("steps", "isotonic", steps),
    ]
    scores = [
        score("i1", "logistic", 0.5),
        score("i2", "logistic", 0.5, segment="cards"),
        score("i3", "logistic", 0.5, segment="fees"),
        # beyond the range of a probability
        score("i4", "logistic", 1.5),
        score("i1", "ordinal", 2.0),
        score("i1", "multinomial", 1.0),
        score("i1", "steps", 0.7),
        score("i2", "steps", 0.5),
        score("i1", "unfitted", 0.5),
    ]
    found = calibrate(scores, calibrators)
    expected = {
        ("i1", "logistic"): 0.5,
        ("i2", "logistic"): 0.75,
        ("i3", "logistic"): 0.5,
        ("i4", "logistic"): 1.0,
        ("i1", "ordinal"): 0.5,
        ("i1", "multinomial"): 0.5,
        ("i1", "steps"): 0.8,
        ("i2", "steps"): 0.1,
    }
    assert found.keys() == expected.keys()
    for key, value in expected.items():
        assert_allclose(found[key]["calibrated_probability"], value, atol=1e-12)
    # without limits nothing can be ruled out
    assert {row["prediction_set"] for row in found.values()} == {"accepted|failed"}


def test_a_version_class_without_enough_labels_has_no_probability() -> None:
    scores = [score(name, "m", 0.5, version_class=name) for name in ("one", "old", "void", "unknown")]
    validity = {"one": "in_force", "old": "expired", "void": "void_version_class"}
    found = calibrate(scores, [calibrator("m", "logistic", parameters(LOGISTIC))], validity=validity)
    assert sorted(name for name, _ in found) == ["old", "one"]


def cell(stratum: str, label: int, limit: float | None, **changes: Any) -> dict[str, Any]:
    found = {"metric_name": "m", "stratification": "label_conditional", "stratum": stratum, "alpha": 0.1}
    return found | {"label": label, "score_limit": limit} | changes


@pytest.mark.parametrize("batch_rows", [1, 2, 100])
def test_sets_hold_what_cannot_be_ruled_out(batch_rows: int) -> None:
    """Scores from 0.7 count as accepted, and up to 0.6 as failed. Fitted limits leave no gap; one would fail."""
    lower_is_better = LOGISTIC | {"direction": -1.0}
    del lower_is_better["logit_bound"]
    calibrators = [
        calibrator("m", "logistic", parameters(LOGISTIC)),
        calibrator("unfitted", "logistic", parameters(LOGISTIC)),
        calibrator("low", "logistic", parameters(lower_is_better)),
    ]
    cells = [
        cell("a", 1, 0.7),
        cell("a", 0, 0.6),
        cell("other", 1, 0.7),
        # too few labels
        cell("other", 0, None),
        # of another promise
        cell("a", 1, 0.0, alpha=0.2),
        cell("all", 1, 0.0, stratification="marginal"),
        cell("a", 1, 2.0, metric_name="low"),
        cell("a", 0, 3.0, metric_name="low"),
    ]
    left_out = [
        {"metric_name": "m", "stratum": "a", "cluster_id": "labelled", "label": 0, "score_limit": 0.66},
        {"metric_name": "m", "stratum": "a", "cluster_id": "only", "label": 1, "score_limit": None},
    ]
    scores = [
        score("sure", "m", 0.9),
        score("bad", "m", 0.2),
        score("odd", "m", 0.65),
        # of a labelled cluster the other clusters decide: there 0.65 is failed
        score("sibling", "m", 0.65, cluster_id="labelled"),
        # and there the other clusters are too few
        score("lonely", "m", 0.9, cluster_id="only"),
        # a stratum without a cell of its own
        score("elsewhere", "m", 0.9, stratum="b"),
        score("sure", "unfitted", 0.9),
        score("sure", "low", 1.0),
        score("bad", "low", 5.0),
    ]
    found = calibrate(scores, calibrators, cells, left_out, batch_rows)
    assert {key: row["prediction_set"] for key, row in found.items()} == {
        ("sure", "m"): "accepted",
        ("bad", "m"): "failed",
        ("odd", "m"): "failed",
        ("sibling", "m"): "failed",
        ("lonely", "m"): "accepted|failed",
        ("elsewhere", "m"): "accepted|failed",
        ("sure", "unfitted"): "accepted|failed",
        ("sure", "low"): "accepted",
        ("bad", "low"): "failed",
    }


def test_targets_are_those_of_the_catalogue_with_their_scale() -> None:
    targets = [{"metric_name": name, "criterion": "faithfulness", "accept_from": 2} for name in ("m", "switched_off")]
    scales = [{"criterion": name, "scale_point": point} for name in ("faithfulness", "fluency") for point in range(3)]
    metric = {"metric_name": "m", "direction": "higher_is_better", "unit": "score", "range_low": 0.0, "range_high": 1.0}
    found = describe_targets(*(pa.Table.from_pylist(rows) for rows in (targets, scales, [metric])))
    assert found.to_pylist() == [metric | {"criterion": "faithfulness", "accept_from": 2, "count_scale_points": 3}]
