"""Batch functions over texts: splitting, support with kept features, overlap and classification."""

import pyarrow as pa
from numpy.testing import assert_allclose
from schemas import make_schema

from hcat.engine.keys import hash_text
from hcat.metrics import batches
from hcat.metrics.batches import SUPPORT_LISTS, AnswerReader, SupportMeasure, overlap_answers, split_passages


def test_sentences_of_json_are_in_words_over_their_spans():
    passage = '{"OutdoorSeating": false, "fees": ["5 euros", "9 euros"], "note": "Ring twice. \\ud800 Then wait."}'
    batch = pa.RecordBatch.from_pydict({"passage_id": ["p"], "passage_text": [passage]})
    rows = split_passages(batch).to_pylist()
    texts = ["Outdoor seating: no.", "Fees: 5 euros, 9 euros.", "Note: Ring twice.", "Then wait."]
    assert [row["sentence_text"] for row in rows] == texts
    assert [row["text_id"] for row in rows] == [hash_text(text) for text in texts]
    assert [row["count_content_words"] for row in rows] == [3, 5, 3, 1]
    spans = [passage[row["start_character"] :][: row["count_characters"]] for row in rows]
    assert spans[:2] == ['"OutdoorSeating": false', '"fees": ["5 euros", "9 euros"]']


def units(texts: dict[str, str], rows: list[dict[str, list[str] | None]]) -> tuple[pa.RecordBatch, pa.Table]:
    schema = make_schema(string="interaction_id input_key", string_lists=" ".join(SUPPORT_LISTS))
    records = [{"interaction_id": f"i{number}", "input_key": "k"} | row for number, row in enumerate(rows)]
    table = pa.table({"text_id": list(texts), "encoded_text": list(texts.values())})
    return pa.RecordBatch.from_pylist(records, schema=schema), table


def test_support_of_a_worked_interaction():
    texts = {"q": "What is the fee?", "a": "The fee is 12 euros.", "c": "The fee is 15 euros."}
    batch, table = units(
        texts,
        [
            {"query_text_ids": ["q"], "answer_text_ids": ["a"], "context_text_ids": ["c"]},
            {"query_text_ids": ["q"], "answer_text_ids": ["c"], "context_text_ids": ["c"]},
            {"query_text_ids": ["q"], "answer_text_ids": None, "context_text_ids": ["c"]},
            {"query_text_ids": ["q"], "answer_text_ids": ["a"], "context_text_ids": None},
        ],
    )
    rows = SupportMeasure()(batch, table).to_pylist()
    # no answer or no context: no row, because support by nothing is missing and not zero
    assert [row["interaction_id"] for row in rows] == ["i0", "i1"]
    assert (rows[0]["count_numbers"], rows[0]["count_numbers_supported"]) == (1, 0)
    assert (rows[1]["count_numbers"], rows[1]["count_numbers_supported"]) == (1, 1)
    assert any("12" in item for item in rows[0]["unsupported"])
    assert rows[1]["unsupported"] == []


def test_what_the_user_said_before_supports_an_answer_beside_the_context():
    texts = {"q": "And abroad?", "a": "Your fee is 12 euros.", "c": "A fee is due.", "s": "I pay a fee of 12 euros."}
    row = {"query_text_ids": ["q"], "answer_text_ids": ["a"], "context_text_ids": ["c"]}
    batch, table = units(texts, [row, row | {"statement_text_ids": ["s"]}, row | {"context_text_ids": None}])
    without, beside = SupportMeasure()(batch, table).to_pylist()
    assert (without["count_numbers_supported"], beside["count_numbers_supported"]) == (0, 1)


def test_the_head_knows_talk_and_refusals_that_no_rule_knows():
    texts = {"q": "Due?", "a": "Oaks are tall.", "b": "Gute Frage!", "d": "Das weiß ich nicht.", "c": "A fee."}
    row = {"query_text_ids": ["q"], "answer_text_ids": ["a", "b", "d"], "context_text_ids": ["c"]}
    rows = SupportMeasure()(*units(texts, [row])).to_pylist()
    assert [row["claims_nothing"] for row in rows] == [False, True, True]


