"""The explorer in a browser: every screen, filters that count what SQL counts, hostile texts, keys, links, print."""

import csv
import io
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import numpy as np
import pytest
from desks import Visit
from made_build import COUNT, FORMULA, HOSTILE_ID, query

from benchmarks.explorer import FILTERS, MAIN_METRIC
from hcat.engine.warehouse import open_warehouse
from hcat.explorer.document import render_explorer
from hcat.review.sheets import import_labels
from hcat.statistics.clustered import rate_interval

SCREENS = ("overview", "interactions", "map", "versions", "findings", "drift", "retrieval")
#: What a screen shows once it is drawn.
DRAWN = {
    "overview": "table.grid",
    "interactions": ".item",
    "interaction": ".sentence",
    "map": "table.grid",
    "versions": ".pair mark, .pair .text",
    "findings": ".examples a",
    "drift": "svg.weeks.tall",
    "retrieval": "svg.ranks",
}


class Visitor(Visit):
    """A tab of its own, whose screens are shown by their links."""

    def __init__(self, browser: Any, path: Path, **options: Any) -> None:
        self.context = browser.new_context(viewport={"width": 1440, "height": 900}, **options)
        super().__init__(self.context.new_page(), path)

    def open(self, fragment: str, drawn: str | None = None) -> Any:
        """Show a screen by its link and wait until it is drawn."""
        screen = re.split(r"[/?]", fragment.removeprefix("#/"))[0]
        self.page.goto("about:blank")
        self.page.goto(self.address + fragment)
        self.page.wait_for_selector(drawn or DRAWN[screen])
        return self.page

    def filter(self, filters: list[tuple[str, str]]) -> Any:
        """Show the list under some filters; the chips that name them are drawn with the count."""
        self.page.evaluate("fragment => { location.hash = fragment }", f"#/interactions?{urlencode(filters)}")
        self.page.wait_for_function(
            "values => values.join() === [...document.querySelectorAll('.chip b')].map(each => each.textContent).join()"
            " && document.getElementById('count')",
            arg=[value for _, value in filters],
        )
        return self.page

    def count(self) -> int:
        return int(self.page.locator("#count").get_attribute("value"))


Visits = Callable[..., Visitor]


@pytest.fixture
def visit(browser: Any) -> Iterator[Visits]:
    """Return a function that opens a page in a tab; what went wrong in any tab fails the test."""
    visitors: list[Visitor] = []

    def start(path: Path, **options: Any) -> Visitor:
        visitors.append(Visitor(browser, path, **options))
        return visitors[-1]

    yield start
    for visitor in visitors:
        visitor.context.close()
        asked = [url for url in visitor.requests if url != "about:blank"]
        assert (visitor.complaints, asked) == ([], [])


#: Facet -> the condition that says the same in SQL.
CONDITIONS = {
    "d.channel": "json_extract_string(tags, '$.channel') = ?",
    "tag": "'build=' || json_extract_string(tags, '$.build') = ?",
    "verdict": "interaction_id in (select interaction_id from fct_verdicts where replace(verdict, '_', ' ') = ?)",
    "outcome": "case when not is_answered then 'empty' when is_refusal then 'refused' else 'answered' end = ?",
    "fails": "interaction_id in (select interaction_id from fct_evaluations where metric_name = ? and is_failing)",
    "flag": "interaction_id in (select interaction_id from fct_query_flags where flag_name = ?)",
    "label": "interaction_id in (select interaction_id from fct_evaluations where"
    " case human_label when 1 then 'accepted' when 0 then 'failed' end = ?)",
    "status": f"interaction_id in (select interaction_id from fct_evaluations where metric_name = '{MAIN_METRIC}'"
    " and score_status = ?)",
    "q": "list_bool_and(list_transform(string_split(?, ' '),"
    " lambda word: contains(lower(query_text || ' ' || answer), word)))",
}


def condition_of(facet: str) -> str:
    return CONDITIONS.get(facet) or f"{facet.removeprefix('d.')} = ?"


def count_in_sql(folder: Path, filters: list[tuple[str, str]]) -> int:
    conditions = " and ".join(condition_of(facet) for facet, _ in filters)
    values = [value for _, value in filters]
    return query(folder, f"select count(*) from fct_interactions where {conditions}", *values)[0][0]


COMBINED = [
    [("d.topic", "fees"), ("d.system", "assistant 1.1")],
    [("d.language", "en"), ("fails", MAIN_METRIC), ("d.customer_group", "retail")],
    [("status", "refused")],
    [("status", "missing_input"), ("d.system", "assistant 1.0")],
    [("q", "costs 4"), ("d.topic", "cards")],
]


