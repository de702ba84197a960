"""Patterns of facts: each asks for a part of one whole sentence, which is then the answer, right by construction.

The kinds of answers are those of the raw contract (abbreviation, entity, description, human, location, numeric).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from hcat.language.features import extract_features
from hcat.language.kinds import name_shape
from hcat.test_set.generation.clauses import Clause, be_form, do_form, join_predicate, periods_only, when_clause
from hcat.test_set.generation.english import (
    AMOUNT,
    AMOUNTS,
    CHANGES,
    COMPANY,
    COPULAS,
    DANGLING,
    DATE,
    EVENT_END,
    EVENT_LEAD,
    GENERIC_SUBJECTS,
    HEDGE,
    MONEY,
    PAST,
    PERCENT,
    PERIOD,
    PERIODS,
    PLAIN,
    UNIT,
    YEAR,
)
from hcat.test_set.generation.sentences import Statement


@dataclass(frozen=True, slots=True)
class Fact:
    """A question and its answer.

    Parameters
    ----------
    question : str
        Without capital at its start, without document and question mark: ``how many branches does the bank have``.
    sentence : str
        The sentence that answers it.
    answer : str
        Its part that does, where that is plain; else the sentence.
    pattern : str
        Name of the pattern.
    answer_type, difficulty : str
        As in the raw contract.
    names : tuple of str
        Proper names in the question, in the form that entities have (:func:`hcat.language.features.extract_features`).
    needs_document : bool
        Whether the question is clear only beside the name of its document ("the company", no proper name).
    position : int
        Number of the sentence in the chunk.
    event : str
        What happened, as a clause in the past tense ("the bank opened its first branch"); empty for other facts.
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


# Patterns
def make_fact(
    statement: Statement, question: str, pattern: str, answer_type: str, difficulty: str, answer: str | None = None
) -> Fact:
    """Return the fact, with the names in its question and whether the question needs its document."""
    question = " ".join(question.split())
    features = extract_features(question[0].upper() + question[1:])
    names = tuple(dict.fromkeys(features.entities))
    # a title alone says who: "the company" and "net sales" belong to a document
    needs_document = COMPANY.search(question) is not None or not any(
        len(mention.surface.split()) > 1 for mention in features.entity_mentions
    )
    return Fact(
        question,
        statement.text,
        answer or statement.text,
        pattern,
        answer_type,
        difficulty,
        names,
        needs_document,
        statement.position,
    )


def _reason(statement: Statement, clause: Clause) -> Fact | None:
    """X increased in 2021 primarily due to Y: why."""
    if clause.base not in CHANGES or clause.is_singular is not None:
        return None
    reason = re.search(
        r"(?:(?:primarily|mainly|largely|principally) )?(?:due to|driven by|as a result of|because of|attributable "
        r"to|resulting from|reflecting) (?P<why>.+)",
        f"{clause.predicate} {clause.tail}",
    )
    if reason is None or len(reason["why"].split()) < 3 or "offset" in clause.predicate:
        return None
    periods = PERIODS.search(clause.predicate)
    if periods and not re.match(r"(?:in|during|for|throughout)\b", periods.group()):
        return None
    when = f" {periods.group()}" if periods else when_clause(clause)
    if not when:
        return None
    return make_fact(statement, f"why did {clause.subject} {clause.base}{when}", "reason", "description", "medium")


def _change(statement: Statement, clause: Clause) -> Fact | None:
    """X increased 12% in fiscal 2022: by how much."""
    if clause.base not in CHANGES or clause.is_singular is not None:
        return None
    match = re.match(
        rf"(?:by )?(?P<amount>{HEDGE}(?:{MONEY}|{PERCENT}))(?:(?:,? or|,? and) (?:by )?{AMOUNT},?)?"
        rf"(?: (?:from {AMOUNT} )?to {AMOUNT})?(?P<rest>.*)",
        clause.predicate,
    )
    if match is None:
        return None
    when = periods_only(match["rest"])
    when = when if when else (when_clause(clause) if when == "" else None)
    if not when:
        return None
    question = f"by how much did {clause.subject} {clause.base}{when}"
    return make_fact(statement, question, "change", "numeric", "medium", match["amount"])


