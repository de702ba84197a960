"""Spoils an answer: a number or name swapped, a statement turned round, a part left out."""

import random
import re
from collections.abc import Sequence
from dataclasses import replace

from making.records import Draft, Query, Retrieved, share_of_words

NUMBER_WORDS = ["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "twelve", "fifteen", "forty"]
NUMBER_PATTERN = re.compile(
    r"(?P<phone>0800 555 \d{4})"
    r"|(?P<clock>\b\d{2}:\d{2}\b)"
    r"|(?P<year>\b20\d{2}\b)"
    r"|(?P<amount>(?<![\w.,-])(?:€|(?=\d))\d+(?:[.,]\d+)*(?![\w.,-]*\d))"
    rf"|(?P<word>\b(?:{'|'.join(NUMBER_WORDS)})\b(?! or the))",
    re.IGNORECASE,
)
# The first rule that fits turns a statement round. Rules that remove a negation come before those that add one.
NEGATION_RULES: list[tuple[str, str]] = [
    (r"\bat any Harbourlight cash machine, but not in the app\b", "in the app, but not at a cash machine"),
    (r"\bended on 31 January 2026 and were replaced by\b", "are still sent and were not replaced by"),
    (r"\bended on 31 January 2026\b", "are still sent"),
    (r"\bcannot\b", "can"),
    (r"\bpossible only with\b", "possible even without"),
    (r"\bcan be closed only with\b", "can be closed even without"),
    (r"\bno early withdrawal is possible\b", "an early withdrawal is possible"),
    (r"\bno account fees are\b", "account fees are still"),
    (r"\bno monthly fee\b", "a monthly fee"),
    (r"\bno annual fee\b", "an annual fee"),
    (r"\bno early repayment charge\b", "an early repayment charge"),
    (r"\bno foreign currency fee\b", "a foreign currency fee"),
    (r"\bThere is no\b", "There is a"),
    (r"\bneed no PIN\b", "need the PIN"),
    (r"\bpay no interest\b", "pay interest"),
    (r"\bpay no fee\b", "pay the usual fee"),
    (r"\bpay nothing\b", "pay the usual fee"),
    (r"\bno interest is paid\b", "interest is paid"),
    (r"\bdo not need to\b", "need to"),
    (r"\bdoes not\b", "does"),
    (r"\bdo not\b", "do"),
    (r"\b(is|are) not\b", r"\1"),
    (r"\bnever ask\b", "may ask"),
    (r"\bnever asks\b", "may ask"),
    (r"\bnever\b", "sometimes"),
    (r"\bwithout a charge\b", "only against a charge"),
    (r"\bwithout giving a reason\b", "only with a good reason"),
    (r"\b(is|are) free\b", r"\1 not free"),
    (r"\balso includes\b", "does not include"),
    (r"\bincludes\b", "does not include"),
    (r"\bcan\b", "cannot"),
    (r"\bmust be\b", "need not be"),
    (r"\b(is|are) (valid|available|needed|allowed|refunded|kept|paid|included|accepted|open)\b", r"\1 not \2"),
]


def changed_number(match: re.Match[str], generator: random.Random) -> list[str]:
    """Return wrong values that look like the number found, in seeded order."""
    text = match.group()
    if match.lastgroup == "phone":
        return [f"{text[:-2]}{generator.randrange(10, 100)}" for _ in range(5)]
    if match.lastgroup == "clock":
        hours = int(text[:2])
        return [f"{hour:02d}{text[2:]}" for hour in generator.sample(range(8, 21), 6) if hour != hours]
    if match.lastgroup == "year":
        return [str(int(text) + shift) for shift in generator.sample([-2, -1, 1, 2], 4)]
    if match.lastgroup == "word":
        place = NUMBER_WORDS.index(text.lower())
        # A neighbour in size keeps the sentence plausible.
        others = [word for word in NUMBER_WORDS[max(0, place - 3) : place + 4] if word != text.lower()]
        generator.shuffle(others)
        return [word.capitalize() if text[0].isupper() else word for word in others]
    currency, digits = ("€", text[1:]) if text.startswith("€") else ("", text)
    is_decimal = re.fullmatch(r"\d+[.,]\d{1,2}", digits) is not None
    value = float(digits.replace(",", ".")) if is_decimal else float(re.sub(r"[.,]", "", digits))
    new_values: list[str] = []
    for factor in generator.sample([0.5, 0.75, 1.25, 1.5, 2.0, 3.0], 6):
        if is_decimal:
            places = len(re.split(r"[.,]", digits)[1])
            nearest = 0.05 if places == 2 else 0.1
            formatted = f"{round(value * factor / nearest) * nearest:.{places}f}"
            new_values.append(currency + (formatted.replace(".", ",") if "," in digits else formatted))
            continue
        new_value = round(value * factor)
        if new_value >= 100:
            step = 10 ** (len(str(new_value)) - 2)
            new_value = round(new_value / step) * step
        separator = "." if "." in digits else ","
        grouped = f"{new_value:,}".replace(",", separator) if re.search(r"[.,]", digits) or value < 1000 else new_value
        new_values.append(f"{currency}{grouped}")
    return new_values


def swap_number(draft: Draft, query: Query, retrieved: Sequence[Retrieved], generator: random.Random) -> Draft | None:
    """Return the draft with one number replaced by another that neither query nor contexts contain."""
    if query.query_type == "multiple_choice":
        return choose_wrong_option(draft, query, generator, wants_number=True)
    known = query.text + " " + " ".join(entry.chunk.text for entry in retrieved)
    reference = query.reference_answer or ""
    places = [
        (match.group() in reference, position, match)
        for position, sentence in enumerate(draft.sentences[: draft.core_count])
        for match in NUMBER_PATTERN.finditer(sentence)
        # A number that only repeats the query's wording, or is part of a name, is left alone.
        if match.group() not in query.text and not re.search(r"(?:Lantern|SV-)\s?$", sentence[: match.start()])
    ]
    generator.shuffle(places)
    places.sort(key=lambda place: not place[0])
    for _, position, match in places:
        is_day = re.match(
            r" (?:Jan|Feb|Mar|Apr|June|July|Aug|Sep|Oct|Nov|Dec)", draft.sentences[position][match.end() :]
        )
        candidates = (
            [str(day) for day in generator.sample(range(2, 28), 5)] if is_day else changed_number(match, generator)
        )
        for candidate in candidates:
            if re.search(rf"(?<![\d.,]){re.escape(candidate)}(?![\d.,]*\d)", known, re.IGNORECASE):
                continue
            if candidate.lstrip("€") in {"0", "1", "1.0"}:
                continue
            sentence = draft.sentences[position]
            changed = sentence[: match.start()] + candidate + sentence[match.end() :]
            return replace_sentence(draft, position, changed)
    return None


def swap_entity(
    draft: Draft, query: Query, entity_groups: Sequence[Sequence[str]], generator: random.Random
) -> Draft | None:
    """Return the draft with one name replaced, wherever it stands, by another name of its kind."""
    if query.query_type == "multiple_choice":
        return choose_wrong_option(draft, query, generator, wants_number=False)
    core = " ".join(draft.sentences[: draft.core_count])
    reference = query.reference_answer or ""
    found = [(name, group) for group in entity_groups for name in group if re.search(rf"\b{re.escape(name)}\b", core)]
    generator.shuffle(found)
    # A name that is part of the answer and was not given by the query makes the gravest mistake.
    found.sort(key=lambda entry: (entry[0] in query.text, entry[0] not in reference))
    for name, group in found:
        others = [other for other in group if other not in draft.text() and other not in query.text]
        if others:
            other = generator.choice(others)
            return replace(draft, sentences=tuple(sentence.replace(name, other) for sentence in draft.sentences))
    return None


def choose_wrong_option(draft: Draft, query: Query, generator: random.Random, wants_number: bool) -> Draft | None:
    """Return the draft with a wrong option in lead and sentence, or None where the options are of the other kind."""
    options = dict(re.findall(r"([A-C])\) (.+?)(?= [A-C]\)|$)", query.text))
    right_letter = (query.reference_answer or "")[:1]
    if not draft.lead or right_letter not in options:
        return None
    right_text = options[right_letter]
    if wants_number != (NUMBER_PATTERN.search(right_text) is not None):
        return None
    wrong_letter = generator.choice([letter for letter in options if letter != right_letter])
    lead = draft.lead.replace(f"{right_letter}) {right_text}", f"{wrong_letter}) {options[wrong_letter]}")
    sentences = tuple(
        re.sub(
            rf"\b{right_text}\b" if right_text[0].isalpha() else re.escape(right_text),
            options[wrong_letter],
            sentence,
            flags=re.IGNORECASE,
        )
        for sentence in draft.sentences[: draft.core_count]
    )
    return replace(draft, lead=lead, sentences=tuple(sentence[0].upper() + sentence[1:] for sentence in sentences))


def negate(draft: Draft) -> Draft | None:
    """Return the draft with its first core sentence turned round (and "Yes" and "No" exchanged), or None."""
    sentence = draft.sentences[0]
    for pattern, replacement in NEGATION_RULES:
        changed, count = re.subn(pattern, replacement, sentence, count=1, flags=re.IGNORECASE)
        if count:
            lead = {"Yes.": "No.", "No.": "Yes."}.get(draft.lead, draft.lead)
            changed = changed[0].upper() + changed[1:]
            # Further sentences could state the truth again, so only the core stays.
            return replace(draft, lead=lead, sentences=(changed, *draft.sentences[1 : draft.core_count]))
    return None


def omit_part(draft: Draft, query: Query) -> Draft | None:
    """Return the draft without a part that was asked for or without a condition, or None where nothing can go."""
    core = draft.sentences[0]
    shorter: list[tuple[str, ...]] = []
    if query.query_type == "multi_hop" and draft.core_count >= 2:
        shorter.append(draft.sentences[:1])
    cut = max(
        core.rfind(marker) for marker in (", but ", ", provided that ", " unless ", ", and ", " only if ", ", or ")
    )
    if cut > 0 and len(core[:cut].split()) >= 5:
        shorter.append((core[:cut] + ".",))
    if query.query_type == "simple_factual" and len(draft.sentences) >= 2:
        shorter.append(draft.sentences[1:])
    reference = query.reference_answer or ""
    for sentences in shorter:
        # Only an omission that loses a visible piece of the reference answer is one.
        if share_of_words(reference, " ".join(sentences)) <= share_of_words(reference, draft.text()) - 0.2:
            return replace(draft, sentences=sentences, core_count=1)
    return None


def replace_sentence(draft: Draft, position: int, sentence: str) -> Draft:
    """Return the draft with one sentence replaced; further sentences that could contradict it are dropped."""
    core = list(draft.sentences[: draft.core_count])
    core[position] = sentence
    return replace(draft, sentences=tuple(core))
