"""Facts of a chunk as questions: one sentence, one plain pattern, one question with its answer.

Every pattern asks for a part of one whole sentence (:mod:`hcat.generation.sentences`), which is then the reference
answer: it is right by construction, and what is not plain is left out. There is no parser here; a sentence is read
as subject, verb and predicate only where closed lists of verbs leave no doubt.

The kinds of answers are those of the raw contract (abbreviation, entity, description, human, location, numeric).
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from hcat.generation.sentences import Statement, find_paragraphs, find_statements
from hcat.kinds import name_shape
from hcat.overlap import extract_features

MAXIMUM_SUBJECT_WORDS: Final = 12
MAXIMUM_PREDICATE_WORDS: Final = 28
MAXIMUM_QUESTION_WORDS: Final = 34


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
        Proper names in the question, in the form that entities have (:func:`hcat.overlap.extract_features`).
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


# ---------------------------------------------------------------------------------------------------------------------
# Words

_MONTH = "(?:January|February|March|April|May|June|July|August|September|October|November|December)"
_YEAR = r"(?:19|20)\d\d"
_DATE = (
    rf"(?:{_MONTH} \d{{1,2}}, {_YEAR}|{_MONTH},? {_YEAR}|\d{{1,2}} {_MONTH} {_YEAR}|(?:fiscal |the year |calendar "
    rf")?(?:year )?{_YEAR})"
)
_QUARTER = rf"(?:the )?(?:first|second|third|fourth) (?:fiscal )?(?:quarter|half) of (?:fiscal )?(?:year )?{_YEAR}"
_ENDED = rf"(?:the )?(?:fiscal )?(?:years?|quarters?|three months|six months|nine months|twelve months) ended {_DATE}"
_ONE_PERIOD = rf"(?:{_ENDED}|{_QUARTER}|{_DATE})"
_PERIOD = (
    rf"(?:in|during|for|as of|at|on|since|through|until|by|throughout) (?:each of )?{_ONE_PERIOD}(?:(?:, and |, | "
    rf"and | or | to | through ){_ONE_PERIOD})*"
)
_LEAD = re.compile(rf"(?P<lead>{_PERIOD}), (?P<rest>\S.*)", re.IGNORECASE)
_PERIODS: Final = re.compile(rf"\b{_PERIOD}", re.IGNORECASE)
_EVENT_DATE = (
    rf"(?:in|on) (?:{_MONTH} \d{{1,2}}, {_YEAR}|{_MONTH},? {_YEAR}|\d{{1,2}} {_MONTH} {_YEAR}|(?:fiscal |fiscal "
    rf"year )?{_YEAR})"
)
_EVENT_LEAD = re.compile(rf"(?:{_EVENT_DATE})", re.IGNORECASE)
_EVENT_END = re.compile(rf"(?P<event>.+?) (?P<date>{_EVENT_DATE})", re.IGNORECASE)

_SCALE = r"(?: (?:thousand|million|billion|trillion))?"
_MONEY = rf"(?:(?:US|U\.S\.|C|A)?[$\u20ac\u00a3]\s?\d[\d,]*(?:\.\d+)?{_SCALE})"
_PERCENT = r"(?:\d[\d,]*(?:\.\d+)?\s?(?:%|percent(?:age points?)?|basis points))"
_SMALL = "(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|fifty)"
_PLAIN = rf"(?:\d[\d,]*(?:\.\d+)?{_SCALE}|{_SMALL})"
_HEDGE = (
    r"(?:(?:approximately|about|around|nearly|almost|roughly|only|just|over|more than|less than|at least|at most|"
    r"up to|an aggregate of|a total of) )*"
)
_AMOUNT = rf"{_HEDGE}(?:{_MONEY}|{_PERCENT}|{_PLAIN})"
_AMOUNTS = rf"{_AMOUNT}(?:(?:, and |, | and | or ){_AMOUNT})*"
_UNIT = (
    r"(?: (?:years?|months?|days?|hours?|weeks?|minutes?|square feet|acres|employees|shares|basis points|per share|"
    r"a year|a month|a day|per year|per month|per day|per annum|annually))*"
)

_AUXILIARY_LIST = "is are was were has have had can may must will cannot could would should shall might"
_AUXILIARIES = frozenset(_AUXILIARY_LIST.split())
_COPULAS = frozenset(["is", "are", "was", "were"])

# base: third person, past; what may be a noun or an adjective in one of the forms is told apart by its place
_VERB_LIST = """
accept/accepts/accepted account/accounts/accounted acquire/acquires/acquired adopt/adopts/adopted
agree/agrees/agreed aim/aims/aimed allow/allows/allowed amend/amends/amended amount/amounts/amounted
announce/announces/announced apply/applies/applied appoint/appoints/appointed approve/approves/approved
arrive/arrives/arrived assume/assumes/assumed authorize/authorizes/authorized award/awards/awarded
become/becomes/became begin/begins/began believe/believes/believed borrow/borrows/borrowed build/builds/built
buy/buys/bought charge/charges/charged close/closes/closed combine/combines/combined commence/commences/commenced
compete/competes/competed complete/completes/completed comprise/comprises/comprised conduct/conducts/conducted
consist/consists/consisted contain/contains/contained contribute/contributes/contributed cost/costs/cost
cover/covers/covered create/creates/created declare/declares/declared decline/declines/declined
decrease/decreases/decreased deliver/delivers/delivered depend/depends/depended design/designs/designed
determine/determines/determined develop/develops/developed discontinue/discontinues/discontinued
distribute/distributes/distributed divest/divests/divested earn/earns/earned elect/elects/elected
eliminate/eliminates/eliminated employ/employs/employed enter/enters/entered establish/establishes/established
estimate/estimates/estimated evaluate/evaluates/evaluated exceed/exceeds/exceeded execute/executes/executed
exercise/exercises/exercised exit/exits/exited expect/expects/expected expire/expires/expired file/files/filed
finance/finances/financed form/forms/formed fund/funds/funded generate/generates/generated grant/grants/granted
grow/grows/grew hire/hires/hired hold/holds/held implement/implements/implemented include/includes/included
increase/increases/increased incur/incurs/incurred initiate/initiates/initiated introduce/introduces/introduced
invest/invests/invested issue/issues/issued join/joins/joined last/lasts/lasted launch/launches/launched
lease/leases/leased license/licenses/licensed maintain/maintains/maintained manage/manages/managed
manufacture/manufactures/manufactured market/markets/marketed maintain/maintains/maintained measure/measures/measured
need/needs/needed obtain/obtains/obtained offer/offers/offered open/opens/opened operate/operates/operated
own/owns/owned pay/pays/paid perform/performs/performed permit/permits/permitted plan/plans/planned
prepay/prepays/prepaid price/prices/priced produce/produces/produced prohibit/prohibits/prohibited
provide/provides/provided publish/publishes/published purchase/purchases/purchased raise/raises/raised
realize/realizes/realized receive/receives/received recognize/recognizes/recognized record/records/recorded
redeem/redeems/redeemed reduce/reduces/reduced refinance/refinances/refinanced regulate/regulates/regulated
release/releases/released repay/repays/repaid replace/replaces/replaced report/reports/reported
repurchase/repurchases/repurchased require/requires/required restrict/restricts/restricted retire/retires/retired
reverse/reverses/reversed rise/rises/rose sell/sells/sold serve/serves/served settle/settles/settled
sign/signs/signed spend/spends/spent start/starts/started submit/submits/submitted supply/supplies/supplied
support/supports/supported take/takes/took terminate/terminates/terminated total/totals/totaled
transfer/transfers/transferred use/uses/used withdraw/withdraws/withdrew write/writes/wrote fall/falls/fell
rely/relies/relied end/ends/ended originate/originates/originated utilize/utilizes/utilized
recover/recovers/recovered dismiss/dismisses/dismissed deny/denies/denied issue/issues/issued yield/yields/yielded
experience/experiences/experienced continue/continues/continued remain/remains/remained improve/improves/improved
merge/merges/merged represent/represents/represented reflect/reflects/reflected relate/relates/related
result/results/resulted consider/considers/considered involve/involves/involved allocate/allocates/allocated
occur/occurs/occurred affect/affects/affected ensure/ensures/ensured enable/enables/enabled help/helps/helped
make/makes/made give/gives/gave lead/leads/led seek/seeks/sought bring/brings/brought add/adds/added
achieve/achieves/achieved assess/assesses/assessed calculate/calculates/calculated change/changes/changed
classify/classifies/classified define/defines/defined derive/derives/derived drive/drives/drove exist/exists/existed
focus/focuses/focused identify/identifies/identified monitor/monitors/monitored prepare/prepares/prepared
promote/promotes/promoted protect/protects/protected pursue/pursues/pursued review/reviews/reviewed
vary/varies/varied show/shows/showed send/sends/sent benefit/benefits/benefited capitalize/capitalizes/capitalized
adjust/adjusts/adjusted exclude/excludes/excluded amortize/amortizes/amortized defer/defers/deferred
consolidate/consolidates/consolidated translate/translates/translated depreciate/depreciates/depreciated
experience/experiences/experienced face/faces/faced import/imports/imported export/exports/exported
advise/advises/advised appeal/appeals/appealed assign/assigns/assigned assist/assists/assisted
collect/collects/collected convert/converts/converted deduct/deducts/deducted disclose/discloses/disclosed
discover/discovers/discovered donate/donates/donated encourage/encourages/encouraged enhance/enhances/enhanced
expose/exposes/exposed facilitate/facilitates/facilitated fulfill/fulfills/fulfilled guarantee/guarantees/guaranteed
improve/improves/improved integrate/integrates/integrated modify/modifies/modified negotiate/negotiates/negotiated
notify/notifies/notified permit/permits/permitted pledge/pledges/pledged post/posts/posted prevent/prevents/prevented
process/processes/processed propose/proposes/proposed relocate/relocates/relocated renew/renews/renewed
resolve/resolves/resolved restructure/restructures/restructured retain/retains/retained review/reviews/reviewed
select/selects/selected ship/ships/shipped specialize/specializes/specialized sponsor/sponsors/sponsored
store/stores/stored strive/strives/strived structure/structures/structured subject/subjects/subjected
test/tests/tested track/tracks/tracked train/trains/trained treat/treats/treated update/updates/updated
upgrade/upgrades/upgraded value/values/valued lower/lowers/lowered return/returns/returned expand/expands/expanded
extend/extends/extended carry/carries/carried comply/complies/complied deposit/deposits/deposited
engage/engages/engaged follow/follows/followed run/runs/ran come/comes/came keep/keeps/kept move/moves/moved
cease/ceases/ceased
"""
_FORMS = [tuple(forms.split("/")) for forms in _VERB_LIST.split()]
_ALL_BASES = frozenset(base for base, _, _ in _FORMS)
_THIRD = {third: base for base, third, _ in _FORMS}
_PAST = {past: base for base, _, past in _FORMS} | {"totalled": "total"}
#: Plural present forms that are no nouns where they follow a subject.
_BASE_LIST = """
include consist require provide operate need expire contain apply believe employ own maintain offer compete sell expect
manufacture develop depend cost comprise serve generate recognize rely arrive hold earn produce receive support take
evaluate recognize pay determine estimate
"""
_BASES = frozenset(_BASE_LIST.split())
_CHANGES = frozenset(["increase", "decrease", "decline", "grow", "rise", "fall"])

# third persons that are plural nouns as often: a verb only where an article or amount follows
_NOUN_LIST = """
accounts amounts awards changes charges deposits focuses results returns reviews shows benefits values stores
structures subjects tests tracks trains updates upgrades posts processes imports exports experiences faces appeals
advises guarantees sponsors closes costs covers declines decreases designs ends estimates exercises exits files
finances forms funds grants increases issues lasts leases licenses markets measures moves needs offers permits plans
prices purchases records releases reports runs starts supplies supports totals transfers uses yields
"""
_NOUNS = frozenset(_NOUN_LIST.split())
_AFTER_VERB = re.compile(r"(?:a|an|the|our|your|its|all|no|both|more|up|between|from|at|[$\u20ac\u00a3]?\d.*)\Z")
_ANY_VERB = "|".join(sorted(({*_THIRD} - _NOUNS) | {*_PAST}))

_SECOND_VERB = re.compile(
    rf",? and (?:\w+ly |then )?(?:(?:{'|'.join(sorted({*_THIRD} - _NOUNS))})\b|(?:{'|'.join(sorted(_NOUNS))}) "
    r"(?=(?:a|an|the|no|nothing) |[$\u20ac\u00a3]?\d))"
)

_ADVERB_LIST = """
also generally primarily currently typically usually principally mainly largely
previously subsequently always often normally initially further previously recently historically annually
still directly mostly regularly periodically ultimately formally successfully jointly voluntarily
"""
_ADVERBS = frozenset(_ADVERB_LIST.split())

# words that point to another sentence, or open a clause of their own
_DANGLING_LIST = """
it its itself they them their theirs themselves he him his she her hers himself herself this that these those such
there here who whom whose which what where when why how if unless although though because while whereas whether since
another other others same former latter respective respectively said thereby therein thus therefore then former
mine ours yours ourselves yourself myself
"""
_DANGLING = frozenset(_DANGLING_LIST.split())
_NO_ADVERBS = frozenset(
    ["only", "early", "likely", "supply", "apply", "comply", "rely", "reply", "imply", "multiply", "fly", "family"]
)
#: In a predicate these mean its subject.
_OWN = frozenset(("its", "their", "itself", "themselves"))
_CONDITIONS = re.compile(
    r"\b(?:if|unless|except|provided that|provided,|only when|when|until|subject to|assuming|in the event|to the "
    r"extent|"
    r"may not be|there can be no assurance|would have|could have)\b",
    re.IGNORECASE,
)
_NEGATION = re.compile(r"\b(?:no|not|never|neither|nor|none|without|cannot)\b|n't\b", re.IGNORECASE)
_COMPANY = re.compile(
    r"\bthe (?:Company|Corporation|Bank|Group|Registrant|Firm|Trust|Partnership|company|bank|Board|Board of "
    r"Directors)\b"
)
#: Names that a contract or report defines for itself: clear inside it and nowhere else, and never alone in a document.
_DEFINED_ALONE = re.compile(
    r"\b[Tt]he (?:Plan|Notes?|Agreement|Merger|Participants?|Committee|Awards?|Trust|Transactions?|Offering|Indenture|"
    r"Lenders?|Borrowers?|Holders?|Securities|Act|Program|Policy|Administrator|Employer|Employee|Directors?|Grant|"
    r"Options?|"
    r"Shares|Units|Trustee|Agent|Issuers?|Guarantors?|Separation|Acquisition|Settlement|Facility|Fund|Code|Order|Rule|"
    r"Warrants?|Bonds?|Leases?|Properties|Property|Parties|Services|Products|Proposal|Closing|Executive|Grantee|"
    r"Optionee)"
    r"(?=[ ?]|\Z)(?! [A-Z]| of [A-Z])"
)
_RELATIVE_TIME = re.compile(
    r"\b(?:that (?:date|time|day|year|period)|such (?:date|time)|the same (?:period|quarter|date|year)|the "
    r"(?:prior|previous|preceding|"
    r"current|following|next|comparable|corresponding|year-ago) (?:fiscal )?(?:year|quarter|period|month)s?|the "
    r"periods? presented|"
    r"all periods|these periods|last year|this year|to date|today|recently|the years? then ended)\b",
    re.IGNORECASE,
)
_TAIL = re.compile(
    r",? (?:which|who|whom|whose|where|whereby|although|though|while|whereas|because|as compared|compared|versus|due|"
    r"primarily|mainly|largely|principally|partially|reflecting|including|excluding|as well as|resulting|representing|"
    r"driven|offset|attributable|net of|subject to|in connection with|pursuant to|as a result|as described|as defined|"
    r"as discussed|respectively|plus|depending|unless|provided|except|in accordance with|in order|so that|such as|"
    r"as amended|and (?:is|are|was|were|has|have|had|can|may|must|will)|but)\b"
    r"|;|:(?!\d)| - | \u2013 |\u2014|, (?=(?!fiscal |and fiscal |and 20)[a-z])",
)
_NEXT_CLAUSE = re.compile(r"[,;:]| (?:which|that|who|where|when|because|although|as|if|while|whereas|and|but) ")
# "interest related to taxes, net of refunds, was recorded"
_LATE_VERB = re.compile(r", (?:\w+ly )?(?:is|are|was|were|has|have|had|will|may|can|could)\b")
_FINAL_ABBREVIATION = re.compile(r"\b(?:U\.S|Inc|Ltd|Corp|Co|plc|L\.P|N\.A|S\.A|Jr|a\.m|p\.m|U\.K|D\.C|N\.V|P\.C)\Z")
_PART = re.compile(r"[^\W_]+(?:['\u2019.&/-][^\W_]+)*")
_PARENTHESES = re.compile(r" ?\([^()]*\)")
_PREPOSITION_END = re.compile(
    r"\b(?:of|in|for|to|from|with|on|at|by|under|and|or|the|a|an|as|our|its|their|through|that|not|than|into|via|"
    r"per|after|"
    r"before|since|without|between|during|upon|about|until|against|among|within|toward|towards)\Z",
    re.IGNORECASE,
)


# ---------------------------------------------------------------------------------------------------------------------
# Reading a sentence


@functools.lru_cache(maxsize=256)
def extract_facts(text: str, speaker: str) -> tuple[Fact, ...]:
    """Return the facts of a chunk in the order of its sentences, one question per (sentence, pattern) at most.

    Parameters
    ----------
    text : str
        Chunk as it was staged.
    speaker : str
        Who says "we" in the documents, as a noun phrase in the singular: ``the company``.
    """
    common = common_words(text)
    if "=AUDITOR" in common:
        return ()
    facts: list[Fact] = []
    for statement in find_statements(text):
        facts += read_statement(statement, speaker, common)
    facts += _abbreviations(text)
    kept: dict[str, Fact] = {}
    for fact in sorted(facts, key=lambda each: each.position):
        if is_sound(fact):
            kept.setdefault(fact.question.casefold(), fact)
    return tuple(kept.values())


def common_words(text: str) -> frozenset[str]:
    """Return the words that a text writes in lower case, and with a capital where no sentence begins (``=Word``)."""
    small = set(re.findall(r"\b[a-z][a-z'-]+\b", text))
    if _AUDITOR.search(text):  # another speaker's "we"
        small.add("=AUDITOR")
    return frozenset(small | {f"={word}" for word in re.findall(r"(?<=[a-z,] )[A-Z][\w'-]*", text)})


def read_statement(statement: Statement, speaker: str, common: frozenset[str]) -> list[Fact]:
    """Return the facts of one sentence; ``common`` holds the words that the chunk writes in lower case."""
    found = _conditions(statement, speaker, common)
    clause = read_clause(statement.text, speaker, common)
    if clause is None or not is_specific(clause.subject, speaker):
        return found
    for pattern in (
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
    ):
        fact = pattern(statement, clause)
        if fact is not None:
            found.append(fact)
            break
    return found


def lower_base(verb: str) -> str:
    """Return the base form of a finite verb, empty for an auxiliary."""
    lower = verb.lower()
    return "" if lower in _AUXILIARIES else _THIRD.get(lower) or _PAST.get(lower) or lower


def _start(match: re.Match[str]) -> int:
    return match.start()


def read_clause(sentence: str, speaker: str, common: frozenset[str]) -> Clause | None:
    """Return a sentence as subject, verb and predicate; None where that is not plain."""
    text = _PARENTHESES.sub("", sentence)[:-1].strip()
    if _FINAL_ABBREVIATION.search(text):
        text += "."
    lead = ""
    match = _LEAD.fullmatch(text)
    if match is not None:
        lead, text = match["lead"], match["rest"]
        lead = lead[0].lower() + lead[1:]
        text = text[0].upper() + text[1:]
    if '"' in text or "?" in text:
        return None
    verb, start, end = _find_verb(text)
    if verb is None:
        return None
    subject = _subject(text[:start].strip(), speaker, common, allows_participle=verb.lower() in _AUXILIARIES)
    if subject is None:
        return None
    predicate = text[end:].strip()
    first, _, rest = predicate.partition(" ")
    if first in _ADVERBS or (first.endswith("ly") and first not in _NO_ADVERBS):
        predicate = rest
    cut = min(filter(None, (_TAIL.search(predicate), _SECOND_VERB.search(predicate))), key=_start, default=None)
    tail, is_list_cut = "", False
    if cut is not None:
        predicate, tail = predicate[: cut.start()].strip(), predicate[cut.start() :].strip()
        is_list_cut = cut.group() == ", " and re.search(r"\b(?:and|or)\b", tail[:80]) is not None
        if is_list_cut and re.match(r", [\w-]+(?:,| and| or)(?: |\Z)", tail):
            return None
    predicate = _speak(predicate, speaker)
    if re.search(r"\b(?:\w+ing|\w+ly|of|separate|new|formal|certain|various|other)\Z", predicate) and tail:
        return None
    if lower_base(verb) not in _INTRANSITIVE and lower_base(verb) and _PREPOSITION.match(predicate):
        return None
    if not predicate or len(predicate.split()) > MAXIMUM_PREDICATE_WORDS or _PREPOSITION_END.search(predicate):
        return None
    if any(word in _DANGLING - _OWN or word in ("we", "you", "i") for word in map(str.lower, _PART.findall(predicate))):
        return None
    lower = verb.lower()
    base, is_singular = "", None
    is_speaker = subject in (speaker, "I")
    if lower in _AUXILIARIES:
        if lower in ("is", "was", "has"):
            is_singular = True
        elif lower in ("are", "were", "have"):
            is_singular = is_speaker and subject != "I"
            if is_singular:
                lower = {"are": "is", "were": "was", "have": "has"}[lower]
    elif lower in _THIRD:
        base, is_singular = _THIRD[lower], True
    elif lower == "cost":
        base, is_singular = lower, False if subject.endswith("s") else None
    elif lower in _PAST:
        base = _PAST[lower]
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
        is_verb = lower in _AUXILIARIES or lower in _THIRD or lower in _PAST
        if not is_verb and lower in _ALL_BASES and position:
            spoken = [each.group().lower() for each in words[:position] if each.group().lower() not in _ADVERBS]
            is_verb = spoken in (["we"], ["you"])
        if not is_verb and lower in _BASES and position:
            spoken = [each.group() for each in words[:position] if each.group().lower() not in _ADVERBS]
            before = spoken[-1] if spoken else ""
            is_verb = before.lower() in ("we", "you") or (before.endswith("s") and lower not in ("cost", "support"))
        if not is_verb or position == 0:
            continue
        start, end = match.start(), match.end()
        words_before = text[:start].split()
        if words_before and words_before[-1].lower() in _ADVERBS:
            start = text[:start].rstrip().rfind(" ") + 1
            if start <= 0:
                return None, 0, 0
        if lower not in _AUXILIARIES:
            rest = text[end:]
            following = rest.split(maxsplit=1)[:1]
            # "expenses incurred in 2021 were": a participle, and the verb comes later
            here = _NEXT_CLAUSE.split(rest, maxsplit=1)[0].lower().split()
            # "assets recorded under leases were": a participle, and the auxiliary is the verb
            if lower in _PAST and any(other in _AUXILIARIES for other in here):
                continue
            if lower not in _AUXILIARIES and (_LATE_VERB.search(rest) or _has_plain_verb(here)):
                return None, 0, 0
            # "the notices seek payment for claims related to": an earlier word may be the verb
            if lower in _PAST and any(each.group() in _ALL_BASES for each in words[1:position]):
                return None, 0, 0
            if any(
                other in _AUXILIARIES or other in ("include", "consist") or (other in _THIRD and other not in _NOUNS)
                for other in here
            ):
                return None, 0, 0
            coordinated = " ".join(re.split("[,;:]", rest, maxsplit=1)[0].lower().split())
            if re.search(rf"(?:\band|\bor|,) (?:\w+ly )?(?:{_ANY_VERB})\b", coordinated):
                return None, 0, 0
            if lower in _NOUNS and not (following and _AFTER_VERB.match(following[0])):
                return None, 0, 0
            if following and following[0] in ("by",):
                return None, 0, 0
        return word, start, end
    return None, 0, 0


def _has_plain_verb(words: Sequence[str]) -> bool:
    """Return whether a plural noun and then the base form of a verb stand among words ("requirements also apply")."""
    spoken = [word for word in words if word not in _ADVERBS]
    return any(
        word in _PLAIN_VERBS and before.endswith("s") and before not in _NO_PLURALS
        for before, word in itertools.pairwise(spoken)
    )


def _subject(text: str, speaker: str, common: frozenset[str], *, allows_participle: bool) -> str | None:
    words = text.split()
    if not 1 <= len(words) <= MAXIMUM_SUBJECT_WORDS or _PREPOSITION_END.search(text):
        return None
    if any(mark in text for mark in ",;:/\u2014") or not (text[0].isalpha() or text[0].isdigit()):
        return None
    lower = [word.lower() for word in words]
    if len(words) == 1 and lower[0] in ("we", "you"):
        return speaker if lower[0] == "we" else "I"
    banned = _DANGLING | {
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
    if lower[0] in banned or any(word in _DANGLING | {"we", "you", "us", "i", "not"} for word in lower[1:]):
        return None
    if lower[0].endswith("ly") or lower[0] in _NO_GERUNDS or lower[-1].endswith(("ly", "ed")) or text[0].isdigit():
        return None
    # a capital pronoun or article inside: a heading stands before the sentence
    if any(word in ("The", "Our", "We", "In", "This", "These", "As", "For", "On", "A", "An") for word in words[1:]):
        return None
    if any(word in _AUXILIARIES or (word in _PAST and word != "cost" and not allows_participle) for word in lower[:-1]):
        return None
    if re.search(r"\d", text) and not re.search(rf"\b{_YEAR}\b|[A-Z]\w*-?\d", text):
        return None
    return _speak(_lower_first(text, words, common), speaker)


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
        is_common = len(words) == 1 or first.endswith(_COMMON_ENDINGS) or first in _COMMON_OPENERS
    return first.lower() + text[len(first) :] if is_common else text


_COMMON_ENDINGS_LIST = """
s ion ment ity ance ence ing ive ture ness ship ware al ble ed ry ct ce ty nt er th le re
"""
_COMMON_ENDINGS = tuple(_COMMON_ENDINGS_LIST.split())
_COMMON_OPENERS_LIST = """
Money Cash Gross Land Stock Debt Free Proof Guide Staff Food Full Common Long Short Basic
"""
_COMMON_OPENERS = frozenset(_COMMON_OPENERS_LIST.split())
_AUDITOR = re.compile(
    r"\bwe have audited\b|\bour audits?\b|\bour opinion on\b|\bpublic accounting firm\b", re.IGNORECASE
)
_NO_GERUNDS_LIST = """
including excluding following during regarding concerning according notwithstanding pending depending considering
assuming having being barring given resulting beginning starting
"""
_NO_GERUNDS = frozenset(_NO_GERUNDS_LIST.split())
_NO_PLURALS = frozenset(
    ("as", "is", "was", "has", "its", "this", "various", "previous", "gross", "us", "plus", "less", "does")
)
# base forms that are nouns as often
_NOUN_BASES_LIST = """
cost plan design report change use increase charge lease offer purchase support value process return test review store
ship post transfer supply market form end start measure issue finance fund award grant account exercise release estimate
license benefit total amount cover result close run track train update upgrade import export experience face appeal
guarantee sponsor structure subject move need lower open buy decline decrease rise fall focus show price record file
deposit claim hold last permit
"""
_PLAIN_VERBS = _ALL_BASES - frozenset(_NOUN_BASES_LIST.split())
# verbs that need no object: after any other one a preposition shows that it is no finite verb
_INTRANSITIVE_LIST = """
enter agree apply begin commence rely join increase decrease decline grow rise fall expire arrive consist compete depend
operate contribute continue remain end start close merge invest exit run come move amount account relate result occur
focus lead vary engage comply participate serve sell cease improve exist plan aim expect last open return expand carry
"""
_INTRANSITIVE = frozenset(_INTRANSITIVE_LIST.split())
_PREPOSITION = re.compile(r"(?:in|by|for|on|with|from|to|under|as|at|of|through|within|upon|into)\b")
_IRREGULAR_PARTICIPLES_LIST = """
set overseen put taken given shown held kept met paid sold begun become gone seen known grown chosen written built
brought bought spent sent left lost made led found been had undertaken withdrawn arisen risen fallen
"""
_IRREGULAR_PARTICIPLES = frozenset(_IRREGULAR_PARTICIPLES_LIST.split())
_HEADS_LIST = """
rate rates ratio average margin price yield balance expense revenue sales income loss profit dividend term life period
headcount number amount cost
"""
_HEADS = frozenset(_HEADS_LIST.split())


def is_specific(subject: str, speaker: str) -> bool:
    """Return whether a subject says what it is: no "the agreement", "the obligations", "assets"."""
    words = subject.split()
    if words[0].lower() in _THIRD or words[0].lower() in ("higher", "lower", "increased", "decreased", "improved"):
        return False
    if re.search(r"\b(\w{3,}(?: \w+)?) \1\b", subject, re.IGNORECASE):  # a heading stands before the sentence
        return False
    if words[0].lower() in ("the", "a", "an") and len(words) > 1 and words[1] in _ANAPHORIC:
        return False
    if subject in (speaker, "I") or speaker in subject or any(word[0].isupper() or word[0].isdigit() for word in words):
        return not re.fullmatch(rf"{_PERIOD}|{_ONE_PERIOD}", subject, re.IGNORECASE)
    if subject == "management":
        return True
    if words[-1] in _UNSPECIFIC and len(words) <= 3:
        return False
    if "similar" in words or len(words) == 1 or re.search(r"\b(?:of|for|in|under|to|on|from) the [a-z-]+\Z", subject):
        return False
    if words[0] == "the":
        if _SINGLED_OUT.search(subject):
            return True
        has_link = any(word in ("of", "for", "in", "on", "to", "from", "under", "with") for word in words[2:])
        return (has_link and len(words) > 4) or (words[-1] in _HEADS and len(words) > 3)
    return True


_SINGLED_OUT = re.compile(r"\b(?:largest|smallest|highest|lowest|oldest|newest|top)\b")
#: Plurals that say too little by themselves: whose, of what, in which case.
_UNSPECIFIC_LIST = """
gains losses lawsuits claims payments amounts costs changes benefits adjustments results actions charges fees awards
plaintiffs defendants parties complaint complaints motion motions order orders hearing trial notes loans transactions
contracts agreements options shares units products services risks proceedings matters cases petitioners appellants
settlements customers suppliers vendors holders lenders borrowers directors officers members securities estimates
differences factors items purchases increases decreases proceeds complaints appeals
"""
_UNSPECIFIC = frozenset(_UNSPECIFIC_LIST.split())
_GENERIC_SUBJECTS = (
    "the company", "the bank", "the firm", "the group", "the corporation", "management", "entities", "companies",
    "participants", "employees",
)  # fmt: skip
_ANAPHORIC_LIST = """
increase decrease decline change changes adjustment difference impact effect result majority remainder amount amounts
full fair carrying remaining related resulting transaction improvement reduction growth sale
"""
_ANAPHORIC = frozenset(_ANAPHORIC_LIST.split())


def _speak(text: str, speaker: str) -> str:
    """Return a text with the first and second person as the one who asks would say it."""
    for pattern, said in (
        (r"\b[Oo]ur\b", f"{speaker}'s"),
        (r"\bus\b", speaker),
        (r"\byour\b", "my"),
        (r"\bYour\b", "my"),
    ):
        text = re.sub(pattern, said, text)
    return text


#: Patterns whose questions end with a preposition: what is it based on?
_OPEN_ENDS = frozenset(("abbreviation", "parts", "purpose"))


def is_sound(fact: Fact) -> bool:
    """Return whether a question stands by itself, apart from the name of its document."""
    question = fact.question
    words = question.split()
    if not 4 <= len(words) <= MAXIMUM_QUESTION_WORDS or question.count('"') % 2:
        return False
    lower = [word.lower() for word in _PART.findall(question)]
    allowed = {"what", "when", "where", "who", "whom", "how", "why", "which", "if"}
    if any(word in _DANGLING - _OWN and word not in allowed for word in lower) or lower.count("we"):
        return False
    if any(word in allowed for word in lower[3:]) and fact.pattern != "condition":
        return False
    if _RELATIVE_TIME.search(question) or re.search(r"[;:]|\d\)|\s,|,\Z| \.", question):
        return False
    if question.count(",") > 3 or (fact.pattern not in _OPEN_ENDS and _PREPOSITION_END.search(question)):
        return False
    if re.search(r"\b(\w+) \1\b", question):
        return False
    return _DEFINED_ALONE.search(question) is None


# ---------------------------------------------------------------------------------------------------------------------
# Patterns


def make_fact(
    statement: Statement, question: str, pattern: str, answer_type: str, difficulty: str, answer: str | None = None
) -> Fact:
    """Return the fact with what its question tells by itself: the names in it, and whether it needs its document."""
    question = " ".join(question.split())
    features = extract_features(question[0].upper() + question[1:])
    names = tuple(dict.fromkeys(features.entities))
    # a title alone says who: "the company" and "net sales" belong to a document
    needs_document = _COMPANY.search(question) is not None or not any(
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


def _when(clause: Clause) -> str:
    return f" {clause.lead}" if clause.lead else ""


def _join(clause: Clause) -> str:
    return re.sub(r" (?=[,;:])", "", f"{clause.predicate} {clause.tail}").strip()


def _do(clause: Clause) -> str:
    if clause.is_singular is None:
        return "did"
    return "does" if clause.is_singular else "do"


def _be(clause: Clause) -> str:
    return "am" if clause.subject == "I" and clause.verb == "are" else clause.verb


def _periods_only(text: str) -> str | None:
    """Return the periods of the end of a predicate, '' where there is nothing, None where there is anything else."""
    rest = text.strip().strip(",").strip()
    if not rest:
        return ""
    return f" {rest}" if re.fullmatch(_PERIOD, rest, re.IGNORECASE) else None


def _reason(statement: Statement, clause: Clause) -> Fact | None:
    """X increased in 2021 primarily due to Y: why."""
    if clause.base not in _CHANGES or clause.is_singular is not None:
        return None
    reason = re.search(
        r"(?:(?:primarily|mainly|largely|principally) )?(?:due to|driven by|as a result of|because of|attributable "
        r"to|resulting from|reflecting) (?P<why>.+)",
        f"{clause.predicate} {clause.tail}",
    )
    if reason is None or len(reason["why"].split()) < 3 or "offset" in clause.predicate:
        return None
    periods = _PERIODS.search(clause.predicate)
    if periods and not re.match(r"(?:in|during|for|throughout)\b", periods.group()):
        return None
    when = f" {periods.group()}" if periods else _when(clause)
    if not when:
        return None
    return make_fact(statement, f"why did {clause.subject} {clause.base}{when}", "reason", "description", "medium")


def _change(statement: Statement, clause: Clause) -> Fact | None:
    """X increased 12% in fiscal 2022: by how much."""
    if clause.base not in _CHANGES or clause.is_singular is not None:
        return None
    match = re.match(
        rf"(?:by )?(?P<amount>{_HEDGE}(?:{_MONEY}|{_PERCENT}))(?:(?:,? or|,? and) (?:by )?{_AMOUNT},?)?"
        rf"(?: (?:from {_AMOUNT} )?to {_AMOUNT})?(?P<rest>.*)",
        clause.predicate,
    )
    if match is None:
        return None
    when = _periods_only(match["rest"])
    when = when if when else (_when(clause) if when == "" else None)
    if not when:
        return None
    question = f"by how much did {clause.subject} {clause.base}{when}"
    return make_fact(statement, question, "change", "numeric", "medium", match["amount"])


def _abound(statement: Statement, clause: Clause) -> Fact | None:
    """X totaled $5 million in 2021."""
    if clause.base not in ("total", "amount") or clause.is_singular is False:
        return None
    match = re.match(rf"(?:to )?(?P<amount>{_AMOUNTS})(?P<rest>.*)", clause.predicate)
    if match is None:
        return None
    when = _periods_only(match["rest"])
    if when is None:
        return None
    when = when or _when(clause)
    if not when:
        return None
    verb = "total" if clause.base == "total" else "amount to"
    question = f"what {_do(clause)} {clause.subject} {verb}{when}"
    return make_fact(statement, question, "total", "numeric", "easy", match["amount"])


def _event(statement: Statement, clause: Clause) -> Fact | None:
    """In June 2018, X submitted Y: when."""
    if clause.verb in ("was", "were"):
        verb, helper = "", clause.verb
        first = clause.predicate.split()[0]
        if not (first in _PAST or first.endswith("ed")) or first in ("based", "related", "located", "expected"):
            return None
    elif (
        clause.base
        and clause.is_singular is None
        and clause.base not in (*_CHANGES, "total", "amount", "include", "expect", "believe", "account", "exceed")
    ):
        verb, helper = clause.base, "did"
    else:
        return None
    event, date = clause.predicate, clause.lead
    if not date:
        match = _EVENT_END.fullmatch(clause.predicate)
        if match is None:
            return None
        event, date = match["event"], match["date"]
    if not _EVENT_LEAD.fullmatch(date) or re.search(rf"\b{_YEAR}\b", event):
        return None
    if re.search(r"\bsimilar\b|\A(?:the|a|an|such) [a-z-]+(?: [a-z-]+)?\Z", event) or re.match(
        rf"{_AMOUNT}(?: \w+){{0,3}}\Z", event
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
        re.search(rf"{_AMOUNT} (?:shares|of)|\b{_MONEY}", event)
        and helper == "did"
        and verb in ("record", "recognize", "incur", "pay", "repurchase")
    ):
        return None
    asked = "in which year" if re.fullmatch(rf"in (?:fiscal |fiscal year )?{_YEAR}", date, re.IGNORECASE) else "when"
    if "fiscal" in date.lower():
        asked = "in which fiscal year"
    question = f"{asked} {helper} {clause.subject} {verb} {event}"
    answer = date.split(" ", 1)[1]
    fact = make_fact(statement, question, "event", "numeric", "easy", answer)
    return replace(fact, event=f"{clause.subject} {clause.verb} {event}")


def _amount_of_subject(statement: Statement, clause: Clause) -> Fact | None:
    """The effective tax rate was 21.5% in 2022."""
    if clause.verb not in _COPULAS or clause.subject == "I":
        return None
    match = re.fullmatch(rf"(?P<amount>{_AMOUNTS}{_UNIT}(?: and {_AMOUNT}{_UNIT})?)(?P<rest>.*)", clause.predicate)
    if match is None:
        return None
    count_amounts = len(re.findall(_AMOUNT, match["amount"]))
    count_periods = len(re.findall(rf"\b{_YEAR}\b", match["rest"]))
    if count_amounts > 1 and (count_amounts != count_periods or "respectively" not in clause.tail):
        return None
    if re.fullmatch(_PLAIN, match["amount"]) and match["amount"] in ("one", "two", "three"):
        return None
    when = _periods_only(match["rest"])
    if when is None:
        return None
    when = when or _when(clause)
    if not when and re.search(r"\b(?:was|were)\b", clause.verb):
        return None
    if clause.tail.startswith((", which", "and ", ", and")):
        return None
    question = f"what {clause.verb} {clause.subject}{when}"
    return make_fact(statement, question, "amount", "numeric", "easy", match["amount"])


_ROLES_OF_MONEY = r"(?P<link>in|for|to|on|as|under|of|into|through|from|with) (?P<thing>.+)"


def _quantity(statement: Statement, clause: Clause) -> Fact | None:
    """X repurchased 15.7 million shares in 2021; X had 29,239 employees; X paid $5 million in dividends."""
    if clause.lead and re.search(rf"\b{_YEAR}\b", clause.predicate):
        return None
    is_have = clause.verb in ("has", "have", "had")
    if not (is_have or clause.base) or clause.base in (*_CHANGES, "total", "amount", "expect", "believe"):
        return None
    if is_have:
        helper = {"had": "did", "has": "does", "have": "do"}[clause.verb]
        verb = "have"
    else:
        helper, verb = _do(clause), clause.base
    money = re.match(
        rf"(?P<amount>{_HEDGE}{_MONEY})(?P<per> (?:a|per) (?:year|month|day|week|share))?(?P<rest>.*)", clause.predicate
    )
    if money is not None:
        rest = money["rest"].strip()
        when = _periods_only(rest)
        if verb == "cost" and (when is not None or rest.startswith("and ")):
            question = f"how much {helper} {clause.subject} cost{when or _when(clause)}"
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
        if re.search(rf"{_MONEY}|{_PERCENT}", thing) or " and $" in rest:
            return None
        if link["link"] == "of":
            question = f"what amount of {thing} {helper} {clause.subject} {verb}{_when(clause)}"
            periods = _PERIODS.search(thing)
            if periods:
                bare = (thing[: periods.start()] + thing[periods.end() :]).strip()
                if not bare or periods.end() != len(thing):
                    return None
                question = f"what amount of {bare} {helper} {clause.subject} {verb} {periods.group()}"
        else:
            if re.match(_YEAR, thing) or link["link"] == "as":
                return None
            question = f"how much {helper} {clause.subject} {verb} {rest}{_when(clause)}"
        if not (_when(clause) or _PERIODS.search(rest)) and helper == "did":
            return None
        return make_fact(statement, question, "quantity", "numeric", "medium", money["amount"])
    count = re.match(
        rf"(?P<amount>{_HEDGE}{_PLAIN}) (?P<noun>(?:[a-z-]+ ){{0,4}}[a-z-]*s)(?= |$)(?P<rest>.*)", clause.predicate
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
    if re.search(rf"{_MONEY}|{_PERCENT}", count["rest"]) or (count["rest"].lstrip().startswith(("and ", "or "))):
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
    if re.search(r"\b(?:and|or)\b", count_rest) and not _PERIODS.search(count_rest):
        return None
    question = f"how many {' '.join(noun_words)} {helper} {clause.subject} {verb} {count_rest}{_when(clause)}"
    return make_fact(statement, question, "quantity", "numeric", "easy", f"{count['amount']} {' '.join(noun_words)}")


def _share(statement: Statement, clause: Clause) -> Fact | None:
    """The five largest customers accounted for 48% of net sales in 2019."""
    match = re.fullmatch(
        rf"(?:for )?(?P<amount>{_HEDGE}{_PERCENT}) of (?P<whole>[^,]+?)(?P<when> {_PERIOD})?", clause.predicate
    )
    if match is None or clause.base not in ("account", "own", "hold", "comprise", "generate"):
        return None
    if re.search(rf"{_AMOUNT}|\band {_PERCENT}", match["whole"]):
        return None
    when = match["when"] or _when(clause)
    if not when and clause.is_singular is None:
        return None
    verb = "account for" if clause.base == "account" else clause.base
    question = f"what percentage of {match['whole']} {_do(clause)} {clause.subject} {verb}{when}"
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
    if re.search(rf"\b{_YEAR}\b|ing\b", match["who"].split()[0]):
        return None
    question = f"by whom {clause.verb} {clause.subject} {match['how']}{_when(clause)}"
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
    if match["end"].split()[0] in ("the", "a", "our", "its", "be", "date") or match["end"].split()[0] in _PAST:
        return None
    question = f"what {_do(clause)} {clause.subject} {clause.base} to {match['end']}"
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
    if clause.verb not in ("is", "are") or clause.lead or len(_join(clause).split()) < 4:
        return None
    head = (
        r"components?|sources?|products?|factors?|categories|segments|competitors|types|uses|markets|brands|objectives?"
    )
    if not re.match(rf"(?:the )?(?:[\w-]+ )?(?:{head}) (?:of|for|in) |.+'s (?:[\w-]+ )*(?:{head})\Z", clause.subject):
        return None
    if re.match(r"(?:not|subject|also|more|less|very|highly|\w+ed|\w+ing)\b", clause.predicate):
        return None
    return make_fact(statement, f"what {clause.verb} {clause.subject}", "parts", "entity", "medium", _join(clause))


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
    text = _join(clause)
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
            word in _DANGLING - {"when", "that", "which", "such", "other", "where", "its", "their"}
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
    if clause.subject.lower() in _GENERIC_SUBJECTS:
        return None  # there is always more that a company needs, has to do or depends on
    text = clause.predicate
    if clause.verb in ("is", "are"):
        be = _be(clause)
        match = re.match(
            r"(?P<how>designed|intended|required|permitted|obligated|entitled|allowed) to (?P<what>[a-z]+ .+)", text
        )
        is_generic = clause.subject.lower() in _GENERIC_SUBJECTS or be == "am"
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
            f"what {_do(clause)} {clause.subject} {clause.base} on",
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
        and not text.startswith("to ")
    ):
        return make_fact(
            statement, f"what {_do(clause)} {clause.subject} {clause.base}", "purpose", "entity", "easy", text
        )
    return None


def _list_of_parts(statement: Statement, clause: Clause) -> Fact | None:
    """X consists of A, B and C."""
    if clause.base not in ("consist", "comprise", "include") or clause.is_singular is None:
        return None
    whole = _join(clause)
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
            statement, f"what {_do(clause)} {clause.subject} consist of", "parts", "entity", "medium", whole[3:]
        )
    return make_fact(
        statement, f"what {_do(clause)} {clause.subject} {clause.base}", "parts", "entity", "medium", whole
    )


def _term(statement: Statement, clause: Clause) -> Fact | None:
    """X expires 36 months after they were earned; X matures in 2027."""
    if (
        clause.base not in ("expire", "arrive", "end", "begin", "start", "commence", "close", "terminate")
        or clause.is_singular is None
    ):
        return None
    if not re.match(rf"(?:in|within|on|at|after|{_PLAIN})\b", clause.predicate):
        return None
    return make_fact(
        statement, f"when {_do(clause)} {clause.subject} {clause.base}", "term", "numeric", "easy", clause.predicate
    )


def _position_held(statement: Statement, clause: Clause) -> Fact | None:
    """Ms. Smith has served as Chief Financial Officer since 2019."""
    if clause.verb not in ("has", "was"):
        return None
    match = re.match(
        rf"(?P<how>served as|been|appointed|elected|named) (?P<role>(?:our |the )?[A-Z][^,]+?) (?P<date>(?:since|"
        rf"in|on|effective) {_DATE})\Z",
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


def read_yes_no(statement: Statement, speaker: str, common: frozenset[str]) -> tuple[str, bool, Clause] | None:
    """Return a question that the sentence answers with yes or no, whether with yes, and the clause.

    Parameters
    ----------
    statement : Statement
    speaker : str
        Who says "we".
    common : frozenset of str
        See :func:`common_words`.
    """
    if "=AUDITOR" in common:
        return None
    clause = read_clause(statement.text, speaker, common)
    if clause is None or not is_specific(clause.subject, speaker) or _CONDITIONS.search(statement.text):
        return None
    predicate, is_yes = clause.predicate, True
    if predicate.startswith("not "):
        predicate, is_yes = predicate[4:], False
    if _NEGATION.search(predicate) or len(predicate.split()) < MINIMUM_PREDICATE_WORDS:
        return None
    if clause.lead and re.search(rf"\b{_YEAR}\b", predicate):
        return None
    if (
        re.match(_MONEY, predicate)
        and _periods_only(re.sub(rf"\A{_AMOUNTS}", "", predicate)) is not None
        and clause.base != "cost"
        and clause.verb not in _COPULAS
    ):
        return None
    if re.search(rf"\band (?:\w+ ){{0,4}}(?:{'|'.join(sorted(_AUXILIARIES))})\b", predicate) or re.match(
        r", [^,]{1,60}, (?:the|a|an|any|all|its|our|their) |,? (?:who|which)\b[^,]*, (?:the|a|an|all|any|its|"
        r"our)\b|,? (?:but not|less|plus|divided|net|times|"
        r"multiplied|and|or|if)\b",
        clause.tail,
    ):
        return None
    if clause.is_list_cut or re.match(
        r"(?:offset|driven|attributable|resulting|representing|reflecting)\b", clause.tail
    ):
        return None
    if re.search(
        r"\b(?:found|described|discussed|disclosed|defined|contained) (?:in|on|elsewhere|under)\b|\bglossary\b",
        predicate,
    ):
        return None
    if re.search(r" as (?:higher|lower|increased|decreased)\b|\b(?:and|or) (?:be|are|is)\b", predicate):
        return None
    if clause.verb in _COPULAS and re.search(rf"\band (?:\w+ly )?(?:{'|'.join(sorted(_BASES))})\b", predicate):
        return None
    if re.search(r"\bthat\b|\b(?:believe|expect|estimate|assume)\b", f"{clause.base} {predicate}"):
        return None
    if clause.verb in _AUXILIARIES:
        if clause.verb not in (
            "is",
            "are",
            "was",
            "were",
            "has",
            "have",
            "can",
            "must",
            "will",
            "could",
            "may",
            "shall",
        ):
            return None
        first = predicate.split()[0]
        is_participle = first in _PAST or first in _IRREGULAR_PARTICIPLES or first.endswith("ed")
        if first.startswith("un") and first.endswith("ed"):
            return None
        if clause.verb in ("has", "have") and not is_participle:
            helper, verb = ("does" if clause.verb == "has" else "do"), "have "
        else:
            # "may the price fall?" would ask for permission
            helper, verb = {"may": "could", "shall": "must"}.get(clause.verb, _be(clause)), ""
    else:
        helper, verb = _do(clause), f"{clause.base} "
    if not is_yes and verb:
        return None
    if (
        re.search(rf"\band {_PERIOD}\Z", predicate) and clause.tail
    ):  # "..., and through March 2021, loans were forgiven"
        return None
    question = f"{helper} {clause.subject} {verb}{predicate}{_when(clause)}"
    # what was once so was so at some time, or of something with a name
    if helper in ("did", "was", "were") and not re.search(rf"\b{_YEAR}\b|\b[A-Z][\w'-]+ [A-Z]", question):
        return None
    if (clause.base in _CHANGES or predicate.startswith("due to")) and not re.search(rf"\b{_YEAR}\b", question):
        return None
    return question, is_yes, clause


MINIMUM_PREDICATE_WORDS: Final = 4

_CONDITION = re.compile(r"(?:If|When) (?P<condition>[^,;:]{15,160}), (?:then )?(?P<main>[^;:]{20,300})\.")


def _conditions(statement: Statement, speaker: str, common: frozenset[str]) -> list[Fact]:
    """If X, Y: what happens if X."""
    text = _PARENTHESES.sub("", statement.text)
    match = _CONDITION.fullmatch(text)
    if match is None or '"' in text:
        return []
    condition, main = match["condition"], match["main"]
    words = [word.lower() for word in _PART.findall(condition)]
    if (
        any(word in _DANGLING - {"other"} for word in words)
        or not 7 <= len(words) <= 22
        or _PREPOSITION_END.search(condition)
    ):
        return []
    if re.match(r"(?:neither|either|both|one|some|any) |\w+(?:ed|ing) ", condition):
        return []
    if (re.match(r"(?:the|a|an) [a-z]", condition) and not _COMPANY.match(condition)) or re.search(
        rf"{_MONTH} \d+\Z", condition
    ):
        return []
    if not re.search(rf"\b(?:{'|'.join(sorted(_AUXILIARIES | set(_THIRD) | set(_PAST) | _BASES))})\b", condition):
        return []
    if re.search(r"\bwe are\b|\bwe were\b|\bwe have\b|\bwe do\b", condition):
        condition = re.sub(
            r"\bwe (are|were|have|do)\b",
            lambda found: f"{speaker} " + {"are": "is", "were": "was", "have": "has", "do": "does"}[found[1]],
            condition,
        )
    if re.search(r"\bwe\b", condition):
        if not re.search(r"\bwe (?:cannot|fail|can|could|may|must|will|\w+ed)\b", condition):
            return []
        condition = re.sub(r"\bwe fail\b", f"{speaker} fails", condition)
        condition = re.sub(r"\bwe\b", speaker, condition)
    condition = re.sub(r"\byou are\b", "I am", condition)
    condition = re.sub(r"\byou\b", "I", condition)
    condition = _speak(condition, speaker)
    del main, common
    return [make_fact(statement, f"what happens if {condition}", "condition", "description", "medium")]


_DEFINED = re.compile(
    r"(?P<name>(?:[A-Z][\w&'\u2019-]*|of|the|and|for|in|on|to)(?: (?:[A-Z][\w&'\u2019-]*|of|the|and|for|in|on|to|"
    r"&)){1,9}) "
    r"\((?:the |collectively, )?[\"\u201c\u2018]?(?P<short>[A-Z][A-Z&]{1,7})[\"\u201d\u2019]?\)"
)
_SMALL_WORDS = frozenset(["of", "the", "and", "for", "in", "on", "to", "&"])


def _abbreviations(text: str) -> list[Fact]:
    """Return the abbreviations that a chunk explains: the capitals of the name spell the short form."""
    facts = []
    position = 1000  # behind the sentences, which say more of the chunk
    for paragraph, _ in find_paragraphs(text):
        folded = " ".join(paragraph.split())
        for match in _DEFINED.finditer(folded):
            words = match["name"].split()
            short = match["short"].replace("&", "")
            for start in range(len(words)):
                candidate = words[start:]
                if candidate[0] in _SMALL_WORDS:
                    continue
                letters = "".join(word[0] for word in candidate if word not in _SMALL_WORDS)
                every = "".join(word[0].upper() for word in candidate)
                if short in (letters.upper(), every) and len(candidate) > 1:
                    name = " ".join(candidate)
                    position += 1
                    sentence = f"{match['short']} stands for {name}."
                    statement = Statement(sentence, position)
                    facts.append(
                        Fact(
                            f'what does the abbreviation "{match["short"]}" stand for',
                            statement.text,
                            name,
                            "abbreviation",
                            "abbreviation",
                            "easy",
                            (match["short"].lower(),),
                            True,
                            position,
                        )
                    )
                    break
    return facts