def _abound(statement: Statement, clause: Clause) -> Fact | None:
    """X totaled $5 million in 2021."""
    if clause.base not in ("total", "amount") or clause.is_singular is False:
        return None
    match = re.match(rf"(?:to )?(?P<amount>{AMOUNTS})(?P<rest>.*)", clause.predicate)
    if match is None:
        return None
    when = periods_only(match["rest"])
    if when is None:
        return None
    when = when or when_clause(clause)
    if not when:
        return None
    verb = "total" if clause.base == "total" else "amount to"
    question = f"what {do_form(clause)} {clause.subject} {verb}{when}"
    return make_fact(statement, question, "total", "numeric", "easy", match["amount"])


def _event(statement: Statement, clause: Clause) -> Fact | None:
    """In June 2018, X submitted Y: when."""
    if clause.verb in ("was", "were"):
        verb, helper = "", clause.verb
        first = clause.predicate.split()[0]
        if not (first in PAST or first.endswith("ed")) or first in ("based", "related", "located", "expected"):
            return None
    elif (
        clause.base
        and clause.is_singular is None
        and clause.base not in (*CHANGES, "total", "amount", "include", "expect", "believe", "account", "exceed")
    ):
        verb, helper = clause.base, "did"
    else:
        return None
    event, date = clause.predicate, clause.lead
    if not date:
        match = EVENT_END.fullmatch(clause.predicate)
        if match is None:
            return None
        event, date = match["event"], match["date"]
    if not EVENT_LEAD.fullmatch(date) or re.search(rf"\b{YEAR}\b", event):
        return None
    if re.search(r"\bsimilar\b|\A(?:the|a|an|such) [a-z-]+(?: [a-z-]+)?\Z", event) or re.match(
        rf"{AMOUNT}(?: \w+){{0,3}}\Z", event
    ):
        return None
    if re.match(r"into (?:an?|the) agreement with", event) and len(event.split()) < 8:
        return None
    if (
        helper == "did"
        and re.match(r"(?:to|for|from|on|in|by|at|of)\b", event)
        and verb not in ("agree", "apply", "begin", "commence")
    ):
        return None
    if len(event.split()) < (2 if helper == "did" else 1) or len(event.split()) > 18:
        return None
    if (
        re.search(rf"{AMOUNT} (?:shares|of)|\b{MONEY}", event)
        and helper == "did"
        and verb in ("record", "recognize", "incur", "pay", "repurchase")
    ):
        return None
    asked = "in which year" if re.fullmatch(rf"in (?:fiscal |fiscal year )?{YEAR}", date, re.IGNORECASE) else "when"
    if "fiscal" in date.lower():
        asked = "in which fiscal year"
    question = f"{asked} {helper} {clause.subject} {verb} {event}"
    answer = date.split(" ", 1)[1]
    fact = make_fact(statement, question, "event", "numeric", "easy", answer)
    return replace(fact, event=f"{clause.subject} {clause.verb} {event}")


def _amount_of_subject(statement: Statement, clause: Clause) -> Fact | None:
    """The effective tax rate was 21.5% in 2022."""
    if clause.verb not in COPULAS or clause.subject == "I":
        return None
    match = re.fullmatch(rf"(?P<amount>{AMOUNTS}{UNIT}(?: and {AMOUNT}{UNIT})?)(?P<rest>.*)", clause.predicate)
    if match is None:
        return None
    count_amounts = len(re.findall(AMOUNT, match["amount"]))
    count_periods = len(re.findall(rf"\b{YEAR}\b", match["rest"]))
    if count_amounts > 1 and (count_amounts != count_periods or "respectively" not in clause.tail):
        return None
    if re.fullmatch(PLAIN, match["amount"]) and match["amount"] in ("one", "two", "three"):
        return None
    when = periods_only(match["rest"])
    if when is None:
        return None
    when = when or when_clause(clause)
    if not when and re.search(r"\b(?:was|were)\b", clause.verb):
        return None
    if clause.tail.startswith((", which", "and ", ", and")):
        return None
    question = f"what {clause.verb} {clause.subject}{when}"
    return make_fact(statement, question, "amount", "numeric", "easy", match["amount"])


_ROLES_OF_MONEY = r"(?P<link>in|for|to|on|as|under|of|into|through|from|with) (?P<thing>.+)"


