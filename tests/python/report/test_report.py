"""The report: safe with hostile text, offline, small, the same bytes for the same warehouse, whole without data."""

import json
import math
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from marts import create_marts, gate, insert

from hcat import report
from hcat.engine.warehouse import WarehouseError
from hcat.language.display import clean_text
from hcat.report.showing import as_markup, distinct_labels, format_number, format_percent

#: Pairs of dimensions of the bivariate mart.
PAIRS = (("topic", "query_type"), ("topic", "system"))

HOSTILE = (
    '"><script>alert(1)</script><img src=x onerror=alert(2)> {{ 7 * 7 }} {% raw %} </style></svg>'
    " &lt;b&gt; \u202egpj.exe \x1b[31m"
)

METRICS = [
    # name, family, unit, range_low, threshold, is_primary, requires
    ("answered", "behaviour", "indicator", 0.0, 1.0, True, None),
    ("refusal_as_expected", "behaviour", "indicator", 0.0, None, True, "answer"),
    ("groundedness_similarity__mean", "similarity", "cosine", -1.0, 0.6, True, "answer|context"),
    ("support_words", "support", "share", 0.0, None, True, "answer|context"),
    ("semantic_similarity", "reference", "cosine", -1.0, None, False, "answer|reference"),
]

#: What the weakness marts hold, made in short: the report must show numbers, not check their formula.
MEASURE = """
insert into {table} by name
select
    md5(concat_ws('|', {cell})) as {key},
    {cell},
    count(*) as count_interactions,
    count(raw_score) as count_scored,
    count(distinct cluster_id) as count_clusters,
    count(distinct cluster_id)::double as count_clusters_effective,
    avg(raw_score) as mean_score,
    avg(raw_score) - 0.1 as mean_score_lower,
    avg(raw_score) + 0.1 as mean_score_upper,
    quantile_cont(raw_score, 0.25) as quantile_25,
    quantile_cont(raw_score, 0.5) as quantile_50,
    quantile_cont(raw_score, 0.75) as quantile_75,
    max(threshold) as threshold,
    sum(is_failing::integer) as count_failing,
    avg(is_failing::integer) as share_failing,
    greatest(avg(is_failing::integer) - 0.05, 0) as share_failing_lower,
    least(avg(is_failing::integer) + 0.05, 1) as share_failing_upper,
    avg(is_failing::integer) as share_failing_of_all,
    count(distinct cluster_id) < 10 as is_small
from ({source})
group by {cell}
"""

SCORED = """
select evaluations.*, interactions.cluster_id, interactions.topic, interactions.system, interactions.query_type,
    interactions.language
from fct_evaluations as evaluations
inner join fct_interactions as interactions using (interaction_id)
"""


def add_run(connection: Any, text: str = "") -> None:
    run = {
        "run_id": "run_1",
        "input_hash": "0123abcd",
        "settings": json.dumps({"hcat_confidence": 0.95, "note": text}),
        "code_version": "0.1.0",
        "code_hash": "c0de",
        "library_versions": json.dumps({"duckdb": "1.5.6", f"library {text}": text}),
        "platform": f"Linux {text}",
        "encoder_name": f"all-MiniLM-L6-v2{text}",
        "encoder_sha256": "53aa5117",
        "classifier_name": "hcat-entailment-compact",
        "random_seed": 1,
        "count_landed": 3,
        "count_rejected": 1,
        "count_interactions": 2,
        "count_gates": 2,
        "count_gates_not_passing": 1,
        "count_error_gates_not_passing": 0,
        "is_passing": True,
        "build_number": 2,
        "started_at": "2026-06-01 12:00:00",
    }
    insert(connection, "dim_runs", [run])


