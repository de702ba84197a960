"""Personal data planted in answers, queries, chunks and a rejected record: found, counted, and shown nowhere."""

import json
import re
from pathlib import Path

import duckdb
import pytest
from builds import UNTESTED, Build, Dbt, copy_build, dbt_environment, run_hcat, write_lines

from hcat.engine.keys import hash_of_query

CARD, IBAN, EMAIL = "4539 1488 0343 6467", "GB82 WEST 1234 5698 7654 32", "jane.planted@example.org"
SSN, NAME, STREET = "536-90-4399", "Marigold Quenneville", "17 Plantation Street"
PLANTED = (CARD, IBAN, EMAIL, SSN, NAME, STREET, "Quenneville", "6467", "plantation")
"""Values and parts of them; the last four digits are shown by masks alone."""
#: Ids of builds and digests hold four digits by chance.
HASHES = re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\b(?=\d*[a-f])[0-9a-f]{12,}\b")

#: What the bank itself publishes, and a help line that is not its own.
HELP_LINE, HELP_DESK, OTHER_LINE = "0800 555 0163", "help@bank.example.com", "0800 555 0112"
PUBLISHED = f"Call {HELP_LINE} or write to {HELP_DESK}. Card {CARD} was printed here by mistake."
HELPS = f"Call {HELP_LINE.replace(' ', '')} or +44 {HELP_LINE[1:]}, not {OTHER_LINE}, and write to {HELP_DESK}."

PLAIN = [f"The fee of account {number} is {number} euros." for number in range(6)]


@pytest.fixture(scope="module")
def planted(dbt: Dbt, tmp_path_factory: pytest.TempPathFactory) -> Build:
    raw, warehouse = tmp_path_factory.mktemp("planted_logs"), tmp_path_factory.mktemp("planted_warehouse")
    answers = {
        "leaks": f"Your card is {CARD}. Write to {EMAIL}.",
        "repeats_query": f"Thank you, your social security number {SSN} is on file.",
        "quotes_context": f"The transfer went to {IBAN}. Mr {NAME} lives at {STREET}.",
        "helps": HELPS,
        **{f"plain_{number}": text for number, text in enumerate(PLAIN)},
    }
    queries = {"repeats_query": f"My name is {NAME} and my social security number is {SSN}. Is it on file?"}
    tags = {"topic": f"letters to {EMAIL}", "case": {"account number": CARD}, "customer_name": NAME}
    of_group = {"tags": tags, "customer_group": f"friends of {EMAIL}"}
    interactions = [
        {"interaction_id": name, "query_text": queries.get(name, f"What about {name}?"), "answer": answer}
        | (of_group if name == "leaks" else {})
        for name, answer in answers.items()
    ]
    rejected = {"interaction_id": "rejected", "answer": "x", "asked_at": f"at {CARD}", "email": EMAIL}
    write_lines(raw / "interactions.jsonl", [*interactions, rejected])
    write_lines(
        raw / "queries.jsonl",
        [{"query_id": "asked", "text": f"Is {CARD} my card?", "reference_answer": f"Ask {EMAIL}.", "tags": tags}],
    )
    write_lines(
        raw / "documents.jsonl",
        [{"document_id": "letter", "title": f"Letter to Mr {NAME}, {EMAIL}", "topic": f"mail of {EMAIL}", "text": "x"}],
    )
    write_lines(
        raw / "chunks.jsonl", [{"chunk_id": "letter_1", "document_id": "letter", "chunk_index": 0, "text": PUBLISHED}]
    )
    write_lines(
        raw / "retrievals.jsonl",
        [
            {
                "interaction_id": name,
                "rank": 1,
                "text": f"To {IBAN.replace(' ', '')}. The transfer went to {IBAN}. Mr {NAME} lives at {STREET}.",
            }
            for name in answers
        ],
    )
    return dbt("build", raw, warehouse)


def test_values_are_found_with_where_they_come_from(planted: Build) -> None:
    found = planted.query("select interaction_id, entity_type, exposure, masked from fct_privacy_findings order by all")
    assert found == [
        ("helps", "phone", "leaked", "****12"),
        ("leaks", "card", "leaked", "****6467"),
        ("leaks", "email", "leaked", "[email]"),
        ("quotes_context", "address", "in_context", "[address]"),
        ("quotes_context", "iban", "in_context", "****5432"),
        ("quotes_context", "person", "in_context", "[person]"),
        ("repeats_query", "ssn", "in_query", "****99"),
    ]


def test_what_the_knowledge_base_publishes_is_shown_and_no_leak(planted: Build) -> None:
    shown = f"Call {HELP_LINE.replace(' ', '')} or +44 {HELP_LINE[1:]}, not ****12, and write to {HELP_DESK}."
    assert planted.query("select answer from fct_interactions where interaction_id = 'helps'") == [(shown,)]


