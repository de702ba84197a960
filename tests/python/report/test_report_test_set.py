"""The report's part on the test set: what it shows of the marts, how it escapes them, and what it says without them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import jinja2
import pytest

from hcat import report
from hcat.engine.warehouse import open_warehouse
from hcat.language.display import clean_label
from hcat.report.inputs import INPUTS
from hcat.report.showing import break_name, format_number, format_percent
from hcat.report.test_set import describe_test_set

HOSTILE = "<script>alert(1)</script>"

MARTS = f"""
create table dim_topics as select * from (values
    ('topic_001', 'fees, card, month', 3, 2, 0.6::double, 1, 0.8::double, false),
    ('topic_002', '{HOSTILE}', 1, 1, 0.2, 0, 0.9, false),
    ('noise', 'noise', 1, 1, 0.2, 0, 0.1, true),
    ('topic_003', 'retired, words, here', 0, 0, 0.0, 0, null, false)
) as topics(topic_id, topic_name, count_chunks, count_documents, share_chunks, count_added, mean_similarity, is_noise);
create table fct_chunk_topics as select * from (values
    ('a', 'topic_001', 0.1::double, 0.2::double), ('b', 'topic_001', 0.3, 0.2), ('c', 'topic_001', 0.2, 0.1),
    ('d', 'topic_002', -0.5, 0.4), ('e', 'noise', 0.9, -0.9)
) as chunks(chunk_id, topic_id, x, y);
create table fct_topic_stability as select
    'seed' as variation, 'k_means' as method, 'pca' as reduction, 2 as count_topics, 5 as count_texts,
    10 as count_pairs, 0.75::double as mean_adjusted_rand, 0.5::double as minimum_adjusted_rand,
    null::double as silhouette, true as is_current;
create table fct_sampling_strata as select * from (values
    ('topic_001 | short', 3, 0.6::double, 2, 2, 'proportional', 'as_allocated', 'covered', 4, 3.5::double, 'planned'),
    ('topic_002 | {HOSTILE}', 2, 0.4, 1, 1, 'proportional', 'minimum', 'uncovered', 0, null, 'planned')
) as strata(stratum_label, count_population, share_population, count_planned, count_sampled, allocation,
    allocation_status, weighting_status, count_accepted, count_accepted_effective, plan_status);
create table fct_test_queries as select * from (values
    ('simple_factual', 'answer', 'offline'), ('simple_factual', 'answer', 'offline'), ('vague', 'refuse', 'offline')
) as queries(query_type, expected_behaviour, generator);
create table fct_rejected_queries as select
    'simple_factual' as query_type, 'answer' as expected_behaviour, 'offline' as generator, 'too_short' as reason;
create table fct_test_variants as select 'keyboard' as variant_type, 'kept' as meaning;
create table fct_generation_calls as select '{HOSTILE}' as model, 'valid' as call_status, 10 as prompt_tokens,
    5 as completion_tokens;
"""


@pytest.fixture
def described(tmp_path: Path) -> dict[str, Any]:
    path = tmp_path / "hcat.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(MARTS)
    with open_warehouse(path) as source:
        found = describe_test_set(source)
    assert found is not None
    return found


def render(test_set: dict[str, Any] | None) -> str:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(report.__file__).parent / "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters.update(number=format_number, percent=format_percent, label=clean_label, breakable=break_name)
    return environment.get_template("test_set.html.j2").render(data={"test_set": test_set})


def test_topics_are_numbered_by_size_and_noise_has_no_number(described: dict[str, Any]) -> None:
    assert [(row["number"], row["topic_id"]) for row in described["topics"]] == [
        (1, "topic_001"),
        (2, "topic_002"),
        (None, "noise"),
    ]


def test_strata_are_named_by_the_words_of_their_topic(described: dict[str, Any]) -> None:
    assert described["strata"][0]["stratum_label"] == "fees, card, month | short"


def test_a_corpus_that_was_taken_whole_shows_no_figures_of_a_draw(tmp_path: Path) -> None:
    path = tmp_path / "hcat.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(MARTS)
        connection.execute("update fct_sampling_strata set plan_status = 'all_chunks', allocation_status = 'all_taken'")
    with open_warehouse(path) as source:
        page = render(describe_test_set(source))
    assert "All 5 chunks were taken. Nothing was drawn" in page
    for heading in ("Planned", "Drawn", "Effective number", "Weights from"):
        assert heading not in page


def test_a_stratum_that_was_taken_whole_says_so(tmp_path: Path) -> None:
    path = tmp_path / "hcat.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(MARTS)
        connection.execute("update fct_sampling_strata set allocation_status = 'all_taken' where count_population = 3")
    with open_warehouse(path) as source:
        strata = describe_test_set(source)["strata"]
    assert [row["allocation_text"] for row in strata] == ["all chunks taken", "proportional, minimum"]


def test_candidates_are_accepted_and_rejected_ones_together(described: dict[str, Any]) -> None:
    counts = {row["query_type"]: (row["count_candidates"], row["count_accepted"]) for row in described["queries"]}
    assert counts == {"simple_factual": (3, 2), "vague": (1, 1)}


def test_the_page_shows_every_table_and_escapes_what_it_shows(described: dict[str, Any]) -> None:
    page = render(described)
    assert "<svg" in page
    for text in ("fees, card, month", "adjusted Rand index 0.75", "too short 1", "keyboard (kept) 1", "66.7 %"):
        assert text in page, text
    assert "<script" not in page
    assert "&lt;script&gt;" in page


def test_a_warehouse_without_a_test_set_says_how_to_make_one(tmp_path: Path) -> None:
    path = tmp_path / "hcat.duckdb"
    duckdb.connect(str(path)).close()
    with open_warehouse(path) as source:
        assert describe_test_set(source) is None
    assert render(None).strip() == ""
    assert "hcat_test_set" in INPUTS["generated"].supply
