"""Retrieval: Cranfield's metrics against pytrec_eval, and FinanceBench's pages retrieved in several ways, by one build.

What retrieved the pages is written as raw logs, dbt builds them, and the figures are read from the marts.
"""

import json
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
from pyarrow import parquet

from benchmarks.discrimination import Estimate, estimate_from_draws
from benchmarks.harness import BenchmarkError, Outcome, Table, build, data_folder, run_alone, verdict, working_folder
from hcat.statistics.arrays import Floats, Vectors

Judgements = Mapping[str, Mapping[str, int]]
Rankings = Mapping[str, Sequence[str]]

#: Largest difference to pytrec_eval.
LIMIT_DIFFERENCE = 1e-9
CUT_OFFS = (1, 3, 5, 10)
#: Pages that a run retrieves.
DEPTH = 10
COUNT_DRAWS = 1_000
SEED = 20260101
#: Okapi BM25 (Robertson and Zaragoza 2009): saturation of a word's count, and how much long pages are held back.
BM25_SATURATION = 1.5
BM25_LENGTH = 0.75
#: Characters of a window, about 200 word pieces, and windows of a page at most, spread over it: bounds the embedding.
WINDOW_CHARACTERS = 800
WINDOWS_OF_A_PAGE = 3
#: Filings of the quick try.
QUICK_FILINGS = 1
#: Metrics that are shown, with k.
SHOWN = (("recall", 1), ("recall", 5), ("recall", 10), ("ndcg", 10), ("reciprocal_rank", None))
#: Runs in the order of the table; those after the first two are trivial.
RUNS = ("BM25", "MiniLM", "random pages", "longest pages", "random pages of the company")
REFERENCE = RUNS[-1]

_WORDS = re.compile(r"[a-z0-9]+")
_BATCH_TOKENS = 4096


class BM25:
    """Okapi BM25 over a list of texts.

    Notes
    -----
    score = sum over distinct words of the query of idf x c (k_1 + 1) / (c + k_1 (1 - b + b L / mean L)) with
    idf = ln(1 + (N - n + .5) / (n + .5)), which is above 0 for every word.
    """

    def __init__(self, texts: Sequence[str], saturation: float = BM25_SATURATION, length: float = BM25_LENGTH) -> None:
        from sklearn.feature_extraction.text import CountVectorizer

        self._vectorizer = CountVectorizer(analyzer=lambda text: _WORDS.findall(text.lower()))
        counts = self._vectorizer.fit_transform(texts).astype(np.float64).tocsr()
        lengths = np.asarray(counts.sum(axis=1)).ravel()
        held_back = saturation * (1 - length + length * lengths / lengths.mean())
        documents = np.bincount(counts.indices, minlength=counts.shape[1])
        idf = np.log1p((len(texts) - documents + 0.5) / (documents + 0.5))
        rows = np.repeat(np.arange(len(texts)), np.diff(counts.indptr))
        counts.data = idf[counts.indices] * counts.data * (saturation + 1) / (counts.data + held_back[rows])
        self._weights = counts

    def score(self, query: str) -> Floats:
        """Return the score of every text, shape (n,), at least 0."""
        words = self._vectorizer.transform([query])
        words.data[:] = 1
        result: Floats = np.asarray((self._weights @ words.T).todense(), dtype=np.float64).ravel()
        return result


def rank(scores: Floats, names: Sequence[str], count: int) -> list[str]:
    """Return the names with the largest scores, best first; ties go to the earlier name in the list."""
    return [names[position] for position in np.argsort(-scores, kind="stable")[:count]]


def cut_windows(text: str) -> list[str]:
    """Return windows of a page: all that it has, or as many as are allowed, spread from its start to its end."""
    starts = np.arange(0, max(len(text), 1), WINDOW_CHARACTERS)
    if len(starts) > WINDOWS_OF_A_PAGE:
        starts = np.linspace(0, len(text) - WINDOW_CHARACTERS, WINDOWS_OF_A_PAGE).astype(int)
    return [text[start : start + WINDOW_CHARACTERS] for start in starts]


