"""The explorer on made-up builds of 5,000 and 50,000 interactions: bytes, first screen, filters, memory of the browser.

The made-up build has the marts that the page reads, with words drawn from a vocabulary, all metrics of the catalogue
and four retrieved chunks an interaction. Headless Chromium opens the file from disk. Times run from the start of the
navigation, or from the click, until the next picture is painted.
"""

import csv
import gzip
import json
import shutil
import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import duckdb
import yaml

from benchmarks.harness import ROOT, BenchmarkError, Outcome, Table, run_alone, verdict, working_folder

SIZES = (5_000, 50_000)
SIZES_QUICK = (500,)
#: By size: megabytes of the file and seconds until the first screen is drawn.
LIMITS = {5_000: (12.0, 1.5), 50_000: (30.0, 3.0)}
#: Milliseconds of one filter.
LIMIT_FILTER = 100.0
#: Kilobytes of the script and the style sheet, as they are and gzipped.
LIMIT_BUNDLE, LIMIT_BUNDLE_GZIPPED = 250.0, 100.0
COUNT_REPEATS = 5
#: The main metric of the made-up build, and how many chunks each interaction retrieves.
MAIN_METRIC = "groundedness"
COUNT_CHUNKS = 4

# three of 64 syllables a word: 2.6 bits a character, about as dense as English is once it is compressed
_CONSONANTS = "bcdfgklmnprstvwz"
DIMENSIONS = ("system", "topic", "query_type", "language", "asked_week", "customer_group", "channel")
PAIRS = (("topic", "system"), ("topic", "query_type"))

# {count} interactions: two versions of one application answer each query; two queries make a cluster.
MAKE_TEXTS = """
create macro draw(purpose, number) as (hash(purpose || number::varchar) >> 11)::double / 9007199254740992;
create macro word(number) as (
    getvariable('syllables')[1 + number % 64]
    || getvariable('syllables')[1 + number // 64 % 64]
    || getvariable('syllables')[1 + number // 4096 % 64]
);
create macro sentence(purpose, number, count_words) as (
    'The ' || array_to_string(
        list_transform(
            range(count_words), lambda each: word((hash(purpose || each || '|' || number::varchar) >> 20)::bigint)
        ), ' '
    ) || ' costs ' || (draw(purpose || 'fee', number) * 90)::integer || ' euro.'
);

-- private data of one chunk in a hundred are masked
create table base_chunks as
select
    'chunk_' || number as chunk_id,
    'document_' || number // 8 as document_id,
    sentence('c1', number, 30) || ' ' || sentence('c2', number, 32) || ' ' || sentence('c3', number, 28) as chunk_text,
    if(number % 100 = 0, replace(chunk_text, ' costs ', ' [masked] '), chunk_text) as masked_text,
    'staged' as record_status
from range($count) as numbers(number);

create table made_interactions as
select
    number,
    printf('call_%06d', number) as interaction_id,
    'query_' || number // 2 as query_id,
    'cluster_' || number // 4 as cluster_id,
    'assistant' as application,
    case when number % 2 = 0 then '1.0' else '1.1' end as application_version,
    'assistant ' || case when number % 2 = 0 then '1.0' else '1.1' end as system,
    (['en', 'en', 'en', 'de', 'fr'])[1 + number // 2 % 5] as language,
    (['fees', 'cards', 'loans', 'savings', 'payments', 'fraud', 'mortgages', 'insurance', 'accounts', 'digital'])[
        1 + (number // 2) % 10
    ] as topic,
    (['simple_factual', 'multi_hop', 'yes_no', 'multiple_choice'])[1 + (number // 2) % 4] as query_type,
    (['retail', 'premier', 'business'])[1 + number // 20 % 3] as customer_group,
    date '2026-01-05' + (7 * (number // 2 % 12))::integer as asked_week,
    'What about ' || sentence('q', number // 2, 9) as query_text,
    [sentence('a1', number, 14), sentence('a2', number, 16), sentence('a3', number, 12)] as sentences,
    'Correct: ' || sentence('r', number // 2, 10) as reference_answer,
    (['web', 'mobile', 'branch'])[1 + number % 3] as channel,
    number // 2 % 50 = 0 as is_refusal,
    draw('quality', number) as quality
from range($count) as numbers(number);

insert into fct_interactions by name
select
    interaction_id, query_id, cluster_id, application, application_version, system, language, topic, query_type,
    customer_group, asked_week, query_text, reference_answer, is_refusal,
    array_to_string(sentences, ' ') as answer,
    '{{"channel": "' || channel || '", "build": "b' || number % 4 || '"}}' as tags,
    'answer' as expected_behaviour,
    true as is_answered,
    asked_week::timestamp + interval 9 hour as asked_at,
    0 as sample_index,
    true as has_graded_retrieval,
    ['chunk_' || (number * 7 + 269) % $count] as missed_chunk_ids,
    [1.0] as missed_chunk_grades
from made_interactions;

-- the second chunk of each list is relevant
insert into fct_retrieved_contexts by name
select
    md5(concat_ws('|', interactions.interaction_id, ranks.rank)) as retrieved_context_id,
    interactions.interaction_id, chunks.chunk_id, chunks.document_id, ranks.rank::integer as rank,
    round(1 - 0.1 * ranks.rank - 0.05 * interactions.quality, 4)::double as retrieval_score,
    chunks.masked_text as context_text,
    (ranks.rank = 2)::double as grade,
    ranks.rank = 2 as is_relevant
from made_interactions as interactions
cross join range(1, {chunks} + 1) as ranks(rank)
inner join base_chunks as chunks
    on chunks.chunk_id = 'chunk_' || (interactions.number * 7 + ranks.rank * 131) % $count;

create table base_retrievals as
select interaction_id, chunk_id, null::varchar as text, rank, 'staged' as record_status from fct_retrieved_contexts;

insert into dim_chunks by name
select chunk_id, document_id, 'Title of ' || document_id as title, masked_text as chunk_text from base_chunks;

insert into dim_documents by name
select distinct document_id, 'Title of ' || document_id as title from base_chunks;

insert into dim_queries by name
select distinct query_id, query_text, ['chunk_' || (number * 7 + 262) % $count] as source_chunk_ids
from made_interactions
where number % 2 = 0;

insert into fct_ratings by name
select
    md5(interaction_id) as rating_id, interaction_id, 'reader' as rater, 'person' as rater_kind,
    'faithfulness' as criterion,
    (quality * 2.99)::integer as scale_point, 1 as rating_pass
from made_interactions
where number % 20 = 0;

create table rating_scales as
select 'faithfulness' as criterion, point as scale_point, (['not faithful', 'partly faithful', 'faithful'])[1 + point]
    as scale_label, 'a guideline' as guideline_text
from range(3) as points(point);
"""