def test_every_filter_keeps_what_sql_keeps(visit: Visits, build: Path, explorer: Path) -> None:
    visitor = visit(explorer)
    visitor.open("#/interactions")
    for filters in [*([one] for one in FILTERS), *COMBINED]:
        expected = count_in_sql(build, filters)
        assert 0 < expected < COUNT
        visitor.filter(filters)
        assert visitor.count() == expected, filters


def test_values_of_one_facet_are_alternatives_and_the_counts_are_those_of_sql(
    visit: Visits, build: Path, explorer: Path
) -> None:
    visitor = visit(explorer)
    page = visitor.open("#/interactions?d.topic=fees&d.topic=cards&d.language=en")
    wanted = "select count(*) from fct_interactions where topic in ('fees', 'cards') and language = 'en'"
    assert [(visitor.count(),)] == query(build, wanted)
    # the facet of topics counts with all other filters, and not with its own
    shown = {
        box.get_attribute("data-value"): int(box.locator("xpath=..").locator(".count").inner_text())
        for box in page.locator("input[data-facet='d.topic']").all()
    }
    known = query(build, "select topic, count(*) from fct_interactions where language = 'en' group by topic")
    assert shown.items() <= dict(known).items()
    assert {"fees", "cards"} <= set(shown)


def test_the_share_failing_is_that_of_the_map_or_has_the_interval_of_the_build(
    visit: Visits, build: Path, explorer: Path
) -> None:
    visitor = visit(explorer)
    visitor.open("#/interactions")
    two = [("d.system", "assistant 1.1"), ("d.query_type", "yes_no")]
    # what was decided is no part of what the share is taken of
    for filters in (two, [*two, ("verdict", "failing")], [*two, ("fails", MAIN_METRIC)]):
        assert np.allclose(read_share(visitor.filter(filters)), measure(build, two), rtol=0, atol=1e-9), filters
    cell = query(
        build,
        "select share_failing, share_failing_lower, share_failing_upper, count_clusters from fct_marginal_weaknesses"
        " where metric_name = 'verdict' and segment = 'fees'",
    )[0]
    shown = read_share(visitor.filter([("d.topic", "fees"), ("verdict", "failing")]))
    assert np.allclose(shown, cell, rtol=0, atol=1e-6)


def measure(build: Path, filters: list[tuple[str, str]]) -> list[float]:
    """Return share, bounds and number of clusters of the verdict as hcat.statistics measures them."""
    conditions = " and ".join(condition_of(facet) for facet, _ in filters)
    rows = query(
        build,
        "select verdict = 'failing', cluster_id from fct_verdicts where verdict <> 'not_judged' and interaction_id in"
        f" (select interaction_id from fct_interactions where {conditions})",
        *[value for _, value in filters],
    )
    found = rate_interval(np.array([row[0] for row in rows]), np.array([row[1] for row in rows]))
    return [found.estimate, found.low, found.high, found.count_clusters]


def read_share(page: Any) -> list[float]:
    share = page.locator("#share")
    return [float(share.get_attribute(name)) for name in ("value", "data-low", "data-high", "data-clusters")]


def test_rows_are_sorted_by_a_score_and_refusals_come_last(visit: Visits, build: Path, explorer: Path) -> None:
    page = visit(explorer).open("#/interactions?sort=support_words")
    first = page.locator(".item .query").first.inner_text()
    expected = query(
        build,
        "select query_text from fct_interactions inner join fct_evaluations using (interaction_id)"
        " where metric_name = 'support_words' and score_status = 'scored' order by raw_score, interaction_id limit 1",
    )[0][0]
    assert first == expected


def test_a_click_changes_the_link_and_the_link_shows_the_same(visit: Visits, explorer: Path) -> None:
    visitor = visit(explorer)
    page = visitor.open("#/interactions")
    page.locator("input[data-facet='d.topic'][data-value='fees']").check()
    page.locator("#search").fill("costs")
    page.wait_for_function("() => location.hash.includes('q=costs')")
    page.wait_for_function(f"() => document.getElementById('count').value < {COUNT}")
    fragment, count = page.evaluate("location.hash"), visitor.count()
    other = visit(explorer)
    other.open(fragment)
    assert other.count() == count
    assert other.page.locator("#search").input_value() == "costs"
    assert other.page.locator("input[data-facet='d.topic'][data-value='fees']").is_checked()


