"""A review round from the build to the raters and back: drawn in SQL as in Python, rated in a sheet and at the desk.

A sheet goes to one rater, and the desk to another where there is a browser. One build then reads both.
"""

import csv
import hashlib
import os
import re
import shutil
from collections import Counter
from pathlib import Path

import pytest
from builds import DEMO, SETTINGS, Build, Dbt, read_lines, run_hcat, write_lines
from desks import Visit, find_browser, open_browser
from numpy.testing import assert_allclose

#: Interactions of the demo that are enough for a round that cannot hold them all.
INTERACTIONS = 150
#: What a round needs and what comes of it; gates and weaknesses do not.
BUILD = (
    "build --exclude-resource-type test --select"
    " +int_interactions_sampled_for_review +int_target_evaluations +fct_labels_needed stg_rejected_records"
    " +fct_rater_agreement +fct_rater_reports"
)
#: Interactions that are rated at the desk.
COUNT_AT_THE_DESK = 20


def run(build: Build, *arguments: object) -> str:
    """Run hcat on a build's folders and return what it prints on one line."""
    folders = {"HCAT_WAREHOUSE": str(build.warehouse), "HCAT_RAW_LOGS": str(build.raw)}
    return " ".join(run_hcat(*arguments, environment=os.environ | folders).split())


def number_of(interaction_id: str) -> float:
    """Return the number of an interaction in the round, in [0, 1)."""
    text = f"review|20260101|spring|{interaction_id}"
    return int(hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()[:8], 16) / 2**32


def read_rows(sheet: Path, separator: str = ",") -> list[dict[str, str]]:
    """Return the rows of a sheet."""
    with sheet.open(encoding="utf-8-sig", newline="") as lines:
        return list(csv.DictReader(lines, delimiter=separator))


def write_rows(sheet: Path, rows: list[dict[str, str]]) -> None:
    """Write a sheet as a spreadsheet of many countries does."""
    with sheet.open("w", encoding="utf-8-sig", newline="") as lines:
        writer = csv.DictWriter(lines, list(rows[0]), delimiter=";")
        writer.writeheader()
        writer.writerows(rows)


def fill(sheet: Path) -> dict[tuple[str, str], int]:
    """Rate every row of a sheet by a rule and return the scale points by (interaction, criterion)."""
    rows = read_rows(sheet)
    given = {}
    for row in rows:
        point = 2 * (sum(map(ord, row["interaction_id"])) % 2)
        row.update(scale_point=str(point), rater="reader_1")
        given[row["interaction_id"], row["criterion"]] = point
    write_rows(sheet, rows)
    return given


def rate_at_the_desk(page: Path, folder: Path) -> Path:
    """Rate the first interactions with the keyboard alone and return the saved sheet."""
    with open_browser() as browser:
        seen = Visit(browser.new_context().new_page(), page)
        seen.begin("reader_2")
        for number in range(COUNT_AT_THE_DESK):
            if number == 0:
                # the first sentence is the reason, and the note says why
                seen.press("m", "Enter", "n", "A part is missing.", "Escape")
            # of three criteria, one answer cannot be judged by the second
            seen.press("2" if number % 2 else "0", "c" if number == 3 else "1", "2", "Enter")
        assert f"{COUNT_AT_THE_DESK} of" in seen.read("header")
        sheet = seen.save(folder)
        assert (seen.complaints, seen.requests) == ([], [])
    return sheet


