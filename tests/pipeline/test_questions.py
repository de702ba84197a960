"""The questions of docs/marts.md: each query runs on the published copy of the demo and finds what was planted."""

import re
from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import pytest
from builds import DEMO, REPOSITORY, read_lines

PAGE = (REPOSITORY / "docs" / "marts.md").read_text(encoding="utf-8")
QUESTIONS = dict(re.findall(r"(?ms)^### ([^\n]+\?)\n\n```sql\n(.*?)```", PAGE))
#: The three documents that the index of version 1.0 lacks (docs/demo.md).
NOT_INDEXED = {
    "Making payments in app and portal",
    "Notifications and the inbox",
    "Registering and logging in to the Compass App",
}


@pytest.fixture(scope="module")
def copy(built: Path) -> duckdb.DuckDBPyConnection:
    """Return a connection to the copy that BI reads."""
    return duckdb.connect(str(built / "published" / "hcat.duckdb"), read_only=True)


def ask(copy: duckdb.DuckDBPyConnection, words: str) -> list[dict[str, Any]]:
    """Return the rows of the one question that holds some words."""
    (question,) = [question for question in QUESTIONS if words in question]
    return copy.sql(QUESTIONS[question]).to_arrow_table().to_pylist()


def test_there_are_ten_questions() -> None:
    assert len(QUESTIONS) == 10


@pytest.mark.parametrize("question", QUESTIONS)
def test_every_question_has_an_answer(copy: duckdb.DuckDBPyConnection, question: str) -> None:
    assert ask(copy, question)


def test_raters_outrank_the_machine(copy: duckdb.DuckDBPyConnection) -> None:
    rows = ask(copy, "although the machine passed")
    verdicts = dict(copy.sql("select interaction_id, verdict from fct_verdicts").fetchall())
    assert {verdicts[row["interaction_id"]] for row in rows} == {"failing"}
    assert {row["label_rater_kind"] for row in rows} == {"language_model"}


def test_the_newest_version_broke_mortgages(copy: duckdb.DuckDBPyConnection) -> None:
    rows = ask(copy, "break")
    assert "mortgages" in {row["topic"] for row in rows}
    assert {(row["baseline_version"], row["candidate_version"]) for row in rows} == {("1.0", "1.1")}


def test_every_rating_is_counted_once(copy: duckdb.DuckDBPyConnection) -> None:
    logged = [record for path in sorted(DEMO.glob("ratings*.jsonl")) for record in read_lines(path)]
    first = Counter((one["rater"], one["criterion"]) for one in logged if one.get("rating_pass", 1) == 1)
    rows = {(row["rater"], row["criterion"]): row["count_ratings"] for row in ask(copy, "Who rated")}
    assert {key: rows[key] for key in first} == dict(first)


def test_the_documents_that_were_not_indexed_are_missed_whenever_they_are_needed(
    copy: duckdb.DuckDBPyConnection,
) -> None:
    rows = [row for row in ask(copy, "retrieval miss") if row["system"].endswith(" 1.0")]
    assert {row["title"] for row in rows if row["count_missed"] == row["count_needed"]} == NOT_INDEXED


def test_the_question_that_is_always_declined_should_have_been_answered(copy: duckdb.DuckDBPyConnection) -> None:
    declined = {row["query_id"] for row in ask(copy, "refusals")}
    group = "select query_id from dim_queries where query_group = 'business_banking_016'"
    assert {query_id for (query_id,) in copy.sql(group).fetchall()} <= declined


def test_a_refusal_does_to_rates_what_the_page_says(copy: duckdb.DuckDBPyConnection) -> None:
    def one(query: str) -> int:
        ((value,),) = copy.sql(query).fetchall()
        return int(value)

    evaluated = """
        from fct_evaluations inner join fct_interactions using (interaction_id)
        where metric_name = 'groundedness' and is_in_release_population
    """
    cell = "from fct_marginal_weaknesses where metric_name = 'groundedness' and dimension = 'all'"
    undue = one(f"select count(*) {evaluated} and is_refusal and expected_behaviour = 'answer'")
    silent = one(f"select count(*) {evaluated} and not is_answered")
    failing = one(f"select count(*) {evaluated} and is_failing")
    assert undue > 0
    # a refusal has no score of groundedness: it is left out, and counts as a failure only in the share of all
    assert one(f"select count(*) {evaluated} and is_refusal and raw_score is not null") == 0
    assert one(f"select count_failing {cell}") == failing
    decided = one(f"select count(*) {evaluated} and is_failing is not null")
    ((share,),) = copy.sql(f"select share_failing_of_all {cell}").fetchall()
    assert share == pytest.approx((failing + undue + silent) / (decided + undue + silent))
    # its label counts in the rate at which raters fail answers
    labels = one(
        "select sum(count_labels) from fct_failure_rates inner join (select distinct system, population"
        " from fct_interactions where is_in_release_population) using (system, population)"
        " where criterion = 'faithfulness' and dimension = 'all'"
    )
    # an expected refusal passes without one
    needed = "is_answered and not (is_refusal and expected_behaviour = 'refuse')"
    assert labels == one(f"select count(*) {evaluated} and human_label is not null and {needed}")
    # it is an error where an answer was due
    errors = "from fct_safety_rates where category = 'all' and rate_kind = 'refused_when_due_to_answer'"
    declined = "is_refusal and expected_behaviour = 'answer'"
    assert one(f"select sum(count_found) {errors}") == one(f"select count(*) from fct_interactions where {declined}")
    rule = "verdict_rule = 'refused_although_answer_due'"
    assert one(f"select count(*) from fct_verdicts where is_in_release_population and {rule}") == undue
