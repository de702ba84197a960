"""The report: one self-contained HTML file about the last build, from the marts alone.

The file asks nothing of any network, runs no script and is the same, byte for byte, for the same warehouse: its time
is that of the last build and not of the clock. Text from logs is hostile: it is cut at a documented length, its control
and direction characters are made visible, and Jinja2 escapes the rest.

Beside :mod:`hcat.relations` this is the only module that knows DuckDB; it opens the warehouse read-only, in one place.
"""

from __future__ import annotations

import json
import math
import os
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import NormalDist
from typing import Any

from hcat import charts

Row = dict[str, Any]

#: Characters of a text from the logs that are shown; the rest is cut with an ellipsis. The report says so.
QUERY_CHARACTERS = 400
ANSWER_CHARACTERS = 900
SENTENCE_CHARACTERS = 400
EXCERPT_CHARACTERS = 240
LABEL_CHARACTERS = 60

#: Rows that a table shows; what is left out is counted below it. They bound the size of the file, not the analysis.
MAXIMUM_SYSTEMS = 12
MAXIMUM_GATES = 120
MAXIMUM_HEATMAP_ROWS = 24
MAXIMUM_HEATMAP_COLUMNS = 9
MAXIMUM_TABLE_CELLS = 240
MAXIMUM_WORST = 15
MAXIMUM_SENTENCES = 3
MAXIMUM_WEAK_SEGMENTS = 15
MAXIMUM_REASONS = 25
MAXIMUM_EXAMPLES = 3
MAXIMUM_BUILDS = 10
#: Scores per violin: a seeded hash order chooses them, so that the shape does not depend on the order of rows.
MAXIMUM_VIOLIN_SCORES = 1000

#: Metrics whose distribution is drawn, in order of preference; other primary metrics fill up where these are missing.
VIOLIN_METRICS = (
    "groundedness",
    "groundedness_similarity__mean",
    "support_words",
    "answer_relevancy__mean",
    "semantic_similarity",
)
#: Metrics by whose worst scores interactions are listed: grounds, figures, reference, words, and refusing or not.
WORST_METRICS = (
    "groundedness",
    "groundedness_similarity__mean",
    "support_numbers",
    "semantic_similarity",
    "support_words",
    "refusal_as_expected",
)
#: Metric of the heatmaps unless the reader chooses one; the first that is primary, decided and scored.
HEATMAP_METRICS = (
    "groundedness",
    "groundedness_similarity__mean",
    "support_words",
    "semantic_similarity",
    "answer_relevancy__mean",
)
#: Pairs of dimensions drawn as heatmaps.
HEATMAP_PAIRS = (("topic", "query_type"), ("topic", "system"))

ENTITIES = ("interactions", "retrievals", "queries", "documents", "chunks", "ratings", "relevance_judgements")
SCORE_STATUSES = ("scored", "truncated", "refused", "not_applicable", "missing_input", "failed")

# ---------------------------------------------------------------------------------------------------------------------
# Queries. Every order is total, so that the same warehouse gives the same rows in the same order.

LIST_TABLES = (
    "select table_name from information_schema.tables where table_schema = current_schema() order by table_name"
)

LIST_RUNS = "select * from dim_runs order by started_at desc, run_id desc"

COUNT_RECORDS_EVALUATED = """
select
    count(*) as count_interactions,
    count(distinct source_group) as count_sources,
    count(distinct system) as count_systems,
    count(distinct topic) as count_topics,
    count(distinct query_type) as count_query_types,
    count(distinct language) as count_languages,
    count(*) filter (where is_answered) as count_answered,
    count(*) filter (where is_refusal) as count_refusals,
    min(asked_at) as first_asked_at,
    max(asked_at) as last_asked_at
from fct_interactions
"""

COUNT_DOCUMENTS = (
    "select count(*) as count_documents, coalesce(sum(count_chunks), 0) as count_chunks from dim_documents"
)

COUNT_QUERIES = "select count(*) as count_queries from dim_queries"

LIST_METRICS = "select * from dim_metrics order by is_primary desc, family, metric_name"

DESCRIBE_SYSTEMS = """
select
    system,
    count(*) as count_interactions,
    count(distinct source_group) as count_sources,
    count(*) filter (where is_answered) as count_answered,
    count(*) filter (where is_refusal) as count_refusals,
    count(*) filter (where is_refusal and expected_behaviour = 'answer') as count_refused_wrongly,
    count(*) filter (where expected_behaviour = 'refuse') as count_refusals_due,
    count(*) filter (where is_answered and not is_refusal and expected_behaviour = 'refuse') as count_answered_wrongly
from fct_interactions
group by system
order by count_interactions desc, system
"""

MEASURE_SYSTEMS = """
select weaknesses.*, metrics.direction, metrics.range_low, metrics.range_high, metrics.family, metrics.is_provisional
from fct_marginal_weaknesses as weaknesses
inner join dim_metrics as metrics on weaknesses.metric_name = metrics.metric_name
where weaknesses.dimension in ('all', 'system') and metrics.is_primary
order by metrics.family, weaknesses.metric_name, weaknesses.dimension, weaknesses.segment
"""

LIST_GATES = """
select *
from fct_threshold_gates
where run_id = $run_id
order by is_passing, severity, verdict, gate_name
"""

FIND_LAST_GATE_RUN = "select run_id from fct_threshold_gates order by evaluated_at desc, run_id desc limit 1"

LIST_CELLS = """
select *
from fct_bivariate_weaknesses
where metric_name = $metric_name and first_dimension = $first_dimension and second_dimension = $second_dimension
order by first_segment, second_segment
"""

MEASURE_WHOLE = "select * from fct_marginal_weaknesses where metric_name = $metric_name and dimension = 'all'"

# A metric is no finding in a segment that its own value defines: an empty answer is not answered, and recall is low
# where the source was not retrieved.
RANK_SEGMENTS = """
select weaknesses.*, whole.share_failing as share_failing_whole
from fct_marginal_weaknesses as weaknesses
inner join fct_marginal_weaknesses as whole
    on weaknesses.metric_name = whole.metric_name and whole.dimension = 'all'
inner join dim_metrics as metrics on weaknesses.metric_name = metrics.metric_name
where
    weaknesses.dimension <> 'all'
    and not weaknesses.is_small
    and weaknesses.share_failing_lower > whole.share_failing
    and not (weaknesses.metric_name = 'answered' and weaknesses.dimension = 'answer_length')
    and not (metrics.family = 'retrieval' and weaknesses.dimension = 'retrieval_hit')
order by
    weaknesses.share_failing_lower - whole.share_failing desc,
    weaknesses.metric_name,
    weaknesses.dimension,
    weaknesses.segment
"""

DESCRIBE_DISTRIBUTIONS = """
select segment, count_scored, quantile_25, quantile_50, quantile_75
from fct_marginal_weaknesses
where metric_name = $metric_name and dimension = 'topic' and count_scored > 0
order by count_scored desc, segment
"""