def add_metrics(connection: Any) -> None:
    rows = [
        {
            "metric_name": name,
            "family": family,
            "direction": "higher_is_better",
            "unit": unit,
            "requires": requires,
            "description": f"what {name} says",
            "decided_by": "project authors" if threshold is not None else None,
            "range_low": range_low,
            "range_high": 1.0,
            "threshold": threshold,
            "is_primary": is_primary,
            "is_provisional": True if threshold is not None else None,
            "is_decision_expired": False,
            "is_deciding": name == "groundedness_similarity__mean",
            "admission": "admitted" if name == "groundedness_similarity__mean" else "not_admitted",
            "admission_reason": "12 failed labels; 29 are needed",
        }
        for name, family, unit, range_low, threshold, is_primary, requires in METRICS
    ]
    insert(connection, "dim_metrics", rows)


def add_interactions(
    connection: Any, count: int, count_topics: int, count_systems: int, text: str = "", answer: str = ""
) -> None:
    """Interactions whose groundedness rises with their number, from 0 to 1; two interactions per source."""
    connection.execute(
        """
        insert into fct_interactions by name
        select
            printf('i%05d', number) as interaction_id,
            printf('source %d', number // 2) as cluster_id,
            printf('system %d', number % $systems) || $text as system,
            printf('topic %d', number % $topics) || $text as topic,
            printf('type %d', number % 3) || $text as query_type,
            'en' as language,
            'en' as answer_language,
            'logged' as language_source,
            'answer' as expected_behaviour,
            'short' as answer_length,
            'logged_tag' as topic_source,
            'question ' || $text as query_text,
            'answer ' || $text || $answer as answer,
            'reference ' || $text as reference_answer,
            0 as sample_index,
            true as is_answered,
            false as is_refusal,
            timestamp '2026-05-01 00:00:00' as asked_at
        from range($count) as numbers(number)
        """,
        {"count": count, "topics": count_topics, "systems": count_systems, "text": text, "answer": answer},
    )
    connection.execute(
        """
        insert into fct_evaluations by name
        select
            md5(interactions.interaction_id || metrics.metric_name) as evaluation_id,
            interactions.interaction_id,
            metrics.metric_name,
            case when metrics.unit = 'indicator' or $count > 1 then 'scored' else 'missing_input' end as score_status,
            case
                when metrics.unit = 'indicator' then 1.0
                when $count > 1
                    then (row_number() over (partition by metric_name order by interaction_id) - 1) / ($count - 1)
            end as raw_score,
            metrics.threshold,
            raw_score < metrics.threshold as is_failing
        from fct_interactions as interactions
        cross join dim_metrics as metrics
        """,
        {"count": count},
    )


def add_marts(connection: Any) -> None:
    for dimension in ("all", "system", "topic", "query_type"):
        segment = "'all'" if dimension == "all" else dimension
        source = f"select *, '{dimension}' as dimension, {segment} as segment from ({SCORED})"
        connection.execute(
            MEASURE.format(
                table="fct_marginal_weaknesses",
                key="marginal_weakness_id",
                cell="metric_name, dimension, segment",
                source=source,
            )
        )
    for first, second in PAIRS:
        source = (
            f"select *, '{first}' as first_dimension, {first} as first_segment,"
            f" '{second}' as second_dimension, {second} as second_segment from ({SCORED})"
        )
        cell = "metric_name, first_dimension, first_segment, second_dimension, second_segment"
        connection.execute(
            MEASURE.format(table="fct_bivariate_weaknesses", key="bivariate_weakness_id", cell=cell, source=source)
        )


def add_retrieval(connection: Any, text: str = "") -> None:
    rows = [
        {
            "interaction_id": f"i{number:05d}",
            "cluster_id": f"source {number}",
            "system": f"system 0{text}",
            "topic": "topic",
            "metric_name": "recall",
            "failure_cause": "generation" if number == 0 else "no_failure",
            "k": 5,
            "score": score,
        }
        for number, score in enumerate([0.0, 0.5, 1.0, 0.5])
    ]
    insert(connection, "fct_retrieval_quality", rows)


