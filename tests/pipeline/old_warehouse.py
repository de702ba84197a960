"""A warehouse that hcat 0.1.0 made, kept as compressed SQL, and the logs that it was made from.

Two builds made it with the code of commit 11b6f13~1, the last one before the changes of 0.2.0, of the logs that
:func:`write_old_logs` writes, with HCAT_ENCODER=hashing:8, HCAT_CLASSIFIER=hashing and HCAT_TAGGER=none. To make it
again::

    python tests/pipeline/old_warehouse.py <hcat.duckdb of that build> <manifest.json of that build>

Incremental tables and seeds have their rows. Tables that each build makes anew are empty, and views have lost their
query.
"""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path

import duckdb
from builds import write_lines

KEPT = Path(__file__).with_suffix(".sql.gz")
TOPICS = ("card", "loan", "transfer", "account")
PLANS = range(12)


def write_old_logs(folder: Path) -> None:
    """Write the logs: questions about fees; what is answered about loans is not in the passages."""
    calls = [(topic, plan) for topic in TOPICS for plan in PLANS]

    def fee(topic: str, plan: int) -> str:
        return f"The {topic} fee of plan {plan} is {plan + 3} euros."

    documents = [
        {
            "document_id": topic,
            "title": f"Fees of the {topic}",
            "text": " ".join(fee(topic, plan) for plan in PLANS),
        }
        for topic in TOPICS
    ]
    chunks = [
        {"chunk_id": f"{topic}_{plan}", "document_id": topic, "chunk_index": plan, "text": fee(topic, plan)}
        for topic, plan in calls
    ]
    interactions = [
        {
            "interaction_id": f"{topic}_{plan}",
            "query_text": f"What is the {topic} fee of plan {plan}?",
            "answer": f"Nobody knows what a voyage of {plan} days needs." if topic == "loan" else fee(topic, plan),
            "application": "fee_assistant",
            "application_version": "v1",
            "tags": {"topic": topic},
            "asked_at": f"2026-05-{plan + 1:02d}T09:00:00Z",
        }
        for topic, plan in calls
    ]
    retrievals = [
        {"interaction_id": f"{topic}_{plan}", "rank": 1, "chunk_id": f"{topic}_{plan}", "text": fee(topic, plan)}
        for topic, plan in calls
    ]
    ratings = [
        {
            "interaction_id": f"{topic}_{plan}",
            "criterion": "faithfulness",
            "rater": "rater_1",
            "scale_point": 0 if topic == "loan" else 2,
            "guideline_version": "1.0",
            "rated_at": "2026-05-20T10:00:00Z",
        }
        for topic, plan in calls
        if plan < 6
    ]
    for name, rows in (
        ("documents", documents),
        ("chunks", chunks),
        ("interactions", interactions),
        ("retrievals", retrievals),
        ("ratings", ratings),
    ):
        write_lines(folder / f"{name}.jsonl", rows)


def restore(database: Path, schema: str = "main") -> None:
    """Write the kept warehouse as a DuckDB file, its tables in a schema."""
    database.parent.mkdir(parents=True, exist_ok=True)
    with duckdb.connect(str(database)) as connection:
        connection.execute(f"create schema if not exists {schema}; set schema = '{schema}'")
        connection.execute(gzip.decompress(KEPT.read_bytes()).decode())


def quote(text: str | None) -> str:
    """Return a text as a literal of SQL."""
    return "null" if text is None else "'" + text.replace("'", "''") + "'"


def keep(database: Path, manifest: Path) -> None:
    """Write a warehouse as SQL: the same bytes whenever it is the same warehouse."""
    nodes = json.loads(manifest.read_text(encoding="utf-8"))["nodes"].values()
    remembered = {
        node["alias"]
        for node in nodes
        if node["resource_type"] == "seed" or node["config"].get("materialized") == "incremental"
    }
    lines = []
    with duckdb.connect(str(database), read_only=True) as connection:
        tables = connection.execute("select table_name, sql from duckdb_tables() order by table_name").fetchall()
        for table, statement in tables:
            lines.append(statement)
            if table in remembered:
                # every value as text: DuckDB reads it back by the type of its column
                rows = connection.execute(f'select columns(*)::varchar from "{table}" order by all').fetchall()
                values = ["(" + ", ".join(map(quote, row)) + ")" for row in rows]
                lines += [f'insert into "{table}" values {", ".join(values)};'] if values else []
        views = connection.execute(
            "select view_name from duckdb_views() where not internal and schema_name = 'main' order by view_name"
        ).fetchall()
        lines += [f'create view "{view}" as select 1 as without_query;' for (view,) in views]
    KEPT.write_bytes(gzip.compress("\n".join(lines).encode(), mtime=0))


if __name__ == "__main__":
    keep(Path(sys.argv[1]), Path(sys.argv[2]))
