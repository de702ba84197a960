"""The file of an exchange: what it refuses, what it takes from the environment, profiles of dbt, and masks."""

import json
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from hcat import cli
from hcat.engine.yaml_files import read_part
from hcat.exchange.connections import Connection, Warehouse, address_of, find_target
from hcat.exchange.pulling import pull
from hcat.exchange.settings import Exchange, Stream


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("connection: {uri: 'postgresql://hcat:hunter2@localhost/logs'}", "connection uri holds a password: write ${"),
        ("connection: {uri: 'postgresql://hcat@localhost/logs?password=hunter2'}", "connection uri holds a password"),
        ("connection: {uri: 'postgresql://hcat@localhost/logs?sslpassword=hunter2'}", "connection uri holds"),
        ("connection: {password: hunter2}", "connection knows the keys uri, profile, target, and not password"),
        ("pull: {a: {as: answers, table: b, key: [c]}}", "pull.a as must be one of interactions, retrievals"),
        ("pull: {a: {as: calls, table: b, query: c, key: [d]}}", "pull.a must have one of table, query and files"),
        ("pull: {../a: {as: calls, table: b, key: [c]}}", "pull.../a String should match pattern"),
        ('pull: {a: {as: calls, table: "b\\0", key: [c]}}', "pull.a.table.0 String should match pattern"),
    ],
)
def test_what_is_wrong_is_one_line_without_the_secret(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "warehouse.yml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=r"warehouse\.yml: ") as raised:
        read_part(path, Exchange)
    assert str(raised.value).startswith(f"{path}: {message}")
    assert "hunter2" not in str(raised.value)


READABLE = """db.example/logs db.example/logs?sslmode=prefer localhost/logs?host=db.example
    localhost/logs?hostaddr=2001:db8::1 localhost,db.example/logs localhost/logs?service=elsewhere"""


@pytest.mark.parametrize("place", READABLE.split())
def test_nothing_travels_readably(place: str) -> None:
    with pytest.raises(ValueError, match=r"needs \?sslmode=verify-full"):
        address_of(f"redshift://{place}")


@pytest.mark.parametrize("place", ["[::1]:5/a", "/a?host=/run", "b/a?sslmode=require"])
def test_this_machine_and_encrypted_connections_are_accepted(place: str) -> None:
    assert address_of(f"postgres://{place}").kind == "postgresql"


def test_secrets_come_from_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = Connection(uri="postgresql://hcat:${WORD}@localhost/logs")
    with pytest.raises(ValueError, match="needs the environment variable WORD, which is not set"):
        find_target(given, tmp_path, None)
    monkeypatch.setenv("WORD", "a/b:c@d")
    target = find_target(given, tmp_path, None)
    assert target.options["uri"] == "postgresql://hcat:a%2Fb%3Ac%40d@localhost/logs"
    assert target.shown == "postgresql://localhost/logs"
    assert target.redactor.message("a/b:c@d a%2Fb%3Ac%40d") == "[redacted] [redacted]"


def test_a_profile_of_dbt_is_a_connection(tmp_path: Path) -> None:
    (tmp_path / "profiles.yml").write_text(
        """bank: {target: pg, outputs: {
        pg: {type: postgres, host: db, port: 5433, user: me, pass: "a/b", dbname: logs, sslmode: require},
        flake: {type: snowflake, account: a-b, user: me, private_key_path: key.p8, database: LOGS, threads: 4},
        query: {type: bigquery, method: service-account, project: p, dataset: d, keyfile: key.json},
        bricks: {type: databricks, host: h, token: hunter2}}}""",
        encoding="utf-8",
    )

    def find(name: str | None) -> Warehouse:
        return find_target(Connection(profile="bank", target=name), tmp_path, tmp_path)

    assert find(None).options["uri"] == "postgresql://me:a%2Fb@db:5433/logs?sslmode=require"
    options = find("flake").options["db_kwargs"]
    assert (options["username"], options["adbc.snowflake.sql.auth_type"], len(options)) == ("me", "auth_jwt", 5)
    assert find("query").options["db_kwargs"]["adbc.bigquery.sql.auth_credentials"] == "key.json"
    with pytest.raises(ValueError, match=r"target bricks of profile bank is none of postgres, .*: export Parquet"):
        find("bricks")
    assert find("query").quote("a`b", "c\\") == r"`a\`b`.`c\\`"


def test_a_push_reads_the_profiles_that_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "profiles.yml").write_text("bank: {target: t, outputs: {t: {type: bricks}}}", encoding="utf-8")
    settings = tmp_path / "warehouse.yml"
    settings.write_text("{connection: {profile: bank}, push: {schema: hcat}}", encoding="utf-8")
    monkeypatch.delenv("DBT_PROFILES_DIR", raising=False)
    options = ["--settings", settings, "--warehouse", tmp_path, "--profiles-dir", tmp_path]
    monkeypatch.setattr(sys, "argv", ["hcat", "push", *map(str, options)])
    with pytest.raises(SystemExit):
        cli.main()
    assert "target t of profile bank is none of postgres" in capsys.readouterr().err


def test_a_mask_reaches_numbers_and_bytes(tmp_path: Path) -> None:
    card, score = 4111111111111111, 0.123456789012
    inside = {"card": card, "score": score, "is_new": True, "account number": "48213377"}
    columns = {
        "bare": [card],
        "bytes": [b"Card 4111 1111 1111 1111"],
        "json": [json.dumps(inside)],
        "nested": [[inside]],
        "mails": [["a@example.com", None]],
    }
    stream = {"as": "calls", "files": "rows.parquet", "key": ["id"]}

    def read(name: str, **columns: list[object]) -> dict[str, object]:
        parquet.write_table(pa.table({"id": ["a"]} | columns), tmp_path / "rows.parquet")
        list(pull({name: Stream.model_validate(stream | {"mask": list(columns)})}, None, tmp_path, tmp_path))
        return dict(parquet.read_table(tmp_path / f"calls_{name}_000001.parquet").to_pylist()[0])

    masked = inside | {"card": "****1111", "account number": "****77"}
    assert read("texts", **columns) == {
        "id": "a",
        "bare": "****1111",
        "bytes": "Card ****1111",
        "json": json.dumps(masked),
        "nested": [masked | {"score": str(score)}],
        "mails": ["[email]", None],
    }
    with pytest.raises(ValueError, match=r"^mask: bytes holds binary, and no text: cast or leave_out it$"):
        read("images", bytes=[b"\xff\xd8"])
