"""The blocks of the explorer's page: columns and texts of a build as Parquet, compressed with zstd.

The page reads the columns of interactions at once, and texts by row group when somebody opens an interaction. So texts
have small row groups, and every column of numbers is an integer code or a 32-bit number without nulls: a missing score
is NaN, a missing code is -1.
"""

import io
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from hcat.engine.keys import hash_text
from hcat.engine.warehouse import Row
from hcat.language.display import clean_text
from hcat.report.showing import group_by
from hcat.statistics.arrays import Flags, Floats, Integers

#: Characters of a text that the page holds; an ellipsis replaces the rest.
MAXIMUM_CHARACTERS: Final = 20_000
#: Characters of an id or of a short text.
SHORT_CHARACTERS: Final = 400
#: Significant digits of scores: the page shows three.
SCORE_DIGITS: Final = 4
#: What a cell was tested on; the page has the number of the word.
MEASUREMENTS: Final = (None, "mean_score", "share_failing", "share_failing_of_all")
#: Rows that are decoded to show one.
_TEXT_GROUP: Final = 200

#: What `clean_text` makes visible. Most texts hold none of it, and a search is faster than a look at every character.
_UNSAFE: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u0600-\u0605\u061c\u06dd\u070f\u08e2\u180e\u200b-\u200f"
    "\u2028-\u202e\u2060-\u206f\ud800-\uf8ff\ufeff\ufff9-\ufffb\U000110bd-\U0010ffff]"
)

#: Blanks between words that are not one space.
_IRREGULAR: Final = re.compile(r"\s\s|[^\S ]")


def show(text: str | None, maximum: int = MAXIMUM_CHARACTERS) -> str:
    """Return a text as :func:`hcat.language.display.clean_text` does, quickly where nothing must be changed."""
    if text is None:
        return ""
    return clean_text(text, maximum) if len(text) > maximum or _UNSAFE.search(text) else text


def show_id(name: str) -> str:
    """Return an id that is safe to show; one that had to be changed keeps apart from all others by its hash."""
    shown = show(name, SHORT_CHARACTERS)
    return shown if shown == name else f"{shown} {hash_text(name)[:8]}"


def write_parquet(columns: Mapping[str, Any], group_rows: int = 65_536) -> bytes:
    """Return columns as Parquet without nulls; texts and numbers that repeat become dictionaries."""
    arrays = [pa.array(values, pa.string() if isinstance(values, list) else None) for values in columns.values()]
    fields = [pa.field(name, array.type, nullable=False) for name, array in zip(columns, arrays, strict=True)]
    written = io.BytesIO()
    pq.write_table(
        pa.Table.from_arrays(arrays, schema=pa.schema(fields)),
        written,
        row_group_size=group_rows,
        compression="zstd",
        compression_level=19,
        write_statistics=False,
        store_schema=False,
    )
    return written.getvalue()


def round_scores(scores: Floats) -> npt.NDArray[np.float32]:
    """Return scores with four significant digits as 32-bit numbers; NaN stays."""
    with np.errstate(divide="ignore", invalid="ignore"):
        exponents = np.floor(np.log10(np.abs(scores)))
    scale = 10.0 ** (SCORE_DIGITS - 1 - np.where(np.isfinite(exponents), exponents, 0))
    return (np.round(scores * scale) / scale).astype(np.float32)


def encode(values: Any) -> tuple[Integers, list[str]]:
    """Return the code of each text, -1 for none, and the texts in alphabetical order."""
    texts = [None if value is None else str(value) for value in values.tolist()]
    names = sorted({text for text in texts if text is not None})
    codes = {text: code for code, text in enumerate(names)}
    return np.array([-1 if text is None else codes[text] for text in texts], dtype=np.int32), names


def number(values: Any) -> npt.NDArray[np.int32]:
    """Return a number for each distinct value, as 32-bit integers: which rows belong together, without their name."""
    return np.unique(np.asarray(values).astype(str), return_inverse=True)[1].astype(np.int32)


def to_numbers(values: Iterable[float | None]) -> npt.NDArray[np.float32]:
    """Return values as 32-bit numbers, NaN for none."""
    return np.array([np.nan if value is None else value for value in values], np.float32)


def scatter(positions: Integers, values: Any, count: int, missing: float) -> Any:
    """Return an array of ``count`` values with ``values`` at ``positions`` and ``missing`` elsewhere."""
    result = np.full(count, missing, dtype=np.float64)
    result[positions] = np.ma.filled(np.ma.asarray(values, dtype=np.float64), missing)
    return result


