"""What to label next: pi by hand, the same choice in SQL, a plain audit sample, and sizes against statsmodels."""

import hashlib

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import brentq
from scipy.stats import chisquare
from statsmodels.stats.power import NormalIndPower
from statsmodels.stats.proportion import proportion_confint, proportion_effectsize

from hcat.review.sampling import (
    LABELS_NEEDED_SCHEMA,
    PLAN_STATUSES,
    ambiguity,
    draw_review_sample,
    labels_for_difference,
    labels_for_half_width,
    measure_labels_needed,
    plan_review,
    review_numbers,
)

# inclusion probabilities -----------------------------------------------------------------------------------------


def test_ambiguity_is_the_relative_variance_of_a_label():
    assert_allclose(ambiguity(np.array([0.5, 0.1, 0.9, 0.0, 1.0])), [1.0, 0.36, 0.36, 1e-6, 1e-6])


def test_plan_by_hand():
    # 100 interactions, budget 20: audit = max(.05, .3 x 20 / 100) = .06, so that 14 labels are left for
    # 20 x 1 + 80 x .36 = 48.8 units of ambiguity
    plan = plan_review(np.repeat([0.5, 0.9], [20, 80]), 20)
    assert plan.status == "planned"
    assert_allclose(plan.audit_probability, 0.06)
    assert_allclose(plan.slope, 14 / 48.8)
    assert_allclose(plan.inclusion_probabilities[[0, -1]], [0.06 + 14 / 48.8, 0.06 + 0.36 * 14 / 48.8])


def test_certain_inclusion_by_hand():
    # budget 10 of 12: the 8 ambiguous ones reach 1, the other 4 share the last 2
    plan = plan_review(np.repeat([0.5, 0.99], [8, 4]), 10)
    assert_allclose(plan.inclusion_probabilities, np.repeat([1.0, 0.5], [8, 4]))


def test_a_budget_below_the_floor_considers_a_plain_random_share():
    # 10,000 interactions x .05 = 500 > 200 labels: 200 / .1 = 2,000 are considered, a fifth
    probabilities = np.random.default_rng(1).random(10_000)
    plan = plan_review(probabilities, 200)
    assert plan.status == "subsampled"
    assert_allclose(plan.share_considered, 0.2)
    assert_allclose(plan.inclusion_probabilities.sum(), 200)
    assert_allclose(plan.audit_probability, 0.01)
    # among those considered the floor holds
    assert (plan.inclusion_probabilities / plan.share_considered >= 0.05).all()
    # half of the labels go where they tell more
    assert_allclose(plan.audit_probability * 10_000, 100)


def test_no_interactions_and_all_interactions():
    assert plan_review(np.zeros(0), 10).status == "no_interactions"
    everything = plan_review(np.array([0.1, 0.9]), 2)
    assert everything.status == "all_interactions"
    assert_allclose(everything.inclusion_probabilities, 1.0)
    assert everything.audit_probability == 1.0


@given(
    st.lists(st.one_of(st.floats(0, 1), st.sampled_from([0.0, 0.5, 1.0])), min_size=1, max_size=80),
    st.floats(0.01, 1.2),
    st.floats(0.05, 0.5),
    st.floats(0.3, 1.0),
)
@settings(max_examples=200, deadline=None)
def test_plans_spend_the_budget_within_their_bounds(values, share_budget, epsilon, share_audit):
    probabilities = np.array(values)
    count = len(values)
    budget = share_budget * count
    plan = plan_review(probabilities, budget, epsilon, share_audit)
    pi = plan.inclusion_probabilities
    assert plan.status in PLAN_STATUSES
    assert_allclose(pi.sum(), min(budget, count), rtol=1e-6)
    assert ((pi > 0) & (pi <= 1)).all()
    assert (pi >= plan.audit_probability).all()
    assert (pi >= epsilon * plan.share_considered * (1 - 1e-9)).all()
    assert plan.audit_probability * count >= share_audit * min(budget, count) * (1 - 1e-9)
    assert pi.max() / pi.min() <= 1 / epsilon * (1 + 1e-9)
    assert plan.share_considered == 1.0 or budget < epsilon * count
    # the more ambiguous, the likelier
    order = np.argsort(ambiguity(probabilities), kind="stable")
    assert (np.diff(pi[order]) >= 0).all()


