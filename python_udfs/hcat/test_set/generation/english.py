"""The English that the patterns of facts read: dates, amounts, and closed lists of verbs and other words."""

from __future__ import annotations

import re
from typing import Final

# Words
MONTH = "(?:January|February|March|April|May|June|July|August|September|October|November|December)"
YEAR = r"(?:19|20)\d\d"
DATE = (
    rf"(?:{MONTH} \d{{1,2}}, {YEAR}|{MONTH},? {YEAR}|\d{{1,2}} {MONTH} {YEAR}|(?:fiscal |the year |calendar "
    rf")?(?:year )?{YEAR})"
)
_QUARTER = rf"(?:the )?(?:first|second|third|fourth) (?:fiscal )?(?:quarter|half) of (?:fiscal )?(?:year )?{YEAR}"
_ENDED = rf"(?:the )?(?:fiscal )?(?:years?|quarters?|three months|six months|nine months|twelve months) ended {DATE}"
ONE_PERIOD = rf"(?:{_ENDED}|{_QUARTER}|{DATE})"
PERIOD = (
    rf"(?:in|during|for|as of|at|on|since|through|until|by|throughout) (?:each of )?{ONE_PERIOD}(?:(?:, and |, | "
    rf"and | or | to | through ){ONE_PERIOD})*"
)
LEAD = re.compile(rf"(?P<lead>{PERIOD}), (?P<rest>\S.*)", re.IGNORECASE)
PERIODS: Final = re.compile(rf"\b{PERIOD}", re.IGNORECASE)
_EVENT_DATE = (
    rf"(?:in|on) (?:{MONTH} \d{{1,2}}, {YEAR}|{MONTH},? {YEAR}|\d{{1,2}} {MONTH} {YEAR}|(?:fiscal |fiscal "
    rf"year )?{YEAR})"
)
EVENT_LEAD = re.compile(rf"(?:{_EVENT_DATE})", re.IGNORECASE)
EVENT_END = re.compile(rf"(?P<event>.+?) (?P<date>{_EVENT_DATE})", re.IGNORECASE)
_SCALE = r"(?: (?:thousand|million|billion|trillion))?"
MONEY = rf"(?:(?:US|U\.S\.|C|A)?[$\u20ac\u00a3]\s?\d[\d,]*(?:\.\d+)?{_SCALE})"
PERCENT = r"(?:\d[\d,]*(?:\.\d+)?\s?(?:%|percent(?:age points?)?|basis points))"
_SMALL = "(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|fifty)"
PLAIN = rf"(?:\d[\d,]*(?:\.\d+)?{_SCALE}|{_SMALL})"
HEDGE = (
    r"(?:(?:approximately|about|around|nearly|almost|roughly|only|just|over|more than|less than|at least|at most|"
    r"up to|an aggregate of|a total of) )*"
)
AMOUNT = rf"{HEDGE}(?:{MONEY}|{PERCENT}|{PLAIN})"
AMOUNTS = rf"{AMOUNT}(?:(?:, and |, | and | or ){AMOUNT})*"
UNIT = (
    r"(?: (?:years?|months?|days?|hours?|weeks?|minutes?|square feet|acres|employees|shares|basis points|per share|"
    r"a year|a month|a day|per year|per month|per day|per annum|annually))*"
)
_AUXILIARY_LIST = "is are was were has have had can may must will cannot could would should shall might"
AUXILIARIES = frozenset(_AUXILIARY_LIST.split())
COPULAS = frozenset(["is", "are", "was", "were"])
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
ALL_BASES = frozenset(base for base, _, _ in _FORMS)
THIRD = {third: base for base, third, _ in _FORMS}
PAST = {past: base for base, _, past in _FORMS} | {"totalled": "total"}
#: Plural present forms that are no nouns where they follow a subject.
_BASE_LIST = """
include consist require provide operate need expire contain apply believe employ own maintain offer compete sell expect
manufacture develop depend cost comprise serve generate recognize rely arrive hold earn produce receive support take
evaluate recognize pay determine estimate
"""
BASES = frozenset(_BASE_LIST.split())
CHANGES = frozenset(["increase", "decrease", "decline", "grow", "rise", "fall"])
# third persons that are plural nouns as often: a verb only where an article or amount follows
_NOUN_LIST = """
accounts amounts awards changes charges deposits focuses results returns reviews shows benefits values stores
structures subjects tests tracks trains updates upgrades posts processes imports exports experiences faces appeals
advises guarantees sponsors closes costs covers declines decreases designs ends estimates exercises exits files
finances forms funds grants increases issues lasts leases licenses markets measures moves needs offers permits plans
prices purchases records releases reports runs starts supplies supports totals transfers uses yields
"""
NOUNS = frozenset(_NOUN_LIST.split())
AFTER_VERB = re.compile(r"(?:a|an|the|our|your|its|all|no|both|more|up|between|from|at|[$\u20ac\u00a3]?\d.*)\Z")
ANY_VERB = "|".join(sorted(({*THIRD} - NOUNS) | {*PAST}))
_FINITE_VERB = (
    rf"(?:(?:{'|'.join(sorted({*THIRD} - NOUNS))})\b|(?:{'|'.join(sorted(NOUNS))}) "
    r"(?=(?:a|an|the|no|nothing) |[$\u20ac\u00a3]?\d))"
)
SECOND_VERB = re.compile(rf",? and (?:\w+ly |then )?{_FINITE_VERB}")
#: A clause with a subject of its own: "the letter arrives within three days and the code holds for 20".
SECOND_CLAUSE = re.compile(rf"\band (?:[\w-]+ ){{1,5}}{_FINITE_VERB}")
_ADVERB_LIST = """
also generally primarily currently typically usually principally mainly largely
previously subsequently always often normally initially further previously recently historically annually
still directly mostly regularly periodically ultimately formally successfully jointly voluntarily
"""
ADVERBS = frozenset(_ADVERB_LIST.split())
# words that point to another sentence, or open a clause of their own
_DANGLING_LIST = """
it its itself they them their theirs themselves he him his she her hers himself herself this that these those such
there here who whom whose which what where when why how if unless although though because while whereas whether since
another other others same former latter respective respectively said thereby therein thus therefore then former
mine ours yours ourselves yourself myself
"""
DANGLING = frozenset(_DANGLING_LIST.split())
NO_ADVERBS = frozenset(
    ["only", "early", "likely", "supply", "apply", "comply", "rely", "reply", "imply", "multiply", "fly", "family"]
)
#: In a predicate these mean its subject.
OWN = frozenset(("its", "their", "itself", "themselves"))
CONDITIONS = re.compile(
    r"\b(?:if|unless|except|provided that|provided,|only when|when|until|subject to|assuming|in the event|to the "
    r"extent|"
    r"may not be|there can be no assurance|would have|could have)\b",
    re.IGNORECASE,
)
NEGATION = re.compile(r"\b(?:no|not|never|neither|nor|none|without|cannot)\b|n't\b", re.IGNORECASE)
COMPANY = re.compile(
    r"\bthe (?:Company|Corporation|Bank|Group|Registrant|Firm|Trust|Partnership|company|bank|Board|Board of "
    r"Directors)\b"
)
#: Names that a contract or report defines for itself: clear inside it and nowhere else, and never alone in a document.
DEFINED_ALONE = re.compile(
    r"\b[Tt]he (?:Plan|Notes?|Agreement|Merger|Participants?|Committee|Awards?|Trust|Transactions?|Offering|Indenture|"
    r"Lenders?|Borrowers?|Holders?|Securities|Act|Program|Policy|Administrator|Employer|Employee|Directors?|Grant|"
    r"Options?|"
    r"Shares|Units|Trustee|Agent|Issuers?|Guarantors?|Separation|Acquisition|Settlement|Facility|Fund|Code|Order|Rule|"
    r"Warrants?|Bonds?|Leases?|Properties|Property|Parties|Services|Products|Proposal|Closing|Executive|Grantee|"
    r"Optionee)"
    r"(?=[ ?]|\Z)(?! [A-Z]| of [A-Z])"
)
RELATIVE_TIME = re.compile(
    r"\b(?:that (?:date|time|day|year|period)|such (?:date|time)|the same (?:period|quarter|date|year)|the "
    r"(?:prior|previous|preceding|"
    r"current|following|next|comparable|corresponding|year-ago) (?:fiscal )?(?:year|quarter|period|month)s?|the "
    r"periods? presented|"
    r"all periods|these periods|last year|this year|to date|today|recently|the years? then ended)\b",
    re.IGNORECASE,
)
TAIL = re.compile(
    r",? (?:which|who|whom|whose|where|whereby|although|though|while|whereas|because|as compared|compared|versus|due|"
    r"primarily|mainly|largely|principally|partially|reflecting|including|excluding|as well as|resulting|representing|"
    r"driven|offset|attributable|net of|subject to|in connection with|pursuant to|as a result|as described|as defined|"
    r"as discussed|respectively|plus|depending|unless|provided|except|in accordance with|in order|so that|such as|"
    r"as amended|and (?:is|are|was|were|has|have|had|can|may|must|will)|but)\b"
    r"|;|:(?!\d)| - | \u2013 |\u2014|, (?=(?!fiscal |and fiscal |and 20)[a-z])",
)
NEXT_CLAUSE = re.compile(r"[,;:]| (?:which|that|who|where|when|because|although|as|if|while|whereas|and|but) ")
# "interest related to taxes, net of refunds, was recorded"
LATE_VERB = re.compile(r", (?:\w+ly )?(?:is|are|was|were|has|have|had|will|may|can|could)\b")
FINAL_ABBREVIATION = re.compile(r"\b(?:U\.S|Inc|Ltd|Corp|Co|plc|L\.P|N\.A|S\.A|Jr|a\.m|p\.m|U\.K|D\.C|N\.V|P\.C)\Z")
PART = re.compile(r"[^\W_]+(?:['\u2019.&/-][^\W_]+)*")
PARENTHESES = re.compile(r" ?\([^()]*\)")
PREPOSITION_END = re.compile(
    r"\b(?:of|in|for|to|from|with|on|at|by|under|and|or|the|a|an|as|our|its|their|through|that|not|than|into|via|"
    r"per|after|"
    r"before|since|without|between|during|upon|about|until|against|among|within|toward|towards)\Z",
    re.IGNORECASE,
)
_COMMON_ENDINGS_LIST = """
s ion ment ity ance ence ing ive ture ness ship ware al ble ed ry ct ce ty nt er th le re
"""
COMMON_ENDINGS = tuple(_COMMON_ENDINGS_LIST.split())
_COMMON_OPENERS_LIST = """
Money Cash Gross Land Stock Debt Free Proof Guide Staff Food Full Common Long Short Basic
"""
COMMON_OPENERS = frozenset(_COMMON_OPENERS_LIST.split())
AUDITOR = re.compile(
    r"\bwe have audited\b|\bour audits?\b|\bour opinion on\b|\bpublic accounting firm\b", re.IGNORECASE
)
_NO_GERUNDS_LIST = """
including excluding following during regarding concerning according notwithstanding pending depending considering
assuming having being barring given resulting beginning starting
"""
NO_GERUNDS = frozenset(_NO_GERUNDS_LIST.split())
NO_PLURALS = frozenset(
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
PLAIN_VERBS = ALL_BASES - frozenset(_NOUN_BASES_LIST.split())
# verbs that need no object: after any other one a preposition shows that it is no finite verb
_INTRANSITIVE_LIST = """
enter agree apply begin commence rely join increase decrease decline grow rise fall expire arrive consist compete depend
operate contribute continue remain end start close merge invest exit run come move amount account relate result occur
focus lead vary engage comply participate serve sell cease improve exist plan aim expect last open return expand carry
"""
INTRANSITIVE = frozenset(_INTRANSITIVE_LIST.split())
PREPOSITION = re.compile(r"(?:in|by|for|on|with|from|to|under|as|at|of|through|within|upon|into)\b")
_IRREGULAR_PARTICIPLES_LIST = """
set overseen put taken given shown held kept met paid sold begun become gone seen known grown chosen written built
brought bought spent sent left lost made led found been had undertaken withdrawn arisen risen fallen
"""
IRREGULAR_PARTICIPLES = frozenset(_IRREGULAR_PARTICIPLES_LIST.split())
_HEADS_LIST = """
rate rates ratio average margin price yield balance expense revenue sales income loss profit dividend term life period
headcount number amount cost
"""
HEADS = frozenset(_HEADS_LIST.split())
SINGLED_OUT = re.compile(r"\b(?:largest|smallest|highest|lowest|oldest|newest|top)\b")
#: Plurals that say too little by themselves: whose, of what, in which case.
_UNSPECIFIC_LIST = """
gains losses lawsuits claims payments amounts costs changes benefits adjustments results actions charges fees awards
plaintiffs defendants parties complaint complaints motion motions order orders hearing trial notes loans transactions
contracts agreements options shares units products services risks proceedings matters cases petitioners appellants
settlements customers suppliers vendors holders lenders borrowers directors officers members securities estimates
differences factors items purchases increases decreases proceeds complaints appeals
"""
UNSPECIFIC = frozenset(_UNSPECIFIC_LIST.split())
GENERIC_SUBJECTS = (
    "the company", "the bank", "the firm", "the group", "the corporation", "management", "entities", "companies",
    "participants", "employees",
)  # fmt: skip
_ANAPHORIC_LIST = """
increase decrease decline change changes adjustment difference impact effect result majority remainder amount amounts
full fair carrying remaining related resulting transaction improvement reduction growth sale
"""
ANAPHORIC = frozenset(_ANAPHORIC_LIST.split())
#: Patterns whose questions end with a preposition: what is it based on?
OPEN_ENDS = frozenset(("abbreviation", "parts", "purpose"))