def test_the_list_and_an_interaction_are_read_with_keys_alone(visit: Visits, explorer: Path) -> None:
    page = visit(explorer).open("#/interactions?d.topic=fees")
    page.keyboard.press("ArrowDown")
    page.wait_for_selector("#row-1[aria-selected=true]")
    # one row per question opens to its answers
    assert "2 answers" in page.locator("#row-1 .equal").inner_text()
    page.keyboard.press("ArrowRight")
    page.wait_for_selector("#row-1[aria-expanded=true]")
    page.keyboard.press("ArrowDown")
    page.wait_for_selector("#row-2.inside[aria-selected=true]")
    page.keyboard.press("ArrowLeft")
    page.wait_for_selector("#row-1[aria-expanded=false][aria-selected=true]")
    second = page.locator("#row-1 .query").inner_text()
    page.keyboard.press("Enter")
    page.wait_for_selector(".sentence")
    assert page.locator("h1").inner_text() == second
    assert "3 of" in page.locator(".steps").inner_text()
    page.keyboard.press("j")
    page.wait_for_function("() => document.querySelector('.steps')?.textContent.includes('4 of')")
    page.keyboard.press("Escape")
    page.wait_for_selector("#row-2.inside[aria-selected=true]")
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "search"
    page.locator("#list").focus()
    page.keyboard.press("?")
    page.wait_for_selector("dialog[open]")
    page.keyboard.press("Escape")
    page.wait_for_selector("dialog", state="detached")


def test_a_sentence_in_focus_marks_its_evidence(visit: Visits, build: Path, explorer: Path) -> None:
    key = query(
        build,
        "select min(interaction_id) from fct_verdicts inner join fct_sentence_evidence using (interaction_id)"
        " where verdict = 'failing' and is_flagged and is_least_grounded",
    )[0][0]
    page = visit(explorer).open(f"#/interaction/{key}")
    known = "select evidence_text, evidence_rank from fct_sentence_evidence where interaction_id = ?"
    for index, (evidence, rank) in enumerate(query(build, f"{known} order by sentence_index", key)):
        page.locator(".answer .sentence").nth(index).focus()
        assert page.locator(".chunk mark.evidence").inner_text() == evidence
        chunk = page.locator(".chunk").filter(has=page.locator("mark.evidence"))
        assert f"Rank {rank}" in chunk.locator("h3").inner_text()
        assert page.locator(".answer .sentence").nth(index).get_attribute("aria-pressed") == "true"
        # the sentence that decides, and the one in focus: no other is marked
        assert page.locator(".answer .sentence:is(.supported, .unsupported, .contradicted)").count() <= 2
    assert "The sentence that decides:" in page.locator(".banner").inner_text()


def test_an_interaction_shows_what_the_build_knows_of_it(visit: Visits, build: Path, explorer: Path) -> None:
    key = "call_000020"
    page = visit(explorer).open(f"#/interaction/{key}")
    text = page.locator("main").inner_text()
    texts = "select query_text, answer, reference_answer from fct_interactions where interaction_id = ?"
    for value in query(build, texts, key)[0]:
        assert value in text.replace("\n?", "").replace("?", "") or value.replace("?", "") in text.replace("?", "")
    assert "faithfulness:" in text
    assert "(person 1)" in text
    scores = f"select raw_score from fct_evaluations where interaction_id = ? and metric_name = '{MAIN_METRIC}'"
    score = query(build, scores, key)[0][0]
    line = page.locator("tr", has=page.locator("th", has_text=re.compile(f"^{MAIN_METRIC}$"))).first.inner_text()
    assert f"{score:#.3g}" in line
    # the other version answers beside it
    assert page.locator(".pair article").count() == 2
    assert page.locator(".pair mark.only").count() > 0


def test_versions_pair_queries_and_put_those_that_now_fail_first(visit: Visits, explorer: Path) -> None:
    page = visit(explorer).open(f"#/versions?metric={MAIN_METRIC}")
    text = page.locator("main").inner_text()
    assert f"{COUNT // 2} queries were asked of both and judged in both. 30 got worse, 10 got better." in text
    assert "The share beyond the threshold was 30.0 % and is 40.0 %: +10.0 points (+2.00 to +18.0), worse" in text
    assert "now fails" in page.locator(".pairs li").first.inner_text()
    assert page.locator(".pair mark.removed").count() > 0
    assert page.locator(".pair mark.added").count() > 0


def test_retrieval_counts_ranks_as_sql_does(visit: Visits, build: Path, explorer: Path) -> None:
    page = visit(explorer).open("#/retrieval")
    judged, first, never = query(
        build,
        "select count(*), count(*) filter (where best = 1), count(*) filter (where best is null) from"
        " (select interaction_id, min(rank) filter (where grade > 0) as best from fct_retrieved_contexts"
        " group by interaction_id)",
    )[0]
    text = page.locator("main").inner_text()
    assert f"{judged} judged interactions" in text
    assert page.locator("svg.ranks rect.relevant").count() + page.locator("svg.ranks rect.other").count() == 4 * 100
    assert (first == 0) == ("comes first in 0 %" in text)
    assert (never == 0) == ("none was retrieved in 0 %" in text)


