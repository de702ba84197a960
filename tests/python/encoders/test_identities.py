"""The models of a build: what their names mean, what their keys cover, and how a fault is said."""

import csv
import json

import pyarrow as pa
import pytest
from builds import REPOSITORY

from hcat.encoders import identities, mpnet
from hcat.encoders.classifier_heads import load_card
from hcat.encoders.identities import (
    CASCADE,
    SHIPPED,
    ModelIdentity,
    describe_models,
    resolve_classifier,
    resolve_encoder,
    resolve_part,
    resolve_text_classifier,
)
from hcat.engine.devices import MINILM, PACKAGED_SHA256, ModelError

COMPACT = SHIPPED["compact"]
SETTINGS = {
    "encoder": "hashing:8",
    "classifier": "none",
    "toxicity": "some/model",
    "sentiment": "none",
    "tagger": "none",
    "device": "cpu",
}


def embeds(location: str = "packaged", sha256: str = "") -> ModelIdentity:
    return ModelIdentity(
        "k", "n", "1", sha256 or load_card("toxicity_head")[0]["encoder_sha256"], "cpu", "float32", location
    )


def describe(**settings: str) -> list[dict[str, object]]:
    with (REPOSITORY / "seeds" / "privacy_entity_types.csv").open(encoding="utf-8", newline="") as lines:
        entity_types = pa.Table.from_pylist([row | {"is_masked": False} for row in csv.DictReader(lines)])
    rows: list[dict[str, object]] = describe_models(SETTINGS | settings, entity_types).to_pylist()
    return rows


def test_each_model_has_a_row_and_a_fault_names_its_own() -> None:
    rows = describe()
    assert [(row["part"], row["purpose"]) for row in rows] == [
        ("encoder", None),
        ("classifier", None),
        ("text classifier", "toxicity"),
        ("text classifier", "sentiment"),
        ("reading heads", None),
        ("recognisers of personal data", None),
    ]
    assert [row["purpose"] for row in rows if row["problem"]] == ["toxicity"]
    assert ModelIdentity.from_row(rows[1]) == resolve_classifier("none", "cpu")


def test_both_text_classifiers_have_one_key() -> None:
    rows = describe(toxicity="packaged", sentiment="none")[2:4]
    assert rows[0]["model_key"] == rows[1]["model_key"]
    assert rows[0]["model_key"] != describe(toxicity="none")[2]["model_key"]


def test_without_the_base_the_compact_classifier_reads_alone_and_one_line_says_so(monkeypatch, capsys) -> None:
    monkeypatch.setattr(mpnet, "PACKAGES", ("no-such-part-001",))
    row = describe(classifier=CASCADE)[1]
    assert (row["model_name"], row["location"], row["problem"]) == ("hcat-entailment-compact", "compact", None)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1
    assert "the base of the accurate classifier is not installed" in lines[0]