def test_a_changed_document_decides_anew_about_the_texts_that_it_concerns(
    dbt: Dbt, planted: Build, tmp_path: Path
) -> None:
    later = copy_build(planted, tmp_path)
    said = {"document_id": "lines", "title": "Lines", "text": f"Our other line is {OTHER_LINE}."}
    write_lines(later.raw / "documents_2.jsonl", [said])
    dbt(f"{UNTESTED} --select +fct_interactions +fct_privacy_findings", later.raw, later.warehouse)
    assert later.query("select answer from fct_interactions where interaction_id = 'helps'") == [(HELPS,)]
    leaks = "select interaction_id, masked from fct_privacy_findings where is_leak order by all"
    assert later.query(leaks) == [row for row in planted.query(leaks) if row[0] != "helps"]


def test_a_leaked_identifier_fails_the_build(planted: Build) -> None:
    gates = dict(
        planted.query(
            "select gate_name, (verdict, severity, measured_value) from fct_threshold_gates"
            " where measurement = 'count_leaked_values'"
        )
    )
    # names were not read: nothing is known about them, and nothing passes
    assert gates == {
        "no_leaked_identifiers": ("failed", "error", 2.0),
        "no_leaked_personal_data": ("not_evaluated", "warn", 3.0),
    }
    assert planted.exit_code == 1


def test_what_was_not_read_for_names_has_no_score(planted: Build) -> None:
    scores = planted.query("select distinct score_status, raw_score from fct_evaluations where metric_name = 'privacy'")
    assert scores == [("missing_input", None)]


def test_texts_are_shown_masked(planted: Build) -> None:
    answers = dict(planted.query("select interaction_id, answer from fct_interactions"))
    assert answers["leaks"] == "Your card is ****6467. Write to [email]."
    assert answers["plain_3"] == PLAIN[3]
    evidence = planted.query("select string_agg(evidence_text, ' ') from fct_sentence_evidence")[0][0]
    assert "[person]" in evidence
    # nor does the id of a question tell the number in it
    asked = f"My name is {NAME} and my social security number is 111-22-3333. Is it on file?"
    found = planted.query("select cluster_id from fct_interactions where interaction_id = 'repeats_query'")
    assert found == [(f"query_{hash_of_query(asked)}",)]


def test_tags_groups_titles_and_topics_are_shown_masked(planted: Build) -> None:
    tags, topic, customer_group = planted.query(
        "select tags, topic, customer_group from fct_interactions where interaction_id = 'leaks'"
    )[0]
    assert json.loads(tags) == {
        "topic": "letters to [email]",
        "case": {"account number": "****6467"},
        "customer_name": "[person]",
    }
    assert (topic, customer_group) == ("letters to [email]", "friends of [email]")
    assert planted.query("select query_text, reference_answer from dim_queries") == [
        ("Is ****6467 my card?", "Ask [email].")
    ]
    assert planted.query("select topic, title like 'Letter to %[email]' from dim_documents") == [
        ("mail of [email]", True)
    ]


def test_no_mart_published_copy_log_or_report_holds_a_planted_value(planted: Build, tmp_path: Path) -> None:
    shown = {"output of dbt": planted.output}
    with duckdb.connect(str(planted.warehouse / "hcat.duckdb"), read_only=True) as connection:
        marts = [
            name
            for (name,) in connection.execute(
                "select table_name from information_schema.tables where regexp_matches(table_name, '^(fct|dim|gate)_')"
            ).fetchall()
        ]
        assert {"fct_evaluations", "fct_sentence_evidence", "dim_runs", "gate_verdicts"} <= set(marts)
        for name in marts:
            shown[name] = str(connection.execute(f'select * from "{name}"').fetchall())
    copies = sorted((planted.warehouse / "published").rglob("*.parquet"))
    assert copies
    for path in copies:
        shown[str(path)] = str(duckdb.read_parquet(str(path)).fetchall())
    report = tmp_path / "report.html"
    environment = dbt_environment(planted.raw, planted.warehouse)
    run_hcat("report", "--warehouse", planted.warehouse, "--output", report, environment=environment)
    shown["report"] = report.read_text(encoding="utf-8")
    assert "is not an ISO 8601 timestamp" in shown["report"]
    for place, text in shown.items():
        # positions and hashes may hold four digits by chance
        unmasked = HASHES.sub("", text.replace("****6467", ""))
        for value in PLANTED:
            if value != "6467" or place == "report":
                assert value.lower() not in unmasked.lower(), f"{place} shows {value}"
