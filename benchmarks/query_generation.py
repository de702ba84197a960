"""Test queries from pages of annual reports: how many, how fast, and how many of them are acceptable.

FinanceBench's 10,129 pages stand for a bank's documents. 300 of them are sampled, in proportion to the length of their
documents; the offline generator makes queries and the checks select among them. A review sheet of accepted queries
is drawn by seeded hash; verdicts by the rubric of query_rubric.md stand in query_ratings.csv, ids only.
"""

from __future__ import annotations

import csv
import json
import math
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.harness import (
    ROOT,
    BenchmarkError,
    Outcome,
    Table,
    argument_parser,
    data_folder,
    finish,
    verdict,
    working_folder,
)
from hcat.encoders.embedding import encode_texts, load_encoder
from hcat.encoders.identities import resolve_encoder
from hcat.engine.keys import hash_text
from hcat.engine.sizes import embedding_tokens
from hcat.statistics.intervals import normal_quantile, wilson_interval
from hcat.test_set.generation.offline import Query, Settings, Source, Template, generate
from hcat.test_set.generation.selection import check_candidates

NAME = "query_generation"
TITLE = "Test queries from annual reports"
RATINGS = Path(__file__).with_name("query_ratings.csv")

#: Limits that are promised.
COUNT_CHUNKS = 300
LEAST_QUERIES = 600
MOST_SECONDS = 600.0
COUNT_RATED = 60
MOST_UNACCEPTABLE = 4

SEED = 20260103
_COUNT_PARTNERS = 8
_WINDOWS = 3
_WINDOW_CHARACTERS = 800


@dataclass(frozen=True, slots=True)
class Candidate:
    """A generated query with the page that it was made for."""

    query_id: str
    chunk_id: str
    query: Query


def read_pages(folder: Path) -> list[dict[str, Any]]:
    """Return the pages as chunks: chunk_id, document_id, title, text; ordered by document and page."""
    questions = pq.read_table(folder / "questions.parquet", columns=["doc_name", "company"]).to_pylist()
    companies = {row["doc_name"]: row["company"] for row in questions}
    pages = []
    for row in pq.read_table(folder / "pages.parquet").to_pylist():
        name = row["doc_name"]
        company, *rest = name.split("_")
        kind = rest[-1].replace("10K", "10-K").replace("10Q", "10-Q").replace("8K", "8-K")
        title = " ".join([companies.get(name, company), *rest[:-1], kind])
        chunk_id = f"{name}_{row['page_num']:04d}"
        pages.append({"chunk_id": chunk_id, "document_id": name, "title": title, "text": row["text"]})
    return sorted(pages, key=lambda page: page["chunk_id"])


def sample_pages(pages: Sequence[dict[str, Any]], count: int, seed: int) -> list[dict[str, Any]]:
    """Return every n-th page in the order of document and hash: each document has its share, its pages are by "
    "chance."""
    ordered = sorted(
        pages, key=lambda page: (page["document_id"], hash_text(str(seed), "sampled page", page["chunk_id"]))
    )
    return [ordered[math.floor((number + 0.5) * len(ordered) / count)] for number in range(min(count, len(ordered)))]


def generate_queries(
    pages: Sequence[dict[str, Any]], sampled: Sequence[dict[str, Any]], seed: int
) -> tuple[list[Candidate], Counter[tuple[str, str]]]:
    """Return the queries of all sampled pages by the shipped seeds, and what became of every request."""
    with (ROOT / "seeds" / "query_templates.csv").open(encoding="utf-8", newline="") as lines:
        templates = [Template.from_row(row) for row in csv.DictReader(lines)]
    with (ROOT / "seeds" / "test_query_types.csv").open(encoding="utf-8", newline="") as lines:
        plan = [(row["query_type"], float(row["queries_per_chunk"])) for row in csv.DictReader(lines)]
    by_document = defaultdict(list)
    for page in pages:
        by_document[page["document_id"]].append(page)
    settings = Settings(seed=seed)
    candidates: list[Candidate] = []
    statuses: Counter[tuple[str, str]] = Counter()
    for page in sampled:
        others = [other for other in by_document[page["document_id"]] if other is not page]
        others.sort(key=lambda other: hash_text(str(seed), "partner", page["chunk_id"], other["chunk_id"]))
        partners = [_source(other) for other in others[:_COUNT_PARTNERS]]
        for query_type, wanted in plan:
            share = int(hash_text(str(seed), "count", query_type, page["chunk_id"])[:13], 16) / 2**52
            count = math.floor(wanted) + (share < wanted % 1)
            if not count:
                continue
            outcome = generate(query_type, count, _source(page), partners, templates, settings)
            statuses[query_type, outcome.status] += 1
            for number, query in enumerate(outcome.queries):
                query_id = hash_text("query", str(seed), page["chunk_id"], query_type, str(number))
                candidates.append(Candidate(query_id, page["chunk_id"], query))
    return sorted(candidates, key=lambda each: each.query_id), statuses


