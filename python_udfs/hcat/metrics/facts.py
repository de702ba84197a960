"""Check an answer against a true answer of whole sentences, by the numbers, names and words that both state.

Each sentence of the true answer is compared with the passage of the answer that is nearest to it: one sentence, or two
that follow each other. What the query already says proves nothing. What the check cannot tell for sure stays undecided:
a missing fact, another subject, a negation. In long answers such findings were wrong as often as right.
"""

import itertools
import math
import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from hcat.language.features import TextFeatures, extract_features
from hcat.language.markup import blank_markup, remove_blanks
from hcat.language.mentions import Mention
from hcat.language.text import WORD_PATTERN, clean_text, split_sentences
from hcat.metrics.answers import MAXIMUM_CHARACTERS, AnswerCheck
from hcat.metrics.support import Evidence

#: Reasons of :mod:`hcat.metrics.answers` after which the facts are compared: the rules could not read the wording. A
#: negation, several values or a hedge that the rules suspect stays undecided.
READ_BY_FACTS: Final = frozenset({"free_text", "partly_mentioned", "scattered_words", "other_words", "near_match"})

#: Shares of the words of a true sentence that a passage holds: from SAID on it says the sentence, from SPOKEN_OF on it
#: speaks of the same, below NOT_SPOKEN_OF it does not. Set on the recorded faults of the demo.
SAID: Final = 0.7
SPOKEN_OF: Final = 0.5
NOT_SPOKEN_OF: Final = 0.25

#: Relative difference up to which two numbers may be one number, rounded or of another scale.
ROUNDING: Final = 0.05

#: In an answer of more words another number is no error but undecided: long answers show intermediate results.
SHORT_ANSWER_WORDS: Final = 60

_DIGITS_OF_A_SCALE = 3
_PLAIN = re.compile(r"[0-9]{1,15}(?:\.[0-9]{1,15})?(?= |\Z)")
_NEGATORS = frozenset({"not", "no", "never", "neither", "nor", "cannot", "without", "none", "nothing"})


class _Passage(NamedTuple):
    features: TextFeatures
    evidence: Evidence
    is_negated: bool


def check_facts(answer: str | None, true_answer: str | None, query: str | None = None) -> AnswerCheck:
    """Return whether an answer states the facts of a true answer."""
    said, truth = (remove_blanks(blank_markup(clean_text(text or ""))) for text in (answer, true_answer))
    if not said.strip() or not truth.strip() or max(len(said), len(truth)) > MAXIMUM_CHARACTERS:
        return AnswerCheck("undecided", "no_text")
    asked = extract_features(clean_text(query or ""))
    passages = _passages(said)
    is_short = len(WORD_PATTERN.findall(said)) <= SHORT_ANSWER_WORDS
    found = [_check_sentence(sentence, passages, asked, is_short) for sentence in _sentences(truth)]
    checked = [each for each in found if each.reason != "no_facts"]
    if not checked:
        return AnswerCheck("undecided", "no_facts")
    return min(checked, key=lambda each: ("incorrect", "undecided", "correct").index(each.status))


def _sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in split_sentences(text)]


def _passages(text: str) -> list[_Passage]:
    """Return each sentence, and each pair of sentences that follow each other."""
    sentences = _sentences(text)
    texts = [*sentences, *(f"{first} {second}" for first, second in itertools.pairwise(sentences))]
    return [_read(each) for each in texts]


def _read(text: str) -> _Passage:
    features = extract_features(text)
    return _Passage(features, Evidence.from_features([features]), _is_negated(text))


def _is_negated(text: str) -> bool:
    words = [match.casefold().replace("\u2019", "'") for match in WORD_PATTERN.findall(text)]
    count: int = sum(word in _NEGATORS or word.endswith("n't") for word in words)
    return count % 2 == 1