SAMPLE_SCORES = """
select interactions.topic, evaluations.raw_score
from fct_evaluations as evaluations
inner join fct_interactions as interactions on evaluations.interaction_id = interactions.interaction_id
where evaluations.metric_name = $metric_name and evaluations.raw_score is not null
qualify row_number() over (
    partition by interactions.topic order by md5('violin' || evaluations.interaction_id), evaluations.interaction_id
) <= $maximum
order by interactions.topic, evaluations.raw_score
"""

# Ranked within each metric; one interaction per source first, so that variants of one query do not fill the list.
# Perfect scores are not worst of anything; scores given to refusals would fill the list with one sentence
# (refusal_as_expected brings the refusals that were not due).
LIST_WORST = """
with ranked as (
    select
        evaluations.interaction_id,
        evaluations.metric_name,
        interactions.source_group,
        evaluations.raw_score * case when metrics.direction = 'higher_is_better' then 1 else -1 end as merit,
        list_position($metric_names::varchar[], evaluations.metric_name) as metric_position
    from fct_evaluations as evaluations
    inner join fct_interactions as interactions on evaluations.interaction_id = interactions.interaction_id
    inner join dim_metrics as metrics on evaluations.metric_name = metrics.metric_name
    where
        evaluations.score_status in ('scored', 'truncated')
        and list_contains($metric_names::varchar[], evaluations.metric_name)
        and evaluations.raw_score is distinct from
            case when metrics.direction = 'higher_is_better' then metrics.range_high else metrics.range_low end
),

among_siblings as (
    select
        *,
        row_number() over (partition by metric_name, source_group order by merit, interaction_id) as sibling_number
    from ranked
),

numbered as (
    select
        *,
        row_number() over (partition by metric_name order by sibling_number, merit, interaction_id) as metric_rank
    from among_siblings
),

firsts as (
    select interaction_id, metric_name, metric_rank, metric_position
    from numbered
    qualify row_number() over (partition by interaction_id order by metric_rank, metric_position) = 1
)

select
    firsts.metric_name,
    firsts.metric_rank,
    interactions.interaction_id,
    interactions.system,
    interactions.topic,
    interactions.query_type,
    interactions.expected_behaviour,
    left(interactions.query_text, $query_characters) as query_text,
    left(interactions.answer, $answer_characters) as answer,
    left(interactions.reference_answer, $sentence_characters) as reference_answer
from firsts
inner join fct_interactions as interactions on firsts.interaction_id = interactions.interaction_id
order by firsts.metric_rank, firsts.metric_position, firsts.interaction_id
limit $maximum
"""

LIST_SCORES_OF = """
select evaluations.interaction_id, evaluations.metric_name, evaluations.raw_score, evaluations.score_status,
    evaluations.threshold, evaluations.is_failing
from fct_evaluations as evaluations
inner join dim_metrics as metrics on evaluations.metric_name = metrics.metric_name
where
    list_contains($interaction_ids::varchar[], evaluations.interaction_id)
    and (metrics.is_primary or list_contains($metric_names::varchar[], evaluations.metric_name))
    and metrics.unit <> 'indicator'
order by evaluations.interaction_id, metrics.family, evaluations.metric_name
"""

# The least grounded sentence first, then those with numbers, names or words that were found nowhere.
LIST_EVIDENCE_OF = """
select
    interaction_id,
    left(sentence_text, $characters) as sentence_text,
    left(evidence_text, $characters) as evidence_text,
    left(unsupported, $characters) as unsupported,
    left(contradicted, $characters) as contradicted,
    left(displaced, $characters) as displaced,
    evidence_chunk_id,
    evidence_rank,
    similarity,
    is_least_grounded
from fct_sentence_evidence
where
    list_contains($interaction_ids::varchar[], interaction_id)
    and (is_least_grounded or coalesce(unsupported, '') || coalesce(contradicted, '') || coalesce(displaced, '') <> '')
qualify row_number() over (
    partition by interaction_id
    order by
        is_least_grounded desc,
        coalesce(contradicted, '') <> '' desc,
        coalesce(greatest(number_displacement, entity_displacement), 0) desc,
        coalesce(count_numbers - count_numbers_supported, 0) desc,
        coalesce(count_entities - count_entities_supported, 0) desc,
        coalesce(count_words - count_words_supported, 0) desc,
        sentence_index,
        sentence_id
) <= $maximum
order by interaction_id, is_least_grounded desc, sentence_index, sentence_id
"""

MEASURE_RETRIEVAL = """
with by_source as (
    select system, metric_name, k, source_group, count(score) as count_scored
    from fct_retrieval_quality
    group by system, metric_name, k, source_group
),

effective as (
    select
        system,
        metric_name,
        k,
        count(*) as count_sources,
        sum(count_scored) * sum(count_scored) / nullif(sum(count_scored * count_scored), 0)::double as count_effective
    from by_source
    group by system, metric_name, k
),

described as (
    select system, metric_name, k, count(score) as count_scored, avg(score) as mean, stddev_samp(score) as deviation
    from fct_retrieval_quality
    group by system, metric_name, k
)

select described.*, effective.count_sources, effective.count_effective
from described
inner join effective
    on
        described.system = effective.system
        and described.metric_name = effective.metric_name
        and described.k is not distinct from effective.k
order by described.metric_name, described.k nulls last, described.system
"""

COUNT_FAILURE_CAUSES = """
select
    system,
    count(distinct interaction_id) as count_interactions,
    count(distinct interaction_id) filter (where failure_cause = 'retrieval') as count_retrieval,
    count(distinct interaction_id) filter (where failure_cause = 'generation') as count_generation
from fct_retrieval_quality
group by system
order by count_interactions desc, system
"""

COUNT_STATUSES = """
select metrics.family, metrics.metric_name, metrics.is_primary, metrics.requires, evaluations.score_status,
    count(*) as count_evaluations
from fct_evaluations as evaluations
inner join dim_metrics as metrics on evaluations.metric_name = metrics.metric_name
group by metrics.family, metrics.metric_name, metrics.is_primary, metrics.requires, evaluations.score_status
order by metrics.family, metrics.metric_name, evaluations.score_status
"""

LIST_RECORD_COUNTS = "select * from int_records_counted order by entity"

# {entity} comes from the closed list ENTITIES, never from data.
COUNT_REJECT_REASONS = """
select left(reject_reason, $characters) as reject_reason, count(*) as count_rejected
from stg_{entity}__rejected
group by left(reject_reason, $characters)
order by count_rejected desc, reject_reason
"""

LIST_REJECT_EXAMPLES = """
select left(reject_reason, $characters) as reject_reason, source_file, source_row,
    left(record_excerpt, $characters) as record_excerpt
from stg_{entity}__rejected
qualify row_number() over (
    partition by left(reject_reason, $characters) order by source_file, source_row, record_id
) <= $maximum
order by reject_reason, source_file, source_row, record_id
"""

COUNT_RATINGS = """
select count(*) as count_ratings, count(distinct rater) as count_raters,
    count(distinct interaction_id) as count_interactions
from stg_ratings
"""