@pytest.fixture(scope="module")
def raw(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A part of the demo's logs, where people rated every second interaction already."""
    folder = tmp_path_factory.mktemp("logs")
    shutil.copytree(DEMO, folder, dirs_exist_ok=True)
    interactions = read_lines(DEMO / "interactions.jsonl")[:INTERACTIONS]
    write_lines(folder / "interactions.jsonl", interactions)
    kept = {each["interaction_id"] for each in interactions}
    retrievals = [each for each in read_lines(DEMO / "retrievals.jsonl") if each["interaction_id"] in kept]
    write_lines(folder / "retrievals.jsonl", retrievals)
    rated = {each["interaction_id"] for each in interactions[::2]}
    ratings = [each for each in read_lines(DEMO / "ratings.jsonl") if each["interaction_id"] in rated]
    by_people = [each | {"rater": f"{each['rater']} in person", "rater_kind": "person"} for each in ratings]
    write_lines(folder / "ratings.jsonl", by_people)
    return folder


def test_a_round_goes_out_and_comes_back(dbt: Dbt, raw: Path, tmp_path: Path) -> None:
    built = dbt(BUILD, raw, tmp_path / "warehouse", variables=SETTINGS)
    assert built.exit_code == 0, built.output

    # drawn: a plain random sample of the test set that no person has rated, by numbers that anyone can compute again
    eligible = built.query(
        "select interaction_id from int_interaction_attributes where is_in_release_population and is_answered"
        " and interaction_id not in"
        " (select interaction_id from stg_ratings where criterion = 'faithfulness' and rater_kind = 'person')"
        " order by interaction_id"
    )
    share = 40 / len(eligible)
    assert 50 < len(eligible) < INTERACTIONS
    audit = [name for (name,) in eligible if number_of(name) < share]
    drawn = built.query(
        "select interaction_id, sampling, inclusion_probability, audit_probability, plan_status"
        " from int_interactions_sampled_for_review order by interaction_id"
    )
    assert [row[0] for row in drawn if row[1] == "audit"] == audit
    # the others are real queries of the latest version, drawn in addition
    assert {row[1] for row in drawn} <= {"audit", "release"}
    assert_allclose([row[3] for row in drawn], share, rtol=1e-9)
    assert min(row[2] for row in drawn) >= share
    assert {row[4] for row in drawn} == {"planned"}

    # out, and back
    sheet = tmp_path / "sheet.csv"
    assert f"{len(drawn)} interactions" in run(built, "labels", "export", "--output", sheet)
    given = fill(sheet)
    assert len(given) == 3 * len(drawn)
    printed = run(built, "labels", "import", sheet, "--rater-kind", "person")
    assert f"imported {len(given)} ratings by 1 raters" in printed
    assert f"faithfulness: people rated {len(drawn)} of {len(drawn)} interactions" in printed

    # the rater thinks again: the later value counts
    (changed, *_) = (key for key in given if key[1] == "faithfulness")
    first = sheet.read_bytes()
    given[changed] = 2 - given[changed]
    rows = [row | {"scale_point": str(given[row["interaction_id"], row["criterion"]])} for row in read_rows(sheet, ";")]
    write_rows(sheet, rows)
    printed = run(built, "labels", "import", sheet, "--rater-kind", "person")
    assert "imported 1 ratings by 1 raters" in printed
    assert "corrected 1 of them replace an earlier value, which is kept" in printed
    printed = run(built, "labels", "status", "spring")
    assert f"waiting {len(given)} ratings: run `dbt build`" in printed

    # what the round did not draw comes back as chosen, and is no label
    (chosen, *_) = (name for (name,) in eligible if name not in {row[0] for row in drawn})
    write_rows(tmp_path / "chosen.csv", [rows[0] | {"review_id": f"chosen:{chosen}", "interaction_id": chosen}])
    printed = run(built, "labels", "import", tmp_path / "chosen.csv", "--rater-kind", "person")
    assert "chosen 1 of them: no round drew the answer" in printed
    assert f"people rated {len(drawn)} of {len(drawn)} interactions" in printed

    # another kind of rater at the desk: compared with the first one, and never its label
    desk = None
    if find_browser():
        run(built, "labels", "desk", "spring", "--output", tmp_path / "desk.html")
        desk = rate_at_the_desk(tmp_path / "desk.html", tmp_path)
        printed = run(built, "labels", "import", desk, "--rater-kind", "language_model")
        assert f"imported {3 * COUNT_AT_THE_DESK} ratings by 1 raters" in printed
        assert "1 of them say that the rater cannot judge" in printed

    # a build later the labels stand beside the scores with the way in which they were drawn
    count_labels = (
        "select count(*) from int_target_evaluations"
        " where metric_name = 'groundedness' and label is not null and raw_score is not null"
    )
    labelled_before = built.query(count_labels)[0][0]
    rebuilt = dbt(BUILD, raw, built.warehouse, variables=SETTINGS)
    assert rebuilt.exit_code == 0, rebuilt.output
    rejected = "from stg_rejected_records where entity = 'ratings' and source_file like 'ratings_spring%'"
    assert rebuilt.query(f"select count(*) {rejected}") == [(0,)]
    labels = {
        row[0]: row[1:]
        for row in rebuilt.query(
            "select labels.interaction_id, labels.label, labels.is_audit, labels.inclusion_probability"
            " from int_target_evaluations as labels inner join int_interactions_sampled_for_review as drawn"
            " on labels.interaction_id = drawn.interaction_id and labels.metric_name = 'groundedness'"
            " where labels.label is not null and labels.raw_score is not null"
        )
    }
    scored = {
        row[0]
        for row in rebuilt.query(
            "select interaction_id from fct_evaluations where raw_score is not null and metric_name = 'groundedness'"
        )
    }
    assert labels == {
        identifier: (given[identifier, "faithfulness"] // 2, sampling == "audit", probability)
        for identifier, sampling, probability, *_ in drawn
        if identifier in scored
    }
    assert len(labels) > 20
    kept = "select interaction_id, inclusion_probability from base_ratings where is_chosen"
    assert rebuilt.query(kept) == [(chosen, None)]
    count_labels = labelled_before + len(labels)
    planned = "select distinct count_labels from fct_labels_needed where purpose <> 'decided_share' and metric_name"
    assert rebuilt.query(f"{planned} = 'groundedness'") == [(count_labels,)]
    # the round stays as it was drawn, although its interactions are rated now
    assert drawn == rebuilt.query(
        "select interaction_id, sampling, inclusion_probability, audit_probability, plan_status"
        " from int_interactions_sampled_for_review order by interaction_id"
    )

    # both values are kept, and one counts
    kept = (
        "select scale_point, is_corrected, first_scale_point, correction from base_ratings where interaction_id = "
        f"'{changed[0]}' and criterion = 'faithfulness' and rater = 'reader_1' order by correction"
    )
    was = 2 - given[changed]
    assert rebuilt.query(kept) == [(was, True, str(was), 0), (given[changed], False, str(was), 1)]

    # once more, or the older sheet: nothing
    before = {path: path.read_bytes() for path in raw.iterdir() if path.is_file()}
    printed = run(rebuilt, "labels", "import", sheet)
    assert f"imported 0 ratings known {len(given)} ratings were imported before" in printed
    (tmp_path / "older.csv").write_bytes(first)
    printed = run(rebuilt, "labels", "import", tmp_path / "older.csv")
    assert "older 1 ratings were changed later" in printed
    assert {path: path.read_bytes() for path in raw.iterdir() if path.is_file()} == before
    if desk is None:
        pytest.skip("chromium or playwright is not installed: the sheet came back, and the desk was not tried")
    check_the_desk(rebuilt, desk)


def check_the_desk(rebuilt: Build, desk: Path) -> None:
    """Compare what the marts say about the rater at the desk with the saved sheet."""
    rows = read_rows(desk)
    judged = [row for row in rows if row["scale_point"] != "cannot_judge"]
    assert len(rows) - len(judged) == 1
    # compared with the other kind of rater, and never joined
    shared = rebuilt.query(
        "select criterion, count_units from fct_rater_agreement where statistic = 'percent_agreement'"
        " and rater_kind = 'language_model' and other_rater_kind = 'person'"
    )
    assert dict(shared) == Counter(row["criterion"] for row in judged)
    reports = rebuilt.query(
        "select sum(count_ratings), sum(count_cannot_judge) from fct_rater_reports where rater = 'reader_2'"
    )
    assert reports == [(len(judged), 1)]
    reason = "select comment, reason_start, reason_end > 0 from stg_ratings where reason_start is not null"
    assert rebuilt.query(reason) == [("A part is missing.", 0, True)]
    printed = run(rebuilt, "labels", "status", "spring")
    assert re.search(
        r"faithfulness by reader_2 \(language model\): 19 rated, 1 cannot judge, \d+ of the round", printed
    )