def test_a_series_that_moved_without_an_alarm_says_so_and_a_week_says_what_changed(
    visit: Visits, build: Path, explorer: Path
) -> None:
    page = visit(explorer).open(f"#/drift?metric={MAIN_METRIC}&week=2026-03-23", ".contributions")
    assert page.locator("nav.side .state").all_inner_texts() == ["alarm", "moved, but short of the alarm level"]
    known = query(
        build,
        "select asked_week = '2026-03-23', 100 * avg(is_failing::int), count(is_failing) from fct_evaluations inner"
        f" join fct_interactions using (interaction_id) where metric_name = '{MAIN_METRIC}' group by 1 order by 1 desc",
    )
    (_, now, count), (_, before, count_before) = known
    text = page.locator(".shown").inner_text()
    said = f"{now:#.3g} % of {count} answers fail; {before:#.3g} % of {count_before} in the weeks before."
    assert said in text
    points = [float(cell.replace("−", "-")) for cell in page.locator(".contributions td b").all_inner_texts()]
    assert points == sorted(points, key=abs, reverse=True)
    assert f"Change: {now - before:+#.3g} points".replace("-", "−") in text
    moved = visit(explorer).open(f"#/drift?metric={MAIN_METRIC}&dimension=system&segment=assistant+1.1", ".state")
    assert "short of the alarm level (q 0.00930 against 0.008)" in moved.locator(".shown").inner_text()


def test_an_answer_is_rated_there_and_the_import_takes_the_sheet(
    visit: Visits, build: Path, explorer: Path, tmp_path: Path
) -> None:
    visitor = visit(explorer, accept_downloads=True)
    page = visitor.open("#/interaction/call_000011")
    page.locator(".rating summary").click()
    page.locator(".rating input[name=rater]").fill("anna")
    page.locator(".rating label", has_text="partly faithful").click()
    page.locator(".rating input[type=text]").fill("=too short")
    # what was not drawn is rated as chosen
    page = visitor.open("#/interaction/call_000012")
    assert "round_1 did not draw this answer" in page.locator(".rating").text_content()
    page.locator(".rating summary").click()
    page.locator(".rating label", has_text="not faithful").click()
    with page.expect_download() as caught:
        page.get_by_role("button", name="Save the sheet").click()
    caught.value.save_as(tmp_path / caught.value.suggested_filename)
    (tmp_path / "raw").mkdir()
    imported = import_labels(tmp_path / "ratings_round_1_anna.csv", build, tmp_path / "raw", rater_kind="person")
    assert (imported.count_new, imported.count_chosen, imported.problems) == (2, 1, ())
    record, chosen = map(json.loads, imported.path.read_text("utf-8").splitlines())
    assert (record["interaction_id"], record["scale_point"], record["sampling"]) == ("call_000011", 1, "random")
    assert record["comment"] == "=too short; rated in the explorer, scores in sight"
    assert (chosen["interaction_id"], chosen["scale_point"], chosen["sampling"]) == ("call_000012", 0, "chosen")
    assert chosen["inclusion_probability"] is None


def test_rows_are_exported_and_no_cell_is_a_formula(visit: Visits, hostile_build: Path, hostile_explorer: Path) -> None:
    page = visit(hostile_explorer, accept_downloads=True).open("#/interactions?d.system=assistant+1.1")
    with page.expect_download() as caught:
        page.get_by_role("button", name="Export as CSV").click()
    rows = list(csv.DictReader(io.StringIO(Path(caught.value.path()).read_text("utf-8"))))
    ids = query(hostile_build, "select interaction_id from fct_interactions where system = 'assistant 1.1'")
    assert sorted(row["interaction_id"] for row in rows) == sorted(name for (name,) in ids)
    attacked = next(row for row in rows if row["interaction_id"] == HOSTILE_ID)
    assert attacked["query"] == f"'{FORMULA}"
    plain = next(row for row in rows if row["interaction_id"] == "call_000011")
    known = "select reference_answer, sentence_text, strftime(asked_at, '%Y-%m-%d %H:%M') from fct_interactions"
    known += " inner join fct_sentence_evidence using (interaction_id) where interaction_id = 'call_000011'"
    shown = plain["reference_answer"], plain["deciding_sentence"], plain["asked_at"]
    assert shown in query(hostile_build, known)
    assert len(plain["chunk_ids"].split("|")) == 4
    assert plain[f"{MAIN_METRIC}_threshold"]
    assert not [name for name in plain if " " in name]
    numbers = {MAIN_METRIC, "weight"}
    cells = [value for row in rows for name, value in row.items() if name not in numbers]
    assert not [cell for cell in cells if cell[:1] in ("=", "+", "@", "\t")]


