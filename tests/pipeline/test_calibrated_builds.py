"""Calibration in a build: SQL applies what Python fitted, sets follow their quantiles, labels are kept by version."""

from __future__ import annotations

import math
import random

import numpy as np
import pyarrow as pa
import pytest
from builds import UNTESTED, Build, Dbt, write_lines
from numpy.testing import assert_allclose

from hcat.calibration.calibrator_tables import read_calibrators

#: Enough labels for isotonic regression (1,000 in fold fit), in pairs of siblings.
COUNT = 1_800
#: Interactions of a version that nobody has rated.
COUNT_NEW = 6
WORDS = ("harbour", "anchor", "pilot", "lantern", "quay", "ferry", "beacon", "tide", "sail", "rope")


@pytest.fixture(scope="module")
def built(dbt: Dbt, tmp_path_factory: pytest.TempPathFactory) -> Build:
    """Build logs whose answers hold a known share of the context's words, with ratings that follow that share."""
    raw, warehouse = tmp_path_factory.mktemp("logs"), tmp_path_factory.mktemp("warehouse")
    draw = random.Random(11)
    interactions, retrievals, ratings = [], [], []
    for number in range(COUNT):
        count_known = draw.randrange(11)
        words = [word if place < count_known else f"{word}x" for place, word in enumerate(WORDS)]
        name = f"i{number:04}"
        interactions.append(
            {
                "interaction_id": name,
                "query_text": f"What is question {number // 2}?",
                "answer": " ".join(words) + ".",
                "application": "harbour",
                "application_version": str(1 + number % 2),
            }
        )
        retrievals.append({"interaction_id": name, "rank": 1, "text": " ".join(WORDS) + "."})
        share = count_known / 10
        if draw.random() < 0.95:
            point = 2 * (draw.random() < 1 / (1 + math.exp(-(8 * share - 4))))
            ratings.append(
                {
                    "interaction_id": name,
                    "rater": "reader_1",
                    "criterion": "faithfulness",
                    "scale_point": point,
                    "rating_pass": 1,
                    "sampling": "audit" if number % 3 else "targeted",
                    "inclusion_probability": 1 if number % 3 else 0.5,
                }
            )
    for number in range(COUNT_NEW):
        new = {"interaction_id": f"new{number}", "application_version": "3", "query_text": f"What is new {number}?"}
        interactions.append(interactions[number] | new)
        retrievals.append(retrievals[number] | {"interaction_id": f"new{number}"})
    write_lines(raw / "interactions.jsonl", interactions)
    write_lines(raw / "retrievals.jsonl", retrievals)
    write_lines(raw / "ratings.jsonl", ratings)
    build = dbt("build", raw, warehouse)
    assert build.exit_code == 0, build.output
    return build


def read_table(build: Build, sql: str, names: tuple[str, ...]) -> pa.Table:
    return pa.Table.from_pylist([dict(zip(names, row, strict=True)) for row in build.query(sql)])


def test_sql_applies_what_python_fitted(built: Build) -> None:
    names = ("metric_name", "criterion", "segment", "family", "status", "is_chosen", "parameters")
    found = read_table(built, f"select {', '.join(names)} from int_labels_fitted where part = 'calibrators'", names)
    calibrators = read_calibrators(found)
    assert "support_words" in calibrators
    assert "isotonic" in calibrators["support_words"].by_family
    for metric, known in calibrators.items():
        rows = built.query(
            "select raw_score, calibrated_probability from fct_evaluations"
            " where metric_name = ? and raw_score is not null and interaction_id not like 'new%'"
            " order by evaluation_id",
            metric,
        )
        scores, probabilities = np.array(rows, dtype=np.float64).T
        assert len(scores) == COUNT
        assert_allclose(probabilities, known.by_family[known.chosen].apply(scores), rtol=1e-9, atol=1e-12)


def test_every_family_that_labels_allow_is_fitted(built: Build) -> None:
    rows = built.query(
        "select family, status from int_labels_fitted where part = 'calibrators' and metric_name = 'support_words'"
    )
    # nobody gave the middle point of the scale, so that graded families cannot know it
    assert dict(rows) == {
        "logistic": "fitted",
        "ordinal": "insufficient",
        "multinomial": "insufficient",
        "isotonic": "fitted",
        "boosted": "fitted",
    }


