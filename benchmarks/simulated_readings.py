"""Readings of answers that nobody read: those of the shipped demo where the answer is the same, else simulated ones.

A reader sees query, contexts and answer. An answer that was read keeps its points. Any other one takes the points of a
read answer with the same planted fault (decision 40).
"""

from __future__ import annotations

import hashlib
import json
import runpy
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from benchmarks.planted import DEMO

#: Of `ratings.jsonl`: whose reading gives the demo its labels.
READER: Final = "author_1"


@dataclass(frozen=True, slots=True)
class Shown:
    """What a reader sees of an interaction, and what was planted in it.

    Attributes
    ----------
    content : str
        Hash of query, contexts and answer: answers with the same one read alike.
    fault : str
        Recorded fault; `none` where nothing was planted.
    is_rateable : bool
        False for the variants that test a risk, which nobody rates.
    """

    content: str
    fault: str
    is_rateable: bool


def read_shown(logs: Path) -> dict[str, Shown]:
    """Return what a reader sees of each interaction of ``logs``, by its id."""
    # the generator alone says which variants nobody rates
    unrated = runpy.run_path(str(DEMO / "making" / "records.py"))["SAFETY_VARIANT_TYPES"]
    queries = {row["query_id"]: row for row in read_lines(logs / "queries.jsonl")}
    contexts: dict[str, list[str]] = defaultdict(list)
    for row in sorted(read_lines(logs / "retrievals.jsonl"), key=lambda row: row["rank"]):
        contexts[row["interaction_id"]].append(row["text"])
    shown = {}
    for row in read_lines(logs / "interactions.jsonl"):
        query = queries.get(row.get("query_id"), {"variant_type": None})
        text = row["query_text"] if "query_text" in row else query["text"]
        content = digest(json.dumps([text, contexts[row["interaction_id"]], row["answer"]]))
        shown[row["interaction_id"]] = Shown(content, row["recorded_fault"], query["variant_type"] not in unrated)
    return shown


def read_readings(logs: Path) -> dict[str, dict[str, int]]:
    """Return the points of the reader's first pass by interaction and criterion."""
    readings: dict[str, dict[str, int]] = defaultdict(dict)
    for row in read_lines(logs / "ratings.jsonl"):
        if row["rater"] == READER and row["rating_pass"] == 1:
            readings[row["interaction_id"]][row["criterion"]] = row["scale_point"]
    return dict(readings)


def simulate_readings(
    shown: Mapping[str, Shown],
    read: Mapping[str, Shown],
    readings: Mapping[str, Mapping[str, int]],
    seed: int,
) -> tuple[dict[str, Mapping[str, int]], set[str]]:
    """Return the points of every rateable interaction by criterion, and the ids whose points are a real reading.

    An answer that was read keeps its points. Any other one takes the points of a read answer with the same recorded
    fault, drawn by seed and content: so it is called failing as often as the reader called answers of that kind
    failing, and the same answer gets the same points twice. An answer whose kind nobody read gets none.

    Parameters
    ----------
    shown : mapping of str to Shown
        Interactions to rate.
    read : mapping of str to Shown
        Interactions of the shipped demo.
    readings : mapping of str to mapping
        Points of those that were read, by criterion.
    seed : int
    """
    donors: dict[str, list[str]] = defaultdict(list)
    kept: dict[str, str] = {}
    for interaction_id in sorted(readings):
        donors[read[interaction_id].fault].append(interaction_id)
        kept.setdefault(read[interaction_id].content, interaction_id)
    simulated: dict[str, Mapping[str, int]] = {}
    real = set()
    for interaction_id, one in shown.items():
        if not one.is_rateable:
            continue
        if one.content in kept:
            simulated[interaction_id] = readings[kept[one.content]]
            real.add(interaction_id)
        elif alike := donors.get(one.fault):
            place = int(digest(f"{seed}|reading|{one.content}")[:12], 16) % len(alike)
            simulated[interaction_id] = readings[alike[place]]
    return simulated, real


def read_lines(path: Path) -> list[dict[str, Any]]:
    """Return the objects of a file of JSON Lines."""
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def write_lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Write one object a line."""
    path.write_text("".join(json.dumps(row, sort_keys=True) + "\n" for row in rows), encoding="utf-8")


def digest(text: str) -> str:
    """Return the SHA-256 of a text, in hexadecimal digits."""
    return hashlib.sha256(text.encode()).hexdigest()
