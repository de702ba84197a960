"""Find refusals: answers that decline, or say that the information is not available.

A closed list of patterns knows three kinds of sentence. Most say how such a sentence is made: who cannot tell, what is
silent, or what is not told. The answer *declines* ("I cannot ..."), it calls the
information *unavailable* ("the context does not contain ..."), or it *deflects* ("please consult an adviser", "you
would need the figures"). The rules consider where such sentences stand and how much the answer says besides. A caveat
in a long answer is no refusal, and neither is a short answer that claims something beside: a partial refusal.
"""

import re
from typing import Final, NamedTuple

from hcat.language.claims import claims_nothing
from hcat.language.text import count_content_words, split_sentences

MAXIMUM_ANSWER_SHARE: Final = {"declines": 0.7, "unavailable": 0.5}
"""Kind of the opening sentence -> largest share of content words in answering sentences with which the answer is a
refusal."""

MAXIMUM_OPENING_WORDS: Final = 5
"""Largest number of content words ("Thank you for your question.") before a sentence that counts as the opening."""

MAXIMUM_SHARE_BEFORE_CLOSING: Final = 0.4
"""Largest share of content words in answering sentences with which a closing sentence that declines makes a refusal."""

MAXIMUM_REFERRAL_CHARACTERS: Final = 300
"""Characters of the longest answer that counts as a refusal because it only names somebody else to ask."""

MAXIMUM_PARTIAL_CHARACTERS: Final = 300
"""In an answer up to this length every claim beside a refusal makes it a partial one; a longer one explains itself."""

MAXIMUM_SHARE_BESIDE: Final = 0.35
"""Largest share of content words in answering sentences with which a declining sentence anywhere makes a refusal."""


class RefusalPattern(NamedTuple):
    """One pattern: its name, the kind of sentence that it marks (declines, unavailable, deflects), its expression."""

    name: str
    kind: str
    expression: re.Pattern[str]


_SOURCE = (
    r"(?:context|passages?|text|documents?|excerpts?|filings?|information|evidence|details|data|sources?|articles?|"
    r"reports?|financial statements?|snippets?|materials?|content|paragraphs?|provided|search results|"
    r"knowledge base|records?|summary|10-?[kq]|8-?k|tables?|pages?|portion|section)"
)
_KNOWLEDGE = (
    r"(?:information|mention|data|details?|evidence|reference|indication|figures?|answer|record|context|"
    r"instructions?|"
    r"guidance|statement|discussion|explanation|breakdown)"
)
# Verbs of answering. Other verbs are left out: "cannot be refunded" or "we cannot process payments" are answers.
_WORK_OUT = (
    r"(?:determine|calculate|compute|answer|tell|say|identify|assess|confirm|conclude|derive|ascertain|evaluate|"
    r"compare|estimate|verify|definitively|accurately|comment|give (?:a|an|the|you)|"
    r"provide (?:a|an|the|any|you|this|that|your|specific|exact|accurate|current)|proceed with the calculation)"
)
_DO_FOR_YOU = (
    r"(?:provide|give|find|state|offer|share|assist|help|access|retrieve|look up|browse|fetch|discuss|disclose|"
    r"advise|"
    r"recommend|respond|fulfil+|comply|complete|perform|generate|make|directly|specifically|see|locate|speak|predict|"
    r"do (?:that|this|so)|support|continue)"
)
# What may hold an answer, what it then does, and what has become of the answer.
_PLACE = (
    r"(?:contexts?|passages?|texts?|documents?|documentation|excerpts?|extracts?|snippets?|sources?|materials?|"
    r"articles?|paragraphs?|"
    r"pages?|search results?|knowledge base|database|corpus|files?|notes?|manual|handbook|guide|records|transcript)"
)
_TELL = (
    r"(?:mentions?|states?|says?|tells?|specif(?:y|ies)|describes?|discuss(?:es)?|address(?:es)?|covers?|"
    r"explains?|speaks?|touch(?:es)?|"
    r"details?|discloses?|reveals?|indicates?|answers?|refers?|goes? into|clarif(?:y|ies))"
)
_TOLD = (
    r"(?:mentioned|stated|specified|described|discussed|addressed|covered|explained|detailed|disclosed|revealed|"
    r"indicated|answered|"
    r"provided|given|found|available|contained|included|listed)"
)
_NOT = r"(?:n't|'t|\b(?:do|does|did|ca|is|are|was|wo)nt|\bnot|\bcannot)"
_SPEAKER = r"(?:i|this system|the (?:assistant|model|system)|as an ai\b[^.]{0,60}? i)"
_CANNOT = (
    r"(?:(?:'| a)m| is| are|'re)? (?:can ?(?:not|'t)|could ?(?:not|n't)|would not be able|"
    r"(?:currently |therefore |thus |also )*(?:not (?:currently )?able|unable)|(?:must|have to) (?:decline|refuse))"
    r"(?:,? \w+ly)?(?: be able)?(?: to)? (?:\w+ly )?"
)


