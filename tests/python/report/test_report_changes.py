"""Signatures, and what changed since the report that was signed last."""

import csv
from datetime import datetime
from pathlib import Path
from typing import Any

import duckdb
import pytest
from alert_materials import Hcat
from marts import finding, insert
from test_report import make_warehouse
from test_report_evidence import read_section, read_text

from hcat import report
from hcat.report.signing import COLUMNS, sign_report

SEED = Path(__file__).resolve().parents[3] / "seeds" / "sign_offs.csv"
CREATE_SIGN_OFFS = """
create table sign_offs (
    sign_off_id varchar, run_id varchar, signed_by varchar, role varchar, decision varchar, signed_at timestamp,
    report_sha256 varchar, note varchar
)
"""
SIGN_OFF = {
    "sign_off_id": "s1",
    "run_id": "run_0",
    "signed_by": "P-17",
    "role": "validator",
    "decision": "approved_with_conditions",
    "signed_at": datetime(2026, 5, 2, 9),
    "note": "More labels",
}
NOW = datetime(2026, 6, 1, 12)
SEEN = {"first_seen_at": datetime(2026, 4, 1), "first_seen_build_number": 1, "last_seen_at": NOW}


def add_history(warehouse: Path, sign_offs: list[dict[str, Any]], text: str = "") -> Path:
    """Add a build of a month earlier with other settings, gates and figures, and signatures."""
    with duckdb.connect(str(warehouse / "hcat.duckdb")) as connection:
        connection.execute(CREATE_SIGN_OFFS)
        insert(connection, "sign_offs", sign_offs)
        connection.execute(
            "insert into dim_runs by name select * replace ('run_0' as run_id, 1 as build_number,"
            " timestamp '2026-05-01' as started_at,"
            " '{\"hcat_confidence\": 0.9}' as settings, '0.0.9' as code_version, 'older' as code_hash,"
            ' \'{"threshold_gates": "a", "raters": "b"}\' as seed_checksums, 90 as count_labelled,'
            " 0 as count_labelled_by_people) from dim_runs"
        )
        connection.execute(
            'update dim_runs set seed_checksums = \'{"threshold_gates": "c", "raters": "b", "sign_offs": "d"}\','
            " count_labelled = 120, count_labelled_by_people = 30 where run_id = 'run_1'"
        )
        connection.execute(
            "insert into fct_threshold_gates by name select * replace ('run_0' as run_id, 1 as build_number,"
            " 'undecided' as verdict,"
            " false as is_passing, 0.5 as threshold) from fct_threshold_gates where verdict = 'passed'"
        )
        findings = {
            "aaaaaaaaaaaa1": {"first_segment": f"new{text}", "first_seen_at": NOW, "first_seen_build_number": 2},
            "bbbbbbbbbbbb1": {
                "first_segment": "gone",
                "status": "closed_by_data",
                "closed_at": NOW,
                "closed_build_number": 2,
            },
            "cccccccccccc1": {
                "first_segment": "sure",
                "kind": "confirmed",
                "confirmed_at": NOW,
                "confirmed_build_number": 2,
            },
            "dddddddddddd1": {"first_segment": "same"},
        }
        rows = [finding(finding_id=name, kind="suspected") | SEEN | row for name, row in findings.items()]
        insert(connection, "fct_findings", rows)
        figures = [
            # name, run, mean, lower, upper, threshold
            ("support_words", "run_0", 0.50, 0.45, 0.55, 0.8),
            ("support_words", "run_1", 0.70, 0.65, 0.75, 0.9),
            ("answered", "run_0", 0.50, 0.45, 0.55, None),
            # outside of the interval of then, and its own interval holds the value of then
            ("answered", "run_1", 0.56, 0.49, 0.63, None),
        ]
        names = ("metric_name", "run_id", "mean_score", "mean_score_lower", "mean_score_upper", "threshold")
        rows = [dict(zip(names, row, strict=True)) | {"count_scored": 40, "count_clusters": 20} for row in figures]
        insert(connection, "fct_run_metrics", rows)
    return warehouse


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    return report.render_report(add_history(make_warehouse(tmp_path_factory.mktemp("signed")), [SIGN_OFF]))


