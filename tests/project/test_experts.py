"""The demo of real answers: its sample lands whole, and its page says what its figures say."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from builds import REPOSITORY, environment_without_settings

EXPERTS = REPOSITORY / "demo" / "experts"
LOGS = sorted((EXPERTS / "raw_logs").iterdir())


def test_every_record_of_the_sample_can_be_used_and_it_is_small_and_has_its_licence() -> None:
    command = [Path(sys.executable).parent / "hcat", "check", "raw_logs"]
    said = subprocess.check_output(command, cwd=EXPERTS, env=environment_without_settings(), text=True)
    counts = {path.stem: f"{len(path.read_bytes().splitlines()):,}" for path in LOGS}
    used = dict(re.findall(r"(?m)^(\w+) +([\d,]+ of [\d,]+) records can be used$", said))
    assert used == {name: f"{count} of {count}" for name, count in counts.items()}
    assert all(f"{name}.jsonl` ({count})" in (EXPERTS / "README.md").read_text() for name, count in counts.items())
    assert sum(path.stat().st_size for path in LOGS) < 5_000_000
    assert "Copyright (c) 2023 Chaitanya Malaviya" in (EXPERTS / "LICENSE").read_text(encoding="utf-8")


def test_the_page_quotes_the_figures_of_the_build(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(EXPERTS))
    from figures import FIGURES, PAGE, share, write

    page, text = PAGE.read_text(encoding="utf-8"), FIGURES.read_text(encoding="utf-8")
    assert write(page, json.loads(text)) == page
    numbers = map(float, re.findall(r"-?\d+\.?\d*", text))
    known = {form for number in numbers for form in (share(number), f"{number:,.0f}")}
    prose = re.sub(r"(?s)<!-- \w+ -->.*?<!-- end -->|\]\([^)]*\)", "", page)
    # the year of the paper, the level of the intervals, labels that a calibrator needs, fields of the source
    quoted = re.findall(r"(?<![\w.,])(?:\.\d{3}|\d{2,}|\d{1,3},\d{3})(?![\w%])", prose)
    assert set(quoted) - known == {"2023", "95", "20", "31"} - known


def test_a_seed_that_a_python_model_reads_leaves_its_name_to_the_project() -> None:
    # `seed()` is for SQL; in Python the name finds the seed of the project only where that of hcat is disabled
    python = "".join(path.read_text() for path in REPOSITORY.glob("models/**/*.py"))
    properties = "".join(path.read_text() for path in REPOSITORY.glob("seeds/properties/*.yml"))
    read = set(re.findall(r'dbt\.ref\("(\w+)"\)', python))
    assert {"rating_scales"} < read == {name for name in read if f"'{name}' not in var('hcat_own_seeds')" in properties}