def _pattern(name: str, kind: str, expression: str) -> RefusalPattern:
    return RefusalPattern(name, kind, re.compile(expression, re.IGNORECASE))


REFUSAL_PATTERNS: Final = (
    _pattern(
        "apology",
        "declines",
        r"^\W*(?:(?:i(?:'| a)m (?:very |truly |really |so )?(?:sorry|afraid)|sorry|(?:my )?apologies|"
        r"i apologi[sz]e)\b"
        r"(?! (?:to hear|for (?:the|any|my)))\W{0,2}(?:but|however|i|there|the|this|that|it|no|you)\b"
        r"|unfortunately\b,? i\b.{0,40}(?:\bnot\b|n't|unable|cannot))",
    ),
    _pattern(
        "speaker_cannot",
        "declines",
        rf"\b(?:{_SPEAKER}{_CANNOT}(?:{_WORK_OUT}|{_DO_FOR_YOU})|i (?:will not|won't) (?:{_WORK_OUT}|{_DO_FOR_YOU})"
        rf"|we{_CANNOT}{_WORK_OUT})\b",
    ),
    _pattern(
        "speaker_does_not_know",
        "declines",
        r"\b(?:i|we|this system|the (?:assistant|model|system)) (?:do|does|did)(?:n't| not) "
        r"(?:(?:currently|actually|yet|really|personally|directly|specifically) )*(?:know\b|have (?:\w+[ -]){0,5}?"
        r"(?:access|information|data|details|ability|knowledge|capability|capabilities|context|answer|evidence|"
        r"figures)"
        r"|possess|see any|find any|feel comfortable)",
    ),
    _pattern(
        "without_access",
        "declines",
        r"\bwithout (?:[\w'&.-]+ ){0,6}?(?:access|information|data|details|figures?|values?|evidence|context)"
        r"\b[^.]{0,160}\b(?:can ?not|can't|not possible|impossible|unable|difficult|isn't possible)\b",
    ),
    _pattern(
        "not_possible_to_answer",
        "declines",
        r"(?:(?:\bnot|n't) (?:currently |directly )?(?:possible|feasible)|\b(?:impossible|difficult|unable|no way))"
        rf"(?: for \w+)? to (?:\w+ly )?{_WORK_OUT}\b",
    ),
    _pattern(
        "cannot_be_determined",
        "declines",
        r"\b(?:can ?not|can't|could not|couldn't|unable to) be (?:\w+ly )?(?:determined|calculated|computed|answered|"
        r"assessed|derived|concluded|ascertained|evaluated)\b|\b(?:is|are|remains?) (?:unanswerable|"
        r"indeterminable)\b",
    ),
    _pattern(
        "insufficient_information",
        "declines",
        r"\b(?:insufficient|not enough|isn't enough|(?:does|do|is|are)(?:n't|"
        rf" not)(?: \w+){{0,3}} (?:enough|sufficient)|lacks? (?:\w+ ){{0,3}}?(?:necessary|sufficient|"
        rf"required|specific)) (?:\w+ ){{0,3}}?{_KNOWLEDGE}",
    ),
    _pattern(
        "policy",
        "declines",
        r"\b(?:against (?:my|our) (?:policy|guidelines|programming)|not (?:allowed|permitted|"
        r"authori[sz]ed) to (?:answer|provide|give|discuss|share|disclose|help|assist)|(?:outside|"
        r"beyond) (?:of )?(?:my|our|the) (?:scope|knowledge|expertise|capabilit)|(?:rather|"
        r"prefer) not (?:to )?(?:answer|say))",
    ),
    _pattern(
        "question_lacks_input",
        "declines",
        r"\byou (?:have ?n[o']t|did ?n[o']t|have not) (?:provided?|given|included?|shared?|specif(?:y|"
        r"ied)|attached?)\b",
    ),
    _pattern(
        "limits_its_purpose",
        "declines",
        r"\b(?:i|we)(?: can|'m| am|'re| are)?(?: able to)? only (?:able to |here to |made to |built to )?"
        r"(?:help|assist|answer|discuss|respond|support|talk)\b",
    ),
    _pattern(
        "asks_back",
        "declines",
        r"\bi(?:'m| am) not (?:quite |entirely )?sure (?:what|which|i understand)\b"
        r"|\b(?:i|we) (?:would |will )?need (?:some |a (?:little|bit) )?more (?:information|details?|"
        r"context)\b.{0,40}"
        r"\b(?:before|to (?:answer|help|assist|reply))\b",
    ),
    _pattern(
        "german_or_spanish",
        "declines",
        r"^\W*(?:leider|es tut mir leid|lo siento|lamentablemente|desafortunadamente)\b.{0,60}\b(?:nicht|nichts|"
        r"keine?[nrs]?|no|nada|ninguna?)\b|\b(?:dazu|darüber|hierzu) (?:habe|finde|kann) ich (?:leider )?"
        r"(?:nichts|keine?|nicht)\b"
        r"|\b(?:dazu|darüber|hierzu) liegen (?:mir|uns) (?:\w+ ){0,2}?(?:keine|nicht)\b"
        r"|\bno (?:tengo|encuentro|encontré|dispongo de|puedo (?:responder|ayudar))\b",
    ),
    _pattern(
        "source_lacks_information",
        "unavailable",
        rf"\b(?:{_SOURCE}\b[^.;:,]{{0,50}}?|{_SOURCE}\b[^.;:]{{0,80}}, (?:so |but )?(?:it|they|which)|"
        r"^however, it|but it) (?:do|does|did)(?:n't| not) (?:(?:explicitly|specifically|directly|"
        r"clearly|actually|appear to|seem to|necessarily|fully|itself) )*(?:provide|contain|include|"
        rf"mention|specify|state|give|discuss|address|have (?:\w+ ){{0,3}}?{_KNOWLEDGE}|offer|list|detail|"
        r"disclose|answer|say|cover|show|present|reveal|describe|explain|supply|break|refer|identify|"
        r"talk|directly)\b",
    ),
    _pattern(
        "no_information",
        "unavailable",
        r"\b(?:i|we) (?:have |could )?(?:found|find) nothing\b|"
        r"\b(?:(?:there(?:'s| is| are| was| were)?|contains?|provides?|includes?|has|have|had|gives?|"
        r"makes?|find|found|offers?|with|see)\s+)(?:currently )?(?:no|not any|n't any|"
        rf"not an?) (?:\w+[ ,]+){{0,4}}?{_KNOWLEDGE}\b|"
        rf"^\W*no (?:\w+ ){{0,3}}?{_KNOWLEDGE}\b[^.]{{0,120}}(?:available|provided|found|given|in the|$)",
    ),
    _pattern(
        "not_provided",
        "unavailable",
        rf"\b(?:is|are|was|were|been|being)(?: \w+)?(?:n't| not) (?:\w+ly )?"
        rf"(?:(?:mentioned|stated|disclosed|specified)\b|(?:provided|available|included|given|contained|listed|"
        rf"present|covered|found|reported|described|known|"
        rf"addressed|discussed|detailed|answered)\b[^.]{{0,20}}? (?:in|by|from|within) (?:\w+ ){{0,3}}?{_SOURCE}\b)"
        rf"|\b{_KNOWLEDGE}\b[^.]{{0,80}}? (?:is|are|was|were)(?:n't| not) (?:\w+ly )?"
        r"(?:provided|available|included|given|present|known|found)\b",
    ),
    _pattern(
        "speaker_has_nothing",
        "declines",
        r"\b(?:i|we)(?:'ve|'m|'d| have| had| am| was| were| would| can| could)?(?: \w+ly)? (?:got |offer |hold |"
        r"find |found |see )?(?:"
        rf"no (?:way|idea|clue|{_KNOWLEDGE})\b|nothing\b|(?:lack|insufficient|too little)\b"
        r"|(?:must |have to |will )?(?:pass on|decline|refuse)\b|(?:come up empty|only be guessing|drawn a blank)"
        r"|(?:have to |must )?leave (?:this|that|it)\b|(?:not|n't) (?:quite |entirely |really )?sure\b|unsure\b)"
        rf"|\bi(?:'m| am| was| will|'ll| do| did| can| could| would| wo| have)? ?{_NOT} (?:\w+ly )?(?:able|"
        rf"allowed|equipped|permitted|"
        rf"supposed|qualified|know|in a position|be able|be of|have (?:access|those|that|this|any|the)|see|find|found|"
        rf"{_TELL})\b"
        rf"|\bwe(?:'re| are| were| was| do| did| can| could)? ?{_NOT} (?:\w+ly )?(?:able to (?:find|locate|answer|"
        rf"see|tell)|find|locate|found|know)\b"
        r"|\b(?:no|not something (?:that )?i\b|no way of) ?(?:knowing|telling|luck)?\b(?<=i|g|k)"
        r"|^\W*beats me\b|^\W*(?:idk|dunno|no idea|no luck)\b|\b(?:drawn? a blank|come up empty)\b"
        rf"|\bi(?:'d| would)? (?:need|have) to (?:see|know|have) more\b|\b(?:ask (?:someone|somebody) else|"
        rf"nothing i can)\b",
    ),
    _pattern(
        "without_subject",
        "declines",
        r"^\W*(?:(?:sorry|unfortunately|regrettably|sadly|hmm+|well|"
        r"no)[,.]? )?(?:but )?(?:currently )?(?:(?:can ?not|can't|could "
        r"?not|couldn't|unable to|not able to|do not|don't|dont|did not|didn't) (?:be )?(?:\w+ly )?"
        rf"(?:{_WORK_OUT}|{_TELL}|find|found|know|see|help|locate|respond|be answered)\b"
        rf"|(?:not|nowhere|never) (?:\w+ly )?(?:{_TOLD}|known|in (?:the|my|these|this|any)|enough|sure|clear|"
        rf"possible|answerable)\b"
        rf"|(?:insufficient|no|not enough|missing|unknown)(?: \w+){{0,2}} (?:{_SOURCE}|answer|results?|hits?|"
        rf"match(?:es)?|mention)"
        r"(?: (?:available|(?:(?:was|were|is|are) )?(?:found|available|provided|given|at hand)|to|on|about|in|for|"
        r"of|that|this)\b[^.,;]{0,60})?\W*\Z"
        r"|(?:answer|information|data|question) (?:un|not )(?:available|answer)|n/?a\W*\Z|unknown\W*\Z|unanswerable)",
    ),
    _pattern(
        "question_stays_open",
        "declines",
        rf"\b(?:question|answer)\b[^.;:]{{0,60}}?{_NOT} (?:seem |appear )?(?:to )?(?:be )?(?:\w+ly )?(?:answer|"
        rf"resolv|settled|given|possible|{_TOLD}|"
        r"appear|in (?:the|what|this|these|my))"
        rf"|^\W*(?:(?:unfortunately|sadly|regrettably|however)\W+)?(?:that|this|it|(?:such|this|that|"
        rf"th[eo]se) \w+|whether [^,.]{{1,30}})(?:'s| is| are| was| were| has| have| does| do| can| could|"
        rf" remains?| seems?)? ?(?:{_NOT} (?:\w+ly |been |be |seem |appear )*(?:to be )?(?:{_TOLD}|inferred|"
        rf"something (?:that )?(?:i|we|the)\b|in (?:the|my|what|these|this|our)"
        rf"\b|part of (?:the|my))|(?:been )?(?:absent from|missing from|left out|omitted|unclear|unanswered|"
        rf"unstated|beyond me))"
        r"|\bno answer (?:can be|here)\b|\b(?:falls?|is|lies?|that's|goes) (?:outside|beyond) (?:of )?(?:what|"
        r"the scope|my|these|this)\b"
        rf"|\b(?:without (?:further|more|additional) {_KNOWLEDGE}|not enough to go on|{_KNOWLEDGE} (?:on|about|"
        rf"for) (?:that|this) (?:is|are) "
        r"(?:missing|lacking|unavailable|absent))\b",
    ),
    _pattern(
        "source_is_silent",
        "unavailable",
        rf"\b{_PLACE}\b[^.;:,]{{0,40}}?(?:{_NOT}|\bfails? to|\bnever) (?:\w+ly )?{_TELL}\b"
        rf"|\b{_PLACE}\b[^.;:,]{{0,25}}? (?:yields?|holds?|contains?|makes?|gives?|has|have|offers?|provides?|"
        rf"says?|shows?|lists?|is of|are of) "
        r"(?:\w+ )?(?:nothing|neither|no (?:\w+ )?(?:help|use|reference|mention|basis|answer|clue|entry|hint|"
        r"hits?|statement|information|details?))\b"
        rf"|\b(?:none|neither|nothing|nowhere|nobody|no one|"
        rf"no)\b[^.;:]{{0,40}}?\b{_PLACE}\b[^.;:]{{0,40}}?\b{_TELL}\b"
        rf"|\b(?:nothing|nobody|no one|anything)\b[^.;:]{{0,30}}?\b(?:{_TELL}|wrote|turned up|came up|relevant|"
        rf"on this (?:subject|topic))\b[^.;:]{{0,40}}(?:\b{_PLACE}\b|\W\Z)"
        rf"|\b{_PLACE}\b[^.;:]{{0,50}}?\b(?:silent|leaves? (?:\w+ ){{1,4}}(?:open|unanswered|unclear)|stops? short)\b"
        rf"|\b(?:absent|missing|left out|omitted|unclear|not clear|impossible to (?:tell|say)|hard to (?:tell|"
        rf"say)) (?:from|in|of|on the basis of)"
        rf" (?:\w+ ){{0,3}}?{_PLACE}\b|\bno mention of (?:that|this|it|an?|the)\b|\bcame back with no\b",
    ),
    _pattern(
        "refer_elsewhere",
        "deflects",
        r"\b(?:please|kindly|i(?:'d| would)? (?:recommend|suggest|advise)|you (?:should|may want to|"
        r"might want to|can|could|may|would|'d|will|'ll) (?:also )?(?:need|have|want|refer|check|consult|"
        r"visit|contact|look|review|access|find|obtain|try|reach|see|calculate|use|follow|typically|then|"
        r"easily|search)|it(?:'s| is| would be) (?:recommended|advisable|best|necessary|important) to|"
        r"for (?:the )?(?:most )?(?:accurate|up-to-date|current|specific|detailed|more|precise|further)|"
        r"one would (?:typically |need)|to (?:obtain|find|get|access|answer|determine|calculate|perform|"
        r"compute) (?:this|the|that|your|these)?|if you (?:can|could|have|need|provide|would|want|are|'d|"
        r"share|let|give)|could you (?:please )?(?:provide|clarify|share|specify))",
    ),
    _pattern(
        "describes_cluster",
        "deflects",
        r"^\W*(?:(?:however|instead|therefore|additionally|also),? )?(?:it|they|the only \w+|(?:the|this|"
        rf"these|all|most)(?: \w+){{0,2}} {_SOURCE}(?: (?:provided|given|"
        r"in the \w+))*) (?:\w+ly )?(?:(?:is|are) (?:mainly |primarily |only )?(?:related|about|from|"
        r"focused|limited|mentioned|for)|relates?|pertains?|focus(?:es)?|discuss(?:es)?|includes?|"
        r"mentions?|only|primarily|mainly|describes?|covers?|contains?|provides?|refers?|lists?)\b",
    ),
    _pattern(
        "hypothetical",
        "deflects",
        r"\b(?:would (?:be|need|require|have|typically|usually|likely|normally|include|list|show|involve|"
        r"look|use|also)|typically|once you (?:have|obtain|find|know)|(?:we|you|i) (?:would |will |also |"
        r"first |typically |'d )*need|needed to|necessary to|required to|required (?:data|information|"
        r"figures)|formula|is (?:a|an) (?:financial|measure|indicator|ratio)|is calculated|"
        r"are calculated|calculated (?:by|as|using)|can be (?:calculated|found|used)|how to|let me know|"
        r"here(?:'s| is) how|my last update|knowledge cut|feel free)\b|^\W*(?:obtain|locate|visit|search|"
        r"find|calculate|divide|subtract|add|multiply|look|access|identify|review|determine|check|go to|"
        r"gather|use|round)\b",
    ),
)
"""The closed list of patterns, in the order in which a sentence is compared with them."""


