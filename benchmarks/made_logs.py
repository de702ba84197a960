"""Raw logs of any size, of plausible words: what the nightly benchmark builds.

Each interaction has one query sentence, four answer sentences (the first two from its own context) and five chunks of
four sentences. The corpus grows with the logs. Draws are seeded.
"""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as parquet

SEED = 20260101
COUNT_QUERIES = 10_000
COUNT_ANSWER_SENTENCES = 4
COUNT_CHUNKS = 5
SENTENCES_PER_CHUNK = 4
#: Interactions for each distinct sentence and for each chunk of the corpus, and the fewest of either.
INTERACTIONS_PER_SENTENCE, FEWEST_SENTENCES = 2, 100
INTERACTIONS_PER_CHUNK, FEWEST_CHUNKS = 5, 5

_ROWS_PER_WRITE = 5_000
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


def write_raw_logs(folder: Path, count: int) -> None:
    """Write ``count`` interactions, their retrievals and queries as Parquet, streamed."""
    folder.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(SEED)
    count_sentences = max(count // INTERACTIONS_PER_SENTENCE, FEWEST_SENTENCES)
    count_queries = min(COUNT_QUERIES, count_sentences // 5)
    questions = make_sentences(count_queries, _QUESTIONS, "", random)
    statements = np.array(make_sentences(count_sentences - count_queries, _STATEMENTS, ".", random), dtype=object)
    count_chunks = max(count // INTERACTIONS_PER_CHUNK, FEWEST_CHUNKS)
    corpus = statements[random.integers(len(statements), size=(count_chunks, SENTENCES_PER_CHUNK))]
    query_ids = [f"query-{number:06d}" for number in range(count_queries)]
    types = ["simple_factual" if number % 3 else "multi_hop" for number in range(count_queries)]
    queries = pa.table({"query_id": query_ids, "text": questions, "query_type": types})
    parquet.write_table(queries, folder / "queries.parquet")
    first = parquet.ParquetWriter(folder / "interactions.parquet", _INTERACTIONS_SCHEMA, compression="zstd")
    second = parquet.ParquetWriter(folder / "retrievals.parquet", _RETRIEVALS_SCHEMA, compression="zstd")
    with first as interactions, second as retrievals:
        for start in range(0, count, _ROWS_PER_WRITE):
            numbers = range(start, min(start + _ROWS_PER_WRITE, count))
            interaction_table, retrieval_table = draw_interactions(numbers, statements, corpus, query_ids, random)
            interactions.write_table(interaction_table)
            retrievals.write_table(retrieval_table)


def draw_interactions(
    numbers: range,
    statements: npt.NDArray[np.object_],
    corpus: npt.NDArray[np.object_],
    query_ids: list[str],
    random: np.random.Generator,
) -> tuple[pa.Table, pa.Table]:
    """Return the interactions with these numbers, and their retrievals, as :func:`write_raw_logs` writes them."""
    count = len(numbers)
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
    return (pa.table(interactions, schema=_INTERACTIONS_SCHEMA), pa.table(retrievals, schema=_RETRIEVALS_SCHEMA))


def add_interactions(raw_logs: Path, numbers: range, name: str, asked_number: int | None = None) -> None:
    """Write interactions beside those that are there; their chunks are taken from the logs."""
    random = np.random.default_rng([SEED, numbers.start])
    chunks = parquet.ParquetFile(raw_logs / "retrievals.parquet").read_row_group(0)["text"].to_pylist()
    contexts = np.array([chunk.split(". ") for chunk in dict.fromkeys(chunks) if chunk.count(". ") == 3], dtype=object)
    statements = np.array([f"{text.rstrip('.')}." for context in contexts for text in context], dtype=object)
    corpus = statements.reshape(-1, SENTENCES_PER_CHUNK)
    query_ids = parquet.read_table(raw_logs / "queries.parquet")["query_id"].to_pylist()
    interactions, retrievals = draw_interactions(numbers, statements, corpus, query_ids, random)
    if asked_number is not None:
        asked = (FIRST_ASKED + timedelta(minutes=asked_number)).isoformat()
        position = interactions.schema.get_field_index("asked_at")
        interactions = interactions.set_column(position, "asked_at", pa.array([asked] * len(numbers), pa.string()))
    parquet.write_table(interactions, raw_logs / f"interactions_{name}.parquet")
    parquet.write_table(retrievals, raw_logs / f"retrievals_{name}.parquet")
