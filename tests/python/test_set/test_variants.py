"""Variants of queries: what keeps the meaning keeps numbers, names and negations; what breaks it does so in words."""

import json
from collections import Counter
from pathlib import Path
from random import Random

import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from schemas import make_schema
from variant_materials import material_rows, read_seed, shipped_materials, shipped_rates

from hcat.language.features import extract_features
from hcat.test_set.perturbation.forms import apply_edit
from hcat.test_set.perturbation.negations import find_negations
from hcat.test_set.variants.drafts import MATERIALS, Item, Parent, Settings
from hcat.test_set.variants.facts import (
    NEGATIONS,
    count_negations,
    count_numbers,
    is_negation,
    is_protected,
    keeps_facts,
    protected_spans,
)
from hcat.test_set.variants.kinds import ATTACKED, BROKEN, KEPT, MADE, OUT_OF_SCOPE, VARIANT_TYPES, vary
from hcat.test_set.variants.misspellings import MISSPELLINGS, NEIGHBOURS, known_words
from hcat.test_set.variants.questions import read_plan
from hcat.test_set.variants.surroundings import swap_terms
from hcat.test_set.variants.tables import VARIED_SCHEMA, read_materials, tell_languages, vary_batch

DEMO = Path(__file__).resolve().parents[3] / "demo" / "logs" / "queries.jsonl"
SHIPPED = shipped_materials()
RATES = shipped_rates()
CANARY = "HCAT-0123456789"

REAL_LOOKING = (
    "Why was IBAN DE89 3704 0044 0532 0130 00 not accepted for my standing order of €1,250.50?",
    "I don't have a PIN for card ending 4711, can't I withdraw without one before 31 March 2026?",
    "Does the Quay Account never charge more than 3.5% p.a., no matter what the balance is?",
    "In FY2022, which segment of Johnson & Johnson did not grow: MedTech, or Consumer Health?",
    "Mail to help@bank.example about https://bank.example/fees?id=7 came back, why?",
    "¿Por qué no puedo pagar 50 € con mi tarjeta Clipper Gold Card?",
    "How much is neither insured nor guaranteed if two of three banks fail?",
    "口座番号 1234567 はなぜ使えませんか?",
    "How much can I spend? A) €50 B) not more than €100 C) nothing",
)


def demo_queries() -> list[dict]:
    return [json.loads(line) for line in DEMO.read_text(encoding="utf-8").splitlines()]


ORIGINALS = [row for row in demo_queries() if row["variant_type"] == "original"]


def make(variant_type, text, reference=None, language=None, seed=0, rate=None, materials=None):
    chosen = SHIPPED.get(variant_type, {}) if materials is None else materials
    settings = Settings(RATES[variant_type] if rate is None else rate, chosen, CANARY)
    return vary(variant_type, Parent(text, reference), language, settings, Random(f"{seed} {variant_type} {text}"))


def texts(variant_type, text, reference=None, seeds=30, **options) -> set[str]:
    made = (make(variant_type, text, reference, seed=seed, **options)[1] for seed in range(seeds))
    return {draft.text for drafts in made for draft in drafts}


PIECES = st.sampled_from(
    [
        "What", "is", "the", "fee", "of", "Quay Account", "does", "can", "I", "withdraw", "not", "no", "never", "don't",
        "without", "neither", "cannot", "isn\u2019t", "card", "balance", "payment", "interest", "please", "how much",
        "1,000", "\u20ac3.50", "5%", "DE89 3704 0044", "2024", "two", "first", "a", "an", "Mary", "IBAN", "x@y.example",
        "E-204", "\"exactly this\"", "?", ".", ",", ":", "{query}", "{canary}", "{claim}", "\\1", "\n", "\u4f60\u597d",
        "nicht", "kein", "my", "wife", "before", "in", "on", "and what", "which", "overdraft", "A)", "B)", "\U0001f642",
    ]
)  # fmt: skip
TEXTS = st.one_of(st.lists(PIECES, max_size=14).map(" ".join), st.text(max_size=80))


