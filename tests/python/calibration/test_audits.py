"""Monthly tests of audit labels: they find broken promises and are silent on kept ones."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from numpy.testing import assert_allclose
from test_calibration_tables import fit, make_labels, targets

from hcat.calibration.audits import AUDIT_SCHEMA, STATUSES, check_audits, overconfidence

ALPHA, LEVEL, MINIMUM = 0.1, 0.01, 10


def with_months(labels: pa.Table, month: str = "2026-05") -> pa.Table:
    return labels.append_column("rated_month", pa.array([month] * labels.num_rows))


def run(labels: pa.Table, calibrators: pa.Table, **changes: float) -> list[dict]:
    settings = {"alpha": ALPHA, "level": LEVEL, "minimum_clusters": MINIMUM} | changes
    found = check_audits(labels, targets(), calibrators, **settings)
    assert found.schema == AUDIT_SCHEMA
    assert set(found["status"].to_pylist()) <= set(STATUSES)
    return found.to_pylist()


def test_kept_promises_pass() -> None:
    labels = with_months(make_labels())
    rows = run(labels, fit(labels))
    assert {row["status"] for row in rows} == {"passed"}
    assert {(row["test"], row["label"]) for row in rows} == {
        ("coverage", 0),
        ("coverage", 1),
        ("overconfidence", None),
    }
    for row in rows:
        assert 0 <= row["p_value"] <= row["p_value_adjusted"] <= 1


def test_answers_that_got_worse_fail_in_their_month_alone() -> None:
    labels = make_labels()
    calibrators = fit(labels)
    is_test = np.array(labels["fold"]) == "test"
    is_late = is_test & (np.arange(len(labels)) >= 450)
    months = np.where(is_late, "2026-06", "2026-05")
    values = np.where(is_late, 0, labels["label"].to_numpy())
    changed = labels.set_column(labels.schema.get_field_index("label"), "label", pa.array(values))
    rows = run(changed.append_column("rated_month", pa.array(months)), calibrators)
    verdicts = {(row["rated_month"], row["test"], row["label"], row["stratum"]): row["status"] for row in rows}
    assert verdicts["2026-06", "overconfidence", None, None] == "failed"
    assert {verdicts["2026-06", "coverage", 0, stratum] for stratum in "ab"} == {"failed"}
    assert {status for (month, *_), status in verdicts.items() if month == "2026-05"} == {"passed"}


def test_probabilities_that_are_too_low_are_no_failure() -> None:
    labels = make_labels()
    calibrators = fit(labels)
    values = np.where(np.array(labels["fold"]) == "test", 1, labels["label"].to_numpy())
    raised = labels.set_column(labels.schema.get_field_index("label"), "label", pa.array(values))
    rows = run(with_months(raised), calibrators)
    (row,) = [row for row in rows if row["test"] == "overconfidence"]
    assert row["status"] == "passed"
    assert row["p_value"] > 0.999


def test_overconfidence_by_hand() -> None:
    """Excess .5 and .1 from two clusters of one row: mean .3, error sqrt(2 x (.2^2 + .2^2)) / 2 = .2, t = 1.5 on one
    degree of freedom: P = 1/2 - atan(1.5) / pi."""
    found = overconfidence(np.array([0.5, 0.1]), np.array([0.0, 0.0]), np.array(["a", "b"]))
    assert_allclose(found, 0.5 - np.arctan(1.5) / np.pi)


def test_overconfidence_counts_clusters_and_not_rows() -> None:
    excess, labels = np.array([0.5, 0.3, 0.1, 0.4]), np.zeros(4)
    once = overconfidence(excess, labels, np.arange(4))
    repeated = overconfidence(np.tile(excess, 3), np.tile(labels, 3), np.tile(np.arange(4), 3))
    assert_allclose(once, repeated)


def test_nothing_varies() -> None:
    clusters = np.array(["a", "b"])
    assert overconfidence(np.array([1.0, 1.0]), np.array([1.0, 1.0]), clusters) == 1
    assert overconfidence(np.array([1.0, 1.0]), np.array([0.0, 0.0]), clusters) == 0


def test_few_clusters_and_missing_calibrators_say_so() -> None:
    labels = with_months(make_labels())
    rows = run(labels, fit(labels), minimum_clusters=10_000)
    assert {row["status"] for row in rows if row["test"] == "overconfidence"} == {"too_few_clusters"}
    few = with_months(make_labels(20))
    assert {row["status"] for row in run(few, fit(few))} == {"not_calibrated"}
    nothing = labels.filter(pc.not_equal(labels["fold"], "test"))
    (row,) = run(nothing, fit(labels))
    assert (row["status"], row["rated_month"], row["p_value"]) == ("no_labels", None, None)


def test_bad_settings() -> None:
    labels = with_months(make_labels())
    with pytest.raises(ValueError, match="level must lie in"):
        run(labels, fit(labels), level=1.0)
    with pytest.raises(ValueError, match="minimum_clusters must be at least 2"):
        run(labels, fit(labels), minimum_clusters=1)
