"""Recall and precision of personal data by type, beside plain Presidio, and the time beside the spaCy pipe alone.

The labelled set is one of synthetic sentences made from templates. The rules were written on the templates whose codes
stand in `DEVELOPMENT_TEMPLATES`; every other template, those of a set never seen included, is test, and figures are of
test. Intervals resample templates, because sentences of one template fail together.
"""

import hashlib
import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow.parquet as parquet

from benchmarks.discrimination import Estimate, number_values, share
from benchmarks.harness import BenchmarkError, Outcome, Table, data_folder, run_alone, show_share, verdict
from hcat.privacy.identifiers import has_iban_check, has_luhn_check
from hcat.privacy.recognition import find_spans
from hcat.privacy.spans import ENTITY_TYPES, Span
from hcat.privacy.tagger import DEFAULT_MODEL, load_tagger
from hcat.statistics.intervals import wilson_interval

_DEVELOPMENT_CODES = """
00227108 0058f18c 013b9632 08c79ff0 1a04a2f6 1ed9cdb2 23d64bb0 29e9ed0c 2a84bac8 2b48ffb4 310f5204 371f7384 39b87efa
4ba317a8 4c4457a6 4d1541ee 4fe3ae14 5c32e3c8 5e20037a 5fe30950 62e89baa 70a1669c 7aa34b9a 85de5c3e 86382ca6 8978dace
8bed0d9e 911b9cd0 9503e1ec 9b4c2fc6 9b86608e 9bfde2e4 a27085a4 ab36a0b6 b4d26f50 b8d59c52 bb12eb50 c35aa8b4 c35fb4fc
c7cf093a d1b5df8a de94d3cc e27d7dfc e3f60184 e915a310 f001c324 f00f5164 f847ecf6
"""
DEVELOPMENT_TEMPLATES = frozenset(_DEVELOPMENT_CODES.split())
"""Codes of the templates that were read while the rules were written: those whose hash is even."""

LABELS = {
    "CREDIT_CARD": "card",
    "EMAIL_ADDRESS": "email",
    "US_SSN": "ssn",
    "IBAN_CODE": "iban",
    "PERSON": "person",
    "PHONE_NUMBER": "phone",
    "STREET_ADDRESS": "address",
    "GPE": "place",
}
"""Labels of the set and what they are here; its other labels (organisation, date, title) are no personal data."""

RECALL_LIMITS = {
    "card": 0.95,
    "email": 0.95,
    "ssn": 0.95,
    "iban": 0.95,
    "person": 0.80,
    "phone": 0.80,
    "address": 0.60,
    "place": 0.60,
}
PRECISION_LIMIT = 0.70
MINIMUM_SPANS = 36
TIME_LIMIT = 2.0
_COUNT_DRAWS = 2_000
_COUNT_MADE = 200
_REPEATS = 5
_SEED = 20260101


@dataclass(frozen=True, slots=True)
class Sentence:
    """One labelled text: its spans as (start, end, type) and the code of its template."""

    text: str
    spans: tuple[tuple[int, int, str], ...]
    template: str


def template_code(masked: str) -> str:
    """Return eight hexadecimal digits that stand for a template."""
    return hashlib.sha256(f"privacy-development\x1f{masked}".encode()).hexdigest()[:8]


def read_sentences(folder: Path) -> list[Sentence]:
    """Return the labelled sentences of every Parquet file in ``folder`` (columns text, masked, spans as JSON)."""
    sentences = []
    for path in sorted(folder.glob("*.parquet")):
        for row in parquet.read_table(path, columns=["text", "masked", "spans"]).to_pylist():
            spans = tuple(
                (span["start_position"], span["end_position"], LABELS.get(span["entity_type"], "other"))
                for span in json.loads(row["spans"])
            )
            sentences.append(Sentence(row["text"], spans, template_code(row["masked"])))
    if not sentences:
        raise BenchmarkError(f"the folder of labelled sentences must hold Parquet files, got {folder}")
    return sentences


@dataclass(frozen=True, slots=True)
class Counts:
    """Per span: whether it counts as right, whether all of it is covered, and its template."""

    is_right: npt.NDArray[np.float64]
    is_whole: npt.NDArray[np.float64]
    templates: npt.NDArray[np.int64]

    def rate(self) -> Estimate:
        """Return the share that is right with its interval over templates."""
        return share(self.is_right > 0, self.templates, _COUNT_DRAWS)