def test_slope_agrees_with_a_root_finder():
    random = np.random.default_rng(2)
    probabilities = random.beta(0.5, 0.7, 500)
    for budget in (30, 100, 300, 450):
        plan = plan_review(probabilities, budget)
        audit = max(0.05, 0.3 * budget / 500)
        slope = brentq(
            lambda c, audit=audit, budget=budget: np.minimum(1, audit + c * ambiguity(probabilities)).sum() - budget,
            0,
            1e7,
            xtol=1e-12,
        )
        assert_allclose(plan.slope, slope, rtol=1e-8)


# the choice ------------------------------------------------------------------------------------------------------

IDENTIFIERS = ["a", "interaction|2", "Grüße 你好", "it's", "x" * 300, ""]


def test_the_number_is_the_documented_hash():
    text = b"review|20260101|3|a"
    assert review_numbers(["a"], 3)[0] == int(hashlib.md5(text).hexdigest()[:8], 16) / 2**32


def test_a_round_may_have_a_name():
    text = b"review|20260101|round_1|a"
    assert review_numbers(["a"], "round_1")[0] == int(hashlib.md5(text).hexdigest()[:8], 16) / 2**32
    assert review_numbers(["a"], "3")[0] == review_numbers(["a"], 3)[0]


def test_sql_makes_the_same_choice():
    identifiers = IDENTIFIERS + [f"interaction_{index}" for index in range(2_000)]
    probabilities = np.random.default_rng(3).random(len(identifiers))
    sample = draw_review_sample(identifiers, probabilities, 400, review_round=7, seed=11)
    with duckdb.connect() as connection:
        connection.execute(
            "create table interactions as "
            "select unnest($1) as interaction_id, unnest($2) as position, unnest($3) as probability",
            [identifiers, list(range(len(identifiers))), probabilities.tolist()],
        )
        # the slope without a search, as the notes of plan_review say
        rows = connection.execute(
            """
            with ambiguities as (
                select *, greatest(4 * probability * (1 - probability), 1e-6) as ambiguity from interactions
            ),
            ranked as (
                select
                    ambiguity,
                    row_number() over (order by ambiguity desc, position) - 1 as count_larger,
                    sum(ambiguity) over (order by ambiguity, position desc) as sum_rest,
                    count(*) over () as count_all,
                    greatest(0.05, 0.30 * 400 / count(*) over ()) as audit_probability
                from ambiguities
            ),
            solved as (
                select
                    any_value(audit_probability) as audit_probability,
                    greatest(0, max(
                        (400 - count_larger - audit_probability * (count_all - count_larger)) / sum_rest
                    )) as slope
                from ranked
            ),
            numbered as (
                select
                    position,
                    least(1, audit_probability + slope * ambiguity) as inclusion_probability,
                    audit_probability,
                    cast('0x' || left(md5('review|' || 11 || '|' || 7 || '|' || interaction_id), 8) as bigint)
                    / 4294967296.0 as number
                from ambiguities cross join solved
            )
            select number, inclusion_probability, number < inclusion_probability, number < audit_probability
            from numbered order by position
            """
        ).fetchnumpy()
    number, inclusion, is_selected, is_audit = rows.values()
    np.testing.assert_array_equal(number, sample.numbers)
    assert_allclose(inclusion, sample.plan.inclusion_probabilities, rtol=1e-9)
    np.testing.assert_array_equal(is_selected, sample.is_selected)
    np.testing.assert_array_equal(is_audit, sample.is_audit)


def test_a_round_is_the_same_in_any_order_and_another_in_another_round_or_seed():
    identifiers = [f"i{index}" for index in range(500)]
    probabilities = np.random.default_rng(4).random(500)
    sample = draw_review_sample(identifiers, probabilities, 100, review_round=1)
    turned = draw_review_sample(identifiers[::-1], probabilities[::-1], 100, review_round=1)
    np.testing.assert_array_equal(turned.is_selected[::-1], sample.is_selected)
    for changes in ({"review_round": 2}, {"review_round": 1, "seed": 5}):
        other = draw_review_sample(identifiers, probabilities, 100, **changes)
        # independent draws of a fifth agree in about 68 % of the rows, equal ones in all
        assert (other.is_selected == sample.is_selected).mean() < 0.8


def test_numbers_are_uniform_and_rounds_independent():
    identifiers = [f"{index:x}" for index in range(20_000)]
    first, second = review_numbers(identifiers, 0), review_numbers(identifiers, 1)
    assert ((first >= 0) & (first < 1)).all()
    assert chisquare(np.histogram(first, 50, (0, 1))[0]).pvalue > 1e-3
    assert abs(np.corrcoef(first, second)[0, 1]) < 4 / np.sqrt(20_000)


