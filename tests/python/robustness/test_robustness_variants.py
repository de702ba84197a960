"""Variants beside their parents: intervals count clusters."""

import json
import random
from typing import Any

import pyarrow as pa
from numpy.testing import assert_allclose
from scipy.stats import t

from hcat.robustness.variants import VARIANT_SCHEMA, measure_variants


def pair(cluster: str, change: float | None, outcome: str, metric: str = "m") -> dict[str, Any]:
    return {
        "system": "bot",
        "variant_type": "paraphrase",
        "variant_meaning": "kept",
        "metric_name": metric,
        "cluster_id": cluster,
        "score_change": change,
        "outcome": outcome,
    }


def test_mean_change_has_the_t_interval_of_independent_pairs() -> None:
    pairs = pa.Table.from_pylist([pair(f"s{number}", float(number % 2), "both_right") for number in range(10)])
    (row,) = measure_variants(pairs, 0.95).to_pylist()
    assert_allclose(row["mean_change"], 0.5)
    # ten values of 0 and 1: s^2 = 10/9 * .25
    margin = t.ppf(0.975, 9) * (10 / 9 * 0.25 / 10) ** 0.5
    assert_allclose([row["mean_change_lower"], row["mean_change_upper"]], [0.5 - margin, 0.5 + margin])
    assert (row["share_flipped"], row["flip_status"]) == (0.0, "estimated")
    assert 0.2 < row["share_flipped_upper"] < 0.4


def test_pairs_of_one_cluster_count_once() -> None:
    one_each = [pair(f"s{number}", float(number % 2), "broken" if number % 2 else "both_right") for number in range(10)]
    tripled = measure_variants(pa.Table.from_pylist(one_each * 3), 0.95).to_pylist()[0]
    single = measure_variants(pa.Table.from_pylist(one_each), 0.95).to_pylist()[0]
    for bound in ("mean_change_lower", "mean_change_upper", "share_broken_lower", "share_broken_upper"):
        assert_allclose(tripled[bound], single[bound], rtol=1e-9)


def test_few_clusters_and_no_pairs_have_a_status_and_order_does_not_matter() -> None:
    rows = [pair("a", 1.0, "mended"), pair("b", -1.0, "broken"), pair("c", None, "undecided", "without scores")]
    found = measure_variants(pa.Table.from_pylist(rows), 0.95)
    assert found.schema == VARIANT_SCHEMA
    few, none = found.to_pylist()
    assert (few["change_status"], few["flip_status"], few["share_flipped"]) == ("too_few_clusters",) * 2 + (1.0,)
    assert few["mean_change_lower"] is None
    assert (none["change_status"], none["flip_status"], none["mean_change"]) == ("no_pairs", "no_pairs", None)
    random.Random(1).shuffle(rows)
    again = measure_variants(pa.Table.from_pylist(rows), 0.95)
    assert json.dumps(again.to_pylist()) == json.dumps(found.to_pylist())