DESCRIBE_RATINGS = """
select
    criterion,
    count(*) as count_interactions,
    max(count_raters) as maximum_raters,
    avg(mean_scale_point) as mean_scale_point,
    count(*) filter (where label = 1) as count_accepted,
    count(*) filter (where label = 0) as count_not_accepted,
    count(*) filter (where label is null) as count_ties
from int_ratings_adjudicated
group by criterion
order by criterion
"""

COMPARE_LABELS = """
select
    metric_name,
    count(*) filter (where label = 1) as count_accepted,
    count(*) filter (where label = 0) as count_not_accepted,
    avg(raw_score) filter (where label = 1) as mean_accepted,
    avg(raw_score) filter (where label = 0) as mean_not_accepted
from fct_evaluations
where label is not null and raw_score is not null
group by metric_name
order by metric_name
"""


# ---------------------------------------------------------------------------------------------------------------------
# Reading


class WarehouseError(RuntimeError):
    """The warehouse cannot be read; the message is one line for people."""


@dataclass(frozen=True, slots=True)
class Warehouse:
    """A warehouse opened for reading.

    Parameters
    ----------
    connection : DuckDBPyConnection
        Read-only connection.
    tables : frozenset of str
        Tables and views that exist.
    """

    connection: Any
    tables: frozenset[str]

    def rows(self, sql: str, reads: Sequence[str], **parameters: Any) -> list[Row]:
        """Return the rows of ``sql`` as dictionaries; none when a table of ``reads`` does not exist."""
        if not self.tables.issuperset(reads):
            return []
        result = self.connection.execute(sql, parameters or None)
        names = [column[0] for column in result.description]
        return [dict(zip(names, values, strict=True)) for values in result.fetchall()]


def find_database(warehouse: Path) -> Path:
    """Return the database file of ``warehouse``, a folder that holds ``hcat.duckdb`` or such a file itself.

    Raises
    ------
    WarehouseError
        If there is none.
    """
    path = warehouse if warehouse.is_file() else warehouse / "hcat.duckdb"
    if not path.is_file():
        raise WarehouseError(f"no warehouse at {path}: run `dbt build` first, or name its folder with --warehouse")
    return path


@contextmanager
def open_warehouse(warehouse: Path) -> Iterator[Warehouse]:
    """Open the warehouse read-only and yield it; what DuckDB cannot do becomes a :class:`WarehouseError`.

    Raises
    ------
    WarehouseError
        If the file is missing, locked by a writing process, not a warehouse, or built by another version of hcat.
    """
    import duckdb

    path = find_database(warehouse)
    try:
        # one thread: the last bits of a mean depend on the order of additions, and the report must not
        connection = duckdb.connect(str(path), read_only=True, config={"threads": 1})
    except duckdb.Error as error:
        raise WarehouseError(_explain_connection(path, error)) from error
    try:
        tables = frozenset(name for (name,) in connection.execute(LIST_TABLES).fetchall())
        yield Warehouse(connection, tables)
    except duckdb.Error as error:
        raise WarehouseError(f"{path} does not fit this version of hcat: {_first_line(error)}") from error
    finally:
        connection.close()


def _explain_connection(path: Path, error: Exception) -> str:
    message = str(error)
    if "lock" in message.lower():
        process = re.search(r"PID (\d+)", message)
        who = f"another process (PID {process[1]})" if process else "another process"
        return f"{who} writes {path}: wait until it ends, or read the published copy {path.parent / 'published'}"
    return f"{path} cannot be opened: {_first_line(error)}"


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__


# ---------------------------------------------------------------------------------------------------------------------
# Text and numbers


def clean_text(text: object, length: int) -> str:
    """Return ``text`` fit to be shown: at most ``length`` characters of it, with an ellipsis where it was cut.

    Control characters (terminal escapes), characters that change the direction of text and characters of no width
    become visible as ``⟨U+202E⟩``; line breaks and tabs stay. It does not escape HTML: the template does.

    Parameters
    ----------
    text : object
        Anything that ``str`` can show; None gives the empty string.
    length : int
        Characters kept, at least 1.
    """
    if length < 1:
        raise ValueError(f"length must be at least 1, got {length}")
    if text is None:
        return ""
    whole = str(text)
    kept = whole[:length].replace("\r\n", "\n").replace("\r", "\n")
    shown = "".join(
        f"⟨U+{ord(character):04X}⟩"
        if character not in "\n\t" and unicodedata.category(character) in {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}
        else character
        for character in kept
    )
    return shown + "…" if len(whole) > length else shown


def clean_label(text: object, length: int = LABEL_CHARACTERS) -> str:
    """Return ``text`` as :func:`clean_text`, on one line; an empty one is named so."""
    return " ".join(clean_text(text, length).split()) or "(empty)"


def format_number(value: float | None, unit: str | None = None) -> str:
    """Return ``value`` with three significant digits; whole numbers with separators; an en dash for None.

    Parameters
    ----------
    value : float or int or None
        Number; not finite counts as None.
    unit : str, optional
        ``share`` gives percent of one.
    """
    if value is None or not math.isfinite(value):
        return "–"
    if unit == "share":
        return format_percent(value)
    if isinstance(value, int) or (abs(value) >= 1000):
        return f"{value:,.0f}"
    if value == 0:
        return "0"
    return f"{value:#.3g}".rstrip(".").replace("-", "−")


def format_percent(share: float | None) -> str:
    """Return ``share`` (1 is all) in percent with three significant digits; never 100 % for less than all."""
    if share is None or not math.isfinite(share):
        return "–"
    if share in (0, 1):
        return f"{share:.0%}".replace("%", " %")
    text = f"{share * 100:#.3g}".rstrip(".")
    return "> 99.9 %" if text == "100" and share < 1 else f"{text} %".replace("-", "−")


def format_interval(lower: float | None, upper: float | None, unit: str | None = None) -> str:
    """Return ``[lower, upper]`` as :func:`format_number`; the empty string when a bound is missing."""
    if lower is None or upper is None or not (math.isfinite(lower) and math.isfinite(upper)):
        return ""
    if unit == "share":
        return f"[{_percent_digits(lower)}, {_percent_digits(upper)}] %"
    return f"[{format_number(lower)}, {format_number(upper)}]"


def _percent_digits(share: float) -> str:
    return format_percent(share).removesuffix(" %")


def _clip(value: float | None, low: float | None, high: float | None) -> float | None:
    """Return a bound inside the metric's range: a normal interval may step out of it, the metric cannot."""
    if value is None:
        return None
    return min(max(value, -math.inf if low is None else low), math.inf if high is None else high)


def break_name(text: object) -> Any:
    """Return a name as escaped HTML that may break after its underscores."""
    import markupsafe

    return markupsafe.escape(text).replace("_", markupsafe.Markup("_<wbr>"))


def _distinct_labels(names: Sequence[str]) -> dict[str, str]:
    """Return a short label for every name; names that look alike when cut are numbered."""
    labels: dict[str, str] = {}
    for name in names:
        label = clean_label(name)
        number = 2
        while label in labels.values():
            label = f"{clean_label(name, LABEL_CHARACTERS - 6)} ({number})"
            number += 1
        labels[name] = label
    return labels


# ---------------------------------------------------------------------------------------------------------------------
# Sections. Each returns what its part of the template shows; text from logs leaves here cleaned.


