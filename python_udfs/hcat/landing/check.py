"""A look at raw logs before a build: what is recognised, what is rejected and why, and what can be measured.

The rejects are those of the build, because the same models decide (:mod:`hcat.engine.staging`).
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa

from hcat.engine import relations
from hcat.engine.staging import Staging, find_project, read_variables
from hcat.engine.warehouse import open_warehouse
from hcat.landing.containers import PASSAGE_CHARACTERS
from hcat.landing.files import ROWS_PER_BATCH
from hcat.landing.folding import fold_traces
from hcat.landing.raw_contract import ENTITIES
from hcat.landing.reading import RECORDS, read_folder, read_table
from hcat.landing.shapes import find_files, find_unread_files
from hcat.language.display import clean_label

#: Rejected records that are shown for each reason of an entity.
SHOWN_RECORDS = 3
_SHOWN_REASONS = 5
_SHOWN_CHARACTERS = 100
_SHOWN_FILES = 12

# what a metric may ask of the logs -> what brings it
_INPUTS: Mapping[str, str] = {
    "query": "query texts (query_text, or queries)",
    "answer": "answers",
    "context": "retrievals, or contexts in calls",
    "reference": "reference answers (queries.reference_answer)",
    "relevance": "relevance_judgements or queries.source_chunk_ids, and chunk ids in retrievals",
    "samples": "several answers to a query (sample_index)",
}
#: What a metric may ask of the settings, and not of the logs.
LANGUAGE_MODEL = "language_model"
# the staging models in the order in which they read each other
_ORDER = ("spans", "documents", "chunks", "queries", "interactions", "retrievals", "ratings", "relevance_judgements")

_COUNT_RECORDS = """
select count(*) as count_landed, count(*) filter (where record_status = 'staged') as count_staged,
    count(*) filter (where record_status = 'repeated') as count_repeated,
    count(*) filter (where record_status = 'rejected') as count_rejected
from "base_{entity}"
"""
# a file that was rejected whole has row 0 and says its name itself
_LIST_REJECTED = """
with found as (
    select 'rejected' as kind, reject_reason, source_file, source_row from "base_{entity}"
    where record_status = 'rejected'
    union all
    select 'field', unnest(list_append(field_faults, read_note)), source_file, source_row from "base_{entity}"
    where record_status = 'staged'
),
rejected as (
    -- as the macro reason_without_value has it: what follows is a text of the logs
    select kind, source_file, source_row,
        case when source_row = 0 then reject_reason else split_part(reject_reason, ': ', 1) end as reason
    from found where reject_reason is not null
),
numbered as (
    select *, count(*) over (partition by kind, reason) as count_records,
        row_number() over (partition by kind, reason order by source_file, source_row) as place
    from rejected
)
select kind, reason, any_value(count_records) as count_records, coalesce(array_agg(
        source_file || ' row ' || source_row order by place
    ) filter (where source_row > 0), []) as records
from numbered where place <= {shown} group by kind, reason
"""
_COUNT_INPUTS = """
with interactions as (select * from base_interactions where record_status = 'staged'),
queries as (select * from base_queries where record_status = 'staged'),
graded as (
    select query_id from queries where len(source_chunk_ids) > 0
    union select query_id from landed_records where entity = 'relevance_judgements'
),
found as (
    select interaction_id, bool_or(chunk_id is not null) as has_ids from base_retrievals
    where record_status = 'staged' group by interaction_id
),
sampled as (
    select query_id, query_text, run_id from interactions group by all having count(*) > 1
)
select
    count(*) as interactions,
    count(*) filter (where coalesce(interactions.query_text, queries.query_text) is not null) as query,
    count(*) filter (where trim(coalesce(answer, '')) <> '') as answer,
    count(found.interaction_id) as context,
    count(queries.reference_answer) as reference,
    count(*) filter (
        where graded.query_id is not null and (found.has_ids or (found.has_ids is null and count_retrieved = 0))
    ) as relevance,
    count(*) filter (where sampled.query_id is not null or sampled.query_text is not null) as samples,
    count(asked_at) as asked_at,
    count(distinct application_version) as versions,
    count(distinct date_trunc('week', asked_at)) as weeks,
    count(conversation_id) as conversations,
    count(distinct lower(regexp_replace(trim(coalesce(interactions.query_text, queries.query_text)), '\\s+', ' ', 'g')))
        as queries,
    count(queries.parent_query_id) as variants,
    (select count(*) from base_ratings where record_status = 'staged') as ratings,
    (select count(*) from landed_records where entity = 'spans') as spans