def count_recall(sentences: Sequence[Sentence], found: Sequence[Sequence[Span]], entity_type: str) -> Counts:
    """Return which labelled spans of a type are found: a found span of the type overlaps them.

    A place inside a found address is found: an address takes its town.
    """
    accepted = {entity_type, "address"} if entity_type == "place" else {entity_type}
    right, whole, templates = [], [], []
    for sentence, spans in zip(sentences, found, strict=True):
        covered = {place for span in spans for place in range(span.start, span.end)}
        for start, end, label in sentence.spans:
            if label == entity_type:
                right.append(any(s.entity_type in accepted and s.start < end and start < s.end for s in spans))
                letters = (place for place in range(start, end) if sentence.text[place].isalnum())
                whole.append(all(place in covered for place in letters))
                templates.append(sentence.template)
    return Counts(np.array(right, dtype=float), np.array(whole, dtype=float), number_values(templates))


def count_precision(sentences: Sequence[Sentence], found: Sequence[Sequence[Span]], entity_type: str) -> Counts:
    """Return which found spans of a type are right: a labelled span of the type overlaps them.

    A place inside a labelled address is right: the label holds the town.
    """
    accepted = {entity_type, "address"} if entity_type == "place" else {entity_type}
    right, templates = [], []
    for sentence, spans in zip(sentences, found, strict=True):
        for span in spans:
            if span.entity_type == entity_type:
                labelled = (
                    label in accepted and start < span.end and span.start < end for start, end, label in sentence.spans
                )
                right.append(any(labelled))
                templates.append(sentence.template)
    return Counts(np.array(right, dtype=float), np.array(right, dtype=float), number_values(templates))


_PLAIN_TYPES = {
    "CREDIT_CARD": ("card",),
    "EMAIL_ADDRESS": ("email",),
    "US_SSN": ("ssn",),
    "IBAN_CODE": ("iban",),
    "PERSON": ("person",),
    "PHONE_NUMBER": ("phone",),
    "LOCATION": ("address", "place"),
}


def load_plain() -> Callable[[Sequence[str]], list[list[Span]]]:
    """Return plain Presidio with the same spaCy pipeline as a function of texts; its LOCATION is address and place."""
    from presidio_analyzer import AnalyzerEngine
    from presidio_analyzer.nlp_engine import NlpEngineProvider

    models = [{"lang_code": "en", "model_name": DEFAULT_MODEL}]
    engine = NlpEngineProvider(nlp_configuration={"nlp_engine_name": "spacy", "models": models}).create_engine()
    analyzer = AnalyzerEngine(nlp_engine=engine, supported_languages=["en"])

    def find(texts: Sequence[str]) -> list[list[Span]]:
        return [
            [
                Span(result.start, result.end, entity_type, "presidio")
                for result in analyzer.analyze(text, language="en", entities=list(_PLAIN_TYPES))
                for entity_type in _PLAIN_TYPES[result.entity_type]
            ]
            for text in texts
        ]

    return find


# --- numbers made here -------------------------------------------------------------------------------------------

_FRAMES = {
    "iban": (
        "Please send it to {}.",
        "IBAN: {}",
        "the beneficiary's account is {} at our branch",
        "({}) was the account we paid into, was it not?",
    ),
    "ssn": ("Her social security number is {}.", "SSN {} on file", "ssn: {}", "I gave {} as my SSN and SSN {} again"),
    "email": ("Write to {} please.", "E-mail: {}", "<{}>", "You can reach me under {}, any time."),
    "card": ("Card {} was declined.", "pay with {} please", "my visa {}", "number={}"),
}


def make_identifiers(entity_type: str, count: int) -> Iterator[tuple[str, int, int]]:
    """Yield (text, start, end) with one made-up identifier each, in the forms in which people write them."""
    random = np.random.default_rng([_SEED, ENTITY_TYPES.index(entity_type)])
    makers = {"iban": _make_iban, "ssn": _make_ssn, "email": _make_email, "card": _make_card}
    for number in range(count):
        frame = _FRAMES[entity_type][number % len(_FRAMES[entity_type])]
        before = frame.split("{}")[0]
        value = makers[entity_type](random, number)
        yield frame.replace("{}", value), len(before), len(before) + len(value)


def _random_digits(random: np.random.Generator, count: int) -> str:
    return "".join(map(str, random.integers(0, 10, count)))


def _group(text: str, size: int, separator: str) -> str:
    return separator.join(text[start : start + size] for start in range(0, len(text), size))