def _quantity(statement: Statement, clause: Clause) -> Fact | None:
    """X repurchased 15.7 million shares in 2021; X had 29,239 employees; X paid $5 million in dividends."""
    if clause.lead and re.search(rf"\b{YEAR}\b", clause.predicate):
        return None
    is_have = clause.verb in ("has", "have", "had")
    if not (is_have or clause.base) or clause.base in (*CHANGES, "total", "amount", "expect", "believe"):
        return None
    if is_have:
        helper = {"had": "did", "has": "does", "have": "do"}[clause.verb]
        verb = "have"
    else:
        helper, verb = do_form(clause), clause.base
    money = re.match(
        rf"(?P<amount>{HEDGE}{MONEY})(?P<per> (?:a|per) (?:year|month|day|week|share))?(?P<rest>.*)", clause.predicate
    )
    if money is not None:
        rest = money["rest"].strip()
        when = periods_only(rest)
        if verb == "cost" and (when is not None or rest.startswith("and ")):
            question = f"how much {helper} {clause.subject} cost{when or when_clause(clause)}"
            return make_fact(statement, question, "quantity", "numeric", "easy", money["amount"] + (money["per"] or ""))
        link = re.fullmatch(_ROLES_OF_MONEY, rest)
        if link is None or verb not in (
            "pay",
            "invest",
            "spend",
            "record",
            "recognize",
            "incur",
            "receive",
            "borrow",
            "raise",
            "contribute",
            "repay",
            "generate",
            "charge",
            "have",
            "issue",
            "sell",
            "redeem",
            "fund",
            "grant",
            "realize",
            "provide",
            "earn",
        ):
            return None
        thing = link["thing"]
        if re.search(rf"{MONEY}|{PERCENT}", thing) or " and $" in rest:
            return None
        if link["link"] == "of":
            question = f"what amount of {thing} {helper} {clause.subject} {verb}{when_clause(clause)}"
            periods = PERIODS.search(thing)
            if periods:
                bare = (thing[: periods.start()] + thing[periods.end() :]).strip()
                if not bare or periods.end() != len(thing):
                    return None
                question = f"what amount of {bare} {helper} {clause.subject} {verb} {periods.group()}"
        else:
            if re.match(YEAR, thing) or link["link"] == "as":
                return None
            question = f"how much {helper} {clause.subject} {verb} {rest}{when_clause(clause)}"
        if not (when_clause(clause) or PERIODS.search(rest)) and helper == "did":
            return None
        return make_fact(statement, question, "quantity", "numeric", "medium", money["amount"])
    count = re.match(
        rf"(?P<amount>{HEDGE}{PLAIN}) (?P<noun>(?:[a-z-]+ ){{0,4}}[a-z-]*s)(?= |$)(?P<rest>.*)", clause.predicate
    )
    if count is None or clause.subject == "I":
        return None
    noun = count["noun"]
    if noun.split()[0] in ("hundred", "thousand", "million", "billion", "trillion"):
        return None
    if re.match(r"(?:years?|months?|days?|hours?|minutes?|weeks?)\b", noun):
        if verb in ("take", "last"):
            return make_fact(
                statement,
                f"how long {helper} {clause.subject} {verb}",
                "quantity",
                "numeric",
                "easy",
                f"{count['amount']} {noun.split()[0]}",
            )
        return None
    if re.search(r"\b(?:is|was|as|has|does|this|its|less|across|plus|versus|basis|analysis)\Z", noun) or count[
        "amount"
    ] in ("one",):
        return None
    if re.search(rf"{MONEY}|{PERCENT}", count["rest"]) or (count["rest"].lstrip().startswith(("and ", "or "))):
        return None
    noun_words = noun.split()
    # "12 reportable segments in ..." : the noun ends before the first preposition
    for index, word in enumerate(noun_words):
        if word in (
            "of",
            "in",
            "for",
            "to",
            "on",
            "with",
            "from",
            "and",
            "or",
            "at",
            "by",
            "the",
            "that",
            "under",
            "per",
        ):
            if index == 0 or not noun_words[index - 1].endswith("s"):
                return None
            count_rest = " ".join(noun_words[index:]) + count["rest"]
            noun_words = noun_words[:index]
            break
    else:
        count_rest = count["rest"].strip()
    if re.match(r"\w+(?:ed|ing)\b", count_rest):
        return None
    if re.search(r"\b(?:and|or)\b", count_rest) and not PERIODS.search(count_rest):
        return None
    question = f"how many {' '.join(noun_words)} {helper} {clause.subject} {verb} {count_rest}{when_clause(clause)}"
    return make_fact(statement, question, "quantity", "numeric", "easy", f"{count['amount']} {' '.join(noun_words)}")