def test_counts_and_shares_over_rounds():
    identifiers = [f"i{index}" for index in range(1_000)]
    probabilities = np.random.default_rng(5).beta(0.6, 0.9, 1_000)
    samples = [draw_review_sample(identifiers, probabilities, 200, review_round) for review_round in range(150)]
    pi = samples[0].plan.inclusion_probabilities
    counts = np.array([sample.is_selected.sum() for sample in samples])
    assert abs(counts.mean() - 200) < 4 * np.sqrt((pi * (1 - pi)).sum() / 150)
    # every interaction is drawn as often as its pi says
    often = np.mean([sample.is_selected for sample in samples], axis=0)
    z = (often - pi) / np.sqrt(np.maximum(pi * (1 - pi), 1e-9) / 150)
    assert abs(z[pi < 1].std() - 1) < 0.1
    # the audit sample: part of the round, 30 % of it or more, and blind to ambiguity
    assert all((sample.is_selected | ~sample.is_audit).all() for sample in samples)
    audits = np.array([sample.is_audit.sum() for sample in samples])
    assert audits.sum() / counts.sum() >= 0.29
    mean_audit = np.mean([probabilities[sample.is_audit].mean() for sample in samples])
    assert abs(mean_audit - probabilities.mean()) < 4 * probabilities.std() / np.sqrt(audits.sum())
    mean_selected = np.mean([ambiguity(probabilities)[sample.is_selected].mean() for sample in samples])
    assert mean_selected > ambiguity(probabilities).mean() + 0.1


# how many labels -------------------------------------------------------------------------------------------------


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


def test_labels_for_half_width_by_hand():
    # at p = .5 half the width is .5 z / sqrt(n + z^2): n = z^2 (1 / (4 h^2) - 1) = 3.8415 x 99 = 380.3
    assert labels_for_half_width(0.5, 0.05) == 381
    assert labels_for_half_width(0.5, 0.05, design_effect=2.0) == 761
    # of 500 interactions: 380.3 / (1 + 379.3 / 500) = 216.3
    assert labels_for_half_width(0.5, 0.05, count_interactions=500) == 217
    assert labels_for_half_width(0.5, 0.001, count_interactions=40) == 40
    assert labels_for_half_width(0.5, 0.49, count_interactions=1) == 1


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


def test_labels_for_a_difference_give_the_power():
    count = labels_for_difference(0.1, 0.2)
    random = np.random.default_rng(6)
    first, second = random.binomial(count, [[0.1], [0.2]], (2, 20_000)) / count
    z = (2 * np.arcsin(np.sqrt(second)) - 2 * np.arcsin(np.sqrt(first))) / np.sqrt(2 / count)
    assert_allclose((np.abs(z) > 1.959964).mean(), 0.80, atol=0.02)


# the seed of targets ---------------------------------------------------------------------------------------------

TARGET = {"metric_name": "groundedness", "purpose": "half_width", "target": 0.05, "confidence": 0.95, "power": None}
DIFFERENCE = TARGET | {"purpose": "difference", "target": 0.1, "power": 0.8}


def make_labels(labels: list[int], weights: list[float] | None = None, siblings: int = 1) -> pa.Table:
    rows = [
        {
            "metric_name": metric_name,
            "cluster_id": f"s{index // siblings}",
            "label": label,
            "inclusion_probability": 1.0 if weights is None else weights[index],
        }
        for metric_name in ("groundedness", "support_words")
        for index, label in enumerate(labels)
    ]
    return pa.Table.from_pylist(rows, schema=make_schema())


def make_schema() -> pa.Schema:
    return pa.schema(
        [
            ("metric_name", pa.string()),
            ("cluster_id", pa.string()),
            ("label", pa.int32()),
            ("inclusion_probability", pa.float64()),
        ]
    )


def make_targets(*targets: dict[str, object]) -> pa.Table:
    return pa.Table.from_pylist([target | {"rationale": "a reason"} for target in targets])


def test_without_labels_the_plan_takes_the_rate_that_needs_most():
    found = measure_labels_needed(make_schema().empty_table(), make_targets(TARGET, DIFFERENCE))
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


def test_the_plan_takes_the_rate_of_the_interval_nearest_to_a_half():
    few, many = (make_labels([0] * count + [1] * (9 * count)) for count in (5, 100))
    (from_few,), (from_many,) = (measure_labels_needed(each, make_targets(TARGET)).to_pylist() for each in (few, many))
    assert from_few["failure_rate"] == from_many["failure_rate"] == 0.1
    assert from_few["planning_rate"] == from_few["failure_rate_high"] > from_many["planning_rate"] > 0.1
    assert from_few["count_labels_needed"] > from_many["count_labels_needed"]
    assert from_many["count_labels_needed"] == labels_for_half_width(from_many["planning_rate"], 0.05)
    assert (from_many["count_labels"], from_many["count_clusters"]) == (1000, 1000)
    # mostly failures: the lower limit
    (failing,) = measure_labels_needed(make_labels([0] * 90 + [1] * 10), make_targets(TARGET)).to_pylist()
    assert failing["planning_rate"] == failing["failure_rate_low"] < 0.9


