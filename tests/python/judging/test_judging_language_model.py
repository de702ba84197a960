"""The judge against a real local server with a real, if small, model: every verdict is a number or a status."""

from __future__ import annotations

import importlib.util
import json
import threading
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pytest
from test_generation_language_model import NEEDED, load_example
from test_judging import GUIDELINE, HOSTILE, request

from hcat.judging.tables import JUDGE_CALLS_SCHEMA, VERDICT_STATUSES, judge_pending, read_verdicts

REPLY_TOKENS = 24


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """Return the address of the running example."""
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)} (examples/language_model_service/README.md)")
    example = load_example()
    weights = example.find_weights()
    assert weights is not None
    server = example.make_server(example.Chat(weights), 0, maximum_tokens=REPLY_TOKENS)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    server.server_close()


def test_a_small_judge_gives_a_number_or_a_status(url: str) -> None:
    rows = [
        request("score_llm", "answer_relevance"),
        request("ranking_llm", "answer_relevance", answer=HOSTILE),
        request("rubric_llm", "faithfulness", guideline=json.dumps(GUIDELINE[:2])),
    ]
    settings = {"base_url": url, "model": "small", "concurrency": 1, "repairs": 0, "reply_tokens": REPLY_TOKENS}
    table = pa.Table.from_pylist(rows)
    calls = pa.Table.from_batches(judge_pending(table, settings), schema=JUDGE_CALLS_SCHEMA)
    # written within the schema, so that every reply can be read
    assert {row["call_status"] for row in calls.to_pylist()} == {"answered"}
    assert all(row["answer"] and row["prompt_tokens"] > 50 for row in calls.to_pylist())
    verdicts = read_verdicts(table, calls, lambda texts: np.ones((len(texts), 1), dtype=np.float32)).to_pylist()
    assert len(verdicts) == len(rows)
    for row in verdicts:
        assert row["verdict_status"] in VERDICT_STATUSES
        assert (row["verdict_score"] is not None) == (row["verdict_status"] == "judged")
        assert row["detail"]
    assert {row["verdict_status"] for row in verdicts if row["judge_task"] != "ranking_llm"} == {"judged"}
