"""What the name of a column tells people: its words, and why they would not understand it or find it technical."""

import re
from collections.abc import Sequence

from hcat.grammar.schema import Column, Schema, Table
from hcat.language.given_names import word_set
from hcat.language.verbalisation import split_camel

_WORDS = re.compile(r"[^\W\d_]+|\d+")
_IDENTIFIER_WORDS = word_set("id ids uid uuid guid key keys hash pk fk sk nk oid rowid checksum etag md5 sha")
_TECHNICAL_WORDS = word_set("dbt etl elt ingested ingestion loaded sys sysdate rowversion surrogate")
_HANDLED = word_set("created updated modified inserted deleted changed synced extracted processed")
_TECHNICAL_ENDS = {(verb, "at") for verb in _HANDLED} | {
    ("row", "number"),
    ("row", "version"),
    ("valid", "from"),
    ("valid", "to"),
}
_VOID_WORDS = word_set("""
attr attribute aux c col cols column columns data dim f field fields fld flag foo info item misc num obj object
other raw str temp text tmp v val value values var x y z
""")
# numbers that people say although they are keys
_SPOKEN_ENDS = frozenset(("code", "number", "year"))
# abbreviations of banks that have no vowel and are words to a customer
_KNOWN_WORDS = _IDENTIFIER_WORDS | word_set("atm bsb cfd crm fx gdp kpi ltv lgd npl pd pps sms ssn vat")


def split_words(name: str) -> list[str]:
    """Return the words of a name in lower case: ``BranchOrRegion`` -> branch, or, region."""
    return [hump.lower() for part in _WORDS.findall(name) for hump in split_camel(part)]


def describe_column(column: Column, table: Table, schema: Schema) -> tuple[str, str]:
    """Return why people would not understand a column, and why it is technical; an empty text means no objection."""
    if column.kind == "other":
        return f"{table.name}.{column.name} holds no text, number, date or boolean", ""
    if column.is_descriptive is not None:
        return "" if column.is_descriptive else f"{table.name}.{column.name} is declared not descriptive", ""
    words = split_words(column.name)
    letters = [word for word in words if not word.isdigit()]
    void = ""
    if not letters or all(word in _VOID_WORDS or len(word) < 2 for word in letters):
        void = f"{table.name}.{column.name} says nothing about what it holds"
    elif any(word.isascii() and not set(word) & set("aeiouy") for word in set(letters) - _KNOWN_WORDS):
        void = f"{table.name}.{column.name} is an abbreviation that people cannot read"
    return void, _find_technical(column, table, schema, words)


def _find_technical(column: Column, table: Table, schema: Schema, words: Sequence[str]) -> str:
    name = f"{table.name}.{column.name}"
    if words and words[-1] in _IDENTIFIER_WORDS:
        return f"{name} is an identifier of records"
    if set(words) & _TECHNICAL_WORDS or tuple(words[-2:]) in _TECHNICAL_ENDS:
        return f"{name} describes how the row was stored"
    is_key = frozenset((column.name,)) in table.keys or any(
        key.table == table.name and column.name in key.columns for key in schema.foreign_keys
    )
    if is_key and column.kind == "number" and not (words and words[-1] in _SPOKEN_ENDS):
        return f"{name} is a number that only links tables"
    return ""
