"""Compute the metrics of texts in batches: sentences of passages, support of answers, overlap with a reference."""

from functools import lru_cache
from typing import Any, NamedTuple

import pyarrow as pa

from hcat.encoders.wordings import read_wording
from hcat.engine.columns import schema
from hcat.engine.keys import hash_text
from hcat.language.claims import Talk, is_bare_polarity, read_talk
from hcat.language.ellipsis import strip_introduction, strip_label
from hcat.language.features import TextFeatures, extract_features
from hcat.language.identification import LANGUAGE_SCHEMA, identify_languages
from hcat.language.markup import blank_markup, find_citations, remove_blanks
from hcat.language.text import count_content_words
from hcat.language.verbalisation import verbalise_sentences
from hcat.metrics.cells import Row, Tables, align, read_rows
from hcat.metrics.placement import Placed, Places, find_displaced, place_mentions
from hcat.metrics.records import Fields, Records, find_contradictions, read_fields
from hcat.metrics.reference import bleu_2, exact_match, rouge_l
from hcat.metrics.refusal import READ_BY_HEAD, declines_by_wording, explain_refusal, only_declines
from hcat.metrics.support import Evidence, Offer, measure_support, name_fault, share_supported, shares_of_sentences
from hcat.metrics.texts import TextReader, to_batch

#: List columns of an interaction whose texts the support metrics read.
SUPPORT_LISTS = ("query_text_ids", "answer_text_ids", "context_text_ids", "statement_text_ids")

SPLIT_SCHEMA = schema(
    "string: passage_id text_id sentence_text",
    "list<string>: citations",
    "int32: sentence_index start_character count_characters count_content_words",
)

SUPPORT_SCHEMA = schema(
    "string: interaction_id input_key text_id",
    "list<string>: unsupported contradicted displaced computed",
    "string: mention_fault",
    "int32: sentence_index count_words count_words_supported count_numbers count_numbers_supported count_entities",
    "int32: count_entities_supported",
    "float64: number_displacement entity_displacement",
    "bool: claims_nothing",
)

OVERLAP_SCHEMA = schema(
    "string: interaction_id input_key",
    "float64: bleu_2 rouge_l exact_match reference_recall reference_precision",
    "int32: count_reference_items count_answer_items",
    "list<float64>: reference_sentence_shares",
)

DESCRIBED_SCHEMA = pa.schema([*LANGUAGE_SCHEMA, *schema("string: reading_key refusal_rule", "bool: is_refusal")])

#: Distinct texts of contexts and queries that are kept in memory between batches, 1 kB each for a short sentence. Many
#: interactions share them.
_KEPT_SOURCES = 600_000
#: Distinct answer sentences that are kept in memory, 4 kB each. Few occur twice.
_KEPT_ANSWERS = 50_000


