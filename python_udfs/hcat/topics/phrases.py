"""Names of topics: noun phrases where a tagger reads the language of the texts, single words elsewhere."""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from importlib import metadata
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa

from hcat.language.identification import identify_languages
from hcat.language.text import STOP_WORDS
from hcat.language.words import fold_word, stem_word
from hcat.privacy.tagger import DEFAULT_MODEL, load_tagger
from hcat.statistics.arrays import Integers as Labels
from hcat.topics.models import NOISE, count_words, find_people, is_telling, one_thread, weigh_words

NOUN_PHRASES: Final = "noun_phrases"
WORDS: Final = "words"
#: Noise, and a topic whose texts hold no word: it has its id as name.
NO_NAME: Final = "none"

PACKAGED: Final = "packaged"
"""Setting of the tagger that is installed with hcat; any other setting names topics by words."""

#: Version of the rules below. Another one names the topics of a warehouse again.
RULES: Final = 1
#: Words that describe a topic, and the first of them that make its name.
COUNT_WORDS: Final = 10
COUNT_NAME_WORDS: Final = 3
#: Words of the longest phrase. "Breakwater fixed mortgage" has three; longer ones seldom recur.
LONGEST_PHRASE: Final = 3
#: A phrase that stands inside one longer phrase this often is a part of it ("breakwater fixed") and names nothing.
FRAGMENT_SHARE: Final = 0.75
#: A phrase of a single text describes that text and not a topic, so others come first.
LEAST_TEXTS: Final = 2
#: Share of the texts of a topic that the tagger must be able to read.
LEAST_SHARE_READ: Final = 0.5
#: Texts that are tagged at most to name the topics of a fit. It bounds its time: 6 ms a text on one core.
MAXIMUM_TEXTS: Final = 2000
#: Texts per call of the tagger. It is fixed, because a vector may depend on what it is computed with.
BATCH_TEXTS: Final = 64

# only the tagger of parts of speech is needed
_UNUSED_PIPES: Final = ("ner", "parser", "lemmatizer", "attribute_ruler", "senter")
_PROPER_NOUNS: Final = frozenset({"NNP", "NNPS"})
_ADJECTIVES: Final = frozenset({"JJ", "JJR", "JJS"})
_PHRASE_WORD: Final = re.compile(r"[^\W\d_][\w'\u2019-]+")
# how much, how long and how often: measures of anything, so a phrase that ends in one names no subject
_MEASURE_LIST: Final = "amount day euro hour minute month number percent second sum time week year"
_MEASURES: Final = frozenset(map(stem_word, _MEASURE_LIST.split()))

_Word = tuple[str, bool]


class TopicName(NamedTuple):
    """What a topic is called."""

    topic_name: str
    words: list[str]
    word_weights: list[float]
    naming: str


def describe_naming(tagger: str) -> str:
    """Return what names depend on besides the texts: the tagger with its version, or ``words`` where there is none."""
    if tagger != PACKAGED:
        return WORDS
    try:
        versions = ", ".join(f"{package} {metadata.version(package)}" for package in (DEFAULT_MODEL, "spacy"))
    except metadata.PackageNotFoundError:
        return WORDS
    return f"{NOUN_PHRASES} {RULES}, {versions}"


def name_topics(
    texts: Sequence[str], labels: Labels, count_topics: int, tagger: str, languages: Collection[str]
) -> list[TopicName]:
    """Return the name of each topic."""
    weighed_words = weigh_words(count_words(texts, labels, count_topics), COUNT_WORDS)
    by_words = [_name(weighed, WORDS) for weighed in weighed_words]
    read = (labels != NOISE) & _is_read(texts, languages) if describe_naming(tagger) != WORDS else labels < NOISE
    chosen = np.flatnonzero(read)[:MAXIMUM_TEXTS]
    if not len(chosen):
        return by_words
    people = find_people(texts)
    tagged = _tag([texts[row] for row in chosen.tolist()])
    runs = [list(_find_runs(words, people)) for words in tagged]
    by_phrases = [_name(weighed, NOUN_PHRASES) for weighed in weigh_phrases(runs, labels[chosen], count_topics)]
    return [
        phrases if phrases.words and read[labels == topic].mean() >= LEAST_SHARE_READ else by_words[topic]
        for topic, phrases in enumerate(by_phrases)
    ]