def _check_sentence(sentence: str, passages: Sequence[_Passage], asked: TextFeatures, is_short: bool) -> AnswerCheck:
    features = extract_features(sentence)
    asked_words, asked_numbers = asked.words, asked.numbers_offered | set(asked.numbers)
    own_words = {mention.keys[0] for mention in features.word_mentions} - asked_words
    all_words = {mention.keys[0] for mention in features.word_mentions}
    own_numbers = [mention for mention in features.number_mentions if asked_numbers.isdisjoint(mention.keys)]
    if not own_words and not own_numbers:
        return AnswerCheck("undecided", "no_facts")

    def share(words: set[str], passage: _Passage) -> float:
        return len(words & passage.evidence.words) / len(words) if words else 1.0

    def nearness(passage: _Passage) -> tuple[float, int]:
        supported = sum(not passage.evidence.numbers.isdisjoint(each.keys) for each in own_numbers)
        # A number counts like a word. Of two passages that are equally near the shorter one is nearer.
        total = len(all_words) + len(own_numbers)
        near = (share(all_words, passage) * len(all_words) + supported) / total if total else 0.0
        return near, -len(passage.features.word_mentions)

    nearest = max(passages, key=nearness)
    near = share(all_words, nearest)
    said_numbers = frozenset().union(*[passage.evidence.numbers for passage in passages])
    missing = [each for each in own_numbers if said_numbers.isdisjoint(each.keys)]
    apart = [each for each in own_numbers if nearest.evidence.numbers.isdisjoint(each.keys)]
    # A multiple-choice query names all values ("A) 15 B) 25"), so that the true one is no fact of its own.
    unchosen = [each for each in features.number_mentions if nearest.evidence.numbers.isdisjoint(each.keys)]
    others = [each for each in nearest.features.number_mentions if features.numbers_offered.isdisjoint(each.keys)]
    if missing or (unchosen and not own_numbers):
        if near >= SAID and others and is_short:
            is_near = all(any(_are_near(due, other) for other in others) for due in missing or unchosen)
            return AnswerCheck("undecided", "near_value") if is_near else AnswerCheck("incorrect", "other_value")
        if near >= SPOKEN_OF and (missing or others):
            return AnswerCheck("undecided", "facts_missing")
    elif (near >= SAID and share(own_words, nearest) >= SAID) or (own_numbers and near >= SPOKEN_OF):
        if apart and others:
            return AnswerCheck("undecided", "several_values")
        if _is_negated(sentence) != nearest.is_negated:
            return AnswerCheck("undecided", "negation")
        is_other = _names_other(nearest, features, asked)
        return AnswerCheck("undecided", "other_name") if is_other else AnswerCheck("correct", "same_facts")
    if share(own_words, nearest) < NOT_SPOKEN_OF and (missing or not own_numbers):
        return AnswerCheck("undecided", "other_subject")
    return AnswerCheck("undecided", "few_words")


def _are_near(due: Mention, other: Mention) -> bool:
    """Return whether two numbers agree apart from rounding or a power of a thousand."""
    values = [_PLAIN.match(mention.keys[0]) for mention in (due, other)]
    if not all(values):
        return False
    left, right = (float(value.group()) for value in values if value)
    if not left or not right:
        return left == right
    exponent = round(math.log10(left / right) / _DIGITS_OF_A_SCALE) * _DIGITS_OF_A_SCALE
    return bool(abs(left / right / 10.0**exponent - 1) <= ROUNDING)


def _names_other(passage: _Passage, truth: TextFeatures, asked: TextFeatures) -> bool:
    """Return whether the passage names something unknown to truth and query, and nothing that they name."""
    known = Evidence.from_features([truth, asked])
    named = [each for each in passage.features.entity_mentions if not known.words.issuperset(each.parts or each.keys)]
    due = [*truth.entity_mentions, *asked.entity_mentions]
    is_due_named = any(passage.evidence.words.issuperset(each.parts or each.keys) for each in due)
    return bool(named) and bool(due) and not is_due_named
