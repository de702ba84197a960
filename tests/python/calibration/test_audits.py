"""Monthly tests of audit labels: they find broken promises and are silent on kept ones."""

import numpy as np
import pyarrow as pa
from numpy.testing import assert_allclose
from test_calibration_tables import cross_fit, fit, make_labels, targets

from hcat.calibration.audits import AUDIT_SCHEMA, check_audits, overconfidence


def run(labels: pa.Table) -> list[dict]:
    found = check_audits(labels, targets(), cross_fit(labels, fit(labels)), alpha=0.1)
    assert found.schema == AUDIT_SCHEMA
    return found.to_pylist()


def two_months(labels: pa.Table, late: np.ndarray, values: np.ndarray | None = None) -> pa.Table:
    if values is not None:
        labels = labels.set_column(labels.schema.get_field_index("label"), "label", pa.array(values))
        labels = labels.set_column(labels.schema.get_field_index("scale_point"), "scale_point", pa.array(values))
    months = pa.array(np.where(late, "2026-06", "2026-05"))
    return labels.set_column(labels.schema.get_field_index("rated_month"), "rated_month", months)


def test_answers_that_got_worse_fail_in_their_month_alone() -> None:
    labels = make_labels(1500)
    is_late = np.arange(len(labels)) >= 1100
    rows = run(two_months(labels, is_late, np.where(is_late, 0, labels["label"].to_numpy())))
    verdicts = {(row["rated_month"], row["test"], row["label"], row["stratum"]): row["status"] for row in rows}
    assert verdicts["2026-06", "overconfidence", None, None] == "failed"
    assert {verdicts["2026-06", "coverage", 0, stratum] for stratum in "ab"} == {"failed"}
    assert {status for (month, *_), status in verdicts.items() if month == "2026-05"} <= {"passed", "too_few_clusters"}


def test_overconfidence_by_hand() -> None:
    """Excess .5 and .1 from two clusters of one row: mean .3, error sqrt(2 x (.2^2 + .2^2)) / 2 = .2, t = 1.5 on one
    degree of freedom: P = 1/2 - atan(1.5) / pi."""
    found = overconfidence(np.array([0.5, 0.1]), np.array(["a", "b"]))
    assert_allclose(found, 0.5 - np.arctan(1.5) / np.pi)


def test_overconfidence_counts_clusters_and_not_rows() -> None:
    excess = np.array([0.5, 0.3, 0.1, 0.4])
    assert_allclose(overconfidence(excess, np.arange(4)), overconfidence(np.tile(excess, 3), np.tile(np.arange(4), 3)))


def test_a_month_is_compared_with_what_its_raters_find_elsewhere() -> None:
    """Rater 2 is strict in both months, and rater 3 in the only one that he rates: no answer got worse."""
    labels = make_labels(1500)
    number, random = np.arange(len(labels)), np.random.default_rng(1)
    is_late = number >= 900
    raters = np.where(is_late, 2, 1 + random.integers(0, 2, len(labels)))
    strict = np.where((raters > 1) & (random.random(len(labels)) < 0.4), 0, labels["label"].to_numpy())

    def rated(codes: np.ndarray) -> pa.Table:
        return labels.set_column(labels.schema.get_field_index("rater_code"), "rater_code", pa.array(codes))

    def statuses(found: list[dict]) -> set[str]:
        return {row["status"] for row in found if row["rated_month"] == "2026-06"}

    assert "failed" in statuses(run(two_months(labels, is_late, strict)))
    labels = rated(raters)
    assert statuses(run(two_months(labels, is_late, strict))) == {"passed"}
    assert "failed" in statuses(run(two_months(labels, is_late, np.where(is_late, 0, strict))))
    labels = rated(np.where(is_late, 3, 1))
    assert statuses(run(two_months(labels, is_late, strict))) == {"other_raters"}


def test_few_clusters_and_missing_calibrators_say_so() -> None:
    labels = make_labels()
    rows = run(two_months(labels, np.arange(len(labels)) >= 890))
    assert {row["status"] for row in rows if row["rated_month"] == "2026-06" and row["label"] is None} == {
        "too_few_clusters"
    }
    # a single month has no other months to be held against
    assert {row["status"] for row in run(labels) if row["test"] == "coverage"} == {"too_few_clusters"}
    assert {row["status"] for row in run(make_labels(20))} == {"not_calibrated"}
    (row,) = run(labels.slice(0, 0))
    assert (row["status"], row["rated_month"], row["p_value"]) == ("no_labels", None, None)
