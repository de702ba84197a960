"""Sheets for raters: blind, harmless in a spreadsheet, and back again without a rating lost, changed or doubled."""

import csv
import io
import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hcat.engine.warehouse import WarehouseError
from hcat.review.rounds import find_version
from hcat.review.sheets import (
    CELL_CHARACTERS,
    COLUMNS,
    Imported,
    cut,
    export_labels,
    import_labels,
    neutralise,
    read_sheet,
    restore,
)

Row = dict[str, str]
LONG = "A sentence of the answer. " * 2_000
INTERACTIONS = {
    # interaction_id: (query, contexts, answer, sampling, inclusion probability)
    "plain": ("What is the fee?", ["The fee is 5 euros.", "Students pay nothing."], "5 euros.", "audit", 0.1234567),
    "formula": ("=cmd|' /C calc'!A0", ["@SUM(1)"], "\t=1+1", "targeted", 0.7654321),
    "2026-05": ('Grüße; 你好, "quoted"\nand a second line 👍', [], LONG, "targeted", 0.5),
    "-7": ("Why?", ["Because."], "'=quoted'", "audit", 0.25),
}
CRITERIA = ("faithfulness", "relevance")


TEXTS = """
create table base_interactions (
    interaction_id varchar, query_id varchar, query_text varchar, answer varchar, record_status varchar
);
create table base_queries (query_id varchar, query_text varchar, reference_answer varchar, record_status varchar);
create table base_retrievals (
    interaction_id varchar, chunk_id varchar, rank integer, text varchar, record_status varchar
);
create table base_chunks (chunk_id varchar, document_id varchar, chunk_text varchar, record_status varchar);
create table base_documents (document_id varchar, title varchar, record_status varchar);
create table base_ratings (
    interaction_id varchar, rater varchar, criterion varchar, guideline_version varchar, scale_point integer,
    rating_pass integer, is_unjudged boolean, record_status varchar, rater_kind varchar, review_round varchar,
    correction integer, rated_at timestamp, source_file varchar, sampling varchar
);
create table raters (rater varchar, rater_kind varchar);
"""
#: As the marts have them; nothing is masked.
MARTS = """
create table fct_interactions as
select interaction_id, query_text, answer, null::varchar as answer_masks, length(answer) as count_answer_characters,
    if(interaction_id = 'plain', 'bot 1', 'bot 2') as system
from base_interactions;
create table fct_retrieved_contexts as
select interaction_id, rank, text as context_text, chunk_id as document_id from base_retrievals;
create table dim_documents as select document_id, title from base_documents;
"""


def make_warehouse(folder: Path, rounds: Mapping[str, list[str]] | None = None) -> Path:
    """Write the tables that a sheet is made of; the last of the rounds is the newest."""
    folder.mkdir(parents=True, exist_ok=True)
    rounds = {"round_1": list(INTERACTIONS)} if rounds is None else rounds
    with duckdb.connect(str(folder / "hcat.duckdb")) as connection:
        connection.execute(
            "create table int_interactions_sampled_for_review (review_id varchar, interaction_id varchar,"
            " review_round varchar, round_number integer, sampling varchar, inclusion_probability double)"
        )
        for number, (name, drawn) in enumerate(rounds.items(), start=1):
            for each in drawn:
                sampling, probability = INTERACTIONS[each][3:]
                connection.execute(
                    "insert into int_interactions_sampled_for_review values ($1, $2, $3, $4, $5, $6)",
                    [f"r_{name}_{each}", each, name, number, sampling, probability],
                )
        connection.execute(
            "create table rating_scales (criterion varchar, scale_point integer, scale_label varchar,"
            " guideline_version varchar, guideline_text varchar)"
        )
        for criterion in (*CRITERIA, "fluency"):
            connection.executemany(
                "insert into rating_scales values ($1, $2, $3, '1.0', $4)",
                [[criterion, point, f"point {point}", f"{criterion} as in {point}"] for point in (0, 1, 2)],
            )
        connection.execute(
            "create table calibration_targets as select unnest(['faithfulness', 'faithfulness', 'relevance'])"
            " as criterion, unnest(['groundedness', 'support_words', 'answer_relevancy__mean']) as metric_name"
        )
        connection.execute(TEXTS)
        for each, (query, contexts, answer, *_) in INTERACTIONS.items():
            connection.execute(
                "insert into base_interactions values ($1, null, $2, $3, 'staged')", [each, query, answer]
            )
            # in the wrong order: the rank decides
            for rank, text in reversed(list(enumerate(contexts, start=1))):
                connection.execute("insert into base_retrievals values ($1, 'd', $2, $3, 'staged')", [each, rank, text])
        connection.execute("insert into base_chunks values ('d', 'd', null, 'staged')")
        connection.execute("insert into base_documents values ('d', 'Fees', 'staged')")
        connection.execute(MARTS)
        connection.execute(
            "create table fct_labels_needed as select 'groundedness' as metric_name, 'half_width' as purpose,"
            " 0.05::double as target, 81 as count_labels, 381 as count_labels_needed, 300 as count_labels_missing,"
            " 300 as count_labels_needed_least, 402 as count_labels_needed_most, 'labels_missing' as label_status"
        )
    return folder