from interactions
left join queries on interactions.query_id = queries.query_id
left join (select distinct query_id from graded) as graded on interactions.query_id = graded.query_id
left join found on interactions.interaction_id = found.interaction_id
left join sampled on interactions.query_id is not distinct from sampled.query_id
    and interactions.query_text is not distinct from sampled.query_text
    and interactions.run_id is not distinct from sampled.run_id
"""

# as it will land; a context without text takes that of its chunk
_READ_FIRST = """
with first as (
    select * from base_interactions where record_status = 'staged' order by source_file, source_row, record_id limit 1
)
select
    coalesce(first.query_text, queries.query_text) as query,
    first.answer,
    coalesce(retrievals.text, chunks.chunk_text, retrievals.chunk_id) as context,
    first.asked_at as time
from first
left join base_queries as queries on first.query_id = queries.query_id and queries.record_status = 'staged'
left join base_retrievals as retrievals
    on first.interaction_id = retrievals.interaction_id and retrievals.record_status = 'staged'
left join base_chunks as chunks on retrievals.chunk_id = chunks.chunk_id and chunks.record_status = 'staged'
order by retrievals.rank limit 1
"""
_COUNT_TEMPLATES = """
with texts as (
    select interactions.interaction_id,
        regexp_replace(lower(trim(interactions.query_text)), '\\s+', ' ', 'g') as query,
        regexp_replace(lower(trim(retrievals.text)), '\\s+', ' ', 'g') as context
    from base_interactions as interactions
    inner join base_retrievals as retrievals on interactions.interaction_id = retrievals.interaction_id
    where interactions.record_status = 'staged' and retrievals.record_status = 'staged'
)
select count(distinct interaction_id) as count_queries from texts
where length(context) between {shortest} and length(query) - 1 and contains(query, context)
"""


@dataclass(frozen=True, slots=True)
class Check:
    """What a folder of raw logs holds."""

    lines: tuple[tuple[str, str], ...]
    #: interactions that a build would stage, and how many of them bring what metrics ask for
    inputs: Mapping[str, int]
    #: that can be scored
    metrics: tuple[str, ...]

    @property
    def count_interactions(self) -> int:
        """Interactions that a build would stage."""
        return self.inputs["interactions"]


def check_logs(
    folder: Path | None,
    start: Path,
    project: Path | None = None,
    tables: Mapping[str, str] | None = None,
    warehouse: Path | None = None,
) -> Check:
    """Return what a build would make of raw logs: of a folder, of tables of a warehouse, or of both."""
    tables = tables or {}
    project = project or find_project(start)
    variables = read_variables(project, start)
    staging = Staging(project, variables)
    sources = _list_sources(folder, tables)
    problems: list[str] = []
    staging.add("landed_records", RECORDS.empty_table())
    # unreadable records that are counted and not looked at
    dropped: Counter[tuple[str, str]] = Counter()
    for _, batch in chain(_read_tables(tables, warehouse), read_folder(folder or "", tables, dropped)):
        staging.append("landed_records", batch)
        if batch["is_file_problem"][0].as_py():
            problems += batch["read_error"].to_pylist()
    if problems:
        raise ValueError("; ".join(dict.fromkeys(problems)))
    names = ("tool_outputs_are_evidence", "missing_parents")
    settings = {name: variables[f"hcat_{name}"] for name in names}
    folded = fold_traces(staging.relation("landed_records"), settings, start).read_all()
    staging.add("base_folded_traces", folded)
    for seed in ("rating_scales", "raters"):
        staging.add_seed(_find_seed(seed, start, project))
    for entity in _ORDER:
        staging.run(f"base_{entity}")
    (inputs,) = staging.rows(_COUNT_INPUTS)
    catalogue = read_catalogue(_find_seed("metric_catalog", start, project))
    scored = [metric for metric in catalogue if all(inputs.get(each) for each in metric["inputs"])]
    lines = [
        ("read", ", ".join(sorted({name for names in sources.values() for name in names}))),
        *(_describe_unread(folder) if folder else ()),
        *_describe_entities(staging, sources, dropped),
        *_describe_first(staging, inputs),
        *_describe_metrics(catalogue, scored, inputs),
        *_describe_missing(catalogue, inputs, sources),
        *_describe_next(folder, tables, inputs["interactions"]),
    ]
    return Check(tuple(lines), inputs, tuple(metric["metric_name"] for metric in scored))


def _list_sources(folder: Path | None, tables: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the names of the files or the table of each entity."""
    found = {entity: find_files(folder, entity) if folder and folder.is_dir() else [] for entity in ENTITIES}
    files = {entity: [path.relative_to(folder or "").as_posix() for path in paths] for entity, paths in found.items()}
    return files | {entity: [name] for entity, name in tables.items()}


