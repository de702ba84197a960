"""Entailment in a build: SQL fuses what the recipe fitted, evidence is what decided, and nothing is scored twice."""

import csv
import re
import sys
from collections import defaultdict

import numpy as np
import pytest
from builds import DEMO, REPOSITORY, SCORES, Dbt, copy_build, read_lines, write_lines
from numpy.testing import assert_allclose
from scipy.special import expit

# training is no installed package: it is run from the root of the repository
sys.path.insert(0, str(REPOSITORY))

from hcat.encoders.entailment import STATED, start_reading
from hcat.encoders.identities import resolve_classifier
from hcat.encoders.mpnet import find_parts
from hcat.engine.devices import ModelError
from training.fusion import FEATURES, Fusion, join_answers
from training.grounded import Answer, EvidenceReader, read_features, read_sentences

CONTEXT = (
    "The Harbour account costs 5 euros a month. The fee is charged on the first working day. Students pay nothing.",
    '{"branch": "Quayside", "hours": {"Monday": "9:0-17:0"}, "services": {"SafeDepositBoxes": false, "ATM": true}}',
)
ANSWERS = {
    "faithful": "The Harbour account costs 5 euros a month. Students pay nothing.",
    "swapped": "The Harbour account costs 7 euros a month. Students pay nothing.",
    "invented": "The Harbour account comes with a free umbrella and travel insurance in Peru.",
    "table": "The Quayside branch has an ATM.",
    "contradicted": "The Quayside branch has safe deposit boxes.",
    "negated": "Hello! The Harbour account does not cost 5 euros a month. I hope this helps!",
    "greeting": "Hello! How can I help you?",
}


NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
#: Answers of a newcomer's log, those that say another number, and how many of these must be among the ten to read.
COUNT_NEWCOMER, COUNT_EXCHANGED, LEAST_FOUND = 100, 8, 6


@pytest.fixture(scope="module")
def built(dbt: Dbt, tmp_path_factory: pytest.TempPathFactory):
    raw, warehouse = tmp_path_factory.mktemp("logs"), tmp_path_factory.mktemp("warehouse")
    query = "What does the account cost, and what does the branch offer?"
    write_lines(
        raw / "interactions.jsonl",
        [{"interaction_id": name, "query_text": query, "answer": answer} for name, answer in ANSWERS.items()],
    )
    write_lines(
        raw / "retrievals.jsonl",
        [
            {"interaction_id": name, "rank": rank, "text": text}
            for name in ANSWERS
            for rank, text in enumerate(CONTEXT, start=1)
        ],
    )
    build = dbt(SCORES, raw, warehouse, encoder="packaged")
    assert build.exit_code == 0, build.output
    return build, query


def read_prior(classifier_name: str) -> Fusion:
    with (REPOSITORY / "seeds" / "groundedness_prior.csv").open(encoding="utf-8") as handle:
        rows = [row for row in csv.DictReader(handle) if row["classifier_name"] == classifier_name]
    prior = {row["feature"]: row for row in rows}
    return Fusion(
        float(prior["intercept"]["coefficient"]),
        *(np.array([float(prior[name][part]) for name in FEATURES]) for part in ("coefficient", "center", "scale")),
    )


def check_fusion(build, query, setting):
    """Compare a build with what the recipe's own code says of the same answers."""
    answers = [Answer(name, name, "", "", "", query, answer, CONTEXT, ()) for name, answer in ANSWERS.items()]
    sentences = read_sentences(answers, EvidenceReader())
    identity = resolve_classifier(setting, "cpu", "auto")
    found = start_reading(identity, [each.premise for each in sentences], [each.text for each in sentences])().distances
    neutral = 1 - found.probability_entailment - found.probability_contradiction
    shares = np.stack([found.probability_entailment, neutral, found.probability_contradiction], axis=1)
    log_odds = read_prior(identity.name).sentence_log_odds(read_features(sentences, shares))
    found = build.query(
        "select interaction_id, sentence_index, evidence_text, support_probability, claims_nothing"
        " from fct_sentence_evidence"
    )
    by_sentence = {(row[0], row[1]): row[2:] for row in found}
    assert len(by_sentence) == len(sentences)
    claims_nothing = []
    for sentence, value in zip(sentences, log_odds, strict=True):
        evidence, probability, says_nothing = by_sentence[sentence.answer.answer_id, sentence.sentence_index]
        assert evidence == sentence.premise
        assert_allclose(probability, 1 / (1 + np.exp(-value)), atol=1e-4)
        claims_nothing.append(says_nothing)
    numbers = {name: position for position, name in enumerate(ANSWERS)}
    owners = np.array([numbers[sentence.answer.answer_id] for sentence in sentences])
    joined = expit(join_answers(log_odds, owners, len(ANSWERS), np.array(claims_nothing)))
    scores = dict(
        build.query("select interaction_id, raw_score from fct_evaluations where metric_name = 'groundedness'")
    )
    # an answer that claims nothing has no score
    expected = [score if score < 1 - 1e-6 else np.nan for score in joined]
    assert_allclose([scores[name] or np.nan for name in ANSWERS], expected, atol=1e-4)


