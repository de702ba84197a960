"""The order between rooms: what models refer to, what modules import, and where tests and descriptions stand."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from builds import REPOSITORY
from rooms import FOLDERS, PACKAGES, ROOMS
from test_budgets import count_path_to

MODELS = REPOSITORY / "models"
PACKAGE = REPOSITORY / "python_udfs" / "hcat"
MAXIMUM_MODELS = 20
MAXIMUM_LINES = 700

#: (model, layer or room that it reads although the rules below forbid it) -> the reason.
LAYER_EXCEPTIONS = {
    ("int_records_counted", "base"): "only the count of records looks below staging",
    ("int_records_counted", "landed"): "only the count of records looks below staging",
    ("dim_runs", "landed"): "the ledger hashes what landed",
    (
        "int_target_evaluations",
        "analysis/segments",
    ): "calibrators are fitted by segment, and segments are values of facts",
}

#: Rooms whose models other projects may read, because own metrics are made of them (docs/own-metrics.md).
ROOMS_FOR_OWN_METRICS = {"landing", "staging", "scoring"}
#: Models that only the test of a shipped seed reads from outside. It has no group, and a build leaves it out.
READ_BY_SEEDS = {"int_analysis_dimensions"}

#: Modules above the limit, each with the reason.
LONG_MODULES = {"language/verbalisation.py": "one idea: JSON and tables become sentences"}

#: Who hands results to people. They read marts and seeds, so that other models can be merged freely.
READERS = ("collection", "report", "explorer", "review", "monitoring", "command_options", "cli", "test_set/export")
#: Other models that a reader names -> the reason.
READ_BY_READERS = {
    "base_": "records as they were sent: a mart holds no text with private data, and no rating without a point",
    "int_interactions_sampled_for_review": "the draw of a round, which is kept and belongs to raters alone",
    "int_interaction_segments": "a dimension of one's own is a value of a relation that may read the facts",
    "int_records_counted": "records that landed belong to no interaction",
    "int_test_queries": "what is asked must stand as it was made, and marts are masked",
    "int_test_variants": "what is asked must stand as it was made, and marts are masked",
    "stg_rejected_records": "a rejected record belongs to no interaction, and its excerpt is raw",
}

#: Layers by the prefix of a name: what a model of it may read. Marts and intermediate models read each other.
LAYERS = {
    "raw": set(),
    "landed": {"raw"},
    "base": {"landed", "base", "seed"},
    "stg": {"base", "stg"},
    "int": {"stg", "int", "mart", "seed"},
    "mart": {"stg", "int", "mart", "seed"},
    "published": {"mart", "published", "seed"},
    "semantic": {"mart"},
}
_MARTS = ("dim", "fct", "gate")
_SEMANTIC = ("semantic", "time")


def layer_of(node: dict[str, Any]) -> str:
    """Return the layer of a model or seed by its name."""
    if node["resource_type"] == "seed":
        return "seed"
    prefix = node["name"].split("_")[0]
    return "mart" if prefix in _MARTS else "semantic" if prefix in _SEMANTIC else prefix


def folder_of(node: dict[str, Any]) -> str:
    return Path(node["original_file_path"]).parent.relative_to("models").as_posix()


def references(manifest: dict[str, Any]) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Yield every model with every model or seed that it refers to."""
    for node in manifest["nodes"].values():
        if node["resource_type"] == "model" and node["package_name"] == "hcat":
            for parent in node["depends_on"]["nodes"]:
                yield node, manifest["nodes"][parent]


