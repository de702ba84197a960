"""Every macro that hides a difference between engines gives the same value on both, the silent differences included."""

import functools
import hashlib
import re
from datetime import date, datetime
from pathlib import Path

import duckdb
import jinja2
import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = (ROOT / "macros" / "engine", ROOT / "macros")
ENGINES = ("duckdb", "spark")
#: Values of a text that are hidden, the longer first.
PRIVATE_VALUES = """array_of([
    record({'length': -7, 'value': "'Ann Lee'", 'masked': "'<PERSON>'"}),
    record({'length': -3, 'value': "'Ann'", 'masked': "'<NAME>'"}),
])"""
WORDS = ["'lee'", "'12'", "'Bern instead of Ann'", "'Mr Ann Lee'"]
MASKED_WORDS = ["[masked]", "12", "[masked]", "Mr <PERSON>"]
#: Expression of macros -> its value on both engines.
EXPRESSIONS = [
    ("array_at(array_of([10, 20]), 1)", 10),
    ("array_at(array_of([10, 20]), 3)", None),
    ("array_length(array_of([10, 20, 30]))", 3),
    ("array_map(array_of([1, 2]), 'each * 10')", [10, 20]),
    ("array_join(array_of([\"'a'\", 'null', \"'b'\"]), ', ')", "a, b"),
    ("array_at('array_sort(' ~ array_of(['null', 2]) ~ ')', 1)", 2),
    ("array_compact(array_of(['null', 2, 'null']))", [2]),
    ("array_from(array_of([3, 1, 2]), 1)", [1, 2]),
    ("is_bucket(1)", True),
    ("is_in_bucket(\"'a'\")", True),
    ("hash_row(['1', 'null', 'null']) ~ ' = ' ~ hash_row(['null', '1', 'null'])", False),
    ("number_series(3)", [0, 1, 2]),
    ("number_series(0)", []),
    (
        "array_map(day_series(\"date '2026-02-27'\", \"date '2026-03-01'\"), 'cast(each as date)')",
        [date(2026, 2, 27), date(2026, 2, 28), date(2026, 3, 1)],
    ),
    ("days_between(\"date '2026-02-27'\", \"date '2026-03-01'\")", 2),
    ("dot_product(array_of(doubles([1, 2])), array_of(doubles([3, 4])))", 11.0),
    ("has_word(\"'To Mr. Bern, bernina'\", \"'MR'\")", True),
    ("has_word(\"'bernina'\", \"'bern'\")", False),
    (f"mask_values(\"'Ann Lee and Ann'\", {PRIVATE_VALUES})", "<PERSON> and <NAME>"),
    (f"mask_words(array_of({WORDS}), {PRIVATE_VALUES})", MASKED_WORDS),
    ("public_value(\"'phone'\", \"'+44 800 555 0163 ext. 2'\")", "005550163"),
    ("public_value(\"'phone'\", \"'one two three'\")", None),
    ("public_value(\"'email'\", \"'Help @Bank.example'\")", "help@bank.example"),
    ("public_value(\"'person'\", \"'Ana  Dias'\")", "ana dias"),
    ('json_field("\'{\\"a b\\": {\\"c\\": 1}, \\"d\\": \\"x\\"}\'", "\'d\'")', "x"),
    ('json_field("\'{\\"a b\\": \\"y\\"}\'", "\'a b\'")', "y"),
    ('json_field("\'{\\"a\\": null}\'", "\'a\'")', None),
    ('json_field("\'{\\"a\\": 1}\'", "\'b\'")', None),
    ('json_texts("\'[\\"a\\", \\"b\\"]\'")', ["a", "b"]),
    ("json_texts(\"'no list'\")", None),
    ("json_numbers(\"'[1, 0.5]'\")", [1.0, 0.5]),
    ("json_numbers(\"'no list'\")", None),
    ("are_weights(json_numbers(\"'[1, 0.5, 0]'\"))", True),
    ("are_weights(json_numbers(\"'[]'\"))", False),
    ("are_weights(json_numbers(\"'[1, -1]'\"))", False),
    ("are_weights(json_numbers(\"'[1, null]'\"))", False),
    ("are_weights(json_numbers(\"'no list'\"))", False),
    ("are_weights(json_numbers('null'))", False),
    ('is_json_object("\'{\\"a\\": 1}\'")', True),
    ("all_matches(\"'m.10.p.2'\", '[.]([0-9]+)')", ["10", "2"]),
    ("all_matches('null', '[.]([0-9]+)')", None),
    ("is_json_object(\"'[1]'\")", False),
    ("is_json_object(\"'{'\")", False),
    ("is_json_object('null')", False),
    ("matches_pattern(\"'2026-01'\", '^\\\\d{4}-\\\\d{2}$')", True),
    ("replace_pattern(\"'a  b\t c'\", '\\\\s+', ' ')", "a b c"),
    ("trim_blanks(\"' \u00a0\u200b a b\u3000'\")", "a b"),
    ("is_blank(\"' \u00a0\u200b'\")", True),
    ("number_of_hex(\"'fffffffffffff'\")", 2**52 - 1),
    ("share_of_hash(\"'a'\")", int("0cc175b9c0f1b", 16) / 2**52),
    ("zoned_timestamp(\"'2026-01-01T10:00:00+02:00'\")", datetime(2026, 1, 1, 8)),
    ("zoned_timestamp(\"'2026-13-01 00:00:00+00:00'\")", None),
    ("utc_timestamp(\"'2026-01-01T10:00:00+02:00'\")", datetime(2026, 1, 1, 8)),
    ("utc_timestamp(\"'2026-01-01 10:00:00.25'\")", datetime(2026, 1, 1, 10, 0, 0, 250000)),
    ("utc_timestamp(\"'2026-01-01T10:00Z'\")", datetime(2026, 1, 1, 10)),
    ("utc_timestamp(\"'2026-01-01T10'\")", datetime(2026, 1, 1, 10)),
    ("utc_timestamp(\"'2026-01-01t10:00:00z'\")", datetime(2026, 1, 1, 10)),
    ("utc_timestamp(\"'20260101T100000Z'\")", datetime(2026, 1, 1, 10)),
    ("utc_timestamp(\"'20260101T1000-0330'\")", datetime(2026, 1, 1, 13, 30)),
    ("utc_timestamp(\"'2026-01-01 10:00:00,123456789+02'\")", datetime(2026, 1, 1, 8, 0, 0, 123456)),
    ("utc_timestamp(\"'2026-01-01 10:00:00 UTC'\")", datetime(2026, 1, 1, 10)),
    ("utc_timestamp(\"'2026-01-01T10:00:00+01:00[Europe/Berlin]'\")", datetime(2026, 1, 1, 9)),
    ("utc_timestamp(\"'2026-01-01T10:00:00[Europe/Berlin]'\")", None),
    ("utc_timestamp(\"'2026-01-01 10:00:00 Europe/Berlin'\")", None),
    ("utc_timestamp(\"'2026-01-01 10:00:00 CET'\")", None),
    ("utc_timestamp(\"'2026-01-01'\")", datetime(2026, 1, 1)),
    ("utc_timestamp(\"'20260101'\")", None),
    ("utc_timestamp(\"'2026-13-01'\")", None),
    ("utc_timestamp(\"'infinity'\")", None),
    ("utc_timestamp('null')", None),
    ("declared_timestamp(\"'05/31/2026 14:05'\", '%m/%d/%Y %H:%M')", datetime(2026, 5, 31, 14, 5)),
    ("declared_timestamp(\"'5/1/2026 2:05 PM'\", '%m/%d/%Y %I:%M %p')", datetime(2026, 5, 1, 14, 5)),
    ("declared_timestamp(\"'31/05/2026 14:05'\", '%m/%d/%Y %H:%M')", None),
    ("declared_timestamp(\"'1780236300.25'\", 'epoch_seconds')", datetime(2026, 5, 31, 14, 5, 0, 250000)),
    ("declared_timestamp(\"'1780236300250'\", 'epoch_milliseconds')", datetime(2026, 5, 31, 14, 5, 0, 250000)),
    ("declared_timestamp(\"'31.05.2026 14:05 +0200'\", '%d.%m.%Y %H:%M %z')", datetime(2026, 5, 31, 12, 5)),
    ("declared_timestamp(\"'31.05.2026 soon'\", '%d.%m.%Y %H:%M %z')", None),
    ("declared_timestamp(\"'soon'\", 'epoch_seconds')", None),
    ("declared_timestamp(\"'1e300'\", 'epoch_seconds')", None),
    ("declared_timestamp(\"'nan'\", 'epoch_milliseconds')", None),
    ("is_finite(\"'nan'::double\")", False),
    ("is_finite(\"'-infinity'::double\")", False),
    ("is_finite('1::double')", True),
    ("finite_or_null(\"'inf'\")", None),
    ("finite_or_null(\"'42%'\")", None),
    ("finite_or_null(\"'-0.5'\")", -0.5),
    ("finite_or_null(\"'0'\", '> 0')", None),
    ("integer_or_null(\"'0.0'\", 0)", 0),
    ("integer_or_null(\"'-1'\", 0)", None),
    ("sentence_weights(\"'[1, 0.5]'\")", [1.0, 0.5]),
    ("sentence_weights(\"'[1, -1]'\")", []),
    ("sentence_weights('null')", None),
    ("evaluation_id(\"'i'\", \"'m'\")", hashlib.md5(b"i|m").hexdigest()),
]
ROWS = (
    "(select * from (values (1, 'b', 2.5::double), (2, 'a', 0.5::double), (3, null, 1.0::double))"
    " as t(id, name, score))"
)
AGGREGATES = [
    ("ordered_array('name', 'score')", ["a", None, "b"]),
    ("ordered_array('id', 'score', 'id > 1')", [2, 3]),
    ("ordered_array('id', 'score', 'id > 9')", None),
    ("ordered_sum('score', 'id')", 4.0),
    ("joined_text('name', \"', '\", 'score')", "a, b"),
    ("quantiles_of('score', [0.0, 0.5, 0.9])", [0.5, 1.0, 2.2]),
    ("exact_mean('score')", 4 / 3),
    ("exact_standard_deviation('score')", 1.0408329997330665),
    ("array_at(array_map(least_records({'score': 'score', 'id': 'id'}, 2), 'each.id'), 1)", 2),
]
QUERIES = [
    ("select {{ explode(array_of([1, 2])) }} as n", [(1,), (2,)]),
    (
        "select {{ explode_together({'a': array_of([1, 2]), 'b': 'null_list', 'c': array_of([3])}) }} from"
        " (select cast(null as {{ list_type }}) as null_list) as t",
        [(1, None, 3), (2, None, None)],
    ),
    (
        "select {{ explode_records('l') }} from (select {{ array_of([record({'x': 1, 'y': \"'z'\"})]) }} as l) as t",
        [(1, "z")],
    ),
    ("select {{ columns_except(['b']) }} from (select 1 as a, 2 as b) as t", [(1,)]),
    (
        "with steps as (select * from (values ('k', 0.0::double, 1.0::double, 'low'), ('k', 1.0::double, null, 'high'))"
        " as t(name, lower_bound, upper_bound, word)),"
        " scores as (select * from"
        " (values ('k', 1.0::double), ('k', 0.5::double), ('k', -1.0::double)) as t(name, score))"
        " select scores.score, steps.word from scores {{ join_within('steps', ['name'], 'scores', 'score') }}",
        [(0.5, "low"), (1.0, "high")],
    ),
    (
        "select {{ mask_values(\"'Ann'\", 'nothing') }} from (select case when false then "
        f"{{{{ {PRIVATE_VALUES} }}}} end as nothing) as t",
        [("Ann",)],
    ),
    # null order, quoting, integer division and decimals, as models write them
    (
        'select "a b", row_number() over (order by "a b" asc nulls last) as place'
        ' from (select cast(null as int) as "a b" union all select 1) as t',
        [(1, 1), (None, 2)],
    ),
    ("select 1 / 2, 'it''s', 5 % 3", [(0.5, "it's", 2)]),
    # more than 64 bits hold
    (
        f"select sum({{{{ whole_number('3000000000000000000 * id') }}}}) as total from {ROWS} as rows_of_test",
        [(18 * 10**18,)],
    ),
]