@pytest.fixture
def warehouse(tmp_path: Path) -> Path:
    return make_warehouse(tmp_path / "warehouse")


@pytest.fixture
def raw_logs(tmp_path: Path) -> Path:
    (tmp_path / "raw").mkdir()
    return tmp_path / "raw"


def read(path: Path) -> list[Row]:
    return list(csv.DictReader(io.StringIO(path.read_bytes().decode("utf-8-sig"), newline="")))


def write(path: Path, rows: list[Row], separator: str = ",", line_end: str = "\r\n", mark: str = "\ufeff") -> Path:
    written = io.StringIO(newline="")
    writer = csv.DictWriter(written, list(rows[0]), delimiter=separator, lineterminator=line_end)
    writer.writeheader()
    writer.writerows(rows)
    path.write_bytes((mark + written.getvalue()).encode())
    return path


def fill(warehouse: Path, sheet: Path, change: Callable[[int, Row], object] = lambda number, row: None) -> Path:
    """Export a sheet and fill it as anna: 2 for all; then change(row of the spreadsheet, row)."""
    rows = read(export_labels(warehouse, sheet)[0])
    for number, row in enumerate(rows, start=2):
        row.update(scale_point="2", rater="anna")
        change(number, row)
    return write(sheet, rows)


def landed(raw_logs: Path) -> list[dict[str, object]]:
    return [
        json.loads(line)
        for path in sorted(raw_logs.glob("ratings_*.jsonl"))
        for line in path.read_text(encoding="utf-8").splitlines()
    ]


def test_formulas_become_text_and_come_back() -> None:
    for text, cell in (("=1+1", "'=1+1"), ("'=1", "''=1"), ("5 = 5", "5 = 5")):
        assert (neutralise(text), restore(cell)) == (cell, text)


@given(st.text(st.sampled_from("=+-@'＝ \t\r\nab1"), max_size=8) | st.text(max_size=20))
def test_any_text_comes_back_and_no_cell_is_run(text: str) -> None:
    cell = neutralise(text)
    assert restore(cell) == text
    assert not cell.lstrip().startswith(tuple("=+-@＝＋－＠"))
    assert not cell.startswith(("\t", "\r", "\n"))


def test_long_cells_are_cut_with_a_mark_and_counted_as_spreadsheets_count() -> None:
    assert cut("x" * CELL_CHARACTERS) == "x" * CELL_CHARACTERS
    assert cut("x" * (CELL_CHARACTERS + 3)) == "x" * CELL_CHARACTERS + " [cut: 3 more characters]"
    # an emoji is two units: 16,000 of 20,000 fit
    assert cut("👍" * 20_000) == "👍" * 16_000 + " [cut: 4000 more characters]"
    # and is never halved
    assert cut("a👍", 2) == "a [cut: 1 more characters]"


