"""A review round as the warehouse knows it: what was drawn, the guidelines, the texts, and who rates what."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from hcat.engine.keys import hash_text
from hcat.engine.warehouse import Row, Warehouse, read_queries

#: What a rater answers who cannot judge; it stands in the place of a scale point and is never a label.
CANNOT_JUDGE: Final = "cannot_judge"
#: How an answer came to be rated that no round drew; in a sheet its review_id is `chosen:` and the interaction.
CHOSEN: Final = "chosen"

QUERIES: Final = read_queries(Path(__file__).with_name("queries.sql"))
_TABLES: Final = ("int_interactions_sampled_for_review", "rating_scales", "calibration_targets")


@dataclass(frozen=True, slots=True)
class Round:
    """A round as the warehouse knows it."""

    name: str
    drawn: Mapping[str, Row]  # review_id -> interaction_id, sampling, inclusion_probability
    rounds_of_others: Mapping[str, str]  # review_id -> round
    guidelines: Mapping[str, Sequence[Row]]  # criterion -> its scale points, in order

    def ordered(self) -> list[str]:
        """Return the review ids in the order in which raters read them."""
        return sorted(self.drawn, key=lambda each: hash_text("review order", each))

    def interaction_ids(self) -> list[str]:
        """Return the interactions that were drawn."""
        return [row["interaction_id"] for row in self.drawn.values()]

    def with_chosen(self, interaction_ids: Iterable[str]) -> "Round":
        """Return the round with answers that a reader chose: they have no probability of being drawn."""
        unsampled: Row = {"sampling": CHOSEN, "inclusion_probability": None}
        chosen = {f"{CHOSEN}:{each}": unsampled | {"interaction_id": each} for each in interaction_ids}
        return replace(self, drawn={**self.drawn, **chosen})


def read_round(opened: Warehouse, review_round: str | None) -> Round:
    """Return a round, by default the one drawn last."""
    rounds = [row["review_round"] for row in opened.rows(QUERIES["list_rounds"], _TABLES)]
    if not rounds:
        raise ValueError("no review round: it needs the module calibration (hcat_modules) and a build with new answers")
    name = rounds[0] if review_round is None else review_round
    if name not in rounds:
        raise ValueError(f"review round must be one of {', '.join(sorted(rounds))}, got {name}")
    guidelines: dict[str, list[Row]] = {}
    for row in opened.rows(QUERIES["list_guidelines"], _TABLES):
        guidelines.setdefault(row["criterion"], []).append(row)
    rows = opened.rows(QUERIES["list_drawn"], _TABLES)
    drawn = {row["review_id"]: row for row in rows if row["review_round"] == name}
    others = {row["review_id"]: row["review_round"] for row in rows if row["review_round"] != name}
    return Round(name, drawn, others, guidelines)


def find_version(points: Sequence[Row]) -> str:
    """Return the guideline version of a criterion: the latest of its scale points, where 1.10 comes behind 1.9."""
    versions = (str(point["guideline_version"]) for point in points)
    return max(versions, key=lambda version: ([*map(int, re.findall(r"[0-9]+", version))], version))


def describe_needs(opened: Warehouse) -> tuple[str, ...]:
    """Return the labels that targets of the seed `review_targets` have and need as of the last build, one line each."""
    without = {
        "no_labels": "labels; an accepted and a failed one are needed to plan",
        "out_of_reach": "labels; no number of labels is enough with this score",
    }
    planned = "of {count_labels_needed}, {count_labels_missing} missing"
    return tuple(
        f"{row['metric_name']}, {row['purpose'].replace('_', ' ')} {row['target']:g}: {row['count_labels']} "
        + (without[row["label_status"]] if row["count_labels_needed"] is None else planned.format(**row))
        for row in opened.rows(QUERIES["list_labels_needed"], ("fct_labels_needed",))
    )


def assign_interactions(review_ids: Sequence[str], raters: Sequence[str], overlap: float) -> dict[str, list[str]]:
    """Return what each rater reads: a share goes to all raters, the rest is dealt evenly among them."""
    if not 0 <= overlap <= 1:
        raise ValueError(f"overlap must lie in [0, 1], got {overlap:g}")
    names = sorted(raters)
    if not all(name.strip() for name in names) or len(set(names)) < len(names):
        raise ValueError(f"raters must be names that differ, got {', '.join(names)}")
    hashed = sorted(review_ids, key=lambda each: hash_text("review overlap", each))
    count_shared = round(overlap * len(hashed))
    readers: dict[str, set[str]] = {each: set(names) for each in hashed[:count_shared]}
    for index, each in enumerate(hashed[count_shared:]):
        readers[each] = {names[index % len(names)]}
    return {name: [each for each in review_ids if name in readers[each]] for name in names}


def choose_second_looks(review_ids: Sequence[str], rater: str, share: float) -> list[str]:
    """Return those of a rater's interactions that are shown once more at the end, chosen and ordered by a hash."""
    if not 0 <= share <= 1:
        raise ValueError(f"share of second passes must lie in [0, 1], got {share:g}")
    hashed = sorted(review_ids, key=lambda each: hash_text("review second pass", rater, each))
    return hashed[: round(share * len(hashed))]
