"""Read the plan of a plain English question: what is asked, auxiliary, subject, verb and the rest."""

import re
from dataclasses import dataclass
from typing import Final

from hcat.language.given_names import word_set
from hcat.test_set.perturbation.forms import third_person

MAXIMUM_SUBJECT_WORDS: Final = 7
"""A subject is seldom longer; further on a verb may belong to a clause of its own."""

_QUESTION_WORD = (
    r"what|which|who|whom|whose|when|where|why|how|under|until|by|at|on|in|into|for|from|to|with|after|before|up"
)
_AUXILIARY = r"do|does|did|can|could|will|would|should|must|may|might|is|are|was|were|has|have|had"
_PLAN = re.compile(
    rf"(?P<asked>(?:(?:{_QUESTION_WORD})\b(?:\s+[^\s?!.,:;]+){{0,6}}?\s+)?)(?P<auxiliary>{_AUXILIARY})\s+(?P<rest>[^?!]+)\?",
    re.IGNORECASE,
)
_LEAD = re.compile(
    r"(?P<lead>(?:According to|Based on|As of|In|For|At|During|On|Under)\s(?:\"[^\"]*\"|[^\"?!,;:])+),\s+"
    rf"(?=(?:{_QUESTION_WORD}|{_AUXILIARY})\b)"
)
_OPENING = re.compile(rf"\s*(?:{_AUXILIARY})\b", re.IGNORECASE)
_SECOND_QUESTION = re.compile(rf",?\s+(?:and|or)\s+(?:{_QUESTION_WORD}|{_AUXILIARY})\b", re.IGNORECASE)
_PRONOUNS: Final = frozenset({"i", "you", "we", "they", "he", "she", "it"})
_TO_BE: Final = frozenset({"is", "are", "was", "were"})
_TO_HAVE: Final = frozenset({"has", "have", "had"})
VERBS: Final = word_set("""
accept add affect allow appear apply approve arrive ask become begin belong block borrow bring buy calculate
cancel change charge choose close come complete compare consist contact contain continue contribute convert cost count
cover create decide deliver depend deposit describe determine differ disclose earn employ enable end exceed expect
expire explain extend finance find follow generate get give go grant grow happen have help hold identify include
increase influence invest issue keep last lead lend list lock log lose make manage measure mention move need obtain
occur offer open operate own pay perform plan prepare present produce protect provide publish raise reach receive
recognise recognize record reduce refer register relate rely remain renew repay report represent require reserve
return run save say sell send serve set show sign spend start state stay stop store submit support switch take tell
transfer turn use vary verify want withdraw work
""")
# nouns as well: a verb only where its object, a preposition or the end follows
_AMBIGUOUS: Final = word_set("""
approach block change charge close contact cost count cover deposit end finance help hold increase influence issue
last lead list lock log measure mention move need offer open plan present produce raise reach record register report
reserve return run save set show sign start state stay stop store support switch transfer turn use work
""")
_ADVERBS: Final = word_set("last first also ever still already currently usually typically normally often not never")
_AFTER_VERB = re.compile(
    r"\Z|(?:an?|the|its?|my|your|our|their|his|her|this|these|those|any|all|every|each|some|more|at|up|to|for|in|on|of"
    r"|with|from|by|as|into|about|after|before|under|until|during|between|per|over|when|if|through|via)\b"
    r"|[$\u00a3\u20ac]?\d|[A-Z]"
)
_LATER = re.compile(r"(?:by|of|for|with|from|in|on|at|to|under)\b")
_NO_VERB_AFTER: Final = word_set("""
a an the this that these those my your our their his her its of for in on to with by from at and or any each every no
""")
# what a word in small letters can say of a subject with "is": "valid", "open", "charged"
_PREDICATE = re.compile(
    r"[a-z]+ed|been|built|given|held|kept|known|made|paid|put|sent|set|shown|sold|spent|taken|found|written|available|free|"
    r"possible|eligible|valid|required|necessary|mandatory|open|closed|due|insured|allowed|able|subject|liable|safe|higher|"
    r"lower|larger|smaller|refundable|deductible|payable|optional|responsible|likely|welcome"
)
_NO_PREDICATE = frozenset({"need", "feed", "speed", "deed", "seed", "bed", "fixed", "limited", "combined"})


