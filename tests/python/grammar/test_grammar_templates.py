"""SQL templates and their texts: who wins, what is checked, and what people switch off."""

import duckdb
from grammar_materials import CITY, edits, gather, text_edits, texts_of, used

from hcat.grammar.templates import make_templates


def test_a_persons_template_takes_the_place_of_a_generated_one(bank: duckdb.DuckDBPyConnection) -> None:
    (city,) = [
        row["sql_template_id"] for row in make_templates(gather(bank)).to_pylist() if row["sql_template"] == CITY
    ]
    own = "SELECT city, opened_on FROM branches WHERE branch_name = '[branches.branch_name]'"
    materials = gather(bank, edits((city, own, True)))
    found = [row for row in make_templates(materials).to_pylist() if row["sql_template_id"] == city]
    assert [(row["origin"], row["template_status"], row["sql_template"]) for row in found] == [
        ("person", "accepted", own),
        ("enumerated", "replaced", CITY),
    ]
    # also where the edit cannot be used: the generated one does not come back behind a person's back
    broken = gather(bank, edits((city, "SELECT * FROM branches", True)))
    found = [row for row in make_templates(broken).to_pylist() if row["sql_template_id"] == city]
    assert [(row["origin"], row["template_status"]) for row in found] == [
        ("person", "rejected"),
        ("enumerated", "replaced"),
    ]


def test_a_new_template_of_a_person_comes_first_under_its_own_name(bank: duckdb.DuckDBPyConnection) -> None:
    materials = gather(bank, edits(("our own", CITY, True)))
    rows = make_templates(materials).to_pylist()
    assert (rows[0]["sql_template_id"], rows[0]["template_status"]) == ("our own", "accepted")
    # the enumerated one of the same logic is redundant
    (same,) = [row for row in rows if row["sql_template"] == CITY and row["origin"] == "enumerated"]
    assert same["template_status"] == "rejected"
    assert "not_redundant" in same["status_detail"]


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
    rows = texts_of(materials)
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
        for row in texts_of(materials)
        if row["sql_template_id"] == "city" and row["text_status"] == "unbalanced"
    }
    assert details == {"4 texts per style are wanted, long has fewer"}