def test_another_bound_contradicts_and_a_date_of_unknown_order_is_named():
    texts = {"q": "Due?", "a": "Pay at most 5 euros.", "b": "It is due on 4 March 2026.", "c": "Pay at least 5 euros."}
    row = {"query_text_ids": ["q"], "answer_text_ids": ["a", "b"], "context_text_ids": ["c", "d"]}
    bound, date = SupportMeasure()(*units(texts | {"d": "It is due on 03/04/2026."}, [row])).to_pylist()
    assert (bound["contradicted"], bound["computed"], date["contradicted"]) == (["\u2265 5 euros"], [], [])
    assert date["computed"] == ["03/04/2026 may begin with the day or the month"]


def test_kept_features_never_change_a_result(monkeypatch):
    texts = {f"t{number}": f"Sentence {number} costs {number * 3} euros in Paris." for number in range(12)}
    rows = [
        {"query_text_ids": ["t0"], "answer_text_ids": [f"t{n}"], "context_text_ids": [f"t{n + 1}", "t2"]}
        for n in range(10)
    ]
    batch, table = units(texts, rows)
    whole = SupportMeasure()(batch, table).to_pylist()
    monkeypatch.setattr(batches, "_KEPT_SOURCES", 3)
    monkeypatch.setattr(batches, "_KEPT_ANSWERS", 1)
    measure = SupportMeasure()
    parts = [row for start in range(10) for row in measure(batch.slice(start, 1), table).to_pylist()]
    assert parts == whole


def test_overlap_of_an_equal_and_an_unrelated_answer():
    batch = pa.RecordBatch.from_pydict(
        {
            "interaction_id": ["same", "other", "partial", "wordless", "open"],
            "input_key": ["k"] * 5,
            "query_text": [None, None, "Are bananas sold?", None, None],
            "answer": [
                *("The fee is 5 euros.", "Bananas grow quickly.", "Bananas: the fee is 5 euros.", "Yes."),
                "The fee is 5 euros. I found nothing about the other part of your question.",
            ],
            "reference_answer": ["The fee is 5 euros."] * 2
            + ["The fee is 5 euros, due in June.", "It is."]
            + ["Five euros."],
        }
    )
    same, other, partial, wordless, declines = overlap_answers(batch).to_pylist()
    assert_allclose([same["bleu_2"], same["rouge_l"], same["exact_match"]], [1, 1, 1])
    assert_allclose([other["rouge_l"], other["exact_match"]], [0, 0])
    assert other["bleu_2"] < 0.2
    assert_allclose([same["reference_recall"], same["reference_precision"]], [1, 1])
    assert_allclose([other["reference_recall"], other["reference_precision"]], [0, 0])
    # "due" and "June" are left out; "bananas" stands in the query
    assert_allclose([partial["reference_recall"], partial["reference_precision"]], [0.5, 1])
    # what is openly declined may not have been due
    for none in (wordless, declines):
        assert (none["reference_recall"], none["count_reference_items"]) == (None, 0)


def test_refusals_are_named_by_rule_or_by_the_head():
    answers = {
        "I'm sorry, but I cannot help with that.": "apology",
        "That is a question your branch would have to answer. Anything else?": "read_by_head",
        "Aus den Unterlagen ist nicht ersichtlich, wer haftet. Bitte fragen Sie Ihre Bank.": "read_by_head",
        "Ni el folleto ni la web aclaran quién paga. La cuota es de 5 euros.": None,
        "El formulario no incluye una casilla para el apodo.": None,
        "The fee is 5 euros.": None,
    }
    batch = pa.RecordBatch.from_pydict({"passage_id": list("abcdef"), "passage_text": list(answers)})
    rows = AnswerReader("heads")(batch).to_pylist()
    assert [row["refusal_rule"] for row in rows] == list(answers.values())
    assert [row["is_refusal"] for row in rows] == [rule is not None for rule in answers.values()]
    assert {row["reading_key"] for row in rows} == {"heads"}
    assert rows[0]["language"] == "en"
