"""The command line: what it prints, where it writes, and that every fault is one line and exit code 2."""

import re
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest
from alert_materials import Hcat
from desks import make_desk_warehouse
from test_report import HOSTILE, make_warehouse
from test_sheets import fill
from test_sheets import make_warehouse as make_review_warehouse


def tidy(printed: str) -> list[str]:
    return [" ".join(line.split()) for line in printed.strip().splitlines()]


def test_report_is_written_beside_the_warehouse_and_summary_names_the_copies(tmp_path: Path, hcat: Hcat) -> None:
    make_warehouse(tmp_path)
    lines = tidy(hcat("summary", "--warehouse", tmp_path))
    assert 6 <= len(lines) <= 20
    text = "\n".join(lines)
    for line in (
        "; 1 of 3 records rejected",
        "interactions 60 from 30 clusters, 2026-05-01 to 2026-05-01",
        f"warehouse {tmp_path / 'hcat.duckdb'}",
        "published copy none yet: run `dbt build`",
        "report none yet: run `hcat report`",
    ):
        assert line in text
    make_warehouse(tmp_path / "published")
    assert hcat("report", "--warehouse", tmp_path).strip() == str(tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    shown = hcat("summary", "--warehouse", tmp_path)
    assert str(tmp_path / "published" / "hcat.duckdb") in shown
    assert str(tmp_path / "report.html") in shown


def test_a_build_on_spark_is_read_from_what_it_published(tmp_path: Path, hcat: Hcat) -> None:
    make_warehouse(tmp_path / "published" / "candidate")
    assert hcat("report", "--warehouse", tmp_path).strip() == str(tmp_path / "report.html")
    assert str(tmp_path / "published" / "candidate" / "hcat.duckdb") in hcat("summary", "--warehouse", tmp_path)


def test_summary_gives_hostile_names_no_power_over_the_terminal(tmp_path: Path, hcat: Hcat) -> None:
    make_warehouse(tmp_path, text=f"[bold red]{HOSTILE}\n\x07")
    shown = hcat("summary", "--warehouse", tmp_path)
    assert "60 from 30 clusters" in shown
    assert not any(character in shown for character in ("\x1b", "\x07", "\u202e"))


@pytest.mark.parametrize("command", ["report", "summary"])
def test_a_warehouse_that_cannot_be_read_is_one_line(command: str, tmp_path: Path, hcat: Hcat) -> None:
    assert hcat(command, "--warehouse", tmp_path / "nowhere", code=2).startswith("hcat: no warehouse at ")
    duckdb.connect(str(tmp_path / "hcat.duckdb")).close()
    wanted = "hcat: the warehouse holds no build of hcat: run `dbt build`, or name another with --database\n"
    assert hcat(command, "--warehouse", tmp_path, code=2) == wanted
    program = "import duckdb, sys; held = duckdb.connect(sys.argv[1]); print('held', flush=True); sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path / "hcat.duckdb")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "held\n"
        error = hcat(command, "--warehouse", tmp_path, code=2)
        writer.communicate("")
    assert error.startswith(f"hcat: another process (PID {writer.pid}) writes {tmp_path / 'hcat.duckdb'}")
    assert f"wait until it ends, or read the published copy {tmp_path / 'published'}" in error


def test_faults_of_output_and_program_are_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hcat: Hcat) -> None:
    make_warehouse(tmp_path)
    (tmp_path / "file").write_text("in the way")
    command = ("report", "--warehouse", tmp_path, "--output", tmp_path / "file" / "report.html")
    assert hcat(*command, code=2).startswith(f"hcat: cannot use {tmp_path / 'file'}")

    def break_down(*arguments: object) -> None:
        raise KeyError("unexpected")

    monkeypatch.setattr("hcat.report.summarise", break_down)
    assert hcat("summary", "--warehouse", "anywhere", code=2) == "hcat: KeyError: 'unexpected'\n"


