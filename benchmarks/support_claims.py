"""Is a claim supported by its evidence? ExpertQA, graded by experts, calibrated with whole fields left out.

Claims and evidence pass the product's own contract and build as answers and contexts. Support is a scale of three
points. The shipped entailment classifier was trained on these claims (docs/model-card.md), so that its scores are no
test here; judged are scores that read no label of them. Which of those is used for a field is chosen on the other
fields alone.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow.parquet as parquet

from benchmarks.accuracy import Labelled, score_rows
from benchmarks.discrimination import COUNT_DRAWS, Estimate, estimate_from_draws, resample_rows
from benchmarks.harness import Outcome, Table, argument_parser, data_folder, finish, verdict, working_folder
from hcat.calibration.calibrators import cross_validated_losses, fit_calibrator, label_scores
from hcat.statistics.arrays import Floats, Integers

#: Log loss of the base rates, nats.
LIMIT_LOSS = 0.723

#: Scale points of support. Three claims of support `None` have evidence all the same: it supports nothing of them.
SUPPORT: Mapping[str, int] = {"None": 0, "Incomplete": 0, "Partial": 1, "Complete": 2}
_SCALE_POINTS, _ACCEPT_FROM = 3, 2
_FAMILY = "ordinal"

#: Scores that compare claim and evidence and were fitted on no label of these claims.
UNSEEN = (
    "groundedness_similarity__mean",
    "groundedness_similarity__minimum",
    "groundedness_similarity__weighted",
    "completeness_similarity__mean",
    "completeness_similarity__minimum",
    "completeness_similarity__weighted",
    "completeness_transport",
    "completeness_average_distance",
    "support_words",
)
#: Scores whose model was trained on these claims.
SEEN = (
    "groundedness_entailment__mean",
    "groundedness_entailment__minimum",
    "groundedness_entailment__share_entailed",
    "groundedness",
)
_CHOSEN = "chosen on the other fields"
_LENGTH = "brevity of the evidence (baseline)"
_QUICK_ROWS = 200


@dataclass(frozen=True, slots=True)
class Claims:
    """Labelled claims: scale points, fields and scores (NaN = none), arrays of shape (n,)."""

    labels: Integers
    fields: npt.NDArray[np.str_]
    scores: Mapping[str, Floats]


def read_claims(folder: Path) -> list[dict[str, Any]]:
    """Return claims that come with evidence and a graded support, in the shape of RAGTruth."""
    rows = [row for path in sorted(folder.glob("*.parquet")) for row in parquet.read_table(path).to_pylist()]
    return [
        {
            "interaction_id": f"expertqa-{place}",
            "query": row["question"],
            "contexts": list(row["evidence"]),
            "answer": row["claim"],
            "hallucinated": SUPPORT[row["support"]] < _ACCEPT_FROM,
            "task": "claim",
            "model": row["system"],
            "source_id": row["question"],
            "field": row["field"],
            "support": row["support"],
        }
        for place, row in enumerate(rows)
        if row["evidence"] and row["support"] in SUPPORT and row["claim"].strip()
    ]


def to_claims(labelled: Labelled) -> Claims:
    """Return labels, fields and scores of a build."""
    return Claims(
        np.array([SUPPORT[row["support"]] for row in labelled.rows], dtype=np.int64),
        np.array([row["field"] for row in labelled.rows], dtype=np.str_),
        labelled.scores,
    )


def shares_of_others(claims: Claims) -> Floats:
    """Return the share of each scale point in the other fields, shape (n, 3): the base rates."""
    found = np.zeros((len(claims.labels), _SCALE_POINTS))
    for field in np.unique(claims.fields):
        own = claims.fields == field
        found[own] = np.bincount(claims.labels[~own], minlength=_SCALE_POINTS) / (~own).sum()
    return found


def predict(claims: Claims, names: Sequence[str]) -> tuple[Floats, dict[str, int]]:
    """Return P(scale point), shape (n, 3), calibrated on the other fields, and how often each score was used.

    Of several scores the one of least cross-validated log loss on the other fields is used. Claims without a score, and
    fields whose others allow no calibrator, get the base rates.
    """
    found = shares_of_others(claims)
    used: dict[str, int] = {}
    for field in np.unique(claims.fields):
        own = claims.fields == field
        losses = {}
        for name in names:
            data = _label(claims, name, ~own)
            calibrator = fit_calibrator(data, _FAMILY).calibrator
            if calibrator is not None:
                loss = float(cross_validated_losses(data, _FAMILY).mean()) if len(names) > 1 else 0.0
                losses[name] = (loss, calibrator)
        if not losses:
            continue
        best = min(losses, key=lambda name: losses[name][0])
        used[best] = used.get(best, 0) + 1
        rows = own & ~np.isnan(claims.scores[best])
        if rows.any():
            found[rows] = losses[best][1].scale_point_probabilities(claims.scores[best][rows])
    return found, used


def _label(claims: Claims, name: str, rows: npt.NDArray[np.bool_]) -> Any:
    known = rows & ~np.isnan(claims.scores[name])
    return label_scores(
        claims.scores[name][known],
        claims.labels[known],
        claims.fields[known],
        count_scale_points=_SCALE_POINTS,
        accept_from=_ACCEPT_FROM,
    )


def log_losses(probabilities: Floats, labels: Integers) -> Floats:
    """Return -ln P(what the expert said) of each claim, shape (n,)."""
    result: Floats = -np.log(np.maximum(probabilities[np.arange(len(labels)), labels], 1e-12))
    return result


def difference(losses: Floats, base: Floats, groups: npt.NDArray[np.str_]) -> Estimate:
    """Return the mean difference of two losses of the same claims with an interval over whole groups."""
    codes = np.unique(groups, return_inverse=True)[1].astype(np.int64)
    weights = resample_rows(codes, COUNT_DRAWS)
    change = losses - base
    return estimate_from_draws(float(change.mean()), (weights @ change) / weights.sum(axis=1))


def run(is_quick: bool = False, folder: Path | None = None) -> Outcome | None:
    """Return the outcome; None when the data are not there."""
    data = data_folder("expertqa")
    if data is None:
        return None
    rows = read_claims(data)
    rows = rows[:: max(1, len(rows) // _QUICK_ROWS)] if is_quick else rows
    with working_folder(folder) as work:
        labelled = score_rows(rows, work)
    claims = to_claims(labelled)
    questions = np.array([row["source_id"] for row in rows], dtype=np.str_)
    base = log_losses(shares_of_others(claims), claims.labels)
    unseen = [name for name in UNSEEN if name in claims.scores]
    lengths = np.array([-np.log1p(sum(len(str(text).split()) for text in row["contexts"])) for row in rows])
    claims = replace(claims, scores={**claims.scores, _LENGTH: lengths})
    seen = [name for name in SEEN if name in claims.scores]
    lines = [("base rates", f"{base.mean():.4f}", "", "")]
    met, used = False, {}
    for name, candidates in [(_CHOSEN, unseen), *((each, [each]) for each in (*unseen, _LENGTH, *seen))]:
        probabilities, chosen = predict(claims, candidates)
        losses = log_losses(probabilities, claims.labels)
        by_field, by_question = (difference(losses, base, groups) for groups in (claims.fields, questions))
        if name == _CHOSEN:
            used = chosen
            met = losses.mean() < min(LIMIT_LOSS, base.mean()) and by_field.high < 0
        mark = " (trained on these claims)" if name in seen else ""
        lines.append((name + mark, f"{losses.mean():.4f}", _format(by_field), _format(by_question)))
    counts = np.bincount(claims.labels, minlength=_SCALE_POINTS)
    chosen_line = lines[1]
    tables = [
        Table(
            f"Log loss of three scale points, n = {len(claims.labels):,} (incomplete {counts[0]:,}, partial "
            f"{counts[1]:,}, complete {counts[2]:,})",
            ("score, calibrated ordinally", "log loss", "minus base rates, by field", "minus base rates, by question"),
            lines,
        ),
        Table(
            "Limit",
            ("figure", "measured", "limit", "verdict"),
            [
                (
                    f"log loss, {_CHOSEN}; paired interval by field",
                    f"{chosen_line[1]}; {chosen_line[2]}",
                    f"< {LIMIT_LOSS}; below 0",
                    verdict(met),
                )
            ],
        ),
    ]
    notes = [
        f"{len(np.unique(claims.fields))} fields, {len(np.unique(questions)):,} questions; each field is predicted "
        "from the others. Claims without evidence are missing support by construction and left out; so are those of "
        "support `N/A`.",
        f"Judged is the line `{_CHOSEN}`: per field left out, the score with the least cross-validated log loss of "
        "`complete` on the other fields among "
        f"{len(unseen)} that saw no label of these claims ("
        + ", ".join(f"{name} {count} times" for name, count in sorted(used.items()))
        + "). Single scores stand beside it; picking the best of them afterwards would be no test.",
        "The shipped classifier was trained on these claims (docs/model-card.md): its lines are no test.",
        f"Encoder and classifier: {labelled.encoder}. The gain is small: similarity to the evidence says little about "
        "whether an expert finds it complete.",
    ]
    return Outcome("support_claims", "Support of expert claims", tables, notes, is_quick, is_quick or met)


def _format(estimate: Estimate) -> str:
    return f"{estimate.value:+.4f} [{estimate.low:+.4f}, {estimate.high:+.4f}]"


def main(arguments: list[str] | None = None) -> int:
    """Run from the command line; exit code 1 when the limit is missed."""
    parser = argument_parser("support_claims", __doc__.splitlines()[0])
    options = parser.parse_args(arguments)
    outcome = run(options.quick, options.folder)
    if outcome is None:
        parser.exit(2, "support_claims: HCAT_BENCHMARK_DATA must name a folder that holds expertqa\n")
    return finish(outcome, "python -m benchmarks.support_claims")


if __name__ == "__main__":
    sys.exit(main())