MAKE_SCORES = """
insert into fct_evaluations by name
select
    md5(interactions.interaction_id || metrics.metric_name) as evaluation_id,
    interactions.interaction_id,
    metrics.metric_name,
    case
        when interactions.is_refusal then 'refused'
        when draw(metrics.metric_name || 'status', interactions.number) < 0.03 then 'missing_input'
        else 'scored'
    end as score_status,
    case
        when score_status = 'scored'
            then round(0.3 * interactions.quality + 0.7 * draw(metrics.metric_name, interactions.number), 6)
    end as raw_score,
    metrics.threshold,
    case
        when metrics.threshold is null or raw_score is null then null
        when metrics.direction = 'higher_is_better' then raw_score < metrics.threshold
        else raw_score > metrics.threshold
    end as is_failing,
    case when metrics.metric_name = $main_metric and raw_score is not null then round(1 - raw_score / 2, 6) end
        as calibrated_probability,
    case when metrics.metric_name = $main_metric and raw_score is not null then 'accepted|failed' end
        as prediction_set,
    case
        when metrics.metric_name = $main_metric and interactions.number % 20 = 0 then (interactions.quality > 0.4)::int
    end as human_label,
    case when human_label is not null then 'person' end as label_rater_kind
from made_interactions as interactions
cross join dim_metrics as metrics
where metrics.metric_name <> 'verdict';

insert into fct_verdicts by name
select
    evaluations.interaction_id, interactions.query_id, interactions.cluster_id, interactions.system,
    interactions.topic, evaluations.metric_name, evaluations.human_label,
    case
        when human_label = 0 or (human_label is null and is_failing) then 'failing'
        when human_label = 1 or is_failing = false then 'acceptable'
        else 'not_judged'
    end as verdict,
    'a rule' as verdict_rule,
    'A reason in words.' as verdict_reason
from fct_evaluations as evaluations
inner join made_interactions as interactions on evaluations.interaction_id = interactions.interaction_id
where evaluations.metric_name = $main_metric;

insert into fct_sentence_evidence by name
select
    md5(interactions.interaction_id || '|' || places.place) as sentence_id,
    interactions.interaction_id,
    retrieved.chunk_id as evidence_chunk_id,
    interactions.sentences[1 + places.place] as sentence_text,
    left(retrieved.context_text, instr(retrieved.context_text, '.')) as evidence_text,
    split_part(interactions.sentences[1 + places.place], ' ', 3) as unsupported,
    'entailment_logit -0.66, similarity +0.08' as support_contributions,
    places.place::integer as sentence_index,
    retrieved.rank as evidence_rank,
    draw('similarity', interactions.number) as similarity,
    draw('entailment', interactions.number * 3 + places.place) as entailment_probability,
    draw('contradiction', interactions.number * 3 + places.place) as contradiction_probability,
    draw('support', interactions.number * 3 + places.place) as support_probability,
    places.place = 1 as is_least_grounded,
    false as claims_nothing,
    contradiction_probability > 0.93 as is_contradicted,
    support_probability < 0.54 as is_flagged
from made_interactions as interactions
cross join range(3) as places(place)
inner join fct_retrieved_contexts as retrieved
    on interactions.interaction_id = retrieved.interaction_id and retrieved.rank = 1 + places.place;

insert into fct_failure_causes by name
select
    md5(interaction_id || metric_name) as failure_cause_id, interaction_id, metric_name,
    'generation' as fault, 'source_retrieved' as reason
from fct_evaluations
where is_failing and metric_name = $main_metric;

insert into fct_query_flags by name
select md5(interaction_id) as query_flag_id, interaction_id, 'off_topic' as flag_name, 'query' as subject
from made_interactions
where number % 40 = 7;

-- the verdict is a metric too
create view made_evaluations as
select interaction_id, metric_name, raw_score, is_failing from fct_evaluations
union all
select interaction_id, 'verdict', (verdict = 'acceptable')::integer, verdict = 'failing'
from fct_verdicts where verdict <> 'not_judged';

insert into fct_metric_weeks by name
select
    md5(evaluations.metric_name || interactions.asked_week) as metric_week_id,
    evaluations.metric_name,
    'all' as dimension,
    'all' as segment,
    'complete' as week_status,
    interactions.asked_week::date as week_start,
    count(evaluations.raw_score) as count_scored,
    avg(evaluations.raw_score) as mean_score,
    mean_score - 0.02 as mean_lower,
    mean_score + 0.02 as mean_upper,
    avg(evaluations.is_failing::integer) as share_failing
from made_evaluations as evaluations
inner join made_interactions as interactions on evaluations.interaction_id = interactions.interaction_id
inner join dim_metrics as metrics on evaluations.metric_name = metrics.metric_name
where metrics.is_primary
group by evaluations.metric_name, interactions.asked_week;
"""

