"""What hcat is made of: allowed licences, a page that says so, and models that bring neither code nor pickles."""

import ast
import json
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from builds import REPOSITORY
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from hcat.encoders import mpnet
from supply_chain import advisories, install, licences, materials
from supply_chain.__main__ import main
from supply_chain.closure import LOCKS, Package, find_closure, read_pins

#: Folders of Python that a build, a benchmark or a training runs.
CODE = ("python_udfs", "models", "benchmarks", "training", "examples", "demo")
#: The one module that unpickles: Spark's tasks hand batches to each other that the same build has pickled.
PICKLES = {"python_udfs/hcat/engine/relations.py"}


def calls() -> Iterator[tuple[str, str, ast.Call]]:
    """Yield every call of the code with its file and the name that is called, the part before its last dot included."""
    for folder in CODE:
        for path in sorted((REPOSITORY / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Call):
                    yield path.relative_to(REPOSITORY).as_posix(), ast.unparse(node.func), node


@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="the page lists what Python 3.11 needs")
def test_the_page_of_dependencies_is_that_of_the_installed_packages() -> None:
    assert licences.PAGE.read_text(encoding="utf-8") == licences.render_page(), (
        "run python -m supply_chain licences --write"
    )


def test_every_package_is_pinned_and_has_an_allowed_licence() -> None:
    packages = find_closure(("dev", "spark"))
    assert licences.find_problems(packages.values()) == []
    assert {*find_closure()} - {*read_pins()} == set()


