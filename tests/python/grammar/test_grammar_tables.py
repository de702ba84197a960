"""From a schema to templates, texts, true answers and queries: who wins, what is checked, and that nothing leaks."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from test_grammar_bank import TABLES, constraint_rows, database

from hcat.engine.relations import describe_columns, describe_constraints, select_runner
from hcat.grammar import tables
from hcat.grammar.importers import ImportFormatError
from hcat.grammar.schema import column_kind
from hcat.grammar.sql_templates import CRITERIA
from hcat.language_models import endpoint

NAMES = [("main", name) for name in ("accounts", "branches", "customers", "loans")]
SETTINGS: dict[str, Any] = {
    "random_seed": 7,
    "generator": "offline",
    "templates": 12,
    "texts_per_style": 2,
    "fillings": 5,
    "hypotheses": ["length", "register"],
    "requirements": {"maximum_joins": 3, "maximum_columns": 3, "maximum_placeholders": 3},
    "enumerated": {"maximum_joins": 2, "maximum_columns": 1, "maximum_placeholders": 2},
}
CITY = "SELECT city FROM branches WHERE branch_name = '[branches.branch_name]';"


def edits(*rows: tuple[str, str | None, bool]) -> pa.Table:
    """Return the seed grammar_templates."""
    schema = pa.schema(
        [
            ("template_id", pa.string()),
            ("sql_template", pa.string()),
            ("is_enabled", pa.bool_()),
            ("reason", pa.string()),
        ]
    )
    return pa.Table.from_pylist(
        [dict(zip(schema.names, (*row, "because"), strict=True)) for row in rows], schema=schema
    )


def text_edits(*rows: tuple[str, str, str, bool]) -> pa.Table:
    """Return the seed grammar_text_templates."""
    names = ["sql_template_id", "style", "text_template", "is_enabled", "reason"]
    schema = pa.schema([(name, pa.bool_() if name == "is_enabled" else pa.string()) for name in names])
    return pa.Table.from_pylist([dict(zip(names, (*row, "because"), strict=True)) for row in rows], schema=schema)


def gather(
    connection: duckdb.DuckDBPyConnection,
    own: pa.Table | None = None,
    texts: pa.Table | None = None,
    *,
    imports: pa.Table | None = None,
    calls: pa.Table | None = None,
    settings: dict[str, Any] | None = None,
) -> tables.Materials:
    """Return the materials of the bank."""
    return tables.gather(
        SETTINGS | (settings or {}),
        describe_columns(connection, NAMES),
        describe_constraints(connection, NAMES),
        edits() if own is None else own,
        text_edits() if texts is None else texts,
        tables.IMPORT_SCHEMA.empty_table() if imports is None else imports,
        calls,
    )


def statuses(materials: tables.Materials, **wanted: str) -> list[tuple[str, str]]:
    """Return (id, status) of the templates that have these values."""
    rows = tables.templates_table(materials).to_pylist()
    return [
        (row["sql_template_id"], row["template_status"])
        for row in rows
        if all(row[name] == value for name, value in wanted.items())
    ]


@pytest.fixture
def bank() -> duckdb.DuckDBPyConnection:
    """Return the bank's database."""
    return database()


# ---- the schema --------------------------------------------------------------------------------------------


def test_the_schema_holds_names_and_counts_alone(bank: duckdb.DuckDBPyConnection) -> None:
    columns = {(row["table_name"], row["column_name"]): row for row in describe_columns(bank, NAMES).to_pylist()}
    assert len(columns) == 21
    assert columns["branches", "city"]["count_distinct"] == 2
    assert columns["customers", "birth_date"]["count_distinct"] == 3
    assert {row["count_rows"] for key, row in columns.items() if key[0] == "customers"} == {5}
    assert column_kind(columns["accounts", "balance"]["data_type"]) == "number"
    found = describe_constraints(bank, NAMES).to_pylist()
    wanted = {
        (row["table_name"], row["column_name"], row["constraint_type"], row["referenced_table_name"])
        for row in constraint_rows()
    }
    assert {
        (row["table_name"], row["column_name"], row["constraint_type"], row["referenced_table_name"]) for row in found
    } == wanted


