"""Packages of models and lists: any other file is refused in one line, before code of the package runs."""

import os
import subprocess
import sys
from importlib import util
from pathlib import Path

import pytest

from hcat.engine.devices import (
    LANGUAGES,
    MINILM,
    NAMES,
    TAGGER,
    ModelError,
    PinnedPackage,
    check_package,
    packaged_folder,
)
from hcat.engine.keys import hash_folder


def copy_package(package: PinnedPackage, folder: Path) -> Path:
    """Copy a package below a folder, with links to its large files, and return the folder of its model."""
    spec = util.find_spec(package.module)
    assert spec is not None
    source = Path(next(iter(spec.submodule_search_locations or ())))
    for path in sorted(source.rglob("*")):
        target = folder / package.module / path.relative_to(source)
        if path.is_dir():
            target.mkdir(parents=True, exist_ok=True)
        elif "__pycache__" not in path.parts:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.symlink_to(path)
    return folder / package.module / package.folder


def replace_file(path: Path, content: bytes) -> None:
    """Write a file of a copied package in place of its link."""
    path.unlink(missing_ok=True)
    path.write_bytes(content)


@pytest.mark.parametrize("package", [MINILM, TAGGER, NAMES, LANGUAGES], ids=lambda package: package.module)
def test_a_copy_is_as_good_as_the_package(
    package: PinnedPackage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = copy_package(package, tmp_path)
    (folder / "__pycache__").mkdir(exist_ok=True)
    (folder / "__pycache__" / "main.cpython-311.pyc").write_bytes(b"bytecode")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, package.module, raising=False)
    assert check_package(package) == folder


@pytest.mark.parametrize(
    ("package", "file"),
    [
        (MINILM, "1_Pooling/config.json"),
        (MINILM, "added_tokens.json"),
        (TAGGER, "ner/model"),
        (NAMES, "dist.all.last"),
        (LANGUAGES, "langid.py"),
    ],
    ids=lambda value: value if isinstance(value, str) else value.module,
)
def test_another_file_is_refused(
    package: PinnedPackage, file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = copy_package(package, tmp_path)
    replace_file(folder / file, b"{}")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, package.module, raising=False)
    with pytest.raises(ModelError) as refused:
        check_package(package)
    found = hash_folder(tmp_path / package.module)
    assert str(refused.value) == (
        f"the files of the Python package {package.module} must have SHA-256 {package.sha256} as a whole, got {found}: "
        "install the package again from a source you trust"
    )


def test_a_package_that_is_not_there_is_named() -> None:
    with pytest.raises(ModelError, match="no folder of the Python package no_such_package was found"):
        check_package(PinnedPackage("no_such_package", ""))


@pytest.mark.parametrize(
    ("package", "code"),
    [
        (MINILM, "from hcat.encoders.identities import resolve_encoder; resolve_encoder('packaged', 'cpu')"),
        (MINILM, "from hcat.encoders.identities import resolve_classifier; resolve_classifier('compact', 'cpu')"),
        (TAGGER, "from hcat.privacy.tagger import load_tagger; load_tagger()"),
        (TAGGER, "from hcat.topics.phrases import _tag; _tag(['a fee'])"),
        (NAMES, "from hcat.language.given_names import given_names; given_names()"),
        (
            LANGUAGES,
            "import pyarrow as pa; from hcat.language.identification import identify_languages\n"
            "identify_languages(pa.RecordBatch.from_pydict({'passage_id': ['p'], 'passage_text': ['What is it?']}))",
        ),
    ],
)
def test_a_package_is_refused_before_its_code_runs(package: PinnedPackage, code: str, tmp_path: Path) -> None:
    mark = tmp_path / "code_ran"
    copy_package(package, tmp_path)
    start = tmp_path / package.module / "__init__.py"
    replace_file(start, start.read_bytes() + f"\nopen({str(mark)!r}, 'w').close()\n".encode())
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert f"ModelError: the files of the Python package {package.module} must have" in done.stderr
    assert not mark.exists()


def test_the_files_are_hashed_once_per_process(monkeypatch: pytest.MonkeyPatch) -> None:
    folder = packaged_folder()
    monkeypatch.setattr("hcat.engine.keys.hash_file", lambda path: pytest.fail("a file was read again"))
    assert packaged_folder() == folder


def test_every_file_of_a_folder_is_in_its_digest(tmp_path: Path) -> None:
    (tmp_path / "model" / "1_Pooling").mkdir(parents=True)
    for name in ("config.json", "1_Pooling/config.json"):
        (tmp_path / "model" / name).write_text(name)
    (tmp_path / "linked").symlink_to(tmp_path / "model")
    digest = hash_folder(tmp_path / "model")
    assert hash_folder(tmp_path / "linked") == digest
    (tmp_path / "model" / "1_Pooling" / "config.json").rename(tmp_path / "model" / "pooling.json")
    assert hash_folder(tmp_path / "model") != digest