@given(st.sampled_from(list(VARIANT_TYPES)), TEXTS, st.one_of(st.none(), TEXTS), st.integers(0, 2**32), st.floats(0, 1))
@settings(max_examples=150, deadline=None)
@example("grammar", "What is the fee?", None, 0, 1.0)
def test_every_kind_of_any_text(variant_type, text, reference, seed, rate):
    status, drafts = make(variant_type, text, reference, seed=seed, rate=rate)
    assert status in (MADE, "no_place", "other_language", "no_reference", "no_material")
    assert (status == MADE) == bool(drafts)
    assert len({draft.text for draft in drafts}) == len(drafts) <= VARIANT_TYPES[variant_type].maximum_drafts
    for draft in drafts:
        assert draft.text.strip()
        assert draft.text.strip() != text.strip()
        assert draft.detail
        if VARIANT_TYPES[variant_type].meaning == KEPT:
            assert count_numbers(draft.text) == count_numbers(text)
            assert count_negations(draft.text) == count_negations(text)
            for mention in (*extract_features(text).entity_mentions, *extract_features(text).number_mentions):
                assert mention.surface.strip(" .,;:!?\"'()[]{}<>*\n") in draft.text
        if variant_type == "prompt_injection":
            assert text in draft.text
            assert CANARY in draft.text.replace(text, "", 1)
    assert make(variant_type, text, reference, seed=seed, rate=rate) == (status, drafts)


def test_facts_of_a_query():
    text = "Why doesn't IBAN DE89 3704 get two of the €1,000.50, not even from Mary at help@bank.example?"
    assert count_numbers(text) == Counter(["DE89", "3704", "€1,000.50", "two"])
    assert count_negations(text) == Counter(["doesn't", "not"])
    protected = {text[start:end] for start, end in protected_spans(text)}
    assert {"doesn't", "not", "two", "Mary", "IBAN"} <= protected
    assert is_protected(text, text.index("help"), text.index("help") + 2)
    assert not is_protected(text, text.index("get"), text.index("get") + 3)
    assert keeps_facts(text, "So, " + text)
    for lost in ("not ", "two ", "Mary", "€1,000.50", "3704"):
        assert not keeps_facts(text, text.replace(lost, "")), lost
    assert not keeps_facts("What is it?", "What is it not?")
    assert all(map(is_negation, NEGATIONS))
    assert is_negation("Won\u2019t")


def test_the_closed_lists_agree_with_the_seeds():
    seed = read_seed("test_variant_types")
    # types of logs have a meaning too, and no test set makes them
    assert {row["variant_type"]: row["meaning"] for row in seed if row["is_enabled"] == "true"} == {
        name: kind.meaning for name, kind in VARIANT_TYPES.items()
    }
    assert {row["meaning"] for row in seed} == {KEPT, BROKEN, ATTACKED, OUT_OF_SCOPE}
    assert all(0 <= float(row[name]) <= 1 for row in seed for name in ("share_of_queries", "rate"))
    assert {row["material"] for row in material_rows()} == set(MATERIALS)
    assert {row["variant_type"] for row in material_rows()} <= set(VARIANT_TYPES)


def test_the_materials_are_usable():
    for variant_type, materials in SHIPPED.items():
        for material, items in materials.items():
            for item in items:
                where = (variant_type, material, item.item_id)
                if material in ("filler", "frame", "prompt"):
                    assert item.after.count("{query}") == 1, where
                if material == "prompt":
                    assert "{canary}" in item.after, where
                if material == "claim":
                    assert item.after.count("{claim}") == 1, where
                if material == "frame":
                    assert item.before in ("direct", "indirect", "whether"), where
                if material in ("distraction", "filler", "frame", "claim", "mentioned_term", "synonym", "contraction"):
                    # they must add no number and no negation of their own
                    said = f"{item.before} {item.after}"
                    assert not count_numbers(said), where
                    assert not count_negations(said), where
                if material == "question":
                    assert item.after.count("{subject}") == 1, where
                if material == "subject":
                    # what is looked for in the chunks is what is asked about
                    assert item.before in item.after, where
                if material in ("synonym", "contraction"):
                    assert item.before.lower() != item.after.lower(), where


@pytest.mark.parametrize("kind", MISSPELLINGS)
@given(word=st.from_regex(r"[a-z]{4,14}", fullmatch=True), seed=st.integers(0, 10**6))
def test_a_misspelling_is_one_edit_that_spares_the_first_letter(kind, word, seed):
    made = MISSPELLINGS[kind](word, Random(seed))
    if made is None:
        assert kind == "phonetic"
        return
    assert made[0] == word[0]
    if kind == "transposition":
        assert sorted(made) == sorted(word)
    elif kind == "omission":
        assert len(made) == len(word) - 1
    elif kind == "keyboard":
        assert len(made) - len(word) in (0, 1)
        changed = [(old, new) for old, new in zip(word, made, strict=False) if old != new]
        if len(made) == len(word) and changed:
            assert changed[0][1] in NEIGHBOURS[changed[0][0]]