@functools.cache
def environment_of(engine: str) -> jinja2.Environment:
    """Return an environment with the project's macros as one engine gets them."""
    environment = jinja2.Environment(extensions=["jinja2.ext.do"])
    known = environment.globals

    class Adapter:
        """What adapter.dispatch of dbt does, for expressions without a model."""

        @staticmethod
        def dispatch(name, package):
            assert package == "hcat"
            return known.get(f"{engine}__{name}") or known[f"default__{name}"]

    known |= {"adapter": Adapter, "return": lambda value: value, "execute": False}
    known |= {"var": {"hcat_random_seed": 1}.get, "list_type": "int[]" if engine == "duckdb" else "array<int>"}
    # twice, since a macro sees those that were known when it was read
    for path in [*(path for folder in FOLDERS for path in sorted(folder.glob("*.sql")))] * 2:
        module = environment.from_string(path.read_text()).module
        known |= {name: value for name, value in vars(module).items() if not name.startswith("_")}
    # outside of dbt a macro returns text alone
    known["doubles"] = lambda numbers: [f"{number}::double" for number in numbers]
    return environment


def fetch(query: str, engine: str, spark) -> list[tuple]:
    """Return the rows of a query with macros on one engine, with lists as lists."""
    text = environment_of(engine).from_string(query).render()
    rows = spark.sql(text).collect() if engine == "spark" else duckdb.connect().sql(text).fetchall()
    return [tuple(list(value) if isinstance(value, list | tuple) else value for value in row) for row in rows]