def test_a_desk_is_written_and_a_round_has_a_status(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hcat: Hcat
) -> None:
    make_desk_warehouse(tmp_path)
    monkeypatch.setenv("HCAT_WAREHOUSE", str(tmp_path))
    command = ("labels", "desk", "round_1", "--raters", "ben, anna", "--overlap", "0.5", "--second-pass", "0.34")
    assert tidy(hcat(*command)) == [
        f"desk {tmp_path / 'desk.html'}",
        "round round_1, 4 interactions",
        "criteria faithfulness, relevance",
        "rater anna: 3 interactions, 1 of them twice",
        "rater ben: 3 interactions, 1 of them twice",
        "texts private data masked",
        "next open it in a browser, rate, save the sheet, then `hcat labels import SHEET --rater-kind person`",
    ]
    shown = hcat("labels", "desk", "--unmasked", "--rater", "anna")
    assert "unmasked: only for those who may read the logs" in shown
    assert hcat("labels", "desk", "winter", code=2) == "hcat: review round must be one of round_1, got winter\n"
    assert "round        relevance: people rated 0 of 4 interactions" in hcat("labels", "status")


def test_ratings_go_to_the_logs_that_the_project_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hcat: Hcat
) -> None:
    make_review_warehouse(tmp_path / "warehouse")
    sheet = fill(tmp_path / "warehouse", tmp_path / "sheet.csv")
    bank = tmp_path / "bank"
    for folder in (bank / "calls", tmp_path / "other"):
        folder.mkdir(parents=True)
    (bank / "dbt_project.yml").write_text("name: bank\nvars: {hcat: {hcat_raw_logs: calls}}\n")
    command = ("labels", "import", sheet, "--warehouse", tmp_path / "warehouse", "--project-dir", bank)
    hcat(*command, "--rater-kind", "person")
    assert len(list((bank / "calls").iterdir())) == 1
    # the environment wins, as in a build
    monkeypatch.setenv("HCAT_RAW_LOGS", str(tmp_path / "other"))
    hcat(*command, "--rater-kind", "person")
    assert len(list((tmp_path / "other").iterdir())) == 1


def test_rows_that_cannot_be_imported_are_listed_or_skipped(tmp_path: Path, hcat: Hcat) -> None:
    make_review_warehouse(tmp_path)
    sheet = fill(tmp_path, tmp_path / "sheet.csv", lambda number, row: row.update(rater="" if number == 3 else "anna"))
    (tmp_path / "raw").mkdir()
    command = ("labels", "import", sheet, "--warehouse", tmp_path)
    error = hcat(*command, code=2)
    assert "no folder of raw logs: set --raw-logs, HCAT_RAW_LOGS or the var hcat_raw_logs" in error
    command += ("--raw-logs", tmp_path / "raw", "--rater-kind", "person")
    assert hcat(*command, code=2, lines=2).splitlines() == [
        "row 3: rater must be named where scale_point is filled, got (empty)",
        f"hcat: {sheet}: unusable rows: 1; nothing was imported; fix them, or use --skip-invalid",
    ]
    assert list((tmp_path / "raw").iterdir()) == []
    shown = hcat(*command, "--skip-invalid")
    assert "7 ratings by 1 raters" in shown
    assert f"1 rows, see {tmp_path / 'sheet_rejected.csv'}" in shown


def test_version_is_printed(hcat: Hcat) -> None:
    from hcat import __version__

    lines = hcat("--version").splitlines()
    assert lines[0] == f"hcat {__version__}"
    assert [line.split()[0] for line in lines[1:5]] == ["dbt-core", "dbt-duckdb", "duckdb", "encoder"]
    assert all(re.fullmatch(r"\w+ .*SHA-256 [0-9a-f]{64}", line) for line in lines[4:])
    assert len(lines) == 10


@pytest.mark.parametrize("command", [[], ["collect"]])
def test_help_loads_no_heavy_library(command: list[str]) -> None:
    program = (
        f"import sys; sys.argv = {['hcat', *command, '--help']}\n"
        "from hcat import cli\n"
        "try:\n    cli.main()\nexcept SystemExit:\n    pass\n"
        "print(sorted({'duckdb', 'altair', 'numpy', 'jinja2', 'httpx', 'torch', 'pyarrow'} & set(sys.modules)))"
    )
    shown = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert shown.stdout.splitlines()[-1] == "[]"
