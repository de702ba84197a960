"""The report's part on queries made from tables: what it counts, how it escapes, and silence where there are none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import jinja2
import pytest

from hcat import report
from hcat.engine.warehouse import open_warehouse
from hcat.grammar.criteria import CRITERIA as CHECKED
from hcat.language.display import clean_label
from hcat.report.grammar import CRITERIA, describe_grammar
from hcat.report.showing import break_name, format_number, format_percent

HOSTILE = "<script>alert(1)</script>"
MARTS = f"""
create table fct_grammar_templates as select * from (values
    ('a', 'enumerated', 'accepted', '{HOSTILE}', ['[shops.name]'], 0, 1),
    ('b', 'person', 'accepted', 'SELECT 2', ['[shops.name]', '[fees.name]'], 1, 2),
    ('a', 'language_model', 'replaced', 'SELECT 3', null, 2, 3)
) as made(sql_template_id, origin, template_status, sql_template, placeholders, count_joins, template_number);
create table fct_grammar_checks as select * from (values
    ('one_line', 'met'), ('one_line', 'met'), ('single_answer', 'broken'), ('single_answer', 'undecided')
) as checks(criterion, outcome);
create table fct_grammar_texts as select * from (values ('enumerated', 'used'), ('enumerated', 'spare')
) as texts(origin, text_status);
create table fct_grammar_counts as select * from (values
    ('a', 'enumerated', 2, 40, 4, 3, 1, 6, 0.1::double), ('b', 'person', 2, 8, 2, 0, 2, 0, 0.25)
) as counts(sql_template_id, origin, count_texts, count_fillings_possible, count_fillings, count_groups, count_rejected,
    count_queries, selection_probability);
create table fct_rejected_grammar_queries as select * from (values
    ('a', 'no_answer'), ('b', 'no_answer'), ('b', 'several_answers')) as rejected(sql_template_id, reason);
create table fct_grammar_queries as select
    'q' || number as query_id, 'g' || number % 3 as query_group, 'a' as sql_template_id, 'length' as hypothesis,
    case when number < 3 then 'short' else 'long' end as style, 'easy' as difficulty, 'entity' as answer_type,
    0 as count_joins
from range(6) as numbers(number);
create table fct_interactions as select * from (values ('q0'), ('q0'), ('q4'), ('other'), (null)) as logs(query_id);
create table fct_grammar_calls as select '{HOSTILE}' as model, 'answered' as call_status, 10 as prompt_tokens,
    5 as completion_tokens;
"""


@pytest.fixture
def described(tmp_path: Path) -> dict[str, Any]:
    path = tmp_path / "hcat.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(MARTS)
    with open_warehouse(path) as source:
        found = describe_grammar(source)
    assert found is not None
    return found


def test_templates_texts_and_facts_make_the_queries(described: dict[str, Any]) -> None:
    counts = {name: described[name] for name in ("count_templates", "texts", "count_groups", "count_queries")}
    assert counts == {"count_templates": 2, "texts": "2", "count_groups": 3, "count_queries": 6}
    assert (described["count_fillings"], described["count_possible"]) == (6, 48)
    assert described["answered"] == {"count": 2, "share": format_percent(2 / 6)}
    assert [(row["style"], row["count_queries"], row["count_groups"]) for row in described["styles"]] == [
        ("long", 3, 3),
        ("short", 3, 3),
    ]
    assert {row["placeholder"]: row["count_templates"] for row in described["asked_by"]} == {
        "[shops.name]": 2,
        "[fees.name]": 1,
    }


def test_every_reason_and_criterion_is_counted(described: dict[str, Any]) -> None:
    assert set(CRITERIA) == set(CHECKED)
    assert [(row["reason"], row["count_rejected"]) for row in described["reasons"]] == [
        ("no_answer", 2),
        ("several_answers", 1),
    ]
    assert [row["reasons"] for row in described["templates"]] == ["no answer 1", "no answer 1, several answers 1"]
    found = {
        row["criterion"]: (row["count_met"], row["count_broken"], row["count_undecided"])
        for row in described["criteria"]
    }
    assert found == {"one_line": (2, 0, 0), "single_answer": (0, 1, 1)}
    assert {row["name"]: row["statuses"] for row in described["origins"]} == {
        "SQL templates of people (seeds)": "accepted 1",
        "SQL templates of a language model": "replaced 1",
        "SQL templates of the enumerator": "accepted 1",
        "text templates of the enumerator": "spare 1, used 1",
    }


def test_what_people_and_models_wrote_is_escaped(described: dict[str, Any], tmp_path: Path) -> None:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(report.__file__).parent / "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters.update(number=format_number, percent=format_percent, label=clean_label, breakable=break_name)
    template = environment.get_template("grammar.html.j2")
    page = template.render(data={"grammar": described})
    assert "<script" not in page
    assert page.count("&lt;script&gt;") == 2
    # a warehouse without such queries has no such part
    duckdb.connect(str(tmp_path / "empty.duckdb")).close()
    with open_warehouse(tmp_path / "empty.duckdb") as source:
        assert describe_grammar(source) is None
    assert template.render(data={"grammar": None}).strip() == ""
