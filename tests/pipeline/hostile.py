"""A folder of raw logs in which nearly everything that can be wrong is wrong, with what must become of each record."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as parquet
from builds import write_lines

#: Texts that must reach the warehouse character by character.
UNCHANGED_TEXTS = {
    "emoji": "Yes 👍🏽 👩‍👩‍👧‍👦 🏳️‍🌈, the fee is €5.",
    "chinese": "利率是每年百分之一点六。请联系分行。",
    "japanese": "金利は年1.6%です。「支店」へお問い合わせください。",
    "arabic": "الرسوم هي خمسة يورو في الشهر. اتصل بالفرع.",
    "hebrew_with_marks": "\u200fהעמלה היא 5€\u200f לחודש.",
    "html": "<p>The rate is <b>1.6%</b> &amp; fixed.</p><!-- note --><img src=x onerror=alert(1)>",
    "script": "<script>alert(document.cookie)</script></script><script src='https://example.invalid/x.js'></script>",
    "formula_equals": "=cmd|' /C calc'!A0",
    "formula_at": "@SUM(1+1)*cmd|' /C calc'!A0",
    "formula_plus": "+1+1; -1-1",
    "sql": "'; drop table stg_interactions; --",
    "jinja": "{{ 1 / 0 }} {% raw %} {{ env_var('HOME') }}",
    "markdown": "# Fees\n\n- one\n- two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```\ncode\n```",
    "json": '{"answer": "The fee is 5", "sources": [1, 2]}',
    "windows_lines": "First line.\r\nSecond line.\tTabbed.",
    "one_long_word": "ha" * 20_000,
    "only_digits": "42",
    "backslashes": "C:\\temp\\new \\u0000 \\x1f \\",
    "percent": "100 % %s %d %(name)s {0} ${HOME}",
}
#: Texts that lose unprintable characters and nothing else.
CLEANED_TEXTS = {
    "nul": ("fee\x00 is 5", "fee  is 5"),
    "controls": ("bell\x07 escape\x1b[31m delete\x7f next\x85line", "bell  escape [31m delete  next line"),
    "lone_surrogate": ("half \ud83d an emoji", "half   an emoji"),
    "decomposed": ("cafe\u0301 is open", "café is open"),
}
#: Not blank and yet nearly without words: nothing to cut into sentences must not mean a failed score.
SCANT_TEXTS = (
    "---",
    "```",
    "***",
    "|",
    "|---|",
    "#",
    "-",
    "1.",
    "•",
    "...",
    "?",
    "😀",
    "\u0301",
    "_",
    "{}",
    "[]",
    '""',
    "。",
    "~~~",
)
#: Kept, and `answered` = 0.
BLANK_ANSWERS = (None, "", " ", " \n\t\r ", "\u00a0\u3000", "\u200b\u200d\ufeff", "\x00\x01")

#: More sentences than one batch of texts holds.
LONG_CONTEXT = " ".join(
    f"Clause {number} sets the fee of product {number % 977} to {number % 89} euros{' and so on' * 20}."
    for number in range(4_200)
)
LONG_RUN = "x" * 2_000_000


def _interaction(interaction_id: Any, answer: Any = "The fee is 5 euros.", **others: Any) -> dict[str, Any]:
    return {"interaction_id": interaction_id, "query_text": "What is the fee?", "answer": answer} | others


#: What follows the name of a column of weights in the reason of a reject.
NO_WEIGHTS = "is not a JSON list of finite numbers of at least 0: "

#: Interactions that must be staged, one of them twice under other spellings of the same record.
STAGED_INTERACTIONS: list[dict[str, Any]] = [
    _interaction("plain", application="assistant", asked_at="2026-05-01T10:00:00Z", tags={"topic": "fees"}),
    _interaction("late", asked_at="2026-05-01T10:00Z"),
    _interaction("offset", asked_at="2026-05-01T12:00:00+02:00"),
    _interaction("day_only", asked_at="2026-05-01"),
    _interaction("basic", asked_at="20260501T100000,5z"),
    _interaction("bracketed", asked_at="2026-05-01T12:00:00+02:00[Europe/Berlin]"),
    _interaction("no_time", asked_at=" "),
    _interaction(" outer_blanks\t\n", sample_index="3"),
    _interaction(1234567, 42, sample_index=2.0),
    _interaction("extra_columns", cost=0.01, trace={"spans": [1, 2]}, model="x"),
    _interaction("no_query", query_text=None),
    _interaction("unknown_query", query_text=None, query_id="never_sent"),
    _interaction("nul_in_tag", tags={"topic": "fe\x00es", "channel": "\u202eweb"}),
    _interaction("strange_tags", tags={"topic": None, "channel": {"nested": [1]}, "": ""}),
    # one weight for a text of two sentences is a weight that cannot be used, and no reason to drop the answer
    _interaction(
        "weighed", "It is 5 euros. It is due.", query_sentence_weights=[1], answer_sentence_weights="[2, 0.5]"
    ),
    _interaction("weighed_in_part", "It is 5 euros. It is due.", answer_sentence_weights=[1]),
    _interaction("no_contexts"),
    _interaction("empty_contexts"),
    _interaction("long_context"),
    *[_interaction(f"ranked_{name}") for name in ("from_zero", "equally", "unreadably")],
    _interaction("many_numbers", retried=True, sample_index="0"),
    # a conversation whose numbers are spelt in two ways, and one without any
    _interaction("turn_1", conversation_id="talk", turn_index="0"),
    _interaction("turn_2", "It costs 9 dollars.", query_text="And abroad?", conversation_id="talk", turn_index=1.0),
    _interaction("turn_3", "IT costs 9 dollars!", query_text="Sure?", conversation_id="talk", turn_index=2),
    _interaction("untimed_2", "", conversation_id="chat"),
    _interaction("untimed_1", conversation_id="chat"),
    *[_interaction(f"text_{name}", text, query_text=text) for name, text in UNCHANGED_TEXTS.items()],
    *[_interaction(f"text_{name}", text, query_text=text) for name, (text, _) in CLEANED_TEXTS.items()],
    *[_interaction(f"scant_{index}", text, query_text=text) for index, text in enumerate(SCANT_TEXTS)],
    *[_interaction(f"blank_{index}", answer) for index, answer in enumerate(BLANK_ANSWERS)],
]
REPEATED_INTERACTIONS = [STAGED_INTERACTIONS[0], dict(reversed(STAGED_INTERACTIONS[0].items())), STAGED_INTERACTIONS[1]]
REJECTED_INTERACTIONS: list[tuple[dict[str, Any] | bytes, str]] = [
    (_interaction(None), "interaction_id is missing or blank"),
    (_interaction("\u200b\u00a0"), "interaction_id is missing or blank"),
    ({"answer": "no id at all"}, "interaction_id is missing or blank"),
    (_interaction("plain", "Another answer."), "interaction_id was sent before with other content"),
    (b'{"interaction_id": "cut_off", "answer": "The fee', "malformed JSON"),
    (b'{"interaction_id": "two"} {"interaction_id": "objects"}', "malformed JSON"),
    (b"[" * 50_000, "malformed JSON"),
    (b'{"interaction_id": "huge", "answer": ' + b"9" * 5_000 + b"}", "malformed JSON"),
    (b'["a", "list"]', "not a JSON object but list"),
    (b'{"interaction_id": "latin_1", "answer": "caf\xe9"}', "invalid UTF-8 at byte"),
    (b'{"interaction_id": "truncated_utf_8", "answer": "\xf0\x9f\x98"}', "invalid UTF-8 at byte"),
    (_interaction("time_1", asked_at="yesterday"), "asked_at is not an ISO 8601 timestamp: yesterday"),
    (_interaction("time_3", asked_at="01/02/2026"), "asked_at is not an ISO 8601 timestamp"),
    (_interaction("time_4", asked_at="-infinity"), "asked_at is not an ISO 8601 timestamp"),
    (_interaction("time_5", asked_at="2026-02-30T00:00:00Z"), "asked_at is not an ISO 8601 timestamp"),
    (_interaction("time_6", asked_at="2999-01-01T00:00:00Z"), "asked_at lies in the future: 2999-01-01"),
    (_interaction("time_7", asked_at="0001-01-01T00:00:00Z"), "asked_at lies before 2000-01-01: 0001-01-01"),
    (_interaction("time_9", asked_at="2026-05-01 10:00:00 Asia/Tokyo"), "asked_at names a time zone"),
]
#: Interactions that are kept without a field that cannot be read, and what is said of it; None = nothing.
KEPT_INTERACTIONS: list[tuple[dict[str, Any] | bytes, str | None]] = [
    (b'{"interaction_id": "not_a_number", "answer": NaN}', None),
    (b'{"interaction_id": "tags_3", "answer": "x", "tags": {"a": 1e999, "b": NaN}}', None),
    (b'{"interaction_id": "index_3", "answer": "x", "sample_index": Infinity}', "sample_index is not an integer: inf"),
    (_interaction("index_1", sample_index="two"), "sample_index is not an integer: two"),
    (_interaction("number_1", turn_index="first"), "turn_index is not an integer from 0: first"),
    (_interaction("number_2", turn_index=-1), "turn_index is not an integer from 0: -1"),
    (_interaction("tags_1", tags=["a"]), "tags is not a JSON object"),
    (_interaction("weights_1", answer_sentence_weights=[1, -1]), f"answer_sentence_weights {NO_WEIGHTS}[1, -1]"),
    (_interaction("weights_2", answer_sentence_weights=[1, None]), f"answer_sentence_weights {NO_WEIGHTS}[1, null]"),
    (_interaction("weights_3", answer_sentence_weights=[]), f"answer_sentence_weights {NO_WEIGHTS}[]"),
    (_interaction("weights_4", query_sentence_weights="high"), f"query_sentence_weights {NO_WEIGHTS}high"),
]

CSV_HEADER = ["interaction_id", "query_text", "answer", "asked_at", "extra"]
#: Lines of a CSV file; None = staged, else the reason.
CSV_LINES: list[tuple[bytes, str | None]] = [
    (b'csv_plain,What?,"The fee, all in, is ""5"".",2026-05-01T10:00:00Z,x', None),
    (b'csv_lines,What?,"First.\nSecond.",,', None),
    (b'csv_formula,=1+1,"=HYPERLINK(""http://example.invalid"",""x"")",,', None),
    (b"csv_nul,What?,fee\x00 is 5,,", None),
    (b"csv_empty,What?,,,", None),
    (b"csv_short,What?", "2 fields where the header has 5"),
    (b"csv_wide,What?,a,b,c,d,e", "7 fields where the header has 5"),
    (b'csv_quote,"What"?,a,,', "malformed CSV"),
    (b"csv_bytes,What?,caf\xe9,,", "invalid UTF-8 in the row"),
    (b'csv_open,What?,"never closed,,', "malformed CSV"),
    ("csv_after,Was?,Die Gebühr beträgt 5 €.,,".encode(), None),
]

#: Nested calls; None = staged as an interaction, else the reason.
CALLS: list[tuple[dict[str, Any] | bytes, str | None]] = [
    (
        {
            "id": "call_plain",
            "question": "What is the fee?",
            "response": "It is 5.",
            "ground_truth": "5 euros",
            "contexts": ["The fee is 5.", {"text": "The rate is 2.", "chunk_id": "c9", "score": 0.5}],
        },
        None,
    ),
    ({"interaction_id": "call_no_contexts", "query": "What?", "answer": "5.", "contexts": None}, None),
    ({"interaction_id": "call_empty_contexts", "query": "What?", "answer": "5.", "contexts": []}, None),
    ({"interaction_id": "call_blank_contexts", "query": "What?", "answer": "5.", "contexts": ["", None, " "]}, None),
    ({"interaction_id": "call_wrong_contexts", "query": "What?", "answer": "5.", "contexts": 7}, None),
    ({"interaction_id": "call_wrong_context", "query": "What?", "answer": "5.", "contexts": ["right", 7]}, None),
    ({"query": "What?", "answer": "5.", "contexts": []}, None),
    ({"query": "What?", "answer": "5.", "contexts": []}, None),
    (
        {
            "id": "call_gold",
            "input": "What?",
            "actual_output": "5.",
            "retrieval_context": [{"context": "The fee is 5.", "source": "terms.pdf"}],
            "context": ["a gold passage"],
            "reference_context_ids": ["c1"],
            "metadata": {"topic": "fees"},
        },
        None,
    ),
    (
        b'{"id": "call_nan", "query": "What?", "answer": "5.", "ground_truth": NaN, "metadata": {"cost": NaN},'
        b' "contexts": [{"text": "The fee is 5.", "rank": 1, "score": NaN}, {"text": "The rate is 2.", "rank": 1}]}',
        None,
    ),
    ({"query": "What?", "output": [{"text": "no answer"}]}, "the answer must be a text, got list"),
    ({"span_id": "1", "input": "What?", "output": "5."}, "a span of a trace and not a call (it has span_id)"),
    (b'{"interaction_id": "call_cut", "contexts": [', "malformed JSON"),
]

STAGED_RETRIEVALS: list[dict[str, Any]] = [
    {"interaction_id": "plain", "rank": 1, "chunk_id": "c1", "text": None, "retrieval_score": "0.5"},
    {"interaction_id": "plain", "rank": "2", "chunk_id": "c2", "text": "The fee is 5 euros."},
    {"interaction_id": "plain", "rank": 3.0, "chunk_id": "c1", "text": "The same chunk again."},
    {"interaction_id": " outer_blanks", "rank": " 1 ", "text": "The fee is 5."},
    {"interaction_id": 1234567, "rank": 1, "text": "Numbers as ids."},
    *[{"interaction_id": f"turn_{turn}", "rank": 1, "text": "The fee is 5 euros."} for turn in (1, 2, 3)],
    {"interaction_id": "long_context", "rank": 1, "text": LONG_CONTEXT},
    {"interaction_id": "long_context", "rank": 2, "text": LONG_RUN},
    *[{"interaction_id": f"text_{name}", "rank": 1, "text": text} for name, text in UNCHANGED_TEXTS.items()],
    *[{"interaction_id": f"scant_{index}", "rank": 1, "text": text} for index, text in enumerate(SCANT_TEXTS)],
    *[{"interaction_id": f"blank_{index}", "rank": 1, "text": "The fee is 5."} for index in range(len(BLANK_ANSWERS))],
]
REJECTED_RETRIEVALS: list[tuple[dict[str, Any] | bytes, str]] = [
    ({"interaction_id": "never_sent", "rank": 1, "text": "x"}, "orphan: no staged interaction"),
    ({"interaction_id": "time_1", "rank": 1, "text": "its interaction is rejected"}, "orphan: no staged interaction"),
    ({"interaction_id": None, "rank": 1, "text": "x"}, "interaction_id is missing or blank"),
    (
        {"interaction_id": "plain", "rank": 1, "text": "other"},
        "interaction_id, rank was sent before with other content",
    ),
    ({"interaction_id": "empty_contexts", "rank": 1, "text": ""}, "text and chunk_id are missing or blank"),
    ({"interaction_id": "empty_contexts", "rank": 2, "text": None}, "text and chunk_id are missing or blank"),
    (
        {"interaction_id": "empty_contexts", "rank": 3, "text": "\u200b \n", "chunk_id": "never_sent"},
        "text is missing or blank, and no staged chunk has the chunk_id: never_sent",
    ),
]
_RANKED: dict[str, dict[str, Any]] = {
    name: {"interaction_id": f"ranked_{name}"} for name in ("from_zero", "equally", "unreadably")
}
KEPT_RETRIEVALS: list[tuple[dict[str, Any] | bytes, str | None]] = [
    (_RANKED["from_zero"] | {"rank": 1, "text": "Second."}, None),
    (_RANKED["from_zero"] | {"rank": "0", "text": "First."}, None),
    (_RANKED["equally"] | {"rank": 1, "text": "First."}, None),
    (_RANKED["equally"] | {"rank": 1, "text": "Second."}, None),
    (_RANKED["equally"] | {"rank": 2, "text": "Third.", "retrieval_score": "high"}, "retrieval_score is not a finite"),
    (_RANKED["unreadably"] | {"rank": 1.5, "text": "First."}, "rank is not an integer from 0: 1.5"),
    (_RANKED["unreadably"] | {"rank": None, "text": "Second."}, "rank is not an integer from 0: null"),
    (_RANKED["unreadably"] | {"rank": "third", "text": "Third."}, "rank is not an integer from 0: third"),
    (
        b'{"interaction_id": "ranked_unreadably", "rank": 5, "text": "Fourth.", "retrieval_score": 1e999}',
        "retrieval_score is not a finite number: inf",
    ),
    (
        _RANKED["unreadably"] | {"rank": 6, "text": "Fifth.", "completeness_weight": "-1"},
        "completeness_weight is not a finite number of at least 0: -1",
    ),
]
STAGED_QUERIES: list[dict[str, Any]] = [
    {"query_id": "q1", "text": "What is the fee?", "reference_answer": "5 euros", "source_chunk_ids": ["c1"]},
    {"query_id": "q2", "text": "Its variant", "parent_query_id": "q3", "source_chunk_ids": '["c1", null]'},
    {"query_id": "q3", "text": "A circle of parents", "parent_query_id": "q2", "expected_behaviour": "refuse"},
    {"query_id": "q4", "text": "Its own parent", "parent_query_id": "q4", "source_chunk_ids": []},
    {"query_id": "tagged", "text": "Tags", "query_group": "<b>g</b>", "tags": {"length": None, "": [1], 'a"b': "<i>"}},
]
REJECTED_QUERIES: list[tuple[dict[str, Any] | bytes, str]] = [
    ({"query_id": None, "text": "x"}, "query_id is missing or blank"),
    ({"query_id": "q5", "text": " "}, "text is missing or blank"),
    ({"query_id": "q6", "text": "x", "expected_behaviour": "shrug"}, "expected_behaviour is neither answer nor refuse"),
    ({"query_id": "q1", "text": "Another text"}, "query_id was sent before with other content"),
]
KEPT_QUERIES: list[tuple[dict[str, Any] | bytes, str | None]] = [
    ({"query_id": "q7", "text": "x", "source_chunk_ids": "c1;c2"}, "source_chunk_ids is not a JSON list of ids: c1;c2"),
    ({"query_id": "q8", "text": "x", "sampling_weight": 0}, "sampling_weight is not a finite number above 0: 0"),
    ({"query_id": "tags_1", "text": "x", "tags": ["short"]}, 'tags is not a JSON object: ["short"]'),
    (
        {"query_id": "weights_3", "text": "x", "reference_sentence_weights": "[1, 1e999]"},
        f"reference_sentence_weights {NO_WEIGHTS}[1, null]",
    ),
]
STAGED_DOCUMENTS = [{"document_id": "d1", "title": "<b>Fees</b>", "text": None}, {"document_id": 7, "topic": "fees"}]
REJECTED_DOCUMENTS: list[tuple[dict[str, Any] | bytes, str]] = [
    ({"document_id": "", "title": "x"}, "document_id is missing or blank"),
    ({"document_id": "d1", "title": "Other"}, "document_id was sent before with other content"),
]
STAGED_CHUNKS = [
    {"chunk_id": "c1", "document_id": "d1", "text": "A basic account costs 5 euros a month.", "chunk_index": "1"},
    {"chunk_id": "c2", "document_id": "never_sent", "text": "The fee is 5 euros."},
]
REJECTED_CHUNKS: list[tuple[dict[str, Any] | bytes, str]] = [
    ({"chunk_id": "c3", "text": ""}, "text is missing or blank"),
    ({"chunk_id": None, "text": "x"}, "chunk_id is missing or blank"),
]
KEPT_CHUNKS: list[tuple[dict[str, Any] | bytes, str | None]] = [
    ({"chunk_id": "c4", "text": "x", "chunk_index": 1.5}, "chunk_index is not an integer: 1.5")
]
_RATING = {"interaction_id": "plain", "rater": "ann", "criterion": "faithfulness", "scale_point": 2}
STAGED_RATINGS = [
    _RATING,
    _RATING | {"rater": "bo", "scale_point": "1", "rated_at": "2026-05-02T10:00:00Z"},
    _RATING | {"rater": "cy", "scale_point": 2.0, "rating_pass": "2"},
    _RATING | {"rater": "di", "comment": "=1+1", "reason_start": "0", "reason_end": 3},
]
#: Read, and not judged: kept apart from the ratings.
UNJUDGED_RATINGS = [_RATING | {"rater": "ed", "scale_point": "cannot_judge", "comment": "the context is cut"}]
REJECTED_RATINGS: list[tuple[dict[str, Any] | bytes, str]] = [
    (_RATING | {"interaction_id": "never_sent"}, "orphan: no staged interaction"),
    (_RATING | {"interaction_id": " "}, "interaction_id is missing or blank"),
    (_RATING | {"rater": None}, "rater is missing or blank"),
    (_RATING | {"criterion": ""}, "criterion is missing or blank"),
    (_RATING | {"criterion": "charm"}, "rating_scales: charm 2"),
    (_RATING | {"scale_point": 9}, "criterion and scale_point are not in the seed rating_scales"),
    (
        _RATING | {"rater_kind": "robot"},
        "rater_kind is not person, language_model, rule, unknown or user_feedback: robot",
    ),
    (_RATING | {"rating_pass": 1.5}, "rating_pass is not an integer: 1.5"),
    (_RATING | {"criterion": "charm", "scale_point": "cannot_judge"}, "seed rating_scales: charm cannot_judge"),
    (_RATING | {"scale_point": 0}, "was sent before with other content"),
]
KEPT_RATINGS: list[tuple[dict[str, Any] | bytes, str | None]] = [
    (_RATING | {"rater": "fa", "rated_at": "soon"}, "rated_at is not an ISO 8601 timestamp: soon"),
    (_RATING | {"rater": "fb", "rated_at": "2026-05-02 10:00 CET"}, "rated_at names a time zone and gives no offset"),
    (_RATING | {"rater": "fc", "rated_at": "1970-01-01T00:00:00Z"}, "rated_at lies before 2000-01-01: 1970-01-01"),
    (_RATING | {"rater": "fd", "reason_start": 3, "reason_end": 2}, "are no passage of the answer: 3 2"),
    (_RATING | {"rater": "fe", "reason_end": 9999}, "are no passage of the answer: null 9999"),
    (_RATING | {"rater": "ff", "reason_start": 0, "reason_end": 9999}, "are no passage of the answer: 0 9999"),
    (_RATING | {"rater": "fg", "rated_at": "2026-05-02"}, None),
    (_RATING | {"rater": "fh", "criterion": "groundedness"}, None),
]
STAGED_JUDGEMENTS: list[dict[str, Any]] = [
    {"query_id": "q1", "chunk_id": "c1", "grade": "2"},
    {"query_id": "q1", "chunk_id": "c2", "grade": -1, "judge": "ann"},
]
REJECTED_JUDGEMENTS: list[tuple[dict[str, Any] | bytes, str]] = [
    ({"query_id": "q1", "chunk_id": "c1", "grade": "good"}, "grade is not a finite number: good"),
    ({"query_id": " ", "chunk_id": "c1", "grade": 1}, "query_id is missing or blank"),
    ({"query_id": "q1", "chunk_id": "", "grade": 1}, "chunk_id is missing or blank"),
    ({"query_id": "q1", "chunk_id": "c1", "grade": 0}, "was sent before with other content"),
]

STAGED: dict[str, list[dict[str, Any]]] = {
    "interactions": STAGED_INTERACTIONS,
    "retrievals": STAGED_RETRIEVALS,
    "queries": STAGED_QUERIES,
    "documents": STAGED_DOCUMENTS,
    "chunks": STAGED_CHUNKS,
    "ratings": STAGED_RATINGS,
    "relevance_judgements": STAGED_JUDGEMENTS,
}
REJECTED = {
    "interactions": REJECTED_INTERACTIONS,
    "retrievals": REJECTED_RETRIEVALS,
    "queries": REJECTED_QUERIES,
    "documents": REJECTED_DOCUMENTS,
    "chunks": REJECTED_CHUNKS,
    "ratings": REJECTED_RATINGS,
    "relevance_judgements": REJECTED_JUDGEMENTS,
}
#: Records that are kept without a field that cannot be read, by entity.
KEPT = {
    "interactions": KEPT_INTERACTIONS,
    "retrievals": KEPT_RETRIEVALS,
    "queries": KEPT_QUERIES,
    "chunks": KEPT_CHUNKS,
    "ratings": KEPT_RATINGS,
}
#: Records that nested calls add: (staged, rejected).
FROM_CALLS = {"interactions": (10, 3), "retrievals": (5, 5), "queries": (1, 0), "relevance_judgements": (1, 0)}
#: Rows of the Parquet file: staged first, then the two that Python cannot hold.
PARQUET_REASONS = (None, "invalid UTF-8 in answer", "unreadable value in asked_at")


def write_hostile(folder: Path) -> None:
    """Write the folder: for every entity the staged, then the repeated, then the rejected records."""
    for entity in STAGED:
        write_lines(folder / f"{entity}_1_staged.jsonl", STAGED[entity])
        write_lines(folder / f"{entity}_3_rejected.jsonl", [record for record, _ in REJECTED[entity]])
    for entity, records in KEPT.items():
        write_lines(folder / f"{entity}_2_kept.jsonl", [record for record, _ in records])
    write_lines(folder / "interactions_2_repeated.jsonl", REPEATED_INTERACTIONS)
    write_lines(folder / "ratings_2_unjudged.jsonl", UNJUDGED_RATINGS)
    write_lines(folder / "retrievals_2_repeated.jsonl", STAGED_RETRIEVALS[:2])
    header = ",".join(CSV_HEADER).encode()
    (folder / "interactions_4.csv").write_bytes(b"\n".join([header, *[line for line, _ in CSV_LINES]]) + b"\n")
    write_lines(folder / "calls.jsonl", [record for record, _ in CALLS])
    answers = pa.array([b"The fee is 5.", b"caf\xe9", b"The fee is 5."], pa.binary())
    table = pa.table(
        {
            "interaction_id": ["parquet_plain", "parquet_bytes", "parquet_time"],
            "answer": pa.Array.from_buffers(pa.string(), 3, answers.buffers()),
            "asked_at": pa.array([1_750_000_000, 1_750_000_000, 400_000_000_000], pa.timestamp("s", tz="UTC")),
            "tags": pa.array([[("topic", "fees")], [], None], pa.map_(pa.string(), pa.string())),
            "sample_index": [1.0, None, None],
        }
    )
    parquet.write_table(table, folder / "interactions_5.parquet")


def count_records() -> dict[str, tuple[int, int, int]]:
    """Return (staged, repeated, rejected) per entity, counted from this module and not from the warehouse."""
    counts = {entity: [len(STAGED[entity]) + len(KEPT.get(entity, [])), 0, len(REJECTED[entity])] for entity in STAGED}
    counts["interactions"][1] = len(REPEATED_INTERACTIONS)
    counts["retrievals"][1] = 2
    for entity, (staged, rejected) in FROM_CALLS.items():
        counts[entity][0] += staged
        counts[entity][2] += rejected
    for reasons in ([reason for _, reason in CSV_LINES], PARQUET_REASONS):
        counts["interactions"][0] += sum(reason is None for reason in reasons)
        counts["interactions"][2] += sum(reason is not None for reason in reasons)
    return {entity: (staged, repeated, rejected) for entity, (staged, repeated, rejected) in counts.items()}
