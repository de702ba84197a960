"""Sheets for raters: a review round goes out as a CSV that a spreadsheet opens, and comes back as ratings."""

import csv
import io
import json
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from hcat.engine.files import write_whole
from hcat.engine.keys import hash_text
from hcat.engine.warehouse import Place, find_folder, open_warehouse
from hcat.language.display import clean_label
from hcat.language.text import clean_text
from hcat.review.ratings import Key, describe_progress, key_of, read_given, read_kinds, read_time
from hcat.review.rounds import CANNOT_JUDGE, CHOSEN, QUERIES, Round, describe_needs, find_version, read_round
from hcat.review.texts import Texts, read_texts

#: Columns of a sheet, in their order; raters fill the last three.
COLUMNS: Final = (
    "review_id",
    "review_round",
    "interaction_id",
    "criterion",
    "query",
    "contexts",
    "answer",
    "guideline",
    "guideline_version",
    "scale_point",
    "rater",
    "comment",
)
#: Columns that the desk adds: the look of the rater, and the passage of the answer that is the reason.
DESK_COLUMNS: Final = ("rating_pass", "reason_start", "reason_end", "rated_at")
#: Columns that a sheet must still have when it comes back.
REQUIRED: Final = ("review_id", "interaction_id", "criterion", "guideline_version", "scale_point", "rater")
#: Characters of a cell (in UTF-16, as spreadsheets count); they hold 32,767 and cut silently.
CELL_CHARACTERS: Final = 32_000
#: A longer cell is read as a broken file: what a spreadsheet writes is not above 32,767 characters.
READ_CHARACTERS: Final = 100_000
SEPARATORS: Final = (",", ";")
#: Looks of a rater at an answer: the first counts, the second measures consistency.
PASSES: Final = ("1", "2")
#: Who can fill a sheet; rules write ratings themselves.
RATER_KINDS: Final = ("person", "language_model")

# full-width forms count too: spreadsheets with an East Asian setting take them for the plain ones
_FORMULA_STARTS = tuple("=+-@＝＋－＠")
_WHITE_STARTS = ("\t", "\r", "\n")
# what a spreadsheet turns into a number or a date: 007, 2026-05, 1.1, MAR1
_TAKEN_FOR_A_VALUE = re.compile(r"\d|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*[ ./-]?\d", re.IGNORECASE)
_IDENTIFIERS = ("review_round", "interaction_id", "guideline_version")
_NUMBER = re.compile(r"[+-]?\d+(?:[.,]\d*)?(?:[eE][+-]?\d+)?")
# relative: a spreadsheet keeps 15 digits
_NUMBER_TOLERANCE = 1e-14


@dataclass(frozen=True, slots=True)
class Problem:
    """A row of a sheet that cannot be used."""

    row: int  # of the spreadsheet; the header is row 1
    reason: str  # what was expected and what was found, on one line
    cells: Mapping[str, str]  # as they came


@dataclass(frozen=True, slots=True)
class Imported:
    """What :func:`import_labels` did."""

    path: Path | None  # of new ratings in the raw logs; None when the sheet brought nothing new
    review_round: str
    raters: tuple[str, ...]  # who gave the new ratings
    count_new: int  # ratings written
    count_corrected: int  # of them, those that replace an earlier value
    count_cannot_judge: int  # of them
    count_chosen: int  # of them, those of answers that no round drew
    count_known: int  # imported before
    count_older: int  # older than what counts, and left out
    count_unrated: int  # rows without a scale point
    problems: tuple[Problem, ...]  # unless they were to be skipped, nothing was written because of them
    rejects: Path | None  # where skipped rows were written with the reason
    progress: tuple[str, ...]  # what people rated of the round, one line per criterion
    needs: tuple[str, ...]  # labels missing for the seed `review_targets` as of the last build, one line each


def neutralise(text: str) -> str:
    """Return ``text`` as a cell that no spreadsheet runs: an apostrophe before ``= + - @``, tab and line break."""
    return "'" + text if _is_dangerous(text) or text.startswith("'") else text


