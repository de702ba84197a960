"""2,000 queries against a faulty service, killed in the middle and run again: none lost, none doubled, all staged."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from builds import DEMO, REPOSITORY, Dbt, read_lines, write_lines

from hcat.collection.run import identify
from hcat.landing.reading import read_entity

COUNT_QUERIES = 2000
CONCURRENCY = 16
TOKEN = "sk-nobody-may-see-this"
#: Every kind at once; together 22 % of the first three attempts of a query.
SHARES = {
    "too_many_requests": 0.04,
    "server_error": 0.05,
    "slow": 0.002,
    "truncated": 0.04,
    "wrong_types": 0.03,
    "missing_answer": 0.02,
    "reset": 0.035,
}


def load_service() -> Any:
    specification = importlib.util.spec_from_file_location(
        "rag_service_of_the_pipeline", REPOSITORY / "examples" / "rag_service" / "service.py"
    )
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    # dataclasses look their module up
    sys.modules[specification.name] = module
    specification.loader.exec_module(module)
    return module


@pytest.fixture
def service() -> Iterator[Any]:
    """Serve the example with every fault."""
    module = load_service()
    faults = module.Faults(SHARES, faulty_attempts=3, retry_after="1", slow_seconds=11.0)
    server = module.Service(("127.0.0.1", 0), module.BM25(module.read_chunks()), faults=faults, token=TOKEN)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()


def make_test_set() -> list[dict[str, str]]:
    """Return 2,000 distinct queries made of the demo's, some of them with what breaks templates."""
    texts = [row["text"] for row in read_lines(DEMO / "queries.jsonl")]
    endings = ('"', "{{query}}", "\n", "}'", "${HOME}", "\\", "🙂", "%s")
    return [
        {
            "query_id": f"query_{number:04d}",
            "text": f"{texts[number % len(texts)]} {endings[number % len(endings)]}{number}",
        }
        for number in range(COUNT_QUERIES)
    ]


