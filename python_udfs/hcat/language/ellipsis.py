"""Read a short answer together with its question: what "No.", "True." or "B) 12 euros." claims.

A "yes" claims the statement that the question asks about, and a "no" denies it. A classifier reads the statement, and
for a "no" entailment and contradiction change places. Of some fifteen readings of the same 419 public questions, that
form ranked best (docs/model-card.md); no set was left out. Words alone are read behind their question.
"""

import re
from pathlib import Path
from typing import NamedTuple

from hcat.language.claims import claims_nothing
from hcat.language.expressions import read_expressions

_WRITTEN = read_expressions(Path(__file__).with_suffix(".yml"))
_INTRODUCTION, _LABEL, _POLARITY, _SHORT_FORM, _DENIES, _TRUE_OR_FALSE, _YES_OR_NO = (
    re.compile(_WRITTEN[name], re.IGNORECASE)
    for name in ("introduction", "label", "polarity", "short_form", "denies", "true_or_false", "yes_or_no")
)
_CHOICE, _ASKED, _PRONOUN, _VERB, _OPENS_A_FRAGMENT = (
    re.compile(_WRITTEN[name], re.IGNORECASE) for name in ("choice", "asked", "pronoun", "verb", "opens_a_fragment")
)
_DUMMY = frozenset({"do", "does", "did"})
_WORD = re.compile(r"\w+")
_WORDS_OF_AN_ANSWER = 2
_WORDS_OF_A_FRAGMENT = 5


class Claim(NamedTuple):
    """What a sentence claims, as a text that evidence may entail; `is_denied` if the sentence says that it is false."""

    text: str
    is_denied: bool = False
    is_elliptic: bool = False


def strip_introduction(sentence: str) -> str:
    """Return a sentence without what says who says it, or that an answer follows."""
    said = _INTRODUCTION.sub("", sentence, count=1)
    return sentence if said == sentence else said[:1].upper() + said[1:]


def strip_label(sentence: str) -> str:
    """Return a sentence without an introduction, without "Answer B)" and without a bare yes or no before it."""
    sentence = strip_introduction(sentence)
    said = sentence[_LABEL.match(sentence).end() :]  # type: ignore[union-attr]
    polarity = _POLARITY.match(said)
    reason = said[polarity.end() :] if polarity else said
    return "" if polarity and _SHORT_FORM.match(reason) else reason


def read_claim(sentence: str, question: str) -> Claim:
    """Return what an answer sentence claims, read with its question if it is too short to stand alone."""
    sentence = strip_introduction(sentence)
    label = _LABEL.match(sentence)
    said = sentence[label.end() :] if label else sentence
    if not said and label and label["letter"]:
        said = _find_option(label["letter"], question)
    polarity = _POLARITY.match(said)
    if polarity:
        reason = said[polarity.end() :]
        statement = _state(question)
        if not _SHORT_FORM.match(reason):
            return Claim(reason[:1].upper() + reason[1:])
        return Claim(statement, polarity["no"] is not None, True) if statement else Claim(sentence)
    if _WORD.search(said) and _SHORT_FORM.match(said) and (statement := _state(question)):
        return Claim(statement, _DENIES.search(said) is not None, True)
    if not said:
        return Claim(sentence)
    asked = _CHOICE.sub("", question)
    count = len(_WORD.findall(said))
    # "Students pay nothing." has a verb of its own: three words are a fragment only where they begin like one
    is_short = count <= _WORDS_OF_AN_ANSWER or (count <= _WORDS_OF_A_FRAGMENT and _OPENS_A_FRAGMENT.match(said))
    # a greeting answers no question
    is_fragment = is_short and not (_VERB.search(said) or _PRONOUN.match(said) or _is_talk(said))
    return Claim(f"{asked} {said}", False, True) if asked and is_fragment else Claim(said)


def _is_talk(said: str) -> bool:
    """Return whether a text claims nothing and gives no number: "12." answers a question, "Hello!" does not."""
    return claims_nothing(said) and not any(character.isdigit() for character in said)


def _find_option(letter: str, question: str) -> str:
    found = re.search(
        rf"(?:\A|\s)\(?{letter}[).:]\s+(.+?)(?=\s+\(?[A-H][).:]\s|\Z)", question, re.IGNORECASE | re.DOTALL
    )
    return found[1] if found else ""


def _state(question: str) -> str:
    """Return the statement that a yes/no question asks about, or an empty string for any other question."""
    told = _TRUE_OR_FALSE.match(question)
    if told:
        statement = question[told.end() :].rstrip("? ")
    else:
        asked = _ASKED.fullmatch(_YES_OR_NO.sub("?", question.strip()))
        if asked is None:
            return ""
        verb, rest = asked["verb"].lower(), asked["rest"].strip()
        subject = _PRONOUN.match(rest)
        if verb in _DUMMY:
            statement = rest
        elif subject:
            statement = f"{subject[0]} {verb}{rest[subject.end() :]}"
        else:
            statement = rest  # where the subject ends is unknown; a classifier reads it without its verb
    return statement[:1].upper() + statement[1:].rstrip(".") + "."
