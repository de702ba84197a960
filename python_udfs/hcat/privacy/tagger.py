"""Find persons and places that no cue announces, with the entity tagger of an offline spaCy pipeline."""

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import groupby
from typing import Any, Final

from hcat.engine.devices import TAGGER, check_package
from hcat.engine.saying import Progress
from hcat.language.given_names import (
    ORGANISATION_WORDS,
    all_given_names,
    given_names,
    is_ordinary_word,
    is_spelled_like_name,
    surnames,
)
from hcat.privacy.names import COMPANIES_LIKE_PERSONS, is_part_of_firm, is_person_name
from hcat.privacy.spans import Span, fold_text, read_tokens

DEFAULT_MODEL: Final = TAGGER.module
"""Python package of the spaCy pipeline (MIT): loaded from disk, never downloaded."""

MAXIMUM_PIECE_CHARACTERS: Final = 10_000
"""A longer text is cut at whitespace before it is tagged, so that memory stays bounded."""

# Only the entity tagger is needed; tags, parse and lemmas would double the time.
_UNUSED_PIPES = ("tok2vec", "tagger", "parser", "attribute_ruler", "lemmatizer")

_PLACE_LABELS = frozenset(("GPE", "LOC"))
_NAME_LABELS = frozenset(("ORG", "GPE", "LOC", "FAC", "WORK_OF_ART", "PRODUCT", "NORP", "EVENT", "LAW", "PERSON"))
_DETERMINERS = frozenset(["the", "a", "an", "our", "your", "this", "that", "these"])


@cache
def load_tagger(unused: tuple[str, ...] = _UNUSED_PIPES) -> Any:
    """Return the spaCy pipeline without the parts that are not used, loaded once per process."""
    import spacy

    return spacy.load(check_package(TAGGER), exclude=list(unused))


def tag_texts(texts: Sequence[str]) -> Iterator[list[Span]]:
    """Yield, for each text, the persons and places that the tagger finds in it."""
    pieces = [(index, start, end) for index, text in enumerate(texts) for start, end in _cut(text)]
    nlp = load_tagger()
    progress = Progress("characters read for names", sum(end - start for _, start, end in pieces))
    documents = nlp.pipe((texts[index][start:end] for index, start, end in pieces), batch_size=64)
    for index, read in groupby(zip(pieces, documents, strict=True), key=lambda each: each[0][0]):
        tagged: list[Span] = []
        for (_, offset, end), document in read:
            for entity in document.ents:
                if entity.label_ in _NAME_LABELS:
                    start, past = offset + entity.start_char, offset + entity.end_char
                    tagged += _read_entity(texts[index], start, past, entity.label_)
            progress.advance(end - offset)
        yield tagged
    progress.finish()


def _cut(text: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of each piece of a text, cut after whitespace where there is any."""
    start = 0
    while len(text) - start > MAXIMUM_PIECE_CHARACTERS:
        limit = start + MAXIMUM_PIECE_CHARACTERS
        border = max(text.rfind(mark, start, limit) for mark in ("\n", " ")) + 1
        end = border if border > start else limit
        yield start, end
        start = end
    yield start, len(text)


def _read_entity(text: str, start: int, end: int, label: str) -> list[Span]:
    """Return one span for an entity that is a person or a place, otherwise an empty list."""
    line_end = text.find("\n", start, end)
    end = line_end if line_end > start else end
    tokens = read_tokens(fold_text(text[start:end]))
    while tokens and (tokens[0].kind == "mark" or tokens[0].lower in _DETERMINERS):
        if tokens[0].lower in _DETERMINERS and label != "PERSON" and label not in _PLACE_LABELS:
            return []
        tokens = tokens[1:]
    while tokens and tokens[-1].kind == "mark":
        tokens = tokens[:-1]
    words = [token.text for token in tokens if token.kind == "word"]
    if not words or any(token.kind == "number" for token in tokens):
        return []
    span_start, span_end = start + tokens[0].start, start + tokens[-1].end
    for ending in ("'s", "\u2019s"):
        if text[span_start:span_end].endswith(ending):
            span_end -= len(ending)
    has_marks = any(token.kind == "mark" and token.text not in (".", "'") for token in tokens)
    is_capital = words[0][0].isupper()
    if label not in _PLACE_LABELS and is_part_of_firm(text, span_start, span_end):
        return []
    if label == "PERSON" and _is_tagged_person(words):
        return [Span(span_start, span_end, "person", "tagger")]
    if label in _PLACE_LABELS:
        if len(words) >= 2 and words[0].lower() in given_names() and is_person_name(words):
            return [Span(span_start, span_end, "person", "tagger_and_name")]
        is_product = all(word.lower() in ORGANISATION_WORDS for word in words)
        return [] if is_product else [Span(span_start, span_end, "place", "tagger")]
    if label != "PERSON" and is_capital and 2 <= len(words) <= 4 and not has_marks and is_person_name(words):
        before = read_tokens(text[max(0, span_start - 12) : span_start])
        if not (before and before[-1].lower in _DETERMINERS) and not all(word.isupper() for word in words):
            return [Span(span_start, span_end, "person", "tagger_and_name")]
    return []


def _is_tagged_person(words: Sequence[str]) -> bool:
    """Return whether words labelled as a person are neither a product nor an acronym nor ordinary words only."""
    lower = [word.lower().removesuffix("'s").removesuffix("\u2019s") for word in words]
    if any(word in ORGANISATION_WORDS for word in lower) or len(lower) > 5 or " ".join(lower) in COMPANIES_LIKE_PERSONS:
        return False
    if not is_spelled_like_name(words) and not words[0].islower():
        return False
    if any(not is_ordinary_word(word) for word in lower):
        return True
    return lower[-1] in surnames() and (len(lower) == 1 or lower[0] in all_given_names())