def test_a_foreign_key_to_a_table_that_is_not_read_is_left_out(bank: duckdb.DuckDBPyConnection) -> None:
    found = describe_constraints(bank, [("main", "loans")]).to_pylist()
    assert {row["constraint_type"] for row in found} == {"PRIMARY KEY", "UNIQUE"}


def test_an_unknown_table_is_named(bank: duckdb.DuckDBPyConnection) -> None:
    with pytest.raises(LookupError, match=r"'main\.nothing' is no table of the warehouse"):
        describe_columns(bank, [("main", "nothing")])


def test_only_one_select_is_run(bank: duckdb.DuckDBPyConnection) -> None:
    run = select_runner(bank, 2)
    hostile = "x'; drop table branches; --"
    assert run("select ? as said, count(*) from branches where city <> ?", [hostile, hostile]) == [(hostile, 2)]
    assert len(run("select full_name from customers", ())) == 2
    for sql in (
        "drop table branches",
        "select 1; drop table branches",
        "",
        "insert into branches select * from branches",
    ):
        with pytest.raises(ValueError, match="only one SELECT statement is run"):
            run(sql, ())
    assert run("select count(*) from branches", ()) == [(2,)]
    with pytest.raises(ValueError, match="maximum_rows must be at least 1, got 0"):
        select_runner(bank, 0)


# ---- SQL templates -----------------------------------------------------------------------------------------


def test_every_criterion_is_asked_of_every_template(bank: duckdb.DuckDBPyConnection) -> None:
    materials = gather(bank, edits(("hostile", "DROP TABLE branches", True)))
    checks = tables.checks_table(materials).to_pylist()
    by_candidate = Counter(row["candidate_id"] for row in checks)
    assert set(by_candidate.values()) == {len(CRITERIA)}
    accepted = {
        row["candidate_id"]
        for row in tables.templates_table(materials).to_pylist()
        if row["template_status"] == "accepted"
    }
    assert len(accepted) == SETTINGS["templates"]
    assert {row["outcome"] for row in checks if row["candidate_id"] in accepted} == {"met"}
    assert statuses(materials, origin="person") == [("hostile", "rejected")]


def test_a_persons_template_takes_the_place_of_a_generated_one(bank: duckdb.DuckDBPyConnection) -> None:
    (city,) = [
        row["sql_template_id"]
        for row in tables.templates_table(gather(bank)).to_pylist()
        if row["sql_template"] == CITY
    ]
    own = "SELECT city, opened_on FROM branches WHERE branch_name = '[branches.branch_name]'"
    materials = gather(bank, edits((city, own, True)))
    found = [row for row in tables.templates_table(materials).to_pylist() if row["sql_template_id"] == city]
    assert [(row["origin"], row["template_status"], row["sql_template"]) for row in found] == [
        ("person", "accepted", own),
        ("enumerated", "replaced", CITY),
    ]
    # also where the edit cannot be used: the generated one does not come back behind a person's back
    broken = gather(bank, edits((city, "SELECT * FROM branches", True)))
    found = [row for row in tables.templates_table(broken).to_pylist() if row["sql_template_id"] == city]
    assert [(row["origin"], row["template_status"]) for row in found] == [
        ("person", "rejected"),
        ("enumerated", "replaced"),
    ]


def test_a_template_is_switched_off_and_the_next_one_takes_its_place(bank: duckdb.DuckDBPyConnection) -> None:
    first = statuses(gather(bank), template_status="accepted")
    materials = gather(bank, edits((first[0][0], None, False)))
    now = statuses(materials, template_status="accepted")
    assert statuses(materials, template_status="disabled") == [(first[0][0], "disabled")]
    assert len(now) == len(first)
    assert set(now) >= set(first[1:])


def test_a_new_template_of_a_person_comes_first_under_its_own_name(bank: duckdb.DuckDBPyConnection) -> None:
    materials = gather(bank, edits(("our own", CITY, True)))
    rows = tables.templates_table(materials).to_pylist()
    assert (rows[0]["sql_template_id"], rows[0]["template_status"]) == ("our own", "accepted")
    # the enumerated one of the same logic is redundant
    (same,) = [row for row in rows if row["sql_template"] == CITY and row["origin"] == "enumerated"]
    assert same["template_status"] == "rejected"
    assert "not_redundant" in same["status_detail"]


