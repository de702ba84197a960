"""A sentence read as subject, verb and predicate, where closed lists of verbs leave no doubt; there is no parser."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from hcat.language.given_names import is_ordinary_word
from hcat.test_set.generation.english import (
    ADVERBS,
    AFTER_VERB,
    ALL_BASES,
    ANAPHORIC,
    ANY_VERB,
    AUDITOR,
    AUXILIARIES,
    BASES,
    COMMON_ENDINGS,
    COMMON_OPENERS,
    DANGLING,
    FINAL_ABBREVIATION,
    HEADS,
    INTRANSITIVE,
    LATE_VERB,
    LEAD,
    NEXT_CLAUSE,
    NO_ADVERBS,
    NO_GERUNDS,
    NO_PLURALS,
    NOUNS,
    ONE_PERIOD,
    OWN,
    PARENTHESES,
    PART,
    PAST,
    PERIOD,
    PLAIN_VERBS,
    PREPOSITION,
    PREPOSITION_END,
    SECOND_VERB,
    SINGLED_OUT,
    TAIL,
    THIRD,
    UNSPECIFIC,
    YEAR,
)

MAXIMUM_SUBJECT_WORDS: Final = 12
MAXIMUM_PREDICATE_WORDS: Final = 28


@dataclass(frozen=True, slots=True)
class Clause:
    """A sentence as subject, verb and predicate.

    Parameters
    ----------
    lead : str
        Period at its start ("in fiscal 2022"), empty without.
    subject : str
        As it stands in a question: speakers resolved, first word in lower case unless it is a name.
    verb : str
        The finite verb as written.
    base : str
        Its base form; empty for auxiliaries.
    predicate : str
        What follows, without what is cut off.
    tail : str
        What was cut off: comparisons, reasons, relative clauses.
    is_list_cut : bool
        Whether the cut may run through a list ("traditional, voluntary and other products").
    is_singular : bool or None
        Of the subject, where the verb tells.
    """

    lead: str
    subject: str
    verb: str
    base: str
    predicate: str
    tail: str
    is_singular: bool | None
    is_list_cut: bool


def common_words(text: str) -> frozenset[str]:
    """Return the words that a text writes in lower case, and with a capital where no sentence begins (``=Word``)."""
    small = set(re.findall(r"\b[a-z][a-z'-]+\b", text))
    if AUDITOR.search(text):  # another speaker's "we"
        small.add("=AUDITOR")
    return frozenset(small | {f"={word}" for word in re.findall(r"(?<=[a-z,] )[A-Z][\w'-]*", text)})


def lower_base(verb: str) -> str:
    """Return the base form of a finite verb, empty for an auxiliary."""
    lower = verb.lower()
    return "" if lower in AUXILIARIES else THIRD.get(lower) or PAST.get(lower) or lower


def _start(match: re.Match[str]) -> int:
    return match.start()


def read_clause(sentence: str, speaker: str, common: frozenset[str]) -> Clause | None:
    """Return a sentence as subject, verb and predicate; None where that is not plain."""
    text = PARENTHESES.sub("", sentence)[:-1].strip()
    if FINAL_ABBREVIATION.search(text):
        text += "."
    lead = ""
    match = LEAD.fullmatch(text)
    if match is not None:
        lead, text = match["lead"], match["rest"]
        lead = lead[0].lower() + lead[1:]
        text = text[0].upper() + text[1:]
    if '"' in text or "?" in text:
        return None
    verb, start, end = _find_verb(text)
    if verb is None:
        return None
    subject = _subject(text[:start].strip(), speaker, common, allows_participle=verb.lower() in AUXILIARIES)
    if subject is None:
        return None
    predicate = text[end:].strip()
    first, _, rest = predicate.partition(" ")
    if first in ADVERBS or (first.endswith("ly") and first not in NO_ADVERBS):
        predicate = rest
    cut = min(filter(None, (TAIL.search(predicate), SECOND_VERB.search(predicate))), key=_start, default=None)
    tail, is_list_cut = "", False
    if cut is not None:
        predicate, tail = predicate[: cut.start()].strip(), predicate[cut.start() :].strip()
        is_list_cut = cut.group() == ", " and re.search(r"\b(?:and|or)\b", tail[:80]) is not None
        if is_list_cut and re.match(r", [\w-]+(?:,| and| or)(?: |\Z)", tail):
            return None
    predicate = speak_for(predicate, speaker)
    if re.search(r"\b(?:\w+ing|\w+ly|of|separate|new|formal|certain|various|other)\Z", predicate) and tail:
        return None
    if lower_base(verb) not in INTRANSITIVE and lower_base(verb) and PREPOSITION.match(predicate):
        return None
    if not predicate or len(predicate.split()) > MAXIMUM_PREDICATE_WORDS or PREPOSITION_END.search(predicate):
        return None
    if any(word in DANGLING - OWN or word in ("we", "you", "i") for word in map(str.lower, PART.findall(predicate))):
        return None
    lower = verb.lower()
    base, is_singular = "", None
    is_speaker = subject in (speaker, "I")
    if lower in AUXILIARIES:
        if lower in ("is", "was", "has"):
            is_singular = True
        elif lower in ("are", "were", "have"):
            is_singular = is_speaker and subject != "I"
            if is_singular:
                lower = {"are": "is", "were": "was", "have": "has"}[lower]
    elif lower in THIRD:
        base, is_singular = THIRD[lower], True
    elif lower == "cost":
        base, is_singular = lower, False if subject.endswith("s") else None
    elif lower in PAST:
        base = PAST[lower]
    else:
        base, is_singular = lower, is_speaker and subject != "I"
    return Clause(lead, subject, lower, base, predicate, tail, is_singular, is_list_cut)


def _find_verb(text: str) -> tuple[str | None, int, int]:
    """Return the first finite verb and its span; None where there is none or it may be something else."""
    words = list(re.finditer(r"\S+", text))
    for position, match in enumerate(words[: MAXIMUM_SUBJECT_WORDS + 1]):
        word = match.group()
        lower = word.lower()
        if word != lower:
            continue
        is_verb = lower in AUXILIARIES or lower in THIRD or lower in PAST
        if not is_verb and lower in ALL_BASES and position:
            spoken = [each.group().lower() for each in words[:position] if each.group().lower() not in ADVERBS]
            is_verb = spoken in (["we"], ["you"])
        if not is_verb and lower in BASES and position:
            spoken = [each.group() for each in words[:position] if each.group().lower() not in ADVERBS]
            before = spoken[-1] if spoken else ""
            is_verb = before.lower() in ("we", "you") or (before.endswith("s") and lower not in ("cost", "support"))
        if not is_verb or position == 0:
            continue
        start, end = match.start(), match.end()
        words_before = text[:start].split()
        if words_before and words_before[-1].lower() in ADVERBS:
            start = text[:start].rstrip().rfind(" ") + 1
            if start <= 0:
                return None, 0, 0
        if lower not in AUXILIARIES:
            rest = text[end:]
            following = rest.split(maxsplit=1)[:1]
            # "expenses incurred in 2021 were": a participle, and the verb comes later
            here = NEXT_CLAUSE.split(rest, maxsplit=1)[0].lower().split()
            # "assets recorded under leases were": a participle, and the auxiliary is the verb
            if lower in PAST and any(other in AUXILIARIES for other in here):
                continue
            if lower not in AUXILIARIES and (LATE_VERB.search(rest) or _has_plain_verb(here)):
                return None, 0, 0
            # "the notices seek payment for claims related to": an earlier word may be the verb
            if lower in PAST and any(each.group() in ALL_BASES for each in words[1:position]):
                return None, 0, 0
            if any(
                other in AUXILIARIES or other in ("include", "consist") or (other in THIRD and other not in NOUNS)
                for other in here
            ):
                return None, 0, 0
            coordinated = " ".join(re.split("[,;:]", rest, maxsplit=1)[0].lower().split())
            if re.search(rf"(?:\band|\bor|,) (?:\w+ly )?(?:{ANY_VERB})\b", coordinated):
                return None, 0, 0
            if lower in NOUNS and not (following and AFTER_VERB.match(following[0])):
                return None, 0, 0
            if following and following[0] in ("by",):
                return None, 0, 0
        return word, start, end
    return None, 0, 0


def _has_plain_verb(words: Sequence[str]) -> bool:
    """Return whether a plural noun and then the base form of a verb stand among words ("requirements also apply")."""
    spoken = [word for word in words if word not in ADVERBS]
    return any(
        word in PLAIN_VERBS and before.endswith("s") and before not in NO_PLURALS
        for before, word in itertools.pairwise(spoken)
    )


def _subject(text: str, speaker: str, common: frozenset[str], *, allows_participle: bool) -> str | None:
    words = text.split()
    if not 1 <= len(words) <= MAXIMUM_SUBJECT_WORDS or PREPOSITION_END.search(text):
        return None
    if any(mark in text for mark in ",;:/\u2014") or not (text[0].isalpha() or text[0].isdigit()):
        return None
    lower = [word.lower() for word in words]
    if len(words) == 1 and lower[0] in ("we", "you"):
        return speaker if lower[0] == "we" else "I"
    banned = DANGLING | {
        "we",
        "you",
        "us",
        "i",
        "and/or",
        "no",
        "neither",
        "either",
        "each",
        "any",
        "some",
        "many",
        "most",
        "several",
        "one",
        "two",
        "certain",
        "both",
        "as",
        "in",
        "on",
        "at",
        "by",
        "to",
        "under",
        "with",
        "during",
        "for",
        "from",
        "after",
        "before",
        "upon",
        "through",
        "based",
        "given",
        "pursuant",
        "according",
        "other",
        "more",
        "additional",
        "first",
        "second",
        "third",
        "further",
        "none",
        "half",
        "not",
        "every",
        "various",
        "numerous",
        "similar",
        "new",
        "inside",
        "outside",
        "below",
        "above",
        "beyond",
        "within",
        "among",
        "between",
        "about",
        "over",
        "also",
        "included",
        "attached",
        "adjacent",
        "next",
        "like",
        "unlike",
        "across",
        "along",
        "around",
        "behind",
        "beneath",
        "beside",
        "besides",
        "despite",
        "throughout",
        "toward",
        "towards",
        "without",
        "off",
        "via",
        "per",
        "amounts",
        "examples",
    }
    if lower[0] in banned or any(word in DANGLING | {"we", "you", "us", "i", "not"} for word in lower[1:]):
        return None
    if lower[0].endswith("ly") or lower[0] in NO_GERUNDS or lower[-1].endswith(("ly", "ed")) or text[0].isdigit():
        return None
    # a capital pronoun or article inside: a heading stands before the sentence
    if any(word in ("The", "Our", "We", "In", "This", "These", "As", "For", "On", "A", "An") for word in words[1:]):
        return None
    if any(word in AUXILIARIES or (word in PAST and word != "cost" and not allows_participle) for word in lower[:-1]):
        return None
    if re.search(r"\d", text) and not re.search(rf"\b{YEAR}\b|[A-Z]\w*-?\d", text):
        return None
    return speak_for(_lower_first(text, words, common), speaker)


def _lower_first(text: str, words: list[str], common: frozenset[str]) -> str:
    first = words[0]
    is_name = len(words) > 1 and words[1][0].isupper()
    if first[1:] != first[1:].lower() or "." in first:
        return text
    is_common = first.lower() in ("the", "a", "an", "our", "your", "net", "total", "all")
    if not is_common and not is_name and first.lower() in common and "'" not in first:
        is_common = True
    if not is_common and not is_name and f"={first}" not in common and "'" not in first:
        # a name would stand somewhere else in the chunk with its capital
        is_common = (
            len(words) == 1
            or first.endswith(COMMON_ENDINGS)
            or first in COMMON_OPENERS
            or is_ordinary_word(first.lower())
        )
    return first.lower() + text[len(first) :] if is_common else text


def is_specific(subject: str, speaker: str) -> bool:
    """Return whether a subject says by itself what it is; "the agreement", "the obligations" and "assets" do not."""
    words = subject.split()
    if words[0].lower() in THIRD or words[0].lower() in ("higher", "lower", "increased", "decreased", "improved"):
        return False
    if re.search(r"\b(\w{3,}(?: \w+)?) \1\b", subject, re.IGNORECASE):  # a heading stands before the sentence
        return False
    if words[0].lower() in ("the", "a", "an") and len(words) > 1 and words[1] in ANAPHORIC:
        return False
    if subject in (speaker, "I") or speaker in subject or any(word[0].isupper() or word[0].isdigit() for word in words):
        return not re.fullmatch(rf"{PERIOD}|{ONE_PERIOD}", subject, re.IGNORECASE)
    if subject == "management":
        return True
    if words[-1] in UNSPECIFIC and len(words) <= 3:
        return False
    if "similar" in words or len(words) == 1 or re.search(r"\b(?:of|for|in|under|to|on|from) the [a-z-]+\Z", subject):
        return False
    if words[0] == "the":
        if SINGLED_OUT.search(subject):
            return True
        has_link = any(word in ("of", "for", "in", "on", "to", "from", "under", "with") for word in words[2:])
        return (has_link and len(words) > 4) or (words[-1] in HEADS and len(words) > 3)
    return True


def speak_for(text: str, speaker: str) -> str:
    """Return a text with the first and second person replaced by what the asker would say."""
    for pattern, said in (
        (r"\b[Oo]ur\b", f"{speaker}'s"),
        (r"\bus\b", speaker),
        (r"\byour\b", "my"),
        (r"\bYour\b", "my"),
    ):
        text = re.sub(pattern, said, text)
    return text


def when_clause(clause: Clause) -> str:
    """Return the period of a clause with a blank before it, empty without one."""
    return f" {clause.lead}" if clause.lead else ""


def join_predicate(clause: Clause) -> str:
    """Return the predicate with what was cut off."""
    return re.sub(r" (?=[,;:])", "", f"{clause.predicate} {clause.tail}").strip()


def do_form(clause: Clause) -> str:
    """Return the form of "do" that asks for the clause: did, does, do."""
    if clause.is_singular is None:
        return "did"
    return "does" if clause.is_singular else "do"


def be_form(clause: Clause) -> str:
    """Return the form of "be" that asks for the clause."""
    return "am" if clause.subject == "I" and clause.verb == "are" else clause.verb


def periods_only(text: str) -> str | None:
    """Return the periods of the end of a predicate, '' where there is nothing, None where there is anything else."""
    rest = text.strip().strip(",").strip()
    if not rest:
        return ""
    return f" {rest}" if re.fullmatch(PERIOD, rest, re.IGNORECASE) else None