def _read_tables(tables: Mapping[str, str], warehouse: Path | None) -> Iterator[tuple[str, pa.RecordBatch]]:
    """Yield the landed rows of tables with the name of their entity."""
    unknown = sorted(set(tables) - set(ENTITIES))
    if unknown:
        raise ValueError(f"'{unknown[0]}' is none of {', '.join(ENTITIES)}")
    if not tables:
        return
    if warehouse is None:
        raise ValueError("no warehouse: name the DuckDB file that holds the tables")
    with open_warehouse(warehouse) as opened:
        for entity, name in tables.items():
            try:
                relation = relations.from_name(opened.connection, name)
            except LookupError:
                raise ValueError(f"{entity} is '{name}', which is no table of {warehouse}") from None
            for batch in read_table(entity, name, relation.columns, relation.fetch_record_batch(ROWS_PER_BATCH)):
                yield entity, batch


def _find_seed(name: str, start: Path, project: Path) -> Path:
    """Return the file of a seed: that of the project in ``start`` where it replaces the one of hcat."""
    is_own = name in read_variables(project, start)["hcat_own_seeds"]
    return (start if is_own else project) / "seeds" / f"{name}.csv"


def read_catalogue(path: Path) -> list[dict[str, Any]]:
    """Return the rows of the catalogue of metrics, with what each asks of the logs or of a request as ``inputs``."""
    with path.open(encoding="utf-8", newline="") as handle:
        return [row | {"inputs": _inputs_of(row["requires"])} for row in csv.DictReader(handle)]


def _inputs_of(requires: str) -> frozenset[str]:
    """Return what a metric asks of the logs or of a request; models and cut-offs are the project's own."""
    words = set(requires.split("|"))
    return frozenset(words & {*_INPUTS, LANGUAGE_MODEL})


def _describe_unread(folder: Path) -> Iterator[tuple[str, str]]:
    unread = find_unread_files(folder)
    for name, meant in list(unread.items())[:_SHOWN_FILES]:
        yield "not read", f"{name}" + (f": did you mean {meant}?" if meant else "")
    if len(unread) > _SHOWN_FILES:
        yield "not read", f"{len(unread) - _SHOWN_FILES:,} more files"


def _describe_entities(
    staging: Staging, sources: Mapping[str, Sequence[str]], dropped: Mapping[tuple[str, str], int]
) -> Iterator[tuple[str, str]]:
    for entity in ENTITIES:
        (counted,) = staging.rows(_COUNT_RECORDS.format(entity=entity))
        for status in ("landed", "rejected"):
            counted[f"count_{status}"] += sum(count for (name, _), count in dropped.items() if name == entity)
        # interactions and what belongs to them may come from spans, without a file of their own
        if not counted["count_landed"] and (entity != "interactions" or not sources[entity]):
            continue
        parts = [f"{counted['count_staged']:,} of {counted['count_landed']:,} records can be used"]
        parts += [f"{counted[f'count_{status}']:,} {status}" for status in ("rejected", "repeated")]
        yield entity, ", ".join(part for part in parts if not part.startswith("0 re"))
        reasons = staging.rows(_LIST_REJECTED.format(entity=entity, shown=SHOWN_RECORDS))
        for reason in reasons:
            reason["count_records"] += dropped.get((entity, reason["reason"]), 0)
        reasons.sort(key=lambda reason: (-reason["count_records"], reason["reason"]))
        for reason in reasons[:_SHOWN_REASONS]:
            kept = " (kept in part)" if reason["kind"] == "field" else ""
            yield f"  {reason['kind']}", f"{reason['count_records']:,}: {reason['reason']}{kept}"
            for record in reason["records"]:
                yield "", f"  {record}"
        if len(reasons) > _SHOWN_REASONS:
            yield "  rejected", f"for {len(reasons) - _SHOWN_REASONS} more reasons"


