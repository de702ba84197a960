"""The demo of real answers: its sample lands whole, and its page says what its figures say."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from builds import REPOSITORY, environment_without_settings

EXPERTS = REPOSITORY / "demo" / "experts"
PAGE = (REPOSITORY / "docs" / "experts.md").read_text(encoding="utf-8")
MAXIMUM_BYTES = 5_000_000
#: A seed that a Python model reads, as `dbt.ref("seed")`.
READ_BY_PYTHON = re.compile(r'dbt\.ref\("(\w+)"\)')


def test_every_record_of_the_sample_can_be_used() -> None:
    hcat = Path(sys.executable).parent / "hcat"
    said = subprocess.run(
        [hcat, "check", "raw_logs"],
        cwd=EXPERTS,
        env=environment_without_settings(),
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    used = dict(re.findall(r"^(\w+) +([\d,]+ of [\d,]+) records can be used$", said, re.MULTILINE))
    files = {path.stem: len(path.read_bytes().splitlines()) for path in (EXPERTS / "raw_logs").glob("*.jsonl")}
    assert used == {name: f"{count:,} of {count:,}" for name, count in files.items()}
    readme = (EXPERTS / "README.md").read_text(encoding="utf-8")
    assert {name for name, count in files.items() if f"{name}.jsonl` ({count:,})" not in readme} == set()


def test_the_sample_is_small_and_has_its_licence() -> None:
    assert sum(path.stat().st_size for path in (EXPERTS / "raw_logs").iterdir()) < MAXIMUM_BYTES
    assert "Copyright (c) 2023 Chaitanya Malaviya" in (EXPERTS / "LICENSE").read_text(encoding="utf-8")


def test_the_page_quotes_the_figures_of_the_build(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(EXPERTS))
    from figures import FIGURES, share, write

    figures = json.loads(FIGURES.read_text(encoding="utf-8"))
    assert write(PAGE, figures) == PAGE
    numbers = re.findall(r"-?\d+\.\d+|\d+", FIGURES.read_text(encoding="utf-8"))
    known = {share(float(number)) for number in numbers} | {
        f"{int(number):,}" for number in numbers if number.isdigit()
    }
    prose = re.sub(r"<!-- (\w+) -->.*?<!-- end -->|\]\([^)]*\)", "", PAGE, flags=re.DOTALL)
    quoted = set(re.findall(r"(?<![\w.,])(?:\.\d{3}|\d{2,}|\d{1,3},\d{3})(?![\w%])", prose))
    # the year of the paper, the level of the intervals, labels that a calibrator needs, fields of the source
    assert quoted - known - {"2023", "95", "20", "31"} == set()


def test_a_seed_that_a_python_model_reads_leaves_its_name_to_the_project() -> None:
    # `seed()` is for SQL; in Python the name finds the seed of the project only where that of hcat is disabled
    read = {
        name
        for path in (REPOSITORY / "models").rglob("*.py")
        for name in READ_BY_PYTHON.findall(path.read_text(encoding="utf-8"))
    }
    properties = "".join(
        path.read_text(encoding="utf-8") for path in (REPOSITORY / "seeds" / "properties").glob("*.yml")
    )
    assert "rating_scales" in read
    assert {name for name in read if f"'{name}' not in var('hcat_own_seeds')" not in properties} == set()