def embed(texts: Sequence[str], cache: Path) -> Vectors:
    """Return unit vectors of the packaged encoder, kept in a file beside the other files of the benchmark."""
    if cache.exists():
        kept: Vectors = np.load(cache)
        if len(kept) == len(texts):
            return kept
    from hcat.encoders.embedding import encode_texts, load_encoder
    from hcat.encoders.identities import resolve_encoder

    encoder = load_encoder(resolve_encoder("packaged", "auto", "auto"))
    order = np.argsort([len(text) for text in texts], kind="stable")
    vectors, _ = encode_texts(encoder, [texts[position] for position in order], _BATCH_TOKENS)
    result = np.empty_like(vectors)
    result[order] = vectors
    np.save(cache, result)
    return result


def write_logs(
    folder: Path,
    questions: Mapping[str, str],
    judgements: Judgements,
    runs: Mapping[str, Rankings],
    pages: Mapping[str, str] | None = None,
) -> Path:
    """Return the folder of raw logs that hold the runs: one interaction, without an answer, per (run, question).

    Pages, named `<document>|<page>`, are landed as chunks of their documents.
    """
    raw = folder / "raw"
    if pages:
        _write_lines(
            raw / "documents.jsonl", ({"document_id": name} for name in sorted({page.split("|")[0] for page in pages}))
        )
        _write_lines(
            raw / "chunks.jsonl",
            (
                {
                    "chunk_id": name,
                    "document_id": name.split("|")[0],
                    "chunk_index": int(name.split("|")[1]),
                    "text": text,
                }
                for name, text in pages.items()
            ),
        )
    _write_lines(
        raw / "queries.jsonl",
        ({"query_id": name, "text": text} for name, text in questions.items() if name in judgements),
    )
    _write_lines(
        raw / "interactions.jsonl",
        (
            {"interaction_id": f"{run}|{name}", "query_id": name, "answer": "", "application": run, "run_id": run}
            for run, rankings in runs.items()
            for name in rankings
        ),
    )
    _write_lines(
        raw / "retrievals.jsonl",
        (
            {"interaction_id": f"{run}|{name}", "chunk_id": chunk, "rank": place}
            for run, rankings in runs.items()
            for name, chunks in rankings.items()
            for place, chunk in enumerate(chunks, start=1)
        ),
    )
    _write_lines(
        raw / "relevance_judgements.jsonl",
        (
            {"query_id": name, "chunk_id": chunk, "judge": "published", "grade": grade}
            for name, grades in judgements.items()
            for chunk, grade in grades.items()
        ),
    )
    return raw


def _write_lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8") as lines:
        for row in rows:
            lines.write(json.dumps(row) + "\n")


def build_and_read(raw: Path, folder: Path, model: str) -> tuple[list[tuple[Any, ...]], float]:
    """Return the rows of a model's query after one build of it and all it needs, and the seconds of the build.

    Retrieval metrics compare ids with judgements: no vector enters them, so that the build runs without a model.
    """
    warehouse = folder / "warehouse"
    columns = {
        "int_retrieval_quality": "interaction_id, concat_ws('_at_', metric_name, k), score from int_retrieval_quality",
        "fct_retrieval_quality": "system, query_id, metric_name, k, score from fct_retrieval_quality",
    }[model]
    arguments = ["--select", f"+{model}", "--exclude-resource-type", "test", "--exclude-resource-type", "unit_test"]
    measured = build(
        raw, warehouse, arguments=arguments, environment={"HCAT_ENCODER": "hashing:32", "HCAT_CLASSIFIER": "none"}
    )
    with duckdb.connect(str(warehouse / "hcat.duckdb"), read_only=True) as connection:
        return connection.execute(f"select {columns} order by all").fetchall(), measured.seconds


