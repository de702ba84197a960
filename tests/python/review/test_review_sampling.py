"""How many labels a target needs: sizes by hand and against statsmodels."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from statsmodels.stats.power import NormalIndPower
from statsmodels.stats.proportion import proportion_confint, proportion_effectsize

from hcat.review.sampling import (
    LABELS_NEEDED_SCHEMA,
    labels_for_difference,
    labels_for_half_width,
    measure_labels_needed,
)


@given(st.floats(0, 1), st.floats(0.01, 0.45), st.sampled_from([0.8, 0.95, 0.99]))
@settings(max_examples=200, deadline=None)
def test_labels_for_half_width_are_the_fewest(rate, half_width, confidence):
    count = labels_for_half_width(rate, half_width, confidence)

    def half(labels: int) -> float:
        low, high = proportion_confint(rate * labels, labels, alpha=1 - confidence, method="wilson")
        # statsmodels clips; the unclipped interval is never outside [0, 1] by more than rounding
        return (high - low) / 2

    assert half(count) <= half_width * (1 + 1e-6)
    if count > 1:
        assert half(count - 1) > half_width * (1 - 1e-6)


@pytest.mark.parametrize(("first", "second"), [(0.1, 0.2), (0.05, 0.08), (0.3, 0.2), (0.5, 0.6), (0.0, 0.02)])
@pytest.mark.parametrize("power", [0.5, 0.8, 0.95])
@pytest.mark.parametrize("confidence", [0.9, 0.95])
def test_labels_for_a_difference_agree_with_statsmodels(first, second, power, confidence):
    expected = NormalIndPower().solve_power(
        proportion_effectsize(first, second), power=power, alpha=1 - confidence, alternative="two-sided"
    )
    found = labels_for_difference(first, second, power, confidence)
    assert abs(found - expected) <= max(0.02 * expected, 1)
    assert found == labels_for_difference(second, first, power, confidence)
    assert labels_for_difference(first, second, power, confidence, design_effect=3.0) == pytest.approx(
        3 * expected, rel=0.02
    )


TARGET = {"metric_name": "groundedness", "purpose": "half_width", "target": 0.05, "confidence": 0.95, "power": None}
DIFFERENCE = TARGET | {"purpose": "difference", "target": 0.1, "power": 0.8}


METRICS = pa.Table.from_pylist(
    [
        {"metric_name": name, "criterion": "faithfulness", "direction": "higher_is_better", "unit": "score"}
        | {"range_low": None, "range_high": None, "accept_from": 1, "count_scale_points": 2}
        for name in ("groundedness", "support_words")
    ]
)


def make_labels(
    labels: list[int], weights: list[float] | None = None, siblings: int = 1, scores: list[float] | None = None
) -> pa.Table:
    texts = dict.fromkeys(("stratum", "segment", "system", "rated_month"), "x")
    rows = [
        texts
        | {
            "interaction_id": f"i{index:05}",
            "metric_name": metric_name,
            "cluster_id": f"s{index // siblings}",
            "second_cluster_id": f"s{index // siblings}",
            "label": label,
            "scale_point": label,
            "raw_score": float(label) if scores is None else scores[index],
            "inclusion_probability": 1.0 if weights is None else weights[index],
            "is_audit": True,
            "rater_code": 1,
        }
        for metric_name in ("groundedness", "support_words")
        for index, label in enumerate(labels)
    ]
    return pa.Table.from_pylist(rows)


def make_targets(*targets: dict[str, object]) -> pa.Table:
    return pa.Table.from_pylist([target | {"rationale": "a reason"} for target in targets])


def test_without_labels_the_plan_takes_the_rate_that_needs_most():
    found = measure_labels_needed(make_labels([1]).slice(0, 0), make_targets(TARGET, DIFFERENCE), METRICS)
    assert found.schema == LABELS_NEEDED_SCHEMA
    half_width, difference = found.to_pylist()
    # as by hand above: 381 at a rate of .5
    assert (half_width["count_labels_needed"], half_width["count_groups"]) == (381, 1)
    assert difference["count_labels_needed"] == 2 * labels_for_difference(0.5, 0.6)
    assert difference["count_groups"] == 2
    for row in (half_width, difference):
        assert (row["count_labels"], row["planning_rate"], row["design_effect"]) == (0, 0.5, 1.0)
        assert row["failure_rate"] is None
        assert row["failure_rate_low"] is None


def test_the_plan_takes_the_rate_of_the_labels_and_says_its_range():
    few, many = (make_labels([0] * count + [1] * (9 * count)) for count in (5, 100))
    (from_few,), (from_many,) = (
        measure_labels_needed(each, make_targets(TARGET), METRICS).to_pylist() for each in (few, many)
    )
    assert from_few["failure_rate"] == from_many["failure_rate"] == 0.1
    assert from_few["planning_rate"] == from_many["planning_rate"] == 0.1
    for row in (from_few, from_many):
        rates = [row[f"failure_rate{end}"] for end in ("", "_low", "_high")]
        counts = [labels_for_half_width(rate, 0.05, 0.95, row["design_effect"]) for rate in rates]
        assert [row[f"count_labels_needed{end}"] for end in ("", "_least", "_most")] == counts
    assert from_few["count_labels_needed_most"] > from_many["count_labels_needed_most"]
    assert (from_many["count_labels"], from_many["count_clusters"]) == (1000, 1000)
    # mostly failures: the lower limit asks for most
    (failing,) = measure_labels_needed(make_labels([0] * 90 + [1] * 10), make_targets(TARGET), METRICS).to_pylist()
    least, most = (failing[f"count_labels_needed_{end}"] for end in ("least", "most"))
    assert least < failing["count_labels_needed"] < most


def test_siblings_and_unequal_weights_ask_for_more():
    # the variance is the mean of the jackknife's, which divides by clusters - 1, and of the one without estimation
    labels = [0, 0, 1, 1] * 50
    (plain,) = measure_labels_needed(make_labels(labels), make_targets(TARGET), METRICS).to_pylist()
    assert_allclose(plain["design_effect"], (200 / 199 + 1) / 2)
    # pairs of siblings that agree are one label each
    (pairs,) = measure_labels_needed(make_labels(labels, siblings=2), make_targets(TARGET), METRICS).to_pylist()
    assert_allclose(pairs["design_effect"], (200 / 99 + 2) / 2)
    planned = labels_for_half_width(0.5, 0.05, design_effect=pairs["design_effect"])
    assert pairs["count_labels_needed"] == planned
    assert planned / plain["count_labels_needed"] == pytest.approx(2, rel=0.01)
    # weights 1 and 4: n sum w^2 / (sum w)^2 = 2 x (1 + 16) / 5^2 = 1.36 without estimation
    weighted = make_labels([0, 1, 1, 0] * 50, [1.0, 0.25] * 100)
    (unequal,) = measure_labels_needed(weighted, make_targets(TARGET), METRICS).to_pylist()
    weights = np.array([1.0, 4.0] * 100)
    jackknife = 199 / 200 * np.sum((weights * 0.5 / (500 - weights)) ** 2) / (0.25 / 200)
    assert_allclose(unequal["design_effect"], (jackknife + 1.36) / 2)


def test_all_labels_alike_or_of_one_cluster():
    (alike,) = measure_labels_needed(make_labels([1] * 50), make_targets(TARGET), METRICS).to_pylist()
    assert alike["failure_rate"] == 0.0
    assert alike["count_labels_needed"] == alike["count_labels_needed_least"] < alike["count_labels_needed_most"]
    (single,) = measure_labels_needed(make_labels([1] * 50, siblings=50), make_targets(DIFFERENCE), METRICS).to_pylist()
    assert (single["failure_rate"], single["planning_rate"], single["count_labels"]) == (None, 0.5, 50)


def test_labels_until_sets_decide_follow_the_audit_labels():
    random = np.random.default_rng(4)
    accepted = random.random(300) < 0.7
    scores = accepted * 1.53 + random.normal(size=300)  # AUROC .86
    labels = make_labels(accepted.astype(int).tolist(), scores=scores.tolist())
    goal = TARGET | {"purpose": "decided_share", "target": 0.8, "confidence": 0.8}
    (row,) = measure_labels_needed(labels, make_targets(goal), METRICS).to_pylist()
    assert 0.8 < row["auroc"] < 0.92
    assert 20 < row["count_labels_needed"] < 100
    assert row["share_decided_expected"] > 0.8
    # the score does not allow as much at 99 %, whatever the labels
    (far,) = measure_labels_needed(labels, make_targets(goal | {"confidence": 0.99}), METRICS).to_pylist()
    assert far["count_labels_needed"] is None
    assert far["share_decidable"] < 0.8
    # targeted labels do not count, and without labels there is no plan
    none = labels.set_column(labels.schema.get_field_index("is_audit"), "is_audit", pa.array([False] * 600))
    (row,) = measure_labels_needed(none, make_targets(goal), METRICS).to_pylist()
    assert (row["count_labels"], row["auroc"], row["count_labels_needed"]) == (0, None, None)


@pytest.mark.parametrize(
    ("target", "message"),
    [
        (TARGET | {"purpose": "hope"}, "groundedness: purpose must be among half_width, .*, got hope"),
        (TARGET | {"target": 0.5}, r"groundedness: target must lie in \(0, 0.5\), got 0.5"),
        (TARGET | {"target": None}, r"target must lie in \(0, 0.5\), got None"),
        (TARGET | {"power": 0.8}, "power belongs to the purpose difference, got 0.8"),
        (DIFFERENCE | {"power": None}, "power belongs to the purpose difference, got None"),
        (DIFFERENCE | {"power": 0.2}, r"power must lie in \[0.5, 1\), got 0.2"),
        (TARGET | {"confidence": 1.0}, r"confidence must lie in \(0, 1\), got 1.0"),
        (TARGET | {"metric_name": "tone"}, "review_targets, tone: the metric must be one of calibration_targets"),
    ],
)
def test_bad_targets_are_refused(target, message):
    with pytest.raises(ValueError, match=message):
        measure_labels_needed(make_labels([0, 1]), make_targets(target), METRICS)
