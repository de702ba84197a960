"""The models of a build stand in one table, and a fault of one of them is said in its row."""

import csv

import pyarrow as pa
from builds import REPOSITORY

from hcat.encoders.identities import describe_models

SETTINGS = {
    **dict.fromkeys(("encoder_revision", "classifier_revision", "toxicity_revision", "sentiment_revision"), ""),
    "encoder": "hashing:8",
    "classifier": "none",
    "toxicity": "some/model",
    "sentiment": "none",
    "tagger": "none",
    "device": "cpu",
    "dtype": "float32",
}


def test_each_model_has_a_row_and_a_fault_names_its_own() -> None:
    with (REPOSITORY / "seeds" / "privacy_entity_types.csv").open(encoding="utf-8", newline="") as lines:
        entity_types = pa.Table.from_pylist([row | {"is_masked": False} for row in csv.DictReader(lines)])
    rows = describe_models(SETTINGS, entity_types).to_pylist()
    assert [(row["part"], row["purpose"]) for row in rows] == [
        ("encoder", None),
        ("classifier", None),
        ("text classifier", "toxicity"),
        ("text classifier", "sentiment"),
        ("recognisers of personal data", None),
    ]
    assert [row["purpose"] for row in rows if row["problem"]] == ["toxicity"]
    assert [row["part"] for row in rows if row["encoder_key"]] == ["encoder"]