def add_evidence(connection: Any, text: str = "") -> None:
    sentence = {
        "sentence_id": "s1",
        "interaction_id": "i00000",
        "evidence_chunk_id": f"chunk{text}",
        "sentence_text": f"The fee is 55 euro.{text}",
        "evidence_text": f"The fee is 50 euro.{text}",
        "unsupported": f"55{text}",
        "sentence_index": 0,
        "evidence_rank": 2,
        "similarity": 0.987654,
        "count_words": 2,
        "count_words_supported": 2,
        "count_numbers": 1,
        "count_numbers_supported": 0,
        "is_least_grounded": True,
    }
    insert(connection, "fct_sentence_evidence", [sentence])


def add_gates(connection: Any, text: str = "") -> None:
    places = {"metric_name": "support_words", "dimension": "topic", "segment": f"cards{text}", "severity": "warn"}
    places |= {"reason": f"because{text}", "rationale": f"rationale{text}"}
    places |= {"evaluated_at": "2026-06-01 12:00:00", "build_number": 2}
    rows = [
        gate(**places, gate_name=f"gate {number}{text}", verdict=verdict, is_passing=verdict == "passed")
        for number, verdict in enumerate(("passed", "undecided"))
    ]
    insert(connection, "fct_threshold_gates", rows)


def add_rejects_and_ratings(connection: Any, text: str = "") -> None:
    insert(
        connection,
        "int_records_counted",
        [{"entity": "interactions", "count_landed": 3, "count_staged": 2, "count_repeated": 0, "count_rejected": 1}],
    )
    row = {
        "entity": "interactions",
        "source_file": f"interactions{text}.jsonl",
        "kind": "record",
        "reject_reason": f"interaction_id is empty{text}",
        "record_excerpt": f"null | answer{text}",
        "source_row": 7,
        "landing_number": 1,
    }
    insert(connection, "stg_rejected_records", [row])
    rating = {
        "interaction_id": "i00000",
        "rater": f"r{text}",
        "rater_kind": "person",
        "label_rater_kind": "person",
        "criterion": f"faithfulness{text}",
        "scale_point": 2,
        "rating_pass": 1,
        "human_label": 1,
    }
    insert(connection, "fct_ratings", [rating])
    connection.execute("update fct_evaluations set human_label = 1 where interaction_id = 'i00000'")


def make_warehouse(
    folder: Path, count: int = 60, count_topics: int = 3, count_systems: int = 2, text: str = "", answer: str = ""
) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    with duckdb.connect(str(folder / "hcat.duckdb")) as connection:
        create_marts(connection)
        add_run(connection, text)
        add_metrics(connection)
        add_interactions(connection, count, count_topics, count_systems, text, answer)
        add_marts(connection)
        add_retrieval(connection, text)
        add_evidence(connection, text)
        add_gates(connection, text)
        add_rejects_and_ratings(connection, text)
    return folder