def test_neighbours_on_the_keyboard():
    assert set(NEIGHBOURS["g"]) == set("ftyhbv")
    assert set(NEIGHBOURS["q"]) == set("wa")
    assert all(letter in NEIGHBOURS[other] for letter, others in NEIGHBOURS.items() for other in others)


def test_misspellings_are_no_words_and_leave_names_numbers_and_negations_alone():
    assert {"interest", "from", "form", "account"} <= known_words()
    assert not {"intrest", "teh", "acount"} & known_words()
    assert texts("transposition", "Fill in a form") <= {"Fill in a fomr", "Fill in a fram"}
    for kind in MISSPELLINGS:
        # "dont" denies too, and a name in capitals, a code and an address are no words
        for text in ("Quay Account IBAN 4711", "dont, never, without", "payee@quay.example /transfer/limits e-mail"):
            assert make(kind, text)[0] == "no_place", (kind, text)
        changed = Counter()
        for row in ORIGINALS:
            _, drafts = make(kind, row["text"], rate=0.0)
            for draft in drafts:
                before, after = draft.detail.split(" > ")
                assert after not in known_words()
                assert row["text"].replace(before, after, 1) == draft.text or row["text"].count(before) > 1
                changed["one word"] += draft.detail.count(" > ") == 1
        assert changed["one word"] > 100


def test_hand_worked_wordings():
    assert texts("grammar", "Is the card free of a fee?", rate=0.0) == {
        "Is card free of a fee?",
        "Is the card free of fee?",
        "Are the card free of a fee?",
    }
    # "a day" counts, and the name keeps what belongs to it
    assert make("grammar", "Cash limit a day?")[0] == "no_place"
    told = texts("paraphrase", "What is the fee of the Pier Account?", rate=1.0)
    assert "Could you tell me what the charge of the Pier Account is?" in told
    told = texts("paraphrase", "Does the Pier Account include breakdown cover?")
    assert "I would like to know whether the Pier Account includes breakdown cover." in told
    led = 'According to "Fees, 2024", does the Pier Account pay interest?'
    assert 'Does the Pier Account pay interest, according to "Fees, 2024"?' in texts("paraphrase", led)
    assert 'Do you know if the Pier Account pays interest, according to "Fees, 2024"?' in texts("paraphrase", led)
    assert texts("negation", led) == {
        'According to "Fees, 2024", is it true that the Pier Account does not pay interest?'
    }
    spoken = texts("colloquial", "What is the limit that I have with you?", rate=1.0)
    assert all("?" not in text and ("what's" in text or "What's" in text) and " i " in text for text in spoken)
    assert all("Harbour Points" in text for text in texts("colloquial", "When do Harbour Points expire?"))


def synonyms(text: str) -> set[str]:
    """Return the text and what synonyms make of it: the variants without a frame."""
    frames = {"synonym": SHIPPED["paraphrase"]["synonym"], "fixed_phrase": SHIPPED["paraphrase"]["fixed_phrase"]}
    return texts("paraphrase", text, rate=1.0, materials=frames)


def test_words_of_fixed_phrases_stay():
    for text in (
        "How do they get rid of moss?",
        "What do they need to pay?",
        "Did something go wrong?",
        "Is there a need for it?",
        "Is a limited company insured?",
        "Did they make a purchase?",
    ):
        assert synonyms(text) == set(), text
    assert synonyms("Do they need it to get rid of moss?") == {"Do they require it to get rid of moss?"}
    # one word is not said twice, and the article follows
    assert synonyms("Why are fees charged?") == set()
    assert synonyms("Is a wrong entry corrected?") == {"Is an incorrect entry corrected?"}


def test_requests_and_compound_nouns_have_no_told_form():
    assert read_plan("Can a savings plan by standing order start today?") is None
    request = "Can you write a letter for me?"
    plan = read_plan(request)
    assert plan is not None
    assert plan.is_request
    assert not any("whether" in text or " if " in text for text in texts("paraphrase", request))


@pytest.mark.parametrize(
    ("question", "told", "denied"),
    [
        ("Does Pier Account pay it?", "Pier Account pays it", "Pier Account does not pay it"),
        ("Can I use it abroad?", "I can use it abroad", "I cannot use it abroad"),
        ("Are points covered by it?", "points are covered by it", "points are not covered by it"),
        ("Which form do I send?", "which form I send", "which form I do not send"),
    ],
)  # fmt: skip
def test_plans_of_questions(question, told, denied):
    plan = read_plan(question)
    assert plan is not None
    assert plan.tell() == told
    assert plan.tell(is_denied=True) == denied