@dataclass(frozen=True, slots=True)
class Plan:
    """The parts of a question, as they are written, without the question mark."""

    asked: str
    auxiliary: str
    subject: str
    verb: str
    rest: str

    @property
    def is_request(self) -> bool:
        """Whether the question asks somebody to do something ("can you write"), which no clause tells."""
        return self.is_yes_no and self.subject.lower() == "you" and self.auxiliary in ("can", "could", "will", "would")

    @property
    def is_yes_no(self) -> bool:
        """Whether the question is answered by yes or no."""
        return not self.asked

    def tell(self, *, is_denied: bool = False) -> str:
        """Return the question told as a clause: "the Pier Account includes breakdown cover", or its denial."""
        auxiliary, tail = self.auxiliary, f"{self.verb} {self.rest}".strip()
        if is_denied:
            clause = f"{self.subject} cannot {tail}" if auxiliary == "can" else f"{self.subject} {auxiliary} not {tail}"
        elif auxiliary in ("do", "does"):
            verb, _, behind = tail.partition(" ")
            clause = f"{self.subject} {third_person(verb) if auxiliary == 'does' else verb} {behind}".strip()
        else:
            clause = f"{self.subject} {auxiliary} {tail}"
        return f"{self.asked} {clause}".strip()


def split_lead(text: str) -> tuple[str, str]:
    """Return the phrase that leads into a question, without its comma, or an empty text, and the question."""
    stripped = text.strip()
    match = _LEAD.match(stripped)
    if match is None:
        return "", stripped
    main = stripped[match.end() :]
    return match["lead"], main[:1].upper() + main[1:]


def starts_with_auxiliary(text: str) -> bool:
    """Return whether the text opens as a question of yes or no does."""
    return _OPENING.match(text) is not None


def read_plan(text: str) -> Plan | None:
    """Return the plan of a text that is one plain question, or None."""
    match = _PLAN.fullmatch(text.strip())
    if match is None or _SECOND_QUESTION.search(match["rest"]):
        return None
    asked, auxiliary, rest = match["asked"].strip(), match["auxiliary"].lower(), match["rest"].strip()
    if asked and asked.split()[-1].lower() in ("a", "an", "the", "of"):
        return None
    words = rest.split()
    asked = asked[:1].lower() + asked[1:]
    if words[0].lower() in _PRONOUNS and len(words) > 1:
        if auxiliary in _TO_BE | _TO_HAVE and not _PREDICATE.fullmatch(words[1]):
            return None
        if auxiliary in ("do", "does", "did") and words[1].lower() not in VERBS:
            return None
        return None if auxiliary == "did" else Plan(asked, auxiliary, words[0], words[1], " ".join(words[2:]))
    for position in range(1, min(len(words), MAXIMUM_SUBJECT_WORDS + 1)):
        word, before = words[position].strip(), words[position - 1].lower()
        if before in _NO_VERB_AFTER or word.endswith((",", ":", ";")) or before.endswith((",", ":", ";")):
            continue
        behind = " ".join(words[position + 1 :])
        if auxiliary in _TO_BE | _TO_HAVE:
            found = _PREDICATE.fullmatch(word) is not None and word not in _NO_PREDICATE
        else:
            found = word in VERBS and (word not in _AMBIGUOUS or _AFTER_VERB.match(behind) is not None)
            # a noun as well ends a question of yes or no: "does the account include breakdown cover"
            found = found and not (word in _AMBIGUOUS and not behind and not asked)
        if found and before in _ADVERBS:
            return None
        # "can a savings plan by standing order start": the verb may come later
        if found and word in _AMBIGUOUS and _LATER.match(behind) and not VERBS.isdisjoint(behind.lower().split()):
            return None
        if found:
            subject = " ".join(words[:position])
            return None if auxiliary in ("did", "has", "have", "had") else Plan(asked, auxiliary, subject, word, behind)
    return None
