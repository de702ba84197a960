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

TEST_SET = """
create table dim_topics as select * from (values
    ('topic_001', 'fees', 3, false), ('topic_002', 'cards', 1, false), ('noise', 'noise', 1, true),
    ('topic_003', 'retired', 0, false)
) as topics(topic_id, topic_name, count_chunks, is_noise);
create table fct_topic_stability as select
    'seed' as variation, 'k_means' as method, 'pca' as reduction, 5 as count_texts, 10 as count_pairs,
    0.75::double as mean_adjusted_rand, 0.5::double as minimum_adjusted_rand, null::double as silhouette,
    true as is_current;
create table fct_sampling_strata as select * from (values (3, 2, 4, 'planned'), (2, 1, 0, 'planned')
) as strata(count_population, count_sampled, count_accepted, plan_status);
create table fct_test_queries (query_id varchar);
"""
GRAMMAR = """
create table fct_grammar_templates as select * from (values ('a', 'accepted'), ('b', 'accepted'), ('a', 'replaced')
) as made(sql_template_id, template_status);
create table fct_grammar_checks as select * from (values
    ('one_line', 'met'), ('one_line', 'met'), ('single_answer', 'broken'), ('single_answer', 'undecided')
) as checks(criterion, outcome);
create table fct_grammar_counts as select * from (values ('a', 2, 40, 4, 3, 6), ('b', 2, 8, 2, 0, 0)
) as counts(sql_template_id, count_texts, count_fillings_possible, count_fillings, count_groups, count_queries);
create table fct_rejected_grammar_queries as
select unnest(['no_answer', 'no_answer', 'several_answers']) as reason;
create table fct_grammar_queries as select 'q' || number as query_id from range(6) as numbers(number);
create table fct_interactions as select unnest(['q0', 'q0', 'q4', 'other', null]) as query_id;
"""
JUDGES = """
create table fct_judge_agreement as
select * replace (value::double as value, low::double as low, high::double as high),
    3 as count_clusters, 4 as count_interactions, 3 as count_scored, 1 as count_failed,
    1 as count_no_verdict
from (values
    ('faithfulness_llm', 'language_model', 'faithfulness', 'people', 'cohen_kappa', 'estimated', '<script>judge', 0.25,
        0.125, 0.5, 3, 7, 900, 100),
    ('faithfulness_llm', 'language_model', 'faithfulness', 'people', 'percent_agreement', 'no_threshold',
        '<script>judge', null, null, null, 3, 7, 900, 100),
    ('correctness_llm', 'language_model', null, 'rule', 'cohen_kappa', 'no_variation', '<script>judge', null, null,
        null, 2, 4, 10, 10)
) as rows (metric_name, method, criterion, reference, statistic, status, language_model, value, low, high,
    count_compared, count_calls, prompt_tokens, completion_tokens)
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
    change = "update fct_sampling_strata set plan_status = 'all_chunks'"
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