def _make_iban(random: np.random.Generator, number: int) -> str:
    country, bank, digits = (("GB", "NWBK", 14), ("DE", "", 18), ("FR", "", 23), ("NL", "ABNA", 10), ("ES", "", 20))[
        number % 5
    ]
    body = bank + _random_digits(random, digits)
    check = next(f"{c:02d}" for c in range(2, 99) if has_iban_check(f"{country}{c:02d}{body}"))
    iban = f"{country}{check}{body}"
    written = (iban, _group(iban, 4, " "), _group(iban, 4, "-"), iban.lower())[number // 5 % 4]
    return written


def _make_ssn(random: np.random.Generator, number: int) -> str:
    area = int(random.choice([value for value in range(1, 900) if value != 666]))
    parts = (f"{area:03d}", f"{random.integers(1, 100):02d}", f"{random.integers(1, 10_000):04d}")
    return ("-", " ", "", "-")[number // 4 % 4].join(parts)


def _make_email(random: np.random.Generator, number: int) -> str:
    names = ("jane", "o'neil", "mario.rossi", "k_lee", "anne-marie", "j.p.smith+bank", "łukasz", "info2")
    hosts = ("example.com", "mail.example.co.uk", "bank-mail.example.de", "example.io")
    name, host = names[int(random.integers(len(names)))], hosts[int(random.integers(len(hosts)))]
    written = f"{name}{_random_digits(random, 2)}@{host}"
    if number // 4 % 4 == 3:
        return written.replace("@", " at ").replace(".", " dot ")
    return written.upper() if number // 4 % 4 == 2 else written


def _make_card(random: np.random.Generator, number: int) -> str:
    prefix, length = (("4", 16), ("52", 16), ("37", 15), ("6011", 16), ("36", 14), ("4", 19))[number % 6]
    body = prefix + _random_digits(random, length - len(prefix) - 1)
    card = next(body + str(check) for check in range(10) if has_luhn_check(body + str(check)))
    return (card, _group(card, 4, " "), _group(card, 4, "-"), _group(card, 4, "\u00a0"))[number // 6 % 4]


# --- the run -----------------------------------------------------------------------------------------------------


def run(is_quick: bool = False, _folder: Path | None = None) -> Outcome | None:
    """Return recall, precision and time, or None without the labelled set."""
    folder = data_folder("pii")
    if folder is None:
        return None
    sentences = read_sentences(folder)
    test = [sentence for sentence in sentences if sentence.template not in DEVELOPMENT_TEMPLATES]
    development = [sentence for sentence in sentences if sentence.template in DEVELOPMENT_TEMPLATES]
    if not test:
        raise BenchmarkError("the labelled sentences must hold templates that were not used for development, got none")
    plain = load_plain()
    rows, is_within = _rows_of_test(test, find_spans([s.text for s in test]), plain([s.text for s in test]))
    made, is_made_within = _rows_of_made()
    times, is_in_time = _rows_of_time([s.text for s in sentences], 1 if is_quick else _REPEATS)
    columns = ("type", "n", "templates", "recall", "95 %", "limit", "", "whole span", "plain Presidio")
    tables = [
        Table("Recall on templates that were not seen", columns, rows["recall"]),
        Table(
            "Precision on templates that were not seen",
            ("type", "found", "precision", "95 %", "limit", "", "plain Presidio"),
            rows["precision"],
        ),
        Table(
            "Recall on identifiers made here, in the forms in which people write them",
            ("type", "n", "recall", "95 % (Wilson)", "limit", "", "plain Presidio"),
            made,
        ),
        Table("Time of all texts, each read once", ("what", "seconds", "ratio", "limit", ""), times),
    ]
    if development:
        seen, _ = _rows_of_test(
            development, find_spans([s.text for s in development]), plain([s.text for s in development])
        )
        tables.insert(2, Table("For comparison: recall on the development templates", columns, seen["recall"]))
    notes = (
        f"{len(test):,} sentences of {len({s.template for s in test})} templates are test, {len(development):,} of "
        f"{len({s.template for s in development})} development. The sentences are synthetic: names and towns of many "
        "countries in short messages; long answers of a bank are another matter.",
        "Found: a span of the type overlaps the labelled one; the figures of plain Presidio use the same measure. "
        "Whole span: every letter and digit of it is masked, by spans of any type. A place inside a found address "
        "is found, and a place inside a labelled address is right; Presidio's LOCATION counts as address and as "
        "place.",
        f"A type with fewer than {MINIMUM_SPANS} labelled spans is not shown. Intervals resample templates; where "
        "every template is right the interval has no width, which does not mean that templates of another kind "
        "would be right.",
        "The test templates were scored twice and their texts never read. The first run gave persons a recall of .796 "
        "(limit .80) and the other types the same as here; rules for persons were then added from misses of the "
        "development templates alone, so that the second figure is a little less independent than the first.",
        "The identifiers made here show which forms of writing are recognised. Their frame sentences were written "
        "by us, so that the figures are no estimate for real texts.",
        "Time is the least of the repeats; the limit compares with the pipe that has the entity tagger alone, the "
        "stricter of the two.",
    )
    return Outcome(
        "privacy",
        "Personal data: recall, precision and time",
        tables,
        notes,
        is_quick,
        is_within and is_made_within and is_in_time,
    )


def _rows_of_test(
    sentences: Sequence[Sentence], ours: Sequence[Sequence[Span]], plain: Sequence[Sequence[Span]]
) -> tuple[dict[str, list[tuple[str, ...]]], bool]:
    rows: dict[str, list[tuple[str, ...]]] = {"recall": [], "precision": []}
    is_within = True
    for entity_type, limit in RECALL_LIMITS.items():
        counts = count_recall(sentences, ours, entity_type)
        n = len(counts.is_right)
        n_templates = len(set(counts.templates.tolist()))
        if n < MINIMUM_SPANS:
            shown = "not shown"
            rows["recall"].append(
                (entity_type, str(n), str(n_templates), *[shown] * 2, f"{limit:.2f}", "", *[shown] * 2)
            )
            rows["precision"].append((entity_type, shown, shown, shown, f"{PRECISION_LIMIT:.2f}", "", shown))
            continue
        recall = counts.rate()
        base = count_recall(sentences, plain, entity_type)
        rows["recall"].append(
            (
                entity_type,
                str(n),
                str(n_templates),
                show_share(recall.value),
                f"[{show_share(recall.low)}, {show_share(recall.high)}]",
                f"{limit:.2f}",
                verdict(recall.value >= limit),
                show_share(float(counts.is_whole.mean())),
                show_share(float(base.is_right.mean())),
            )
        )
        found = count_precision(sentences, ours, entity_type)
        precision = found.rate()
        base = count_precision(sentences, plain, entity_type)
        rows["precision"].append(
            (
                entity_type,
                str(len(found.is_right)),
                show_share(precision.value),
                f"[{show_share(precision.low)}, {show_share(precision.high)}]",
                f"{PRECISION_LIMIT:.2f}",
                verdict(precision.value >= PRECISION_LIMIT),
                show_share(float(base.is_right.mean()) if len(base.is_right) else float("nan")),
            )
        )
        is_within = is_within and recall.value >= limit and precision.value >= PRECISION_LIMIT
    return rows, is_within


def _rows_of_made() -> tuple[list[tuple[str, ...]], bool]:
    rows = []
    is_within = True
    plain = load_plain()
    for entity_type in ("card", "email", "ssn", "iban"):
        made = list(make_identifiers(entity_type, _COUNT_MADE))
        texts = [text for text, _, _ in made]
        shares = []
        for found in (find_spans(texts), plain(texts)):
            hits = [
                any(s.entity_type == entity_type and s.start < end and start < s.end for s in spans)
                for (_, start, end), spans in zip(made, found, strict=True)
            ]
            shares.append(float(np.mean(hits)))
        low, high = wilson_interval(shares[0], len(made), 1.959964)
        limit = RECALL_LIMITS[entity_type]
        is_within = is_within and shares[0] >= limit
        interval = f"[{show_share(low)}, {show_share(high)}]"
        rows.append(
            (
                entity_type,
                str(len(made)),
                show_share(shares[0]),
                interval,
                f"{limit:.2f}",
                verdict(shares[0] >= limit),
                show_share(shares[1]),
            )
        )
    return rows, is_within


def _rows_of_time(texts: Sequence[str], repeats: int) -> tuple[list[tuple[str, ...]], bool]:
    import spacy

    distinct = list(dict.fromkeys(texts))
    tagger, full = load_tagger(), spacy.load(DEFAULT_MODEL)
    jobs: dict[str, Callable[[], Any]] = {
        "spaCy pipe, entity tagger alone": lambda: list(tagger.pipe(distinct, batch_size=64)),
        "spaCy pipe, all its parts": lambda: list(full.pipe(distinct, batch_size=64)),
        "find_spans": lambda: find_spans(distinct),
    }
    seconds = dict.fromkeys(jobs, float("inf"))
    for _ in range(repeats):
        for name, job in jobs.items():
            # the processor's time of this process: other work on the machine does not count
            started = time.process_time()
            job()
            seconds[name] = min(seconds[name], time.process_time() - started)
    ours = seconds["find_spans"]
    rows = []
    for name, value in seconds.items():
        if name == "find_spans":
            rows.append((name, f"{value:.2f}", "", "", ""))
        else:
            is_limit = name == "spaCy pipe, entity tagger alone"
            shown = (f"{TIME_LIMIT:.1f}", verdict(ours / value <= TIME_LIMIT)) if is_limit else ("", "")
            rows.append((name, f"{value:.2f}", f"{ours / value:.2f}", *shown))
    return rows, ours / seconds["spaCy pipe, entity tagger alone"] <= TIME_LIMIT


if __name__ == "__main__":
    sys.exit(run_alone("privacy", __doc__, run))
