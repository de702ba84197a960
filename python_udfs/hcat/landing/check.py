"""A look at raw logs before a build: what is recognised, what is rejected and why, and what can be measured.

The rejects are those of the build, because the same models decide (:mod:`hcat.engine.staging`).
"""

import csv
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from hcat.engine import relations
from hcat.engine.staging import Staging, find_project, find_seed, read_variables
from hcat.engine.warehouse import open_warehouse, read_queries
from hcat.landing.aliases import CONTRACT
from hcat.landing.containers import PASSAGE_CHARACTERS
from hcat.landing.files import ROWS_PER_BATCH
from hcat.landing.folding import fold_traces
from hcat.landing.raw_contract import ENTITIES
from hcat.landing.reading import RECORDS, read_folder, read_table
from hcat.landing.shapes import find_files, find_unread_files, list_names, stem_of
from hcat.language.display import clean_label

_SHOWN_REASONS = 5
_SHOWN_CHARACTERS = 100
_SHOWN_FILES = 12

# what a metric may ask of the logs -> what brings it
_INPUTS: Mapping[str, str] = CONTRACT["inputs"]
_SAID: Final[Mapping[str, Mapping[str, str]]] = CONTRACT["said_of_logs"]
#: What a metric may ask of the settings, and not of the logs.
LANGUAGE_MODEL = "language_model"
# the staging models in the order in which they read each other
_ORDER = ("spans", "documents", "chunks", "queries", "interactions", "retrievals", "ratings", "relevance_judgements")

_QUERIES: Final = read_queries(Path(__file__).with_name("check.sql"))


@dataclass(frozen=True, slots=True)
class Check:
    """What a folder of raw logs holds."""

    lines: tuple[tuple[str, str], ...]
    #: interactions that a build would stage, and how many of them bring what metrics ask for
    inputs: Mapping[str, int]
    #: that can be scored
    metrics: tuple[str, ...]


def check_logs(
    folder: Path | None,
    start: Path,
    project: Path | None = None,
    tables: Mapping[str, str] | None = None,
    warehouse: Path | None = None,
    mask: Callable[[str], str] = str,
) -> Check:
    """Return what a build would make of a folder, of tables, or of both; ``mask`` is for the record that is shown."""
    tables = tables or {}
    project = project or find_project(start)
    variables = read_variables(project, start)
    staging = Staging(project, variables)
    found = {entity: find_files(folder, entity) if folder and folder.is_dir() else [] for entity in ENTITIES}
    files = {entity: [path.relative_to(folder or "").as_posix() for path in paths] for entity, paths in found.items()}
    # the names of the files or the table of each entity
    sources = files | {entity: [name] for entity, name in tables.items()}
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
    settings = {name: variables[f"hcat_{name}"] for name in ("tool_outputs_are_evidence", "missing_parents")}
    folded = fold_traces(staging.relation("landed_records"), settings, start).read_all()
    staging.add("base_folded_traces", folded)
    for seed in ("rating_scales", "raters"):
        staging.add_seed(_find_seed(seed, start, project))
    for entity in _ORDER:
        staging.run(f"base_{entity}")
    (inputs,) = staging.rows(_QUERIES["count_inputs"])
    catalogue = read_catalogue(_find_seed("metric_catalog", start, project))
    scored = [metric for metric in catalogue if all(inputs.get(each) for each in metric["inputs"])]
    lines = [
        ("read", list_names(sorted(chain.from_iterable(sources.values())))),
        *(_describe_unread(folder, staging) if folder else ()),
        *_describe_entities(staging, sources, dropped),
        *_describe_first(staging, inputs, mask),
        *_describe_traces(staging),
        *_describe_metrics(catalogue, scored, inputs),
        *_describe_missing(catalogue, inputs, sources),
        *_describe_next(folder, tables, inputs["interactions"], (start / "dbt_project.yml").is_file()),
    ]
    return Check(tuple(lines), inputs, tuple(metric["metric_name"] for metric in scored))


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
    return find_seed(start if is_own else project, name)


def read_catalogue(path: Path) -> list[dict[str, Any]]:
    """Return the rows of the catalogue of metrics, with what each asks of the logs or of a request as ``inputs``."""
    with path.open(encoding="utf-8", newline="") as handle:
        # models and cut-offs are the project's own
        asked = {*_INPUTS, LANGUAGE_MODEL}
        return [row | {"inputs": asked.intersection(row["requires"].split("|"))} for row in csv.DictReader(handle)]


def _describe_unread(folder: Path, staging: Staging) -> Iterator[tuple[str, str]]:
    unread = find_unread_files(folder)
    is_read = staging.render("{{ raw_entities() | join(' ') }}").split()
    for entity in (each for each in ENTITIES if each not in is_read):
        for path in (path for path in find_files(folder, entity) if stem_of(path.relative_to(folder)) == entity):
            yield "not read", f"{path.relative_to(folder).as_posix()}: the module that reads {entity} is switched off"
    for name, meant in list(unread.items())[:_SHOWN_FILES]:
        yield "not read", f"{name}" + (f": did you mean {meant}?" if meant else "")
    if len(unread) > _SHOWN_FILES:
        yield "not read", f"{len(unread) - _SHOWN_FILES:,} more files"