def fetch_values(expressions: list[str], source: str, spark) -> dict[str, dict[str, object]]:
    """Return the value of each expression by engine: one statement for all of them, because Spark plans each anew."""
    columns = ", ".join(f"{{{{ {expression} }}}} as value_{place}" for place, expression in enumerate(expressions))
    return {
        engine: dict(zip(expressions, fetch(f"select {columns} {source}", engine, spark)[0], strict=True))
        for engine in ENGINES
    }


@pytest.fixture(scope="module")
def values(spark):
    return fetch_values([expression for expression, _ in EXPRESSIONS], "", spark)


@pytest.fixture(scope="module")
def aggregates(spark):
    return fetch_values([expression for expression, _ in AGGREGATES], f"from {ROWS} as rows_of_test", spark)


@pytest.mark.parametrize(("expression", "expected"), EXPRESSIONS)
def test_an_expression_has_the_same_value_on_both_engines(values, expression, expected):
    for engine in ENGINES:
        assert values[engine][expression] == expected, engine


@pytest.mark.parametrize(("expression", "expected"), AGGREGATES)
def test_an_aggregate_has_the_same_value_on_both_engines(aggregates, expression, expected):
    for engine in ENGINES:
        found = aggregates[engine][expression]
        assert found == (pytest.approx(expected) if isinstance(expected, float) else expected), engine


@pytest.mark.parametrize(("query", "expected"), QUERIES)
def test_a_query_gives_the_same_rows_on_both_engines(spark, query, expected):
    for engine in ENGINES:
        assert sorted(fetch(query, engine, spark), key=str) == sorted(expected, key=str), engine


def test_every_macro_between_engines_is_tested():
    # hooks and operations run statements and read files and tables: builds, upgrades and deletions test them
    hooks = {
        "begin_buckets",
        "copy_table",
        "delete_rows",
        "deletion_log",
        "drop_columns",
        "insert_other_buckets",
        "move_table",
        "raise_when",
        "rows_of_csv",
        "set_column",
    }
    text = " ".join(expression for expression, _ in [*EXPRESSIONS, *AGGREGATES, *QUERIES])
    macros = " ".join(path.read_text(encoding="utf-8") for path in FOLDERS[0].glob("*.sql"))
    names = set(re.findall(r"adapter\.dispatch\('(\w+)'", macros)) - hooks - {"hash_number"}
    assert {name for name in names if f"{name}(" not in text} == set()