def write_report(warehouse: Path, output: Path, metric_name: str | None = None) -> Path:
    """Write the report of the last build as one HTML file and return its path.

    Parameters
    ----------
    warehouse : Path
        Folder that holds ``hcat.duckdb`` (also a published copy), or the file.
    output : Path
        HTML file, replaced atomically; its folder is made when missing.
    metric_name : str, optional
        Primary metric of the heatmaps; by default the first of :data:`HEATMAP_METRICS` that has a decision and scores.

    Raises
    ------
    WarehouseError
        If the warehouse cannot be read.
    ValueError
        If ``metric_name`` is no primary metric of the warehouse.
    """
    page = render_report(warehouse, metric_name)
    output.parent.mkdir(parents=True, exist_ok=True)
    temporary = output.with_name(f".{output.name}.writing")
    temporary.write_text(page, encoding="utf-8", newline="\n")
    os.replace(temporary, output)
    return output


def render_report(warehouse: Path, metric_name: str | None = None) -> str:
    """Return the report as HTML text; parameters and errors as :func:`write_report`."""
    import jinja2

    with open_warehouse(warehouse) as source:
        context = build_context(source, metric_name)
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(number=format_number, percent=format_percent, label=clean_label, breakable=break_name)
    return environment.get_template("report.html.j2").render(context)


def build_context(source: Warehouse, metric_name: str | None = None) -> dict[str, Any]:
    """Return everything that the template shows, by section."""
    # here and not above: that module builds on this one
    from hcat.report_calibration import describe_calibration

    metrics = source.rows(LIST_METRICS, ["dim_metrics"])
    runs = source.rows(LIST_RUNS, ["dim_runs"])
    run = runs[0] if runs else None
    settings = _read_json(run["settings"] if run else None)
    confidence = _read_confidence(settings)
    chosen = choose_metric(source, metrics, metric_name)
    return {
        "header": _describe_build(source, run, metrics),
        "confidence": "–" if confidence is None else f"{confidence * 100:g} %",
        "lengths": {"query": QUERY_CHARACTERS, "answer": ANSWER_CHARACTERS, "sentence": SENTENCE_CHARACTERS},
        "provisional": [metric["metric_name"] for metric in metrics if metric["is_provisional"]],
        "expired": [metric["metric_name"] for metric in metrics if metric["is_decision_expired"]],
        "overview": _describe_overview(source),
        "gates": _describe_gates(source, run),
        "heatmaps": [_describe_heatmap(source, metrics, chosen, *pair) for pair in HEATMAP_PAIRS],
        "chosen_metric": chosen,
        "maximum_series": len(charts.SERIES_COLOURS),
        "weak_segments": _describe_weak_segments(source),
        "violins": _describe_violins(source, metrics),
        "worst": _describe_worst(source),
        "retrieval": _describe_retrieval(source, confidence),
        "statuses": _describe_statuses(source),
        "records": _describe_records(source),
        "ratings": _describe_ratings(source),
        "calibration": describe_calibration(source, settings),
        "ledger": _describe_ledger(runs, settings),
        "metrics": [_describe_metric(metric) for metric in metrics if metric["is_primary"]],
    }


def choose_metric(source: Warehouse, metrics: Sequence[Row], metric_name: str | None) -> Row | None:
    """Return the metric of the heatmaps; None in a warehouse without a scored primary metric.

    Raises
    ------
    ValueError
        If ``metric_name`` is given and no primary metric.
    """
    primary = {metric["metric_name"]: metric for metric in metrics if metric["is_primary"]}
    if metric_name is not None:
        if metric_name not in primary:
            raise ValueError(
                f"metric must be one of {', '.join(sorted(primary)) or '(none)'}, got {clean_label(metric_name)}"
            )
        return primary[metric_name]
    scored = {
        row["metric_name"]: row["count_scored"]
        for name in primary
        for row in source.rows(MEASURE_WHOLE, ["fct_marginal_weaknesses"], metric_name=name)
    }
    preferred = [name for name in HEATMAP_METRICS if name in primary]
    names = [*preferred, *(name for name in primary if name not in preferred)]
    with_scores = [name for name in names if scored.get(name)]
    decided = [name for name in with_scores if primary[name]["threshold"] is not None]
    return primary[(decided or with_scores)[0]] if with_scores else None


def _describe_build(source: Warehouse, run: Row | None, metrics: Sequence[Row]) -> dict[str, Any]:
    counts = source.rows(COUNT_RECORDS_EVALUATED, ["fct_interactions"])
    documents = source.rows(COUNT_DOCUMENTS, ["dim_documents"])
    queries = source.rows(COUNT_QUERIES, ["dim_queries"])
    systems = source.rows(DESCRIBE_SYSTEMS, ["fct_interactions"])
    return {
        "run": run,
        "started_at": _format_time(run["started_at"]) if run else "unknown",
        "counts": counts[0] if counts else None,
        "period": _format_period(counts[0]) if counts else "",
        "systems": [clean_label(row["system"]) for row in systems[:MAXIMUM_SYSTEMS]],
        "documents": documents[0] if documents else None,
        "queries": queries[0] if queries else None,
        "count_metrics": len(metrics),
        "count_primary": sum(1 for metric in metrics if metric["is_primary"]),
        "verdict": _describe_verdict(run),
    }


def _describe_verdict(run: Row | None) -> dict[str, str]:
    if run is None:
        return {
            "word": "unknown",
            "state": "not_evaluated",
            "text": "The warehouse holds no row of a build (dim_runs).",
        }
    warned = run["count_gates_not_passing"] - run["count_error_gates_not_passing"]
    warnings = f"{warned} of severity warn {'does' if warned == 1 else 'do'} not pass" if warned else ""
    if run["count_gates"] == 0:
        return {
            "word": "Failed",
            "state": "failed",
            "text": "No gate was evaluated; a build without gates proves nothing.",
        }
    if run["is_passing"]:
        text = (
            f"All {run['count_gates']} gates pass." if not warned else f"No gate of severity error fails; {warnings}."
        )
        return {
            "word": "Passed with warnings" if warned else "Passed",
            "state": "warned" if warned else "passed",
            "text": text,
        }
    errors = run["count_error_gates_not_passing"]
    text = f"Of {run['count_gates']} gates, {errors} of severity error {'does' if errors == 1 else 'do'} not pass"
    return {"word": "Failed", "state": "failed", "text": f"{text}{'; ' + warnings if warnings else ''}."}


