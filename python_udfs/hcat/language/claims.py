"""Tell whether a sentence of an answer claims anything: greetings, headings and offers of help do not.

Such a sentence has no evidence in the passages and needs none. Only plain forms are known; a sentence with a number, or
with more words than a form has, claims something.
"""

from __future__ import annotations

import re
from typing import Final

#: A longer sentence claims something, whatever it begins with.
MAXIMUM_WORDS: Final = 20

_WORD = re.compile(r"[^\W\d_]+(?:['\u2019][^\W\d_]+)?")
_HEADING_WORDS = 8
_DIGIT = re.compile(r"\d")

_GREETING = (
    r"(?:hi|hello|dear|hey|good (?:morning|afternoon|evening|day)|thanks?(?: you)?(?: for .{1,60})?"
    r"|you(?:'re| are) welcome|sure(?: thing)?|certainly|of course|absolutely|great question|good question|no problem"
    r"|(?:kind|best|warm) regards|have a (?:nice|great|good|lovely|wonderful) \w+|take care"
    r"|yours (?:sincerely|faithfully))"
    r"(?:[ ,]+(?:there|you|sir|madam|customer|all|team|everyone))*"
)
_OFFER = (
    r"(?:i hope (?:this|that|it) (?:helps|answers|is helpful|was helpful|clarifies)\b.*"
    r"|(?:please )?(?:let me|let us) know (?:if|whether|should|how)\b.*"
    r"|(?:please )?(?:feel free|do not hesitate|don't hesitate) to\b.*"
    r"|if you (?:have|need) (?:any |more |further |other |additional )+"
    r"(?:questions?|help|information|assistance|details)\b.*"
    r"|is there anything else\b.*"
    r"|(?:i am|i'm|i would be|i'd be|we are|we're) (?:happy|glad|here) to (?:help|assist)\b.*)"
)
_LEAD = (
    r"(?:(?:sure|certainly|of course|okay|ok)[,!]? )?"
    r"(?:here(?:'s| is| are)\b[^:]*|(?:below|following) (?:is|are)\b[^:]*|(?:the |in )?(?:summary|answer|conclusion)"
    r"|(?:based on|according to) (?:the|this|these|your) (?:provided |given |retrieved |above )?"
    r"(?:passages?|contexts?|documents?|information|texts?|sources?)(?: (?:provided|given|above))?):"
)
# "Did you know that it is free?" tells something.
_TELLING_QUESTION = re.compile(r"\W*(?:(?:did|do) you know|isn't|aren't|wasn't|weren't|right)\b", re.IGNORECASE)
_POLARITY = re.compile(r"\W*(?:yes|no)\W*", re.IGNORECASE)
_EMPTY = re.compile(rf"\s*(?:{_GREETING}|{_OFFER}|{_LEAD})[\s.!,]*", re.IGNORECASE)


def claims_nothing(sentence: str) -> bool:
    """Return whether a sentence is a greeting, an offer of help, a heading, a lead-in to a list, or a question."""
    if _DIGIT.search(sentence):
        return False
    words = _WORD.findall(sentence)
    if not words:
        return True
    if len(words) > MAXIMUM_WORDS:
        return False
    folded = sentence.strip().rstrip("*_\"')]\u201d ")
    is_heading = folded.endswith(":") and len(words) <= _HEADING_WORDS
    is_question = folded.endswith("?") and _TELLING_QUESTION.match(folded) is None
    return is_heading or is_question or _EMPTY.fullmatch(sentence.strip("*_# ")) is not None


def is_bare_polarity(sentence: str) -> bool:
    """Return whether a sentence is a bare yes or no, which claims what the sentences beside it say."""
    return _POLARITY.fullmatch(sentence) is not None
