"""Files that real packages write, compared field by field with what went in.

Needs the extra `dataset-integrations`, here or in the interpreter that HCAT_INTEGRATIONS_PYTHON names.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from produce_integrations import ANSWER, PASSAGES, QUERY, REFERENCE

from hcat.landing.importing import import_into
from hcat.landing.raw_contract import ENTITIES
from hcat.landing.reading import read_entity

PRODUCER = Path(__file__).with_name("produce_integrations.py")


@pytest.fixture(scope="module")
def produced(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of the files that ragas and deepeval wrote."""
    python = os.environ.get("HCAT_INTEGRATIONS_PYTHON")
    missing = [name for name in ("ragas", "deepeval") if importlib.util.find_spec(name) is None]
    if python is None and missing:
        pytest.skip(
            f"{missing[0]} is not installed (pip install '.[dataset-integrations]', or HCAT_INTEGRATIONS_PYTHON)"
        )
    folder = tmp_path_factory.mktemp("produced")
    done = subprocess.run([python or sys.executable, str(PRODUCER), str(folder)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder


def read(produced: Path, name: str, folder: Path) -> dict[str, list[dict[str, Any]]]:
    """Return the landed rows of each entity of one imported file."""
    import_into(name.split("_")[0].split(".")[0], produced / name, folder)
    landed = {
        entity: [row for batch in read_entity(entity, folder) for row in batch.to_pylist()]
        for entity in ENTITIES
        if entity != "spans"
    }
    assert all(row["read_error"] is None for rows in landed.values() for row in rows), "nothing is lost"
    return landed


@pytest.mark.parametrize(("name", "count"), [("ragas.jsonl", 2), ("ragas.csv", 1)])
def test_single_turns_of_ragas(produced: Path, name: str, count: int, tmp_path: Path) -> None:
    landed = read(produced, name, tmp_path)
    assert [(row["query_text"], row["answer"]) for row in landed["interactions"]] == [(QUERY, ANSWER)] * count
    identifiers = [row["interaction_id"] for row in landed["interactions"]]
    assert len(set(identifiers)) == count
    retrieved = [(row["interaction_id"], row["rank"], row["chunk_id"], row["text"]) for row in landed["retrievals"]]
    assert retrieved == [
        (identifier, str(rank), f"c{rank}", text)
        for identifier in identifiers
        for rank, text in enumerate(PASSAGES, start=1)
    ]
    (query_id,) = {row["query_id"] for row in landed["interactions"]}
    assert {(row["query_id"], row["text"], row["reference_answer"]) for row in landed["queries"]} == {
        (query_id, QUERY, REFERENCE)
    }
    judged = {(row["query_id"], row["chunk_id"], row["grade"]) for row in landed["relevance_judgements"]}
    assert judged == {(query_id, "c1", "1")}


def test_samples_and_conversations_of_ragas(produced: Path, tmp_path: Path) -> None:
    samples = read(produced, "ragas_samples.jsonl", tmp_path / "samples")["interactions"]
    assert [(row["answer"], row["sample_index"]) for row in samples] == [(ANSWER, "0"), ("Three days.", "1")]
    talk = read(produced, "ragas_talk.jsonl", tmp_path / "talk")
    assert [(row["query_text"], row["answer"]) for row in talk["interactions"]] == [
        ("Hello.", "How can I help?"),
        (QUERY, ANSWER),
    ]
    assert [row["turn_index"] for row in talk["interactions"]] == ["1", "2"]
    assert len({row["conversation_id"] for row in talk["interactions"]}) == 1


@pytest.mark.parametrize("kind", ["json", "jsonl", "csv"])
def test_cases_of_deepeval(produced: Path, kind: str, tmp_path: Path) -> None:
    landed = read(produced, f"deepeval.{kind}", tmp_path)
    (interaction,) = landed["interactions"]
    assert (interaction["query_text"], interaction["answer"]) == (QUERY, ANSWER)
    assert (interaction["application_version"], interaction["tags"]) == ("2.3", '{"channel": "web"}')
    # never the gold context
    assert [(row["rank"], row["chunk_id"], row["text"]) for row in landed["retrievals"]] == [
        ("1", "terms.pdf", PASSAGES[0]),
        ("2", None, "Fees apply."),
    ]
    assert [row["reference_answer"] for row in landed["queries"]] == [REFERENCE]


@pytest.mark.parametrize("kind", ["json", "jsonl", "csv"])
def test_conversations_of_deepeval(produced: Path, kind: str, tmp_path: Path) -> None:
    landed = read(produced, f"deepeval_talk.{kind}", tmp_path)
    assert [(row["query_text"], row["answer"]) for row in landed["interactions"]] == [
        (QUERY, ANSWER),
        ("And in May?", "The same."),
    ]
    first = landed["interactions"][0]["interaction_id"]
    assert [(row["interaction_id"], row["text"]) for row in landed["retrievals"]] == [(first, PASSAGES[0])]
