"""Agreement of three raters per summary sentence (QAGS), against figures of other implementations.

Fleiss' kappa needs the same number of ratings everywhere, so that sentences without all three are left out of it;
Krippendorff's alpha takes them all. Raters are anonymous workers: a sentence's ratings are a set, not columns.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow.parquet as parquet

from benchmarks.harness import Outcome, Table, argument_parser, data_folder, finish, verdict
from hcat.calibration.agreement import Agreement, fleiss_kappa, krippendorff_alpha

#: (data set, statistic) -> value that other implementations give (statsmodels and the package krippendorff).
EXPECTED: Mapping[tuple[str, str], float] = {
    ("cnndm", "fleiss_kappa"): 0.5133,
    ("xsum", "fleiss_kappa"): 0.3411,
    ("cnndm", "krippendorff_alpha_nominal"): 0.5135,
    ("xsum", "krippendorff_alpha_nominal"): 0.3421,
}
TOLERANCE = 1e-4

_ANSWERS = {"no": 0.0, "yes": 1.0}
_MOST_RATINGS = 3


def read_ratings(rows: Sequence[Mapping[str, Any]]) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
    """Return ratings, shape (n, 3), NaN where one is missing, and the cluster (article) of each sentence."""
    ratings = np.full((len(rows), _MOST_RATINGS), np.nan)
    for place, row in enumerate(rows):
        given = [_ANSWERS[answer] for _, answer in json.loads(row["workers"])]
        ratings[place, : len(given)] = given
    clusters = np.unique([str(row["article"]) for row in rows], return_inverse=True)[1].astype(np.int64)
    return ratings, clusters


def measure(rows: Sequence[Mapping[str, Any]]) -> dict[str, Agreement]:
    """Return Fleiss' kappa of the completely rated sentences and nominal alpha of all, with intervals by article."""
    ratings, clusters = read_ratings(rows)
    is_complete = ~np.isnan(ratings).any(axis=1)
    found = (
        fleiss_kappa(ratings[is_complete], clusters[is_complete]),
        krippendorff_alpha(ratings, clusters, "nominal"),
    )
    return {each.statistic: each for each in found}


def run(is_quick: bool = False) -> Outcome | None:
    """Return the outcome; None when the data are not there. It takes a second, so that a quick run is the same."""
    data = data_folder("qags")
    if data is None:
        return None
    rows = [row for path in sorted(Path(data).glob("*.parquet")) for row in parquet.read_table(path).to_pylist()]
    by_set = {
        name: measure([row for row in rows if row["dataset"] == name])
        for name in sorted({row["dataset"] for row in rows})
    }
    lines, met = [], True
    for (name, statistic), expected in EXPECTED.items():
        found = by_set[name][statistic]
        is_equal = found.value is not None and abs(found.value - expected) <= TOLERANCE
        met &= is_equal
        value = found.status if found.value is None else f"{found.value:.4f}"
        interval = "none" if found.low is None else f"[{found.low:.3f}, {found.high:.3f}]"
        lines.append((name, statistic, value, interval, f"{expected:.4f}", verdict(is_equal)))
    notes = [
        f"{len(rows):,} sentences of summaries, each with three workers' answers to whether the article supports it. "
        f"Tolerance {TOLERANCE:g}; intervals resample whole articles.",
    ]
    return Outcome(
        "agreement",
        "Agreement of raters",
        [Table("QAGS", ("data set", "statistic", "value", "95 % interval", "expected", "verdict"), lines)],
        notes,
        is_quick,
        met,
    )


def main(arguments: list[str] | None = None) -> int:
    """Run from the command line; exit code 1 when a figure differs."""
    parser = argument_parser("agreement", __doc__.splitlines()[0])
    options = parser.parse_args(arguments)
    outcome = run(options.quick)
    if outcome is None:
        parser.exit(2, "agreement: HCAT_BENCHMARK_DATA must name a folder that holds qags\n")
    return finish(outcome, "python -m benchmarks.agreement")


if __name__ == "__main__":
    sys.exit(main())