def compare_cranfield(data: Path, folder: Path, count_queries: int | None) -> tuple[float, int, int]:
    """Return (largest difference to pytrec_eval, scores compared, queries) of a tf-idf run over Cranfield."""
    import pytrec_eval
    from sklearn.feature_extraction.text import TfidfVectorizer

    documents, queries, relevance = (
        parquet.read_table(data / f"{name}.parquet").to_pydict() for name in ("documents", "queries", "qrels")
    )
    questions = dict(zip(map(str, queries["query_id"]), queries["query"], strict=True))
    questions = dict(list(questions.items())[:count_queries])
    # Cranfield counts from 1 (best) to 4; anything else is not relevant
    judgements: dict[str, dict[str, int]] = {}
    for name, document, grade in zip(relevance["query_id"], relevance["doc_id"], relevance["grade"], strict=True):
        if str(name) in questions:
            judgements.setdefault(str(name), {})[str(document)] = 5 - grade if 1 <= grade <= 4 else 0
    names = [str(name) for name in documents["doc_id"]]
    vectorizer = TfidfVectorizer(sublinear_tf=True)
    vectors = vectorizer.fit_transform(documents["text"])
    similarities = (vectorizer.transform(questions.values()) @ vectors.T).toarray()
    rankings = {name: rank(row, names, 20) for name, row in zip(questions, similarities, strict=True)}
    rows, _ = build_and_read(
        write_logs(folder, questions, judgements, {"tf-idf": rankings}), folder, "int_retrieval_quality"
    )
    ours = {(name.split("|")[1], metric): score for name, metric, score in rows if score is not None}

    cuts = ",".join(map(str, CUT_OFFS))
    evaluator = pytrec_eval.RelevanceEvaluator(
        judgements, {f"recall.{cuts}", f"P.{cuts}", f"ndcg_cut.{cuts}", "recip_rank", "map"}
    )
    # pytrec_eval ranks by score: 1 / rank keeps the order and has no ties
    reference = evaluator.evaluate(
        {name: {chunk: 1 / place for place, chunk in enumerate(chunks, 1)} for name, chunks in rankings.items()}
    )
    words = {"recall": "recall", "precision": "P", "ndcg": "ndcg_cut"}
    measures = {f"{our}_at_{cut}": f"{their}_{cut}" for our, their in words.items() for cut in CUT_OFFS}
    measures |= {"reciprocal_rank": "recip_rank", "average_precision": "map"}
    # a query without any relevant document tells nothing: pytrec_eval calls it 0, here it is not judged
    expected = {
        (name, our): reference[name][their]
        for name, grades in judgements.items()
        if max(grades.values()) > 0
        for our, their in measures.items()
    }
    if expected.keys() != ours.keys():
        raise BenchmarkError(f"Cranfield: expected {len(expected)} scores, the build has {len(ours)} others")
    return max(abs(ours[key] - expected[key]) for key in expected), len(expected), len({key[0] for key in expected})


def retrieve_pages(
    data: Path, folder: Path, is_quick: bool
) -> tuple[dict[str, str], dict[str, str], Judgements, Mapping[str, Rankings]]:
    """Return (pages, questions, judged pages, what each run retrieves) of FinanceBench.

    A judgement of a page that is not among the pages cannot be found by anybody and is left out, and so is a question
    that has no other.
    """
    stored = parquet.read_table(data / "pages.parquet").to_pydict()
    asked = parquet.read_table(
        data / "questions.parquet", columns=["financebench_id", "company", "doc_name", "question"]
    )
    judged = parquet.read_table(data / "evidence_page_qrels.parquet").to_pydict()
    company_of = dict(zip(asked["doc_name"].to_pylist(), asked["company"].to_pylist(), strict=True))
    kept_filings = sorted(set(stored["doc_name"]))[: QUICK_FILINGS if is_quick else None]
    kept = [position for position, filing in enumerate(stored["doc_name"]) if filing in kept_filings]
    names = [f"{stored['doc_name'][position]}|{stored['page_num'][position]}" for position in kept]
    texts = [stored["text"][position] or "" for position in kept]
    companies = np.array([company_of.get(stored["doc_name"][position], "") for position in kept])
    known = set(names)
    judgements: dict[str, dict[str, int]] = {}
    for name, filing, page in zip(judged["financebench_id"], judged["doc_name"], judged["page_num"], strict=True):
        if f"{filing}|{page}" in known:
            judgements.setdefault(name, {})[f"{filing}|{page}"] = 1
    rows = [row for row in asked.to_pylist() if row["financebench_id"] in judgements]
    questions = {row["financebench_id"]: row["question"] for row in rows}

    bm25 = BM25(texts)
    windows = [cut_windows(text) for text in texts]
    starts = np.cumsum([0, *(len(cut) for cut in windows[:-1])])
    window_vectors = embed([window for cut in windows for window in cut], folder / f"windows_{len(names)}.npy")
    question_vectors = embed(list(questions.values()), folder / f"questions_{len(questions)}.npy")
    lengths = np.array([len(text) for text in texts], dtype=np.float64)
    random = np.random.default_rng(SEED)
    runs: dict[str, dict[str, list[str]]] = {name: {} for name in RUNS}
    for place, row in enumerate(rows):
        name = row["financebench_id"]
        noise = random.random(len(names))
        # the window that fits best speaks for its page
        similarity = np.maximum.reduceat(window_vectors @ question_vectors[place], starts).astype(np.float64)
        scores = (
            bm25.score(row["question"]),
            similarity,
            noise,
            lengths,
            np.where(companies == row["company"], noise, -1.0),
        )
        for run, values in zip(RUNS, scores, strict=True):
            runs[run][name] = rank(values, names, DEPTH)
    return dict(zip(names, texts, strict=True)), questions, judgements, runs