def test_sql_fuses_what_the_recipe_fits(built):
    check_fusion(*built, "compact")


def test_exchanged_facts_are_among_the_answers_to_read_first(dbt: Dbt, tmp_path):
    """A newcomer's log without labels: right answers of the demo, of which some say another number of their texts."""
    texts = defaultdict(list)
    for row in read_lines(DEMO / "retrievals.jsonl"):
        texts[row["interaction_id"]].append(row["text"])
    asked = {row["query_id"]: row["text"] for row in read_lines(DEMO / "queries.jsonl")}
    right = {
        asked[row["query_id"]]: row
        for row in read_lines(DEMO / "interactions.jsonl")
        if (row["recorded_fault"], row["language"], row["population"]) == ("none", "en", "test_set")
    }
    calls, exchanged = [], set()
    for query, row in list(right.items())[:COUNT_NEWCOMER]:
        answer, context = row["answer"], texts[row["interaction_id"]]
        said = NUMBER.findall(answer)
        others = [each for each in NUMBER.findall(" ".join(context)) if said and len(each) == len(said[0])]
        others = [each for each in others if each not in NUMBER.findall(query) + said]
        if others and len(calls) % 4 == 0 and len(exchanged) < COUNT_EXCHANGED:
            answer = answer.replace(said[0], others[0], 1)
            exchanged.add(row["interaction_id"])
        calls.append({"id": row["interaction_id"], "question": query, "answer": answer, "contexts": context})
    write_lines(tmp_path / "logs" / "calls.jsonl", calls)
    build = dbt(f"{SCORES} +fct_verdicts", tmp_path / "logs", tmp_path / "warehouse", encoder="packaged")
    assert build.exit_code == 0, build.output
    to_read = {each for (each,) in build.query("select interaction_id from fct_verdicts where reading_rank <= 10")}
    assert len(to_read & exchanged) >= LEAST_FOUND


def test_a_sentence_that_says_the_opposite_is_contradicted(built):
    build, _ = built
    scores = dict(
        build.query("select interaction_id, raw_score from fct_evaluations where metric_name = 'contradiction'")
    )
    assert scores["negated"] > 0.5 > scores["faithful"]
    assert scores["greeting"] == 0.0
    found = build.query(
        "select evidence_text, contradiction_probability from fct_sentence_evidence"
        " where interaction_id = 'negated' and sentence_index = 1"
    )[0]
    assert found[0].startswith("The Harbour account costs 5 euros a month.")
    assert found[1] == pytest.approx(scores["negated"])


def test_sentences_that_claim_nothing_are_neither_flagged_nor_counted(built):
    build, _ = built
    found = build.query(
        "select sentence_text, is_flagged, is_contradicted from fct_sentence_evidence"
        " where claims_nothing order by interaction_id, sentence_index"
    )
    assert [row[0] for row in found] == ["Hello!", "How can I help you?", "Hello!", "I hope this helps!"]
    assert not any(row[1] or row[2] for row in found)
    statement = (
        "select raw_score, score_status from fct_evaluations"
        " where metric_name = 'groundedness' and interaction_id = 'greeting'"
    )
    assert build.query(statement) == [(None, "not_applicable")]


def test_the_cascade_reads_again_what_is_unsettled_and_has_a_prior_and_cut_offs_of_its_own(built, dbt: Dbt, tmp_path):
    try:
        find_parts()
    except ModelError as error:
        pytest.skip(str(error))
    build, query = built
    other = copy_build(build, tmp_path)
    cascade = dbt(SCORES, other.raw, other.warehouse, encoder="packaged", classifier="cascade")
    assert cascade.exit_code == 0, cascade.output
    check_fusion(cascade, query, "cascade")
    statement = "select threshold, decision_status from dim_metrics where metric_name = 'groundedness'"
    ((own, status),), ((default, default_status),) = cascade.query(statement), build.query(statement)
    assert (status, default_status) == ("in_force", "in_force")
    assert own != default
    rows = cascade.query(
        "select deciding_classifier, probability_entailment, first_probability_entailment, pair_id"
        " from int_pairs_entailed where classifier_name = 'hcat-entailment-cascade'"
    )
    alone = dict(
        build.query(
            "select pair_id, probability_entailment from int_pairs_entailed"
            " where classifier_name = 'hcat-entailment-compact'"
        )
    )
    assert {row[0] for row in rows} == {"hcat-entailment-compact", "hcat-entailment-accurate", STATED}
    for deciding, entailment, first, pair in rows:
        assert first == pytest.approx(alone[pair], abs=1e-5)
        assert (deciding == "hcat-entailment-accurate") or entailment == first
    contradiction = dict(
        cascade.query("select interaction_id, raw_score from fct_evaluations where metric_name = 'contradiction'")
    )
    assert contradiction["negated"] > 0.9


def test_a_contradicted_field_is_named(built):
    build, _ = built
    found = dict(build.query("select interaction_id, contradicted from fct_sentence_evidence where contradicted <> ''"))
    assert found == {"contradicted": "Services safe deposit boxes: no"}
