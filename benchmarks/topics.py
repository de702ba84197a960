"""Topics against human intents (BANKING77), and what they cost for ten thousand pages (FinanceBench)."""

import json
import statistics
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as parquet
import yaml

from benchmarks.harness import ROOT, Outcome, Table, build, data_folder, run_alone, verdict, working_folder
from hcat.encoders.embedding import encode_texts, load_encoder
from hcat.encoders.identities import resolve_encoder
from hcat.statistics.arrays import Integers as Labels
from hcat.statistics.arrays import Vectors
from hcat.topics.models import NOISE, TopicSettings, cluster_vectors, find_centres

COUNT_SEEDS = 10
COUNT_SEEDS_QUICK = 2
#: Texts of a quick try.
COUNT_QUICK = 1_500

#: Median adjusted Rand index against the 77 intents, over the seeds, with the shipped settings and k = 77.
LIMIT_ADJUSTED_RAND = 0.52

#: Minutes that topics of all pages may take, embedding apart; sampling and queries of the same budget come on top.
LIMIT_MINUTES = 10.0

#: Share of the texts that are assigned to topics fitted on the others.
SHARE_LATER = 0.2

#: Models of the build that make topics from vectors.
_TOPIC_MODELS = (
    "int_topics_fitted",
    "int_chunk_topics",
    "int_topics_measured",
    "dim_topics",
    "fct_chunk_topics",
    "fct_topic_stability",
)


def embed(texts: Sequence[str], cache: Path) -> tuple[Vectors, float]:
    """Return unit vectors of the packaged encoder and the seconds that they took; 0 when they lay in ``cache``."""
    if cache.exists():
        vectors: Vectors = np.load(cache)
        if len(vectors) == len(texts):
            return vectors, 0.0
    started = time.perf_counter()
    vectors, _ = encode_texts(load_encoder(resolve_encoder("packaged", "cpu", "float32")), texts, 2048)
    np.save(cache, vectors)
    return vectors, time.perf_counter() - started


def adjusted_rand(intents: Labels, labels: Labels) -> float:
    """Return the adjusted Rand index (Hubert and Arabie 1985)."""
    from sklearn.metrics import adjusted_rand_score

    return float(adjusted_rand_score(intents, labels))