@pytest.mark.parametrize(
    ("resolve", "message"),
    [
        (lambda: resolve_encoder("someone/model"), "'someone/model' is no folder and none of .*, org/model@commit$"),
        (lambda: resolve_encoder("someone/model@main"), "org/model@commit"),
        (lambda: resolve_encoder("pakcaged"), "org/model@commit; did you mean packaged\\?"),
        (lambda: resolve_encoder("hashing:many"), "must be hashing:<dimensions>, for instance hashing:32"),
        (lambda: resolve_encoder("packaged", "cpu", "float16"), "auto, float32 or bfloat16, got 'float16'"),
        (lambda: resolve_classifier("someone/model"), "none of cascade, compact, accurate, none; .*org/model@commit"),
        (
            lambda: resolve_text_classifier("toxicity", "a/model", embeds()),
            "toxicity classifier 'a/model' is no folder",
        ),
    ],
)
def test_faulty_names_are_told_what_there_is(resolve, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        resolve()


def test_the_commit_of_a_model_of_the_hub_is_part_of_its_name() -> None:
    for found in (
        resolve_encoder("some/model@abc1234"),
        resolve_classifier("some/model@abc1234"),
        resolve_text_classifier("sentiment", "some/model@abc1234", embeds()),
    ):
        assert (found.name, found.revision, found.location) == ("some/model", "abc1234", "some/model")
    assert resolve_encoder("some/model@abc1234").key != resolve_encoder("some/model@abc1235").key


def test_the_encoder_decides_where_a_head_reads_its_vectors() -> None:
    def where(encoder: ModelIdentity, name: str = "packaged") -> str:
        return resolve_text_classifier("toxicity", name, encoder, "cpu").location

    assert where(embeds()) == "stored"
    assert where(embeds("other/model", "0")) == "encoded"
    assert where(embeds("hashing:32", "0")) == "hashing"
    assert where(embeds(), "none") == "none"


@pytest.mark.parametrize(
    ("resolve", "package"),
    [
        (lambda: resolve_encoder("packaged", "cpu"), "MINILM"),
        (lambda: resolve_text_classifier("toxicity", "packaged", embeds(), "cpu"), "MINILM"),
        (lambda: resolve_text_classifier("sentiment", "packaged", embeds(), "cpu"), "MINILM"),
        (lambda: resolve_text_classifier("sentiment", "packaged", embeds(), "cpu"), "NAMES"),
    ],
)
def test_the_key_covers_all_files_that_are_read(monkeypatch, resolve, package: str) -> None:
    first = resolve()
    monkeypatch.setattr(identities, "check_package", lambda package: None)
    monkeypatch.setattr(identities, package, getattr(identities, package)._replace(sha256="0" * 64))
    assert resolve().key != first.key
    # a decision names the weights alone
    assert resolve().sha256 == first.sha256


def test_the_key_covers_precision_and_the_packaged_weights_are_pinned() -> None:
    keys = {resolve_encoder("packaged", "cpu", dtype).key for dtype in ("float32", "bfloat16")}
    assert len(keys) == 2
    assert resolve_encoder("packaged", "cpu").sha256 == PACKAGED_SHA256
    assert MINILM.sha256 != PACKAGED_SHA256


def test_a_local_folder_needs_weights(tmp_path) -> None:
    with pytest.raises(ModelError, match="holds no"):
        resolve_encoder(str(tmp_path))


@pytest.mark.parametrize("file", ["model.safetensors", "tokenizer.json", "1_Pooling/config.json", "added_tokens.json"])
def test_every_file_of_a_local_folder_is_part_of_the_key(tmp_path, file: str) -> None:
    (tmp_path / "1_Pooling").mkdir()
    for name in ("model.safetensors", "tokenizer.json", "1_Pooling/config.json"):
        (tmp_path / name).write_bytes(b"first")
    first = resolve_encoder(str(tmp_path), "cpu")
    (tmp_path / file).write_bytes(b"second")
    second = resolve_encoder(str(tmp_path), "cpu")
    assert second.key != first.key
    assert second.sha256 != first.sha256


@pytest.mark.parametrize(
    ("device", "is_able", "dtype"), [("auto", 1, "bfloat16"), ("auto", 0, "float32"), ("cpu", 1, "float32")]
)
def test_the_second_reader_alone_takes_bfloat16_where_it_is_fast(monkeypatch, device, is_able, dtype) -> None:
    monkeypatch.setattr(identities, "multiplies_bfloat16", lambda: is_able)
    monkeypatch.setattr(identities, "choose_device", {"auto": "cpu", "cpu": "cpu"}.get)
    whole = resolve_classifier("cascade", device)
    parts = [resolve_part.__wrapped__(whole, part) for part in ("compact", "accurate")]
    assert [whole.dtype, *(part.dtype for part in parts)] == [dtype, "float32", dtype]
    assert resolve_classifier("compact", device).dtype == "float32"


def test_another_delta_is_refused(tmp_path, monkeypatch) -> None:
    (tmp_path / "delta.safetensors").write_bytes(b"other")
    (tmp_path / "card.json").write_text(json.dumps({"revision": "1", "labels": [], "delta_sha256": "0" * 64}))
    monkeypatch.setitem(SHIPPED, "compact", COMPACT._replace(folder=tmp_path))
    with pytest.raises(ModelError, match="delta must have SHA-256 000"):
        resolve_classifier("compact")


def test_the_key_covers_all_files_of_base_and_delta(tmp_path, monkeypatch) -> None:
    first = resolve_classifier("compact", "cpu")
    monkeypatch.setitem(SHIPPED, "compact", COMPACT._replace(base_files="0" * 64))
    other_base = resolve_classifier("compact", "cpu")
    for name in ("delta.safetensors", "card.json"):
        (tmp_path / name).write_bytes((COMPACT.folder / name).read_bytes())
    card = json.loads((tmp_path / "card.json").read_text()) | {"labels": ["neutral", "entailment", "contradiction"]}
    (tmp_path / "card.json").write_text(json.dumps(card))
    monkeypatch.setitem(SHIPPED, "compact", COMPACT._replace(folder=tmp_path))
    other_card = resolve_classifier("compact", "cpu")
    assert len({identity.key for identity in (first, other_base, other_card)}) == 3
    assert len({identity.sha256 for identity in (first, other_base, other_card)}) == 1
