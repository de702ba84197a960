"""From tables of the warehouse to queries with true answers, to the raw logs of an application with planted faults."""

import hashlib
import json
import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from builds import DEMO, REPOSITORY, Build, Dbt, load_script, read_lines

from hcat.grammar.export import write_queries

#: Two columns: the enumerator writes none like it.
OWN_TEMPLATE = (
    "SELECT city, opening_hours FROM branches WHERE branch_name = '[branches.branch_name]'",
    "SELECT city, opening_hours, * FROM branches WHERE branch_name = '[branches.branch_name]'",
    "DELETE FROM branches",
    "SELECT branch_id FROM branches WHERE branch_name = '[branches.branch_name]'",
    "SELECT branch_name FROM branches WHERE city = '[branches.city]'",
)


class Chat:
    """Answers like a language model that keeps to the schema of a reply and not to all the rules; counts its calls.

    What it says depends on the prompt alone.
    """

    def __init__(self) -> None:
        self.count = 0

    def answer(
        self, messages: list[dict[str, str]], maximum_tokens: int, schema: Mapping[str, Any] | None
    ) -> tuple[str, int, int]:
        """Return templates for the tables, or texts of a style."""
        self.count += 1
        body = json.loads(messages[1]["content"])
        if "tables" in body:
            templates = list(OWN_TEMPLATE)
        else:
            holders = " and ".join(body["placeholders"])
            asked = hashlib.md5(messages[1]["content"].encode(), usedforsecurity=False).hexdigest()[:8]
            templates = [f"Model {asked} asks in the style {body['style'][:9]} by {holders}"]
        return json.dumps({"templates": templates}), 100, 20


@contextmanager
def serve(chat: Chat) -> Iterator[str]:
    """Serve a chat on the loopback address and yield that."""
    example = load_script(REPOSITORY / "examples" / "language_model_service" / "service.py")
    server = example.make_server(chat, 0)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def chat() -> Iterator[tuple[Chat, str]]:
    """Serve the chat of the build."""
    chat = Chat()
    with serve(chat) as url:
        yield chat, url


def settings(url: str) -> dict[str, Any]:
    """Return the variables of a build of queries with a language model."""
    return {
        "hcat_grammar": True,
        "hcat_generator": "language_model",
        "hcat_language_model_url": url,
        "hcat_language_model": "chat of the test",
    }


@pytest.fixture(scope="module")
def build(dbt: Dbt, chat: tuple[Chat, str], tmp_path_factory: pytest.TempPathFactory) -> Build:
    """Build queries of the relational demo with a language model."""
    variables = settings(chat[1])
    built = dbt(
        "build --select +tag:grammar --indirect-selection cautious",
        DEMO,
        tmp_path_factory.mktemp("grammar"),
        variables=variables,
    )
    assert built.exit_code == 0, built.output
    return built


def test_a_thousand_queries_of_a_dozen_templates(build: Build) -> None:
    count, groups, templates, texts = build.query(
        "select count(*), count(distinct query_group), count(distinct sql_template_id), count(distinct query_text)"
        " from fct_grammar_queries"
    )[0]
    assert count >= 1_000
    assert templates >= 12
    assert texts == count
    assert count == 18 * groups
    # that counts add up and styles are balanced, that no prompt holds a row and that people win: the data tests say it
    assert build.query("select distinct reason from fct_rejected_grammar_queries") == [("no_answer",)]


def test_a_language_models_templates_pass_the_same_criteria(build: Build, chat: tuple[Chat, str]) -> None:
    found = dict(
        build.query(
            "select templates.sql_template, string_agg(checks.criterion, ',' order by checks.criterion)"
            " filter (where checks.outcome = 'broken') from fct_grammar_templates as templates"
            " inner join fct_grammar_checks as checks on templates.candidate_id = checks.candidate_id"
            " where templates.origin = 'language_model' group by templates.sql_template"
        )
    )
    assert found == dict(
        zip(OWN_TEMPLATE, (None, "columns_named", "select_only", "columns_not_technical", "single_answer"), strict=True)
    )
    assert build.query("select count(*) from fct_grammar_queries where template_origin = 'language_model'")[0][0] > 60
    statuses = Counter(dict(build.query("select call_status, count(*) from fct_grammar_calls group by call_status")))
    assert statuses == {"answered": chat[0].count}
    # the language model's texts come before the enumerated ones, and people's before both
    origins = dict(build.query("select text_origin, count(*) from fct_grammar_queries group by text_origin"))
    assert set(origins) == {"language_model", "person", "enumerated"}
    assert origins["enumerated"] < 2.01 * origins["language_model"]


def test_queries_are_written_once(build: Build, tmp_path: Path) -> None:
    path = tmp_path / "queries.jsonl"
    assert write_queries(build.warehouse, path).is_new
    rows = read_lines(path)
    assert {name for row in rows for name in row["tags"]} == {"length", "register", "form", "template"}
    assert {row["source_group"] == row["query_group"] for row in rows} == {True}
    before = path.read_bytes()
    assert not write_queries(build.warehouse, path).is_new
    assert path.read_bytes() == before
