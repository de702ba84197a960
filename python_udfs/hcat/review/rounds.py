"""A review round as the warehouse knows it: what was drawn, the guidelines, the texts, and who rates what.

The order of a round is that of a hash of the review_id. It is the same whenever a sheet or a desk is written, and it
tells nothing of score or sampling.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from hcat.engine.keys import hash_text
from hcat.engine.warehouse import Row, Warehouse

#: What a rater answers who cannot judge; it stands in the place of a scale point and is never a label.
CANNOT_JUDGE: Final = "cannot_judge"

_TABLES: Final = ("int_interactions_sampled_for_review", "rating_scales", "calibration_targets")

_LIST_ROUNDS = """
select review_round, round_number, count(*) as count_drawn
from int_interactions_sampled_for_review
group by review_round, round_number
order by round_number desc
"""

_LIST_DRAWN = """
select review_id, review_round, interaction_id, sampling, inclusion_probability
from int_interactions_sampled_for_review
order by review_id
"""

_LIST_GUIDELINES = """
select criterion, scale_point, scale_label, guideline_version, guideline_text
from rating_scales
where criterion in (select criterion from calibration_targets)
order by criterion, scale_point
"""

_LIST_LABELS_NEEDED = """
select metric_name, purpose, target, label_status, count_labels, count_labels_needed, count_labels_missing
from fct_labels_needed
order by metric_name, purpose, target
"""


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


def read_round(opened: Warehouse, review_round: str | None) -> Round:
    """Return a round, by default the one drawn last."""
    rounds = [row["review_round"] for row in opened.rows(_LIST_ROUNDS, _TABLES)]
    if not rounds:
        raise ValueError("the warehouse must hold a review round, got none: run `dbt build` on logs with new answers")
    name = rounds[0] if review_round is None else review_round
    if name not in rounds:
        raise ValueError(f"review round must be one of {', '.join(sorted(rounds))}, got {name}")
    guidelines: dict[str, list[Row]] = {}
    for row in opened.rows(_LIST_GUIDELINES, _TABLES):
        guidelines.setdefault(row["criterion"], []).append(row)
    rows = opened.rows(_LIST_DRAWN, _TABLES)
    drawn = {row["review_id"]: row for row in rows if row["review_round"] == name}
    others = {row["review_id"]: row["review_round"] for row in rows if row["review_round"] != name}
    return Round(name, drawn, others, guidelines)


def find_version(points: Sequence[Row]) -> str:
    """Return the guideline version of a criterion: the latest of its scale points."""
    return max(str(point["guideline_version"]) for point in points)


def describe_needs(opened: Warehouse) -> tuple[str, ...]:
    """Return the labels that targets of the seed `review_targets` have and need as of the last build, one line each."""
    without = {
        "no_labels": "labels; an accepted and a failed one are needed to plan",
        "out_of_reach": "labels; no number of labels is enough with this score",
    }
    return tuple(
        f"{row['metric_name']}, {row['purpose'].replace('_', ' ')} {row['target']:g}: {row['count_labels']} "
        + (
            without[row["label_status"]]
            if row["count_labels_needed"] is None
            else f"of {row['count_labels_needed']}, {row['count_labels_missing']} missing"
        )
        for row in opened.rows(_LIST_LABELS_NEEDED, ("fct_labels_needed",))
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
