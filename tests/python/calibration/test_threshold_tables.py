"""Rows of labels against the thresholds and quotes of the arrays; every metric has all its rows, number or status."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest
from test_calibration_tables import TARGET
from test_thresholds import draw

from hcat.calibration.risk_appetites import find_appetite_in_force, read_risk_appetites
from hcat.calibration.threshold_tables import FITTED_SCHEMA, count_needed, fit_thresholds, quote
from hcat.calibration.thresholds import METHODS, SHOWN, STATUSES

APPETITES = pa.Table.from_pylist(
    [
        {
            "risk_appetite": name,
            "confidence": confidence,
            "tolerated_false_accept_share": false_accept,
            "tolerated_false_reject_share": false_reject,
            "cost_false_accept": cost,
            "cost_false_reject": 1.0,
        }
        for name, confidence, false_accept, false_reject, cost in (
            ("low", 0.99, 0.01, 0.5, 10.0),
            ("high", 0.90, 0.10, 0.2, 1.0),
            ("moderate", 0.95, 0.05, 0.3, 3.0),
        )
    ]
)
SEED = 7


def make_targets(*names: str, direction: str = "higher_is_better") -> pa.Table:
    return pa.Table.from_pylist([TARGET | {"metric_name": name, "direction": direction} for name in names])


def make_labels(
    scores: npt.ArrayLike, labels: npt.ArrayLike, metric: str = "m", weights: Any = None, clusters: Any = None
) -> pa.Table:
    count = len(np.asarray(scores))
    clusters = range(count) if clusters is None else clusters
    texts = pa.array([f"i{row:05}" for row in range(count)], pa.string())
    keys = pa.array([f"s{cluster:05}" for cluster in clusters], pa.string())
    return pa.table(
        {
            **dict.fromkeys(("interaction_id", "stratum", "segment", "system", "rated_month"), texts),
            "scale_point": pa.array(np.asarray(labels, dtype=np.int32)),
            "is_audit": pa.array([True] * count),
            "rater_code": pa.array([1] * count),
            "metric_name": pa.array([metric] * count, pa.string()),
            **dict.fromkeys(("cluster_id", "second_cluster_id"), keys),
            "label": pa.array(np.asarray(labels, dtype=np.int32)),
            "raw_score": pa.array(np.asarray(scores, dtype=np.float64)),
            "inclusion_probability": pa.array(1 / np.asarray(np.ones(count) if weights is None else weights)),
        }
    )


def state(*appetites: str | None) -> pa.Table:
    return pa.table({"risk_appetite": pa.array(appetites, pa.string())})


def fit(labels: pa.Table, targets: pa.Table | None = None, decided: float | None = None) -> list[dict[str, Any]]:
    targets = make_targets("m") if targets is None else targets
    decisions = pa.table(
        {
            "metric_name": pa.array([] if decided is None else ["m"], pa.string()),
            "threshold": pa.array([] if decided is None else [decided], pa.float64()),
        }
    )
    table = fit_thresholds(labels, targets, APPETITES, 0.95, SEED, decisions, state("high"))
    assert table.schema == FITTED_SCHEMA
    rows: list[dict[str, Any]] = table.to_pylist()
    return rows


def by_key(rows: list[dict[str, Any]]) -> dict[tuple[str, str], dict[str, Any]]:
    return {(row["method"], row["risk_appetite"]): row for row in rows}


def test_a_cut_and_its_quote_by_hand() -> None:
    """30 failed at .2 and 30 good at .8: the cut is .8 in every fold, and nothing is wrong on either side."""
    rows = by_key(fit(make_labels([0.2] * 30 + [0.8] * 30, [0] * 30 + [1] * 30)))
    row = rows["roc_cost", "moderate"]
    assert (row["status"], row["threshold"], row["is_shown"]) == ("ok", 0.8, True)
    assert row["message"] == "fitted on 30 accepted and 30 failed answers of 60 clusters"
    assert (row["count_fit_accepted"], row["count_fit_failed"], row["count_fit_clusters"]) == (30, 30, 60)
    assert (row["false_accept_rate"], row["false_accept_count_labels"]) == (0.0, 30)
    assert (row["false_reject_rate"], row["false_reject_count_labels"]) == (0.0, 30)
    assert (row["false_accept_tolerated_share"], row["false_reject_tolerated_share"]) == (0.05, 0.3)
    assert row["expected_cost"] == 0
    # 30 failed answers without an error show 10 %, and not 5 %
    assert row["false_accept_verdict"] == "not_shown"
    assert rows["roc_cost", "high"]["false_accept_verdict"] == "within"
    # for the same reason the method conformal has a number at 10 %, and none at 5 %
    assert [rows["conformal", one]["status"] for one in ("high", "moderate")] == ["ok", "no_threshold"]
    # the limit assures what it was chosen for, which the interval alone may not show
    assert rows["conformal", "high"]["false_accept_rate_upper"] <= 0.1
    assert {row["method"] for row in rows.values() if row["is_shown"]} == set(SHOWN)


def test_the_threshold_in_force_is_quoted_on_all_labels() -> None:
    """Of 40 failed answers 10 lie at .6 or above and stand for two each, of 60 good ones 6 below: for any appetite."""
    scores, weights = [0.2] * 30 + [0.7] * 10 + [0.5] * 6 + [0.9] * 54, [1.0] * 30 + [2.0] * 10 + [1.0] * 60
    rows = by_key(fit(make_labels(scores, [0] * 40 + [1] * 60, weights=weights), decided=0.6))
    for appetite in ("low", "moderate", "high"):
        row = rows["decided", appetite]
        assert (row["kind"], row["status"], row["threshold"], row["is_shown"]) == ("acceptance", "ok", 0.6, True)
        assert (row["false_accept_rate"], row["false_reject_rate"]) == (0.4, 0.1)
        assert row["message"] == "in force, measured on 60 accepted and 40 failed answers of 100 clusters"
        assert row["is_appetite_of_application"] == (appetite == "high")
    assert rows["decided", "high"]["false_accept_verdict"] == "beyond"
    assert rows["decided", "high"]["false_accept_count_needed"] == count_needed(0.1, 0.95)


def test_a_threshold_that_these_labels_chose_is_quoted_on_other_folds() -> None:
    labels = make_labels(*draw(400, 5))
    fitted = by_key(fit(labels))["conformal", "high"]
    found = by_key(fit(labels, decided=round(fitted["threshold"], 2)))["decided", "high"]
    assert found["false_accept_rate"] == fitted["false_accept_rate"]
    assert found["false_reject_rate_upper"] == fitted["false_reject_rate_upper"]


def test_a_threshold_in_force_has_no_row_where_scores_leave_their_range() -> None:
    row = by_key(fit(make_labels([1.5] * 40, [0, 1] * 20), decided=0.6))["decided", "high"]
    assert (row["status"], row["threshold"], row["false_accept_rate"]) == ("out_of_range", None, None)


def test_labels_needed_by_hand() -> None:
    """27 failed answers that are all found show at most 10 % false accepts: t^2 / (n + t^2) with t of 26 degrees.

    The exact tolerance limit needs 29, because .9^28 is above .05.
    """
    assert [count_needed(share, 0.95) for share in (0.05, 0.1, 0.2, 0.5)] == [59, 29, 14, 5]
    assert count_needed(0.0, 0.95) is None
    found = quote(np.zeros(27, dtype=np.bool_), np.zeros(27), np.arange(27)).false_accept
    assert found.rate_upper is not None
    assert found.rate_upper <= 0.1
    by_document = quote(np.zeros(27, dtype=np.bool_), np.zeros(27), np.arange(27), np.arange(27) % 10).false_accept
    assert by_document.effective_n == pytest.approx(10, rel=0.05)
    less = quote(np.zeros(26, dtype=np.bool_), np.zeros(26), np.arange(26)).false_accept
    assert less.rate_upper is not None
    assert less.rate_upper > 0.1


def test_the_strictest_application_decides() -> None:
    appetites = read_risk_appetites(APPETITES)
    assert find_appetite_in_force(state(), appetites) == "moderate"
    assert find_appetite_in_force(state("high", None), appetites) == "high"
    assert find_appetite_in_force(state("high", "low", "moderate"), appetites) == "low"
    with pytest.raises(ValueError, match=r"applications: risk_appetite must be one of .*, got 'brave'"):
        find_appetite_in_force(state("brave"), appetites)


def test_a_floor_is_held_against_its_own_promise_and_never_against_false_accepts() -> None:
    rows = by_key(fit(make_labels(*draw(900, 3))))
    row = rows["pass_quantile", "high"]
    assert (row["kind"], row["accepts"]) == ("monitoring", None)
    assert (row["false_accept_tolerated_share"], row["false_accept_verdict"]) == (None, "not_applicable")
    assert row["false_reject_tolerated_share"] == 0.1
    # a lower appetite makes a floor laxer
    assert rows["pass_quantile", "low"]["threshold"] < row["threshold"]


def test_every_metric_has_all_its_rows_whatever_its_labels() -> None:
    scores, labels = draw(300, 4)
    table = pa.concat_tables(
        [
            make_labels(scores, labels, "good"),
            make_labels(scores[:30], labels[:30], "few"),
            make_labels(scores, np.ones(300), "one_class"),
            make_labels(np.full(300, 0.5), labels, "constant"),
            make_labels([*scores[:-1], 1.5], labels, "beyond"),
        ]
    )
    names = ("beyond", "constant", "few", "good", "never_labelled", "one_class")
    rows = fit(table, make_targets(*reversed(names)))
    assert [row["metric_name"] for row in rows] == [name for name in names for _ in range(3 * len(METHODS))]
    assert {row["status"] for row in rows} <= set(STATUSES)
    for row in rows:
        assert (row["threshold"] is not None) == (row["status"] == "ok")
        assert row["message"]
    found = {(row["metric_name"], row["method"]): row for row in rows if row["risk_appetite"] == "high"}
    assert found["few", "logistic"]["status"] == "insufficient"
    assert found["few", "logistic"]["message"].endswith(
        "at least 20 of accepted and of failed answers from 10 clusters each are needed"
    )
    assert found["never_labelled", "roc_cost"]["status"] == "insufficient"
    assert found["never_labelled", "roc_cost"]["count_fit_clusters"] == 0
    assert found["one_class", "roc_youden"]["status"] == "one_class"
    assert found["one_class", "normal_floor"]["status"] == "ok"
    assert found["one_class", "normal_floor"]["false_accept_status"] == "one_class"
    assert found["constant", "roc_youden"]["status"] == "constant_score"
    assert {row["status"] for row in rows if row["metric_name"] == "beyond"} == {"out_of_range"}
    assert found["beyond", "logistic"]["message"] == (
        "1 labelled scores lie outside [0.0, 1.0], the range of the catalogue"
    )
    assert found["few", "roc_youden"]["false_reject_rate"] is None
    assert found["beyond", "conformal"]["count_fit_clusters"] == 0