def _describe_entities(
    staging: Staging, sources: Mapping[str, Sequence[str]], dropped: Mapping[tuple[str, str], int]
) -> Iterator[tuple[str, str]]:
    for entity in ENTITIES:
        (counted,) = staging.rows(_QUERIES["count_records"].format(entity=entity))
        for status in ("landed", "rejected"):
            counted[f"count_{status}"] += sum(count for (name, _), count in dropped.items() if name == entity)
        # interactions and what belongs to them may come from spans, without a file of their own
        if not counted["count_landed"] and (entity != "interactions" or not sources[entity]):
            continue
        parts = [f"{counted['count_staged']:,} of {counted['count_landed']:,} records can be used"]
        parts += [f"{counted[f'count_{status}']:,} {status}" for status in ("rejected", "repeated")]
        yield entity, ", ".join(part for part in parts if not part.startswith("0 re"))
        reasons = staging.rows(_QUERIES["list_rejected"].format(entity=entity, shown=3))
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


def _describe_first(
    staging: Staging, inputs: Mapping[str, int], mask: Callable[[str], str]
) -> Iterator[tuple[str, str]]:
    """Show the first interaction as it will land: a wrong key is seen in one record and in no count."""
    for first in staging.rows(_QUERIES["read_first"]):
        given = ((name, str(value)) for name, value in first.items() if value is not None)
        for place, (name, text) in enumerate(given):
            # personal data is sought far beyond what is shown, and not in megabytes
            masked = mask(text[: 40 * _SHOWN_CHARACTERS])
            yield "" if place else "first record", f"{name}: {clean_label(masked, _SHOWN_CHARACTERS)}"
        found = f"{inputs['queries']:,} distinct {'query' if inputs['queries'] == 1 else 'queries'}"
        yield "", f"{inputs['interactions']:,} {'record' if inputs['interactions'] == 1 else 'records'}, {found}"
    (templates,) = staging.rows(_QUERIES["count_templates"].format(shortest=PASSAGE_CHARACTERS))
    if count := templates["count_queries"]:
        contain = "query contains one of its" if count == 1 else "queries contain one of their"
        yield "", f"{count:,} {contain} own contexts: log what the user asked under query, and not the filled prompt"


def _describe_traces(staging: Staging) -> Iterator[tuple[str, str]]:
    """Say what was found in traces by what it is, and where texts stand that were not read."""
    (found,) = staging.rows(_QUERIES["count_guesses"])
    yield from (("traces", f"{found[name]:,} {text}") for name, text in _SAID["traces"].items() if found[name])
    query = _QUERIES["list_unread_keys"].format(shortest=PASSAGE_CHARACTERS, shown=_SHOWN_FILES)
    for row in staging.rows(query):
        name = clean_label(row["name"], _SHOWN_CHARACTERS)
        yield "not read", f"{name}: its text in {row['count_traces']:,} of the traces"


def _describe_metrics(
    catalogue: list[dict[str, Any]], scored: list[dict[str, Any]], inputs: Mapping[str, int]
) -> Iterator[tuple[str, str]]:
    # the verdict is made of the others
    families = Counter(metric["family"] for metric in scored if metric["family"] != "verdict")
    count_all = sum(metric["family"] != "verdict" for metric in catalogue)
    named = ", ".join(f"{family} {count}" for family, count in families.items())
    yield "metrics", f"{families.total()} of {count_all} can be scored: {named}"
    for each in ("query", "answer", "context", "reference", "relevance"):
        count = inputs[each]
        if 0 < count < inputs["interactions"]:
            yield "", f"  {count:,} of {inputs['interactions']:,} interactions bring {_INPUTS[each]}"


def _describe_missing(
    catalogue: list[dict[str, Any]], inputs: Mapping[str, int], sources: Mapping[str, Sequence[str]]
) -> Iterator[tuple[str, str]]:
    own = [metric for metric in catalogue if LANGUAGE_MODEL not in metric["inputs"]]
    for each, source in _INPUTS.items():
        if inputs["interactions"] and not inputs[each]:
            gained = [metric for metric in own if each in metric["inputs"]]
            shown = ", ".join(metric["metric_name"] for metric in gained[:3]) + ", ..." * (len(gained) > 3)
            yield "missing", f"{source}: would add {len(gained)} metric{'s' * (len(gained) > 1)} ({shown})"
    # one version is compared with no other
    there = {**inputs, "versions": inputs["versions"] - 1, "chunks": len(sources["chunks"])}
    yield from (("missing", text) for name, text in _SAID["missing"].items() if there[name] <= 0)
    if count := inputs["ratings_of_unknown"]:
        yield "missing", f"who gave {count:,} ratings (rater_kind, or the seed raters): would add ratings by people"
    yield "on request", f"{len(catalogue) - len(own)} metrics by a language model (docs/judges.md)"


def _describe_next(
    folder: Path | None, tables: Mapping[str, str], count_interactions: int, is_project: bool
) -> Iterator[tuple[str, str]]:
    if count_interactions and not is_project and folder and not tables:
        yield "next", f"hcat init evaluation --logs {folder}"
    elif count_interactions:
        named = ", ".join(f"{entity}: {name}" for entity, name in tables.items())
        variables = f" --vars '{{hcat_raw_relations: {{{named}}}}}'" if tables else ""
        yield "next", (f"HCAT_RAW_LOGS={folder} " if folder else "") + f"hcat build{variables}"
    else:
        yield "next", "no interaction can be used: mend the records above, then run `hcat check` again"
