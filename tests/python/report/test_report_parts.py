"""Parts of the report whose marts most warehouses lack: test set, GRAMMAR, judges and deletions."""

from pathlib import Path

import duckdb
import jinja2
import pytest
from test_report import parse

from hcat import report
from hcat.engine.warehouse import Warehouse, open_warehouse
from hcat.report.blocks import Block
from hcat.report.calibration.section import describe_judges
from hcat.report.data import say_what_was_deleted
from hcat.report.showing import format_number
from hcat.report.test_set import describe_grammar, describe_test_set

HOSTILE = "<script>alert(1)</script>"

TEST_SET = f"""
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
GRAMMAR = f"""
create table fct_grammar_templates as select * from (values
    ('a', 'enumerated', 'accepted', '{HOSTILE}', ['[shops.name]'], 0, 1),
    ('b', 'person', 'accepted', 'SELECT 2', ['[shops.name]', '[fees.name]'], 1, 2),
    ('a', 'language_model', 'replaced', 'SELECT 3', null, 2, 3)
) as made(sql_template_id, origin, template_status, sql_template, placeholders, count_joins, template_number);
create table fct_grammar_checks as select * from (values
    ('one_line', 'met'), ('one_line', 'met'), ('single_answer', 'broken'), ('single_answer', 'undecided')
) as checks(criterion, outcome);
create table fct_grammar_texts as select * from (values ('enumerated', 'used'), ('enumerated', 'spare')
) as texts(origin, text_status);
create table fct_grammar_counts as select * from (values
    ('a', 'enumerated', 2, 40, 4, 3, 1, 6, 0.1::double), ('b', 'person', 2, 8, 2, 0, 2, 0, 0.25)
) as counts(sql_template_id, origin, count_texts, count_fillings_possible, count_fillings, count_groups, count_rejected,
    count_queries, selection_probability);
create table fct_rejected_grammar_queries as select * from (values
    ('a', 'no_answer'), ('b', 'no_answer'), ('b', 'several_answers')) as rejected(sql_template_id, reason);
create table fct_grammar_queries as select
    'q' || number as query_id, 'g' || number % 3 as query_group, 'a' as sql_template_id, 'length' as hypothesis,
    case when number < 3 then '{HOSTILE}' else 'long' end as style, 'easy' as difficulty, 'entity' as answer_type,
    0 as count_joins
from range(6) as numbers(number);
create table fct_interactions as select * from (values ('q0'), ('q0'), ('q4'), ('other'), (null)) as logs(query_id);
create table fct_grammar_calls as select '{HOSTILE}' as model, 'answered' as call_status, 10 as prompt_tokens,
    5 as completion_tokens;
"""
JUDGES = """
create table fct_judge_agreement as
select * replace (value::double as value, low::double as low, high::double as high),
    3 as count_clusters, 4 as count_interactions, 3 as count_scored, 1 as count_failed,
    1 as count_no_verdict
from (values
    ('faithfulness_llm', 'language_model', 'faithfulness', 'people', 'cohen_kappa', 'estimated', 'estimated',
        '<script>judge', 0.25, 0.125, 0.5, 3, 7, 900, 100),
    ('faithfulness_llm', 'language_model', 'faithfulness', 'people', 'percent_agreement', 'no_threshold', 'no_estimate',
        '<script>judge', null, null, null, 3, 7, 900, 100),
    ('support_words', 'no_language_model', 'faithfulness', 'people', 'ranking_accuracy', 'estimated',
        'too_few_clusters', null, 0.75, null, null, 3, 0, 0, 0),
    ('correctness_llm', 'language_model', null, 'rule', 'cohen_kappa', 'no_variation', 'no_estimate',
        '<script>judge', null, null, null, 2, 4, 10, 10)
) as rows (metric_name, method, criterion, reference, statistic, status, interval_status, language_model, value, low,
    high, count_compared, count_calls, prompt_tokens, completion_tokens)
"""
DESCRIBED = {"test_set": describe_test_set, "grammar": describe_grammar, "judges": describe_judges}
MARTS = {"test_set": TEST_SET, "grammar": GRAMMAR, "judges": JUDGES}
SAID = {
    "test_set": [
        "2 topics hold 5 chunks",
        "adjusted Rand index 0.75",
        "3 of 5 chunks drawn from 2 strata, and 4 queries were accepted",
    ],
    "grammar": [
        "2 SQL templates with 2 texts each and 3 facts give 6 queries",
        "Of 48 combinations of values, 6 were drawn",
        "2 (no row matches the values), 1 (several distinct answers)",
        "Of these queries, 2 (33.3 %) were answered",
        "one line, no prefix or suffix 2 0 0",
        "a specific and single answer 0 1 1",
    ],
    "judges": [
        "faithfulness_llm faithfulness cohen_kappa 0.250 [0.125, 0.500]",
        "no threshold has been decided",
        "7 1,000",
        "all labels are equal",
    ],
}


def show(blocks: list[Block]) -> str:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(report.__file__).parent / "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters["number"] = format_number
    return environment.from_string('{% from "blocks.html.j2" import show %}{{ show(blocks) }}').render(blocks=blocks)


def make(folder: Path, marts: str, change: str = "select 1") -> Path:
    path = folder / "hcat.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(marts)
        connection.execute(change)
    return path


def read_text(page: str) -> str:
    return " ".join(" ".join(parse(page.replace("<wbr>", "")).text).split())


@pytest.mark.parametrize("part", MARTS)
def test_a_part_says_what_its_marts_hold_and_escapes_it(tmp_path: Path, part: str) -> None:
    with open_warehouse(make(tmp_path, MARTS[part])) as source:
        page = show(DESCRIBED[part](source))
    text = read_text(page)
    assert [sentence for sentence in SAID[part] if sentence not in text] == []
    assert "<script" not in page
    assert part != "judges" or "&lt;script&gt;" in page


def test_a_corpus_that_was_taken_whole_shows_no_figures_of_a_draw(tmp_path: Path) -> None:
    change = "update fct_sampling_strata set plan_status = 'all_chunks', allocation_status = 'all_taken'"
    with open_warehouse(make(tmp_path, TEST_SET, change)) as source:
        text = read_text(show(describe_test_set(source)))
    assert "All 5 chunks were taken. Nothing was drawn: every weight is 1" in text


def test_deletions_are_said_with_the_first_week_that_is_left() -> None:
    connection = duckdb.connect()
    source = Warehouse(connection, {"fct_deletions": frozenset(("deletion_number",))})
    connection.execute(
        "create table fct_deletions as select * from (values"
        " (1, 'forget', 3, null::date), (2, 'prune', 1200, '2026-06-15'), (3, 'prune', 100, '2026-06-22')"
        ") as rows (deletion_number, command, count_interactions, weeks_before)"
    )
    assert say_what_was_deleted(source) == (
        "Weeks before 2026-06-22: sums only, 1,300 interactions deleted. 3 single interactions deleted."
    )
    assert say_what_was_deleted(Warehouse(connection, {})) == ""