#: One row per segment or pair of segments; bounds as plain as they can be, for only their number counts here.
MAKE_CELLS = """
insert into {table} by name
select
    md5(concat_ws('|', {cell})) as {key},
    {cell},
    'share_failing' as measurement,
    count(*) as count_interactions,
    count(raw_score) as count_scored,
    count(distinct cluster_id) as count_clusters,
    avg(raw_score) as mean_score,
    avg(raw_score) - 0.05 as mean_score_lower,
    avg(raw_score) + 0.05 as mean_score_upper,
    quantile_cont(raw_score, 0.25) as quantile_25,
    quantile_cont(raw_score, 0.5) as quantile_50,
    quantile_cont(raw_score, 0.75) as quantile_75,
    count(*) filter (where is_failing) as count_failing,
    avg(is_failing::integer) as share_failing,
    greatest(avg(is_failing::integer) - 0.08, 0) as share_failing_lower,
    least(avg(is_failing::integer) + 0.08, 1) as share_failing_upper,
    count(distinct cluster_id) < 10 as is_small,
    false as is_weak
from ({source})
group by {cell}
"""
_SCORED = """select evaluations.metric_name, evaluations.raw_score, evaluations.is_failing, interactions.*
from made_evaluations as evaluations
inner join made_interactions as interactions on evaluations.interaction_id = interactions.interaction_id
inner join dim_metrics as metrics on evaluations.metric_name = metrics.metric_name
where metrics.is_primary"""


@dataclass(frozen=True, slots=True)
class Measured:
    """What the page of one size cost."""

    count: int
    megabytes: float
    #: Time that `hcat explore` took.
    write_seconds: float
    #: From the start of the navigation until the first screen is drawn, median.
    first_seconds: float
    #: From the click on a filter until the list is drawn, the slowest of all filters.
    filter_milliseconds: float
    #: Memory of the page after all filters.
    heap_megabytes: float


