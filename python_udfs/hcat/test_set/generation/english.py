"""The English that rules about facts read: dates, amounts, and words that point to something outside of a sentence."""

import re
from typing import Final

MONTH = "(?:January|February|March|April|May|June|July|August|September|October|November|December)"
YEAR = r"(?:19|20)\d\d"
_DAY = rf"{MONTH} \d{{1,2}}, {YEAR}|{MONTH},? {YEAR}|\d{{1,2}} {MONTH} {YEAR}"
DATE = rf"(?:{_DAY}|(?:fiscal |the year |calendar )?(?:year )?{YEAR})"
_QUARTER = rf"(?:the )?(?:first|second|third|fourth) (?:fiscal )?(?:quarter|half) of (?:fiscal )?(?:year )?{YEAR}"
_ENDED = rf"(?:the )?(?:fiscal )?(?:years?|quarters?|three months|six months|nine months|twelve months) ended {DATE}"
ONE_PERIOD = rf"(?:{_ENDED}|{_QUARTER}|{DATE})"
PERIOD = (
    rf"(?:[Ii]n|[Dd]uring|[Ff]or|[Aa]s of|[Aa]t|[Oo]n|[Ss]ince|[Tt]hrough|[Uu]ntil|[Bb]y|[Tt]hroughout) (?:each of )?"
    rf"{ONE_PERIOD}(?:(?:, and |, | and | or | to | through ){ONE_PERIOD})*"
)
LEAD = re.compile(rf"(?P<lead>{PERIOD}), (?P<rest>\S.*)")
_EVENT_DATE = rf"(?:in|on) (?:{_DAY}|(?:fiscal |fiscal year )?{YEAR})"
EVENT_DATE = re.compile(_EVENT_DATE, re.IGNORECASE)
EVENT_END = re.compile(rf"(?P<event>.+?) (?P<date>{_EVENT_DATE})", re.IGNORECASE)
_SCALE = r"(?: (?:thousand|million|billion|trillion))?"
MONEY = rf"(?:(?:US|U\.S\.|C|A)?[$\u20ac\u00a3]\s?\d[\d,]*(?:\.\d+)?{_SCALE})"
PERCENT = r"(?:\d[\d,]*(?:\.\d+)?\s?(?:%|percent(?:age points?)?|basis points))"
_SMALL = "(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|fifty)"
PLAIN = rf"(?:\d[\d,]*(?:\.\d+)?{_SCALE}|{_SMALL})"
HEDGE = (
    r"(?:(?:approximately|about|around|nearly|almost|roughly|only|just|over|more than|less than|at least|at most|"
    r"up to|an aggregate of|a total of) )*"
)
AMOUNT = rf"{HEDGE}(?:{MONEY}|{PERCENT}|{PLAIN})"
UNIT = (
    r"(?: (?:years?|months?|days?|hours?|weeks?|minutes?|square feet|acres|employees|shares|basis points|per share|"
    r"a year|a month|a day|per year|per month|per day|per annum|annually))*"
)
CHANGES = frozenset(["increase", "decrease", "decline", "grow", "rise", "fall"])
_POINTING = """
it its itself they them their theirs themselves he him his she her hers himself herself this that these those such
there here who whom whose which what where when why how if unless although though because while whereas whether since
another other others same former latter respective respectively said thereby therein thus therefore then former
mine ours yours ourselves yourself myself
"""
POINTING: Final = frozenset(_POINTING.split())
"""Words that point to another sentence, or open a clause of their own."""
OWN: Final = frozenset(("its", "their", "itself", "themselves"))
"""Of these words, those that mean the subject where they stand in its predicate."""
NEGATION = re.compile(r"\b(?:no|not|never|neither|nor|none|without|cannot)\b|n't\b", re.IGNORECASE)
COMPANY = re.compile(
    r"\bthe (?:Company|Corporation|Bank|Group|Registrant|Firm|Trust|Partnership|company|bank|Board|Board of "
    r"Directors)\b"
)
DEFINED_ALONE = re.compile(
    r"\b[Tt]he (?:Plan|Notes?|Agreement|Merger|Participants?|Committee|Awards?|Trust|Transactions?|Offering|Indenture|"
    r"Lenders?|Borrowers?|Holders?|Securities|Act|Program|Policy|Administrator|Employer|Employee|Directors?|Grant|"
    r"Options?|Shares|Units|Trustee|Agent|Issuers?|Guarantors?|Separation|Acquisition|Settlement|Facility|Fund|Code|"
    r"Order|Rule|Warrants?|Bonds?|Leases?|Properties|Property|Parties|Services|Products|Proposal|Closing|Executive)"
    r"(?=[ ?]|\Z)(?! [A-Z]| of [A-Z])"
)
"""Names that a contract or report defines for itself: clear inside it and nowhere else."""
RELATIVE_TIME = re.compile(
    r"\b(?:that (?:date|time|day|year|period)|such (?:date|time)|the same (?:period|quarter|date|year)|the "
    r"(?:prior|previous|preceding|current|following|next|comparable|corresponding|year-ago) "
    r"(?:fiscal )?(?:year|quarter|period|month)s?|the periods? presented|all periods|these periods|last year|"
    r"this year|to date|today|recently|the years? then ended)\b",
    re.IGNORECASE,
)
TAIL = re.compile(
    r",? (?:which|who|whom|whose|where|whereby|although|though|while|whereas|because|as compared|compared|versus|due|"
    r"primarily|mainly|largely|principally|partially|reflecting|including|excluding|as well as|resulting|representing|"
    r"driven|offset|attributable|net of|subject to|in connection with|pursuant to|as a result|as described|as defined|"
    r"as discussed|respectively|plus|depending|unless|provided|except|in accordance with|in order|so that|such as|"
    r"as amended|and (?:is|are|was|were|has|have|had|can|may|must|will)|but)\b"
    r"|;|:(?!\d)| - | \u2013 |\u2014|, (?=(?!fiscal |and fiscal |and 20)[a-z])"
)
"""Where a predicate ends for a question: comparisons, reasons and clauses of their own follow."""
AUDITOR = re.compile(
    r"\bwe have audited\b|\bour audits?\b|\bour opinion on\b|\bpublic accounting firm\b", re.IGNORECASE
)
FINAL_ABBREVIATION = re.compile(r"\b(?:U\.S|Inc|Ltd|Corp|Co|plc|L\.P|N\.A|S\.A|Jr|a\.m|p\.m|U\.K|D\.C|N\.V|P\.C)\Z")
WORD = re.compile(r"[^\W_]+(?:['\u2019.&/-][^\W_]+)*")
PARENTHESES = re.compile(r" ?\([^()]*\)")
PREPOSITION_END = re.compile(
    r"\b(?:of|in|for|to|from|with|on|at|by|under|and|or|the|a|an|as|our|its|their|through|that|not|than|into|via|"
    r"per|after|before|since|without|between|during|upon|about|until|against|among|within|toward|towards)\Z",
    re.IGNORECASE,
)
