"""Sentences, facts, queries, selection and replies of the generation of test queries."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hcat.test_set.generation import offline, selection
from hcat.test_set.generation.facts import extract_facts
from hcat.test_set.generation.offline import Outcome, Query, Settings, Source, Template, generate
from hcat.test_set.generation.replies import ReplyError, read_facts, read_queries
from hcat.test_set.generation.sentences import find_paragraphs, find_statements
from hcat.test_set.generation.tables import GENERATED_SCHEMA, QueryMaker

SPEAKER = "the bank"
BANK = Settings(speaker=SPEAKER)

#: Sentences whose question was written by hand, with the kind of its answer.
WORKED = [
    (
        "Our effective tax rate was 21.5% in fiscal 2022.",
        "what was the bank's effective tax rate in fiscal 2022",
        "numeric",
    ),
    (
        "Net revenue increased 12% in fiscal 2021, compared with fiscal 2020.",
        "by how much did net revenue increase in fiscal 2021",
        "numeric",
    ),
    (
        "Operating income decreased in 2021 primarily due to higher fuel prices in Europe.",
        "why did operating income decrease in 2021",
        "description",
    ),
    (
        "In June 2018, Calder Water submitted a permit application to the City of Merrow.",
        "when did Calder Water submit a permit application to the City of Merrow",
        "numeric",
    ),
    (
        "We had 14 branches in Merrow as of December 31, 2022.",
        "how many branches did the bank have in Merrow as of December 31, 2022",
        "numeric",
    ),
    (
        "The five largest customers accounted for approximately 48% of net sales in 2019.",
        "what percentage of net sales did the five largest customers account for in 2019",
        "numeric",
    ),
    ("The Skiff Debit Card is valid for four years.", "for how long is the Skiff Debit Card valid", "numeric"),
    (
        "Our devices are manufactured by third-party contract manufacturers.",
        "by whom are the bank's devices manufactured",
        "human",
    ),
    (
        "Our principal offices are located in Port Merrow, Calder.",
        "where are the bank's principal offices located",
        "location",
    ),
    ("Pension assets are measured at fair value every quarter.", "how are pension assets measured", "description"),
    ("Cash equivalents consist of highly liquid bonds and notes.", "what do cash equivalents consist of", "entity"),
    (
        "We maintain several trusts to fund the obligations of our pension plans.",
        "what does the bank maintain to fund the obligations of the bank's pension plans",
        "entity",
    ),
]


@pytest.mark.parametrize(("sentence", "question", "answer_type"), WORKED, ids=[each[0][:30] for each in WORKED])
def test_a_plain_sentence_gives_its_question(sentence: str, question: str, answer_type: str) -> None:
    facts = extract_facts(sentence, SPEAKER)
    assert [(fact.question, fact.answer_type, fact.sentence) for fact in facts] == [(question, answer_type, sentence)]


@pytest.mark.parametrize(
    "sentence",
    [
        "It increased 12% in fiscal 2021.",  # who?
        "This amount was $5 million in 2021.",
        "The agreement was signed in May 2019.",  # which?
        "Expenses incurred in 2021 were accounted for as described in Note 5.",
        "Revenue 5 6 7 was 8 9 10 in 2021.",  # a row of a table
        "See Note 5 for the tax rate that was 21% in 2021.",
        "These securities decreased in 2021 due to higher interest rates everywhere.",
        "the rate was 5% in 2021.",  # the end of a sentence
        "Total Assets Liabilities And Equity The rate was 5% in 2021.",  # a heading in front
        "Was the rate 5% in 2021?",
        "As of December 2, 2022, we employed 29,239 people and employees worldwide.",
    ],
)
def test_what_is_not_plain_gives_no_question(sentence: str) -> None:
    assert extract_facts(sentence, SPEAKER) == ()


def test_an_abbreviation_is_asked_for_where_its_letters_are_those_of_the_name() -> None:
    text = (
        "We report to the Calder Deposit Guarantee Fund (the \u201cCDGF\u201d) and to the Ministry of Finance"
        " (\u201cXYZ\u201d)."
    )
    found = [fact for fact in extract_facts(text, SPEAKER) if fact.answer_type == "abbreviation"]
    assert [(fact.question, fact.answer) for fact in found] == [
        ('what does the abbreviation "CDGF" stand for', "Calder Deposit Guarantee Fund")
    ]


def test_lines_that_a_page_broke_are_joined_and_headings_are_not() -> None:
    text = (
        "Liquidity\n"
        "In November 2015, the Company entered into a revolving credit agreement with lenders of the\n"
        "Calder Coast Group for general purposes.\n"
        "Table of Contents\n"
    )
    assert find_paragraphs(text)[1][0].endswith("of the Calder Coast Group for general purposes.")
    assert [statement.text for statement in find_statements(text)] == [
        "In November 2015, the Company entered into a revolving credit agreement with lenders of the Calder Coast "
        "Group for general purposes."
    ]


def test_the_end_of_a_sentence_of_the_page_before_is_left_out() -> None:
    text = "Coast Group was founded in 1851 by glass makers.\nIn May 2019, the Company opened an office in Merrow.\n1\n"
    assert [each.text for each in find_statements(text)] == ["In May 2019, the Company opened an office in Merrow."]


def test_an_auditor_is_not_the_company() -> None:
    text = "We have audited the balance sheets. In May 2019, we issued our report to the Board of Calder Bank."
    assert extract_facts(text, SPEAKER) == ()


PIER = Source(
    "c1",
    "The Pier Account costs \u20ac9 a month. The Skiff Debit Card is valid for four years."
    " A cheque takes six working days"
    " to clear."
    " The Quay Account is not available to companies of any kind. Payments can be revoked within 13 months.",
    "Accounts",
)


def queries(query_type: str, source: Source = PIER, count: int = 3) -> list[Query]:
    return list(generate(query_type, count, source, [], [], BANK).queries)


def test_queries_name_their_document_and_their_chunk() -> None:
    assert 'According to "Accounts", for how long is the Skiff Debit Card valid?' in {
        query.text for query in queries("simple_factual")
    }
    assert all(query.source_chunk_ids == ("c1",) for query in queries("simple_factual"))


def test_without_a_title_what_needs_one_is_left_out() -> None:
    source = Source("c1", "Our effective tax rate was 21.5% in fiscal 2022.", None)
    assert queries("simple_factual", source) == []


def test_a_multiple_choice_query_has_one_right_option_and_two_that_the_chunk_does_not_hold() -> None:
    (query,) = queries("multiple_choice", count=1)
    assert query.reference_answer is not None
    letter = query.reference_answer[0]
    text, _, listed = query.text.partition("? A) ")
    options = dict(zip("ABC", f"{listed} ".replace(" B) ", "|").replace(" C) ", "|").split("|"), strict=True))
    assert query.reference_answer.startswith(f"{letter}) {options[letter].strip()}.")
    assert [option for option in options.values() if option.strip() in PIER.text] == [options[letter]]
    assert text


def test_yes_no_queries_deny_what_the_sentence_denies_and_what_was_changed() -> None:
    found = {query.text: (query.reference_answer or "") for query in queries("yes_no", count=9)}
    assert found['According to "Accounts", is the Quay Account available to companies of any kind?'].startswith(
        "No. The Quay Account is not"
    )
    for text, reference in found.items():
        number = [word for word in text.split() if word.rstrip("?").isdigit()]
        if number:
            assert reference.startswith("Yes" if number[0].rstrip("?") in PIER.text else "No")


@pytest.mark.parametrize(
    ("question", "is_changed"),
    [
        ("did net sales increase 5% in 2020", True),
        ("can I hold up to 35 accounts at a time", False),
        ("is more than 10% of the work done abroad", False),  # it may be 12 %
        ("can I open an account with $100 at any branch", False),  # with more, too
        ("did the bank lower its fee to $3 from $4 in 2020", False),
    ],
)
def test_a_number_is_only_changed_where_that_makes_the_question_wrong(question: str, is_changed: bool) -> None:
    changed = offline._falsify(question, "")
    assert (changed is not None) == is_changed


def test_a_multi_hop_query_joins_two_chunks_that_share_a_name() -> None:
    first = Source("a1", "In May 2019, Calder Water opened a plant in Merrow.", "Report")
    second = Source("a2", "In June 2020, Calder Water acquired a pipeline in Port Ash.", "Report")
    other = Source("a3", "In June 2021, Elm Energy acquired a dam in Port Ash.", "Report")
    outcome = generate("multi_hop", 1, first, [other, second], [], BANK)
    assert outcome.queries[0].text == (
        'According to "Report", when did Calder Water open a plant in Merrow, '
        "and when did Calder Water acquire a pipeline in Port Ash?"
    )
    assert outcome.queries[0].source_chunk_ids == ("a1", "a2")
    assert generate("multi_hop", 1, first, [], [], BANK).status == "no_partner_found"


TEMPLATES = [
    Template("o1", "off_topic", "Who plays chess?", (), ("chess",)),
    Template("v1", "vague", "What about the rate?", ("rate", "rates"), ()),
    Template("i1", "insufficient_context", "Which radio station spoke of {name}?", (), ("radio",)),
    Template("i2", "insufficient_context", "What did lawyers charge when {event}?", (), ("lawyers",)),
]


def test_templates_are_used_where_their_words_allow() -> None:
    chess = Source("c", "Chess is played in the hall of the bank, at any rate.", "Hall")
    plain = Source("c", "In May 2019, Calder Water opened a plant in Merrow.", "Report")
    assert generate("off_topic", 1, chess, [], TEMPLATES, BANK).status == "no_template_fits"
    assert generate("off_topic", 1, plain, [], TEMPLATES, BANK).queries[0].text == "Who plays chess?"
    assert generate("vague", 1, chess, [], TEMPLATES, BANK).queries[0].text == "What about the rate?"
    assert generate("vague", 1, plain, [], TEMPLATES, BANK).status == "no_template_fits"
    outcome = generate("insufficient_context", 9, plain, [], TEMPLATES, BANK)
    assert 'According to "Report", what did lawyers charge when Calder Water opened a plant in Merrow?' in {
        query.text for query in outcome.queries
    }
    assert all(query.expected_behaviour == "refuse" and query.reference_answer is None for query in outcome.queries)


@pytest.mark.parametrize("query_type", offline.NEED_LANGUAGE_MODEL)
def test_what_needs_a_language_model_says_so(query_type: str) -> None:
    outcome = generate(query_type, 1, PIER, [], [], BANK)
    assert outcome == Outcome(
        "needs_language_model", f"{query_type} queries need a language model: set hcat_generator to language_model"
    )


HOSTILE = st.text(alphabet=st.characters(codec="utf-8"), max_size=300)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.one_of(HOSTILE, st.sampled_from([each[0] for each in WORKED])), max_size=6))
def test_any_text_gives_sound_queries_the_same_every_time(parts: list[str]) -> None:
    source = Source("c", " ".join(parts), "Title")
    for query_type in ("simple_factual", "yes_no", "multiple_choice", "insufficient_context"):
        outcome = generate(query_type, 3, source, [], TEMPLATES, BANK)
        assert outcome == generate(query_type, 3, source, [], TEMPLATES, BANK)
        assert outcome.status in ("generated", "no_fact_found", "no_template_fits")
        for query in outcome.queries:
            assert query.text.strip()
            assert (query.reference_answer is None) == (query.expected_behaviour == "refuse")


def test_the_batch_border_changes_no_query() -> None:
    templates = pa.Table.from_pylist(
        [
            {
                "template_id": "o1",
                "query_type": "off_topic",
                "template": "Who plays chess?",
                "required_words": None,
                "absent_words": "chess",
            }
        ]
    )
    maker = QueryMaker(templates, {"speaker": "the bank", "seed": "1"})
    requests = pa.RecordBatch.from_pylist(
        [
            {
                "generation_key": f"k{number}",
                "chunk_id": f"c{number}",
                "query_type": query_type,
                "generator": "offline",
                "generator_revision": "offline 1",
                "expected_behaviour": "answer",
                "chunk_text": PIER.text,
                "document_title": "Accounts",
                "count_wanted": 2,
                "partner_chunk_ids": ["p"],
                "partner_texts": ["A chunk."],
            }
            for number, query_type in enumerate(("simple_factual", "inference", "off_topic", "multi_hop"))
        ]
    )
    whole = maker(requests)
    assert whole.schema == GENERATED_SCHEMA
    parts = [maker(requests.slice(row, 1)) for row in range(requests.num_rows)]
    assert pa.Table.from_batches(parts).equals(pa.Table.from_batches([whole]).combine_chunks())
    statuses = dict(zip(whole["generation_key"].to_pylist(), whole["generation_status"].to_pylist(), strict=True))
    assert statuses == {"k0": "generated", "k1": "needs_language_model", "k2": "generated", "k3": "no_partner_found"}
    assert len(set(whole["generated_id"].to_pylist())) == whole.num_rows


def candidate(query_id: str, text: str, **changes: object) -> dict[str, object]:
    """Return a row of materials whose vector points along the first axis."""
    return {
        "query_id": query_id,
        "chunk_id": "c",
        "query_text": text,
        "reference_answer": "Yes.",
        "query_type": "yes_no",
        "expected_behaviour": "answer",
        "generator": "offline",
        "encoder_name": "all-MiniLM-L6-v2",
        "source_text": "The Pier Account costs 9 euros a month at every branch.",
        "embedding": [1.0, 0.0],
        "chunk_embedding": [0.8, 0.6],
    } | changes


def check(*rows: dict[str, object]) -> dict[str, str | None]:
    vector = pa.list_(pa.float32())
    table = pa.Table.from_pylist(sorted(rows, key=lambda row: str(row["query_id"])))
    for name in ("embedding", "chunk_embedding"):
        table = table.set_column(table.schema.get_field_index(name), name, table[name].cast(vector))
    checked = selection.check_candidates(table)
    assert [
        (status == "accepted") == (reason is None)
        for status, reason in zip(checked["check_status"].to_pylist(), checked["reason"].to_pylist(), strict=True)
    ] == [True] * checked.num_rows
    return dict(zip(checked["query_id"].to_pylist(), checked["reason"].to_pylist(), strict=True))


@pytest.mark.parametrize(
    ("text", "changes", "reason"),
    [
        ("How much is a Pier Account for students?", {}, None),
        ("How much?", {}, "too_short"),
        (f"Is {'very ' * 60}much asked?", {}, "too_long"),
        ("What does the passage say about Pier Accounts?", {}, "mentions_context"),
        ("In the provided context, what is free?", {}, "mentions_context"),
        ("What is shown in the table below?", {}, "unanswerable_form"),
        ("The Pier Account is nice.", {}, "unanswerable_form"),
        ("Explain how a Pier Account works.", {}, None),
        ("What is a Pier Account?", {"reference_answer": " "}, "missing_reference"),
        ("What is a Pier Account?", {"reference_answer": "It costs 12 euros."}, "unsupported_reference"),
        ("Pier Account costs 9 euros a month at every branch?", {}, "copied_from_chunk"),
        ("What is the weather like on Mars?", {"chunk_embedding": [0.0, 1.0]}, "far_from_chunk"),
        ("What is the weather like?", {"chunk_embedding": [0.0, 1.0], "expected_behaviour": "refuse"}, None),
        ("What is the weather like?", {"chunk_embedding": [0.0, 1.0], "encoder_name": "hashing:32"}, None),
        ("What about it?", {"reference_answer": None, "expected_behaviour": "refuse"}, None),
        ("Hm.", {"generator": "imported"}, None),  # people chose it
    ],
)
def test_each_reason_for_a_rejection(text: str, changes: dict[str, object], reason: str | None) -> None:
    assert check(candidate("q", text, **changes)) == {"q": reason}


def test_the_first_of_two_equal_texts_stays_and_a_written_one_before_a_generated_one() -> None:
    rows = [
        candidate("b", "Is tea free?"),
        candidate("a", "Is  tea free ?"),
        candidate("c", "Is tea free!?", generator="imported"),
    ]
    assert check(*rows) == {"a": "duplicate_text", "b": "duplicate_text", "c": None}
    assert check(*rows[:2]) == {"a": None, "b": "duplicate_text"}


def test_near_duplicates_have_the_same_names_and_numbers() -> None:
    close = {"embedding": [0.999, 0.0447]}
    first = candidate("a", "What did the Pier Account cost in 2019?")
    assert check(first, candidate("b", "In 2019, what did the Pier Account cost?", **close))["b"] == "near_duplicate"
    assert check(first, candidate("b", "What did the Pier Account cost in 2020?", **close))["b"] is None
    assert check(first, candidate("b", "What did the Quay Account cost in 2019?", **close))["b"] is None
    far = candidate("b", "In 2019, what did the Pier Account cost?", embedding=[0.0, 1.0], chunk_embedding=[0.0, 1.0])
    assert check(first, far)["b"] is None


def test_blocks_find_the_same_near_duplicates_as_one_block(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.Generator(np.random.PCG64(7))
    words = ["alpha", "beta", "gamma", "delta"]
    rows = []
    for number in range(40):
        angle = float(generator.uniform(0, 0.8))
        text = f"what is {' '.join(generator.permutation(words)[:3])} worth?"
        rows.append(candidate(f"q{number:02d}", text, embedding=[float(np.cos(angle)), float(np.sin(angle))]))
    whole = check(*rows)
    monkeypatch.setattr(selection, "_BLOCK", 7)
    assert check(*rows) == whole
    assert {None, "near_duplicate"} <= set(whole.values())


GOOD = (
    '{"queries": [{"query": "What does it cost?", "reference_answer": "9 euros.", "difficulty": "easy", '
    '"answer_type": "numeric"}]}'
)


def test_a_reply_of_the_schema_is_read_also_inside_a_fence() -> None:
    for reply in (GOOD, f"```json\n{GOOD}\n```"):
        (query,) = read_queries(reply, "simple_factual", 2, ["c1", "c2"], False)
        assert (query.text, query.reference_answer, query.source_chunk_ids) == (
            "What does it cost?",
            "9 euros.",
            ("c1", "c2"),
        )


@pytest.mark.parametrize(
    ("reply", "query_type", "message"),
    [
        ("Sure! Here it is.", "simple_factual", "a reply must be JSON, got Sure! Here it is."),
        (f"Sure! {GOOD}", "simple_factual", "a reply must be JSON"),
        ('{"queries": [], "note": 1}', "simple_factual", "'note' was unexpected"),
        (GOOD.replace("easy", "tricky"), "simple_factual", "'tricky' is not one of"),
        (GOOD.replace('"9 euros."', '"See www.example.org"'), "simple_factual", "must hold no link"),
        (GOOD, "yes_no", "must begin with Yes or No, got 9 euros."),
        (GOOD, "multiple_choice", r"must have options A\) B\) C\) and its answer name one"),
        (GOOD, "insufficient_context", "'9 euros.' is not of type 'null'"),
        (
            GOOD.replace("What does it cost?", "The question can be fully answered from the documents, what is it?"),
            "simple_factual",
            "must be a question, got words of the prompt",
        ),
        ("[" * 100_000, "simple_factual", "a reply must be JSON"),
    ],
)
def test_a_reply_that_is_not_of_the_schema_says_why(reply: str, query_type: str, message: str) -> None:
    with pytest.raises(ReplyError, match=message):
        read_queries(reply, query_type, 1, ["c"], query_type == "insufficient_context")


def test_key_facts_with_numbers_of_their_own_are_left_out() -> None:
    reply = '{"facts": ["The account costs 9 euros.", "The account costs 12 euros."]}'
    assert read_facts(reply, ["It costs 9 euros a month."]) == ["The account costs 9 euros."]
    with pytest.raises(ReplyError, match="a fact must hold no number that the documents do not hold, got 2"):
        read_facts(reply, ["It costs a lot."])
