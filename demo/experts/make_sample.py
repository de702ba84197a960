"""Make the sample in raw_logs/ from the ExpertQA data: each claim that came with evidence, in the raw contract.

``python demo/experts/make_sample.py claims.parquet r1_data_anon.jsonl`` reads the claims with the judgements of the
experts, and the publisher's list of questions with their authors. README.md says where both come from.
The same input gives the same bytes.
"""

import hashlib
import json
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

LOGS = Path(__file__).parent / "raw_logs"
#: Column -> criterion and the judgements from the worst to the best. "N/A" says that the source could not be opened.
CRITERIA = {
    "support": ("faithfulness", ("Incomplete", "Partial", "Complete")),
    "correctness": (
        "truthfulness",
        ("Definitely incorrect", "Likely incorrect", "Unsure", "Probably correct", "Definitely correct"),
    ),
    "informativeness": ("relevance", ("Uninformative", "Not too important", "A bit relevant", "Very relevant")),
}
PASSAGE = re.compile(r"\[\d+\] (\S+)\n\n(.+)", re.DOTALL)


def identify(kind: str, *parts: object) -> str:
    """Return an id that depends on the content alone."""
    return f"{kind}_{hashlib.sha256('|'.join(map(str, parts)).encode()).hexdigest()[:12]}"


def write(entity: str, records: Iterable[dict[str, Any]]) -> None:
    """Write the records of an entity, each once and in the order of their text."""
    lines = sorted({json.dumps(record, ensure_ascii=False, sort_keys=True) for record in records})
    (LOGS / f"{entity}.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def main(claims: Path, questions: Path) -> None:
    """Write interactions, queries, retrievals, chunks and ratings."""
    asked = (json.loads(line) for line in questions.read_text(encoding="utf-8").splitlines())
    authors = {row["question"]: f"expert_{row['annotator_id']}" for row in asked}
    records: dict[str, list[dict[str, Any]]] = {
        name: [] for name in ("interactions", "queries", "retrievals", "chunks", "ratings")
    }
    for row in pq.read_table(claims).to_pylist():
        # three claims were never judged: the publisher writes "None"
        if not row["evidence"] or row["support"] == "None":
            continue
        question, system, expert = row["question"], row["system"], authors[row["question"]]
        claim, query = identify("claim", question, system, row["claim_idx"]), identify("question", question)
        records["queries"].append({"query_id": query, "text": question, "source_group": expert})
        records["interactions"].append(
            {
                "interaction_id": claim,
                "query_id": query,
                "application": "expertqa",
                "application_version": system,
                "sample_index": row["claim_idx"],
                "language": "en",
                "answer": row["claim"],
                "tags": {"topic": row["field"]},
            }
        )
        # a link alone is no passage: nobody can say from it whether the claim is supported
        passages = [found.groups() for found in map(PASSAGE.fullmatch, row["evidence"]) if found]
        for rank, (address, text) in enumerate(passages, start=1):
            chunk = identify("passage", address, text)
            records["chunks"].append({"chunk_id": chunk, "document_id": address, "text": text})
            records["retrievals"].append({"interaction_id": claim, "rank": rank, "chunk_id": chunk})
        for column, (criterion, points) in CRITERIA.items():
            judgement = row[column]
            records["ratings"].append(
                {
                    "interaction_id": claim,
                    "rater": expert,
                    "rater_kind": "person",
                    "criterion": criterion,
                    "guideline_version": "ExpertQA",
                    "scale_point": "cannot_judge" if judgement == "N/A" else points.index(judgement),
                }
            )
    for entity, rows in records.items():
        write(entity, rows)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