def make_warehouse(folder: Path, count: int) -> Path:
    """Write a made-up build of ``count`` interactions into ``folder`` and return its database."""
    database = folder / "hcat.duckdb"
    syllables = [consonant + vowel for consonant in _CONSONANTS for vowel in "aeio"]
    with duckdb.connect(str(database)) as connection:
        connection.execute("set variable syllables = $syllables", {"syllables": syllables})
        for model in _read_marts():
            columns = ", ".join(f"{column['name']} {column['data_type']}" for column in model["columns"])
            connection.execute(f"create table {model['name']} ({columns})")
        _add_run(connection, count)
        _add_metrics(connection)
        for statement in MAKE_TEXTS.format(chunks=COUNT_CHUNKS).split(";"):
            _run(connection, statement, count=count)
        for statement in MAKE_SCORES.split(";"):
            _run(connection, statement, main_metric=MAIN_METRIC)
        for dimension in ("all", *DIMENSIONS):
            value = "'all'" if dimension == "all" else dimension
            source = f"select *, '{dimension}' as dimension, {value} as segment from ({_SCORED})"
            cell = "metric_name, dimension, segment"
            table, key = "fct_marginal_weaknesses", "marginal_weakness_id"
            connection.execute(MAKE_CELLS.format(table=table, key=key, cell=cell, source=source))
        for first, second in PAIRS:
            names = f"'{first}' as first_dimension, {first} as first_segment, '{second}' as second_dimension,"
            source = f"select *, {names} {second} as second_segment from ({_SCORED})"
            cell = "metric_name, first_dimension, first_segment, second_dimension, second_segment"
            table, key = "fct_bivariate_weaknesses", "bivariate_weakness_id"
            connection.execute(MAKE_CELLS.format(table=table, key=key, cell=cell, source=source))
    return database


def _run(connection: duckdb.DuckDBPyConnection, statement: str, **parameters: Any) -> None:
    if statement.strip():
        connection.execute(statement, {name: value for name, value in parameters.items() if f"${name}" in statement})


def _read_marts() -> list[dict[str, Any]]:
    """Return the marts as their YAML describes them."""
    paths = [path for path in sorted((ROOT / "models").rglob("_*.yml")) if "_unit_tests" not in path.name]
    models = [model for path in paths for model in yaml.safe_load(path.read_text("utf-8")).get("models", [])]
    return [model for model in models if model["name"].startswith(("dim_", "fct_"))]


def _add_run(connection: duckdb.DuckDBPyConnection, count: int) -> None:
    connection.execute(
        """
        insert into dim_runs by name
        select 'run_1' as run_id, $settings as settings, 1 as random_seed, $count as count_interactions,
            0 as count_gates, 0 as count_error_gates_not_passing, true as is_passing,
            timestamp '2026-04-01' as started_at, 1 as build_number
        """,
        {"settings": json.dumps({"hcat_confidence": 0.95}), "count": count},
    )


def _add_metrics(connection: duckdb.DuckDBPyConnection) -> None:
    """Insert all metrics of the shipped catalogue with the shipped decisions."""
    with (ROOT / "decisions" / "threshold_decisions.csv").open(encoding="utf-8") as file:
        decided = {row["metric_name"]: float(row["threshold"]) for row in csv.DictReader(file)}
    with (ROOT / "seeds" / "metric_catalog.csv").open(encoding="utf-8") as file:
        metrics = list(csv.DictReader(file))
    connection.executemany(
        "insert into dim_metrics (metric_name, family, direction, unit, description, range_low, range_high, threshold,"
        " is_primary, is_provisional) values (?, ?, ?, ?, ?, ?, ?, ?, ?, true)",
        [
            [
                *(row[name] for name in ("metric_name", "family", "direction", "unit", "description")),
                float(row["range_low"]),
                float(row["range_high"]),
                decided.get(row["metric_name"]),
                row["is_primary"] == "true",
            ]
            for row in metrics
        ],
    )


# one picture after the next one: what was changed is painted then
_PAINTED = "() => new Promise(done => requestAnimationFrame(() => setTimeout(() => done(performance.now()), 0)))"
_FILTER = """async (value) => {
  const started = performance.now()
  document.querySelector(`input[data-facet="${value[0]}"][data-value="${value[1]}"]`).click()
  const count = () => document.getElementById('count').value
  const before = count()
  while (count() === before && performance.now() - started < 5000) await new Promise(requestAnimationFrame)
  await new Promise(requestAnimationFrame)
  return performance.now() - started
}"""
#: One value of each facet, each selected and taken back.
FILTERS = (
    ("d.system", "assistant 1.1"),
    ("d.topic", "fees"),
    ("d.query_type", "yes_no"),
    ("d.language", "de"),
    ("d.asked_week", "2026-01-05"),
    ("d.customer_group", "premier"),
    ("d.channel", "web"),
    ("fails", MAIN_METRIC),
    ("outcome", "refused"),
    ("verdict", "failing"),
    ("label", "failed"),
    ("flag", "off_topic"),
    ("tag", "build=b1"),
)


