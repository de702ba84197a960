"""Tests of hcat.metrics.refusal: answers that decline against answers that answer."""

import os
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hcat.metrics.refusal import REFUSAL_PATTERNS, declines_by_wording, explain_refusal, only_declines

NAMES = {pattern.name for pattern in REFUSAL_PATTERNS}


@pytest.mark.parametrize(
    ("answer", "name"),
    [
        ("I\u2019m not able to provide investment advice.", "speaker_cannot"),
        ("Thank you for your question. I am afraid I cannot help with that.", "apology"),
        ("I don't know.", "speaker_does_not_know"),
        ("The answer cannot be determined from the context.", "cannot_be_determined"),
        ("Unable to answer based on the given passages.", "not_possible_to_answer"),
        ("Not enough information to answer.", "insufficient_information"),
        ("This is outside my scope.", "policy"),
        ("You have not provided the statement.", "question_lacks_input"),
        ("Without access to the ledger it is impossible to say.", "without_access"),
        ("The provided context does not contain information about mortgage rates.", "source_lacks_information"),
        ("The context does not specify the rate. Please consult the bank's website.", "source_lacks_information"),
        ("There is no information about overdraft fees in the documents.", "no_information"),
        ("Your question is not covered in the provided documents.", "not_provided"),
        ("Please contact an adviser.", "refer_elsewhere"),
        ("Leider habe ich dazu in unseren Unterlagen nichts gefunden.", "in_another_language"),
        ("No dispongo de información suficiente para responder.", "in_another_language"),
    ],
)
def test_refusals(answer, name):
    assert explain_refusal(answer) == name


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "...",
        "No, the fee is not refundable.",
        "We cannot process payments after 5 pm.",
        "We will not share your personal data.",
        "Refunds cannot be provided after 30 days.",
        "Unfortunately, we do not offer mortgages in that region.",
        "It is not possible to transfer funds into a fixed account after opening.",
        "Without this form you cannot open an account.",
        "I'm sorry to hear that. You can dispute the charge in the app under Cards.",
        "Sorry for the delay. The transfer takes two days.",
        "Please contact us on 0800 123 456 to activate the card.",
        "Cross-border transfers cost $25 and take three days. Domestic transfers are free. Standing orders cost "
        "nothing. The documents do not mention the fee for cheques.",
        "Here is how to close the account: sign the form, return the card and withdraw the balance. Find the form in "
        "the app. Use the blue one. Check the balance first. I cannot provide a date.",
        "Die Arrangement Fee beträgt 1.200 €, und es gibt keine weiteren Kosten.",
        "La tarjeta cuesta 95 € al año y no tiene otros gastos.",
    ],
)
def test_answers(answer):
    assert explain_refusal(answer) is None


def test_closing_refusal_behind_a_method_is_a_refusal():
    answer = (
        "To calculate the ratio, we need the cost of goods sold and the average inventory. However, the documents do "
        "not include the inventory of 2022. Therefore, I cannot calculate the ratio."
    )
    assert explain_refusal(answer) is not None


def test_a_long_answer_with_a_caveat_at_either_end_is_no_refusal():
    body = " ".join(
        f"Account type {letter} earns interest of {rate}% in its first year."
        for rate, letter in enumerate("PQRSTUVW", 1)
    )
    caveat = "The documents do not mention the rate for minors."
    assert explain_refusal(f"{body} {caveat}") is None
    assert explain_refusal(f"{caveat} {body}") is None


@settings(deadline=None)
@given(
    st.one_of(
        st.text(max_size=200),
        st.lists(st.sampled_from(["I cannot answer.", "The fee is $5.", "\n", "- ", "\u2019", "\x00"])).map("".join),
    )
)
def test_explanation_is_a_name_of_the_closed_list_and_agrees(answer):
    name = explain_refusal(answer)
    assert name is None or name in NAMES


@pytest.mark.parametrize(
    "text", ["contact support " * 30000, "without " * 60000, "i " * 200000, "no " * 150000, "not " * 100000]
)
def test_long_answers_take_seconds(text):
    start = time.process_time()
    explain_refusal(text)
    assert time.process_time() - start < 20


def test_financebench_f1():
    folder = os.environ.get("HCAT_BENCHMARK_DATA")
    if not folder:
        pytest.skip("HCAT_BENCHMARK_DATA is not set: no labelled refusals to measure on")
    path = Path(folder) / "financebench" / "model_answers_labelled.parquet"
    if not path.exists():
        pytest.skip(f"{path} does not exist")
    parquet = pytest.importorskip("pyarrow.parquet")
    rows = parquet.read_table(path, columns=["model_answer", "label"]).to_pylist()
    labels = [row["label"] == "Refusal" for row in rows]
    flags = [explain_refusal(row["model_answer"]) is not None for row in rows]
    hits = sum(label and flag for label, flag in zip(labels, flags, strict=True))
    assert sum(labels) >= 100
    assert 2 * hits / (sum(labels) + sum(flags)) >= 0.89


@pytest.mark.parametrize(
    "answer",
    [
        "The excerpts I was handed make no statement about refunds.", "Afraid I've drawn a blank on that.",
        "The corpus yields no hits for your query.", "Question not answerable from context.",
        "The text never says who paid.", "It cannot be inferred from the text.", "Not in the documents.", "IDK",
        "Zu Ihrer Frage fehlen mir die nötigen Angaben.",
        "Les extraits fournis restent muets sur ce point.",
        "Purtroppo non dispongo di elementi per rispondere.",
        "Het document zwijgt hierover.",
    ],
)  # fmt: skip
def test_refusals_in_wordings_of_their_own(answer):
    assert explain_refusal(answer) is not None


@pytest.mark.parametrize(
    "answer",
    [
        "This form is not available in paper form.",
        "Information about the account is not shared with third parties.",
        "The manual says that no tools are needed.",
        "She did not know the answer to the last question.",
        "However, it does not offer WiFi or live music.",
        "No records of the first voyage survive.",
        # partial refusals
        "I can't say how much it costs. You need a passport photo and proof of address to apply.",
        "The card costs 99 euros. The documents do not say how long delivery takes.",
        "I cannot tell you the rate. The term is five years.",
        "The passages leave the fee open, but the limit is 500 euros.",
        "Returns are accepted within 30 days; the text does not say who pays for postage.",
    ],
)
def test_negative_facts_and_partial_refusals_are_none(answer):
    assert explain_refusal(answer) is None


def test_a_short_answer_and_what_is_told_beside_a_doubt_are_no_refusals():
    assert not any(map(only_declines, ["None.", "Nichts.", "I'm not sure, but I know that it is free."]))
    assert all(map(only_declines, ["I'm not sure.", "The documents do not say who pays."]))
    assert not declines_by_wording("Niemand.")