def test_a_known_relation_is_found(built: Build) -> None:
    ((status, error, limit, slope, difference),) = built.query(
        "select status, calibration_error, calibration_error_limit, calibration_slope, log_loss_difference_high"
        " from fct_calibration_quality"
        " where metric_name = 'support_words' and is_chosen"
    )
    assert status == "measured"
    assert error <= limit
    assert 0.7 < slope < 1.4
    assert difference < 0  # better than the base rate, whole interval


def test_sets_follow_the_limits_of_the_other_clusters(built: Build) -> None:
    limits = {
        (stratum, label): limit
        for stratum, label, limit in built.query(
            "select stratum, label, score_limit from int_labels_fitted where part = 'quantiles'"
            " and metric_name = 'support_words' and alpha = 0.05 and stratification = 'label_conditional'"
        )
    }
    left_out = {
        (stratum, label, cluster): limit
        for stratum, label, cluster, limit in built.query(
            "select stratum, label, cluster_id, score_limit from int_labels_fitted where part = 'limits'"
            " and metric_name = 'support_words'"
        )
    }
    assert {"harbour 1", "harbour 2"} <= {stratum for stratum, _ in limits}
    rows = built.query(
        "select system, cluster_id, raw_score, prediction_set from fct_evaluations"
        " inner join fct_interactions using (interaction_id) where metric_name = 'support_words'"
        " and calibrated_probability is not null"
    )
    seen = set()
    for system, cluster, score, found in rows:
        low, high = (left_out.get((system, label, cluster), limits[system, label]) for label in (1, 0))
        expected = [name for name, is_in in (("accepted", score >= low), ("failed", score <= high)) if is_in]
        assert found == ("|".join(expected) or "empty")
        seen.add(found)
    assert {"accepted", "failed"} <= seen
    ((coverage,),) = built.query(
        "select min(coverage) from fct_conformal_coverage where metric_name = 'support_words'"
        " and stratification = 'label_conditional' and scope = 'label' and alpha = 0.05"
    )
    assert coverage > 0.93


def test_a_version_that_nobody_rated_has_no_probability(built: Build) -> None:
    rows = built.query(
        "select calibration_status, count(*), count(raw_score), count(calibrated_probability), count(prediction_set)"
        " from fct_evaluations where metric_name = 'support_words' group by calibration_status order by 1"
    )
    assert rows == [("in_force", COUNT, COUNT, COUNT, COUNT), ("void_version_class", COUNT_NEW, COUNT_NEW, 0, 0)]
    classes = built.query(
        "select version_class, calibration_status, count_interactions from fct_calibration_validity"
        " where metric_name = 'support_words' order by version_class"
    )
    assert classes == [
        ("harbour 1", "in_force", COUNT // 2),
        ("harbour 2", "in_force", COUNT // 2),
        ("harbour 3", "void_version_class", COUNT_NEW),
    ]
    audits = built.query(
        "select distinct test, status, rated_month from fct_audit_tests where metric_name = 'support_words' order by 1"
    )
    # all ratings are of one month: sets have no other month to be held against
    assert audits == [("coverage", "too_few_clusters", "unknown"), ("overconfidence", "passed", "unknown")]


def test_metrics_without_labels_say_so(built: Build) -> None:
    rows = built.query(
        "select metric_name, family, status, message from fct_calibrators where metric_name = 'query_coverage__mean'"
    )
    assert {status for _, _, status, _ in rows} == {"no_labels"}
    assert all(message for *_, message in rows)
    ((count,),) = built.query(
        "select count(calibrated_probability) from fct_evaluations where metric_name = 'query_coverage__mean'"
    )
    assert count == 0


def test_further_ratings_change_a_label(dbt: Dbt, built: Build) -> None:
    key = (
        "select interaction_id from int_target_evaluations where label = 1 and is_audit order by interaction_id limit 1"
    )
    ((name,),) = built.query(key)
    ratings = [
        {"interaction_id": name, "rater": rater, "criterion": "faithfulness", "scale_point": 0, "rating_pass": 1}
        for rater in ("reader_2", "reader_3")
    ]
    write_lines(built.raw / "ratings_2.jsonl", ratings)
    again = dbt(UNTESTED, built.raw, built.warehouse)
    assert again.exit_code == 0, again.output
    labels = "select distinct label from int_target_evaluations where interaction_id = ? and criterion = 'faithfulness'"
    assert again.query(labels, name) == [(0,)]