def _share(statement: Statement, clause: Clause) -> Fact | None:
    """The five largest customers accounted for 48% of net sales in 2019."""
    match = re.fullmatch(
        rf"(?:for )?(?P<amount>{HEDGE}{PERCENT}) of (?P<whole>[^,]+?)(?P<when> {PERIOD})?", clause.predicate
    )
    if match is None or clause.base not in ("account", "own", "hold", "comprise", "generate"):
        return None
    if re.search(rf"{AMOUNT}|\band {PERCENT}", match["whole"]):
        return None
    when = match["when"] or when_clause(clause)
    if not when and clause.is_singular is None:
        return None
    verb = "account for" if clause.base == "account" else clause.base
    question = f"what percentage of {match['whole']} {do_form(clause)} {clause.subject} {verb}{when}"
    return make_fact(statement, question, "share", "numeric", "medium", match["amount"])


def _agent(statement: Statement, clause: Clause) -> Fact | None:
    """Devices are manufactured by contract manufacturers: by whom."""
    if clause.verb not in ("is", "are", "was", "were"):
        return None
    match = re.fullmatch(
        r"(?P<how>manufactured|examined|regulated|managed|audited|owned|operated|performed|conducted|provided|"
        r"administered|"
        r"issued|developed|approved|overseen|supervised|guaranteed|designed|filed|governed|led|held|reviewed) by "
        r"(?P<who>(?:[\w'.&-]+ ?){2,14})",
        clause.predicate,
    )
    if (
        match is None
        or re.match(r"(?:reference|the end|us\b|using|applying|management's)", match["who"])
        or clause.is_list_cut
    ):
        return None
    if re.search(rf"\b{YEAR}\b|ing\b", match["who"].split()[0]):
        return None
    question = f"by whom {clause.verb} {clause.subject} {match['how']}{when_clause(clause)}"
    return make_fact(statement, question, "agent", "human", "easy", match["who"])


def _means(statement: Statement, clause: Clause) -> Fact | None:
    """The company maintains trusts to fund its pensions: what does it maintain to fund them."""
    if clause.base not in (
        "use",
        "utilize",
        "maintain",
        "hold",
        "employ",
        "purchase",
        "establish",
        "conduct",
        "perform",
    ):
        return None
    if clause.is_list_cut or clause.lead:
        return None
    match = re.fullmatch(r"(?P<means>(?!to )(?:[\w'.&,-]+ ){1,8}?)to (?P<end>[a-z]+ .+)", clause.predicate)
    if (
        match is None
        or len(match["end"].split()) < 4
        or re.search(r"\b(?:in|due|up|related|subject|ability|right|rights|from|as) \Z", match["means"])
    ):
        return None
    if match["end"].split()[0] in ("the", "a", "our", "its", "be", "date") or match["end"].split()[0] in PAST:
        return None
    question = f"what {do_form(clause)} {clause.subject} {clause.base} to {match['end']}"
    return make_fact(statement, question, "means", "entity", "medium", match["means"].strip())


def _definition(statement: Statement, clause: Clause) -> Fact | None:
    """Adobe Sensei is a ...: what is it."""
    if clause.verb not in ("is", "are") or clause.lead:
        return None
    if not re.match(r"(?:a|an|the|our|one of the) ", clause.predicate) or len(clause.predicate.split()) < 5:
        return None
    words = clause.subject.split()
    is_name = len(words) >= 1 and all(word[0].isupper() or word in ("of", "and", "for", "the") for word in words)
    if (
        not is_name
        or name_shape(clause.subject)[0] in ("person", "weekday", "address")
        or words[-1] in ("Company", "Board", "Bank")
    ):
        return None
    if words[0] in ("The", "Management") or (len(words) == 1 and len(words[0]) < 4):
        return None
    return make_fact(statement, f"what {clause.verb} {clause.subject}", "definition", "description", "easy")


