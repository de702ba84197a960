"""A warehouse that hcat 0.1.0 made, kept as compressed SQL, and the logs that it was made from.

Two builds made it with the code of commit 11b6f13~1, the last one before the changes of 0.2.0, of the logs that
:func:`write_old_logs` writes, with HCAT_ENCODER=hashing:8, HCAT_CLASSIFIER=hashing and HCAT_TAGGER=none.
Incremental tables and seeds have their rows. Tables that each build makes anew are empty, and views have lost their
query.
"""

import gzip
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
        {"document_id": topic, "title": f"Fees of the {topic}", "text": " ".join(fee(topic, plan) for plan in PLANS)}
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