def test_nobody_is_said_to_have_signed_what_nobody_signed(tmp_path: Path) -> None:
    section = read_section(report.render_report(make_warehouse(tmp_path)), "changes")
    text = read_text(section)
    assert "No report has been signed yet." in text
    assert "hcat sign --run run_1 --by NAME --role ROLE --decision approved" in text
    assert section.count("<p>") == 2
    assert "<table" not in section


def test_the_signature_is_told_in_the_words_that_were_given(page: str) -> None:
    text = read_text(read_section(page, "changes"))
    assert "approved with conditions by P-17 (validator) on 2026-05-02 09:00:00 UTC: More labels" in text
    told = "not yet; an earlier report on 2026-05-02 09:00:00 UTC (approved with conditions)."
    assert told in read_text(page.split("<nav")[0])


def test_gates_findings_figures_thresholds_and_versions_are_compared(page: str) -> None:
    text = read_text(read_section(page, "changes"))
    assert "undecided" in text
    assert "passed" in text
    for event in ("opened aaaaaaaaaaaa", "no longer shown bbbbbbbbbbbb", "confirmed cccccccccccc"):
        assert event in text
    assert "dddddddddddd" not in text
    # .5 lies outside of [.65, .75], and .7 outside of [.45, .55]
    assert "0.500 [0.450, 0.550], n = 40 0.700 [0.650, 0.750], n = 40" in text
    # the interval of now holds the value of then
    assert "0.560" not in text
    assert "support_ words 0.800 0.900" in text
    assert "hcat 0.0.9 0.1.0" in text
    assert "hcat_confidence 0.9 0.95" in text
    assert "Seeds changed threshold_gates" in text
    assert "sign_offs" not in text
    assert "interactions with a label: 90 → 120; of them labelled by people: 0 → 30" in text
    assert "the same records" in text


def test_the_summary_counts_what_changed(tmp_path: Path) -> None:
    said = dict(report.summarise(add_history(make_warehouse(tmp_path), [SIGN_OFF])))["signed"]
    assert said.endswith(
        "2 gates changed; 1 finding opened; 1 finding no longer shown; 1 finding confirmed; 1 threshold decided anew;"
        " 1 metric moved beyond the interval."
    )


def test_the_last_signature_before_this_build_is_compared_and_its_own_is_shown(tmp_path: Path) -> None:
    own = SIGN_OFF | {"sign_off_id": "s2", "run_id": "run_1", "decision": "rejected", "signed_at": datetime(2026, 6, 2)}
    text = read_text(
        read_section(report.render_report(add_history(make_warehouse(tmp_path), [SIGN_OFF, own])), "changes")
    )
    assert "This build is signed: not approved by P-17 (validator) on 2026-06-02" in text
    assert "Compared with build run_0" in text
    assert "No report has been signed yet" not in text


def test_a_signed_build_that_is_not_here_is_named_and_not_compared(tmp_path: Path) -> None:
    warehouse = add_history(make_warehouse(tmp_path), [SIGN_OFF | {"run_id": "run_of_another_warehouse"}])
    section = read_section(report.render_report(warehouse), "changes")
    assert "names build run_of_another_warehouse , which this warehouse does not hold" in read_text(section)
    assert "<table" not in section


def test_what_the_signed_build_did_not_keep_is_not_said_to_be_the_same(tmp_path: Path) -> None:
    warehouse = add_history(make_warehouse(tmp_path), [SIGN_OFF])
    with duckdb.connect(str(warehouse / "hcat.duckdb")) as connection:
        connection.execute("delete from fct_run_metrics where run_id = 'run_0'")
        connection.execute("update dim_runs set seed_checksums = null, count_labelled = null where run_id = 'run_0'")
    text = read_text(read_section(report.render_report(warehouse), "changes"))
    assert "did not keep: main figures and thresholds, seeds, labels." in text
    assert "No main figure moved" not in text
    assert "Seeds changed not known" in text


@pytest.fixture
def seed(tmp_path: Path) -> Path:
    path = tmp_path / "sign_offs.csv"
    path.write_text(SEED.read_text(encoding="utf-8").splitlines()[0] + "\n", encoding="utf-8")
    return path