@pytest.mark.parametrize("stated", ["", "GPL-3.0-only", "MIT AND SSPL-1.0"])
def test_another_licence_fails(
    stated: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("supply_chain.__main__.find_closure", lambda extras: {"one": Package("one", "1.0", stated)})
    assert main(["licences"]) == 1
    assert capsys.readouterr().out.startswith(f"one 1.0 has the licence {stated or '(none stated)'}: ")


def test_a_known_vulnerability_fails_and_a_silent_service_is_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found = {"id": "PYSEC-1", "fix_versions": ["9.9"]}
    answers = [
        [{"name": "numpy", "version": "1.0", "vulns": []}],
        [{"name": "one", "version": "1.0", "vulns": [found]}],
    ]
    monkeypatch.setattr(advisories, "_ask", lambda pins: answers.pop(0))
    assert main(["advisories"]) == 1
    assert capsys.readouterr().out == "one 1.0: PYSEC-1, fixed in 9.9\n"
    monkeypatch.setattr(advisories, "_ask", lambda pins: [{"name": "numpy", "skip_reason": "not found"}])
    for words, code in ((["advisories"], 0), (["advisories", "--required"], 1)):
        assert main(words) == code
        assert capsys.readouterr().out == "advisories: could not be asked (the index here keeps no advisories)\n"


@pytest.mark.parametrize("has_uv", [True, False])
def test_everything_that_make_installs_is_locked_by_digest(monkeypatch: pytest.MonkeyPatch, has_uv: bool) -> None:
    commands: list[list[str]] = []

    def watch(what: str, command: list[str], *given: object, is_optional: bool = False) -> int:
        commands.append(command)
        return int(command[0].endswith("uv") and not has_uv)

    monkeypatch.setattr(install, "watch", watch)
    monkeypatch.setattr(install, "read_settings", lambda python, environment: {})
    for step in ("run", "dev", "spark", "sbom"):
        assert install.main([step]) == 0
    installs = [command for command in commands if "install" in command]
    # hcat itself is the one thing without a digest
    assert [command[-2:] for command in installs if "--require-hashes" not in command] == [
        ["--editable", str(REPOSITORY)]
    ] * (1 if has_uv else 2)
    assert all("--no-deps" in command for command in installs)
    named = {Path(word).stem for command in installs for word in command if word.endswith(".txt")}
    assert named >= {path.stem for path in LOCKS.glob("*.txt")} - {"extras", "cpu", "cuda"}


def test_uv_asks_the_indexes_that_pip_is_set_up_with(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_EXTRA_INDEX_URL", "https://one.example/simple https://two.example/simple")
    found = install.read_settings(sys.executable, {"UV_FIND_LINKS": "/wheels"})
    assert found["UV_INDEX"] == "https://one.example/simple https://two.example/simple"
    assert "UV_FIND_LINKS" not in found


@pytest.mark.parametrize("path", sorted(LOCKS.glob("*.txt")), ids=lambda path: path.stem)
def test_a_lock_holds_versions_and_digests_and_no_address(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    package = r"[a-z0-9-]+==[\w.+]+(?: \\\n    --hash=sha256:[0-9a-f]{64})+\n"
    assert re.fullmatch(rf"# made by python -m supply_chain lock\n(?:{package})+", text)


def test_the_lock_satisfies_what_the_project_asks_for() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
    extras = project["project"]["optional-dependencies"]
    asked = {
        ("build",): project["build-system"]["requires"],
        ("build", "run", "cuda"): project["project"]["dependencies"],
        ("build", "run", "dev"): extras["dev"],
        ("build", "run", "dev", "spark"): extras["spark"],
        ("build", "run", "dev", "spark", "extras"): [
            text for name, texts in extras.items() if name not in ("dev", "spark") for text in texts
        ],
        ("uv",): ["uv"],
        ("mpnet",): mpnet.PACKAGES,
        ("sbom",): ["cyclonedx-bom"],
    }
    for steps, texts in asked.items():
        pins = read_pins(*steps)
        for requirement in map(Requirement, texts):
            version = pins.get(canonicalize_name(requirement.name), "")
            assert requirement.specifier.contains(version), f"{requirement} in {steps}: run python -m supply_chain lock"


def test_the_bill_of_materials_names_packages_and_weights(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["sbom", "--output", str(tmp_path / "dist" / "sbom.json")]) == 0
    text = (tmp_path / "dist" / "sbom.json").read_text(encoding="utf-8")
    bill = json.loads(text)
    assert (bill["bomFormat"], bill["metadata"]["component"]["name"]) == ("CycloneDX", "hcat-eval")
    names = {component["name"] for component in bill["components"]}
    assert {"duckdb", "torch", "all-MiniLM-L6-v2", "entailment_compact"} <= names
    assert not names & {"pytest", "ruff"}
    assert str(REPOSITORY) not in text
    assert capsys.readouterr().out.startswith(f"sbom: {len(bill['components'])} components in ")
    assert all(len(weights["hashes"][0]["content"]) == 64 for weights in materials.list_weights())


def test_no_model_is_loaded_with_code_of_its_own() -> None:
    loading = [
        (path, node)
        for path, name, node in calls()
        if path.startswith("python_udfs/hcat/") and (name.endswith(".from_pretrained") or name == "SentenceTransformer")
    ]
    assert len(loading) == 4
    for path, node in loading:
        given = {keyword.arg: ast.unparse(keyword.value) for keyword in node.keywords}
        assert given.get("trust_remote_code") == "False", f"{path}:{node.lineno}"
    # and nowhere else either, benchmarks and training included
    for path, _, node in calls():
        for keyword in node.keywords:
            if keyword.arg == "trust_remote_code":
                assert ast.unparse(keyword.value) == "False", f"{path}:{node.lineno}"


def test_weights_of_models_are_read_from_safetensors() -> None:
    readers = {"AutoModelForSequenceClassification.from_pretrained", "getattr(transformers, kind).from_pretrained"}
    found = [node for _, name, node in calls() if name in readers or name == "SentenceTransformer"]
    models = [node for node in found if "trust_remote_code" in {keyword.arg for keyword in node.keywords}]
    assert len(models) == 2
    assert all("weight_options()" in ast.unparse(node) for node in models)


def test_nothing_reads_a_pickle_of_somebody_else() -> None:
    for path, name, node in calls():
        given = {keyword.arg: ast.unparse(keyword.value) for keyword in node.keywords}
        if name == "torch.load":
            assert given.get("weights_only") == "True", f"{path}:{node.lineno}"
        if name in ("np.load", "numpy.load"):
            assert given.get("allow_pickle", "False") == "False", f"{path}:{node.lineno}"
        assert name not in ("pickle.load", "pickle.loads", "joblib.load", "dill.loads") or path in PICKLES, path
