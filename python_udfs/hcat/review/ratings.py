"""What raters have said of a round so far: what the last build read, and what was imported since."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from hcat.engine.warehouse import Warehouse
from hcat.review.rounds import CANNOT_JUDGE, CHOSEN, QUERIES, Round

Key = tuple[str, str, str, str, int, bool]
"""(interaction_id, criterion, rater, guideline_version, rating_pass, whether a reader chose the answer)"""

Point = int | str
"""A point of the scale, or :data:`hcat.review.rounds.CANNOT_JUDGE`"""

_OTHERS: Final = (("language_model", "language models"), ("rule", "programs"), ("unknown", "raters of unknown kind"))


@dataclass(frozen=True, slots=True)
class Given:
    """What a rater said of an answer by one criterion in one look."""

    rater_kind: str
    review_round: str | None
    history: tuple[tuple[Point, datetime | None], ...]  # (point, time); the last one counts
    correction: int  # number of the one that counts
    is_read: bool  # by the last build

    @property
    def point(self) -> Point:
        """Return what counts."""
        return self.history[-1][0]

    def outdates(self, point: Point, rated_at: datetime | None) -> bool:
        """Tell whether a value is older than what counts, or was corrected since."""
        latest = self.history[-1][1]
        return (point, rated_at) in self.history or bool(rated_at and latest and rated_at <= latest)


def key_of(row: Mapping[str, Any]) -> Key:
    """Return the key of a rating."""
    texts = row["interaction_id"], row["criterion"], row["rater"], row["guideline_version"] or ""
    return *texts, row["rating_pass"], row.get("sampling") == CHOSEN


def read_time(text: str | None) -> datetime | None:
    """Return a logged time in UTC, without its zone as the warehouse has it; None without a time."""
    if not text:
        return None
    time = datetime.fromisoformat(text)
    return time.astimezone(UTC).replace(tzinfo=None) if time.tzinfo else time


def read_kinds(opened: Warehouse) -> dict[str, str]:
    """Return who is what by the seed ``raters``."""
    return {row["rater"]: row["rater_kind"] for row in opened.rows(QUERIES["list_raters"], ("raters",))}


def read_given(opened: Warehouse, found: Round, raw_logs: Path | None) -> dict[Key, Given]:
    """Return the ratings of the interactions of a round, those that no build has read yet included."""
    if opened.has("base_ratings") and opened.lacks("base_ratings.correction"):
        raise ValueError("the last build is one of an earlier version of hcat: run `dbt build` first")
    ids = {"interaction_ids": found.interaction_ids()}
    given: dict[Key, Given] = {}
    for row in opened.rows(QUERIES["list_ratings"], ("base_ratings",), **ids):
        point = CANNOT_JUDGE if row["is_unjudged"] else row["scale_point"]
        _add(given, row | {"scale_point": point}, row["rated_at"], is_read=True)
    kinds = read_kinds(opened)
    files = opened.rows(QUERIES["list_files"], ("base_ratings",), review_round=found.name)
    read_files = {row["source_file"].rsplit("/")[-1] for row in files}
    for name, record in _read_landed(raw_logs, found.name) if raw_logs else ():
        said = {"rater_kind": kinds.get(record["rater"], "unknown"), "correction": 0} | record
        _add(given, said, read_time(record.get("rated_at")), is_read=name in read_files)
    return given


def describe_progress(given: Mapping[Key, Given], found: Round) -> list[str]:
    """Return one line per criterion: what people rated, and beside it what programs and language models rated."""
    lines = []
    for criterion in found.guidelines:
        rated: dict[tuple[str, bool], set[str]] = {}
        for key, each in given.items():
            if key[1] == criterion and not key[5]:
                rated.setdefault((each.rater_kind, each.point == CANNOT_JUDGE), set()).add(key[0])
        people = rated.get(("person", False), set())
        unjudged = rated.get(("person", True), set()) - people
        others = "; ".join(
            f"{name} rated {len(rated[kind, False])}" for kind, name in _OTHERS if (kind, False) in rated
        )
        lines.append(
            f"{criterion}: people rated {len(people)} of {len(found.drawn)} interactions"
            + (f", and could not judge {len(unjudged)}" if unjudged else "")
            + (f" (not people: {others})" if others else "")
        )
    return lines


def _add(given: dict[Key, Given], row: Mapping[str, Any], rated_at: datetime | None, *, is_read: bool) -> None:
    """Add a rating to those of lower numbers; of one number the first one stands."""
    key, before = key_of(row), given.get(key_of(row))
    if before is None or row["correction"] > before.correction:
        history = (*(before.history if before else ()), (row["scale_point"], rated_at))
        given[key] = Given(row["rater_kind"], row["review_round"], history, row["correction"], is_read)


def _read_landed(raw_logs: Path, review_round: str) -> list[tuple[str, dict[str, Any]]]:
    """Return the ratings that imports of this round wrote, with their file, by number."""
    records = [
        (path.name, json.loads(line))
        for path in sorted(raw_logs.glob(f"ratings_{review_round}_*.jsonl"))
        for line in path.read_text(encoding="utf-8").splitlines()
    ]
    own = (each for each in records if each[1].get("review_round") == review_round)
    return sorted(own, key=lambda each: each[1].get("correction", 0))