def test_siblings_and_unequal_weights_ask_for_more():
    # the variance is the mean of the jackknife's, which divides by clusters - 1, and of the one without estimation
    labels = [0, 0, 1, 1] * 50
    (plain,) = measure_labels_needed(make_labels(labels), make_targets(TARGET)).to_pylist()
    assert_allclose(plain["design_effect"], (200 / 199 + 1) / 2)
    # pairs of siblings that agree are one label each
    (pairs,) = measure_labels_needed(make_labels(labels, siblings=2), make_targets(TARGET)).to_pylist()
    assert_allclose(pairs["design_effect"], (200 / 99 + 2) / 2)
    planned = labels_for_half_width(0.5, 0.05, design_effect=pairs["design_effect"])
    assert pairs["count_labels_needed"] == planned
    assert planned / plain["count_labels_needed"] == pytest.approx(2, rel=0.01)
    # weights 1 and 4: n sum w^2 / (sum w)^2 = 2 x (1 + 16) / 5^2 = 1.36 without estimation
    weighted = make_labels([0, 1, 1, 0] * 50, [1.0, 0.25] * 100)
    (unequal,) = measure_labels_needed(weighted, make_targets(TARGET)).to_pylist()
    weights = np.array([1.0, 4.0] * 100)
    jackknife = 199 / 200 * np.sum((weights * 0.5 / (500 - weights)) ** 2) / (0.25 / 200)
    assert_allclose(unequal["design_effect"], (jackknife + 1.36) / 2)


def test_all_labels_alike_or_of_one_cluster():
    (alike,) = measure_labels_needed(make_labels([1] * 50), make_targets(TARGET)).to_pylist()
    assert alike["failure_rate"] == 0.0
    assert 0 < alike["planning_rate"] < 0.1
    (single,) = measure_labels_needed(make_labels([1] * 50, siblings=50), make_targets(DIFFERENCE)).to_pylist()
    assert (single["failure_rate"], single["planning_rate"], single["count_labels"]) == (None, 0.5, 50)


def test_labels_until_sets_decide_follow_the_audit_labels():
    random = np.random.default_rng(4)
    accepted = random.random(300) < 0.7
    scores = accepted * 1.53 + random.normal(size=300)  # AUROC .86
    common = {"metric_name": "groundedness", "inclusion_probability": 1.0, "is_audit": True}
    labels = pa.Table.from_pylist(
        [
            common | {"cluster_id": f"c{number}", "label": int(label), "raw_score": score}
            for number, (label, score) in enumerate(zip(accepted, scores.tolist(), strict=True))
        ]
    )
    metrics = pa.Table.from_pylist([{"metric_name": "groundedness", "direction": "higher_is_better"}])
    goal = TARGET | {"purpose": "decided_share", "target": 0.8, "confidence": 0.8}
    (row,) = measure_labels_needed(labels, make_targets(goal), metrics).to_pylist()
    assert 0.8 < row["auroc"] < 0.92
    assert 20 < row["count_labels_needed"] < 100
    assert row["share_decided_expected"] > 0.8
    # the score does not allow as much at 99 %, whatever the labels
    (far,) = measure_labels_needed(labels, make_targets(goal | {"confidence": 0.99}), metrics).to_pylist()
    assert far["count_labels_needed"] is None
    assert far["share_decidable"] < 0.8
    # targeted labels do not count, and without labels there is no plan
    none = labels.set_column(labels.schema.get_field_index("is_audit"), "is_audit", pa.array([False] * 300))
    (row,) = measure_labels_needed(none, make_targets(goal), metrics).to_pylist()
    assert (row["count_labels"], row["auroc"], row["count_labels_needed"]) == (0, None, None)
    with pytest.raises(ValueError, match="decided_share needs the direction of the metric, got none"):
        measure_labels_needed(labels, make_targets(goal))