# Each expression that declines or calls information unavailable needs one of these words; most sentences have none.
_CUE = re.compile(
    r"n't|\b(?:no|not|cannot|can't|unable|sorry|afraid|apolog|unfortunately|impossible|difficult|insufficient|lack|"
    r"unavailable|missing|absent|unanswerable|indeterminable|decline|refuse|outside|beyond|rather|prefer|leider|"
    r"leid|keine?|nichts?|nothing|only|need|"
    r"nobody|blank|fail|never|yields|insufficient|left out|omitted|i'd|idk|dunno|beats me|n/?a\b|none|neither|"
    r"nowhere|silent|unclear|unsure|unknown|without|pass on|falls|empty|guessing|leaves?|"
    r"stops? short|ask some|dont|lo siento|lamentablemente|desafortunadamente|nada)",
    re.IGNORECASE,
)
# "Here is how to ..." announces an answer: the instructions that follow are the answer and not a deflection.
_ANNOUNCES = re.compile(r"\bhere(?:'s| is| are)\b|\bas follows\b", re.IGNORECASE)
# Somebody else to ask; "contact us on 0800 ..." and "visit your branch" may well be the answer.
_ELSEWHERE = re.compile(
    r"\b(?:contact|consult|speak (?:to|with)|talk to|call|reach out to|get in touch with|refer to|check with|ask)\b"
    r"[^.\d]{0,80}\b(?:advis[eo]rs?|support|team|department|representatives?|professionals?|specialists?|experts?|"
    r"customer service|lawyers?|attorneys?|accountants?|helpline)\b[^\d]*\Z",
    re.IGNORECASE,
)