def test_specific_requirements_hold_for_everybody(bank: duckdb.DuckDBPyConnection) -> None:
    wanted = {"requirements": {"tables": ["loans"], "maximum_joins": 2}}
    materials = gather(bank, edits(("our own", CITY, True)), settings=wanted)
    assert statuses(materials, origin="person") == [("our own", "rejected")]
    rows = tables.templates_table(materials).to_pylist()
    assert all("loans" in row["sql_template"] for row in rows if row["template_status"] == "accepted")


def test_settings_that_cannot_be_met_are_refused(bank: duckdb.DuckDBPyConnection) -> None:
    for changed, message in (
        ({"texts_per_style": 9}, "texts_per_style must lie in"),
        ({"fillings": 0}, "maximum_fillings must be at least 1, got 0"),
        ({"hypotheses": ["size"]}, "hypotheses must be of length, register, form, got size"),
        ({"generator": "oracle"}, "hcat_generator must be one of offline, language_model, got 'oracle'"),
        ({"requirements": {"joins": 2}}, "requirements are tables, .* got joins"),
    ):
        with pytest.raises(ValueError, match=message):
            gather(bank, settings=changed)


# ---- text templates ----------------------------------------------------------------------------------------


def used(materials: tables.Materials, **wanted: str) -> list[tuple[str, str]]:
    """Return (origin, text) of the texts in use that have these values."""
    return [
        (row["origin"], row["text_template"])
        for row in tables.texts_table(materials).to_pylist()
        if row["text_status"] == "used" and all(row[name] == value for name, value in wanted.items())
    ]


def test_every_style_has_the_same_number_of_texts(bank: duckdb.DuckDBPyConnection) -> None:
    rows = [row for row in tables.texts_table(gather(bank)).to_pylist() if row["text_status"] == "used"]
    counts = Counter((row["sql_template_id"], row["style"]) for row in rows)
    assert len(counts) == SETTINGS["templates"] * 4
    assert set(counts.values()) == {2}
    assert {row["hypothesis"] for row in rows} == {"length", "register"}
    assert len({row["text_template"].casefold() for row in rows}) == len(rows)


def test_a_persons_text_comes_first_and_one_is_switched_off(bank: duckdb.DuckDBPyConnection) -> None:
    own = "In which town is the [branches.branch_name] branch, if you please?"
    before = used(gather(bank, edits(("city", CITY, True))), sql_template_id="city", style="formal")
    materials = gather(
        bank,
        edits(("city", CITY, True)),
        text_edits(("city", "formal", own, True), ("city", "formal", before[0][1].upper() + "!", False)),
    )
    now = used(materials, sql_template_id="city", style="formal")
    assert now == [("person", own), before[1]]


def test_a_text_with_a_fault_or_of_another_template_is_not_used(bank: duckdb.DuckDBPyConnection) -> None:
    other = "SELECT opened_on FROM branches WHERE branch_name = '[branches.branch_name]';"
    shared = "Tell me about the [branches.branch_name] branch, kindly."
    materials = gather(
        bank,
        edits(("city", CITY, True), ("opened", other, True)),
        text_edits(
            ("city", "formal", shared, True),
            ("opened", "formal", shared, True),
            ("city", "short", "city of [accounts.iban]", True),
        ),
    )
    rows = tables.texts_table(materials).to_pylist()
    found = {
        (row["sql_template_id"], row["style"]): (row["text_status"], row["status_detail"])
        for row in rows
        if row["origin"] == "person"
    }
    assert found == {
        ("city", "formal"): ("used", None),
        ("opened", "formal"): ("faulty", "duplicate"),
        ("city", "short"): ("faulty", "foreign_placeholder, missing_placeholder"),
    }


