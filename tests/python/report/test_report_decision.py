"""The first page: the sentences of the release decision, trust without labels, and the answers to read first."""

import html
import re
from pathlib import Path
from typing import Any

import duckdb
import pytest
from marts import decision, insert
from test_report import HOSTILE, make_warehouse
from test_report_evidence import read_section, read_text

from hcat import report
from hcat.explorer.document import write_explorer

DECISION = decision(baseline="1.0", reason="57 % of the answers fail.", failure_rate_since_change=0.77) | {
    "count_labels_by_people": 0,
    "count_labels_by_language_models": 9,
}


def decide(folder: Path, text: str = "", **changes: Any) -> Path:
    warehouse = make_warehouse(folder, text=text)
    with duckdb.connect(str(warehouse / "hcat.duckdb")) as connection:
        insert(connection, "fct_release_decisions", [DECISION | {"headline": DECISION["headline"] + text} | changes])
        connection.execute(
            """
            insert into fct_verdicts by name
            select
                interaction_id, true as is_in_release_population, 'failing' as verdict, 'threshold' as decided_by,
                cluster_id, system, (select nullif(application, 'unnamed') from fct_release_decisions) as application,
                'its score is beyond the limit' as verdict_reason, case when rank <= 10 then rank end as reading_rank
            from (select *, row_number() over (order by interaction_id) as rank from fct_interactions)
            where rank <= 12
            """
        )
        connection.execute(
            "update dim_metrics set admission = 'provisional', is_deciding = true, criterion = 'faithfulness',"
            " admission_reason = 'AUROC .69 on public sets; 0 failed labels, and 54 are needed'"
            " where metric_name = 'groundedness_similarity__mean'"
        )
        connection.execute("update fct_release_decisions set system = 'system 0' || ?", [text])
    return warehouse


@pytest.fixture(scope="module")
def decided(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return decide(tmp_path_factory.mktemp("decided"))


@pytest.fixture(scope="module")
def page(decided: Path) -> str:
    return report.render_report(decided)


def read_explorer(warehouse: Path) -> str:
    return write_explorer(warehouse, warehouse / "explorer.html").read_text("utf-8")


def test_report_summary_and_explorer_begin_with_the_same_sentences(decided: Path, page: str) -> None:
    lines = [text for name, text in report.summarise(decided) if name in ("release", "")]
    # one line says who, what and since when
    assert lines == [
        f"{DECISION['headline']} {DECISION['what_changed']}",
        DECISION["reason"],
        DECISION["how_often"],
        DECISION["what_next"],
    ]
    first_page = read_text(page.split("<nav")[0])
    explorer = read_explorer(decided)
    for line in lines:
        assert line in first_page
        assert line in explorer
    assert len(first_page[first_page.index("assistant, candidate") :].split()) < 250


def test_without_a_label_the_first_page_says_how_far_to_trust_the_score(tmp_path: Path) -> None:
    folder = decide(tmp_path, application="unnamed", count_labels_by_language_models=0, failure_rate_since_change=None)
    said = (
        "Of 12 answers, scores call 12 wrong, and rules 0. How far to trust groundedness_similarity__mean:"
        " AUROC .69 on public sets; 0 failed labels, and 54 are needed."
    )
    assert said in read_text(report.render_report(folder).split("<nav")[0])
    summary = report.summarise(folder)
    assert ("", said) in summary
    read = [text for name, text in summary if name == "read"]
    assert [text.split(".")[0] for text in read] == [str(rank) for rank in range(1, 11)]
    assert "[Not in the texts: 55.]" in read[0]


def test_the_ten_answers_to_read_stand_below_with_their_evidence(page: str) -> None:
    reading = read_section(page, "reading")
    rows = re.findall(r'<tr><th scope="row">(\d+)</th>', reading)
    assert rows == [str(rank) for rank in range(1, 11)]
    text = read_text(reading)
    assert "its score is beyond the limit" not in text
    assert "Not in the texts: 55." in text
    assert "asked 30 times" in text
    card = read_text(reading[reading.index("<article") :].split("</article>")[0])
    assert "The fee is 55 euro." in card
    assert "similarity 0.988, retrieved at rank 2, chunk chunk" in card
    assert "Unsupported 55" in card


@pytest.mark.parametrize("decision", ["go", "go_with_conditions", "not_decided"])
def test_every_decision_has_its_colour_and_word(tmp_path: Path, decision: str) -> None:
    warehouse = decide(tmp_path, decision=decision)
    assert f'"word":"{decision.replace("_", " ").capitalize()}"' in read_explorer(warehouse)


def test_a_hostile_headline_is_text(tmp_path: Path) -> None:
    page = report.render_report(decide(tmp_path, HOSTILE))
    assert html.escape("<script>alert(1)</script>", quote=False) in page.split("<nav")[0]
    assert "<script" not in page
    assert "\x1b" not in dict(report.summarise(tmp_path))["release"]