def test_a_sheet_holds_what_raters_need_and_nothing_that_steers_them(warehouse: Path) -> None:
    path, lines = export_labels(warehouse)
    assert path == warehouse / "review_round_1.csv"
    assert lines == [
        ("sheet", str(path)),
        ("round", "round_1, 4 interactions"),
        ("rows", "8, one per interaction and criterion; 2 cells cut"),
        ("labels", "groundedness, half width 0.05: 81 of 381 (300 to 402), 300 missing"),
    ]
    content = path.read_bytes()
    assert content.startswith(b"\xef\xbb\xbfreview_id,")
    rows = read(path)
    assert tuple(rows[0]) == COLUMNS
    assert {(row["interaction_id"], row["criterion"]) for row in rows} == {
        (each, criterion) for each in ("plain", "formula", "'2026-05", "'-7") for criterion in CRITERIA
    }
    first = next(row for row in rows if row["interaction_id"] == "plain" and row["criterion"] == "relevance")
    assert first["query"] == "What is the fee?"
    # the other system retrieved one passage: the further ones of this one would tell it
    assert first["contexts"] == "Fees\nThe fee is 5 euros."
    assert first["answer"] == "5 euros."
    assert first["guideline"].splitlines() == [
        *[f"{point} = point {point}: relevance as in {point}" for point in (0, 1, 2)],
        "(contexts: at most the best 1 passages)",
    ]
    assert [first[name] for name in ("scale_point", "rater", "comment")] == ["", "", ""]
    for cue in (b"audit", b"targeted", b"0.1234567", b"0.7654321", b"sampling", b"probability", b"fluency"):
        assert cue not in content


def test_the_order_is_random_and_always_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    many = {f"i{index:03}": ("query", ["context"], "answer", "audit", 0.5) for index in range(100)}
    monkeypatch.setattr("test_sheets.INTERACTIONS", many)
    make_warehouse(tmp_path, {"round_1": list(many)})
    export_labels(tmp_path, tmp_path / "one.csv")
    export_labels(tmp_path, tmp_path / "two.csv")
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "two.csv").read_bytes()
    order = [int(row["interaction_id"][1:]) for row in read(tmp_path / "one.csv")]
    # the criteria of an answer stand together
    assert order[::2] == order[1::2]
    ups = sum(one < other for one, other in zip(order[::2], order[2::2], strict=False))
    # 99 steps of a random order: up in half of them, standard deviation sqrt(101 / 12)
    assert abs(ups - 49.5) < 4 * (101 / 12) ** 0.5


def test_the_last_round_is_written_unless_another_is_named(tmp_path: Path) -> None:
    make_warehouse(tmp_path, {"spring": ["plain"], "autumn": ["formula"]})
    assert export_labels(tmp_path)[0].name == "review_autumn.csv"
    assert [row["interaction_id"] for row in read(export_labels(tmp_path, None, "spring")[0])] == ["plain", "plain"]
    with pytest.raises(ValueError, match="review round must be one of autumn, spring, got winter"):
        export_labels(tmp_path, None, "winter")


def test_without_a_round_there_is_no_sheet(tmp_path: Path) -> None:
    make_warehouse(tmp_path, {})
    with pytest.raises(ValueError, match="no review round: it needs the module calibration"):
        export_labels(tmp_path)
    with pytest.raises(WarehouseError, match="no warehouse at"):
        export_labels(tmp_path / "nowhere")
    with pytest.raises(ValueError, match="separator must be one of , ;, got x"):
        export_labels(tmp_path, separator="x")


def run(sheet: Path, warehouse: Path, raw_logs: Path, **settings: object) -> Imported:
    return import_labels(sheet, warehouse, raw_logs, **{"rater_kind": "person"} | settings)  # type: ignore[arg-type]


def test_ratings_say_who_filled_the_sheet(warehouse: Path, raw_logs: Path, tmp_path: Path) -> None:
    sheet = fill(warehouse, tmp_path / "sheet.csv")
    with pytest.raises(ValueError, match="rater kind must be one of person, language_model, got robot"):
        run(sheet, warehouse, raw_logs, rater_kind="robot")
    with pytest.raises(ValueError, match=r"sheet.csv: nothing says who rated \(anna\): add --rater-kind person, or"):
        run(sheet, warehouse, raw_logs, rater_kind=None)
    assert landed(raw_logs) == []
    imported = run(sheet, warehouse, raw_logs, rater_kind="language_model")
    assert {each["rater_kind"] for each in landed(raw_logs)} == {"language_model"}
    assert imported.progress[0] == (
        "faithfulness: people rated 0 of 4 interactions (not people: language models rated 4)"
    )
    # the seed knows ben
    with duckdb.connect(str(warehouse / "hcat.duckdb")) as connection:
        connection.execute("insert into raters values ('ben', 'person')")
    other = write(tmp_path / "ben.csv", [row | {"rater": "ben"} for row in read(sheet)[:1]])
    assert run(other, warehouse, raw_logs, rater_kind=None).count_new == 1
    # nothing new needs no answer
    assert run(sheet, warehouse, raw_logs, rater_kind=None).count_known == 8