def test_a_template_with_a_style_that_is_short_of_texts_asks_nothing(bank: duckdb.DuckDBPyConnection) -> None:
    materials = gather(bank, edits(("city", CITY, True)), settings={"texts_per_style": 4})
    (_, text), *_ = used(materials, sql_template_id="city", style="long")
    materials = gather(
        bank, edits(("city", CITY, True)), text_edits(("city", "long", text, False)), settings={"texts_per_style": 4}
    )
    assert used(materials, sql_template_id="city") == []
    details = {
        row["status_detail"]
        for row in tables.texts_table(materials).to_pylist()
        if row["sql_template_id"] == "city" and row["text_status"] == "unbalanced"
    }
    assert details == {"4 texts per style are wanted, long has fewer"}


# ---- imports -----------------------------------------------------------------------------------------------


def test_files_of_the_papers_tool_are_imported(bank: duckdb.DuckDBPyConnection, tmp_path: Any) -> None:
    spelled = "SELECT branches.city FROM branches WHERE branches.branch_name = '[branches.branch_name]'"
    (tmp_path / "sql.json").write_text(json.dumps({"('branches',)": [spelled, "SELECT nonsense"]}))
    (tmp_path / "long.json").write_text(
        json.dumps({spelled: ['"Would somebody be so kind as to say in which town [branches.branch_name] lies?"']})
    )
    imports = tables.read_imports({"long": str(tmp_path / "long.json"), "sql_templates": str(tmp_path / "sql.json")})
    materials = gather(bank, imports=imports)
    assert [status for _, status in statuses(materials, origin="imported")] == ["accepted", "rejected"]
    (row,) = [row for row in tables.texts_table(materials).to_pylist() if row["origin"] == "imported"]
    assert (row["style"], row["text_status"]) == ("long", "used")
    assert row["text_template"].startswith("Would somebody")
    (tmp_path / "short.json").write_text("[]")
    with pytest.raises(ImportFormatError, match=r"short\.json: templates must be a JSON object, got list"):
        tables.read_imports({"short": str(tmp_path / "short.json")})
    with pytest.raises(ImportFormatError, match="must be a readable file"):
        tables.read_imports({"short": str(tmp_path / "none.json")})
    with pytest.raises(ValueError, match="style must be one of"):
        tables.read_imports({"shouted": str(tmp_path / "short.json")})


# ---- answers -----------------------------------------------------------------------------------------------


def answer(bank: duckdb.DuckDBPyConnection, materials: tables.Materials, **settings: Any) -> pa.Table:
    """Return the fillings of the accepted templates."""
    batches = tables.answer_fillings(
        select_runner(bank, 1000), tables.templates_table(materials), materials.schema, SETTINGS | settings
    )
    return pa.Table.from_batches(list(batches), schema=tables.FILLING_SCHEMA)


def test_stored_sql_gives_the_stored_answer(bank: duckdb.DuckDBPyConnection) -> None:
    # a quote, a date and a number that is a key stand in the literals
    own = edits(
        ("born", "SELECT birth_date FROM customers WHERE full_name = '[customers.full_name]'", True),
        ("purpose", "SELECT purpose FROM loans WHERE loan_number = '[loans.loan_number]'", True),
        ("several", "SELECT full_name FROM customers WHERE birth_date = '[customers.birth_date]'", True),
    )
    fillings = answer(bank, gather(bank, own))
    single = fillings.filter(pa.compute.equal(fillings["answer_status"], "single_answer"))
    assert single.num_rows > 20
    rerun = tables.rerun_answers(select_runner(bank, 1000), fillings)
    stored = {row["query_group"]: (row["answer_status"], row["reference_answer"]) for row in fillings.to_pylist()}
    assert {row["query_group"]: (row["answer_status"], row["reference_answer"]) for row in rerun.to_pylist()} == stored
    by_value = {
        (row["sql_template_id"], row["filled_values"][0]): (row["answer_status"], row["reference_answer"])
        for row in fillings.to_pylist()
    }
    assert by_value["born", "Tomas O'Reed"] == ("single_answer", "1981-11-30")
    assert by_value["born", "Ada Quill"] == ("null_answer", None)
    assert by_value["purpose", "5001"] == ("single_answer", "house")
    assert any("O''Reed" in row["sql_text"] for row in fillings.to_pylist())


