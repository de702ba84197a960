"""Patterns of facts: each asks for a part of one whole sentence, which is then the answer, right by construction.

A pattern says which verbs it reads, what must follow them, and what is asked. The first that reads a clause gives the
fact. The kinds of answers are those of the raw contract.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from hcat.language.features import extract_features
from hcat.test_set.generation.clauses import Clause
from hcat.test_set.generation.english import (
    AMOUNT,
    CHANGES,
    COMPANY,
    EVENT_DATE,
    EVENT_END,
    HEDGE,
    MONEY,
    PERCENT,
    PERIOD,
    PLAIN,
    UNIT,
    YEAR,
)


class Fact(NamedTuple):
    """A question (without capital, document and question mark), the sentence that answers it, and its part that does.

    ``names`` are the proper names in the question. ``needs_document`` says that it is clear only beside the name of its
    document. ``event`` is what happened, as a clause in the past tense; empty for other facts.
    """

    question: str
    sentence: str
    answer: str
    pattern: str
    answer_type: str
    difficulty: str
    names: tuple[str, ...]
    needs_document: bool
    position: int
    event: str = ""


class Pattern(NamedTuple):
    """What is read and what is asked: the predicate has to match as a whole, and its group ``answer`` answers.

    ``verbs`` are base forms; "be" and "have" stand for themselves, and "*" for any other one. ``tense`` and ``subject``
    restrict the clause, and ``needs`` names what the question must have: a period, or one unless it is in the present.
    """

    name: str
    verbs: str
    predicate: str
    question: str
    answer_type: str
    difficulty: str
    tense: str = ""
    subject: str = ""
    needs: str = ""


_WHEN = rf"(?P<when> {PERIOD})?"
_CHANGES = " ".join(sorted(CHANGES))
_NAME = r"(?!The |Management)[A-Z][\w'&-]{2,}(?: (?:[A-Z][\w'&-]*|of|and|for|the))*(?<!Company)(?<!Board)"
_NO_COMPANY = r"(?!(?i:the company|the bank|the firm|the group|the corporation|management|entities|companies)\Z).*"
_PARTS = (
    r"components?|sources?|products?|factors?|categories|segments|competitors|types|uses|markets|brands|objectives?"
)
_SPENDING = (
    "pay invest spend record recognize incur receive borrow raise contribute repay generate charge have issue sell"
    " redeem fund grant realize provide earn"
)
_MANNERS = (
    "recognized|measured|recorded|amortized|depreciated|determined|calculated|classified|valued|stated|reported|"
    "accounted for|translated|tested for impairment|computed|estimated|allocated|expensed|capitalized|paid|carried|"
    "assessed|reviewed|evaluated|funded|financed|charged|sold|distributed|manufactured|settled|secured|presented"
)
_DOERS = (
    "manufactured|examined|regulated|managed|audited|owned|operated|performed|conducted|provided|administered|issued|"
    "developed|approved|overseen|supervised|guaranteed|designed|filed|governed|led|held|reviewed"
)
_STATES = (
    "responsible for|based on|subject to|exposed to|engaged in|known as|entitled to|dependent on|eligible for|used for|"
    "tied to|linked to|composed of|comprised of|made up of|divided into|organized into"
)
_HOW_OFTEN = "(?:(?:generally|primarily|initially|typically|also|principally|then) )?"

#: In the order in which they are tried.
PATTERNS: Final = (
    Pattern(
        "reason",
        _CHANGES,
        rf"(?!.*\boffset\b)(?:.*? )??(?:(?P<when>{PERIOD}),? )?"
        r"(?:(?:primarily|mainly|largely|principally) )?(?:due to|driven by|as a result of|because of|attributable to|"
        r"resulting from|reflecting) \w+ \w+ .+",
        "why did {subject} {base} {when}",
        "description",
        "medium",
        tense="past",
        needs="period",
    ),
    Pattern(
        "change",
        _CHANGES,
        rf"(?:by )?(?P<answer>{HEDGE}(?:{MONEY}|{PERCENT}))(?:,? (?:or|and) (?:by )?{AMOUNT},?)?"
        rf"(?: (?:from {AMOUNT} )?to {AMOUNT})?{_WHEN}",
        "by how much did {subject} {base}{when}",
        "numeric",
        "medium",
        tense="past",
        needs="period",
    ),
    Pattern(
        "total",
        "total amount",
        rf"(?P<to>to )?(?P<answer>{AMOUNT}){_WHEN}",
        "what {do} {subject} {base} {to}{when}",
        "numeric",
        "easy",
        needs="period",
    ),
    Pattern(
        "amount",
        "be",
        rf"(?P<answer>{AMOUNT}{UNIT}){_WHEN}",
        "what {be} {subject}{when}",
        "numeric",
        "easy",
        needs="period of the past",
    ),
    Pattern(
        "share",
        "account own hold comprise generate",
        rf"(?P<for>for )?(?P<answer>{HEDGE}{PERCENT}) of (?P<what>[^,$%]+?){_WHEN}",
        "what percentage of {what} {do} {subject} {base} {for}{when}",
        "numeric",
        "medium",
        needs="period of the past",
    ),
    Pattern(
        "quantity",
        "cost",
        rf"(?P<answer>{HEDGE}{MONEY}(?: (?:a|per) (?:year|month|day|week|share))?)(?: and .+?)?{_WHEN}",
        "how much {do} {subject} cost{when}",
        "numeric",
        "easy",
    ),
    Pattern(
        "quantity",
        _SPENDING,
        rf"(?P<answer>{HEDGE}{MONEY}) (?P<rest>(?:in|for|to|on|under|into|through|from|with) (?!{YEAR})[^$%]+?){_WHEN}",
        "how much {do} {subject} {base} {rest}{when}",
        "numeric",
        "medium",
        needs="period of the past",
    ),
    Pattern(
        "quantity",
        _SPENDING,
        rf"(?P<answer>{HEDGE}{MONEY}) of (?P<what>[^$%]+?){_WHEN}",
        "what amount of {what} {do} {subject} {base}{when}",
        "numeric",
        "medium",
        needs="period of the past",
    ),
    Pattern(
        "quantity",
        "take last",
        rf"(?P<answer>{HEDGE}{PLAIN} (?:\w+ )?(?:years?|months?|days?|hours?|minutes?|weeks?))\b(?: to clear)?",
        "how long {do} {subject} {base}",
        "numeric",
        "easy",
    ),
    Pattern(
        "quantity",
        "have *",
        rf"(?P<answer>{HEDGE}{PLAIN} (?P<what>(?!(?:hundred|million|billion|years?|months?|days?|hours?|weeks?)\b)"
        r"(?:[a-z-]+ ){0,3}?[a-z-]*[^\Wsu]s))"
        rf"(?P<rest>(?: (?:in|of|for|at|with|across|under|to|on)\b[^$%]*?)?){_WHEN}",
        "how many {what} {do} {subject} {base}{rest}{when}",
        "numeric",
        "easy",
        subject="(?!I\\Z).+",
    ),
    Pattern(
        "agent",
        "be",
        rf"(?P<how>{_DOERS}) by (?P<answer>(?!reference|the end|us\b|using|applying|{YEAR})(?:[\w'.&-]+ ?){{2,14}})",
        "by whom {be} {subject} {how}{when}",
        "human",
        "easy",
    ),
    Pattern(
        "means",
        "use utilize maintain hold employ purchase establish conduct perform",
        r"(?P<answer>(?!to )(?:[\w'.&,-]+ ){0,7}?(?!in |due |up |related |subject |ability |rights? |from |as )"
        r"[\w'.&-]+) to (?P<end>(?!the |an? |our |its |be |date )[a-z]+ \S+ \S+ \S.*)",
        "what {do} {subject} {base} to {end}",
        "entity",
        "medium",
    ),
    Pattern(
        "definition",
        "be",
        r"(?:an?|the|our|one of the) (?:\S+ ){3,}\S+",
        "what {be} {subject}",
        "description",
        "easy",
        tense="present",
        subject=_NAME,
    ),
    Pattern(
        "parts",
        "be",
        r"(?P<answer>(?!not |subject |also |more |less |very |highly |\w+ed |\w+ing )(?:\S+ ){3,}\S+)",
        "what {be} {subject}",
        "entity",
        "medium",
        tense="present",
        subject=rf"(?:the )?(?:[\w-]+ )?(?:{_PARTS}) (?:of|for|in) .+|.+'s (?:[\w-]+ )*(?:{_PARTS})",
    ),
    Pattern(
        "place",
        "be",
        r"(?:principally |primarily )?(?P<how>located|headquartered|based|situated|incorporated|domiciled|organized) "
        r"(?P<answer>(?:in|at|on) .*[A-Z].*)",
        "where {be} {subject} {how}",
        "location",
        "easy",
    ),
    Pattern(
        "manner",
        "be",
        rf"{_HOW_OFTEN}(?P<how>{_MANNERS}) (?P<answer>(?:when|upon) \S+ \S.+)",
        "when {be} {subject} {how}",
        "description",
        "medium",
        tense="present",
    ),
    Pattern(
        "manner",
        "be",
        rf"{_HOW_OFTEN}(?P<how>{_MANNERS}) (?P<answer>(?:over|at|using|on an?|on the|based on|through|as|under|in "
        rf"accordance with|ratably|annually|monthly|daily|quarterly)\b \S+ \S.*)",
        "how {be} {subject} {how}",
        "description",
        "medium",
        tense="present",
    ),
    Pattern(
        "purpose",
        "be",
        r"(?P<how>designed|intended|required|permitted|obligated|entitled|allowed) (?P<answer>to \S+ \S+ \S.+)",
        "what {be} {subject} {how} to do",
        "description",
        "medium",
        tense="present",
        subject=_NO_COMPANY,
    ),
    Pattern(
        "purpose",
        "be",
        rf"(?P<how>{_STATES}) (?P<answer>\S+ .+)",
        "what {be} {subject} {how}",
        "description",
        "medium",
        tense="present",
        subject=_NO_COMPANY,
    ),
    Pattern("purpose", "be", r"valid for (?P<answer>.+)", "for how long {be} {subject} valid", "numeric", "easy"),
    Pattern(
        "purpose",
        "depend rely",
        r"(?:up)?on (?P<answer>.+)",
        "what {do} {subject} {base} on",
        "description",
        "medium",
        tense="present",
        subject=_NO_COMPANY,
    ),
    Pattern(
        "purpose",
        "need",
        r"(?P<answer>.+?) (?P<end>(?:to [a-z]+|for (?:a|an|the)) .+)",
        "what do I need {end}",
        "entity",
        "easy",
        tense="present",
        subject="I",
    ),
    Pattern(
        "purpose",
        "need require",
        r"(?P<answer>(?!to |no |neither )\S+ .+)",
        "what {do} {subject} {base}",
        "entity",
        "easy",
        tense="present",
        subject=rf"(?!I\Z){_NO_COMPANY}",
    ),
    Pattern(
        "parts",
        "consist",
        r"of (?P<answer>(?:\S+ ){2,}\S+)",
        "what {do} {subject} consist of",
        "entity",
        "medium",
        tense="present",
    ),
    Pattern(
        "parts",
        "comprise include",
        r"(?P<answer>(?!.*\bnot limited\b)(?=.*(?:,| and | or ))(?:\S+ ){3,}\S+)",
        "what {do} {subject} {base}",
        "entity",
        "medium",
        tense="present",
    ),
    Pattern(
        "term",
        "expire arrive end begin start commence close terminate",
        rf"(?P<answer>(?:in|within|on|at|after|{PLAIN})\b.*)",
        "when {do} {subject} {base}",
        "numeric",
        "easy",
        tense="present",
    ),
)
_COMPILED = [(each, set(each.verbs.split()), re.compile(each.predicate)) for each in PATTERNS]
#: With "also" these would ask for a part of the parts; with a period in front they hold for it alone.
_WHOLE = frozenset(("reason", "parts", "manner"))
_TIMELESS = frozenset(("means", "definition", "parts", "place", "manner"))
_ASKED_BY_OTHERS = frozenset((*CHANGES, "total", "amount", "include", "expect", "believe", "account", "exceed"))


def make_fact(
    sentence: str,
    position: int,
    question: str,
    pattern: str,
    answer_type: str,
    difficulty: str,
    answer: str = "",
    event: str = "",
) -> Fact:
    """Return the fact, with the names in its question and whether the question needs its document."""
    question = " ".join(question.split())
    features = extract_features(question[0].upper() + question[1:])
    names = tuple(dict.fromkeys(features.entities))
    # a title alone says who: "the company" and "net sales" belong to a document
    is_clear = any(len(mention.surface.split()) > 1 for mention in features.entity_mentions)
    needs_document = COMPANY.search(question) is not None or not is_clear
    return Fact(
        question, sentence, answer or sentence, pattern, answer_type, difficulty, names, needs_document, position, event
    )


def find_fact(sentence: str, position: int, clause: Clause) -> Fact | None:
    """Return the fact of the first pattern that reads a clause, None where none does."""
    event = _read_event(sentence, position, clause)
    if event is not None:
        return event
    verb = clause.base or ("have" if clause.verb in ("has", "have", "had") else "be")
    if not clause.base and clause.verb not in ("is", "are", "was", "were", "has", "have", "had"):
        return None
    tense = "past" if clause.is_singular is None or clause.verb in ("was", "were", "had") else "present"
    for pattern, verbs, predicate in _COMPILED:
        reads = verb in verbs or ("*" in verbs and clause.base and clause.base not in _ASKED_BY_OTHERS)
        if not reads or pattern.tense not in ("", tense) or (clause.lead and pattern.name in _TIMELESS):
            continue
        if (pattern.subject and not re.fullmatch(pattern.subject, clause.subject)) or (
            "also" in sentence.split() and pattern.name == "parts"
        ):
            continue
        match = predicate.fullmatch(clause.whole if pattern.name in _WHOLE else clause.predicate)
        if match is None:
            continue
        said = {name: value or "" for name, value in match.groupdict().items()}
        when = said.pop("when", "") or clause.when
        if not when and (pattern.needs == "period" or (pattern.needs and tense == "past")):
            continue
        question = pattern.question.format(
            subject=clause.subject, base="have" if verb == "have" else clause.base, be=clause.be,
            do=_do_form(clause), when=when, **said,
        )  # fmt: skip
        kind = (pattern.name, pattern.answer_type, pattern.difficulty)
        return make_fact(sentence, position, question, *kind, said.get("answer", "").strip(" ,;"))
    return None


def _do_form(clause: Clause) -> str:
    return {"had": "did", "has": "does", "have": "do"}.get(clause.verb, clause.do)


def _read_event(sentence: str, position: int, clause: Clause) -> Fact | None:
    """In June 2018, X submitted Y: when."""
    if clause.verb in ("was", "were") and clause.has_participle:
        verb, helper = "", clause.verb
    elif clause.base and clause.is_singular is None and clause.base not in _ASKED_BY_OTHERS:
        verb, helper = clause.base, "did"
    else:
        return None
    event, date = clause.predicate, clause.lead
    match = None if date else EVENT_END.fullmatch(event)
    if match is not None:
        event, date = match["event"], match["date"]
    words = event.split()
    if not EVENT_DATE.fullmatch(date) or re.search(rf"\b{YEAR}\b|\bsimilar\b", event) or not 1 <= len(words) <= 18:
        return None
    if re.fullmatch(rf"(?:the|an?|such) [a-z-]+(?: [a-z-]+)?|{AMOUNT}(?: \w+){{0,3}}|based .*|(?:into .*){{0}}", event):
        return None
    is_amount = re.search(rf"{AMOUNT} (?:shares|of)|\b{MONEY}", event) is not None
    if helper == "did" and (len(words) < 2 or (is_amount and verb in ("record", "recognize", "incur", "pay"))):
        return None
    asked = "in which year" if re.fullmatch(rf"in {YEAR}", date) else "when"
    asked = "in which fiscal year" if "fiscal" in date else asked
    question = f"{asked} {helper} {clause.subject} {verb} {event}"
    said = f"{clause.subject} {clause.verb} {event}"
    return make_fact(sentence, position, question, "event", "numeric", "easy", date.split(" ", 1)[1], said)