def _describe_overview(source: Warehouse) -> dict[str, Any]:
    systems = source.rows(DESCRIBE_SYSTEMS, ["fct_interactions"])
    shown = [row["system"] for row in systems[:MAXIMUM_SYSTEMS]]
    labels = _distinct_labels(shown)
    measured = source.rows(MEASURE_SYSTEMS, ["fct_marginal_weaknesses", "dim_metrics"])
    groups: dict[str, list[Row]] = {}
    for row in measured:
        if row["dimension"] == "system" and row["segment"] not in labels:
            continue
        # with one system the row of all interactions would say the same twice
        if row["dimension"] == "all" and len(systems) == 1:
            continue
        name = "all systems" if row["dimension"] == "all" else labels[row["segment"]]
        groups.setdefault(row["metric_name"], []).append(
            {**_describe_cell(row), "name": name, "is_all": row["dimension"] == "all"}
        )
    return {
        "systems": [{**row, "system": labels[row["system"]]} for row in systems[:MAXIMUM_SYSTEMS]],
        "count_left_out": max(0, len(systems) - MAXIMUM_SYSTEMS),
        "metrics": [{"metric_name": name, "rows": rows} for name, rows in groups.items()],
        "chart": _draw_failure_shares(measured, labels),
    }


def _draw_failure_shares(measured: Sequence[Row], labels: Mapping[str, str]) -> Any:
    """Return the shares failing of the largest systems, as many as colours and shapes can tell apart."""
    series = list(labels.values())[: len(charts.SERIES_COLOURS)]
    estimates = [
        charts.Estimate(
            row["metric_name"],
            labels[row["segment"]],
            row["share_failing"],
            row["share_failing_lower"],
            row["share_failing_upper"],
        )
        for row in measured
        if row["dimension"] == "system" and row["share_failing"] is not None and labels.get(row["segment"]) in series
    ]
    if not estimates:
        return None
    rows = list(dict.fromkeys(estimate.position for estimate in estimates))
    label = "Share failing with interval, by metric and system; the table below holds the numbers"
    return _as_markup(charts.draw_estimates(estimates, rows, series, "share of scored interactions that fail", label))


def _describe_cell(row: Row) -> Row:
    """Return a row of a weakness mart with its numbers as text."""
    low, high = row.get("range_low"), row.get("range_high")
    return {
        "count_interactions": row["count_interactions"],
        "count_scored": row["count_scored"],
        "count_sources": row["count_sources"],
        "effective": format_number(row["count_sources_effective"]),
        "mean": format_number(row["mean_score"]),
        "mean_interval": format_interval(
            _clip(row["mean_score_lower"], low, high), _clip(row["mean_score_upper"], low, high)
        ),
        "failing": format_percent(row["share_failing"]),
        "failing_interval": ""
        if row["share_failing"] is None
        else format_interval(row["share_failing_lower"], row["share_failing_upper"], "share"),
        "failing_of_all": format_percent(row["share_failing_of_all"]),
        "threshold": format_number(row["threshold"]),
        "failure_status": row["failure_status"],
        "is_small": row["is_small"],
    }


def _describe_gates(source: Warehouse, run: Row | None) -> dict[str, Any]:
    last = source.rows(FIND_LAST_GATE_RUN, ["fct_threshold_gates"])
    run_id = run["run_id"] if run else last[0]["run_id"] if last else None
    rows = [] if run_id is None else source.rows(LIST_GATES, ["fct_threshold_gates"], run_id=run_id)
    shown = []
    for row in rows[:MAXIMUM_GATES]:
        unit = "share" if str(row["measurement"]).startswith("share") else None
        sign = {"at_least": "≥", "at_most": "≤"}.get(row["comparison"], row["comparison"])
        shown.append(
            {
                "gate_name": clean_label(row["gate_name"]),
                "verdict": row["verdict"],
                "severity": row["severity"],
                "is_passing": row["is_passing"],
                "measurement": row["measurement"],
                "subject": row["metric_name"] or "",
                "segment": ""
                if row["dimension"] in (None, "all")
                else f"{row['dimension']} = {clean_label(row['segment'])}",
                "value": format_number(row["measured_value"], unit),
                "interval": format_interval(row["lower_bound"], row["upper_bound"], unit),
                "n": row["n"],
                "minimum_n": row["minimum_n"],
                "limit": f"{sign} {format_number(row['threshold'], unit)}",
                "burden": str(row["burden"]).replace("_", " "),
                "reason": clean_label(row["reason"], SENTENCE_CHARACTERS),
                "rationale": clean_label(row["rationale"], SENTENCE_CHARACTERS) if row["rationale"] else "",
            }
        )
    return {
        "rows": shown,
        "count_left_out": max(0, len(rows) - MAXIMUM_GATES),
        "count_passing": sum(1 for row in rows if row["is_passing"]),
        "count_all": len(rows),
    }


def _describe_heatmap(
    source: Warehouse, metrics: Sequence[Row], metric: Row | None, first: str, second: str
) -> dict[str, Any]:
    described: dict[str, Any] = {
        "first": first,
        "second": second,
        "chart": None,
        "cells": [],
        "count_left_out": 0,
        "is_rate": False,
    }
    if metric is None:
        return described
    cells = source.rows(
        LIST_CELLS,
        ["fct_bivariate_weaknesses"],
        metric_name=metric["metric_name"],
        first_dimension=first,
        second_dimension=second,
    )
    if not cells:
        return described
    whole = source.rows(MEASURE_WHOLE, ["fct_marginal_weaknesses"], metric_name=metric["metric_name"])
    is_rate = any(cell["share_failing"] is not None for cell in cells)
    value = "share_failing" if is_rate else "mean_score"
    rows = _largest(cells, "first_segment", MAXIMUM_HEATMAP_ROWS)
    columns = _largest(cells, "second_segment", MAXIMUM_HEATMAP_COLUMNS)
    row_labels, column_labels = _distinct_labels(rows), _distinct_labels(columns)
    drawn = [cell for cell in cells if cell["first_segment"] in row_labels and cell["second_segment"] in column_labels]
    shades = _shade(drawn, value, is_rate, metric["direction"])
    reference = whole[0][value] if whole else None
    described["chart"] = _as_markup(
        charts.draw_heatmap(
            [
                charts.HeatmapCell(
                    row_labels[cell["first_segment"]],
                    column_labels[cell["second_segment"]],
                    shade,
                    _cell_lines(cell, value, is_rate, metric),
                    is_small=cell["is_small"] and shade is not None,
                    is_unsure=_holds(cell, value, reference),
                )
                for cell, shade in zip(drawn, shades, strict=True)
            ],
            list(row_labels.values()),
            list(column_labels.values()),
            charts.FAILURE_RAMP if is_rate else charts.SCORE_RAMP,
            f"{metric['metric_name']}: {'share failing' if is_rate else 'mean score'} by {first} and {second}",
        )
    )
    ranked = [
        {
            **_describe_cell({**cell, "range_low": metric["range_low"], "range_high": metric["range_high"]}),
            "first_segment": clean_label(cell["first_segment"]),
            "second_segment": clean_label(cell["second_segment"]),
        }
        for cell in cells
    ]
    return {
        **described,
        "is_rate": is_rate,
        "whole": (format_percent(reference) if is_rate else format_number(reference)),
        "cells": ranked[:MAXIMUM_TABLE_CELLS],
        "count_left_out": max(0, len(cells) - MAXIMUM_TABLE_CELLS),
        "count_not_drawn": len(cells) - len(drawn),
        "ramp": charts.FAILURE_RAMP if is_rate else charts.SCORE_RAMP,
    }