def test_queries_are_texts_times_fillings(bank: duckdb.DuckDBPyConnection) -> None:
    materials = gather(bank)
    fillings, texts = answer(bank, materials), tables.texts_table(materials)
    queries = pa.Table.from_batches(list(tables.fill_queries(fillings, texts)), schema=tables.QUERY_SCHEMA).to_pylist()
    groups = [row for row in fillings.to_pylist() if row["answer_status"] == "single_answer"]
    assert len(queries) == 8 * len(groups)
    assert set(Counter(row["query_group"] for row in queries).values()) == {8}
    assert len({row["query_id"] for row in queries}) == len({row["query_text"] for row in queries}) == len(queries)
    tags = [json.loads(row["tags"]) for row in queries]
    assert [each.pop("template") for each in tags] == [row["sql_template_id"] for row in queries]
    assert {tuple(each.items()) for each in tags} == {
        (("length", "short"),),
        (("length", "long"),),
        (("register", "formal"),),
        (("register", "colloquial"),),
    }
    assert not any("[" in row["query_text"] for row in queries)


def test_the_cap_is_seeded_and_rows_come_in_any_order(bank: duckdb.DuckDBPyConnection) -> None:
    materials = gather(bank)
    one = answer(bank, materials, fillings=2)
    assert answer(bank, materials, fillings=2, random_seed=8) != one
    assert set(Counter(one["sql_template_id"].to_pylist()).values()) <= {1, 2}
    # the same rows the other way round, in tables without keys of their own
    bank.execute("create schema backwards")
    for _, name in NAMES:
        bank.execute(f"create table backwards.{name} as select * from main.{name} order by 1 desc")
    columns = describe_columns(bank, [("backwards", name) for _, name in reversed(NAMES)])
    backwards = tables.gather(
        SETTINGS, columns, describe_constraints(bank, NAMES), edits(), text_edits(), tables.IMPORT_SCHEMA.empty_table()
    )
    assert answer(bank, backwards, fillings=2).drop(["sql_text"]) == one.drop(["sql_text"])


def test_literals_and_statements() -> None:
    assert tables.write_statement("select ? , ?", ["a'b?", 2]) == "select 'a''b?' , 2"
    with pytest.raises(ValueError, match=r"a value is needed for every \?, got 1 for 2"):
        tables.write_statement("select ?, ?", [1])
    with pytest.raises(ValueError, match="a value must be finite"):
        tables.write_literal(float("nan"))
    assert tables.write_literal(value=True) == "true"


# ---- a language model --------------------------------------------------------------------------------------