def restore(cell: str) -> str:
    """Return the text that :func:`neutralise` made a cell of."""
    rest = cell[1:]
    return rest if cell.startswith("'") and (_is_dangerous(rest) or rest.startswith("'")) else cell


def cut(text: str, length: int = CELL_CHARACTERS) -> str:
    """Return ``text``, or the start of it with a mark that says how many characters are left out."""
    units = text.encode("utf-16-le")
    if len(units) <= 2 * length:
        return text
    kept = units[: 2 * length].decode("utf-16-le", "ignore")
    return f"{kept} [cut: {len(text) - len(kept)} more characters]"


def export_labels(
    warehouse: Path | Place, output: Path | None = None, review_round: str | None = None, separator: str = ","
) -> tuple[Path, list[tuple[str, str]]]:
    """Write the sheet of a round, one row per (interaction, criterion); return its path, and what to print about it."""
    if separator not in SEPARATORS:
        raise ValueError(f"separator must be one of {' '.join(SEPARATORS)}, got {separator}")
    with open_warehouse(warehouse) as opened:
        found = read_round(opened, review_round)
        texts, count_shown = read_texts(opened, found.interaction_ids(), is_masked=False)
        needs = describe_needs(opened)
    path = output or find_folder(warehouse) / f"review_{found.name}.csv"
    # in every row alike, so that it tells no system from another
    limit = f"\n(contexts: at most the best {count_shown} passages)" if count_shown else ""
    rows: list[list[str]] = []
    count_cut = 0
    # without scores, in random order
    for review_id in found.ordered():
        interaction_id = found.drawn[review_id]["interaction_id"]
        own = texts.get(interaction_id, Texts("", (), ""))
        contexts = [f"{title}\n{text}" if title else text for title, text in own.contexts]
        if len(contexts) > 1:
            contexts = [f"[{number}] {text}" for number, text in enumerate(contexts, start=1)]
        for criterion, points in found.guidelines.items():
            whole = {
                "review_id": review_id,
                "review_round": found.name,
                "interaction_id": interaction_id,
                "criterion": criterion,
                "query": own.query,
                "contexts": "\n\n".join(contexts),
                "answer": own.answer,
                "guideline": "\n".join(
                    f"{point['scale_point']} = {point['scale_label']}: {point['guideline_text']}" for point in points
                )
                + limit,
                "guideline_version": find_version(points),
            }
            shown = {name: cut(text) for name, text in whole.items()}
            count_cut += sum(shown[name] != text for name, text in whole.items())
            rows.append([to_cell(name, shown.get(name, "")) for name in COLUMNS])
    # the byte order mark tells spreadsheets that this is UTF-8
    write_whole(path, "\ufeff" + _to_csv([COLUMNS, *rows], separator))
    return path, [
        ("sheet", str(path)),
        ("round", f"{found.name}, {len(found.drawn)} interactions"),
        ("rows", f"{len(rows)}, one per interaction and criterion" + f"; {count_cut} cells cut" * bool(count_cut)),
        *[("labels", need) for need in needs],
    ]