@pytest.mark.parametrize(
    ("target", "message"),
    [
        (
            TARGET | {"purpose": "hope"},
            "groundedness: purpose must be among half_width, difference, decided_share, got hope",
        ),
        (TARGET | {"target": 0.5}, r"groundedness: target must lie in \(0, 0.5\), got 0.5"),
        (TARGET | {"target": None}, r"target must lie in \(0, 0.5\), got None"),
        (TARGET | {"power": 0.8}, "power belongs to the purpose difference, got 0.8"),
        (DIFFERENCE | {"power": None}, "power belongs to the purpose difference, got None"),
        (DIFFERENCE | {"power": 0.2}, r"power must lie in \[0.5, 1\), got 0.2"),
        (TARGET | {"confidence": 1.0}, r"confidence must lie in \(0, 1\), got 1.0"),
    ],
)
def test_bad_targets_are_refused(target, message):
    with pytest.raises(ValueError, match=message):
        measure_labels_needed(make_labels([0, 1]), make_targets(target))


def test_real_queries_of_the_release_come_on_top():
    identifiers = [f"i{number}" for number in range(4000)]
    is_of_release = np.arange(4000) % 4 == 0
    plain = draw_review_sample(identifiers, np.full(4000, 0.5), 400, "spring")
    sample = draw_review_sample(
        identifiers, np.full(4000, 0.5), 400, "spring", is_of_release=is_of_release, release_sample=100
    )
    # 100 of 1,000: r = .1, and pi = .1 from the round: 1 - .9 x .9 = .19
    assert_allclose(sample.inclusion_probabilities, np.where(is_of_release, 0.19, 0.1))
    assert (sample.is_audit == plain.is_audit).all()
    assert (sample.is_selected == plain.is_selected | sample.is_release).all()
    assert not (sample.is_release & (plain.is_selected | ~is_of_release)).any()
    # 90 are expected that the round did not draw, with a standard deviation of 9
    assert 60 < sample.is_release.sum() < 120


def test_fewer_real_queries_than_asked_for_are_all_drawn():
    is_of_release = np.array([True, False, True])
    sample = draw_review_sample(
        ["a", "b", "c"], np.full(3, 0.5), 1, "spring", is_of_release=is_of_release, release_sample=30
    )
    assert sample.is_selected[is_of_release].all()
    assert_allclose(sample.inclusion_probabilities, [1, 1 / 3, 1])


# bad input -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ambiguity(np.array([0.2, np.nan])), r"probabilities must lie in \[0, 1\], got nan"),
        (lambda: plan_review(np.array([0.2, 1.5]), 1), r"probabilities must lie in \[0, 1\], got 1.5"),
        (lambda: plan_review(np.array([0.2]), 0), "budget must be above 0 and finite, got 0"),
        (lambda: plan_review(np.array([0.2]), float("nan")), "budget must be above 0 and finite, got nan"),
        (lambda: plan_review(np.array([0.2]), 1, epsilon=0.01), r"epsilon must lie in \[0.05, 0.5\], got 0.01"),
        (lambda: plan_review(np.array([0.2]), 1, epsilon=0.6), r"epsilon must lie in \[0.05, 0.5\], got 0.6"),
        (lambda: plan_review(np.array([0.2]), 1, share_audit=0.1), r"share_audit must lie in \[0.3, 1\], got 0.1"),
        (lambda: review_numbers(["a"], -1), "review_round must be at least 0, got -1"),
        (lambda: review_numbers(["a"], ""), "review_round must have a name, got an empty text"),
        (lambda: draw_review_sample(["a"], np.array([0.2, 0.3]), 1, 0), "one length, got 1, 2"),
        (
            lambda: draw_review_sample(["a"], np.array([0.2]), 1, 0, release_sample=-1.0),
            "release_sample must be at least 0 and finite, got -1.0",
        ),
        (lambda: draw_review_sample(["a", "a"], np.array([0.2, 0.3]), 1, 0), "each interaction must come once, got 2"),
        (lambda: labels_for_half_width(1.1, 0.1), r"rate must lie in \[0, 1\], got 1.1"),
        (lambda: labels_for_half_width(0.1, 0.5), r"half_width must lie in \(0, 0.5\), got 0.5"),
        (lambda: labels_for_half_width(0.1, 0.1, 1.0), r"confidence must lie in \(0, 1\), got 1.0"),
        (lambda: labels_for_half_width(0.1, 0.1, design_effect=0.5), "design_effect must be at least 1 and finite"),
        (lambda: labels_for_half_width(0.1, 0.1, count_interactions=0), "count_interactions must be at least 1, got 0"),
        (lambda: labels_for_difference(0.1, 0.1), "rates must differ and lie in .*, got 0.1 and 0.1"),
        (lambda: labels_for_difference(0.1, 0.2, power=0.3), r"power must lie in \[0.5, 1\), got 0.3"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
