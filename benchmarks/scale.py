"""Everything after the encoder at 100,000 interactions: time and memory of the build on synthetic logs.

The encoder is `hashing:384` (seeded vectors, no model), and the models of classes and names are switched off, so that
what is measured is the pipeline's own work.
"""

from __future__ import annotations

import os
import shutil
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as parquet

from benchmarks.harness import (
    Build,
    Outcome,
    Table,
    argument_parser,
    build,
    finish,
    verdict,
    working_folder,
)

SEED = 20260101
COUNT_INTERACTIONS = 100_000
COUNT_QUICK = 2_000
COUNT_REPEATS = 3
COUNT_SENTENCES = 50_000
COUNT_QUERIES = 10_000
COUNT_ANSWER_SENTENCES = 4
COUNT_CHUNKS = 5
SENTENCES_PER_CHUNK = 4
ENCODER = "hashing:384"

LIMIT_SECONDS = 240.0
LIMIT_MEBIBYTES = 3 * 1024.0

_ROWS_PER_WRITE = 5_000
_UNTIL_ENCODED = ("--select", "+int_texts_embedded")
_COUNT_SLOWEST = 15
#: One interaction a minute: a million of them end before today, and a question from the future is rejected.
FIRST_ASKED = datetime(2024, 6, 3, tzinfo=UTC)

_INTERACTIONS_SCHEMA = pa.schema(
    [
        (name, pa.string())
        for name in (
            "interaction_id",
            "query_id",
            "application",
            "application_version",
            "language",
            "customer_group",
            "answer",
            "asked_at",
        )
    ]
)
_RETRIEVALS_SCHEMA = pa.schema([("interaction_id", pa.string()), ("rank", pa.int64()), ("text", pa.string())])


def _split(words: str, separator: str) -> list[str]:
    """Return the words of a list that is easier to read as one text."""
    return words.split(separator)


_ADJECTIVES = _split(
    "annual quarterly secured unsecured joint private commercial foreign domestic overdue pending dormant standing "
    "variable fixed early late minimum maximum average temporary revised separate additional personal digital disputed "
    "recurring partial eligible",
    " ",
)
_NOUNS = _split(
    "account loan mortgage payment transfer deposit balance statement card branch customer fee rate limit guarantee "
    "claim policy premium refund dispute contract agreement transaction cheque overdraft interest currency portfolio "
    "invoice signature address identity document application approval review notice penalty repayment instalment "
    "collateral beneficiary mandate receipt schedule withdrawal exchange audit compliance threshold",
    " ",
)
_VERBS = _split(
    "covers requires exceeds replaces reduces delays confirms suspends secures renews includes excludes triggers "
    "follows precedes supports limits cancels restores updates verifies charges credits closes",
    " ",
)
_NAMES = _split(
    "Anna Berger|Carlos Mendes|Diana Novak|Erik Lindholm|Farah Haddad|George Okafor|Helen Marsh|Ivan Petrov|"
    "Julia Brandt|Kenji Mori|Laura Costa|Martin Weiss|Nadia Rahman|Oscar Dahl|Priya Nair|Quentin Leroy|"
    "Rosa Jimenez|Samuel Cohen|"
    "Tara Walsh|Umberto Ricci|Victor Hale|Wanda Kowalski|Yusuf Demir|Zoe Fischer",
    "|",
)
_PLACES = _split(
    "Amsterdam|Boston|Chicago|Dublin|Edinburgh|Frankfurt|Geneva|Hamburg|Istanbul|"
    "Johannesburg|Kyoto|Lisbon|Madrid|Nairobi|Oslo|Prague|Quebec|Rotterdam|Singapore|Toronto|Utrecht|Vienna|Warsaw|Zurich",
    "|",
)
_MONTHS = _split("January February March April May June July August September October November December", " ")

_STATEMENTS = (
    "The {adjective} {noun} {verb} every {other} in {place} until {month}",
    "{name} said that the {adjective} {noun} {verb} the {second} {other}",
    "In {month} the {noun} of {name} rose to {amount} dollars and {verb} the {other}",
    "Each {adjective} {noun} above {amount} euros {verb} a {second} {other} within {days} days",
    "The bank in {place} {verb} the {adjective} {noun} after {days} working days",
    "A {noun} of {percent} percent {verb} the {adjective} {other} for {name}",
    "Customers of the {place} branch keep the {adjective} {noun} while the {other} {verb} the {second} {third}",
    "Since {year} the {adjective} {noun} {verb} the {other} and no {third} is charged",
)
_QUESTIONS = (
    "When does the {adjective} {noun} need a {second} {other} in {place}?",
    "How many days does the {noun} take if the {adjective} {other} is above {amount} euros?",
    "Who in {place} confirms the {adjective} {noun} before the {second} {other}?",
    "What happens to the {adjective} {noun} of {name} in {month}?",
)