def import_labels(
    sheet: Path,
    warehouse: Path | Place,
    raw_logs: Path,
    review_round: str | None = None,
    *,
    skip_invalid: bool = False,
    rejects: Path | None = None,
    rater_kind: str | None = None,
) -> Imported:
    """Land the ratings of a filled sheet in the raw logs; the next build reads them."""
    if rater_kind not in (None, *RATER_KINDS):
        raise ValueError(f"rater kind must be one of {', '.join(RATER_KINDS)}, got {rater_kind}")
    if not raw_logs.is_dir():
        raise ValueError(f"raw logs must be a folder, got {raw_logs}: name it with --raw-logs or HCAT_RAW_LOGS")
    rows = read_sheet(sheet)
    with open_warehouse(warehouse) as opened:
        drawn = read_round(opened, review_round)
        needs = describe_needs(opened)
        named = (cells["review_id"].strip().partition(f"{CHOSEN}:") for _, cells in rows)
        chosen = {interaction_id for _, mark, interaction_id in named if mark}
        ids = {"interaction_ids": [*drawn.interaction_ids(), *chosen]}
        lengths = {
            row["interaction_id"]: row["count_answer_characters"]
            for row in opened.rows(QUERIES["list_lengths"], ("fct_interactions",), **ids)
        }
        found = drawn.with_chosen(chosen & lengths.keys())
        given = read_given(opened, found, raw_logs)
        kinds = read_kinds(opened)
    _refuse_other_sheets(sheet.name, rows, found, is_skipping=skip_invalid)

    records: dict[Key, dict[str, Any]] = {}
    first_rows: dict[Key, int] = {}
    problems: list[Problem] = []
    count_known = count_older = count_unrated = 0
    for number, cells in rows:
        record, reason = _check_row(cells, found, lengths)
        if record is not None:
            key = key_of(record)
            known = given.get(key)
            if key in first_rows:
                reason = f"each rating must come once, got {_name(key)} in rows {first_rows[key]} and {number}"
            elif known is None:
                records[key] = record
            elif known.point == record["scale_point"]:
                count_known += 1
            elif known.outdates(record["scale_point"], read_time(record.get("rated_at"))):
                count_older += 1
            else:
                records[key] = record | {"correction": known.correction + 1}
            first_rows.setdefault(key, number)
        elif not reason:
            count_unrated += 1
        if reason:
            problems.append(Problem(number, reason, cells))

    path, rejected = None, None
    if problems and not skip_invalid:
        records = {}
    raters = tuple(sorted({key[2] for key in records}))
    nameless = [clean_label(rater) for rater in raters if rater_kind is None and rater not in kinds]
    if nameless:
        raise ValueError(
            f"{sheet.name}: nothing says who rated ({', '.join(nameless)}): add --rater-kind person, or --rater-kind "
            "language_model, or name them in the seed raters"
        )
    if problems and skip_invalid:
        rejected = rejects or sheet.with_name(f"{sheet.stem}_rejected.csv")
        _write_rejects(rejected, problems)
    if records:
        said = {"rater_kind": rater_kind} if rater_kind else {}
        lines = [json.dumps(records[key] | said, ensure_ascii=False, sort_keys=True) for key in sorted(records)]
        content = "".join(line + "\n" for line in lines)
        path = raw_logs / f"ratings_{found.name}_{hash_text(content)[:12]}.jsonl"
        write_whole(path, content)
    with open_warehouse(warehouse) as opened:
        progress = describe_progress(read_given(opened, found, raw_logs), drawn)
    return Imported(
        path,
        found.name,
        raters,
        len(records),
        sum("correction" in record for record in records.values()),
        sum(record["scale_point"] == CANNOT_JUDGE for record in records.values()),
        sum(record["sampling"] == CHOSEN for record in records.values()),
        count_known,
        count_older,
        count_unrated,
        tuple(problems),
        rejected,
        tuple(progress),
        needs,
    )