def _largest(cells: Sequence[Row], segment: str, maximum: int) -> list[str]:
    """Return the segments with most interactions, at most ``maximum``, in alphabetical order."""
    sizes: dict[str, int] = {}
    for cell in cells:
        sizes[cell[segment]] = sizes.get(cell[segment], 0) + cell["count_interactions"]
    return sorted(sorted(sizes, key=lambda name: (-sizes[name], name))[:maximum])


def _shade(cells: Sequence[Row], value: str, is_rate: bool, direction: str) -> list[float | None]:
    """Return 0 (best) to 1 (worst) for every cell: a rate as it is, a mean by its place between the extreme cells."""
    if is_rate:
        return [cell[value] for cell in cells]
    known = [cell[value] for cell in cells if cell[value] is not None]
    low, span = (min(known), max(known) - min(known)) if known else (0.0, 0.0)
    shades: list[float | None] = []
    for cell in cells:
        if cell[value] is None:
            shades.append(None)
            continue
        place = (cell[value] - low) / span if span else 0.5
        shades.append(min(1.0, max(0.0, 1 - place if direction == "higher_is_better" else place)))
    return shades


def _holds(cell: Row, value: str, reference: float | None) -> bool:
    """Return whether the interval of ``cell`` holds ``reference``: the cell cannot be told from the whole."""
    lower, upper = cell[f"{value}_lower"], cell[f"{value}_upper"]
    if lower is None or upper is None or reference is None:
        return True
    return bool(lower <= reference <= upper)


def _cell_lines(cell: Row, value: str, is_rate: bool, metric: Row) -> list[str]:
    count = f"n {cell['count_scored']:,}"
    if cell[value] is None:
        return ["–", f"{count} of {cell['count_interactions']:,}"]
    if is_rate:
        interval = format_interval(cell["share_failing_lower"], cell["share_failing_upper"], "share")
        return [format_percent(cell[value]), interval or "no interval", count]
    lower, upper = (
        _clip(cell[f"{value}_{side}"], metric["range_low"], metric["range_high"]) for side in ("lower", "upper")
    )
    return [format_number(cell[value]), format_interval(lower, upper) or "no interval", count]


def _describe_weak_segments(source: Warehouse) -> list[Row]:
    rows = source.rows(RANK_SEGMENTS, ["fct_marginal_weaknesses", "dim_metrics"])
    return [
        {
            **_describe_cell(row),
            "metric_name": row["metric_name"],
            "dimension": row["dimension"],
            "segment": clean_label(row["segment"]),
            "whole": format_percent(row["share_failing_whole"]),
        }
        for row in rows[:MAXIMUM_WEAK_SEGMENTS]
    ]


def _describe_violins(source: Warehouse, metrics: Sequence[Row]) -> list[Row]:
    names = [metric["metric_name"] for metric in metrics if metric["is_primary"] and metric["unit"] != "indicator"]
    ordered = [
        *(name for name in VIOLIN_METRICS if name in names),
        *(name for name in names if name not in VIOLIN_METRICS),
    ]
    by_name = {metric["metric_name"]: metric for metric in metrics}
    panels: list[Row] = []
    for name in ordered:
        if len(panels) == len(VIOLIN_METRICS):
            break
        groups = source.rows(DESCRIBE_DISTRIBUTIONS, ["fct_marginal_weaknesses"], metric_name=name)
        scores: dict[str, list[float]] = {}
        for row in source.rows(
            SAMPLE_SCORES, ["fct_evaluations", "fct_interactions"], metric_name=name, maximum=MAXIMUM_VIOLIN_SCORES
        ):
            scores.setdefault(row["topic"], []).append(row["raw_score"])
        drawn = [group for group in groups if group["segment"] in scores][:MAXIMUM_HEATMAP_ROWS]
        if not drawn:
            continue
        labels = _distinct_labels(sorted(group["segment"] for group in drawn))
        violins = [
            charts.Violin(
                labels[group["segment"]],
                scores[group["segment"]],
                group["quantile_25"],
                group["quantile_50"],
                group["quantile_75"],
                group["count_scored"],
            )
            for group in sorted(drawn, key=lambda group: str(group["segment"]))
        ]
        metric = by_name[name]
        smallest = min(min(violin.scores) for violin in violins)
        largest = max(max(violin.scores) for violin in violins)
        ends = [0.0, smallest, largest, *([metric["threshold"]] if metric["threshold"] is not None else [])]
        # a metric that ends at 1 shows all of its upper half, so that panels compare
        domain = (min(ends), max([*ends, 1.0] if metric["range_high"] == 1 else ends) or 1.0)
        label = f"Distribution of {name} by topic: density, quartiles, median and number of scores"
        better = "higher is better" if metric["direction"] == "higher_is_better" else "lower is better"
        chart = charts.draw_violins(violins, metric["threshold"], domain, f"{metric['unit']}, {better}", label)
        panels.append({"metric_name": name, "chart": _as_markup(chart), "count_left_out": len(groups) - len(drawn)})
    return panels


def _describe_worst(source: Warehouse) -> dict[str, Any]:
    needed = ["fct_evaluations", "fct_interactions", "dim_metrics"]
    names = list(WORST_METRICS)
    rows = source.rows(
        LIST_WORST,
        needed,
        metric_names=names,
        maximum=MAXIMUM_WORST,
        # one more than is shown, so that what is cut is known to be cut
        query_characters=QUERY_CHARACTERS + 1,
        answer_characters=ANSWER_CHARACTERS + 1,
        sentence_characters=SENTENCE_CHARACTERS + 1,
    )
    keys = [row["interaction_id"] for row in rows]
    scores = _group(source.rows(LIST_SCORES_OF, needed, interaction_ids=keys, metric_names=names), "interaction_id")
    evidence = _group(
        source.rows(
            LIST_EVIDENCE_OF,
            ["fct_sentence_evidence"],
            interaction_ids=keys,
            characters=SENTENCE_CHARACTERS + 1,
            maximum=MAXIMUM_SENTENCES,
        ),
        "interaction_id",
    )
    shown = [
        {
            "interaction_id": clean_label(row["interaction_id"]),
            "why": _explain_listing(row),
            "system": clean_label(row["system"]),
            "topic": clean_label(row["topic"]),
            "query_type": clean_label(row["query_type"]) if row["query_type"] else "",
            "query_text": clean_text(row["query_text"], QUERY_CHARACTERS),
            "answer": clean_text(row["answer"], ANSWER_CHARACTERS),
            "reference_answer": clean_text(row["reference_answer"], SENTENCE_CHARACTERS),
            "scores": [
                {
                    "metric_name": score["metric_name"],
                    "value": format_number(score["raw_score"]),
                    "status": score["score_status"],
                    "threshold": format_number(score["threshold"]),
                    "is_failing": score["is_failing"],
                }
                for score in scores.get(row["interaction_id"], [])
            ],
            "evidence": [
                {
                    "sentence_text": clean_text(sentence["sentence_text"], SENTENCE_CHARACTERS),
                    "evidence_text": clean_text(sentence["evidence_text"], SENTENCE_CHARACTERS),
                    "unsupported": clean_text(sentence["unsupported"], EXCERPT_CHARACTERS),
                    "contradicted": clean_text(sentence["contradicted"], EXCERPT_CHARACTERS),
                    "displaced": clean_text(sentence["displaced"], EXCERPT_CHARACTERS),
                    "chunk": clean_label(sentence["evidence_chunk_id"]) if sentence["evidence_chunk_id"] else "",
                    "rank": sentence["evidence_rank"],
                    "similarity": format_number(sentence["similarity"]),
                    "is_least_grounded": sentence["is_least_grounded"],
                }
                for sentence in evidence.get(row["interaction_id"], [])
            ],
        }
        for row in rows
    ]
    return {"rows": shown, "metric_names": names}