def measure_intents(data: Path, work: Path, is_quick: bool) -> tuple[list[Table], list[str], bool]:
    """Return tables and notes of the topics of bank queries, and whether the limit is met."""
    rows = parquet.read_table(data / "banking77.parquet").to_pylist()
    if is_quick:
        rows = rows[:: len(rows) // COUNT_QUICK]
    names = sorted({row["category"] for row in rows})
    intents = np.array([names.index(row["category"]) for row in rows])
    vectors, seconds = embed([row["text"] for row in rows], work / f"banking77_{len(rows)}.npy")
    variables = yaml.safe_load((ROOT / "dbt_project.yml").read_text(encoding="utf-8"))["vars"]["hcat"]
    shipped = TopicSettings(variables["hcat_random_seed"], variables["hcat_topic_method"])
    default = replace(shipped, method="k_means", count_topics=len(names))
    count_seeds = COUNT_SEEDS_QUICK if is_quick else COUNT_SEEDS
    variants: dict[str, TopicSettings] = {
        "k-means alone": replace(default, reduction="none", count_neighbours=0),
        f"PCA to {default.count_dimensions}, k-means": replace(default, count_neighbours=0),
        f"{default.count_neighbours} neighbours, k-means": replace(default, reduction="none"),
        **{
            f"{count} neighbours, PCA to {default.count_dimensions}, k-means": replace(default, count_neighbours=count)
            for count in sorted({5, 10, 20, default.count_neighbours})
        },
    }
    lines, shipped_scores = [], []
    for name, settings in variants.items():
        started = time.perf_counter()
        scores = [
            adjusted_rand(intents, cluster_vectors(vectors, settings, shipped.random_seed + seed).labels)
            for seed in range(count_seeds)
        ]
        if settings == default:
            shipped_scores = scores
        seconds_each = (time.perf_counter() - started) / count_seeds
        is_shipped = settings == default
        limit = f"{LIMIT_ADJUSTED_RAND}: {verdict(statistics.median(scores) >= LIMIT_ADJUSTED_RAND)}"
        title = f"{name} (shipped)" if is_shipped else name
        lines.append((title, *_spread(scores), f"{seconds_each:.1f}", limit if is_shipped and not is_quick else ""))
    fitted = cluster_vectors(vectors, default).labels
    shuffled = [
        adjusted_rand(intents, np.random.default_rng(shipped.random_seed + seed).permutation(fitted))
        for seed in range(count_seeds)
    ]
    lines.insert(0, ("topics of the same sizes at random", *_spread(shuffled), "", ""))
    open_variants = (
        ("k-means, number by silhouette", replace(shipped, method="k_means", count_topics=0)),
        ("HDBSCAN", replace(shipped, method="hdbscan")),
        ("HDBSCAN, no neighbours", replace(shipped, method="hdbscan", count_neighbours=0)),
        ("DBSCAN, radius at the knee", replace(shipped, method="dbscan")),
    )
    columns = ("how", "median", "least", "largest", "seconds a fit", "at least")
    tables = [
        Table(f"Adjusted Rand index of topics and {len(names)} intents, {count_seeds} seeds", columns, lines),
        Table(
            "Texts assigned afterwards: topics fitted on four fifths, the last fifth put to the nearest centre",
            ("figure", "value"),
            list(_assign_later(vectors, intents, default)),
        ),
        Table(
            "Without a given number of topics",
            ("how", "topics", "noise", "adjusted Rand", "of what is no noise", "seconds"),
            [_density_line(name, vectors, intents, settings) for name, settings in open_variants],
        ),
    ]
    notes = [
        f"{len(rows):,} queries; embedding took {seconds:.0f} s (0 = kept from an earlier run).",
        "The number of topics (77) is given; nothing else was told about the intents. 5, 10 and 20 neighbours were "
        "tried on them, with and without PCA; the table shows all. 10 neighbours and 50 dimensions were set before "
        "the others were tried.",
    ]
    return tables, notes, is_quick or statistics.median(shipped_scores) >= LIMIT_ADJUSTED_RAND


def _density_line(name: str, vectors: Vectors, intents: Labels, settings: TopicSettings) -> tuple[str, ...]:
    started = time.perf_counter()
    labels = cluster_vectors(vectors, settings).labels
    seconds = time.perf_counter() - started
    clustered = labels != NOISE
    of_clustered = adjusted_rand(intents[clustered], labels[clustered]) if clustered.any() else 0.0
    return (
        name,
        str(int(labels.max()) + 1),
        f"{np.mean(~clustered):.1%}",
        f"{adjusted_rand(intents, labels):.3f}",
        f"{of_clustered:.3f}",
        f"{seconds:.1f}",
    )


def _assign_later(vectors: Vectors, intents: Labels, settings: TopicSettings) -> Iterator[tuple[str, str]]:
    order = np.random.default_rng(settings.random_seed).permutation(len(vectors))
    later = np.sort(order[: round(SHARE_LATER * len(vectors))])
    earlier = np.setdiff1d(np.arange(len(vectors)), later)
    labels = cluster_vectors(vectors[earlier], settings).labels
    centres = find_centres(vectors[earlier], labels)
    assigned = (np.sum(centres**2, axis=1) - 2 * vectors[later] @ centres.T).argmin(axis=1)
    together = cluster_vectors(vectors, settings).labels
    yield "adjusted Rand with the intents, texts of the fit", f"{adjusted_rand(intents[earlier], labels):.3f}"
    yield "adjusted Rand with the intents, texts assigned", f"{adjusted_rand(intents[later], assigned):.3f}"
    yield (
        "adjusted Rand with the intents, the same texts in a fit of all",
        (f"{adjusted_rand(intents[later], together[later]):.3f}"),
    )


def _spread(scores: Sequence[float]) -> tuple[str, str, str]:
    return f"{statistics.median(scores):.3f}", f"{min(scores):.3f}", f"{max(scores):.3f}"


def measure_pages(data: Path, work: Path, is_quick: bool) -> tuple[list[Table], list[str], bool]:
    """Return tables and notes of the topics of filing pages through the whole build, and whether the limit is met."""
    raw_logs = work / "pages"
    count = write_pages(parquet.read_table(data / "pages.parquet").to_pylist(), raw_logs, 60 if is_quick else 1)
    arguments = ["--select", "+fct_chunk_topics", "+fct_topic_stability", "dim_topics", "topics_are_complete"]
    # tests of models that are built, and of no others
    arguments += ["--indirect-selection", "cautious", "--vars", json.dumps({"hcat_test_set": True})]
    measured = build(raw_logs, work / "pages_warehouse", arguments=arguments)
    node_seconds = measured.node_seconds
    seconds = sum(node_seconds[name] for name in _TOPIC_MODELS)
    is_met = seconds <= 60 * LIMIT_MINUTES and not measured.failed_tests
    lines = [
        ("pages", f"{count:,}"),
        ("whole build, s", f"{measured.seconds:.0f}"),
        ("of it embedding (short when the folder is kept), s", f"{node_seconds['int_chunks_embedded']:.0f}"),
        *((f"of it {name}, s", f"{node_seconds[name]:.1f}") for name in _TOPIC_MODELS),
        (f"topics from vectors, s (limit {60 * LIMIT_MINUTES:.0f}: {verdict(is_met)})", f"{seconds:.1f}"),
        ("peak memory of the build, MiB", f"{measured.peak_mebibytes:,.0f}"),
        ("failed tests", ", ".join(measured.failed_tests) or "none"),
        *_describe_topics(work / "pages_warehouse" / "hcat.duckdb"),
    ]
    notes = ["Pages of filings are chunks, one vector each: the mean of at most two windows."]
    return [Table("Topics of filing pages", ("figure", "value"), lines)], notes, is_met


def write_pages(pages: Sequence[Mapping[str, Any]], folder: Path, step: int) -> int:
    """Write every ``step``-th page that is not blank as a chunk of the raw contract and return their number."""
    folder.mkdir(parents=True, exist_ok=True)
    count = 0
    with (folder / "chunks.jsonl").open("w", encoding="utf-8") as lines:
        for page in pages[::step]:
            if page["text"].strip():
                record = {
                    "chunk_id": f"{page['doc_name']}|{page['page_num']}",
                    "document_id": page["doc_name"],
                    "text": page["text"],
                }
                lines.write(json.dumps(record) + "\n")
                count += 1
    return count


def _describe_topics(warehouse: Path) -> list[tuple[str, str]]:
    import duckdb

    with duckdb.connect(str(warehouse), read_only=True) as connection:
        topics = connection.execute("select count(*), min(count_chunks), max(count_chunks) from dim_topics").fetchone()
        stability = connection.execute(
            "select variation, mean_adjusted_rand, minimum_adjusted_rand from fct_topic_stability"
            " where is_current order by variation desc"
        ).fetchall()
    smallest = "topics (least and most pages)"
    described = [(smallest, "{} ({:,} to {:,})".format(*topics))] if topics else []
    for variation, mean, minimum in stability:
        described.append((f"adjusted Rand with another {variation}, mean (least)", f"{mean:.3f} ({minimum:.3f})"))
    return described


def run(is_quick: bool = False, folder: Path | None = None) -> Outcome | None:
    """Return topics against intents and the cost of topics of pages; None without either data set."""
    tables: list[Table] = []
    notes: list[str] = []
    is_within = True
    with working_folder(folder) as work:
        for name, measure in (("banking77", measure_intents), ("financebench", measure_pages)):
            data = data_folder(name)
            if data is None:
                notes.append(f"{name}: HCAT_BENCHMARK_DATA names no folder that holds it; left out.")
                continue
            found, said, is_met = measure(data, work, is_quick)
            tables += found
            notes += said
            is_within &= is_met
    if not tables:
        return None
    title = "Topics: agreement with human intents, stability and cost"
    return Outcome("topics", title, tables, notes, is_quick, is_within)


if __name__ == "__main__":
    sys.exit(run_alone("topics", __doc__, run))
