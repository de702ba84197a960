"""Turns a folder shaped like RAGTruth into raw logs, so that it passes through the product's own contract."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow.parquet as parquet

#: Columns that the benchmark needs; a folder of the same shape may hold one or several parquet files.
REQUIRED_COLUMNS = ("query", "contexts", "answer", "hallucinated", "task", "model", "source_id")


def read_rows(folder: Path) -> list[dict[str, Any]]:
    """Return the labelled rows of every parquet file in ``folder``, each with a stable ``interaction_id``."""
    files = sorted(folder.glob("*.parquet"))
    if not files:
        raise FileNotFoundError(f"{folder} holds no parquet file")
    rows: list[dict[str, Any]] = []
    for path in files:
        table = parquet.read_table(path)
        missing = [name for name in REQUIRED_COLUMNS if name not in table.column_names]
        if missing:
            raise ValueError(f"{path.name} has no column {', '.join(missing)}")
        rows.extend(table.to_pylist())
    seen: dict[str, int] = {}
    for row in rows:
        content = json.dumps([row["source_id"], row["model"], row["task"], row["answer"]], ensure_ascii=False)
        key = hashlib.md5(content.encode(), usedforsecurity=False).hexdigest()[:16]
        seen[key] = seen.get(key, 0) + 1
        row["interaction_id"] = f"ragtruth-{key}-{seen[key]}"
    return rows


def read_spans(row: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the spans that people marked in an answer: start, end (characters), and the publishers' labels."""
    spans = row.get("spans") or []
    return list(json.loads(spans) if isinstance(spans, str) else spans)


def write_raw_logs(rows: list[dict[str, Any]], folder: Path, suffix: str = "") -> None:
    """Write rows as interactions, retrievals and queries JSONL; labels stay out of the logs.

    ``suffix`` ends the file stems (``interactions<suffix>.jsonl``), so that a folder can grow by further files.
    """
    folder.mkdir(parents=True, exist_ok=True)
    _write(folder / f"interactions{suffix}.jsonl", (_interaction(row) for row in rows))
    _write(folder / f"retrievals{suffix}.jsonl", (item for row in rows for item in _retrievals(row)))
    queries: dict[str, dict[str, Any]] = {}
    for row in rows:
        queries.setdefault(_query_id(row), _query(row))
    _write(folder / f"queries{suffix}.jsonl", iter(queries.values()))


def _query_id(row: dict[str, Any]) -> str:
    digest = hashlib.md5(str(row["query"]).encode(), usedforsecurity=False).hexdigest()
    return f"{row['task']}-{row['source_id']}-{digest[:8]}"


def _interaction(row: dict[str, Any]) -> dict[str, Any]:
    return {
        "interaction_id": row["interaction_id"],
        "run_id": "ragtruth",
        "query_id": _query_id(row),
        "application": "ragtruth",
        "application_version": row["model"],
        "language": "en",
        "answer": row["answer"],
        "tags": {"task": row["task"]},
    }


def _query(row: dict[str, Any]) -> dict[str, Any]:
    return {
        "query_id": _query_id(row),
        "text": row["query"],
        "query_type": row["task"],
        "source_group": str(row["source_id"]),
    }


def _retrievals(row: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for rank, text in enumerate(row["contexts"], start=1):
        yield {"interaction_id": row["interaction_id"], "rank": rank, "text": text}


def _write(path: Path, records: Iterator[dict[str, Any]]) -> None:
    with path.open("w", encoding="utf-8") as handle:
        for record in records:
            handle.write(json.dumps(record, ensure_ascii=False, sort_keys=True) + "\n")
