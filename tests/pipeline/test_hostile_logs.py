"""Staging that loses nothing: a folder of hostile logs, built twice, the second time with records that came later."""

import shutil
from pathlib import Path

import hostile
import pytest
from builds import ENTITIES, SCORES, Build, Dbt, write_lines

LATE_CONTEXT = "The monthly fee of the basic account is five euros."


@pytest.fixture(scope="module")
def raw(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hostile_logs")
    hostile.write_hostile(folder)
    return folder


@pytest.fixture(scope="module")
def built(dbt: Dbt, raw: Path, tmp_path_factory: pytest.TempPathFactory) -> Build:
    return dbt("build", raw, tmp_path_factory.mktemp("hostile_warehouse"))


@pytest.fixture(scope="module")
def rebuilt(dbt: Dbt, built: Build, tmp_path_factory: pytest.TempPathFactory) -> Build:
    """The same warehouse and folder after a second build, with files that came in between."""
    raw = tmp_path_factory.mktemp("later_logs")
    shutil.copytree(built.raw, raw, dirs_exist_ok=True)
    known = hostile.STAGED_INTERACTIONS[1]
    write_lines(
        # sorted before the files of the first build: the order of arrival decides, not the name
        raw / "interactions_0_later.jsonl",
        [known, known | {"answer": "A corrected answer."}, {"interaction_id": "never_sent", "answer": "Late."}],
    )
    write_lines(raw / "retrievals_0_later.jsonl", [{"interaction_id": "no_contexts", "rank": 1, "text": LATE_CONTEXT}])
    warehouse = tmp_path_factory.mktemp("later_warehouse")
    shutil.copytree(built.warehouse, warehouse, dirs_exist_ok=True)
    return dbt(f"{SCORES} +stg_rejected_records", raw, warehouse)


def test_build_passes(built: Build) -> None:
    # its own tests say that every metric of every interaction has a score or a reason
    assert built.exit_code == 0, built.output
    assert built.query("select interaction_id, metric_name from fct_evaluations where score_status = 'failed'") == []


@pytest.mark.parametrize("entity", ENTITIES)
def test_every_record_is_staged_repeated_or_rejected(built: Build, entity: str) -> None:
    counted = built.query(
        "select count_staged, count_repeated, count_rejected, count_landed from int_records_counted where entity = ?",
        entity,
    )
    staged, repeated, rejected = hostile.count_records()[entity]
    unjudged = len(hostile.UNJUDGED_RATINGS) if entity == "ratings" else 0
    assert counted == [(staged + unjudged, repeated, rejected, staged + unjudged + repeated + rejected)]
    assert built.query(f"select count(*) from stg_{entity}") == [(staged,)]
    kept = f"select count(*) from stg_rejected_records where entity = '{entity}' and kind = 'record'"
    assert built.query(kept) == [(rejected,)]


def test_a_rater_who_cannot_judge_is_neither_rejected_nor_a_rating(built: Build) -> None:
    kept = (
        "select rater, criterion, comment, rating_pass from base_ratings where is_unjudged and record_status = 'staged'"
    )
    assert built.query(kept) == [("ed", "faithfulness", "the context is cut", 1)]
    assert built.query("select count(*) from stg_ratings where rater = 'ed'") == [(0,)]
    reports = (
        "select rater, status, count_ratings, count_cannot_judge from fct_rater_reports where rater in ('ed', 'di')"
    )
    assert built.query(f"{reports} order by rater") == [
        ("di", "too_few_shared_units", 1, 0),
        ("ed", "no_ratings", 0, 1),
    ]
    reason = "select comment, reason_start, reason_end from stg_ratings where rater = 'di'"
    assert built.query(reason) == [("=1+1", 0, 3)]


@pytest.mark.parametrize("entity", ENTITIES)
def test_rejected_records_have_file_row_and_reason(built: Build, entity: str) -> None:
    rows = built.query(
        f"select source_file, source_row, reject_reason from stg_rejected_records where entity = '{entity}'"
        " and source_file like '%rejected.jsonl'"
    )
    reasons = {row: reason for _, row, reason in rows}
    assert {file for file, _, _ in rows} == {f"{entity}_3_rejected.jsonl"}
    for number, (record, expected) in enumerate(hostile.REJECTED[entity], start=1):
        assert expected in reasons.get(number, "not rejected"), record
    assert len(reasons) == len(hostile.REJECTED[entity])


@pytest.mark.parametrize("entity", hostile.KEPT)
def test_an_optional_field_that_cannot_be_read_costs_no_record_and_is_said(built: Build, entity: str) -> None:
    rows = built.query(
        f"select source_row, reject_reason, kind from stg_rejected_records where entity = '{entity}'"
        f" and source_file = '{entity}_2_kept.jsonl'"
    )
    reasons = {row: reason for row, reason, _ in rows}
    assert {kind for _, _, kind in rows} == {"field"}
    for number, (record, expected) in enumerate(hostile.KEPT[entity], start=1):
        assert (expected is None) == (number not in reasons), record
        assert (expected or "") in reasons.get(number, ""), record
    assert len(rows) == len(reasons)


def test_ranks_that_repeat_start_at_zero_or_cannot_be_read_are_numbered(built: Build) -> None:
    rows = built.query(
        "select interaction_id, rank, text from stg_retrievals"
        " where interaction_id like 'ranked%' or interaction_id = 'call_nan' order by 1, 2"
    )
    words = ["First.", "Second.", "Third.", "Fourth.", "Fifth."]
    assert rows == [
        ("call_nan", 1, "The fee is 5."),
        ("call_nan", 2, "The rate is 2."),
        *[("ranked_equally", rank, word) for rank, word in enumerate(words[:3], start=1)],
        *[("ranked_from_zero", rank, word) for rank, word in enumerate(words[:2], start=1)],
        *[("ranked_unreadably", rank, word) for rank, word in enumerate(words, start=1)],
    ]


def test_a_rejected_passage_and_unreadable_weights_of_sentences_are_a_stated_status(built: Build) -> None:
    statuses = dict(
        built.query(
            "select interaction_id || ' ' || metric_name, score_status || ' ' || coalesce(detail, '')"
            " from fct_evaluations"
            " where interaction_id in ('plain', 'ranked_equally', 'ranked_unreadably', 'weights_1')"
        )
    )
    rejected = "missing_input missing: a retrieved passage (it was rejected)"
    assert statuses["plain support_words"] == statuses["plain groundedness_similarity__mean"] == rejected
    assert statuses["plain answer_relevancy__mean"].startswith("scored")
    assert statuses["ranked_equally support_words"].startswith("scored")
    assert statuses["ranked_unreadably support_words"].startswith("scored")
    unread = "missing_input missing: a weight for each sentence of the answer (weights: 0, sentences: 1)"
    assert statuses["weights_1 answer_relevancy__weighted"] == unread


def test_rejected_records_of_other_formats_have_row_and_reason(built: Build) -> None:
    rows = built.query(
        "select source_file, source_row, reject_reason from stg_rejected_records"
        " where entity = 'interactions' and kind = 'record'"
    )
    found = {(file, row): reason for file, row, reason in rows if not file.endswith("rejected.jsonl")}
    expected = {
        (file, number): reason
        for file, reasons in (
            ("interactions_4.csv", [reason for _, reason in hostile.CSV_LINES]),
            ("interactions_5.parquet", hostile.PARQUET_REASONS),
            ("calls.jsonl", [reason for _, reason in hostile.CALLS]),
        )
        for number, reason in enumerate(reasons, start=1)
        if reason is not None
    }
    assert found.keys() == expected.keys()
    for key, reason in expected.items():
        assert reason in found[key], key


def test_reject_reasons_and_excerpts_are_short(built: Build) -> None:
    for entity in ENTITIES:
        longest = built.query(
            "select max(length(reject_reason)), max(length(record_excerpt)) from stg_rejected_records where entity = ?",
            entity,
        )[0]
        assert longest[0] <= 200, entity
        assert longest[1] <= 500, entity
    excerpts = built.query(
        "select record_excerpt from stg_rejected_records"
        " where entity = 'interactions' and reject_reason like 'invalid UTF-8%'"
    )
    assert sorted("caf\ufffd" in excerpt for (excerpt,) in excerpts) == [False, True, True, True]


def test_texts_reach_the_warehouse_unchanged(built: Build) -> None:
    texts = sorted((f"text_{name}", text) for name, text in hostile.UNCHANGED_TEXTS.items())
    names = tuple(name for name, _ in texts)
    for read in ("answer from stg_interactions", "answer from fct_interactions", "query_text from fct_interactions"):
        assert built.query(f"select interaction_id, {read} where interaction_id in {names} order by 1") == texts, read
    passages = "select interaction_id, text from stg_retrievals"
    assert built.query(f"{passages} where interaction_id in {names} order by 1") == texts


def test_unprintable_characters_become_spaces(built: Build) -> None:
    rows = built.query(
        "select staged.interaction_id, staged.answer, landed.is_cleaned from stg_interactions as staged"
        " inner join landed_records as landed using (record_id)"
    )
    cleaned = {(f"text_{name}", text, True) for name, (_, text) in hostile.CLEANED_TEXTS.items()}
    assert cleaned <= set(rows)


def test_no_text_of_the_warehouse_holds_a_nul(built: Build) -> None:
    for column in ("answer", "query_text", "tags", "topic"):
        assert built.query(f"select count(*) from fct_interactions where contains({column}, chr(0))") == [(0,)], column
    tagged = built.query("select topic, topic_source from fct_interactions where interaction_id = 'nul_in_tag'")
    assert tagged == [("fe es", "logged_tag")]


def test_blank_answers_are_kept_and_not_answered(built: Build) -> None:
    rows = built.query(
        "select interactions.interaction_id, interactions.is_answered, evaluations.raw_score, evaluations.score_status"
        " from fct_interactions as interactions inner join fct_evaluations as evaluations using (interaction_id)"
        " where evaluations.metric_name = 'answered' and interaction_id like 'blank%'"
    )
    expected = {(f"blank_{index}", False, 0.0, "scored") for index in range(len(hostile.BLANK_ANSWERS))}
    assert set(rows) == expected
    others = built.query(
        "select distinct score_status, detail from fct_evaluations where interaction_id like 'blank%'"
        " and metric_name = 'groundedness_similarity__mean'"
    )
    assert others == [("missing_input", "missing: answer")]


def test_missing_and_empty_contexts_are_a_stated_status(built: Build) -> None:
    names = ("no_contexts", "empty_contexts", "call_no_contexts", "call_empty_contexts", "call_blank_contexts")
    rows = built.query(
        "select distinct interaction_id, score_status, detail from fct_evaluations"
        f" where interaction_id in {names} and metric_name in ('groundedness_similarity__mean', 'support_words')"
    )
    assert set(rows) == {(name, "missing_input", "missing: context") for name in names}


def test_second_build_lands_only_what_is_new(built: Build, rebuilt: Build) -> None:
    assert rebuilt.exit_code == 0, rebuilt.output
    before, after = (
        build.query("select count(*) from landed_records where entity = 'interactions'")[0][0]
        for build in (built, rebuilt)
    )
    assert after == before + 3
    late = rebuilt.query("select source_file from landed_records where entity = 'interactions' and landing_number = 2")
    assert late == [("interactions_0_later.jsonl",)] * 3


def test_a_re_sent_id_is_ignored_or_rejected_across_builds(rebuilt: Build) -> None:
    statuses = rebuilt.query(
        "select source_row, record_status, reject_reason from base_interactions"
        " where source_file = 'interactions_0_later.jsonl' order by source_row"
    )
    assert statuses == [
        (1, "repeated", None),
        (2, "rejected", "interaction_id was sent before with other content"),
        (3, "staged", None),
    ]
    # evidence is never overwritten
    assert rebuilt.query("select answer from stg_interactions where interaction_id = 'late'") == [
        ("The fee is 5 euros.",)
    ]


def test_an_orphan_is_staged_once_its_interaction_has_come(built: Build, rebuilt: Build) -> None:
    orphans = "select count(*) from stg_rejected_records where entity = 'retrievals' and reject_reason like 'orphan%'"
    assert (built.query(orphans), rebuilt.query(orphans)) == ([(2,)], [(1,)])
    staged = "select text from stg_retrievals where interaction_id = 'never_sent'"
    assert (built.query(staged), rebuilt.query(staged)) == ([], [("x",)])
    ratings = "select count(*) from stg_ratings where interaction_id = 'never_sent'"
    assert (built.query(ratings), rebuilt.query(ratings)) == ([(0,)], [(1,)])


def test_late_contexts_score_their_interaction_again_and_no_other(built: Build, rebuilt: Build) -> None:
    scores = (
        "select interaction_id || ' ' || metric_name, score_status, raw_score from fct_evaluations"
        " where metric_name like 'groundedness%' or metric_name like 'support%'"
    )
    before, after = ({key: rest for key, *rest in build.query(scores)} for build in (built, rebuilt))
    changed = {key.split()[0] for key in before if before[key] != after[key]}
    assert changed == {"no_contexts"}
    assert before["no_contexts support_words"] == ["missing_input", None]
    assert after["no_contexts support_words"][0] == "scored"
    evidence = "select distinct evidence_text from fct_sentence_evidence where interaction_id = 'no_contexts'"
    assert rebuilt.query(evidence) == [(LATE_CONTEXT,)]
