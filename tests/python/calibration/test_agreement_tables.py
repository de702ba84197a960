"""Rows of ratings against the arrays that the statistics read."""

import numpy as np
import pyarrow as pa
import pytest

from hcat.calibration.agreement import krippendorff_alpha, percent_agreement
from hcat.calibration.agreement_tables import (
    AGREEMENT_SCHEMA,
    MODELLED_SCHEMA,
    RATER_SCHEMA,
    adjudicate_by_model,
    measure_agreement,
    report_raters,
)

DRAWS = 50
TARGETS = pa.table({"criterion": ["faithfulness"], "accept_from": [2]})


def make_ratings(count: int = 30, kind: str = "person") -> pa.Table:
    """Three raters; anna is always right, ben errs on every fifth, cleo says the opposite; anna looks twice at ten."""
    rows = []
    for unit in range(count):
        truth = 2 * (unit % 2)
        looks = {"anna": truth, "ben": truth if unit % 5 else 2 - truth, "cleo": 2 - truth}
        for rater, value in looks.items():
            rows.append((f"i{unit:02}", f"s{unit // 2}", f"d{unit % 12}", "faithfulness", rater, kind, 1, value))
        if unit < 10:
            second = truth if unit else 1
            rows.append((f"i{unit:02}", f"s{unit // 2}", f"d{unit % 12}", "faithfulness", "anna", kind, 2, second))
    keys = ("interaction_id", "cluster_id", "second_cluster_id")
    names = (*keys, "criterion", "rater", "rater_kind", "rating_pass", "scale_point")
    return pa.Table.from_pylist([dict(zip(names, row, strict=True)) for row in rows])


def test_figures_are_those_of_the_arrays_and_passes_stay_apart() -> None:
    ratings = make_ratings()
    found = measure_agreement(ratings, 1, DRAWS)
    assert found.schema == AGREEMENT_SCHEMA
    by_name = {(row["statistic"], row["rater"]): row for row in found.to_pylist()}
    truth = np.array([2.0 * (unit % 2) for unit in range(30)])
    ben = np.where(np.arange(30) % 5, truth, 2 - truth)
    arrays = np.column_stack([truth, ben, 2 - truth])
    # clusters are numbered by their names, so that draws do not depend on the order of rows
    clusters = np.array([[f"s{unit // 2}", f"d{unit % 12}"] for unit in range(30)])
    expected = krippendorff_alpha(arrays, clusters, DRAWS, seed=1)
    row = by_name["krippendorff_alpha_ordinal", None]
    assert (row["value"], row["low"], row["count_clusters"]) == (expected.value, expected.low, 15)
    again = truth[:10].copy()
    again[0] = 1
    own = percent_agreement(np.column_stack([truth[:10], again]), clusters[:10], DRAWS, seed=1)
    assert by_name["intra_rater_percent_agreement", "anna"]["value"] == own.value == pytest.approx(0.9)
    # nobody else looked twice
    assert {rater for _, rater in by_name} == {None, "anna"}
    assert by_name["cohen_kappa", None]["status"] == "more_than_two_raters"
    assert by_name["cohen_kappa", None]["value"] is None


def test_a_rater_in_conflict_with_all_others_is_listed() -> None:
    ratings = make_ratings(60)
    extra = [
        row | {"rater": rater}
        for row in ratings.to_pylist()
        if row["rater"] == "ben"
        for rater in ("dora", "emil", "finn")
    ]
    reports = report_raters(pa.concat_tables([ratings, pa.Table.from_pylist(extra)]), TARGETS)
    assert reports.schema == RATER_SCHEMA
    flagged = {row["rater"] for row in reports.to_pylist() if row["disagrees_with_everyone"]}
    assert flagged == {"cleo"}


def test_a_model_labels_only_the_criteria_that_ask_for_it() -> None:
    # of three raters one is always right and one always wrong: the model learns whom to believe
    criteria, people = ("faithfulness", "relevance"), make_ratings(60).to_pylist()
    rows = [row | {"criterion": criterion, "gives_label": True} for criterion in criteria for row in people]
    rules = pa.table({"criterion": ["faithfulness", "relevance"], "rule": ["dawid_skene", "majority"]})
    found = adjudicate_by_model(pa.Table.from_pylist(rows), rules)
    assert found.schema == MODELLED_SCHEMA
    assert set(found["criterion"].to_pylist()) == {"faithfulness"}
    assert set(found["label_status"].to_pylist()) == {"labelled"}
    assert found["scale_point"].to_pylist() == [2 * (number % 2) for number in range(60)]
    two = pa.Table.from_pylist([row for row in rows if row["rater"] != "cleo"])
    assert set(adjudicate_by_model(two, rules)["label_status"].to_pylist()) == {"insufficient"}
    assert adjudicate_by_model(two, rules)["scale_point"].null_count == 60


def test_an_unknown_rule_is_named() -> None:
    rules = pa.table({"criterion": ["faithfulness"], "rule": ["vote"]})
    with pytest.raises(ValueError, match="majority, mean, dawid_skene, got vote"):
        adjudicate_by_model(make_ratings(), rules)


def test_kinds_of_raters_are_compared_and_never_joined() -> None:
    people = make_ratings()
    rules = [
        row | {"rater": "planted", "rater_kind": "rule"}
        for row in people.to_pylist()
        if row["rater"] == "ben" and row["rating_pass"] == 1 and row["interaction_id"] < "i20"
    ]
    both = pa.concat_tables([people, pa.Table.from_pylist(rules, people.schema)])
    found = measure_agreement(both, 1, DRAWS).to_pylist()
    alone = measure_agreement(people, 1, DRAWS).to_pylist()
    assert [row for row in found if row["rater_kind"] == "person" and row["other_rater_kind"] is None] == alone
    # a single rater agrees with nobody of its kind
    assert {row["status"] for row in found if row["rater_kind"] == "rule"} == {"no_pairable_values"}
    (between,) = (row for row in found if row["other_rater_kind"] == "rule" and row["statistic"] == "percent_agreement")
    # the majority of the three people is ben's point: anna and cleo contradict each other
    assert (between["rater_kind"], between["value"], between["count_units"]) == ("person", 1.0, 20)
    assert {row["rater_kind"] for row in report_raters(both, TARGETS).to_pylist()} == {"person", "rule"}
