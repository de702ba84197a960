"""Tests of privacy as tables: keys that change with what is read, masks without words, exposure per interaction."""

import csv
from pathlib import Path

import pyarrow as pa
import pytest

from hcat.privacy import tables as privacy_tables

SEEDS = Path(__file__).resolve().parents[3] / "seeds"
CARD = "4539 1488 0343 6467"


@pytest.fixture(scope="module")
def entity_types() -> pa.Table:
    with (SEEDS / "privacy_entity_types.csv").open(encoding="utf-8", newline="") as lines:
        rows = [row | {"is_masked": row["is_masked"] == "true"} for row in csv.DictReader(lines)]
    return pa.Table.from_pylist(rows)


def texts(*rows: tuple[str, bool]) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist(
        [
            {"text_id": f"h{number}", "reading_key": "k", "text": text, "is_tagged": is_tagged}
            for number, (text, is_tagged) in enumerate(rows)
        ]
    )


def test_the_key_depends_on_tagger_and_masks(entity_types: pa.Table) -> None:
    packaged = privacy_tables.describe_recognisers("packaged", entity_types).to_pylist()[0]
    rules = privacy_tables.describe_recognisers("none", entity_types).to_pylist()[0]
    unmasked = entity_types.set_column(2, "is_masked", pa.array([False] * len(entity_types)))
    shown = privacy_tables.describe_recognisers("none", unmasked).to_pylist()[0]
    assert len({row["recogniser_key"] for row in (packaged, rules, shown)}) == 3
    assert privacy_tables.describe_recognisers("none", entity_types).to_pylist()[0] == rules
    assert (packaged["has_tagger"], rules["has_tagger"]) == (True, False)
    assert packaged["problem"] is None
    assert "person" in packaged["masked_types"]
    assert "place" not in packaged["masked_types"]


def test_the_key_covers_every_file_of_the_rules(entity_types: pa.Table, monkeypatch: pytest.MonkeyPatch) -> None:
    package = Path(privacy_tables.__file__).parent
    sources = privacy_tables.list_rule_sources()
    names = sorted(path.name for path in package.iterdir() if path.suffix in (".py", ".yml"))
    assert [source.name for source in sources] == [*names, "given_names.py", "names.yml"]
    key = privacy_tables.describe_recognisers("none", entity_types).to_pylist()[0]["recogniser_key"]
    for left_out in sources:
        kept = [source for source in sources if source is not left_out]
        monkeypatch.setattr(privacy_tables, "list_rule_sources", lambda kept=kept: kept)
        assert privacy_tables.describe_recognisers("none", entity_types).to_pylist()[0]["recogniser_key"] != key


@pytest.mark.parametrize("name", ["NAMES", "MINILM", "LANGUAGES", "TAGGER"])
def test_the_key_covers_the_files_of_lists_and_models(
    entity_types: pa.Table, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    key = privacy_tables.describe_recognisers("packaged", entity_types).to_pylist()[0]["recogniser_key"]
    package = getattr(privacy_tables, name)
    other = package._replace(sha256="0" * 64)
    monkeypatch.setattr(privacy_tables, name, other)
    read = [other if each is package else each for each in privacy_tables._RULE_PACKAGES]
    monkeypatch.setattr(privacy_tables, "_RULE_PACKAGES", read)
    refused = privacy_tables.describe_recognisers("packaged", entity_types).to_pylist()[0]
    assert f"the files of the Python package {package.module} must have SHA-256 000" in refused["problem"]
    assert "\n" not in refused["problem"]
    assert refused["recogniser_key"] is None
    monkeypatch.setattr(privacy_tables, "check_package", lambda package: Path())
    row = privacy_tables.describe_recognisers("packaged", entity_types).to_pylist()[0]
    assert row["recogniser_key"] not in (key, None)


def test_problems_are_said_in_one_line(entity_types: pa.Table, monkeypatch: pytest.MonkeyPatch) -> None:
    def problem(tagger: str, types: pa.Table) -> str:
        return str(privacy_tables.describe_recognisers(tagger, types).to_pylist()[0]["problem"])

    assert problem("spacy", entity_types) == "the tagger must be one of packaged, none, got 'spacy'"
    assert "must hold each of iban, card" in problem("none", entity_types.slice(1))
    monkeypatch.setattr(privacy_tables, "_TAGGER_LIBRARIES", ("no-such-library",))
    assert "the package 'no-such-library', which comes with hcat" in problem("packaged", entity_types)
    assert problem("none", entity_types) == "None"


def test_without_a_tagger_no_model_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise AssertionError("a model was loaded")

    monkeypatch.setattr("hcat.privacy.tagger.load_tagger", fail)
    found = privacy_tables.recognise_texts(texts((f"Your card is {CARD}.", False)), masked_types=["card"]).to_pylist()
    assert found[0]["masked_text"] == "Your card is ****6467."
    assert [(span["entity_type"], span["masked"]) for span in found[0]["spans"]] == [("card", "****6467")]
    assert CARD not in str(found)


def test_types_that_are_shown_have_places_and_no_mask() -> None:
    found = privacy_tables.recognise_texts(texts((f"Your card is {CARD}.", False)), masked_types=[]).to_pylist()[0]
    assert found["masked_text"] is None
    assert [(span["start"], span["end"], span["masked"]) for span in found["spans"]] == [(13, 32, None)]


def records(*texts: str) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist(
        [{"text_id": f"h{number}", "reading_key": "k", "text": text} for number, text in enumerate(texts)]
    )


def mask(*texts: str) -> list[str | None]:
    masked = privacy_tables.mask_records(records(*texts), masked_types=["card", "email", "reference", "phone"])
    assert masked.schema == privacy_tables.RECOGNISED_SCHEMA
    return masked.column("masked_text").to_pylist()


def test_a_masked_record_is_a_record_still() -> None:
    assert mask(
        '{"topic": "cards", "note": "call jane@example.org", "card": 4539148803436467}',
        '{"who": {"mail": ["a@b.org", "none"], "is_new": true}}',
        '{"jane@example.org": null}',
        '{"topic": "cards", "channel": "web", "count": 3, "ratio": 0.5, "is_new": false}',
    ) == [
        '{"topic": "cards", "note": "call [email]", "card": "****6467"}',
        '{"who": {"mail": ["[email]", "none"], "is_new": true}}',
        '{"[email]": null}',
        None,
    ]


def test_a_field_is_read_behind_its_name() -> None:
    assert mask('{"customer number": "48213377"}') == ['{"customer number": "****77"}']


def test_a_field_called_after_a_person_is_a_name() -> None:
    texts = (
        '{"customer_name": "bob jones", "channel": "app"}',
        '{"accountManager": "Nguyen"}',
        '{"lastName": "Okonkwo", "owners": ["Bob", "retail banking"]}',
        '{"customer": "retail", "product_name": "Clipper Gold Card", "name": "Grace Period", "owner": 7}',
        '{"contact": "jane@example.org"}',
    )
    masked = privacy_tables.mask_records(records(*texts), masked_types=["person", "email"])
    assert masked.column("masked_text").to_pylist() == [
        '{"customer_name": "[person]", "channel": "app"}',
        '{"accountManager": "[person]"}',
        '{"lastName": "[person]", "owners": ["[person]", "retail banking"]}',
        None,
        '{"contact": "[email]"}',
    ]


def test_only_objects_are_records() -> None:
    with pytest.raises(ValueError, match="must be a JSON object, got list"):
        mask("[1]")