def tabulate_scores(scores: Mapping[str, Any], count_metrics: int, rows: Integers) -> dict[str, Any]:
    """Return the columns of the metrics: score, status with failing, and where calibrated probability and set."""
    count = int(rows.max(initial=-1)) + 1
    order = np.argsort(scores["metric"], kind="stable")
    ends = np.searchsorted(scores["metric"][order], np.arange(count_metrics + 1))
    columns: dict[str, Any] = {}
    for metric in range(count_metrics):
        own = order[ends[metric] : ends[metric + 1]]
        own = own[scores["position"][own] < count]
        positions = scores["position"][own]
        words = 3 * scores["status"][own] + scores["failing"][own]
        columns[f"status_{metric}"] = scatter(positions, words, count, -1)[rows].astype(np.int32)
        columns[f"score_{metric}"] = round_scores(scatter(positions, scores["raw_score"][own], count, np.nan)[rows])
        probabilities = scatter(positions, scores["calibrated_probability"][own], count, np.nan)[rows]
        if np.isfinite(probabilities).any():
            columns[f"probability_{metric}"] = round_scores(probabilities)
            sets = scatter(positions, scores["prediction_set"][own], count, 0)
            columns[f"set_{metric}"] = sets[rows].astype(np.int32)
    return columns


class Chunks:
    """The distinct chunks of the page: each text is written once and named by its number."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[str, str], int] = {}
        self._documents: list[str] = []

    def number_of(self, context: Row) -> int:
        """Return the number of a chunk with its id, document and text; a new one is kept."""
        key = (show(context["chunk_id"] or "without an id", SHORT_CHARACTERS), show(context["text"]))
        found = self._numbers.setdefault(key, len(self._numbers))
        if found == len(self._documents):
            self._documents.append(show(context["document"], SHORT_CHARACTERS))
        return found

    def write(self) -> bytes:
        """Return the chunks as Parquet, the number of a chunk being its row."""
        keys = list(self._numbers)
        columns = {"id": [key[0] for key in keys], "document": self._documents, "text": [key[1] for key in keys]}
        return write_parquet(columns, _TEXT_GROUP)


def write_texts(texts: Mapping[str, Sequence[Row]], interaction_ids: Sequence[str], chunks: Chunks) -> bytes:
    """Return texts of interactions as Parquet: query and answer for the list, and the rest as JSON to open."""
    by_id = {name: group_by(rows, "interaction_id") for name, rows in texts.items()}
    interactions = [by_id["interactions"][name][0] for name in interaction_ids]
    answers = [show(row["answer"]) for row in interactions]
    details = []
    for row, answer in zip(interactions, answers, strict=True):
        own = {name: rows.get(row["interaction_id"], []) for name, rows in by_id.items()}
        described = _describe(row, answer, own, chunks)
        details.append(json.dumps(described, ensure_ascii=False, separators=(",", ":"), allow_nan=False))
    return write_parquet(
        {"query": [show(row["query_text"]) for row in interactions], "answer": answers, "detail": details}, _TEXT_GROUP
    )


def _describe(row: Row, answer: str, own: Mapping[str, Sequence[Row]], chunks: Chunks) -> Row:
    passages = {context["rank"]: show(context["text"]) for context in reversed(own["contexts"])}
    return {
        "query_id": show(row["query_id"], SHORT_CHARACTERS),
        "asked_at": None if row["asked_at"] is None else f"{row['asked_at']:%Y-%m-%d %H:%M}",
        "verdict_reason": row["verdict_reason"],
        "expected_behaviour": row["expected_behaviour"],
        "refusal_rule": show(row["refusal_rule"], SHORT_CHARACTERS),
        "reference_answer": show(row["reference_answer"]),
        "earlier_turns": [
            {"turn": turn["turn_index"], "query": show(turn["query_text"]), "answer": show(turn["answer"])}
            for turn in own["turns"]
        ],
        "contexts": [
            {
                # a relevant chunk that was not retrieved has neither rank nor score
                "rank": context.get("rank"),
                "chunk": chunks.number_of(context),
                "score": _round(context.get("retrieval_score")),
                "grade": context["grade"],
                "is_source": bool(context["is_source"]),
            }
            for context in [*own["contexts"], *own["missed"]]
        ],
        "sentences": _locate_sentences(own["sentences"], answer, passages),
        "ratings": [_pick(each, "criterion rater_kind rater reading is_chosen scale_point") for each in own["ratings"]],
        "labels": {row["metric_name"]: [row["human_label"], row["label_rater_kind"]] for row in own["labels"]},
        "details": {row["metric_name"]: show(row["detail"], SHORT_CHARACTERS) for row in own["details"]},
        "causes": [[row["metric_name"], row["fault"], row["reason"]] for row in own["causes"]],
        "flags": [_pick(flag, "flag") | _show_short(flag, "subject evidence") for flag in own["flags"]],
        "personal_data": [
            _pick(value, "type exposure") | _show_short(value, "masked") | _pick(value, "is_leak")
            for value in own["private"]
        ],
    }


def _pick(row: Row, names: str) -> Row:
    return {name: row[name] for name in names.split()}


def _show_short(row: Row, names: str) -> Row:
    return {name: show(row[name], SHORT_CHARACTERS) for name in names.split()}


def _locate_sentences(sentences: Sequence[Row], answer: str, passages: Mapping[int, str]) -> list[Row]:
    """Return the sentences of an answer with their place in it, and the place of their evidence in the passages."""
    located, reached = [], 0
    for sentence in sentences:
        text = show(sentence["sentence_text"])
        place = find_text(text, answer, reached) or find_text(text, answer)
        if place is not None:
            reached = place[1]
        located.append(
            {
                # the text is there only where the answer does not hold it as it is
                "place": place,
                "text": text if place is None else "",
                "evidence": find_evidence(show(sentence["evidence_text"]), sentence["evidence_rank"], passages),
                "evidence_rank": sentence["evidence_rank"],
                **{name: _split(sentence[name]) for name in ("unsupported", "contradicted", "displaced", "computed")},
                **{name: _round(sentence[name]) for name in ("similarity", "entailment", "contradiction", "support")},
                **_pick(sentence, "signals fault_kind is_least_grounded claims_nothing is_contradicted is_unsupported"),
            }
        )
    return located


def find_text(text: str, within: str, start: int = 0) -> tuple[int, int] | None:
    """Return where ``text`` stands in a longer one, whatever blanks stand between its words; None if it does not."""
    words = " ".join(text.split())
    if not words:
        return None
    position = within.find(words, start)
    if position >= 0:
        return position, position + len(words)
    if not _IRREGULAR.search(within):
        return None
    found = re.compile(r"\s+".join(map(re.escape, words.split(" ")))).search(within, start)
    return None if found is None or not found[0] else found.span()


def find_evidence(text: str, rank: int | None, passages: Mapping[int, str]) -> dict[str, Any] | None:
    """Return where the evidence of a sentence stands: places [rank, start, end] in the passages, else its text."""
    if not text:
        return None
    # the passage that the build names is the first to be looked at
    ordered = sorted(passages, key=lambda one: (one != rank, one))
    for pieces in ([text], re.split(r"(?<=[.!?:;])\s+|\n+", text)):
        found = (
            next(((rank, *place) for rank in ordered if (place := find_text(piece, passages[rank]))), None)
            for piece in pieces
        )
        places = [first for first in found if first]
        if places:
            return {"places": sorted(map(list, dict.fromkeys(places)))}
    return {"text": text}


def _split(words: str | None) -> list[str]:
    return show(words).split(", ") if words else []


def _round(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.4g}")


def tabulate_cells(
    cells: Sequence[Row], metric_names: Sequence[str], segments: Mapping[str, Mapping[str, int]]
) -> dict[str, Any]:
    """Return the cells of the maps as columns of codes and numbers."""
    metrics = {name: code for code, name in enumerate(metric_names)}
    codes = {
        (dimension, segment): (number, code)
        for number, (dimension, own) in enumerate(segments.items())
        for segment, code in own.items()
    }

    def place(cell: Row, which: str) -> tuple[int, int] | None:
        dimension = cell[f"{which}_dimension"]
        return (-1, -1) if dimension in (None, "all") else codes.get((dimension, cell[f"{which}_segment"]))

    placed = [(cell, place(cell, "first"), place(cell, "second")) for cell in cells if cell["metric_name"] in metrics]
    found = [(cell, *first, *second) for cell, first, second in placed if first and second]
    kept = [cell for cell, *_ in found]
    columns: dict[str, Any] = {"metric": np.array([metrics[cell["metric_name"]] for cell in kept], np.int32)}
    for place_of, name in enumerate(("first_dimension", "first_segment", "second_dimension", "second_segment"), 1):
        columns[name] = np.array([row[place_of] for row in found], np.int32)
    for name in ("count_interactions", "count_scored", "count_clusters"):
        columns[name] = np.array([cell[name] for cell in kept], np.int32)
    numbers = [f"{name}{end}" for name in ("share_failing", "mean_score") for end in ("", "_lower", "_upper")]
    for name in (*numbers, "value"):
        columns[name] = to_numbers(cell[name] for cell in kept)
    columns["measurement"] = np.array([MEASUREMENTS.index(cell["measurement"]) for cell in kept], np.int32)
    marks = [("is_small", 1), ("is_weak", 2), ("is_confirmed", 4), ("is_unsure", 8)]
    columns["marks"] = np.array([sum(bit * bool(cell[name]) for name, bit in marks) for cell in kept], np.int32)
    return columns


def choose_rows(lots: Sequence[str], count: int, count_worst: int) -> tuple[Integers, Flags]:
    """Return the positions of the worst rows and of a plain random sample of the others, and which ones were drawn."""
    if count >= len(lots):
        return np.arange(len(lots)), np.zeros(len(lots), dtype=np.bool_)
    drawn = sorted(range(count_worst, len(lots)), key=lambda position: lots[position])[: count - count_worst]
    positions = np.array([*range(count_worst), *sorted(drawn)], dtype=np.int64)
    return positions, positions >= count_worst