def _describe_first(staging: Staging, inputs: Mapping[str, int]) -> Iterator[tuple[str, str]]:
    """Show the first interaction as it will land: a wrong key is seen in one record and in no count."""
    for first in staging.rows(_READ_FIRST):
        shown = ((name, clean_label(value, _SHOWN_CHARACTERS)) for name, value in first.items() if value is not None)
        for place, (name, text) in enumerate(shown):
            yield "" if place else "first record", f"{name}: {text}"
        found = f"{inputs['queries']:,} distinct {'query' if inputs['queries'] == 1 else 'queries'}"
        yield "", f"{inputs['interactions']:,} {'record' if inputs['interactions'] == 1 else 'records'}, {found}"
    (templates,) = staging.rows(_COUNT_TEMPLATES.format(shortest=PASSAGE_CHARACTERS))
    if count := templates["count_queries"]:
        contain = "query contains one of its" if count == 1 else "queries contain one of their"
        yield "", f"{count:,} {contain} own contexts: log what the user asked under query, and not the filled prompt"


def _describe_metrics(
    catalogue: list[dict[str, Any]], scored: list[dict[str, Any]], inputs: Mapping[str, int]
) -> Iterator[tuple[str, str]]:
    families: dict[str, int] = {}
    for metric in scored:
        families[metric["family"]] = families.get(metric["family"], 0) + 1
    named = ", ".join(f"{family} {count}" for family, count in families.items())
    yield "metrics", f"{len(scored)} of {len(catalogue)} can be scored: {named}"
    for each in ("query", "answer", "context", "reference", "relevance"):
        count = inputs[each]
        if 0 < count < inputs["interactions"]:
            yield "", f"  {count:,} of {inputs['interactions']:,} interactions bring {_INPUTS[each]}"


def _describe_missing(
    catalogue: list[dict[str, Any]], inputs: Mapping[str, int], sources: Mapping[str, Sequence[str]]
) -> Iterator[tuple[str, str]]:
    for each, source in _INPUTS.items():
        if inputs["interactions"] and not inputs[each]:
            gained = [
                metric for metric in catalogue if each in metric["inputs"] and LANGUAGE_MODEL not in metric["inputs"]
            ]
            shown = ", ".join(metric["metric_name"] for metric in gained[:3])
            yield "missing", f"{source}: would add {len(gained)} metrics ({shown}, ...)"
    if not inputs["asked_at"]:
        yield "missing", "times (asked_at): would add drift between weeks"
    if inputs["versions"] < len(("one", "other")):
        yield "missing", "a second application_version: would add the comparison of versions"
    if not sources["ratings"]:
        yield "missing", "ratings: would add calibrated probabilities; `hcat labels export` writes a sheet for raters"
    if not sources["chunks"]:
        yield "missing", "chunks or a corpus: would add topics of documents, and a test set made from them"
    judged = sum(LANGUAGE_MODEL in metric["inputs"] for metric in catalogue)
    yield "on request", f"{judged} metrics by a language model (docs/judges.md)"


def _describe_next(
    folder: Path | None, tables: Mapping[str, str], count_interactions: int
) -> Iterator[tuple[str, str]]:
    if count_interactions:
        named = ", ".join(f"{entity}: {name}" for entity, name in tables.items())
        variables = f" --vars '{{hcat_raw_relations: {{{named}}}}}'" if tables else ""
        yield "next", (f"HCAT_RAW_LOGS={folder} " if folder else "") + f"dbt build{variables}"
    else:
        yield "next", "no interaction can be used: mend the records above, then run `hcat check` again"
