"""Which answers are rated: a systematic draw first, then a stratified one where the decisions of the demo are taken."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from making.records import Query, Row, seeded_random

RATING_SHEET_ROWS = 400
#: The day from which answers to customers got worse, and what retrieval found weak or strong: bounds of strata.
LATE_FROM = "2026-08-03"
RETRIEVAL_BOUNDS = {"weak": 0.5, "middling": 0.6, "strong": float("inf")}
#: Records of answers that a reading found later. The first draw was made before it.
RECORDED_LATER = frozenset({"beside_the_point", "weak_retrieval_refusal"})


def rating_sheet_rows(interactions: Sequence[Row], random_seed: int) -> list[Row]:
    """Return the interactions of the first sheet: a systematic draw along topic, version and fault, in seeded order.

    Every interaction has the same chance, so refusals, empty and spoilt answers come in their fair share.
    """

    def fault(row: Row) -> str:
        return "none" if row["recorded_fault"] in RECORDED_LATER else str(row["recorded_fault"])

    rows = sorted(
        interactions,
        key=lambda row: (row["tags"]["topic"], row["application_version"], fault(row), _order(random_seed, row)),
    )
    step = len(rows) / min(RATING_SHEET_ROWS, len(rows))
    start = seeded_random(random_seed, "rating_sheet", "all").random() * step
    chosen = [rows[int(start + place * step)] for place in range(min(RATING_SHEET_ROWS, len(rows)))]
    return sorted(chosen, key=lambda row: _order(random_seed, row))


def strata_of(interactions: Iterable[Row], retrievals: Iterable[Row], queries: Iterable[Query]) -> dict[str, str]:
    """Return the stratum of each interaction: who asked, which version, when, and how well retrieval did."""
    best: dict[str, float] = {}
    for row in retrievals:
        best[row["interaction_id"]] = max(best.get(row["interaction_id"], -1.0), row["retrieval_score"])
    variants = {query.query_id for query in queries if query.variant_type != "original"}
    strata = {}
    for row in interactions:
        if "query_text" in row:
            population = "production late" if row["asked_at"] >= LATE_FROM else "production"
        else:
            population = "variant" if row["query_id"] in variants else "test_set"
        score = best[row["interaction_id"]]
        retrieval = next(name for name, bound in RETRIEVAL_BOUNDS.items() if score < bound)
        strata[row["interaction_id"]] = f"{population} {row['application_version']} {retrieval}"
    return strata


def further_sheet_rows(
    interactions: Sequence[Row],
    first: Sequence[Row],
    retrievals: Sequence[Row],
    queries: Sequence[Query],
    rules: Mapping[str, Any],
) -> list[Row]:
    """Return the interactions of the second sheet: within each stratum a simple random draw of those not yet drawn."""
    random_seed, counts = int(rules["random_seed"]), dict(rules["further_ratings"])
    strata = strata_of(interactions, retrievals, queries)
    drawn = {row["interaction_id"] for row in first}
    chosen: list[Row] = []
    for row in sorted(interactions, key=lambda row: _order(random_seed, row)):
        stratum = strata[row["interaction_id"]]
        if row["interaction_id"] not in drawn and counts.get(stratum, 0):
            counts[stratum] -= 1
            chosen.append(row)
    return chosen


def inclusion_probabilities(rated: Iterable[str], strata: Mapping[str, str]) -> dict[str, float]:
    """Return for each rated interaction the share of its stratum that was rated in either draw, four digits."""
    sizes: dict[str, int] = {}
    counts: dict[str, int] = {}
    for stratum in strata.values():
        sizes[stratum] = sizes.get(stratum, 0) + 1
    own = {interaction_id: strata[interaction_id] for interaction_id in rated}
    for stratum in own.values():
        counts[stratum] = counts.get(stratum, 0) + 1
    return {key: round(counts[stratum] / sizes[stratum], 4) for key, stratum in own.items()}


def sheet_of(rows: Iterable[Row], retrievals: Iterable[Row], texts: Mapping[str, str]) -> list[Row]:
    """Return what a rater sees: query, contexts and answer; neither fault, version, score nor reference answer."""
    contexts: dict[str, list[str]] = {}
    for row in retrievals:
        contexts.setdefault(row["interaction_id"], []).append(row["text"])
    return [
        {
            "interaction_id": row["interaction_id"],
            "query": texts[row["interaction_id"]],
            "contexts": contexts[row["interaction_id"]],
            "answer": row["answer"],
        }
        for row in rows
    ]


def _order(random_seed: int, row: Row) -> str:
    return hashlib.sha256(f"{random_seed}|rating_sheet|{row['interaction_id']}".encode()).hexdigest()
