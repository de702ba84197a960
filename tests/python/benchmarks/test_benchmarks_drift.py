"""The benchmarks of drift: their draws are what they say, and their verdicts are those of the product."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal

# benchmarks is no installed package: it is run from the root of the repository
from benchmarks import drift
from benchmarks.__main__ import BENCHMARKS
from benchmarks.promises import drift as promises
from benchmarks.promises.__main__ import PARTS
from hcat.monitoring.drift.periods import EPOCH
from hcat.monitoring.drift.settings import DriftSettings
from hcat.monitoring.drift.tables import measure_drift

HARD = promises.Design("hard", 60, 3, 0.1, count_clusters=15, correlation=0.5, holidays=(3, -2), has_quarters=True)


def test_they_are_registered() -> None:
    assert BENCHMARKS["drift"] is drift.run
    assert "drift" in PARTS


def test_a_large_log_finds_the_shift_and_a_small_one_does_not() -> None:
    few, many = drift.share_found(50, 8, 0.0, 400), drift.share_found(1_000, 26, 0.0, 400)
    assert few == sorted(few)
    assert few[-1] < 0.2
    assert many[0] > 0.95
    # weeks that differ take it away
    assert drift.share_found(1_000, 26, 0.15, 400)[-1] < 0.5 * many[-1]


def test_week_effects_do_not_fool_the_chart() -> None:
    assert drift.share_of_quiet_rows(0.15, 300, 60) < 0.2


def test_logs_are_drawn_as_their_design_says() -> None:
    logs = promises.draw_logs(np.random.default_rng(1), HARD)
    volumes = np.bincount(logs.weeks)
    assert_array_equal(volumes[[3, -2]], [12, 12])
    assert set(np.delete(volumes, [3, len(volumes) - 2])) == {60}
    # clusters lie within a week, and the largest of a week holds about a tenth of it
    assert all(len(set(logs.weeks[logs.clusters == cluster])) == 1 for cluster in range(50))
    wide = replace(HARD, weekly=4_000, count_clusters=0, has_quarters=False, week_spread=0.3)
    drawn = promises.draw_logs(np.random.default_rng(2), wide)
    assert_allclose(np.bincount(drawn.topics) / len(drawn.topics), promises.TOPIC_SHARES, atol=0.01)
    of_topic = drawn.topics == 0
    means = [drawn.scores[0, of_topic & (drawn.weeks == week)].mean() for week in range(29)]
    assert 0.2 < np.std(means) < 0.42
    residuals = drawn.scores[:, of_topic] - drawn.scores[:, of_topic].mean(axis=1)[:, None]
    assert abs(np.corrcoef(residuals)[0, 1] - 0.5) < 0.1


def test_a_ramp_grows_over_its_weeks() -> None:
    design = promises.Design("ramp", 4_000, 1, shift=0.8, weeks_to_shift=8, weeks_to_find=8)
    shifted = promises.draw_logs(np.random.default_rng(3), design)
    quiet = promises.draw_logs(np.random.default_rng(3), replace(design, shift=0.0))
    gained = (shifted.scores - quiet.scores)[0]
    assert_allclose([gained[shifted.weeks == week].mean() for week in (25, 26, 33)], [0.0, 0.1, 0.8], atol=1e-9)


@pytest.mark.parametrize("shift", [0.0, 1.5])
def test_a_look_has_the_verdict_of_the_tables(shift: float) -> None:
    design = replace(HARD, shift=shift)
    logs = promises.draw_logs(np.random.default_rng(4), design)
    last = design.reference + design.weeks_to_find - 1
    is_drifting, is_mix_drifting = promises.look(logs, design.reference, last)
    ids = [f"i{number:05d}" for number in range(len(logs.weeks))]
    mondays = pa.array(4 + 7 * logs.weeks, pa.int32()).cast(pa.date32())
    assert mondays[0].as_py().toordinal() == EPOCH.toordinal() + 4
    interactions = pa.table(
        {
            "interaction_id": ids,
            "cluster_id": [str(cluster) for cluster in logs.clusters],
            "week_start": mondays,
            "week_status": ["complete"] * len(ids),
        }
    )
    segments = [
        pa.record_batch({"interaction_id": ids, "dimension": ["all"] * len(ids), "segment": ["all"] * len(ids)}),
        pa.record_batch(
            {
                "interaction_id": ids,
                "dimension": ["topic"] * len(ids),
                "segment": [f"t{topic}" for topic in logs.topics],
            }
        ),
    ]
    evaluations = [
        pa.record_batch({"metric_name": [f"m{number}"] * len(ids), "interaction_id": ids, "raw_score": scores})
        for number, scores in enumerate(logs.scores)
    ]
    rows = measure_drift(interactions, segments, evaluations, DriftSettings()).to_pylist()
    # a topic that is too small for a status of its own is still a series of the simulation
    tested = [row for row in rows if row["test"] == "mean_shift"]
    assert {row["status"] for row in tested} <= {"tested", "too_few_window"}
    drifting = {row["metric_name"] for row in tested if row["is_drifting"]}
    assert drifting == {f"m{number}" for number in np.flatnonzero(is_drifting)}
    assert drifting == ({"m0"} if shift else set())
    assert is_mix_drifting == any(row["is_drifting"] for row in rows if row["test"] == "mix_shift")