def test_hostile_texts_are_shown_and_do_nothing(visit: Visits, hostile_explorer: Path) -> None:
    visitor = visit(hostile_explorer)
    page = visitor.open(f"#/interaction/{HOSTILE_ID}")
    text = page.locator("main").inner_text()
    assert "<script>document.title = 'taken'</script>" in text
    assert "⟨U+202E⟩" in text
    assert "⟨U+001B⟩[31m⟨U+200B⟩" in text
    assert "\u202e" not in page.content()
    assert "Ignore all earlier instructions" in text
    assert "{{ 7 * 7 }}" in text
    for screen in SCREENS:
        visitor.open(f"#/{screen}")
        assert page.title().endswith("hcat explorer")
        assert page.locator(f"h1, nav a[aria-current=page][href='#/{screen}']").count() == 2
        assert page.locator("main script, main img, main iframe, main style, main b b").count() == 0
        assert page.locator("[onerror], [onclick], [onload]").count() == 0
    filtered = urlencode({"d.topic": "<script>document.title = 'taken'</script><img src=x onerro…"})
    assert visitor.open(f"#/interactions?{filtered}", ".item, .empty").locator("main img").count() == 0


def test_the_policy_stops_what_was_smuggled_in(browser: Any, hostile_explorer: Path, tmp_path: Path) -> None:
    page = tmp_path / "smuggled.html"
    text = hostile_explorer.read_text("utf-8")
    smuggled = (
        '<body><img src="http://127.0.0.1:9/a.png" alt=""><p onclick="1" style="color:red"></p><script>1</script>'
    )
    page.write_text(text.replace("<body>", smuggled, 1), encoding="utf-8")
    visitor = Visitor(browser, page)
    visitor.open("#/overview")
    visitor.context.close()
    refused = [complaint for complaint in visitor.complaints if "Content Security Policy" in complaint]
    assert len(refused) >= 3


def test_what_was_left_out_is_said_and_weighed(visit: Visits, build: Path, tmp_path: Path) -> None:
    path = tmp_path / "explorer.html"
    with open_warehouse(build) as source, pytest.MonkeyPatch.context() as patch:
        patch.setattr("hcat.explorer.document.LEAST_TEXTS", 50)
        limit = int(len(render_explorer(source).encode()) * 0.7)
        path.write_text(render_explorer(source, maximum_bytes=limit), encoding="utf-8")
    assert path.stat().st_size <= limit
    visitor = visit(path, accept_downloads=True)
    page = visitor.open("#/interactions")
    sampled, texts = (notice.inner_text() for notice in page.locator(".notice").all())
    assert sampled.startswith("This file holds 200 of 400 interactions: the 160 worst and a random sample of 40 others")
    assert "each of which stands for 6.00" in sampled
    assert texts.startswith("Texts are in this file for 50 of 200 interactions: the 40 worst and a random sample of 10")
    with page.expect_download() as caught:
        page.get_by_role("button", name="Export as CSV").click()
    rows = list(csv.DictReader(io.StringIO(Path(caught.value.path()).read_text("utf-8"))))
    weights = {row["interaction_id"]: float(row["weight"]) for row in rows}
    assert sum(weights.values()) == COUNT
    judged = [row for row in rows if row["outcome"] == "answered" and row["verdict"] in ("failing", "acceptable")]
    clusters = dict(query(build, "select interaction_id, cluster_id from fct_interactions"))
    expected = rate_interval(
        np.array([row["verdict"] == "failing" for row in judged]),
        np.array([clusters[row["interaction_id"]] for row in judged]),
        np.array([weights[row["interaction_id"]] for row in judged]),
    )
    shown = read_share(visitor.filter([("outcome", "answered")]))[:3]
    assert np.allclose(shown, [expected.estimate, expected.low, expected.high], rtol=0, atol=1e-6)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_violation(visit: Visits, explorer: Path, scheme: str) -> None:
    visitor = visit(explorer, color_scheme=scheme, bypass_csp=True)
    for fragment in [*(f"#/{screen}" for screen in SCREENS), "#/interaction/call_000011"]:
        visitor.open(fragment)
        assert visitor.find_violations() == [], fragment
