"""How far a build is, read from the log that dbt writes while it runs."""

import json
from pathlib import Path

from benchmarks import killed


def write_event(name: str, node: str) -> str:
    return json.dumps({"info": {"name": name}, "data": {"node_info": {"node_name": node}}})


def test_progress_counts_ended_nodes_and_names_those_that_run(tmp_path: Path) -> None:
    log = tmp_path / "dbt.log"
    assert killed._read_progress(log) == (0, ())
    events = [("NodeStart", "a"), ("NodeStart", "b"), ("SQLQuery", "a"), ("NodeFinished", "a"), ("NodeStart", "c")]
    # dbt is in the middle of the last line
    log.write_text("\n".join(write_event(*event) for event in events) + "\n" + write_event("NodeFinished", "b")[:40])
    assert killed._read_progress(log) == (1, ("b", "c"))