def read_rows(seed: Path) -> list[dict[str, str]]:
    with seed.open(encoding="utf-8", newline="") as handle:
        return list(csv.DictReader(handle))


def test_the_shipped_seed_holds_no_signature() -> None:
    assert SEED.read_text(encoding="utf-8") == ",".join(COLUMNS) + "\n"


def test_a_signature_is_added_and_nothing_else_changes(tmp_path: Path, seed: Path) -> None:
    warehouse = make_warehouse(tmp_path)
    page = report.write_report(warehouse, tmp_path / "report.html")
    sign_report(warehouse, "run_1", " P-17 ", "validator", "approved", report=page, seed=seed)
    first = seed.read_text(encoding="utf-8")
    signed = sign_report(
        warehouse, "run_1", 'Q, "R"', "owner", "approved_with_conditions", "until May;\nthen again", seed=seed
    )
    assert seed.read_text(encoding="utf-8").startswith(first)
    rows = read_rows(seed)
    assert [row["signed_by"] for row in rows] == ["P-17", 'Q, "R"']
    assert rows[1]["note"] == "until May;\nthen again"
    assert rows[1]["sign_off_id"] == signed != rows[0]["sign_off_id"]
    assert len(rows[0]["report_sha256"]) == 64
    assert rows[1]["report_sha256"] == ""


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"run_id": "run_9"}, r"no build run_9; its last build is run_1$"),
        ({"signed_by": " "}, r"^--by is empty"),
        ({"role": ""}, r"^--role is empty"),
        ({"decision": "fine"}, r"^--decision must be one of approved, approved_with_conditions, rejected, got fine$"),
        ({"decision": "approved_with_conditions"}, r"^--note is empty"),
        ({"report": Path("none.html")}, r"^none.html: no such file$"),
        ({"report": SEED}, r"is not the report of build run_1$"),
        ({"seed": Path("none.csv")}, r"^none.csv: no such file"),
    ],
)
def test_what_is_no_signature_is_refused_in_one_line(
    tmp_path: Path, seed: Path, changes: dict[str, Any], message: str
) -> None:
    given: dict[str, Any] = {"run_id": "run_1", "signed_by": "P", "role": "validator", "decision": "approved"}
    before = seed.read_text(encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        sign_report(make_warehouse(tmp_path), **{"seed": seed, **given, **changes})
    assert seed.read_text(encoding="utf-8") == before


def test_the_same_signature_twice_and_a_broken_seed_are_refused(tmp_path: Path, seed: Path) -> None:
    warehouse = make_warehouse(tmp_path)
    sign_report(warehouse, "run_1", "P", "validator", "rejected", seed=seed)
    with pytest.raises(ValueError, match="this signature stands there already"):
        sign_report(warehouse, "run_1", "P", "validator", "rejected", seed=seed)
    seed.write_text(seed.read_text(encoding="utf-8").rstrip("\n"), encoding="utf-8")
    with pytest.raises(ValueError, match="the last line has no end"):
        sign_report(warehouse, "run_1", "P", "owner", "rejected", seed=seed)
    seed.write_text("run_id,name\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"the header must be .* \(found: run_id, name\)"):
        sign_report(warehouse, "run_1", "P", "owner", "rejected", seed=seed)


def test_the_command_signs_into_the_seed_of_the_project_or_the_one_named(
    tmp_path: Path, seed: Path, hcat: Hcat
) -> None:
    options = ("sign", "--run", "run_1", "--by", "P-17", "--role", "validator", "--decision", "approved")
    place = ("--warehouse", make_warehouse(tmp_path / "warehouse"))
    shown = hcat(*options, *place, "--seed", seed)
    assert "run_1 by P-17 (validator): approved" in shown
    assert "dbt seed --select sign_offs" in shown
    assert [row["decision"] for row in read_rows(seed)] == ["approved"]
    own = tmp_path / "bank" / "seeds" / "sign_offs.csv"
    own.parent.mkdir(parents=True)
    own.write_text(SEED.read_text(encoding="utf-8"), encoding="utf-8")
    (tmp_path / "bank" / "dbt_project.yml").write_text("name: bank\n")
    hcat(*options, *place, "--project-dir", tmp_path / "bank")
    assert [row["decision"] for row in read_rows(own)] == ["approved"]
