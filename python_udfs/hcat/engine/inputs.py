"""What a build reads, as digests: equal digests mean that another build would find what the last one found.

A digest is taken of content, never of a time: a file that was only touched is the same file.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any, Final, NamedTuple

import hcat
from hcat.engine.keys import hash_file
from hcat.engine.project import read_project
from hcat.engine.settings import ENVIRONMENT, read_vars
from hcat.engine.staging import find_project, read_variables

#: Settings that name a model: a folder on disk is read, anything else is a name with a pinned revision.
_MODELS: Final = ("encoder", "classifier", "tagger")
#: Environment variables that change no result, and those that are secret.
_WITHOUT_EFFECT: Final = frozenset(
    name for name in ENVIRONMENT if name.startswith(("HCAT_ALERT_", "HCAT_BENCHMARK_", "HCAT_LLM_API_KEY"))
) | {"HCAT_THREADS", "HCAT_MEMORY_LIMIT", "HCAT_PROCESSES", "HCAT_INTEGRATIONS_PYTHON", "HCAT_PRODUCERS_PYTHON"}
#: Folders of a dbt project that a build reads, by the setting that names them.
_FOLDERS: Final = {
    "model-paths": "models",
    "macro-paths": "macros",
    "seed-paths": "seeds",
    "test-paths": "tests",
    "snapshot-paths": "snapshots",
    "packages-install-path": "dbt_packages",
}
_FILES: Final = ("dbt_project.yml", "packages.yml", "dependencies.yml", "package-lock.yml", "profiles.yml", "vars.yml")
_SUFFIXES: Final = frozenset({".sql", ".yml", ".yaml", ".py", ".csv", ".md"})
_SKIPPED: Final = frozenset({"__pycache__", ".git", "target", "logs", ".venv"})

#: Part and name of an input -> its digest.
Digests = dict[tuple[str, str], str]


class Inputs(NamedTuple):
    """What a build reads.

    Parameters
    ----------
    digests : dict of (part, name) to str
        Digest of each input. Parts are in words: raw logs, project, settings, models, hcat, libraries.
    relations : sequence of str
        Tables and sources of the warehouse that take the place of files; their digest needs the warehouse.
    models : sequence of str
        Models of the project that take the place of files: only a build can tell what they hold.
    """

    digests: Digests
    relations: Sequence[str]
    models: Sequence[str]


def read_inputs(
    project: Path, arguments: Sequence[str], variables: str | None, environment: Mapping[str, str]
) -> Inputs:
    """Return what a build of a project would read.

    Parameters
    ----------
    project : Path
        Folder of the dbt project.
    arguments : sequence of str
        What the command line gives dbt besides vars.
    variables : str or None
        Vars of the command line, YAML.
    environment : mapping of str to str
        Environment variables.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "dbt_project.yml").write_text("name: own")
    ...     _ = Path(folder, "logs.jsonl").write_text("{}")
    ...     given = {"HCAT_RAW_LOGS": folder}
    ...     first = read_inputs(Path(folder), (), None, given)
    ...     _ = Path(folder, "more.jsonl").write_text("{}")
    ...     second = read_inputs(Path(folder), (), None, given)
    >>> name_changes(first.digests, second.digests)
    {'raw logs': ['more.jsonl']}
    """
    given = read_vars(variables)
    settings = read_variables(find_project(project), project) | given
    digests: Digests = {}
    demo = "demo/logs" if environment.get("HCAT_DEMO") == "1" else ""
    folder = environment.get("HCAT_RAW_LOGS") or settings.get("hcat_raw_logs") or demo
    if folder:
        digests |= {
            ("raw logs", name): hash_file(path) for name, path in _list_files(project / str(folder), every=True)
        }
    digests |= {("project", name): hash_file(path) for name, path in _list_project(project)}
    digests |= {
        ("settings", name): _hash(environment[name])
        for name in ENVIRONMENT
        if environment.get(name) and name not in _WITHOUT_EFFECT
    }
    digests[("settings", "--vars")] = _hash(json.dumps(given, sort_keys=True, default=str))
    digests[("settings", "command line")] = _hash(json.dumps(list(arguments)))
    for role in _MODELS:
        named = environment.get(f"HCAT_{role.upper()}") or settings.get(f"hcat_{role}")
        if named and Path(str(named)).is_dir():
            for name, path in _list_files(Path(str(named)), every=True):
                digests[("models", f"{named}/{name}")] = hash_file(path)
    digests[("hcat", "code")] = _hash_files(_list_files(Path(hcat.__file__).parent, every=True))
    own = find_project(project)
    if own != project:
        digests[("hcat", "models")] = _hash_files(_list_project(own))
    installed = sorted(f"{each.name} {each.version}" for each in metadata.distributions())
    digests[("libraries", "installed packages")] = _hash(json.dumps(installed))
    relations, models = _split_relations(settings.get("hcat_raw_relations") or {})
    return Inputs(digests, relations, models)


def name_changes(before: Digests, now: Digests) -> dict[str, list[str]]:
    """Return the names of inputs that are new, changed or gone, by part, in the order of parts."""
    changed: dict[str, list[str]] = {}
    for part, name in sorted(before.keys() | now.keys()):
        if before.get((part, name)) != now.get((part, name)):
            changed.setdefault(part, []).append(name)
    return changed


def _split_relations(named: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    relations, models = [], []
    for _, value in sorted(named.items()):
        if isinstance(value, Mapping) and "ref" in value:
            models.append(str(value["ref"]))
        elif isinstance(value, Mapping):
            relations.append(".".join(map(str, value.get("source") or ())))
        else:
            relations.append(str(value))
    return relations, models


def _list_project(project: Path) -> Iterator[tuple[str, Path]]:
    """Yield name and path of every file of a project that dbt reads."""
    settings = read_project(project)
    for name in _FILES:
        if (project / name).is_file():
            yield name, project / name
    for setting, default in _FOLDERS.items():
        value = settings.get(setting) or default
        # seeds of the demo stand behind an expression; the folder that holds them is a part of every project of hcat
        for folder in [value] if isinstance(value, str) else value:
            root = project / ("demo/seeds" if "{" in folder else folder)
            for name, path in _list_files(root):
                yield f"{root.relative_to(project).as_posix()}/{name}", path


def _list_files(folder: Path, *, every: bool = False) -> Iterator[tuple[str, Path]]:
    """Yield name and path of the files of a folder in order; without ``every`` those that dbt reads."""
    for path in sorted(folder.rglob("*")):
        relative = path.relative_to(folder)
        is_hidden = any(part in _SKIPPED or part.startswith(".") for part in relative.parts)
        if path.is_file() and not is_hidden and (every or path.suffix in _SUFFIXES):
            yield relative.as_posix(), path


def _hash_files(files: Iterable[tuple[str, Path]]) -> str:
    return _hash("\n".join(f"{hash_file(path)} {name}" for name, path in files))


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