class PageParser(HTMLParser):
    """Collects tags, attributes and text of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def parse(page: str) -> PageParser:
    parser = PageParser()
    parser.feed(page)
    parser.close()
    return parser


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    return report.render_report(make_warehouse(tmp_path_factory.mktemp("plain")))


def test_report_reaches_out_to_nothing(hostile_page: str) -> None:
    parsed = parse(hostile_page)
    references = [
        (name, value) for _, name, value in parsed.attributes if name in {"src", "href", "xlink:href", "action", "data"}
    ]
    assert references
    assert all(name == "href" and value.startswith("#") for name, value in references)
    own_markup = re.sub(r">[^<]*<", "><", hostile_page)
    assert "url(" not in own_markup
    assert "@import" not in own_markup
    assert "http://" not in own_markup
    assert "https://" not in own_markup
    policy = [
        value
        for tag, name, value in parsed.attributes
        if tag == "meta" and name == "content" and "default-src" in value
    ]
    assert policy == ["default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"]


@pytest.mark.parametrize(
    "svg",
    [
        "<svg><script>1</script></svg>",
        '<svg><image width="1"/></svg>',
        '<svg><path onclick="x"/></svg>',
        '<svg><g xlink:href="y"/></svg>',
    ],
)
def test_a_chart_that_could_run_or_reach_out_is_refused(svg: str) -> None:
    with pytest.raises(ValueError, match="must hold no script and no reference"):
        as_markup(svg)


def test_header_gates_and_ledger_say_what_was_decided(page: str) -> None:
    first_page = page.split("<nav")[0]
    assert "No release was decided: no application has a candidate." in first_page
    assert (
        "Published.</strong> 1 of 2 gates does not pass: 1 is undecided. "
        "They are of severity warn, so the build ends without an error." in first_page
    )
    assert "an independent validator" in first_page
    assert 'content: "Build run_1"' in first_page, "every printed page names the build"
    assert "Nobody has approved 2 thresholds" in first_page
    assert "2026-06-01 12:00:00 UTC" in page
    assert "53aa5117" in page
    assert "0123abcd" in page
    assert "✓ passed" in page
    assert "? undecided" in page


def test_rejects_ratings_and_statuses_are_shown(page: str) -> None:
    assert "interaction_id is empty" in page
    assert "interactions.jsonl, row 7" in page
    assert '<th scope="row">1 person</th><td class="number">1</td><td class="number">1</td>' in page


def test_warehouse_with_interactions_only(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "hcat.duckdb")) as connection:
        create_marts(connection)
        add_run(connection)
        add_metrics(connection)
        add_interactions(connection, count=1, count_topics=1, count_systems=1)
        connection.execute(
            "update fct_interactions set query_type = null, query_text = null, asked_at = null, reference_answer = null"
        )
        add_marts(connection)
    text = " ".join("".join(parse(report.render_report(tmp_path)).text).split())
    for sentence in (
        "no documents in the logs",
        "no queries in the logs; query texts come from the interactions",
        "1 interactions, time not logged",
        "There are no two versions to compare.",
        "Left out, because nothing was given for them: Calibration evidence, Equal treatment, Robustness.",
    ):
        assert sentence in text, sentence


@pytest.mark.parametrize("read", [report.render_report, report.summarise])
@pytest.mark.parametrize("column", ["dim_runs.build_number", "fct_metric_thresholds.is_shown"])
def test_a_warehouse_of_an_earlier_version_says_what_to_run(tmp_path: Path, read: Any, column: str) -> None:
    table, _, name = column.partition(".")
    with duckdb.connect(str(tmp_path / "hcat.duckdb")) as connection:
        create_marts(connection)
        connection.execute(f"alter table {table} drop column {name}")
    with pytest.raises(WarehouseError, match=rf"lacks {column}\): run `hcat upgrade`, then `dbt build`$"):
        read(tmp_path)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0, "0"),
        (0.0, "0"),
        (1.0, "1.00"),
        (0.12345, "0.123"),
        (-0.5, "−0.500"),
        (12345, "12,345"),
        (1234.5, "1,234"),
        (None, "–"),
        (math.nan, "–"),
    ],
)
def test_numbers_have_three_digits(value: float | None, shown: str) -> None:
    assert format_number(value) == shown


@pytest.mark.parametrize(
    ("share", "shown"),
    [(0, "0 %"), (1, "100 %"), (0.32608, "32.6 %"), (0.00718, "0.718 %"), (0.99999, "> 99.9 %"), (None, "–")],
)
def test_percent_has_three_digits_and_never_rounds_to_all(share: float | None, shown: str) -> None:
    assert format_percent(share) == shown


@given(st.text(max_size=300), st.integers(min_value=1, max_value=100))
@settings(deadline=None)
def test_cleaned_text_holds_no_control_or_direction_character(text: str, length: int) -> None:
    shown = clean_text(text, length)
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]", shown)
    assert shown.endswith("…") or len(text) <= length
    assert len(re.sub("⟨U\\+[0-9A-F]{4,6}⟩", "?", shown)) <= length + 1


def test_labels_that_look_alike_when_cut_stay_apart() -> None:
    names = ["a" * 100 + "1", "a" * 100 + "2"]
    labels = distinct_labels(names)
    assert len(set(labels.values())) == 2
