"""Settings: one page made from the project file, and no name that does not exist."""

import re
from datetime import date
from pathlib import Path
from typing import Any

import duckdb
import jinja2
import pytest
from builds import REPOSITORY
from dbt.adapters.duckdb.credentials import DuckDBCredentials
from dbt_common.exceptions import DbtRuntimeError
from settings_page import PAGE, read_settings, render_page

from dbt.adapters.hcatwarehouse import Plugin
from hcat.engine.settings import ENVIRONMENT, SettingError, check_settings
from hcat.engine.staging import read_variables


def test_the_page_of_settings_is_that_of_the_project_file() -> None:
    assert PAGE.read_text(encoding="utf-8") == render_page(), "run python tests/project/settings_page.py"
    named = {name for _, name, _, _ in read_settings()}
    assert named == read_variables(REPOSITORY, REPOSITORY).keys()


def test_every_environment_variable_that_is_read_is_known() -> None:
    read = set()
    for folder in ("python_udfs", "models", "macros", "benchmarks", "tests"):
        for path in (REPOSITORY / folder).rglob("*"):
            if path.suffix in (".py", ".sql", ".yml"):
                read |= set(re.findall(r"""["'](HCAT_[A-Z_]+[A-Z])["']""", path.read_text(encoding="utf-8")))
    read |= set(re.findall(r"env_var\('(HCAT_[A-Z_]+)'", (REPOSITORY / "profiles.yml").read_text(encoding="utf-8")))
    # the tests of this file name two that do not exist
    assert read - {"HCAT_RAW_LOG", "HCAT_OF_SOMEBODY"} == set(ENVIRONMENT)


@pytest.mark.parametrize(
    ("given", "environment", "message"),
    [
        ({"hcat_profil": "full"}, {}, "the var hcat_profil does not exist: did you mean hcat_profile\\?"),
        (
            {"hcat_encoder_languages": "en"},
            {},
            r"the var hcat_encoder_languages is 'en': it must be a list of texts, .*\[one\]",
        ),
        ({"hcat_tagger_languages": ["english"]}, {}, r"is \['english'\]: it must be a list of codes of ISO 639-1"),
        ({"hcat_tagger_languages": ["en", False]}, {}, r"is \['en', False\]: it must be a list of codes"),
        ({"hcat_documents_are_public": "false"}, {}, "is 'false': it must be true or false"),
        ({"hcat_minimum_segment_clusters": 0}, {}, "is 0: it must be a whole number from 2"),
        ({"hcat_minimum_segment_clusters": True}, {}, "is True: it must be a whole number from 2"),
        ({"hcat_drift_closing_day": 70}, {}, "is 70: it must be a whole number from 1 to 7"),
        ({"hcat_conformal_alpha": float("nan")}, {}, r"is nan: it must be a number from 0\.001 to 0\.5"),
        ({"hcat_modules": ["drift"]}, {}, r"is \['drift'\]: it must be names with values"),
        ({"hcat_encoder": None}, {}, "is None: it must be a text"),
        ({}, {"HCAT_RAW_LOG": "logs"}, "environment variable HCAT_RAW_LOG does not exist: did you mean HCAT_RAW_LOGS"),
    ],
)
def test_a_setting_that_cannot_be_read_is_one_line(
    given: dict[str, Any], environment: dict[str, str], message: str, tmp_path: Path
) -> None:
    with pytest.raises(SettingError, match=message):
        check_settings(tmp_path, given, environment)


@pytest.mark.parametrize(
    ("macro", "named", "is_refused"),
    [
        ("raise_when_no_tag", "one", False),
        ("raise_when_no_tag", "user", False),
        ("raise_when_no_tag", "usr", True),
        ("raise_when_no_dimension", "topic", False),
        ("raise_when_no_dimension", "topicc", True),
    ],
)
def test_a_setting_that_names_nothing_of_the_logs_stops_the_build(macro: str, named: str, is_refused: bool) -> None:
    asked: list[tuple[str, str, str]] = []
    environment = jinja2.Environment(extensions=["jinja2.ext.do"])
    environment.globals |= {
        "var": lambda _: named,
        "this": """(select '{"user": "u"}' as tags)""",
        "ref": lambda *_: "(select 'topic' as dimension)",
        "json_field": lambda column, name: f"json_extract_string({column}, '$.' || {name})",
        "raise_when": lambda *words: asked.append(words),
    }
    macros = environment.from_string((REPOSITORY / "macros" / "cells.sql").read_text(encoding="utf-8")).module
    getattr(macros, macro)("hcat_x", ["one"])
    rows = [
        duckdb.sql(f"select {text} from {source} where {condition}").fetchall() for condition, text, source in asked
    ]
    assert any(rows) == is_refused, rows


def test_settings_of_others_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "dbt_project.yml").write_text("name: own\nvars: {start_date: 2026-01-01, hcat: {hcat_device: cpu}}\n")
    given = {"other_var": 1, "hcat_schema": "s", "hcat_judge": [{}], "hcat_drift_reference_start": date(2026, 1, 5)}
    check_settings(tmp_path, given, {"HCAT_OF_SOMEBODY": "1", "HCAT_DEMO": "1"})
    (tmp_path / "dbt_project.yml").write_text("name: own\nvars: {hcat: {hcat_devise: cpu}}\n")
    with pytest.raises(SettingError, match="the var hcat_devise does not exist: did you mean hcat_device"):
        check_settings(tmp_path, {}, {})


def test_a_dbt_package_of_another_version_is_one_line(tmp_path: Path) -> None:
    package = tmp_path / "dbt_packages" / "hcat"
    (package / "models" / "staging").mkdir(parents=True)
    (package / "dbt_project.yml").write_text("name: hcat\nversion: 0.1.0\n")
    with pytest.raises(SettingError, match=r"dbt package is version 0\.1\.0 and the Python package hcat-eval is"):
        check_settings(tmp_path, {}, {})


def test_duckdb_has_half_of_the_memory_unless_a_limit_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HCAT_MEMORY_LIMIT", raising=False)
    plugin = Plugin("hcatwarehouse", {}, DuckDBCredentials(settings={"TimeZone": "UTC"}))

    def read_limit() -> float:
        (limit,) = connection.execute("select current_setting('memory_limit')").fetchone()
        number, unit = limit.split()
        return float(number) * 1024 ** ["bytes", "KiB", "MiB", "GiB", "TiB"].index(unit)

    with duckdb.connect() as connection:
        of_duckdb = read_limit()
        plugin._limit_memory(connection)
        assert read_limit() == pytest.approx(of_duckdb * 5 / 8, rel=0.02)
        monkeypatch.setenv("HCAT_MEMORY_LIMIT", "1GiB")
        plugin._limit_memory(connection)
        assert read_limit() == 1024**3
        monkeypatch.setenv("HCAT_MEMORY_LIMIT", "1 XB")
        with pytest.raises(DbtRuntimeError, match="HCAT_MEMORY_LIMIT is '1 XB': Parser Error: Unknown unit"):
            plugin._limit_memory(connection)