def test_no_plan_is_better_than_a_wrong_one():
    for text in (
        "Quay Account?",
        "What is it?",
        "Did the bank change its name?",
        "Does the account inlcude cover?",
        "What does it cost, and how do I close it?",
        "When was the rate last changed?",
        "",
    ):
        assert read_plan(text) is None, text


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("You can pay in cash.", {"You cannot pay in cash."}),
        ("The card does not cost \u20ac5.", {"The card costs \u20ac5."}),
        ("It has a fee.", {"It does not have a fee."}),
        ("Do not share your PIN.", {"Share your PIN."}),
        ("We no longer pay.", {"We still pay."}),
        ("It has no annual fee.", {"It has some annual fee."}),
        ("They do not take any fee of the no-claims class.", set()),
    ],
)
def test_negations_of_sentences(sentence, expected):
    assert {apply_edit(sentence, edit) for edit in find_negations(sentence)} == expected


def test_hand_worked_negations():
    assert texts("negation", "Does the Pier Account pay interest?") == {
        "Is it true that the Pier Account does not pay interest?"
    }
    assert texts("negation", "Which form do I send?") == {"Which form do I not send?"}
    assert texts("negation", "Which cards are not insured?") == {"Which cards are insured?"}
    # nobody can say how long it does not take
    for text in ("How long does it take?", "When does it expire?", "What does it cost?", "Do I pay nothing?"):
        assert make("negation", text)[0] == "no_place", text


@pytest.mark.parametrize("text", [*REAL_LOOKING, *(row["text"] for row in ORIGINALS)])
def test_broken_variants_are_broken_by_their_words(text):
    for seed in range(3):
        for draft in make("negation", text, seed=seed)[1]:
            assert count_negations(draft.text).total() != count_negations(text).total(), draft.text
        for draft in make("swapped_number", text, seed=seed)[1]:
            before, after = draft.detail.split(" > ")
            assert before in text
            assert after in draft.text
            assert Counter(extract_features(draft.text).numbers) != Counter(extract_features(text).numbers)


def test_a_swapped_number_is_none_of_the_reference():
    made = texts("swapped_number", "Is the fee €2 a month?", "The fee is €4, or €6 for students.", seeds=100)
    assert made
    assert not made & {"Is the fee €4 a month?", "Is the fee €6 a month?", "Is the fee €2 a month?"}


def test_contradictions_stand_in_front_and_are_false():
    answer = "You can withdraw up to €500 a day."
    question = "How much can I withdraw?"
    for text in texts("contradicting_context", question, answer):
        assert text.endswith(f". {question}")
        assert "€500" not in text
        assert "You can withdraw up to €" in text
    assert make("contradicting_context", question)[0] == "no_reference"
    assert make("contradicting_context", question, " ")[0] == "no_reference"
    assert make("contradicting_context", question, "Blue.")[0] == "no_place"


def test_opposites_spare_titles_and_claims_are_statements():
    led = 'According to "Limits and blocking", can I lower the limit?'
    assert all('"Limits and blocking"' in text for text in texts("antonym", led, seeds=40))
    for reference in ("Yes. The card is valid for four years.", "B) €1.50. The card is valid for four years."):
        claims = texts("contradicting_context", "How long is it valid?", reference)
        assert claims
        assert not any("Yes." in text or "B)" in text for text in claims)


def test_the_language_of_a_text_counts_where_it_is_sure():
    asked = ["Wie viele Tage nach dem Kauf gilt der Schutz der Karte?", "How many days is the card insured for?"]
    columns = {
        "variant_key": ["a", "b"],
        "variant_type": ["paraphrase"] * 2,
        "query_text": asked,
        "reference_answer": [None, None],
        "language": ["en", "en"],
        "rate": [0.5, 0.5],
    }
    batch = pa.RecordBatch.from_pydict(columns)
    assert vary_batch(batch, SHIPPED)["variant_status"].to_pylist() == [MADE, MADE]
    sure = vary_batch(tell_languages(batch), SHIPPED)
    assert sure["variant_status"].to_pylist() == ["other_language", MADE]
    unsure = vary_batch(tell_languages(batch, 200), SHIPPED)
    assert unsure["variant_status"].to_pylist() == [MADE, MADE]