_CLAUSE_BREAK = re.compile(
    r";\s+|,\s+(?:but|although|though|while|whereas|however|yet)\s+|^(?:While|Although|Though)\s+|"
    r",\s+(?=the \w+ is|it )"
)
_REFERS_BACK = re.compile(r"\W*(?:based on|according to|in) (?:the|this|these|your|what)\b[^,.]*\W*\Z", re.IGNORECASE)
# What follows such a word, or has a number, claims something beside the refusal.
_BESIDE = re.compile(r"\b(?:but|and|as|because|since|although|though|rather|instead|unlike)\b|\d", re.IGNORECASE)


def is_refusal(answer: str) -> bool:
    """Return whether an answer declines or says that the information is not available."""
    return explain_refusal(answer) is not None


def explain_refusal(answer: str) -> str | None:
    """Return the name of the pattern by which an answer is a refusal, or None if it is not one."""
    may_refer = len(answer) <= MAXIMUM_REFERRAL_CHARACTERS and _ELSEWHERE.search(answer) is not None
    if not may_refer and not _CUE.search(answer.replace("\u2019", "'")):
        return None
    sentences = _read_clauses(answer.replace("\u2019", "'"))
    # Most answers with a cue do not decline. The slow patterns of deflection run only if a sentence declines.
    if not may_refer and not any(_declines(sentence) for sentence in sentences):
        return None
    marks = [_mark_sentence(sentence) for sentence in sentences]
    weights = [count_content_words(sentence) for sentence in sentences]
    total = sum(weights)
    if total == 0:
        return None
    is_announced = any(
        (mark is None or mark.kind == "deflects") and _ANNOUNCES.search(sentence) is not None
        for mark, sentence in zip(marks[:2], sentences[:2], strict=True)  # "Sure! Here is how ..."
    )
    answering = [
        weight if mark is None or (is_announced and mark.kind == "deflects") else 0
        for mark, weight in zip(marks, weights, strict=True)
    ]
    refusing = [position for position, mark in enumerate(marks) if mark is not None and mark.kind != "deflects"]
    if not refusing:
        only_refers = all(mark is not None and mark.name == "refer_elsewhere" for mark in marks)
        return marks[0].name if may_refer and only_refers and marks[0] is not None else None
    first = refusing[0]
    if len(answer) <= MAXIMUM_PARTIAL_CHARACTERS and any(
        weight and mark is None and not claims_nothing(sentence) and not _REFERS_BACK.match(sentence)
        for sentence, mark, weight in zip(sentences, marks, weights, strict=True)
    ):
        return None  # a partial refusal: what it says beside is judged
    opening = marks[first]
    if (
        opening is not None
        and sum(answering[:first]) <= MAXIMUM_OPENING_WORDS
        and sum(answering) <= MAXIMUM_ANSWER_SHARE[opening.kind] * total
    ):
        return opening.name
    declining = [position for position in refusing if _kind(marks[position]) == "declines"]
    if declining and sum(answering[declining[-1] :]) == 0 and sum(answering) <= MAXIMUM_SHARE_BEFORE_CLOSING * total:
        return _name(marks[declining[-1]])
    if sum(answering) <= MAXIMUM_SHARE_BESIDE * total:
        return _name(marks[first])
    return None