def bootstrap_mean(scores: Floats, random: np.random.Generator, count_draws: int = COUNT_DRAWS) -> Estimate:
    """Return the mean with its percentile bootstrap interval over questions."""
    drawn = random.integers(0, len(scores), size=(count_draws, len(scores)))
    return estimate_from_draws(float(scores.mean()), scores[drawn].mean(axis=1))


def tabulate_quality(rows: Sequence[tuple[Any, ...]]) -> Table:
    """Return the table of all runs: mean per metric, and the difference to random pages of the right company."""
    scores: dict[tuple[str, str, int | None], dict[str, float]] = {}
    for run, name, metric, k, score in rows:
        scores.setdefault((run, metric, k), {})[name] = score
    names = sorted(next(iter(scores.values())))
    lines = []
    for run in RUNS:
        cells = [run]
        for metric, k in SHOWN:
            own = np.array([scores[run, metric, k][name] for name in names])
            reference = np.array([scores[REFERENCE, metric, k][name] for name in names])
            # the same questions are drawn for every cell
            found = bootstrap_mean(own, np.random.default_rng(SEED))
            more = bootstrap_mean(own - reference, np.random.default_rng(SEED))
            sign = "*" if more.low > 0 else ""
            cells.append(f"{found.value:.3f} ({found.low:.3f} to {found.high:.3f}){sign}")
        lines.append(cells)
    columns = ("run", *(metric if k is None else f"{metric} at {k}" for metric, k in SHOWN))
    return Table(f"FinanceBench, {len(names)} questions: means with 95 % intervals by question", columns, lines)


def run(is_quick: bool = False, folder: Path | None = None) -> Outcome | None:
    """Return the outcome; None when the data are not there."""
    cranfield, financebench = data_folder("cranfield"), data_folder("financebench")
    if cranfield is None or financebench is None:
        return None
    with working_folder(folder) as place:
        (place / "cranfield").mkdir(exist_ok=True)
        (place / "financebench").mkdir(exist_ok=True)
        difference, count_scores, count_queries = compare_cranfield(
            cranfield, place / "cranfield", 30 if is_quick else None
        )
        pages, questions, judgements, runs = retrieve_pages(financebench, place / "financebench", is_quick)
        raw = write_logs(place / "financebench", questions, judgements, runs, pages)
        rows, seconds = build_and_read(raw, place / "financebench", "fct_retrieval_quality")
    is_equal = difference <= LIMIT_DIFFERENCE
    cells = (f"{count_queries} queries", f"{count_scores:,}", f"{difference:.1e}", f"{LIMIT_DIFFERENCE:g}")
    tables = [
        Table(
            "Cranfield: metrics of a build against pytrec_eval, tf-idf run of 20 documents a query",
            ("judged", "scores", "largest difference", "limit", "verdict"),
            [(*cells, verdict(is_equal))],
        ),
        tabulate_quality(rows),
    ]
    count_judged = sum(len(grades) for grades in judgements.values())
    notes = [
        f"FinanceBench: {len(pages):,} pages, each a chunk; {len(questions)} questions, {count_judged} judged pages "
        "that are among them. Judged pages that are missing are left out, and so are questions with no other page. "
        f"{DEPTH} pages a question; build of {len(RUNS)} runs: {seconds:.0f} s.",
        f"* = better than {REFERENCE}, the same questions bootstrapped in pairs ({COUNT_DRAWS:,} draws).",
        f"MiniLM: the best of at most {WINDOWS_OF_A_PAGE} windows of {WINDOW_CHARACTERS} characters, spread over the "
        f"page. BM25: k_1 = {BM25_SATURATION}, b = {BM25_LENGTH}, words and numbers in small letters, no stemming.",
        "The builds run without a model (random vectors): retrieval metrics compare ids with judgements alone.",
    ]
    return Outcome("retrieval", "Retrieval metrics", tables, notes, is_quick, is_quick or is_equal)


if __name__ == "__main__":
    sys.exit(run_alone("retrieval", __doc__, run))
