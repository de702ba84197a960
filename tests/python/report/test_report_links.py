"""Links of the report lead somewhere, metrics have words for their family, and public figures stand in one place."""

import csv
import re
from pathlib import Path

import pytest
from test_report import parse
from test_report_evidence import read_section, read_text

from hcat.report.inputs import INPUTS
from hcat.report.metrics import FAMILIES, PUBLIC_ACCURACY

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(params=["evidence_page", "hostile_page"])
def page(request: pytest.FixtureRequest) -> str:
    return request.getfixturevalue(request.param)


def test_every_link_has_one_target(page: str) -> None:
    attributes = parse(page).attributes
    ids = [value for tag, name, value in attributes if name == "id" and tag not in ("clippath", "lineargradient")]
    links = {value.removeprefix("#") for tag, name, value in attributes if tag == "a" and name == "href"}
    named = [name for name in ids if not name.startswith("chart")]
    assert links <= set(ids)
    for kind in ("gate-", "metric-", "family-", "finding-", "cell-"):
        assert [name for name in named if name.startswith(kind)], kind
        assert len([name for name in named if name.startswith(kind)]) == len(
            {name for name in named if name.startswith(kind)}
        )


def test_a_finding_leads_to_its_cell_and_the_cell_back(page: str) -> None:
    cells = dict(re.findall(r'<tr id="(cell-[^"]+)">(.*?)</tr>', read_section(page, "weaknesses"), re.S))
    findings = dict(re.findall(r'<tr id="(finding-[^"]+)">(.*?)</tr>', read_section(page, "where"), re.S))
    assert findings
    for name, row in findings.items():
        cell = name.replace("finding-", "cell-")
        if cell in cells:
            assert f'<a href="#{cell}">' in row
            assert f'<a href="#{name}">' in cells[cell]


def test_a_gate_leads_to_the_formula_of_its_metric(page: str) -> None:
    gates = re.findall(r'<tr id="gate-[^"]+">(.*?)</tr>', read_section(page, "how_often"), re.S)
    assert gates
    assert any('<a href="#metric-' in row for row in gates)


def test_every_family_of_the_catalogue_has_formula_limits_and_source() -> None:
    with (ROOT / "seeds" / "metric_catalog.csv").open(encoding="utf-8") as file:
        families = {row["family"] for row in csv.DictReader(file)}
    assert set(FAMILIES) == families
    assert {"privacy", "safety"} <= families
    for family, words in FAMILIES.items():
        for name, text in words.items():
            assert len(text) > 5, (family, name)
        # a paper has author and year; what is hcat's own names its page
        assert re.search(r"\((19|20)\d\d\)|docs/", words["source"]), family


def test_every_input_of_the_catalogue_has_a_name() -> None:
    with (ROOT / "seeds" / "metric_catalog.csv").open(encoding="utf-8") as file:
        words = {word for row in csv.DictReader(file) for word in row["requires"].split("|") if word}
    # models and cut-offs are the project's own; without retrievals there is no context either
    own = {"classifier", "cut_off", "encoder", "language_model", "retrieval", "sentiment", "tagger", "toxicity"}
    assert words - set(INPUTS) == own


def test_public_figures_are_those_of_the_benchmark() -> None:
    text = (ROOT / "docs" / "benchmarks" / "generalisation.md").read_text(encoding="utf-8")
    parts = {
        name: part
        for part in text.split("<!-- benchmark:")
        for name in re.findall(r"^- Classifier: ([\w-]+);", part, re.M)
    }
    figures = PUBLIC_ACCURACY
    assert figures.keys() == parts.keys()
    for name, figure in figures.items():
        means = re.search(r"^\| mean over families \|(.*)\|$", parts[name], re.M)
        records = re.search(r"^\| records, tables, numbers \|(.*)\|$", parts[name], re.M)
        assert means
        assert records
        cells, of_records = ([cell.strip() for cell in found[1].split("|")] for found in (means, records))
        assert (figure["auroc_supported_words"], figure["auroc"]) == (cells[4], cells[5])
        assert figure["auroc_records"] == of_records[5]
        assert f"{figure['count_answers']:,} answers count in the means." in parts[name]
        assert f"Worst set: {figure['worst_set']} ({figure['auroc_worst_set']})." in parts[name]
        assert f"holds 1 on {figure['count_sets_calibrated']} of {figure['count_sets']} sets." in parts[name]
        assert f"{figure['measured_on']} (UTC)" in parts[name]


def test_public_figures_are_shown_with_their_domain(page: str) -> None:
    # the build of the fixture has the compact classifier
    text = read_text(read_section(page, "metrics"))
    figure = PUBLIC_ACCURACY["hcat-entailment-compact"]
    assert f"a mean AUROC of {figure['auroc']}" in text
    assert "the figures say nothing about its domain" in text


def test_the_ledger_says_how_to_rebuild(page: str) -> None:
    text = read_text(read_section(page, "ledger"))
    assert "dbt build # code c0de, random seed 1" in text
    assert "hcat report # build run_1" in text
    assert "SR 26-2" in read_text(read_section(page, "scope"))