@pytest.mark.parametrize("separator", [",", ";"])
@pytest.mark.parametrize("line_end", ["\r\n", "\n"])
@pytest.mark.parametrize("mark", ["\ufeff", ""])
def test_what_spreadsheets_do_to_a_sheet_is_no_error(
    separator: str, line_end: str, mark: str, warehouse: Path, raw_logs: Path, tmp_path: Path
) -> None:
    rows = read(export_labels(warehouse, tmp_path / "sheet.csv", separator=",")[0])
    for row in rows:
        # numbers without their zeros, texts without their apostrophe, other line ends in a cell, blanks around a name
        row.update(
            guideline_version="1",
            scale_point="2,0",
            rater="  anna \u00a0 b.  ",
            interaction_id=row["interaction_id"].removeprefix("'"),
            query=row["query"].replace("\n", "\r\n"),
            review_round="May-26",
        )
    rows.append(dict.fromkeys(rows[0], ""))
    path = write(tmp_path / "saved.csv", rows, separator, line_end, mark)
    imported = run(path, warehouse, raw_logs)
    assert (imported.count_new, imported.count_unrated, imported.raters) == (8, 0, ("anna b.",))
    assert {each["interaction_id"] for each in landed(raw_logs)} == set(INTERACTIONS)


BROKEN = {
    "unknown id": ({"review_id": "r_x"}, "review_id must be one of the 4 of round_1, got r_x"),
    "other answer": ({"interaction_id": "plain2"}, "interaction_id of this review_id must be .*, got plain2"),
    "criterion without targets": ({"criterion": "fluency"}, "must be one of faithfulness, relevance, got fluency"),
    "guideline": ({"guideline_version": "2.0"}, "guideline_version must be 1.0, got 2.0: export the sheet again"),
    "half a point": ({"scale_point": "1.5"}, "scale_point of .* must be one of 0, 1, 2, cannot_judge, got 1.5"),
    "word": ({"scale_point": "good\n"}, "must be one of 0, 1, 2, cannot_judge, got good"),
    "rater": ({"rater": " "}, r"rater must be named where scale_point is filled, got \(empty\)"),
}


@pytest.mark.parametrize(("change", "message"), BROKEN.values(), ids=BROKEN)
def test_one_bad_row_lands_nothing_and_is_skipped_on_demand(
    change: Row, message: str, warehouse: Path, raw_logs: Path, tmp_path: Path
) -> None:
    sheet = fill(warehouse, tmp_path / "sheet.csv", lambda number, row: row.update(change if number == 4 else {}))
    refused = run(sheet, warehouse, raw_logs)
    assert [problem.row for problem in refused.problems] == [4]
    assert (refused.path, refused.count_new, refused.rejects) == (None, 0, None)
    assert refused.progress[0] == "faithfulness: people rated 0 of 4 interactions"
    assert list(raw_logs.iterdir()) == []
    with pytest.raises(AssertionError, match=message):
        raise AssertionError(refused.problems[0].reason)

    skipped = run(sheet, warehouse, raw_logs, skip_invalid=True)
    assert skipped.count_new == len(landed(raw_logs)) == 7
    assert skipped.rejects == tmp_path / "sheet_rejected.csv"
    rejected = read(skipped.rejects)
    assert [(row["row"], row["reason"]) for row in rejected] == [("4", refused.problems[0].reason)]
    assert set(COLUMNS) < set(rejected[0])


def test_a_rating_given_twice_is_refused(warehouse: Path, raw_logs: Path, tmp_path: Path) -> None:
    rows = read(fill(warehouse, tmp_path / "sheet.csv"))
    doubled = run(write(tmp_path / "doubled.csv", [*rows, rows[0]]), warehouse, raw_logs)
    assert [problem.row for problem in doubled.problems] == [10]
    assert "must come once, got" in doubled.problems[0].reason
    assert doubled.problems[0].reason.endswith("in rows 2 and 10")


