"""Tell whether a sentence of an answer claims anything: greetings, headings and offers of help do not.

Such a sentence has no evidence in the passages and needs none. It is found by what it is about. A sentence about the
talk itself has only words of talking (help, question, glad) and function words; it has no number, no name and no third
person. A word that question or passages have speaks of their matter, unless it is always about the talk. Where words
are unknown, the head of wordings decides, under the same condition. A line that ends in a colon and only announces what
follows ("Here are the steps to fold a quilt:") has no words but those of question and passages.
"""

import re
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Final, NamedTuple

import yaml

from hcat.language.amounts import NUMBER_WORDS
from hcat.language.text import STOP_WORDS
from hcat.language.words import stem_word

#: A longer sentence claims something, whatever it begins with.
MAXIMUM_WORDS: Final = 20
#: Probability of the head of wordings from which a sentence without words of the matter is about the talk.
LEAST_TALK: Final = 0.85

_WORD = re.compile(r"[^\W\d_]+(?:['\u2019][^\W\d_]+)?")
_HEADING_WORDS = 8
_UNKNOWN_IN_A_REQUEST = 3
_UNKNOWN_IN_A_WISH = 2
_DIGIT = re.compile(r"\d")


_WORDS = yaml.safe_load(Path(__file__).with_name("talk.yml").read_text(encoding="utf-8"))
_STEMS = {name: frozenset(map(stem_word, words.split())) for name, words in _WORDS["stems"].items()}
_FORMS = {name: frozenset(words.split()) for name, words in _WORDS["forms"].items()}
_WISHES = _STEMS["wishes"]
_SAYS_NOTHING = STOP_WORDS | _FORMS["speakers"]
#: A sentence about the talk has one of these.
_TALK = _WISHES | _STEMS["talk"]
_OF_NO_MATTER = _TALK | _STEMS["plain"]
_KNOWN = _OF_NO_MATTER | _STEMS["beside"]
_ANNOUNCED = _KNOWN | _STEMS["announced"]
_DISCLAIMS, _SETTLES, _TELLING_QUESTION, _POLARITY, _SIGNED, _ANNOUNCES, _COUNTS_NOTHING = (
    re.compile("".join(_WORDS[name]), re.IGNORECASE)
    for name in ("disclaims", "settles", "telling_question", "polarity", "signed", "announces", "counts_nothing")
)


class Talk(NamedTuple):
    """Whether a sentence claims nothing: for sure, if the topic has no stem of one set, or has all that are within."""

    is_sure: bool
    unless: tuple[frozenset[str], ...] = ()
    within: frozenset[str] | None = None

    def claims_nothing(self, topic: AbstractSet[str]) -> bool:
        """Return whether the sentence claims nothing where the topic has these stems."""
        is_announced = self.within is not None and self.within <= topic
        return self.is_sure or is_announced or any(topic.isdisjoint(stems) for stems in self.unless)


def claims_nothing(sentence: str, topic: AbstractSet[str] = frozenset(), talk: float = 0.0) -> bool:
    """Return whether a sentence is a greeting, an offer, a heading, a lead-in or a question; the topic is of stems."""
    return read_talk(sentence, talk).claims_nothing(topic)


def read_talk(sentence: str, talk: float = 0.0) -> Talk:
    """Return whether a sentence claims nothing; the probability ``talk`` of the head outweighs no word of a topic."""
    words = [word.replace("\u2019", "'") for word in _WORD.findall(sentence)]
    if not words:
        return Talk(not _DIGIT.search(sentence) or re.fullmatch(r"\W*\d{1,2}[.)]\W*", sentence) is not None)
    folded = sentence.strip().rstrip("*_\"')]\u201d ")
    is_lead = folded.endswith(":")
    counted = _COUNTS_NOTHING.sub("", sentence) if is_lead else sentence
    if _DIGIT.search(counted) or _SETTLES.match(sentence) or ":" in folded[:-1]:
        return Talk(False)
    stems = frozenset([stem_word(word.lower()) for word in words if word.lower() not in _SAYS_NOTHING])
    if is_lead and _ANNOUNCES.match(folded):
        return Talk(len(words) <= _HEADING_WORDS, (), stems - _ANNOUNCED)
    if len(words) > MAXIMUM_WORDS:
        return Talk(False)
    # "In 2019 it was free:"
    is_verbless = counted == sentence or _FORMS["finite"].isdisjoint(word.lower() for word in words)
    is_heading = is_lead and len(words) <= _HEADING_WORDS and is_verbless
    is_question = folded.endswith("?") and _TELLING_QUESTION.match(folded) is None
    is_known = is_heading or is_question or _SIGNED.fullmatch(sentence) is not None
    disclaimed = _DISCLAIMS.search(sentence)
    unless = [frozenset(map(stem_word, _WORD.findall(disclaimed.group().lower())))] if disclaimed else []
    if _is_about_the_talk(words, stems, talk):
        unless.append(stems - _OF_NO_MATTER)
    return Talk(is_known, tuple(unless))


def is_bare_polarity(sentence: str) -> bool:
    """Return whether a sentence is a bare yes or no, which claims what the sentences beside it say."""
    return _POLARITY.fullmatch(sentence) is not None


def _is_about_the_talk(words: list[str], stems: AbstractSet[str], talk: float) -> bool:
    """Return whether the words are words of talking; a topic may have some of them as words of the matter."""
    folded = [word.lower() for word in words]
    if not _FORMS["third_person"].isdisjoint(folded):
        return False
    unknown = stems - _KNOWN
    names = {
        stem_word(word.lower()) for word in words[1:] if word[0].isupper() and word.lower() not in _FORMS["speakers"]
    }
    # "Four or more." answers how many
    counts = any(NUMBER_WORDS.get(word, 0) > 1 for word in folded)
    if not counts and talk >= LEAST_TALK:
        return True  # "Hi Martin, thanks for writing."
    if not unknown.isdisjoint(names):
        return False
    speaks, talks = not _FORMS["speakers"].isdisjoint(folded), not _TALK.isdisjoint(stems)
    asked = next((position for position, word in enumerate(folded[:6]) if word in _FORMS["addressed"]), None)
    if asked is not None and _FORMS["subjects"].isdisjoint(folded[:asked]) and len(unknown) <= _UNKNOWN_IN_A_REQUEST:
        return True  # "Drop me a line."
    is_wish = not _FORMS["wishing"].isdisjoint(folded[:3]) or (speaks and not _WISHES.isdisjoint(stems))
    of_speaker = not _FORMS["speaker"].isdisjoint(folded) and (talks or 2 * len(unknown) <= len(stems))
    if is_wish or of_speaker:
        return len(unknown) <= _UNKNOWN_IN_A_WISH
    # without a speaker it is an exclamation or a fragment, or asks for something
    return talks and not unknown and (speaks or folded[0] in _FORMS["openings"] or _FORMS["finite"].isdisjoint(folded))