def weigh_phrases(
    texts: Sequence[Sequence[Sequence[_Word]]], labels: Labels, count_topics: int
) -> list[list[tuple[str, float]]]:
    """Return the noun phrases that distinguish each topic, with their weights from the largest."""
    counts = [Counter[str]() for _ in range(count_topics)]
    texts_with = [Counter[str]() for _ in range(count_topics)]
    forms: dict[str, Counter[str]] = defaultdict(Counter)
    for runs, label in zip(texts, labels.tolist(), strict=True):
        found = Counter[str]()
        for phrase in (part for run in runs for part in _find_phrases(run)):
            key = " ".join(map(stem_word, phrase))
            found[key] += 1
            forms[key][" ".join(phrase)] += 1
        counts[label].update(found)
        texts_with[label].update(found.keys())
    fragments = _find_fragments(sum(counts, Counter[str]()))
    weighed = []
    for count, spread in zip(weigh_words(counts, sum(map(len, counts))), texts_with, strict=True):
        kept = [(key, weight * len(key.split(" "))) for key, weight in count if key not in fragments]
        kept.sort(key=lambda item: (spread[item[0]] < LEAST_TEXTS, -item[1], item[0]))
        # the commonest form of each phrase
        said = {key: min(forms[key].items(), key=lambda item: (-item[1], item[0]))[0] for key, _ in kept[:COUNT_WORDS]}
        weighed.append([(said[key], weight) for key, weight in kept[:COUNT_WORDS]])
    return weighed


def _name(weighed: Sequence[tuple[str, float]], naming: str) -> TopicName:
    words = [word for word, _ in weighed]
    chosen: list[str] = []
    for word in words:
        stems = set(map(stem_word, word.split()))
        others = [set(map(stem_word, other.split())) for other in chosen]
        if len(chosen) < COUNT_NAME_WORDS and not any(stems <= other or other <= stems for other in others):
            chosen.append(word)
    return TopicName(", ".join(chosen), words, [weight for _, weight in weighed], naming if words else NO_NAME)


def _is_read(texts: Sequence[str], languages: Collection[str]) -> Any:
    """Return whether the language of each text is among those of the tagger, shape (number of texts,)."""
    batch = pa.RecordBatch.from_pydict({"passage_id": list(map(str, range(len(texts)))), "passage_text": list(texts)})
    return np.isin(identify_languages(batch)["language"].to_pylist(), sorted(languages))


def _tag(texts: Sequence[str]) -> list[list[tuple[str, str]]]:
    """Return the words of each text with their tags of the Penn Treebank."""
    with one_thread():
        documents = load_tagger(unused=_UNUSED_PIPES).pipe(texts, batch_size=BATCH_TEXTS)
        return [[(token.text, token.tag_) for token in document] for document in documents]


def _find_runs(words: Sequence[tuple[str, str]], people: Collection[str]) -> Iterator[list[_Word]]:
    """Yield unbroken rows of adjectives and nouns, case-folded."""
    run: list[_Word] = []
    is_person = False
    for surface, tag in [*words, ("", "")]:
        is_noun = tag.startswith("NN")
        word = fold_word(surface) if surface else ""
        is_person = word in people or (is_person and tag in _PROPER_NOUNS)
        is_part = (is_noun or tag in _ADJECTIVES) and _PHRASE_WORD.fullmatch(surface) is not None
        if is_noun and stem_word(word) in _MEASURES:
            run = []
        elif is_part and not is_person and word not in STOP_WORDS and is_telling(word, people):
            run.append((word, is_noun))
        elif run:
            yield run
            run = []


def _find_phrases(run: Sequence[_Word]) -> Iterator[tuple[str, ...]]:
    """Yield each row of at most :data:`LONGEST_PHRASE` words that ends in a noun."""
    for end in range(1, len(run) + 1):
        if run[end - 1][1]:
            for start in range(max(0, end - LONGEST_PHRASE), end):
                yield tuple(part for part, _ in run[start:end])


def _find_fragments(totals: Counter[str]) -> set[str]:
    fragments = set()
    for phrase, count in totals.items():
        words = phrase.split(" ")
        for part in (" ".join(words[1:]), " ".join(words[:-1])):
            if part in totals and count >= FRAGMENT_SHARE * totals[part]:
                fragments.add(part)
    return fragments
