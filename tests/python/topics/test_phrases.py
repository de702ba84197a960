"""Names of topics: noun phrases where a tagger reads the language, words elsewhere, nobody's name, always the same."""

import numpy as np
import pytest

from hcat.topics import phrases
from hcat.topics.phrases import COUNT_NAME_WORDS, NO_NAME, NOUN_PHRASES, WORDS, describe_naming, name_topics

ENGLISH = [
    "The exchange rate of a payment abroad is set twelve working days before.",
    "An exchange rate is shown before the international transfer is sent.",
    "International transfers to Norway take two working days.",
    "The credit limit of the card is raised after twelve working days.",
    "Your credit limit is not the limit of the card abroad.",
    "Cards have a credit limit, and Zofia Kowalska raised hers.",
]
GERMAN = [
    "Die Überweisung ins Ausland dauert zwei Tage und kostet fünf Euro.",
    "Eine Überweisung in das Ausland wird mit dem Wechselkurs des Tages gebucht.",
    "Der Wechselkurs wird vor der Überweisung angezeigt und gilt einen Tag.",
]
LABELS = np.array([0, 0, 0, 1, 1, 1])


def name(texts, labels, count, tagger="packaged", languages=("en",)):
    return name_topics(texts, labels, count, tagger, languages)


def test_names_are_noun_phrases() -> None:
    transfers, limits = name(ENGLISH, LABELS, 2)
    assert {transfers.naming, limits.naming} == {NOUN_PHRASES}
    assert transfers.words[:2] == ["international transfer", "exchange rate"] or transfers.words[:2] == [
        "exchange rate",
        "international transfer",
    ]
    assert limits.words[0] == "credit limit"
    said = " ".join([*transfers.words, *limits.words])
    # no verb, no negation, no measure, no name of a person
    assert not {"not", "days", "raised", "zofia", "kowalska"} & set(said.split())
    for topic in (transfers, limits):
        assert len(topic.words) == len(topic.word_weights)
        assert topic.topic_name.count(",") < COUNT_NAME_WORDS
        assert all(weight > 0 for weight in topic.word_weights)


def test_parts_of_a_phrase_name_nothing_beside_it() -> None:
    (topic,) = name(ENGLISH[3:], np.zeros(3, dtype=int), 1)
    assert "credit" not in topic.words
    assert "credit limit" in topic.topic_name
    # "limit" stands alone as well, and is contained in the name already
    assert "limit" not in topic.topic_name.split(", ")


def test_words_name_what_no_tagger_reads() -> None:
    labels = np.array([0, 0, 0, 1, 1, 1, 2, 2, 2])
    named = name(ENGLISH + GERMAN, labels, 3)
    assert [topic.naming for topic in named] == [NOUN_PHRASES, NOUN_PHRASES, WORDS]
    assert "überweisung" in named[2].words
    without = name(ENGLISH + GERMAN, labels, 3, tagger="none")
    assert {topic.naming for topic in without} == {WORDS}
    assert without[2] == named[2]
    assert {topic.naming for topic in name(ENGLISH, LABELS, 2, languages=("de",))} == {WORDS}


def test_texts_beyond_the_limit_give_words_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(phrases, "MAXIMUM_TEXTS", 3)
    assert [topic.naming for topic in name(ENGLISH, LABELS, 2)] == [NOUN_PHRASES, WORDS]


def test_noise_and_empty_topics_have_no_name() -> None:
    (topic,) = name(["12 34 %", "-"], np.array([0, -1]), 1)
    assert (topic.topic_name, topic.words, topic.naming) == ("", [], NO_NAME)
    assert name([], np.array([], dtype=int), 0) == []


def test_names_are_the_same_every_time_and_say_by_what_they_were_made() -> None:
    assert name(ENGLISH, LABELS, 2) == name(ENGLISH, LABELS, 2)
    assert describe_naming("packaged").startswith(NOUN_PHRASES)
    assert describe_naming("none") == WORDS


def test_hostile_texts_give_words_and_no_marks() -> None:
    hostile = ["<script>alert('exchange rate')</script> exchange rate | *bold* rate", "=HYPERLINK(1) exchange rate"]
    (topic,) = name(hostile, np.zeros(2, dtype=int), 1)
    assert all(part.replace("'", "").replace("-", "").replace(" ", "").isalnum() for part in topic.words)