SERVICE = {"base_url": "http://127.0.0.1:9/v1", "model": "canned", "concurrency": 1, "repairs": 1}


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Answer every prompt without a network, and return the list of what was asked."""
    prompts: list[Any] = []

    def answer_prompt(self: Any, messages: Any, schema: Any, counts: dict[str, int]) -> tuple[str, int, int]:
        counts["attempts"] += 1
        prompts.append(messages)
        body = json.loads(messages[1]["content"])
        if len(messages) == 2 and "tables" in body:
            return "no JSON", 10, 5
        if "tables" in body:
            return json.dumps({"templates": [CITY, "SELECT * FROM branches"]}), 10, 5
        said = [f"text {len(prompts)} {number} " + " ".join(body["placeholders"]) for number in range(body["count"])]
        return json.dumps({"templates": said}), 10, 5

    monkeypatch.setattr(endpoint.LanguageModel, "_send", answer_prompt)
    return prompts


def test_offline_nothing_is_asked(bank: duckdb.DuckDBPyConnection, asked: list[Any]) -> None:
    assert list(tables.call_for_templates(gather(bank), {})) == []
    assert asked == []


def test_no_prompt_holds_a_row(asked: list[Any]) -> None:
    # canaries in every column that holds text, in names of people too; the enumerated type spells its values
    with duckdb.connect(":memory:") as connection:
        connection.execute(TABLES.replace("'Harbour'", "'CANARY one'").replace("'Northport'", "'CANARY two'"))
        connection.execute("create type mood as enum ('CANARY three', 'CANARY four')")
        connection.execute("alter table branches add column temper mood default 'CANARY three'")
        materials = gather(connection, settings={"generator": "language_model", "templates": 6})
        batches = list(tables.call_for_templates(materials, SERVICE))
        values = {
            str(value)
            for _, name in NAMES
            for row in connection.execute(f"select * from {name}").fetchall()
            for value in row
            if isinstance(value, str) and len(value) > 3
        }
    assert {"CANARY one", "CANARY two", "CANARY three"} <= values
    ledger = pa.Table.from_batches(batches).to_pylist()
    assert len(asked) == len(ledger) == 2 + 6 * 4
    for prompt in [*map(json.dumps, asked), *(row["prompt"] for row in ledger)]:
        assert "CANARY" not in prompt
        assert [value for value in sorted(values) if value in prompt] == []


def test_what_was_answered_is_not_asked_again(bank: duckdb.DuckDBPyConnection, asked: list[Any]) -> None:
    materials = gather(bank, settings={"generator": "language_model", "templates": 3})
    ledger = pa.Table.from_batches(list(tables.call_for_templates(materials, SERVICE)))
    rows = ledger.to_pylist()
    # the first reply was no JSON and was asked for again
    assert [(row["call_status"], row["is_last"]) for row in rows[:2]] == [("invalid_reply", False), ("answered", True)]
    assert list(tables.call_for_templates(materials, SERVICE, ledger)) == []
    assert len(asked) == len(rows)
    known = gather(bank, calls=ledger, settings={"templates": 3})
    assert [status for _, status in statuses(known, origin="language_model")] == ["accepted", "rejected"]
    assert {origin for origin, _ in used(known)} == {"language_model"}
    # replies to other tables or another count are passed over
    assert statuses(gather(bank, calls=ledger, settings={"templates": 4}), origin="language_model") == []


def test_beyond_the_budget_the_enumerator_alone_writes(bank: duckdb.DuckDBPyConnection, asked: list[Any]) -> None:
    materials = gather(bank, settings={"generator": "language_model", "templates": 3})
    ledger = pa.Table.from_batches(list(tables.call_for_templates(materials, SERVICE | {"maximum_calls": 0})))
    assert asked == []
    assert set(ledger["call_status"].to_pylist()) == {"budget_exhausted"}
    known = gather(bank, calls=ledger, settings={"templates": 3})
    assert len(statuses(known, template_status="accepted", origin="enumerated")) == 3
    # the next build tries again
    assert list(tables.call_for_templates(materials, SERVICE, ledger)) != []


def test_what_a_call_cost_is_not_forgotten_when_it_is_asked_again(
    bank: duckdb.DuckDBPyConnection, asked: list[Any]
) -> None:
    # the first reply is no JSON and is paid for; the budget ends before it is asked for again
    materials = gather(bank, settings={"generator": "language_model", "templates": 3})
    ledger = pa.Table.from_batches(list(tables.call_for_templates(materials, SERVICE | {"maximum_calls": 1})))
    paid, waiting = ledger.to_pylist()[:2]
    assert [(row["call_status"], row["prompt_tokens"]) for row in (paid, waiting)] == [
        ("invalid_reply", 10),
        ("budget_exhausted", 0),
    ]
    again = pa.Table.from_batches(list(tables.call_for_templates(materials, SERVICE, ledger))).to_pylist()
    assert again[0]["call_id"] == waiting["call_id"]
    assert again[0]["call_status"] == "answered"
    assert paid["call_id"] not in {row["call_id"] for row in again}


def test_templates_checks_and_texts_are_of_one_set_of_materials(bank: duckdb.DuckDBPyConnection) -> None:
    materials = gather(bank, edits(("own", "SELECT * FROM branches;", True)), settings={"templates": 2})
    made = tables.make_templates(materials).to_pylist()
    assert [row["template_status"] for row in made].count("accepted") == 2
    for row in made:
        assert [check["criterion"] for check in row["checks"]] == list(CRITERIA)
        assert bool(row["texts"]) == (row["template_status"] == "accepted")
    count_texts = tables.texts_table(materials).num_rows
    assert sum(len(row["texts"]) for row in made) == count_texts > 0