def measure(folder: Path, count: int) -> Measured:
    """Return what the page of a made-up build of ``count`` interactions costs."""
    from hcat.explorer.document import write_explorer

    folder.mkdir(parents=True)
    make_warehouse(folder, count)
    started = time.perf_counter()
    path = write_explorer(folder, folder / "explorer.html")
    seconds = time.perf_counter() - started
    from playwright.sync_api import sync_playwright

    first, filters, errors = [], [], []
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for _ in range(COUNT_REPEATS):
            page = chromium.new_page(viewport={"width": 1440, "height": 900})
            page.on("pageerror", lambda error: errors.append(str(error)))
            page.goto(path.as_uri(), wait_until="commit")
            page.wait_for_selector("table.grid")
            first.append(page.evaluate(_PAINTED) / 1000)
            page.evaluate("location.hash = '#/interactions'")
            page.wait_for_selector(".item")
            own = []
            for value in FILTERS:
                own.append(page.evaluate(_FILTER, value))
                page.evaluate(_FILTER, value)
            filters.append(max(own))
            heap = page.evaluate("performance.memory.usedJSHeapSize") / 1e6
            page.close()
        chromium.close()
    if errors:
        raise BenchmarkError(f"the page reported an error: {errors[0]}")
    return Measured(
        count, path.stat().st_size / 1e6, seconds, statistics.median(first), statistics.median(filters), heap
    )


def measure_bundle() -> tuple[float, float]:
    """Return kilobytes of script and style sheet together, as they are and gzipped."""
    folder = files("hcat.explorer") / "bundles"
    content = [(folder / name).read_bytes() for name in ("explorer.js", "explorer.css")]
    return sum(map(len, content)) / 1000, sum(len(gzip.compress(one, mtime=0)) for one in content) / 1000


def run(is_quick: bool = False, folder: Path | None = None) -> Outcome | None:
    """Measure pages of all sizes; None where Playwright or Chromium is not installed."""
    try:
        import playwright  # noqa: F401
    except ImportError:
        return None
    if shutil.which("chromium") is None:
        return None
    with working_folder(folder) as work:
        measured = [measure(work / f"explorer_{count}", count) for count in (SIZES_QUICK if is_quick else SIZES)]
    return to_outcome(measured, measure_bundle(), is_quick)


def to_outcome(measured: Sequence[Measured], bundle: tuple[float, float], is_quick: bool) -> Outcome:
    """Return the tables of the page of results."""
    rows, is_within = [], []
    for one in measured:
        megabytes, seconds = LIMITS.get(one.count, (float("inf"), float("inf")))
        fits = (one.megabytes <= megabytes, one.first_seconds <= seconds, one.filter_milliseconds <= LIMIT_FILTER)
        is_within += fits
        rows.append(
            [
                f"{one.count:,}",
                f"{one.megabytes:.1f} ({verdict(fits[0])}, at most {megabytes:g})",
                f"{one.first_seconds:.2f} ({verdict(fits[1])}, at most {seconds:g})",
                f"{one.filter_milliseconds:.0f} ({verdict(fits[2])}, at most {LIMIT_FILTER:g})",
                f"{one.heap_megabytes:.0f}",
                f"{one.write_seconds:.1f}",
            ]
        )
    fits = (bundle[0] <= LIMIT_BUNDLE, bundle[1] <= LIMIT_BUNDLE_GZIPPED)
    is_within += fits
    columns = ["interactions", "file, MB", "first screen, s", "slowest filter, ms", "heap, MB", "hcat explore, s"]
    return Outcome(
        name="explorer",
        title="The explorer in a browser",
        tables=[
            Table("Pages by size", columns, rows),
            Table(
                "Bundle",
                ["kB", "kB gzipped"],
                [
                    [
                        f"{bundle[0]:.0f} ({verdict(fits[0])}, at most {LIMIT_BUNDLE:g})",
                        f"{bundle[1]:.0f} ({verdict(fits[1])}, at most {LIMIT_BUNDLE_GZIPPED:g})",
                    ]
                ],
            ),
        ],
        notes=[
            "Words of the made-up build are three of 64 syllables each, 2.6 bits a character.",
            "A page holds texts of 5,000 interactions: beyond that the worst ones and a random sample.",
            f"Medians of {COUNT_REPEATS} visits in headless Chromium, each with its slowest filter.",
        ],
        is_quick=is_quick,
        is_within_limits=all(is_within),
    )


if __name__ == "__main__":
    sys.exit(run_alone("explorer", __doc__, run))