def test_a_changed_rating_counts_and_an_older_sheet_does_not_undo_it(
    warehouse: Path, raw_logs: Path, tmp_path: Path
) -> None:
    sheet = fill(warehouse, tmp_path / "sheet.csv")
    rows = read(sheet)
    run(sheet, warehouse, raw_logs)
    changed = write(tmp_path / "changed.csv", [rows[0] | {"scale_point": "0"}, *rows[1:]])
    imported = run(changed, warehouse, raw_logs)
    assert (imported.count_new, imported.count_corrected, imported.count_known) == (1, 1, 7)
    points = [(each.get("correction"), each["scale_point"]) for each in landed(raw_logs)]
    # what was said first stays in the logs
    assert sorted(points, key=str) == sorted([(1, 0), *[(None, 2)] * 8], key=str)
    # neither the same sheet nor the older one changes anything
    before = {path: path.read_bytes() for path in raw_logs.iterdir()}
    assert run(changed, warehouse, raw_logs).count_known == 8
    older = run(sheet, warehouse, raw_logs)
    assert (older.path, older.count_known, older.count_older) == (None, 7, 1)
    assert {path: path.read_bytes() for path in raw_logs.iterdir()} == before
    # times decide where there are some: a later one counts, an earlier one does not
    for hour, point, count in ((12, "1", 1), (11, "cannot_judge", 0), (13, "2", 1)):
        timed = {"scale_point": point, "rated_at": f"2026-05-01T{hour}:00:00Z"}
        imported = run(write(tmp_path / "timed.csv", [rows[0] | timed]), warehouse, raw_logs)
        assert (imported.count_corrected, imported.count_older) == (count, 1 - count)
    assert max(each.get("correction", 0) for each in landed(raw_logs)) == 3
    # another person is another rating
    other = run(write(tmp_path / "other.csv", [row | {"rater": "ben"} for row in rows]), warehouse, raw_logs)
    assert (other.count_new, other.count_corrected) == (8, 0)


def test_a_sheet_of_another_round_is_told_so(tmp_path: Path, raw_logs: Path) -> None:
    warehouse = make_warehouse(tmp_path / "warehouse", {"spring": ["plain"], "autumn": ["formula"]})
    rows = read(export_labels(warehouse, tmp_path / "sheet.csv", "spring")[0])
    sheet = write(tmp_path / "sheet.csv", [row | {"scale_point": "1", "rater": "anna"} for row in rows])
    with pytest.raises(ValueError, match=r"^sheet.csv: no row is of round autumn; the sheet is of round spring: "):
        run(sheet, warehouse, raw_logs)
    autumn = read(export_labels(warehouse, tmp_path / "autumn.csv", "autumn")[0])
    mixed = run(write(tmp_path / "mixed.csv", [autumn[0], rows[0]]), warehouse, raw_logs)
    assert [(problem.row, problem.reason) for problem in mixed.problems] == [
        (3, "review_round must be autumn, got spring: import it with --round spring")
    ]
    with pytest.raises(ValueError, match=r"the sheet is of a round of another warehouse$"):
        run(write(tmp_path / "other.csv", [rows[0] | {"review_id": "r_x"}]), warehouse, raw_logs)
    assert run(sheet, warehouse, raw_logs, review_round="spring").count_new == 2
    assert {each["review_round"] for each in landed(raw_logs)} == {"spring"}


def test_a_sheet_of_another_guideline_is_refused_in_one_line(warehouse: Path, raw_logs: Path, tmp_path: Path) -> None:
    assert find_version([{"guideline_version": version} for version in ("1.9", "1.10", "1.2")]) == "1.10"
    sheet = fill(warehouse, tmp_path / "sheet.csv")
    with duckdb.connect(str(warehouse / "hcat.duckdb")) as connection:
        connection.execute("update rating_scales set guideline_version = '2.0' where criterion = 'relevance'")
    message = r"^sheet.csv: the guideline has changed: relevance 1.0 \(now 2.0\); export the round again$"
    with pytest.raises(ValueError, match=message):
        run(sheet, warehouse, raw_logs)
    # what was rated by a guideline in force is of use
    skipped = run(sheet, warehouse, raw_logs, skip_invalid=True)
    assert (skipped.count_new, len(skipped.problems)) == (4, 4)