def _explain_listing(row: Row) -> str:
    if row["metric_name"] == "refusal_as_expected":
        refused = row["expected_behaviour"] == "answer"
        return "refused though an answer was due" if refused else "answered though a refusal was due"
    return f"{_ordinal(row['metric_rank'])} {row['metric_name']}"


def _describe_retrieval(source: Warehouse, confidence: float | None) -> dict[str, Any]:
    rows = source.rows(MEASURE_RETRIEVAL, ["fct_retrieval_quality"])
    causes = source.rows(COUNT_FAILURE_CAUSES, ["fct_retrieval_quality"])[:MAXIMUM_SYSTEMS]
    labels = _distinct_labels([row["system"] for row in causes])
    measured = []
    for row in rows:
        if row["system"] not in labels:
            continue
        lower = upper = None
        if confidence is not None and row["deviation"] is not None and row["count_effective"]:
            # the same interval as the weakness marts: normal, on the effective number of sources
            half = NormalDist().inv_cdf(0.5 + confidence / 2) * row["deviation"] / math.sqrt(row["count_effective"])
            lower, upper = max(0.0, row["mean"] - half), min(1.0, row["mean"] + half)
        measured.append({**row, "system": labels[row["system"]], "lower": lower, "upper": upper})
    return {
        "rows": [
            {
                "metric_name": row["metric_name"],
                "k": "all ranks" if row["k"] is None else f"{row['k']}",
                "system": row["system"],
                "mean": format_number(row["mean"]),
                "interval": format_interval(row["lower"], row["upper"]),
                "count_scored": row["count_scored"],
                "count_sources": row["count_sources"],
            }
            for row in measured
        ],
        "causes": [{**row, "system": labels[row["system"]]} for row in causes],
        "chart": _draw_retrieval(measured, list(labels.values())),
    }


def _draw_retrieval(measured: Sequence[Row], labels: Sequence[str]) -> Any:
    series = labels[: len(charts.SERIES_COLOURS)]
    panels: dict[str, list[charts.Estimate]] = {}
    for row in measured:
        if row["k"] is not None and row["mean"] is not None and row["system"] in series:
            estimate = charts.Estimate(str(row["k"]), row["system"], row["mean"], row["lower"], row["upper"])
            panels.setdefault(row["metric_name"], []).append(estimate)
    if not panels:
        return None
    named = [(f"{name} at k", estimates) for name, estimates in sorted(panels.items())]
    label = "Retrieval quality against k, by system; the table holds the numbers"
    return _as_markup(charts.draw_by_rank(named, series, label))


def _describe_statuses(source: Warehouse) -> dict[str, Any]:
    rows = source.rows(COUNT_STATUSES, ["fct_evaluations", "dim_metrics"])
    present = [status for status in SCORE_STATUSES if any(row["score_status"] == status for row in rows)]
    by_metric: dict[str, Row] = {}
    for row in rows:
        entry = by_metric.setdefault(
            row["metric_name"],
            {
                "metric_name": row["metric_name"],
                "family": row["family"],
                "is_primary": row["is_primary"],
                "requires": (row["requires"] or "").replace("|", ", "),
                "counts": {},
            },
        )
        entry["counts"][row["score_status"]] = row["count_evaluations"]
    described = [
        {**entry, "counts": [entry["counts"].get(status, 0) for status in present]} for entry in by_metric.values()
    ]
    return {"statuses": present, "rows": described}


def _describe_records(source: Warehouse) -> dict[str, Any]:
    counts = {row["entity"]: row for row in source.rows(LIST_RECORD_COUNTS, ["int_records_counted"])}
    rejected = []
    for entity in ENTITIES:
        table = [f"stg_{entity}__rejected"]
        reasons = source.rows(COUNT_REJECT_REASONS.format(entity=entity), table, characters=EXCERPT_CHARACTERS + 1)
        if not reasons:
            continue
        examples = _group(
            source.rows(
                LIST_REJECT_EXAMPLES.format(entity=entity),
                table,
                characters=EXCERPT_CHARACTERS + 1,
                maximum=MAXIMUM_EXAMPLES,
            ),
            "reject_reason",
        )
        rejected.append(
            {
                "entity": entity,
                "count_left_out": max(0, len(reasons) - MAXIMUM_REASONS),
                "reasons": [
                    {
                        "reason": clean_label(reason["reject_reason"], EXCERPT_CHARACTERS),
                        "count": reason["count_rejected"],
                        "examples": [
                            {
                                "place": f"{clean_label(example['source_file'])}, row {example['source_row']}",
                                "excerpt": clean_label(example["record_excerpt"], EXCERPT_CHARACTERS),
                            }
                            for example in examples.get(reason["reject_reason"], [])
                        ],
                    }
                    for reason in reasons[:MAXIMUM_REASONS]
                ],
            }
        )
    return {"counts": [counts[entity] for entity in ENTITIES if entity in counts], "rejected": rejected}


def _describe_ratings(source: Warehouse) -> dict[str, Any]:
    totals = source.rows(COUNT_RATINGS, ["stg_ratings"])
    criteria = source.rows(DESCRIBE_RATINGS, ["int_ratings_adjudicated"])
    compared = source.rows(COMPARE_LABELS, ["fct_evaluations"])
    return {
        "totals": totals[0] if totals and totals[0]["count_ratings"] else None,
        "criteria": [
            {
                **row,
                "criterion": clean_label(row["criterion"]),
                "mean": format_number(row["mean_scale_point"]),
                "accepted": format_percent(
                    _ratio(row["count_accepted"], row["count_accepted"] + row["count_not_accepted"])
                ),
            }
            for row in criteria
        ],
        "compared": [
            {
                **row,
                "accepted": format_number(row["mean_accepted"]),
                "not_accepted": format_number(row["mean_not_accepted"]),
            }
            for row in compared
        ],
    }