def make_sentences(count: int, templates: tuple[str, ...], closing: str, random: np.random.Generator) -> list[str]:
    """Return ``count`` distinct sentences of plausible words, with numbers and names in most, from seeded draws."""
    found: dict[str, None] = {}

    def pick(words: list[str]) -> str:
        return words[int(random.integers(len(words)))]

    while len(found) < count:
        sentence = templates[int(random.integers(len(templates)))].format(
            adjective=pick(_ADJECTIVES),
            second=pick(_ADJECTIVES),
            noun=pick(_NOUNS),
            other=pick(_NOUNS),
            third=pick(_NOUNS),
            verb=pick(_VERBS),
            name=pick(_NAMES),
            place=pick(_PLACES),
            month=pick(_MONTHS),
            amount=f"{int(random.integers(1, 9_999)) * 50:,}",
            days=int(random.integers(2, 90)),
            percent=f"{int(random.integers(10, 990)) / 10:.1f}",
            year=int(random.integers(1990, 2026)),
        )
        found.setdefault(sentence + closing)
    return list(found)


def write_raw_logs(
    folder: Path, count_interactions: int, count_sentences: int = COUNT_SENTENCES, count_chunks: int | None = None
) -> None:
    """Write interactions, retrievals and queries as Parquet, streamed.

    Every interaction has one query sentence, :data:`COUNT_ANSWER_SENTENCES` answer sentences (the first two are taken
    from its own context) and :data:`COUNT_CHUNKS` chunks of :data:`SENTENCES_PER_CHUNK` sentences. Sentences of
    chunks are drawn one by one, so that nearly every chunk is a text of its own: a corpus whose chunks repeat, as in
    production, is easier. With ``count_chunks`` the chunks are drawn from a corpus of so many.
    """
    folder.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(SEED)
    count_queries = min(COUNT_QUERIES, count_sentences // 5)
    questions = make_sentences(count_queries, _QUESTIONS, "", random)
    statements = np.array(make_sentences(count_sentences - count_queries, _STATEMENTS, ".", random), dtype=object)
    corpus = None if count_chunks is None else _draw_chunks(statements, (count_chunks,), random)
    query_ids = [f"query-{number:06d}" for number in range(count_queries)]
    types = ["simple_factual" if number % 3 else "multi_hop" for number in range(count_queries)]
    queries = pa.table({"query_id": query_ids, "text": questions, "query_type": types})
    parquet.write_table(queries, folder / "queries.parquet")
    first = parquet.ParquetWriter(folder / "interactions.parquet", _INTERACTIONS_SCHEMA, compression="zstd")
    second = parquet.ParquetWriter(folder / "retrievals.parquet", _RETRIEVALS_SCHEMA, compression="zstd")
    with first as interactions, second as retrievals:
        for start in range(0, count_interactions, _ROWS_PER_WRITE):
            numbers = range(start, min(start + _ROWS_PER_WRITE, count_interactions))
            interaction_table, retrieval_table = draw_interactions(numbers, statements, corpus, query_ids, random)
            interactions.write_table(interaction_table)
            retrievals.write_table(retrieval_table)


def _draw_chunks(
    statements: npt.NDArray[np.object_], shape: tuple[int, ...], random: np.random.Generator
) -> npt.NDArray[np.object_]:
    chunks: npt.NDArray[np.object_] = statements[random.integers(len(statements), size=(*shape, SENTENCES_PER_CHUNK))]
    return chunks


def draw_interactions(
    numbers: range,
    statements: npt.NDArray[np.object_],
    corpus: npt.NDArray[np.object_] | None,
    query_ids: list[str],
    random: np.random.Generator,
) -> tuple[pa.Table, pa.Table]:
    """Return the interactions with these numbers, and their retrievals, as :func:`write_raw_logs` writes them."""
    count = len(numbers)
    if corpus is None:
        contexts = _draw_chunks(statements, (count, COUNT_CHUNKS), random)
    else:
        contexts = corpus[random.integers(len(corpus), size=(count, COUNT_CHUNKS))]
    drawn = statements[random.integers(len(statements), size=(count, COUNT_ANSWER_SENTENCES - 2))]
    queries = random.integers(len(query_ids), size=count)
    ids = [f"interaction-{number:07d}" for number in numbers]
    answers = [" ".join([*context[0, :2], *own]) for context, own in zip(contexts, drawn, strict=True)]
    interactions = {
        "interaction_id": ids,
        "query_id": [query_ids[query] for query in queries],
        "application": ["assistant"] * count,
        "application_version": [f"version {number % 3 + 1}" for number in numbers],
        "language": ["en"] * count,
        "customer_group": ["business" if number % 4 == 0 else "private" for number in numbers],
        "answer": answers,
        "asked_at": [(FIRST_ASKED + timedelta(minutes=number)).isoformat() for number in numbers],
    }
    retrievals = {
        "interaction_id": [interaction_id for interaction_id in ids for _ in range(COUNT_CHUNKS)],
        "rank": [rank for _ in ids for rank in range(1, COUNT_CHUNKS + 1)],
        "text": [" ".join(chunk) for context in contexts for chunk in context],
    }
    return (
        pa.table(interactions, schema=_INTERACTIONS_SCHEMA),
        pa.table(retrievals, schema=_RETRIEVALS_SCHEMA),
    )


def run(is_quick: bool = False, folder: Path | None = None, count_interactions: int = COUNT_INTERACTIONS) -> Outcome:
    """Return time and memory of both stages and the slowest nodes; the limits hold for the full count."""
    count = COUNT_QUICK if is_quick else count_interactions
    is_quick = count < COUNT_INTERACTIONS
    # as many distinct sentences per interaction as at full size
    sentences = max(COUNT_SENTENCES * count // COUNT_INTERACTIONS, 100)
    with working_folder(folder) as work:
        raw_logs, warehouse = work / "raw", work / "warehouse"
        shutil.rmtree(raw_logs, ignore_errors=True)
        shutil.rmtree(warehouse, ignore_errors=True)
        write_raw_logs(raw_logs, count, sentences)
        environment = {"HCAT_ENCODER": ENCODER, "HCAT_CLASSIFIER": "none", "HCAT_TAGGER": "none"}
        until_encoded = build(raw_logs, warehouse, arguments=_UNTIL_ENCODED, environment=environment)
        kept = work / "encoded"
        shutil.rmtree(kept, ignore_errors=True)
        shutil.copytree(warehouse, kept)
        builds: list[Build] = []
        for _ in range(1 if is_quick else COUNT_REPEATS):
            shutil.rmtree(warehouse)
            shutil.copytree(kept, warehouse)
            builds.append(build(raw_logs, warehouse, environment=environment))
        whole = sorted(builds, key=lambda each: each.seconds)[len(builds) // 2]
        peak_mebibytes = max(each.peak_mebibytes for each in builds)
        nothing_new = build(raw_logs, warehouse, environment=environment)
        mebibytes = (warehouse / "hcat.duckdb").stat().st_size / 2**20
    # a quick run has no limit of its own: its times are mostly the fixed start
    is_fast = is_quick or whole.seconds <= LIMIT_SECONDS
    is_small = is_quick or peak_mebibytes <= LIMIT_MEBIBYTES
    limit_words = "quick" if is_quick else verdict(is_fast and is_small)
    stages = Table(
        f"{count:,} interactions, {sentences:,} distinct sentences, encoder {ENCODER}",
        ("stage", "seconds", "limit", "peak memory, MiB", "limit", "verdict"),
        (
            ("landing to embeddings", *_figures(until_encoded), ""),
            (
                f"everything after the encoder, median of {len(builds)}",
                *_figures(whole, LIMIT_SECONDS, LIMIT_MEBIBYTES),
                limit_words,
            ),
            ("a rerun with nothing new", *_figures(nothing_new), ""),
        ),
    )
    notes = (
        f"Each interaction: 1 query, {COUNT_ANSWER_SENTENCES} answer and {COUNT_CHUNKS * SENTENCES_PER_CHUNK} "
        f"context sentences in {COUNT_CHUNKS} chunks; the sentences of a chunk are drawn one by one, so that chunks "
        "hardly ever repeat.",
        "`everything after the encoder` is the whole `dbt build` on the warehouse of the first stage: it repeats "
        "landing checks and staging, embeds nothing, and runs every data test and gate.",
        f"Everything after the encoder: {', '.join(f'{each.seconds:.1f}' for each in builds)} s; at most "
        f"{peak_mebibytes:,.0f} MiB.",
        f"Memory is the high-water mark of the dbt process and those it starts; the warehouse file ends at "
        f"{mebibytes:,.0f} MiB. Threads: {os.environ.get('HCAT_THREADS', 'as in profiles.yml')}.",
        f"Failed data tests and gates of the whole build: {', '.join(whole.failed_tests) or 'none'}; models skipped "
        f"for them: {', '.join(whole.skipped) or 'none'}.",
    )
    tables = (
        stages,
        _slowest("Slowest nodes, landing to embeddings", until_encoded),
        _slowest("Slowest nodes, everything after the encoder", whole),
        _slowest("Slowest nodes, rerun with nothing new", nothing_new),
    )
    return Outcome("scale", "Scale", tables, notes, is_quick, is_fast and is_small)


def _figures(measured: Build, seconds: float | None = None, mebibytes: float | None = None) -> tuple[str, ...]:
    return (
        f"{measured.seconds:.1f}",
        "" if seconds is None else f"{seconds:.0f}",
        f"{measured.peak_mebibytes:,.0f}",
        "" if mebibytes is None else f"{mebibytes:,.0f}",
    )


def _slowest(title: str, measured: Build) -> Table:
    rows = [(name, f"{seconds:.2f}") for name, seconds in measured.slowest(_COUNT_SLOWEST)]
    return Table(title, ("node", "seconds"), rows)


def main(arguments: list[str] | None = None) -> int:
    """Run from the command line; exit code 1 when a limit is missed."""
    parser = argument_parser("scale", __doc__.splitlines()[0])
    parser.add_argument("--interactions", type=int, default=COUNT_INTERACTIONS, help="other sizes are printed only")
    options = parser.parse_args(arguments)
    return finish(run(options.quick, options.folder, options.interactions), "python -m benchmarks.scale")


if __name__ == "__main__":
    sys.exit(main())