def _read_clauses(answer: str) -> list[str]:
    """Return the sentences of an answer; one that joins a claim and a refusal is two."""
    clauses = []
    for start, end in split_sentences(answer):
        parts = [part for part in _CLAUSE_BREAK.split(answer[start:end]) if part.strip()]
        declining = [_declines(part) for part in parts]
        is_mixed = any(declining) and not all(map(_says_nothing, parts, declining))
        clauses += parts if is_mixed else [answer[start:end]]
    return clauses


def _says_nothing(clause: str, declines: bool) -> bool:
    return declines or claims_nothing(clause) or _REFERS_BACK.match(clause) is not None


def only_declines(sentence: str) -> bool:
    """Return whether one sentence of a longer answer declines and says nothing beside that."""
    return _BESIDE.search(sentence) is None and explain_refusal(sentence) is not None


def _declines(sentence: str) -> bool:
    """Return whether a sentence declines or calls the information unavailable."""
    return _CUE.search(sentence) is not None and any(
        pattern.expression.search(sentence) for pattern in REFUSAL_PATTERNS if pattern.kind != "deflects"
    )


def _mark_sentence(sentence: str) -> RefusalPattern | None:
    """Return the first pattern found in a sentence."""
    has_cue = _CUE.search(sentence) is not None
    for pattern in REFUSAL_PATTERNS:
        if (has_cue or pattern.kind == "deflects") and pattern.expression.search(sentence):
            return pattern
    return None


def _name(mark: RefusalPattern | None) -> str | None:
    return None if mark is None else mark.name


def _kind(mark: RefusalPattern | None) -> str | None:
    return None if mark is None else mark.kind