def _describe_ledger(runs: Sequence[Row], settings: Mapping[str, Any]) -> dict[str, Any]:
    if not runs:
        return {"facts": [], "libraries": [], "settings": [], "builds": [], "count_builds": 0}
    run = runs[0]
    hidden = {"settings", "library_versions"}
    return {
        "facts": [
            (name, _format_time(value) if name == "started_at" else clean_label(value, EXCERPT_CHARACTERS))
            for name, value in run.items()
            if name not in hidden and value is not None
        ],
        "libraries": sorted(
            (clean_label(name), clean_label(version)) for name, version in _read_json(run["library_versions"]).items()
        ),
        "settings": sorted((clean_label(name), clean_label(json.dumps(value))) for name, value in settings.items()),
        "builds": [
            {
                "run_id": clean_label(build["run_id"]),
                "started_at": _format_time(build["started_at"]),
                "input_hash": clean_label(build["input_hash"]),
                "settings_hash": clean_label(build["settings_hash"]),
                "code_hash": clean_label(build["code_hash"])[:16],
                "gates": f"{build['count_gates'] - build['count_gates_not_passing']} of {build['count_gates']}",
                "word": "passed" if build["is_passing"] else "failed",
            }
            for build in runs[:MAXIMUM_BUILDS]
        ],
        "count_builds": len(runs),
    }


def _describe_metric(metric: Row) -> Row:
    return {
        **metric,
        "threshold": format_number(metric["threshold"]),
        "description": clean_label(metric["description"], EXCERPT_CHARACTERS),
        "decided_by": clean_label(metric["decided_by"]) if metric["decided_by"] else "",
        "better": "higher" if metric["direction"] == "higher_is_better" else "lower",
        "valid_until": str(metric["valid_until"] or ""),
    }


def _as_markup(svg: str) -> Any:
    """Return ``svg`` marked as safe for the template, once it is seen to hold nothing that runs or reaches out."""
    import markupsafe

    # the drawing library escapes text, so that any of these would be an element or attribute and no text of a log
    forbidden = re.search(
        r"<\s*(?:script|foreignObject|image|iframe|a)\b|<[^>]*\s(?:on\w+|href|xlink:href|src)\s*=", svg, re.I
    )
    if forbidden:
        raise ValueError(f"a chart must hold no script and no reference, got {forbidden[0][:40]!r}")
    return markupsafe.Markup(svg)


def _group(rows: Sequence[Row], key: str) -> dict[str, list[Row]]:
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row[key], []).append(row)
    return groups


def _ratio(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _ordinal(number: int) -> str:
    suffix = "th" if 10 <= number % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return "lowest" if number == 1 else f"{number}{suffix} lowest"


def _format_time(value: Any) -> str:
    return "unknown" if value is None else f"{value:%Y-%m-%d %H:%M:%S} UTC"


def _format_period(counts: Row) -> str:
    first, last = counts["first_asked_at"], counts["last_asked_at"]
    return "time not logged" if first is None or last is None else f"{first:%Y-%m-%d} to {last:%Y-%m-%d}"


def _read_json(text: str | None) -> dict[str, Any]:
    """Return a JSON object; empty when there is none (a ledger of an older version)."""
    try:
        value = json.loads(text or "{}")
    except json.JSONDecodeError:
        return {}
    return value if isinstance(value, dict) else {}


def _read_confidence(settings: Mapping[str, Any]) -> float | None:
    value = settings.get("hcat_confidence")
    return float(value) if isinstance(value, int | float) and 0 < value < 1 else None


# ---------------------------------------------------------------------------------------------------------------------
# Summary for the command line


def summarise(warehouse: Path) -> list[tuple[str, str]]:
    """Return about ten lines (name, text) about the last build, fit for a terminal: no control characters.

    Raises
    ------
    WarehouseError
        If the warehouse cannot be read.
    """
    path = find_database(warehouse)
    with open_warehouse(warehouse) as source:
        runs = source.rows(LIST_RUNS, ["dim_runs"])
        run = runs[0] if runs else None
        overview = _describe_overview_counts(source)
        gates = _describe_gates(source, run)
        weak = _describe_weak_segments(source)
        measured = {
            row["metric_name"]: row
            for row in source.rows(MEASURE_SYSTEMS, ["fct_marginal_weaknesses", "dim_metrics"])
            if row["dimension"] == "all"
        }
        records = source.rows(LIST_RECORD_COUNTS, ["int_records_counted"])
    verdict = _describe_verdict(run)
    lines = [
        (
            "build",
            f"{verdict['word']}: {verdict['text']} ({_format_time(run['started_at']) if run else 'no time known'})",
        ),
        *overview,
        *_summarise_metrics(measured),
        ("gates", _summarise_gates(gates)),
        ("rejected records", _summarise_records(records, run)),
        ("weakest segment", _summarise_weakness(weak)),
        ("warehouse", str(path)),
    ]
    published = path.parent / "published" / "hcat.duckdb"
    report = path.parent / "report.html"
    lines.append(("published copy", str(published) if published.is_file() else "none yet"))
    lines.append(("report", str(report) if report.is_file() else "none yet: run `hcat report`"))
    return lines


def _describe_overview_counts(source: Warehouse) -> list[tuple[str, str]]:
    counts = source.rows(COUNT_RECORDS_EVALUATED, ["fct_interactions"])
    if not counts or not counts[0]["count_interactions"]:
        return [("interactions", "none")]
    count = counts[0]
    systems = source.rows(DESCRIBE_SYSTEMS, ["fct_interactions"])
    named = ", ".join(f"{clean_label(row['system'])} ({row['count_interactions']:,})" for row in systems[:3])
    more = f", and {len(systems) - 3} more" if len(systems) > 3 else ""
    total = count["count_interactions"]
    return [
        ("systems", named + more),
        ("interactions", f"{total:,} from {count['count_sources']:,} sources, {_format_period(count)}"),
        (
            "answered",
            f"{format_percent(count['count_answered'] / total)};"
            f" refusals {format_percent(count['count_refusals'] / total)}",
        ),
    ]


def _summarise_metrics(measured: Mapping[str, Row]) -> list[tuple[str, str]]:
    names = [name for name in VIOLIN_METRICS if measured.get(name, {}).get("count_scored")]
    parts = []
    for name in names:
        row = measured[name]
        failing = "" if row["share_failing"] is None else f", {format_percent(row['share_failing'])} failing"
        parts.append(f"{name} {format_number(row['mean_score'])} (n {row['count_scored']:,}{failing})")
    return [("metric", part) for part in parts] or [("metrics", "no main metric has a score")]


def _summarise_gates(gates: Mapping[str, Any]) -> str:
    if not gates["count_all"]:
        return "none evaluated"
    named = ", ".join(
        f"{row['gate_name']} {row['verdict']} ({row['severity']})" for row in gates["rows"] if not row["is_passing"]
    )
    failing = gates["count_all"] - gates["count_passing"]
    return f"{gates['count_passing']} pass, {failing} do not" + (f": {named}" if named else "")


def _summarise_records(records: Sequence[Row], run: Row | None) -> str:
    if records:
        rejected = sum(row["count_rejected"] for row in records)
        return f"{rejected:,} of {sum(row['count_landed'] for row in records):,} landed"
    return f"{run['count_rejected']:,} of {run['count_landed']:,} landed" if run else "unknown"


def _summarise_weakness(weak: Sequence[Row]) -> str:
    if not weak:
        return "none whose failure rate is shown to lie above the whole"
    row = weak[0]
    return (
        f"{row['dimension']} = {row['segment']}: {row['failing']} {row['failing_interval']} fail {row['metric_name']}"
        f" (n {row['count_scored']:,}; all {row['whole']})"
    )