def split_passages(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return one row per sentence of each passage (schema :data:`SPLIT_SCHEMA`).

    JSON and tables are put into words (:mod:`hcat.language.verbalisation`). start_character and count_characters give
    the span that a sentence was made of. White space inside a sentence is folded, so that texts that differ in layout
    only are one text.

    Parameters
    ----------
    batch : RecordBatch
        Columns passage_id, passage_text.

    Examples
    --------
    >>> passages = pa.RecordBatch.from_pydict({"passage_id": ["1"], "passage_text": ["It is due. Pay 5 euros."]})
    >>> split_passages(passages).column("sentence_text").to_pylist()
    ['It is due.', 'Pay 5 euros.']
    """
    passages = zip(batch.column("passage_id").to_pylist(), batch.column("passage_text").to_pylist(), strict=True)
    rows = [
        (
            passage_id,
            hash_text(unit.text),
            unit.text,
            find_citations(passage[unit.start : unit.end]),
            index,
            unit.start,
            unit.end - unit.start,
            count_content_words(unit.text),
        )
        for passage_id, passage in passages
        for index, unit in enumerate(verbalise_sentences(passage))
    ]
    return to_batch(rows, SPLIT_SCHEMA)


class _Source(NamedTuple):
    """A text of context or query as evidence, without the positions of its words, which take most of the memory."""

    offer: Offer
    fields: Fields
    rows: tuple[Row, ...]
    placed: Placed


class _Answer(NamedTuple):
    """An answer sentence with its features and its places."""

    text: str
    #: Without the letter of a choice, as features and places are.
    said: str
    features: TextFeatures
    placed: Placed
    is_polarity: bool
    talk: Talk
    declines: bool


@lru_cache(maxsize=1 << 14)
def _read_text(text: str) -> tuple[TextFeatures, Placed]:
    """Return the features and places of a text; an answer that copies its source has those of the source."""
    features = extract_features(text)
    return features, place_mentions(text, features)


def _read_source(text: str) -> _Source:
    features, placed = _read_text(text)
    return _Source(Offer.from_features(features), read_fields(text), read_rows(text, features), placed)


def _read_answer(text: str) -> _Answer:
    said, is_polarity = strip_label(text), is_bare_polarity(strip_introduction(text))
    features, placed = _read_text(said)
    talk = read_talk(text, read_wording(text).talk)
    return _Answer(text, said, features, placed, is_polarity, talk, only_declines(text))


class SupportMeasure:
    """Measure the support of each answer sentence by context and query. What was read of a text is kept for a while."""

    def __init__(self) -> None:
        self._sources = TextReader(_read_source, _KEPT_SOURCES)
        self._answers = TextReader(_read_answer, _KEPT_ANSWERS)

    def __call__(self, batch: pa.RecordBatch, texts: pa.Table) -> pa.RecordBatch:
        """Return one row per answer sentence (schema :data:`SUPPORT_SCHEMA`)."""
        columns = [batch.column(name).to_pylist() for name in ("interaction_id", "input_key", *SUPPORT_LISTS)]
        queries, answers, contexts, statements = columns[2:]
        sources = self._sources.read([*queries, *contexts, *statements], texts)
        sentences = self._answers.read(answers, texts)
        rows: list[tuple[Any, ...]] = []
        for interaction_id, input_key, query_ids, answer_ids, context_ids, statement_ids in zip(*columns, strict=True):
            if not answer_ids or not context_ids:
                continue
            asked = [sources[text_id] for text_id in query_ids or []]
            retrieved = [sources[text_id] for text_id in [*(statement_ids or []), *context_ids]]
            said = [sentences[text_id] for text_id in answer_ids]
            evidence = Evidence.from_offers(each.offer for each in [*asked, *retrieved])
            records = Records.from_fields((each.fields, each.offer.words) for each in [*asked, *retrieved])
            tables = Tables.from_rows(row for each in retrieved for row in each.rows)
            places = Places.from_sentences(
                [each.placed for each in retrieved], [each.placed for each in asked], [each.placed for each in said]
            )
            for index, (text_id, answer) in enumerate(zip(answer_ids, said, strict=True)):
                aligned = align(answer.said, answer.features, tables)
                support = measure_support(answer.features, evidence, aligned.starts)
                is_talk = answer.talk.claims_nothing(evidence.words)
                displacement = find_displaced(answer.placed, places)
                fault = None
                if support.unsupported or displacement.displaced:
                    fault = name_fault(answer.features, evidence, displacement.displaced, aligned.starts)
                rows.append(
                    (
                        interaction_id,
                        input_key,
                        text_id,
                        list(support.unsupported),
                        [*find_contradictions(answer.text, records), *aligned.contradicted, *support.opposed],
                        list(displacement.displaced),
                        [
                            *aligned.computed,
                            *(f"{date} may begin with the day or the month" for date in support.ambiguous),
                        ],
                        fault,
                        index,
                        support.count_words,
                        support.count_words_supported,
                        support.count_numbers,
                        support.count_numbers_supported,
                        support.count_entities,
                        support.count_entities_supported,
                        displacement.number,
                        displacement.entity,
                        # "No." beside its reason claims what the reason says.
                        is_talk or answer.declines or (answer.is_polarity and len(said) > 1),
                    )
                )
        return to_batch(rows, SUPPORT_SCHEMA)


def overlap_answers(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return how each answer agrees with its reference (schema :data:`OVERLAP_SCHEMA`).

    Parameters
    ----------
    batch : RecordBatch
        Columns interaction_id, input_key, query_text (may be null), answer, reference_answer.

    Notes
    -----
    ``reference_sentence_shares`` has the recall of every sentence of the reference, null for one without a word, number
    or name. Weights of the logs join them in SQL.
    """
    rows = []
    read = batch.select(["interaction_id", "input_key", "query_text", "answer", "reference_answer"])
    for row in read.to_pylist():
        answer, reference = (remove_blanks(blank_markup(row[name])) for name in ("answer", "reference_answer"))
        query, spoken, expected = (
            [unit.text for unit in verbalise_sentences(row[name] or "")]
            for name in ("query_text", "answer", "reference_answer")
        )
        asked, said, wanted = (list(map(extract_features, each)) for each in (query, spoken, expected))
        # a part that is openly declined is no omission: whether it was due, the texts say and not the reference
        owed = [] if any(map(only_declines, spoken)) else wanted
        recall, count_wanted = share_supported(owed, said)
        # what the query says already is no claim of the answer
        precision, count_said = share_supported(said, [*wanted, *asked])
        rows.append(
            (
                row["interaction_id"],
                row["input_key"],
                bleu_2(answer, reference),
                rouge_l(answer, reference),
                exact_match(answer, reference),
                recall,
                precision,
                count_wanted,
                count_said,
                shares_of_sentences(owed, said),
            )
        )
    return to_batch(rows, OVERLAP_SCHEMA)


class AnswerReader:
    """Tell the language of each answer, whether it is a refusal, and by which rule, or that only the head knows it."""

    def __init__(self, reading_key: str) -> None:
        self._key = reading_key

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return a row (schema :data:`DESCRIBED_SCHEMA`) per answer; the batch has passage_id and passage_text."""
        answers = batch.column("passage_text").to_pylist()
        found = [
            explain_refusal(answer) or (READ_BY_HEAD if declines_by_wording(answer) else None) for answer in answers
        ]
        columns = (pa.repeat(self._key, len(found)), pa.array(found, pa.string()), pa.array(map(bool, found)))
        return pa.RecordBatch.from_arrays([*identify_languages(batch).columns, *columns], schema=DESCRIBED_SCHEMA)