def imports(path: Path) -> set[str]:
    """Return the modules of hcat that a module imports, as paths below the package."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "hcat":
            for alias in node.names:
                whole = f"{node.module}.{alias.name}".split(".")[1:]
                is_module = PACKAGE.joinpath(*whole).with_suffix(".py").exists() or PACKAGE.joinpath(*whole).is_dir()
                found.add("/".join(whole if is_module else node.module.split(".")[1:]))
    return found - {""}


def test_models_refer_to_their_own_room_or_an_earlier_one(manifest: dict[str, Any]) -> None:
    order = {folder: position for position, folder in enumerate(FOLDERS)}
    wrong = [
        (model["name"], parent["name"])
        for model, parent in references(manifest)
        if parent["resource_type"] == "model"
        and order[folder_of(parent)] > order[folder_of(model)]
        and (model["name"], folder_of(parent)) not in LAYER_EXCEPTIONS
    ]
    assert wrong == []


def test_models_follow_the_layers(manifest: dict[str, Any]) -> None:
    wrong = [
        (model["name"], parent["name"])
        for model, parent in references(manifest)
        if layer_of(parent) not in LAYERS[layer_of(model)] and (model["name"], layer_of(parent)) not in LAYER_EXCEPTIONS
    ]
    assert wrong == []


def test_exceptions_are_few_and_none_is_left_over(manifest: dict[str, Any]) -> None:
    needed = {
        (model["name"], place)
        for model, parent in references(manifest)
        for place in (layer_of(parent), folder_of(parent) if parent["resource_type"] == "model" else "seed")
    }
    assert set(LAYER_EXCEPTIONS) - needed == set()
    assert len(LAYER_EXCEPTIONS) <= 7


def test_rooms_are_groups_with_owners(manifest: dict[str, Any]) -> None:
    groups = {group["name"]: group for group in manifest["groups"].values()}
    rooms = {room.name: room.question for room in ROOMS if room.folders}
    assert {name: group["description"] for name, group in groups.items()} == rooms
    assert all(group["owner"]["name"] for group in groups.values())
    models = [node for node in manifest["nodes"].values() if node["resource_type"] == "model"]
    assert [node["name"] for node in models if node["group"] != folder_of(node).split("/")[0]] == []


def test_access_is_as_narrow_as_readers_allow(manifest: dict[str, Any]) -> None:
    nodes = manifest["nodes"]
    models = {key: node for key, node in nodes.items() if node["resource_type"] == "model"}
    public = {
        node["name"]
        for node in models.values()
        if layer_of(node) == "semantic" or re.match(r"(?:dim|fct)_", node["name"])
    }
    assert {node["name"] for node in models.values() if node["access"] == "public"} == public
    readers: dict[str, set[str | None]] = {}
    for node in nodes.values():
        for parent in node.get("depends_on", {}).get("nodes", []):
            readers.setdefault(parent, set()).add(node.get("group"))
    for key, node in models.items():
        if node["name"] in public:
            continue
        if node["group"] in ROOMS_FOR_OWN_METRICS:
            assert node["access"] == "protected", node["name"]
        elif node["name"] not in READ_BY_SEEDS:
            # a reader of another room needs the model, and dbt refuses it a private one
            is_shared = bool(readers.get(key, set()) - {node["group"]})
            assert node["access"] == ("protected" if is_shared else "private"), node["name"]


def test_every_model_stands_in_a_room_of_at_most_twenty() -> None:
    count = Counter(
        path.parent.relative_to(MODELS).as_posix()
        for path in MODELS.rglob("*")
        if path.suffix in (".sql", ".py") and not path.stem.endswith("__rejected")
    )
    assert set(count) == set(FOLDERS)
    assert {folder: models for folder, models in count.items() if models > MAXIMUM_MODELS} == {}


def test_readers_read_marts_but_for_exceptions_none_of_which_is_left_over() -> None:
    models = {path.stem for path in MODELS.rglob("*") if path.suffix in (".sql", ".py")}
    private = {name for name in models if name.split("_")[0] in ("raw", "landed", "base", "stg", "int")}
    named = set()
    for reader in READERS:
        for path in sorted([*(PACKAGE / reader).rglob("*"), (PACKAGE / reader).with_suffix(".py")]):
            if path.is_file() and path.suffix in (".py", ".j2", ".sql"):
                words = set(re.findall(r"[a-z_{}]+", path.read_text(encoding="utf-8")))
                named |= {"base_" if word.startswith("base_") else word for word in words & private}
                named |= words & set(READ_BY_READERS)
    assert named == set(READ_BY_READERS)


def test_modules_import_their_own_package_or_an_earlier_one() -> None:
    order = {package: position for position, package in enumerate(PACKAGES)}
    wrong = []
    for path in sorted(PACKAGE.rglob("*.py")):
        own = path.relative_to(PACKAGE).with_suffix("").parts[0]
        if own == "__init__":
            continue
        later = {name for name in imports(path) if order[name.split("/")[0]] > order[own]}
        wrong += [(path.relative_to(PACKAGE).as_posix(), name) for name in sorted(later)]
    assert wrong == []
    assert {path.name.removesuffix(".py") for path in PACKAGE.iterdir() if path.suffix in ("", ".py")} - {
        "__init__",
        "__pycache__",
    } == set(PACKAGES)


def test_no_module_imports_itself_by_way_of_others() -> None:
    names = {path.relative_to(PACKAGE).with_suffix("").as_posix(): path for path in PACKAGE.rglob("*.py")}
    graph = {name: {other for other in imports(path) if other in names} for name, path in names.items()}
    # leave out what imports nothing that is left, until nothing changes: what remains lies on a cycle
    while free := {name for name, others in graph.items() if not others}:
        graph = {name: others - free for name, others in graph.items() if name not in free}
    assert sorted(graph) == []


def test_modules_have_at_most_seven_hundred_lines() -> None:
    long = {
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py")
        if len(path.read_text(encoding="utf-8").splitlines()) > MAXIMUM_LINES
    }
    assert long == set(LONG_MODULES)
    assert len(LONG_MODULES) <= 4


def test_tests_and_descriptions_stand_in_the_rooms() -> None:
    singular = {
        path.parent.relative_to(REPOSITORY / "tests" / "singular").as_posix()
        for path in (REPOSITORY / "tests" / "singular").rglob("*.sql")
    }
    rooms = {parent.as_posix() for folder in FOLDERS for parent in (Path(folder), *Path(folder).parents)}
    assert singular - rooms == set()
    python = {path.name for path in (REPOSITORY / "tests" / "python").iterdir() if path.is_dir()}
    assert python - set(PACKAGES) - {"benchmarks", "training", "__pycache__"} == set()
    for folder in FOLDERS:
        leaf = folder.split("/")[-1]
        for path in (MODELS / folder).glob("*.yml"):
            if folder.split("/")[0] not in ("staging", "semantic"):
                assert path.name in (f"_{leaf}.yml", f"_{leaf}_unit_tests.yml"), path
            here = {file.stem for file in (MODELS / folder).iterdir() if file.suffix in (".sql", ".py")}
            text = re.sub(r"(?s)^unit_tests:.*", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
            described = (yaml.safe_load(text) or {}).get("models", [])
            assert {model["name"] for model in described} - here == set(), path


def test_the_page_of_the_architecture_counts_the_longest_paths(manifest: dict[str, Any]) -> None:
    evaluations, gates = (
        count_path_to(manifest, f"model.hcat.{mart}") for mart in ("fct_evaluations", "fct_threshold_gates")
    )
    page = (REPOSITORY / "docs" / "architecture.md").read_text(encoding="utf-8")
    assert f"to `fct_evaluations` has {evaluations} models, to `fct_threshold_gates` {gates}." in page


def test_the_page_of_the_architecture_shows_the_rooms() -> None:
    page = (REPOSITORY / "docs" / "architecture.md").read_text(encoding="utf-8")
    rows = [line for line in page.splitlines() if line.startswith("| **")]
    shown = [tuple(re.sub(r"[*`]", "", cell).strip() for cell in row.strip("|").split("|")[:4]) for row in rows]
    expected = []
    for room in ROOMS:
        leaves = ", ".join(folder.removeprefix(f"{room.name}/") for folder in room.folders)
        expected.append((room.name, room.question, leaves or "-", ", ".join(room.packages) or "-"))
    assert shown == expected
