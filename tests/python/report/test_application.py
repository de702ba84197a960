"""`application.yml`: what it states is printed and escaped, and a wrong file is one line that names the key."""

import json
import re
from datetime import date
from pathlib import Path

import duckdb
import pytest
from marts import insert
from test_report import HOSTILE
from test_report_evidence import make_evidence, read_section, read_text

from hcat import report
from hcat.engine.warehouse import Place
from hcat.report.application import Statements, find_statements, read_statements

REPOSITORY = Path(__file__).resolve().parents[3]
SHIPPED = REPOSITORY / "python_udfs" / "hcat" / "landing" / "project_files" / "application.yml"
STATED = f"""
applications:
  assistant:
    tier: 2
    vendor: {json.dumps(HOSTILE)}
    monitoring: {{frequency: weekly}}
    versions: {{"1.10": {{language_model: model-3, index_date: 2026-05-01}}}}
  forgotten: {{tier: 1}}
findings:
  - {{finding: f1-finding, owner: Head of cards, due_date: 2026-09-30, action: add the page on fees}}
validator: {{conclusion: fit for use, valid_until: 2027-01-31}}
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "application.yml"
    path.write_text(text, encoding="utf-8")
    return path


def test_what_is_stated_is_printed_and_the_rest_is_not_stated(tmp_path: Path) -> None:
    page = report.render_report(make_evidence(tmp_path), application=write(tmp_path, STATED))
    assistant = read_text(read_section(page, "assistant"))
    assert "Tier 2" in assistant
    assert "Monitoring weekly Responsible not stated" in assistant
    assert "Language model" in assistant
    assert "model-3" in assistant
    assert "2026-05-01" in assistant
    assert "Nothing in this build is called: forgotten." in assistant
    where = read_text(read_section(page, "where"))
    assert "owner: Head of cards, due: 2026-09-30; add the page on fees" in where
    signed = read_text(read_section(page, "sign_off"))
    assert "Conclusion fit for use Conditions not stated Valid until 2027-01-31 Attests not stated" in signed
    assert "<script" not in page


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("applications: {desk: {teir: 1}}", r"applications\.desk knows the keys inventory_id, .*, and not teir"),
        ("validator: {valid_until: soon}", r"validator\.valid_until must be a valid date, got soon"),
        ("validator: {valid_until: 2027}", r"validator\.valid_until must be a valid date, got 2027"),
        ("applications: {desk: {vendor: [a]}}", r"applications\.desk\.vendor must be a valid string, got \['a'\]"),
        ("findings: [{owner: somebody}]", r"findings\.0 must name a finding by its id, or a segment"),
        ("applications: {desk: {versions: {1.10: {}}}}", r"applications\.desk\.versions\.1\.1 must stand in quotes"),
        ("applications: [desk]", r"applications must be a valid dictionary, got \['desk'\]"),
        ("desk", r"must be keys with values, got a value of the type str"),
        ("validator: {}\nvalidator: {}", r"line 2: the key validator stands here twice"),
    ],
)
def test_a_wrong_file_is_one_line_that_names_the_key(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(ValueError, match=rf"^\S+application\.yml(:|,) {says}") as raised:
        read_statements(write(tmp_path, text))
    assert "\n" not in str(raised.value)


def test_the_file_of_a_new_project_states_nothing_until_its_lines_are_taken_in(tmp_path: Path) -> None:
    assert read_statements(SHIPPED) == Statements()
    lines = SHIPPED.read_text(encoding="utf-8").splitlines()[2:]
    taken = read_statements(write(tmp_path, "\n".join(line.removeprefix("# ") for line in lines)))
    assert list(taken.applications["my-assistant"].versions) == ["1.1"]
    assert taken.findings[0].segment == "topic = mortgages"


def test_the_demo_states_that_it_is_made_up(monkeypatch: pytest.MonkeyPatch) -> None:
    place = Place(REPOSITORY / "hcat.duckdb", REPOSITORY, project=REPOSITORY)
    monkeypatch.delenv("HCAT_DEMO", raising=False)
    assert find_statements(place) is None
    monkeypatch.setenv("HCAT_DEMO", "1")
    stated = read_statements(find_statements(place))
    assert stated.is_made_up
    assert stated.validator.valid_until == date(2026, 12, 31)


def test_leaked_values_stand_masked_in_their_sentence(tmp_path: Path) -> None:
    warehouse = make_evidence(tmp_path)
    with duckdb.connect(str(warehouse / "hcat.duckdb")) as connection:
        connection.execute("update fct_interactions set answer = 'Good day. Call Mr [person] on ****23. Bye.'")
        for number in (0, 1):
            leak = {"interaction_id": f"i0000{number}", "entity_type": "phone", "masked": "****23", "rule": "cue"}
            insert(connection, "fct_privacy_findings", [leak | {"is_leak": True, "is_counted": True}])
    text = read_text(read_section(report.render_report(warehouse), "where"))
    assert re.search(r"phone Call Mr \[person\] on \*\*\*\*23\. 2 ", text)
    assert "hcat explore --unmasked" in text