def _components(statement: Statement, clause: Clause) -> Fact | None:
    """The major components of accrued liabilities are A, B and C."""
    if clause.verb not in ("is", "are") or clause.lead or len(join_predicate(clause).split()) < 4:
        return None
    head = (
        r"components?|sources?|products?|factors?|categories|segments|competitors|types|uses|markets|brands|objectives?"
    )
    if not re.match(rf"(?:the )?(?:[\w-]+ )?(?:{head}) (?:of|for|in) |.+'s (?:[\w-]+ )*(?:{head})\Z", clause.subject):
        return None
    if re.match(r"(?:not|subject|also|more|less|very|highly|\w+ed|\w+ing)\b", clause.predicate):
        return None
    return make_fact(
        statement, f"what {clause.verb} {clause.subject}", "parts", "entity", "medium", join_predicate(clause)
    )


def _place(statement: Statement, clause: Clause) -> Fact | None:
    if clause.verb not in ("is", "are", "was") or clause.lead:
        return None
    match = re.fullmatch(
        r"(?P<how>(?:principally |primarily )?(?:located|headquartered|based|situated|incorporated|domiciled|"
        r"organized)) (?P<where>(?:in|at|on) .*)",
        clause.predicate,
    )
    if match is None or not re.search(r"[A-Z]", match["where"]):
        return None
    how = match["how"].split()[-1]
    return make_fact(
        statement, f"where {clause.verb} {clause.subject} {how}", "place", "location", "easy", match["where"]
    )


_MANNERS = (
    "recognized|measured|recorded|amortized|depreciated|determined|calculated|classified|valued|stated|reported|"
    "accounted for|translated|tested for impairment|computed|estimated|allocated|expensed|capitalized|paid|carried|"
    "assessed|reviewed|evaluated|funded|financed|charged|sold|distributed|manufactured|settled|secured|presented"
)


def _manner(statement: Statement, clause: Clause) -> Fact | None:
    """Revenue is recognized over time: how."""
    if clause.verb not in ("is", "are") or clause.lead:
        return None
    text = join_predicate(clause)
    match = re.match(
        rf"(?:(?:generally|primarily|initially|typically|also|principally|then) )?(?P<how>{_MANNERS}) "
        rf"(?P<manner>(?:over|at|using|on a|on the|based on|by|through|as|when|upon|under|in accordance with|"
        rf"ratably|annually|monthly|daily|quarterly)\b.*)",
        text,
    )
    if (
        match is None
        or len(match["manner"].split()) < 3
        or any(
            word in DANGLING - {"when", "that", "which", "such", "other", "where", "its", "their"}
            for word in match["manner"].split()[:6]
        )
    ):
        return None
    asked = "when" if match["manner"].startswith(("when", "upon")) else "how"
    if match["manner"].startswith("by") and match["how"] not in (
        "determined",
        "calculated",
        "measured",
        "funded",
        "computed",
        "estimated",
    ):
        return None
    question = f"{asked} {clause.verb} {clause.subject} {match['how']}"
    return make_fact(statement, question, "manner", "description", "medium", match["manner"].strip(" ,;"))


def _purpose(statement: Statement, clause: Clause) -> Fact | None:
    """X is designed to, is required to, is responsible for, depends on."""
    if clause.subject.lower() in GENERIC_SUBJECTS:
        return None  # there is always more that a company needs, has to do or depends on
    text = clause.predicate
    if clause.verb in ("is", "are"):
        be = be_form(clause)
        match = re.match(
            r"(?P<how>designed|intended|required|permitted|obligated|entitled|allowed) to (?P<what>[a-z]+ .+)", text
        )
        is_generic = clause.subject.lower() in GENERIC_SUBJECTS or be == "am"
        is_open = re.search(r"judgment|estimate|assumption", clause.subject) is not None
        if match and len(match["what"].split()) >= 3 and not is_generic and not is_open:
            return make_fact(
                statement,
                f"what {be} {clause.subject} {match['how']} to do",
                "purpose",
                "description",
                "medium",
                f"to {match['what']}",
            )
        match = re.match(
            r"(?P<how>responsible for|based on|subject to|exposed to|engaged in|known as|entitled to|dependent on|"
            r"eligible for|used for|used to|tied to|linked to|composed of|comprised of|made up of|divided into|"
            r"organized into) (?P<what>.+)",
            text,
        )
        if match and len(match["what"].split()) >= 2:
            if match["how"] == "used to":
                return make_fact(statement, f"what {be} {clause.subject} used for", "purpose", "description", "medium")
            return make_fact(
                statement,
                f"what {be} {clause.subject} {match['how']}",
                "purpose",
                "description",
                "medium",
                match["what"],
            )
        match = re.match(r"valid for (?P<what>.+)", text)
        if match:
            return make_fact(
                statement, f"for how long {be} {clause.subject} valid", "purpose", "numeric", "easy", match["what"]
            )
        return None
    if clause.base in ("depend", "rely") and text.startswith(("on ", "upon ")) and clause.is_singular is not None:
        return make_fact(
            statement,
            f"what {do_form(clause)} {clause.subject} {clause.base} on",
            "purpose",
            "description",
            "medium",
            text.split(" ", 1)[1],
        )
    if clause.base == "need" and clause.subject == "I":
        match = re.fullmatch(r"(?P<what>.+?) (?P<end>(?:to [a-z]+|for (?:a|an|the)) .+)", text)
        if match is None:
            return None
        return make_fact(statement, f"what do I need {match['end']}", "purpose", "entity", "easy", match["what"])
    if (
        clause.base in ("need", "require")
        and clause.subject != "I"
        and clause.is_singular is not None
        and len(text.split()) >= 2
        and not text.startswith(("to ", "no ", "neither "))
    ):
        return make_fact(
            statement, f"what {do_form(clause)} {clause.subject} {clause.base}", "purpose", "entity", "easy", text
        )
    return None