def _source(page: dict[str, Any]) -> Source:
    return Source(page["chunk_id"], page["text"], page["title"])


def embed(candidates: Sequence[Candidate], sampled: Sequence[dict[str, Any]]) -> tuple[Any, dict[str, Any]]:
    """Return the vectors of queries, shape (n, 384), and of sampled pages (mean of windows spread over the text)."""
    identity = resolve_encoder("packaged", "auto", "auto")
    encoder, budget = load_encoder(identity), embedding_tokens(identity.device)
    windows = [window for page in sampled for window in _windows(page["text"])]
    texts = [candidate.query.text for candidate in candidates]
    vectors, _ = encode_texts(encoder, texts + windows, budget)
    import numpy as np

    pooled, position = {}, len(texts)
    for page in sampled:
        count = len(_windows(page["text"]))
        mean = vectors[position : position + count].sum(axis=0)
        pooled[page["chunk_id"]] = (mean / np.linalg.norm(mean)).astype(np.float32)
        position += count
    return vectors[: len(texts)], pooled


def _windows(text: str) -> list[str]:
    count = max(1, min(_WINDOWS, math.ceil(len(text) / _WINDOW_CHARACTERS)))
    step = max(0, len(text) - _WINDOW_CHARACTERS) / max(1, count - 1)
    return [text[int(number * step) : int(number * step) + _WINDOW_CHARACTERS] for number in range(count)]


def select(
    candidates: Sequence[Candidate], pages: Sequence[dict[str, Any]], vectors: Any, pooled: dict[str, Any]
) -> pa.Table:
    """Return the verdicts of the checks, in the order of the candidates."""
    texts = {page["chunk_id"]: page["text"] for page in pages}
    return check_candidates(
        pa.table(
            {
                "query_id": [each.query_id for each in candidates],
                "chunk_id": [each.chunk_id for each in candidates],
                "query_text": [each.query.text for each in candidates],
                "reference_answer": [each.query.reference_answer for each in candidates],
                "query_type": [each.query.query_type for each in candidates],
                "expected_behaviour": [each.query.expected_behaviour for each in candidates],
                "generator": ["offline"] * len(candidates),
                "encoder_name": ["all-MiniLM-L6-v2"] * len(candidates),
                "source_text": [
                    "\n".join(texts[chunk] for chunk in each.query.source_chunk_ids or (each.chunk_id,))
                    for each in candidates
                ],
                "embedding": pa.array(list(vectors), pa.list_(pa.float32())),
                "chunk_embedding": pa.array([pooled[each.chunk_id] for each in candidates], pa.list_(pa.float32())),
            }
        )
    )


def write_sheet(
    path: Path, accepted: Sequence[Candidate], pages: Sequence[dict[str, Any]], seed: int, count: int = COUNT_RATED
) -> list[str]:
    """Write the queries to be rated, one JSON object a line without any score, and return their review ids."""
    by_id = {page["chunk_id"]: page for page in pages}
    drawn = sorted(accepted, key=lambda each: hash_text(str(seed), "review sheet", each.query_id))[:count]
    ids = []
    with path.open("w", encoding="utf-8") as lines:
        for each in drawn:
            ids.append(review_id(each))
            chunks = each.query.source_chunk_ids or (each.chunk_id,)
            row = {
                "review_id": ids[-1],
                "query_type": each.query.query_type,
                "query": each.query.text,
                "reference_answer": each.query.reference_answer,
                "title": by_id[each.chunk_id]["title"],
                "source_chunk_ids": list(chunks),
                "source_texts": [by_id[chunk]["text"] for chunk in chunks],
            }
            lines.write(json.dumps(row, ensure_ascii=False) + "\n")
    return ids


def review_id(candidate: Candidate) -> str:
    """Return what a verdict is kept by: a hash of the query, its reference and its chunk."""
    query = candidate.query
    return hash_text("review", candidate.chunk_id, query.text, query.reference_answer or "")