def read_sheet(path: Path) -> list[tuple[int, dict[str, str]]]:
    """Return the rows of a sheet as (row of the spreadsheet, cells by column); blank rows are left out."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{path.name} must be UTF-8, got the byte 0x{error.object[error.start]:02X} at position {error.start}: "
            "save it as 'CSV UTF-8'"
        ) from error
    names: list[str] = []
    for separator in SEPARATORS:
        table = _parse(path.name, text, separator)
        names = [name.strip().lower() for name in table[0]] if table else []
        if set(REQUIRED) <= set(names):
            break
    else:
        lacking = ", ".join(name for name in REQUIRED if name not in names)
        raise ValueError(f"{path.name} must have the columns {', '.join(REQUIRED)}, got none named {lacking}")
    repeated = sorted({name for name in names if name and names.count(name) > 1})
    if repeated:
        raise ValueError(f"{path.name} must have each column once, got {', '.join(repeated)} more than once")
    rows = []
    for number, cells in enumerate(table[1:], start=2):
        if any(cell.strip() for cell in cells):
            # spreadsheets leave out empty cells at the end of a row
            padded = [*cells, *[""] * (len(names) - len(cells))]
            rows.append((number, dict(zip(names, padded, strict=False))))
    return rows


def _parse(name: str, text: str, separator: str) -> list[list[str]]:
    csv.field_size_limit(sys.maxsize)  # the limit is one for all readers of a process, and lower by default
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=separator))
    except csv.Error as error:
        raise ValueError(f"{name} must be a CSV file, got: {error}") from error
    longest = max((len(cell) for row in rows for cell in row), default=0)
    if longest > READ_CHARACTERS:
        # a quotation mark that nobody closed makes one cell of all that follows
        raise ValueError(f"{name} must have cells of at most {READ_CHARACTERS:,} characters, got {longest:,}")
    return rows


def to_cell(name: str, text: str) -> str:
    """Return the cell of a column, neutralised; identifiers are kept from becoming numbers and dates."""
    if name in _IDENTIFIERS and _TAKEN_FOR_A_VALUE.match(text):
        return "'" + text
    return neutralise(text)


def _is_dangerous(text: str) -> bool:
    return text.startswith(_WHITE_STARTS) or text.lstrip().startswith(_FORMULA_STARTS)


def _name(key: Key) -> str:
    look = "" if key[4] == 1 else f", pass {key[4]}"
    return f"{key[1]} of {clean_label(key[0])} by {clean_label(key[2])}{look}"


def _refuse_other_sheets(
    name: str, rows: Sequence[tuple[int, Mapping[str, str]]], found: Round, *, is_skipping: bool
) -> None:
    """Raise one error for a sheet that is of another round, or of another version of a guideline, as a whole."""
    review_ids = {restore(cells.get("review_id", "").strip()) for _, cells in rows}
    if rows and not review_ids & set(found.drawn):
        others = sorted({found.rounds_of_others[each] for each in review_ids if each in found.rounds_of_others})
        advice = f"round {others[0]}: import it with --round {others[0]}" if others else "a round of another warehouse"
        raise ValueError(f"{name}: no row is of round {found.name}; the sheet is of {advice}")
    stale = []
    for criterion, points in found.guidelines.items():
        version = find_version(points)
        versions = {
            restore(cells["guideline_version"].strip()).removeprefix("'")
            for _, cells in rows
            if restore(cells["criterion"].strip()) == criterion
        }
        if versions and not any(_is_same(each, version) for each in versions):
            stale.append(f"{criterion} {clean_label(min(versions))} (now {version})")
    if stale and not is_skipping:
        raise ValueError(f"{name}: the guideline has changed: {', '.join(stale)}; export the round again")


def _check_row(cells: Mapping[str, str], found: Round, lengths: Mapping[str, int]) -> tuple[dict[str, Any] | None, str]:
    """Return (the rating, ""), (None, "") for a row that is not rated yet, or (None, what is wrong)."""
    texts = {name: restore(cells.get(name, "").strip()) for name in (*COLUMNS, *DESK_COLUMNS)}
    got = {name: clean_label(text) for name, text in texts.items()}
    drawn = found.drawn.get(texts["review_id"])
    other = found.rounds_of_others.get(texts["review_id"])
    if other is not None:
        return None, f"review_round must be {found.name}, got {other}: import it with --round {other}"
    if drawn is None:
        return None, f"review_id must be one of the {len(found.drawn)} of {found.name}, got {got['review_id']}"
    if not _is_same(texts["interaction_id"], drawn["interaction_id"].strip()):
        expected = clean_label(drawn["interaction_id"])
        return None, f"interaction_id of this review_id must be {expected}, got {got['interaction_id']}"
    points = found.guidelines.get(texts["criterion"])
    if points is None:
        return None, f"criterion must be one of {', '.join(sorted(found.guidelines))}, got {got['criterion']}"
    version = find_version(points)
    if not _is_same(texts["guideline_version"], version):
        return None, f"guideline_version must be {version}, got {got['guideline_version']}: export the sheet again"
    if not texts["scale_point"]:
        return None, ""
    scale = [*(str(point["scale_point"]) for point in points), CANNOT_JUDGE]
    point = next((each for each in scale if _is_same(texts["scale_point"], each)), None)
    if point is None:
        return None, f"scale_point of {texts['criterion']} must be one of {', '.join(scale)}, got {got['scale_point']}"
    # as the landing cleans it, and one name whatever its blanks
    rater = " ".join(clean_text(texts["rater"]).split())
    if not rater:
        return None, f"rater must be named where scale_point is filled, got {got['rater']}"
    rating_pass = texts["rating_pass"] or "1"
    if rating_pass not in PASSES:
        return None, f"rating_pass must be one of {', '.join(PASSES)}, got {got['rating_pass']}"
    passage, reason = _read_passage(texts["reason_start"], texts["reason_end"], lengths.get(drawn["interaction_id"], 0))
    if reason:
        return None, reason
    try:
        read_time(texts["rated_at"])
    except ValueError:
        return None, f"rated_at must be a time such as 2026-05-01T10:00:00Z, got {got['rated_at']}"
    optional = {name: texts[name] for name in ("rated_at", "comment") if texts[name]}
    record = {
        "review_id": texts["review_id"],
        "interaction_id": drawn["interaction_id"],
        "rater": rater,
        "criterion": texts["criterion"],
        "guideline_version": version,
        "scale_point": CANNOT_JUDGE if point == CANNOT_JUDGE else int(point),
        "rating_pass": int(rating_pass),
        "review_round": found.name,
        "sampling": drawn["sampling"],
        "inclusion_probability": drawn["inclusion_probability"],
    }
    return record | passage | optional, ""


def _read_passage(start: str, end: str, count_characters: int) -> tuple[dict[str, int], str]:
    """Return (the passage that is the reason, ""), ({}, "") without one, or ({}, what is wrong)."""
    if not start and not end:
        return {}, ""
    if start.isdecimal() and end.isdecimal() and int(start) < int(end) <= count_characters:
        return {"reason_start": int(start), "reason_end": int(end)}, ""
    return {}, (
        f"reason_start and reason_end must be a passage of the {count_characters:,} characters of the answer, "
        f"got {clean_label(start)} and {clean_label(end)}"
    )


def _is_same(cell: str, text: str) -> bool:
    """Tell whether a cell holds a text, with or without the apostrophe, or the number that a spreadsheet made of it."""
    if text in (cell, cell.removeprefix("'")):
        return True
    if not _NUMBER.fullmatch(cell) or not _NUMBER.fullmatch(text):
        return False
    one, other = float(cell.replace(",", ".")), float(text.replace(",", "."))
    return abs(one - other) <= _NUMBER_TOLERANCE * max(abs(one), abs(other))


def _write_rejects(path: Path, problems: Sequence[Problem]) -> None:
    names = [*dict.fromkeys(name for problem in problems for name in problem.cells if name)]
    # what a spreadsheet made of a cell may run again: neutralised once, not twice
    rows = [
        [
            str(problem.row),
            neutralise(problem.reason),
            *[neutralise(restore(problem.cells.get(name, ""))) for name in names],
        ]
        for problem in problems
    ]
    write_whole(path, "\ufeff" + _to_csv([["row", "reason", *names], *rows], ","))


def _to_csv(rows: Iterable[Sequence[str]], separator: str) -> str:
    written = io.StringIO(newline="")
    csv.writer(written, delimiter=separator, lineterminator="\r\n").writerows(rows)
    return written.getvalue()