def start(endpoint: Path, queries: Path, folder: Path) -> subprocess.Popen[str]:
    program = "import sys; from hcat.cli import main; sys.argv[0] = 'hcat'; main()"
    command = [sys.executable, "-c", program, "collect", endpoint, "--queries", queries, "--output", folder]
    environment = os.environ | {"RAG_SERVICE_TOKEN": TOKEN, "NO_PROXY": "127.0.0.1"}
    return subprocess.Popen(
        [str(word) for word in command], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


def count_lines(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.exists() else 0


def kill_after(lines: int, process: subprocess.Popen[str], journal: Path) -> None:
    deadline = time.monotonic() + 300
    while count_lines(journal) < lines:
        assert process.poll() is None, process.stdout.read() if process.stdout else ""
        assert time.monotonic() < deadline, f"{count_lines(journal)} of {lines} lines"
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    assert process.wait(timeout=60) == -signal.SIGKILL
    assert process.stdout is not None
    process.stdout.close()


def test_nothing_is_lost_or_doubled(tmp_path: Path, service: Any, dbt: Dbt) -> None:
    test_set, folder = make_test_set(), tmp_path / "collected"
    assert len({row["text"] for row in test_set}) == COUNT_QUERIES
    folder.mkdir()
    queries, journal = folder / "queries.jsonl", folder / "collection_journal.jsonl"
    write_lines(queries, test_set)
    endpoint = tmp_path / "endpoint.yml"
    described = yaml.safe_load((REPOSITORY / "examples" / "rag_service" / "endpoint.yml").read_text(encoding="utf-8"))
    described["request"]["url"] = f"http://127.0.0.1:{service.server_address[1]}/ask"
    described["limits"] = {
        "concurrency": CONCURRENCY,
        "timeout_seconds": 9,
        "attempts": 8,
        "backoff_seconds": 0.02,
        "backoff_maximum_seconds": 1,
    }
    endpoint.write_text(yaml.safe_dump(described), encoding="utf-8")

    kill_after(500, start(endpoint, queries, folder), journal)
    after_first = count_lines(journal)
    assert 500 <= after_first < COUNT_QUERIES
    assert not (folder / "interactions.jsonl").exists()
    # the worst moment: half a line is on the disk
    journal.write_bytes(journal.read_bytes()[:-150])
    kill_after(1200, start(endpoint, queries, folder), journal)
    after_second = count_lines(journal)
    assert 1200 <= after_second < COUNT_QUERIES

    last = start(endpoint, queries, folder)
    output, _ = last.communicate(timeout=500)
    assert last.returncode == 0, output
    assert f"2,000 of 2,000, {after_second:,} of them before this run" in output

    # none lost, none doubled: one interaction per query, with its own text and the answer to it
    interactions = read_lines(folder / "interactions.jsonl")
    expected = {identify(row["query_id"], "harbourlight-example", "1.0", 0): row for row in test_set}
    assert [row["query_id"] for row in interactions] == [row["query_id"] for row in test_set]
    assert {row["interaction_id"] for row in interactions} == set(expected)
    retrieved: dict[str, list[dict[str, Any]]] = {}
    for row in read_lines(folder / "retrievals.jsonl"):
        retrieved.setdefault(row["interaction_id"], []).append(row)
    assert set(retrieved) == set(expected)
    for row in interactions:
        reply = service.answer(expected[row["interaction_id"]]["text"], 4)
        assert row["query_text"] == expected[row["interaction_id"]]["text"]
        assert row["answer"] == reply["answer"]
        assert [
            (item["rank"], item["chunk_id"], item["text"], item["retrieval_score"])
            for item in retrieved[row["interaction_id"]]
        ] == [
            (rank, item["chunk_id"], item["text"], item["score"])
            for rank, item in enumerate(reply["contexts"], start=1)
        ]
    assert read_lines(folder / "collection_failures.jsonl") == []
    assert count_lines(journal) == COUNT_QUERIES

    # every fault happened, and only what was under way at a kill was answered twice
    faults = Counter(fault for _, _, fault in service.received)
    assert set(faults) == {None, *SHARES}
    answered = Counter(question for question, _, fault in service.received if fault is None)
    assert set(answered) == {row["text"] for row in test_set}
    assert sum(answered.values()) - COUNT_QUERIES <= 2 * CONCURRENCY + 1
    assert all(TOKEN not in path.read_text(encoding="utf-8") for path in folder.iterdir())
    assert TOKEN not in output

    # a fourth run has nothing to do and writes the same bytes
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    count_received = len(service.received)
    again = start(endpoint, queries, folder)
    output, _ = again.communicate(timeout=120)
    assert again.returncode == 0, output
    assert len(service.received) == count_received
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before

    # it lands by the checks of every other log, and staging uses every row
    for entity in ("interactions", "retrievals", "queries"):
        landed = [row for batch in read_entity(entity, folder) for row in batch.to_pylist()]
        assert all(row["read_error"] is None and not row["is_file_problem"] for row in landed)
    build = dbt(
        "build --select +stg_interactions +stg_retrievals +stg_queries --exclude-resource-type test",
        folder,
        tmp_path / "warehouse",
    )
    assert build.exit_code == 0, build.output
    counts = {
        table: build.query(f"select count(*) from {table}")[0][0]
        for table in ("stg_interactions", "stg_retrievals", "stg_queries")
    }
    assert counts == {"stg_interactions": 2000, "stg_retrievals": 8000, "stg_queries": 2000}
    statuses = build.query(
        "select record_status, count(*) from base_interactions group by all"
        " union all select record_status, count(*) from base_retrievals group by all"
    )
    assert dict(statuses).keys() == {"staged"}
    refused = build.query(
        "select count(*) from stg_interactions where json_extract_string(tags, 'refused_by_service') = 'true'"
    )
    assert refused[0][0] == sum(service.answer(row["text"], 4)["refused"] for row in test_set)
    assert json.loads(build.query("select tags from stg_interactions where tags is not null limit 1")[0][0])