def read_ratings() -> list[dict[str, str]]:
    """Return the verdicts: review_id, sheet_seed, verdict, point, rater."""
    with RATINGS.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def run(is_quick: bool, folder: Path, seed: int = SEED) -> Outcome:
    """Return queries, seconds and ratings; the review sheet lies in ``folder``.

    Raises
    ------
    BenchmarkError
        If the data folder is missing.
    """
    data = data_folder("financebench")
    if data is None:
        raise BenchmarkError("HCAT_BENCHMARK_DATA must name a folder that holds financebench")
    count_chunks = COUNT_CHUNKS // 10 if is_quick else COUNT_CHUNKS
    pages = read_pages(data)
    sampled = sample_pages(pages, count_chunks, seed)
    started = time.perf_counter()
    candidates, statuses = generate_queries(pages, sampled, seed)
    seconds_generation = time.perf_counter() - started
    started = time.perf_counter()
    vectors, pooled = embed(candidates, sampled)
    seconds_embedding = time.perf_counter() - started
    started = time.perf_counter()
    checked = select(candidates, pages, vectors, pooled)
    seconds_selection = time.perf_counter() - started
    reasons = checked["reason"].to_pylist()
    accepted = [each for each, reason in zip(candidates, reasons, strict=True) if reason is None]
    sheet = folder / f"review_sheet_{seed}.jsonl"
    drawn = write_sheet(sheet, accepted, pages, seed)

    types = Counter(each.query.query_type for each in accepted)
    made = Counter(each.query.query_type for each in candidates)
    rejected = Counter(reason for reason in reasons if reason)
    by_type = [
        [name, f"{made[name]:,}", f"{types[name]:,}", f"{types[name] / made[name]:.3f}" if made[name] else "-"]
        for name in sorted({query_type for query_type, _ in statuses})
    ]
    by_type.append(["all", f"{len(candidates):,}", f"{len(accepted):,}", f"{len(accepted) / len(candidates):.3f}"])
    seconds = seconds_generation + seconds_selection
    is_enough = is_quick or len(accepted) >= LEAST_QUERIES
    tables = [
        Table("Queries by type", ["type", "generated", "accepted", "share kept"], by_type),
        Table(
            "Rejected", ["reason", "queries"], [[reason, f"{count:,}"] for reason, count in sorted(rejected.items())]
        ),
        Table(
            "Requests without a query",
            ["type", "status", "requests"],
            [[*key, f"{count:,}"] for key, count in sorted(statuses.items()) if key[1] != "generated"],
        ),
        Table(
            "Seconds",
            ["part", "seconds", "limit"],
            [
                ["generation", f"{seconds_generation:.1f}", ""],
                ["selection", f"{seconds_selection:.1f}", ""],
                ["both, of which the limit holds with topics and sampling", f"{seconds:.1f}", f"{MOST_SECONDS:.0f}"],
                ["embedding of queries and sampled pages (apart)", f"{seconds_embedding:.1f}", ""],
            ],
        ),
    ]
    ratings_rows, is_good = _ratings(drawn, seed, is_quick)
    tables.append(
        Table("Ratings by the rubric", ["sheet", "rated", "unacceptable", "95 % interval", "limit"], ratings_rows)
    )
    notes = [
        f"{len(accepted):,} queries of {len(sampled)} sampled pages out of {len(pages):,}; at least "
        f"{LEAST_QUERIES} are "
        f"promised of {COUNT_CHUNKS}: {verdict(is_enough)}.",
        "The rubric (benchmarks/query_rubric.md) was fixed before the filters were tuned. The verdicts come from an "
        "AI model that read query, type and reference answer (a sentence of the source page as it stands there) and "
        "no score of any filter; no person has checked them. Sheets of other seeds were rated while the rules were "
        "tuned, each with the rules of that time; the sheet of this seed was drawn and rated after the last change: "
        f"{verdict(is_good)}.",
        "Pages of FinanceBench stay outside the project: query_ratings.csv holds hashes and verdicts only.",
    ]
    return Outcome(NAME, TITLE, tables, notes, is_quick, is_enough and is_good and seconds <= MOST_SECONDS)


def _ratings(drawn: Sequence[str], seed: int, is_quick: bool) -> tuple[list[list[str]], bool]:
    """Return one row per rated sheet, and whether the sheet of this seed meets the limit (a quick try has none)."""
    sheets: dict[str, list[dict[str, str]]] = defaultdict(list)
    for row in read_ratings():
        sheets[row["sheet_seed"]].append(row)
    rows, is_good = [], True
    for name, ratings in sorted(sheets.items()):
        bad = sum(row["verdict"] == "unacceptable" for row in ratings)
        low, high = wilson_interval(bad / len(ratings), len(ratings), normal_quantile(0.975))
        current = {row["review_id"] for row in ratings}
        label = f"seed {name}"
        if name == str(seed) and not is_quick:
            label += ", this run" if current == set(drawn) else ", another generator"
            is_good = bad <= MOST_UNACCEPTABLE and current == set(drawn)
        rows.append([label, f"{len(ratings)}", f"{bad}", f"{low:.3f} to {high:.3f}", f"{MOST_UNACCEPTABLE}"])
    return rows, is_good


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark from the command line."""
    parser = argument_parser(NAME, __doc__ or "")
    parser.add_argument("--seed", type=int, default=SEED, help="another sample of pages and another review sheet")
    options = parser.parse_args(arguments)
    try:
        with working_folder(options.folder) as folder:
            outcome = run(options.quick, folder, options.seed)
    except BenchmarkError as error:
        print(f"{NAME}: {error}", file=sys.stderr)
        return 2
    return finish(outcome, f"python -m benchmarks.{NAME}")


if __name__ == "__main__":
    sys.exit(main())
