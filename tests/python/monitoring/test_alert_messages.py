"""Messages: no private text leaves the warehouse, and no name has power over what shows it."""

import json
import re
import unicodedata
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import duckdb
import pytest
from alert_materials import Server, publish, send
from marts import drift, finding, gate

from hcat.monitoring.alerts.naming import mask


def test_no_text_of_customers_leaves_the_warehouse(tmp_path: Path, server: Server) -> None:
    private = "What is the balance of Jane Private?"
    publish(
        tmp_path,
        [gate(rationale=private, expectation_results=private)],
        [drift(status=private)],
        [finding(owner="Jane Private")],
    )
    with duckdb.connect(str(tmp_path / "published" / "candidate" / "hcat.duckdb")) as connection:
        connection.execute("create table fct_interactions as select ? as query_text, ? as answer", [private, private])
    send(tmp_path)
    assert len(server.received) == 3
    everything = json.dumps(server.received) + (tmp_path / "alerts.jsonl").read_text()
    assert "Jane" not in everything
    assert "balance" not in everything


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("mortgages", "mortgages"),
        ("2026-11-16", "2026-11-16"),
        ("assistant 2.1.0", "assistant 2.1.0"),
        ("branch 1234567", "branch 1234567"),
        ("jane.private@example.com", "[masked]"),
        ("mail of jane.private@example.com here", "mail of [masked] here"),
        ("DE89 3704 0044 0532 0130 00", "[masked]"),
        ("GB29NWBK60161331926819", "[masked]"),
        ("+41 (0)79 123 45 67", "[masked]"),
        ("4111-1111-1111-1111", "[masked]"),
        ("account 123456789", "account [masked]"),
    ],
)
def test_what_may_reach_a_person_is_masked(name: str, shown: str) -> None:
    assert mask(name) == shown


def test_segments_can_be_hidden(tmp_path: Path, server: Server) -> None:
    publish(tmp_path, [gate(dimension="branch", segment="Jane Private")], [drift(segment="Jane Private")], [])
    send(tmp_path, is_hiding_segments=True)
    assert len(server.received) == 2
    everything = json.dumps(server.received) + (tmp_path / "alerts.jsonl").read_text()
    assert "Jane" not in everything
    assert "`branch` is `segment " in everything
    # the same event, however it is shown
    assert send(tmp_path).messages == ()


def check_payload(payload: Mapping[str, Any]) -> None:
    """Assert that nothing in a message is markup, and that it fits Slack's limits."""
    assert json.loads(json.dumps(payload)) == payload
    header, section, context = payload["blocks"]
    texts = [payload["text"], header["text"]["text"], section["text"]["text"], context["elements"][0]["text"]]
    for text in texts:
        assert not re.search(r"[<>]", text)
        assert not re.search(r"&(?!amp;|lt;|gt;)", text)
        hidden = {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}
        assert all(character == "\n" or unicodedata.category(character) not in hidden for character in text)
        assert all(line.count("`") % 2 == 0 for line in text.splitlines())
    assert 0 < len(header["text"]["text"]) <= 150
    assert 0 < len(section["text"]["text"]) <= 3000
    assert "\n" not in header["text"]["text"]


HOSTILE = '<!channel> *b* `x` </script>\n@here &lt; \u202e\x1b[31m "}], <https://example.com|click>'


def test_hostile_names_have_no_power(tmp_path: Path, server: Server) -> None:
    publish(
        tmp_path,
        [gate(gate_name=HOSTILE, dimension=HOSTILE, segment=HOSTILE, metric_name=HOSTILE, measurement=HOSTILE)],
        [drift(segment=HOSTILE * 9 + str(number), dimension=HOSTILE, metric_name=HOSTILE) for number in range(40)],
        [finding(finding_id=HOSTILE, first_segment=HOSTILE, metric_name=HOSTILE, severity=HOSTILE)],
    )
    send(tmp_path)
    assert len(server.received) == 3
    for payload in server.received:
        check_payload(payload)
        assert "&lt;!channel&gt;" in payload["text"]
