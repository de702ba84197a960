"""The test set as a file: accepted queries and their variants, in the raw contract, for ``hcat collect``."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

from hcat.engine.files import replacing
from hcat.engine.warehouse import Place, Warehouse, find_folder, open_warehouse

_CARRIED: Final = (
    "reference_answer", "source_chunk_ids", "query_type", "difficulty", "answer_type", "expected_behaviour",
    "language", "sampling_weight",
)  # fmt: skip
COLUMNS: Final = ("query_id", "parent_query_id", "source_group", "variant_type", "text", *_CARRIED)
"""Columns of the file, in order: those of queries in the raw contract, and the language, which goes with the answer."""

MADE: Final = "made"

_HOW_TO_BUILD: Final = (
    "`dbt build --select +tag:test_set --indirect-selection cautious --vars '{hcat_test_set: true}'` makes them"
)
_TABLES: Final = ("int_test_queries", "int_test_variants")
_READ: Final = ("documents", "chunks", "queries")


class Written(NamedTuple):
    """A file that was written, or stood there already, and what to print about it."""

    path: Path
    sha256: str
    is_new: bool
    lines: list[tuple[str, str]]


def write_test_set(warehouse: Path | Place, output: Path | None = None, *, is_replacing: bool = False) -> Written:
    """Write the test set of a warehouse to a file of the raw contract, whole or not at all."""
    path = output or find_folder(warehouse) / "test_set" / "queries.jsonl"
    if path.suffix != ".jsonl":
        raise ValueError(f"a test set is a file *.jsonl, got {path}")
    with open_made(warehouse, _TABLES, _HOW_TO_BUILD) as opened:
        queries, variants = (opened.rows(f"select * from {table} order by query_id", (table,)) for table in _TABLES)
        sampling, rejected = _describe_sampling(opened), _count_rejected(opened)
    missing = Counter(row["variant_status"] for row in variants if row["variant_status"] != MADE)
    groups = {row["query_id"]: row.get("source_group") or row["query_id"] for row in queries}
    parts: dict[str, list[dict[str, Any]]] = {
        "queries": [
            _record(row, row.get("parent_query_id"), groups[row["query_id"]], row.get("variant_type") or "original")
            for row in queries
        ],
        "variants": [
            _record(row, row["parent_query_id"], groups[row["parent_query_id"]], row["variant_type"])
            for row in variants
            if row["variant_status"] == MADE
        ],
    }
    records = [record for part in parts.values() for record in part]
    if not records:
        raise ValueError(f"the test set must hold queries, got none: {_HOW_TO_BUILD}")
    # queries of one cluster stand together, the original first
    records.sort(key=lambda record: (record["source_group"], record["parent_query_id"] or "", record["query_id"]))
    lines = [("sampling", sampling)]
    for part, rows in parts.items():
        kinds = Counter(row["variant_type" if part == "variants" else "query_type"] or "no type" for row in rows)
        lines.append((part, f"{len(rows):,}: {_enumerate(kinds)}" if rows else "none"))
    if missing:
        lines.append(("not made", f"{missing.total():,} variants: {_enumerate(missing)}"))
    if rejected:
        lines.append(("rejected", f"{sum(rejected.values()):,} records: {_enumerate(rejected)}"))
    return write_whole(path, "test set", to_jsonl(records), [line for line in lines if line[1]], is_replacing)


@contextmanager
def open_made(warehouse: Path | Place, tables: Sequence[str], how_to_build: str) -> Iterator[Warehouse]:
    """Open a warehouse that must hold the tables of a job on request."""
    with open_warehouse(warehouse) as opened:
        if missing := opened.lacks(*tables):
            raise ValueError(f"{warehouse} must hold {' and '.join(tables)}, got no {missing[0]}: {how_to_build}")
        yield opened


def _count_rejected(opened: Warehouse) -> dict[str, int]:
    """Return how many records were rejected, for the kinds of which any were."""
    count = "select count(*) as n from base_{} where record_status = 'rejected'"
    counted = {entity: opened.rows(count.format(entity), (f"base_{entity}",)) for entity in _READ}
    return {entity: rows[0]["n"] for entity, rows in counted.items() if rows and rows[0]["n"]}


_COUNT_SAMPLED: Final = """
select
    sum(count_population)::bigint as count_population,
    sum(count_sampled)::bigint as count_sampled,
    count(*) as count_strata,
    count(*) filter (where count_sampled = count_population) as count_whole
from fct_sampling_strata
having count(*) > 0
"""


def _describe_sampling(opened: Warehouse) -> str:
    """Return in words whether chunks were drawn or all taken; empty where there are no strata."""
    rows = opened.rows(_COUNT_SAMPLED, ("fct_sampling_strata",))
    if not rows:
        return ""
    population, sampled, strata, whole = (
        rows[0][name] for name in ("count_population", "count_sampled", "count_strata", "count_whole")
    )
    if sampled == population:
        return f"all {population:,} chunks taken: nothing was drawn, every weight is 1, and there is no sampling error"
    drawn = f"{sampled:,} of {population:,} chunks, from {strata:,} strata"
    return f"{drawn}; all chunks taken in {whole:,} of these" if whole else drawn


def _record(row: Mapping[str, Any], parent: str | None, source_group: str, variant_type: str) -> dict[str, Any]:
    values = {name: row.get(name) for name in _CARRIED} | {
        "query_id": row["query_id"],
        "text": row["query_text"],
        "parent_query_id": parent,
        "source_group": source_group,
        "variant_type": variant_type,
    }
    return {name: values[name] for name in COLUMNS}


def to_jsonl(records: Sequence[Mapping[str, Any]]) -> str:
    r"""Return the records as JSON Lines."""
    return "".join(json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n" for record in records)


def write_whole(path: Path, name: str, text: str, lines: list[tuple[str, str]], is_replacing: bool) -> Written:
    """Write a file whole or not at all; one that holds something else stays unless it is to be replaced."""
    content = text.encode("utf-8")
    is_new = not path.exists() or path.read_bytes() != content
    if is_new and path.exists() and not is_replacing:
        raise ValueError(
            f"{path} must hold this test set or nothing (versions are compared on one test set), got another one: "
            "name another file, or use --replace"
        )
    if is_new:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as unfinished:
            unfinished.write_bytes(content)
    sha256 = hashlib.sha256(content).hexdigest()
    first = [(name, f"{path}{'' if is_new else ', as it was'}"), ("sha256", sha256)]
    last = ("next", f"hcat collect <endpoint.yml> --queries {path} --output {path.parent}")
    return Written(path, sha256, is_new, [*first, *lines, last])


def _enumerate(counts: Mapping[str, int]) -> str:
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{count:,} {name}" for name, count in ordered)