def test_a_second_pass_a_reason_and_an_answer_that_nobody_can_judge_come_back(
    warehouse: Path, raw_logs: Path, tmp_path: Path
) -> None:
    rows = [
        row | {"rating_pass": "", "reason_start": "", "reason_end": "", "rated_at": ""}
        for row in read(fill(warehouse, tmp_path / "sheet.csv"))
        if row["interaction_id"] == "plain"
    ]
    reasoned = {"reason_start": "0", "reason_end": "8", "rated_at": "2026-05-01T10:00:00Z", "comment": "wrong fee"}
    rows = [rows[0] | reasoned, rows[0] | {"rating_pass": "2", "scale_point": "1"}, rows[1]]
    rows[2]["scale_point"] = "cannot_judge"
    sheet = write(tmp_path / "desk.csv", rows)
    imported = run(sheet, warehouse, raw_logs)
    assert (imported.count_new, imported.count_cannot_judge, imported.problems) == (3, 1, ())
    # what nobody could judge is not rated
    assert imported.progress == (
        "faithfulness: people rated 1 of 4 interactions",
        "relevance: people rated 0 of 4 interactions, and could not judge 1",
    )
    names = ("criterion", "rating_pass", "scale_point", "reason_start", "reason_end", "rated_at", "comment")
    assert [tuple(each.get(name) for name in names) for each in landed(raw_logs)] == [
        ("faithfulness", 1, 2, 0, 8, "2026-05-01T10:00:00Z", "wrong fee"),
        ("faithfulness", 2, 1, None, None, None, None),
        ("relevance", 1, "cannot_judge", None, None, None, None),
    ]
    assert run(sheet, warehouse, raw_logs).count_known == 3


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"reason_start": "3", "reason_end": "9"}, "must be a passage of the 8 characters of the answer, got 3 and 9"),
        ({"reason_start": "3", "reason_end": "3"}, "must be a passage of the 8 characters of the answer, got 3 and 3"),
        ({"reason_start": "3", "reason_end": ""}, r"must be a passage of .* got 3 and \(empty\)"),
        ({"rating_pass": "3"}, "rating_pass must be one of 1, 2, got 3"),
        ({"rated_at": "noon"}, "rated_at must be a time such as 2026-05-01T10:00:00Z, got noon"),
    ],
)
def test_what_the_desk_adds_is_checked(
    change: Row, message: str, warehouse: Path, raw_logs: Path, tmp_path: Path
) -> None:
    rows = [row for row in read(fill(warehouse, tmp_path / "sheet.csv")) if row["interaction_id"] == "plain"]
    unchanged = dict.fromkeys(change, "")
    refused = run(write(tmp_path / "desk.csv", [rows[0] | change, rows[1] | unchanged]), warehouse, raw_logs)
    assert [problem.row for problem in refused.problems] == [2]
    assert re.search(message, refused.problems[0].reason)
    assert list(raw_logs.iterdir()) == []


def test_rejected_cells_are_harmless(warehouse: Path, raw_logs: Path, tmp_path: Path) -> None:
    hostile = {"rater": "=HYPERLINK(1)", "scale_point": "=2", "comment": "\x1b[31m=1"}
    sheet = fill(warehouse, tmp_path / "sheet.csv", lambda number, row: row.update(hostile))
    refused = run(sheet, warehouse, raw_logs, skip_invalid=True, rejects=tmp_path / "bad.csv")
    assert len(refused.problems) == 8
    assert not [problem.reason for problem in refused.problems if "\x1b" in problem.reason]
    rejected = read(tmp_path / "bad.csv")
    assert {(row["rater"], row["scale_point"]) for row in rejected} == {("'=HYPERLINK(1)", "'=2")}
    # neutralised once
    assert {row["query"] for row in rejected if row["interaction_id"] == "formula"} == {"'=cmd|' /C calc'!A0"}
    assert list(raw_logs.iterdir()) == []


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"review_id;rater\n", "sheet.csv must have the columns .*, got none named interaction_id, criterion"),
        (b"", "got none named review_id"),
        ("räter".encode("cp1252"), "must be UTF-8, got the byte 0xE4 at position 1: save it as 'CSV UTF-8'"),
        (
            b"review_id,interaction_id,criterion,guideline_version,scale_point,rater,rater\n",
            "must have each column once, got rater more than once",
        ),
        (b'review_id\n"' + b"x" * 200_000 + b'"\n', "must have cells of at most 100,000 characters, got 200,000"),
    ],
)
def test_what_is_no_sheet_is_refused(content: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / "sheet.csv").write_bytes(content)
    with pytest.raises(ValueError, match=message):
        read_sheet(tmp_path / "sheet.csv")


def test_the_folder_of_raw_logs_must_exist(warehouse: Path, tmp_path: Path) -> None:
    sheet = fill(warehouse, tmp_path / "sheet.csv")
    with pytest.raises(ValueError, match=r"raw logs must be a folder, got .*nowhere: name it with --raw-logs"):
        run(sheet, warehouse, tmp_path / "nowhere")