def _list_of_parts(statement: Statement, clause: Clause) -> Fact | None:
    """X consists of A, B and C."""
    if clause.base not in ("consist", "comprise", "include") or clause.is_singular is None:
        return None
    whole = join_predicate(clause)
    if re.search(r"\balso\b", statement.text):  # a part of the parts
        return None
    if "not limited" in whole or len(whole.split()) < 4:
        return None
    if clause.base == "include" and not re.search(r",| and | or ", whole):
        return None
    if clause.base == "consist":
        if not whole.startswith("of "):
            return None
        return make_fact(
            statement, f"what {do_form(clause)} {clause.subject} consist of", "parts", "entity", "medium", whole[3:]
        )
    return make_fact(
        statement, f"what {do_form(clause)} {clause.subject} {clause.base}", "parts", "entity", "medium", whole
    )


def _term(statement: Statement, clause: Clause) -> Fact | None:
    """X expires 36 months after they were earned; X matures in 2027."""
    if (
        clause.base not in ("expire", "arrive", "end", "begin", "start", "commence", "close", "terminate")
        or clause.is_singular is None
    ):
        return None
    if not re.match(rf"(?:in|within|on|at|after|{PLAIN})\b", clause.predicate):
        return None
    return make_fact(
        statement, f"when {do_form(clause)} {clause.subject} {clause.base}", "term", "numeric", "easy", clause.predicate
    )


def _position_held(statement: Statement, clause: Clause) -> Fact | None:
    """Ms. Smith has served as Chief Financial Officer since 2019."""
    if clause.verb not in ("has", "was"):
        return None
    match = re.match(
        rf"(?P<how>served as|been|appointed|elected|named) (?P<role>(?:our |the )?[A-Z][^,]+?) (?P<date>(?:since|"
        rf"in|on|effective) {DATE})\Z",
        clause.predicate,
    )
    shape = name_shape(clause.subject)[0]
    if match is None or not (shape == "person" or re.match(r"(?:Mr|Ms|Mrs|Dr)\. ", clause.subject)):
        return None
    if clause.verb == "has" and match["date"].startswith("since"):
        return make_fact(
            statement,
            f"since when has {clause.subject} {match['how']} {match['role']}",
            "position",
            "human",
            "easy",
            match["date"][6:],
        )
    if clause.verb == "was":
        return make_fact(
            statement,
            f"who was {match['how']} {match['role']} {match['date']}",
            "position",
            "human",
            "easy",
            clause.subject,
        )
    return None


#: In the order in which they are tried; the first that reads the clause gives the fact.
PATTERNS: Final[tuple[Callable[[Statement, Clause], Fact | None], ...]] = (
    _reason,
    _change,
    _abound,
    _event,
    _amount_of_subject,
    _share,
    _quantity,
    _agent,
    _means,
    _definition,
    _components,
    _place,
    _manner,
    _purpose,
    _list_of_parts,
    _term,
    _position_held,
)
