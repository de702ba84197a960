"""The report's table of judges: figures where there are any, a reason where not, and nothing that is not escaped."""

from __future__ import annotations

from pathlib import Path

import duckdb
import jinja2

from hcat import report
from hcat.engine.warehouse import open_warehouse
from hcat.language.display import clean_label
from hcat.report.judges import describe_judges
from hcat.report.showing import break_name, format_number, format_percent

ROWS = """
create table fct_judge_agreement as
select * replace (value::double as value, low::double as low, high::double as high),
    3 as count_clusters, 4 as count_interactions, 3 as count_scored, 1 as count_failed,
    1 as count_no_verdict
from (values
    ('faithfulness_llm', 'language_model', 'faithfulness', 'people', 'cohen_kappa', 'estimated', 'estimated',
        '<script>judge', 0.25, 0.125, 0.5, 3, 7, 900, 100),
    ('faithfulness_llm', 'language_model', 'faithfulness', 'people', 'percent_agreement', 'no_threshold', 'no_estimate',
        '<script>judge', null, null, null, 3, 7, 900, 100),
    ('support_words', 'no_language_model', 'faithfulness', 'people', 'ranking_accuracy', 'estimated',
        'too_few_clusters', null, 0.75, null, null, 3, 0, 0, 0),
    ('correctness_llm', 'language_model', null, 'rule', 'cohen_kappa', 'no_variation', 'no_estimate',
        '<script>judge', null, null, null, 2, 4, 10, 10)
) as rows (metric_name, method, criterion, reference, statistic, status, interval_status, language_model, value, low,
    high, count_compared, count_calls, prompt_tokens, completion_tokens)
"""


def test_figures_stand_beside_their_calls(tmp_path: Path) -> None:
    path = tmp_path / "hcat.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(ROWS)
    with open_warehouse(path) as source:
        judges = describe_judges(source)
    assert judges is not None
    rows = {row["metric_name"]: row for row in judges["metrics"]}
    assert rows["faithfulness_llm"]["figures"][0] == {"value": "–", "interval": "no threshold has been decided"}
    assert rows["faithfulness_llm"]["figures"][1]["value"] == "0.250"
    assert rows["faithfulness_llm"]["count_tokens"] == 1000
    assert rows["support_words"]["figures"][2] == {"value": "0.750", "interval": "too few clusters for an interval"}
    assert rows["correctness_llm"]["against"] == "rule"

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(report.__file__).parent / "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters.update(number=format_number, percent=format_percent, label=clean_label, breakable=break_name)
    page = environment.get_template("judges.html.j2").render(calibration={"judges": judges})
    assert "<script" not in page
    assert "&lt;script&gt;judge" in page
    assert environment.get_template("judges.html.j2").render(calibration={"judges": None}).strip() == ""


def test_a_warehouse_without_a_judge_has_no_table(tmp_path: Path) -> None:
    path = tmp_path / "hcat.duckdb"
    duckdb.connect(str(path)).close()
    with open_warehouse(path) as source:
        assert describe_judges(source) is None