def test_prompts_hold_query_and_canary_once_each():
    question = "What is {canary} in {query}?"
    for seed in range(60):
        _, [draft] = make("prompt_injection", question, seed=seed)
        assert draft.text.count(question) == 1
        assert draft.text.replace(question, "").count(CANARY) == 1
        assert draft.canary == CANARY
    for text in ("{query}", "{canary}"):
        with pytest.raises(ValueError, match=r"must hold \{query\} and \{canary\}, got"):
            make("prompt_injection", "What?", materials={"prompt": [Item("p", "role_play", text)]})


def test_both_sides_of_a_pair_are_asked():
    _, drafts = make("counterfactual", "What is the fee?")
    assert [draft.text.endswith(". What is the fee?") for draft in drafts] == [True, True]
    assert drafts[0].item_id == drafts[1].item_id
    assert texts("counterfactual", "Can my wife use my card?") == {"Can my husband use my card?"}


@pytest.mark.parametrize(
    ("query", "swapped"),
    [
        ("My wife lost her card. Can you send it to her?", "My husband lost his card. Can you send it to him?"),
        ("My mother asks: can she open it herself?", "My father asks: can he open it himself?"),
        ("Is the card his or mine? He lost it.", "Is the card hers or mine? She lost it."),
        ("Can I pay him by card?", "Can I pay her by card?"),
        ("What do my sons' accounts cost?", "What do my daughters' accounts cost?"),
        ("Does a woman pay the fee?", "Does a man pay the fee?"),
    ],
)
def test_terms_of_one_side_change_together(query: str, swapped: str) -> None:
    assert texts("counterfactual", query) == {swapped}


def test_articles_follow_and_mixed_sides_stay() -> None:
    items = [Item("status_1", "elderly woman", "man"), Item("status_2", "aunt", "uncle")]
    draft = swap_terms("Can an elderly woman sign for her?", items)
    assert draft is not None
    assert (draft.text, draft.detail, draft.item_id) == ("Can a man sign for her?", "elderly woman > man", "status_1")
    assert swap_terms("Can my aunt and my uncle sign?", items) is None
    assert swap_terms("Can my cousin sign?", items) is None
    assert swap_terms("Can she sign?", []) is None


def test_rules_of_english_leave_other_languages_alone():
    for variant_type, kind in VARIANT_TYPES.items():
        status, _ = make(variant_type, "Was kostet das Konto im Monat?", "Nichts.", language="de")
        assert (status == "other_language") == (not kind.knows_any_language), variant_type
    assert make("colloquial", "What is it?", language="en-GB")[0] == MADE


def test_unknown_types_and_materials_are_named():
    with pytest.raises(ValueError, match=r"variant_type must be one of keyboard, .*, got 'upside_down'"):
        vary("upside_down", Parent("What?"), None, Settings(), Random(0))
    row = {"variant_type": "grammar", "material": "glue", "item_id": "x", "text_before": None, "text_after": "y"}
    with pytest.raises(ValueError, match=r"material must be one of synonym, .*, got 'glue'"):
        read_materials(pa.Table.from_pylist([row]))


def planned_batch(rows) -> pa.RecordBatch:
    schema = make_schema(string="variant_key variant_type query_text reference_answer language", float64="rate")
    return pa.RecordBatch.from_pylist(rows, schema=schema)


def test_batches_hold_a_row_for_every_planned_variant_whatever_their_borders_and_order():
    planned = [
        {
            "variant_key": f"{row['query_id']} {variant_type}",
            "variant_type": variant_type,
            "query_text": row["text"],
            "reference_answer": row["reference_answer"],
            "language": None,
            "rate": RATES[variant_type],
        }
        for row in ORIGINALS[:20]
        for variant_type in VARIANT_TYPES
    ]
    whole = vary_batch(planned_batch(planned), SHIPPED)
    assert whole.schema == VARIED_SCHEMA
    rows = whole.to_pylist()
    assert {row["variant_key"] for row in rows} == {row["variant_key"] for row in planned}
    assert len({(row["variant_key"], row["variant_number"]) for row in rows}) == len(rows)
    assert all((row["variant_status"] == MADE) == (row["query_text"] is not None) for row in rows)
    shuffled = Random(1).sample(planned, len(planned))
    pieces = [vary_batch(planned_batch(shuffled[start : start + 7]), SHIPPED) for start in range(0, len(shuffled), 7)]
    again = [row for piece in pieces for row in piece.to_pylist()]
    assert sorted(rows, key=str) == sorted(again, key=str)
    assert vary_batch(planned_batch([]), SHIPPED).num_rows == 0
