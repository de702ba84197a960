"""What a build reads, as digests: equal digests mean that another build would find what the last one found.

A digest is taken of content, never of a time: a file that was only touched is the same file.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any, Final, NamedTuple

import hcat
from hcat.engine.keys import hash_file
from hcat.engine.project import find_raw_logs, is_own_project, read_project, render_setting
from hcat.engine.settings import ENVIRONMENT, read_vars
from hcat.engine.staging import find_project, read_variables

#: Settings that name a model: a folder on disk is read, anything else is a name with a pinned revision.
_MODELS: Final = ("encoder", "classifier", "tagger")
#: Environment variables that change no result, and those that are secret.
_WITHOUT_EFFECT: Final = frozenset(
    name for name in ENVIRONMENT if name.startswith(("HCAT_ALERT_", "HCAT_BENCHMARK_", "HCAT_LLM_API_KEY"))
) | {
    "HCAT_THREADS", "HCAT_MEMORY_LIMIT", "HCAT_PROCESSES", "HCAT_ONLY_CHANGED", "HCAT_KEEPS_COPIES",
    "HCAT_TESTS_ALL",
    "HCAT_INTEGRATIONS_PYTHON", "HCAT_PRODUCERS_PYTHON",
}  # fmt: skip
#: Arguments of dbt that change what it prints or where it writes, and whether each takes a value.
_ARGUMENTS_WITHOUT_EFFECT: Final = {
    "--quiet": False, "-q": False, "--debug": False, "-d": False, "--no-use-colors": False, "--no-print": False,
    "--log-path": True, "--log-level": True, "--log-level-file": True, "--log-format": True, "--log-format-file": True,
    "--log-file-max-bytes": True, "--target-path": True, "--threads": True,
}  # fmt: skip
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

#: Settings that bring scores which digests of the logs do not cover.
_OTHER_SCORES: Final = ("hcat_own_metrics", "hcat_judge")
#: Parts of the inputs that hold logs.
_LOGS: Final = frozenset({"raw logs", "tables"})

#: Part and name of an input -> its digest.
Digests = dict[tuple[str, str], str]
_File = tuple[str, Path]


class Inputs(NamedTuple):
    """What a build reads, tables of the warehouse apart.

    Parameters
    ----------
    digests : dict of (part, name) to str
        Digest of each input. Parts are in words: raw logs, project, settings, models, hcat, libraries.
    unknown : str or None
        Why only a build can tell what it reads; None if digests tell.
    is_of_logs : bool
        Whether the logs and the code decide every score: no metric of the project's own, and no language model that
        judges.
    """

    digests: Digests
    unknown: str | None
    is_of_logs: bool


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
    given, own = read_vars(variables), find_project(project)
    settings = read_variables(own, project) | given
    installed = sorted(f"{each.name} {each.version}" for each in metadata.distributions())
    digests = {
        **_hash_each("raw logs", _list_raw_logs(project, settings, environment)),
        **_hash_each("project", _list_project(project)),
        **_hash_each("models", _list_weights(project, settings, environment)),
        ("settings", "--vars"): _hash(json.dumps(given, sort_keys=True, default=str)),
        ("settings", "command line"): _hash(json.dumps(_list_effective(arguments))),
        ("hcat", "code"): _hash_files(_list_files(Path(hcat.__file__).parent)),
        ("libraries", "installed packages"): _hash(json.dumps(installed)),
    }
    if own != project:
        digests["hcat", "models"] = _hash_files(_list_project(own))
    for name in ENVIRONMENT:
        if environment.get(name) and name not in _WITHOUT_EFFECT:
            digests["settings", name] = _hash(environment[name])
    is_of_logs = not any(settings.get(name) for name in _OTHER_SCORES)
    return Inputs(digests, _find_unknown(project, settings), is_of_logs)


def name_changes(before: Digests, now: Digests) -> dict[str, list[str]]:
    """Return the names of inputs that are new, changed or gone, by part, in the order of parts."""
    changed: dict[str, list[str]] = {}
    for part, name in sorted(before.keys() | now.keys()):
        if before.get((part, name)) != now.get((part, name)):
            changed.setdefault(part, []).append(name)
    return changed


def is_change_of_logs(before: Digests, now: Digests) -> bool:
    """Return whether two builds read the same but for their logs.

    Examples
    --------
    >>> before = {("raw logs", "calls.jsonl"): "a", ("project", "seeds/gates.csv"): "b"}
    >>> is_change_of_logs(before, before | {("raw logs", "more.jsonl"): "c"})
    True
    >>> is_change_of_logs(before, before | {("project", "seeds/gates.csv"): "c"})
    False
    """
    return name_changes(before, now).keys() <= _LOGS


def find_starts(
    project: Path, before: Digests, now: Digests, entities_of: Callable[[Path], Sequence[str]]
) -> list[str] | None:
    """Return the seeds and models of dbt that read what changed, sorted; None if it may change any model.

    Parameters
    ----------
    project : Path
        Folder of the dbt project.
    before, now : dict of (part, name) to str
        What the last build read, and what this one would read.
    entities_of : callable
        The entities of a raw log by its path, relative to the folder of logs; none for other files.

    Examples
    --------
    >>> before = {("raw logs", "ratings.csv"): "a", ("settings", "HCAT_ENCODER"): "b"}
    >>> def entities_of(path):
    ...     return (path.stem,)
    >>> find_starts(Path("."), before, before | {("raw logs", "ratings.csv"): "c"}, entities_of)
    ['base_ratings']
    >>> find_starts(Path("."), before, before | {("settings", "HCAT_ENCODER"): "c"}, entities_of) is None
    True
    """
    folders = [f"{root.relative_to(project).as_posix()}/" for root in _find_folders(project, ("seed-paths",))]
    starts = set()
    for part, names in name_changes(before, now).items():
        for name in names:
            path = Path(name)
            entities = entities_of(path) if part == "raw logs" else ()
            if entities:
                starts |= {f"base_{entity}" for entity in entities}
            # a seed that comes or goes changes the models that dbt knows
            elif (
                part == "project"
                and path.suffix == ".csv"
                and name.startswith(tuple(folders))
                and (part, name) in before.keys() & now.keys()
            ):
                starts.add(path.stem)
            else:
                return None
    return sorted(starts)


def _find_unknown(project: Path, settings: Mapping[str, Any]) -> str | None:
    """Return why only a build can tell what hcat reads: what dbt makes before it is not known."""
    for _, named in sorted((settings.get("hcat_raw_relations") or {}).items()):
        if isinstance(named, Mapping) and "ref" in named:
            return f"what the model {named['ref']} holds is known when it is built"
    if not is_own_project(project):
        for name, path in _list_folders(project, ("model-paths", "snapshot-paths")):
            if "source(" in path.read_text(encoding="utf-8", errors="replace"):
                return f"what {name} reads from a source is known when it is built"
    return None


def _list_raw_logs(project: Path, settings: Mapping[str, Any], environment: Mapping[str, str]) -> Iterator[_File]:
    demo = {"hcat_raw_logs": "demo/logs"} if environment.get("HCAT_DEMO") == "1" else {}
    named = environment.get("HCAT_RAW_LOGS")
    folder = project / named if named else find_raw_logs(project, settings) or find_raw_logs(project, demo)
    if folder is not None:
        yield from _list_files(folder)


def _list_weights(project: Path, settings: Mapping[str, Any], environment: Mapping[str, str]) -> Iterator[_File]:
    """Yield the files of models that a setting names by their folder; any other name has a pinned revision."""
    for role in _MODELS:
        named = environment.get(f"HCAT_{role.upper()}") or render_setting(settings.get(f"hcat_{role}"))
        if named and (project / str(named)).is_dir():
            for name, path in _list_files(project / str(named)):
                yield f"{named}/{name}", path


def _list_project(project: Path) -> Iterator[_File]:
    """Yield name and path of every file of a project that dbt reads."""
    for name in _FILES:
        if (project / name).is_file():
            yield name, project / name
    yield from _list_folders(project, _FOLDERS)


def _list_folders(project: Path, settings: Iterable[str]) -> Iterator[_File]:
    """Yield name and path of the files in the folders that settings of a project name."""
    for root in _find_folders(project, settings):
        for name, path in _list_files(root):
            if path.suffix in _SUFFIXES:
                yield f"{root.relative_to(project).as_posix()}/{name}", path


def _find_folders(project: Path, settings: Iterable[str]) -> Iterator[Path]:
    """Yield the folders that settings of a project name."""
    given = read_project(project)
    for setting in settings:
        value = given.get(setting) or _FOLDERS[setting]
        for folder in [value] if isinstance(value, str) else value:
            yield project / str(render_setting(folder))


def _list_files(folder: Path) -> Iterator[_File]:
    """Yield name and path of the files of a folder in order, without what Python compiles beside them."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            yield path.relative_to(folder).as_posix(), path


def _list_effective(arguments: Sequence[str]) -> list[str]:
    """Return the arguments that can change a result.

    >>> _list_effective(["--quiet", "--log-path", "logs", "--threads=1", "--store-failures"])
    ['--store-failures']
    """
    kept, words = [], iter(arguments)
    for word in words:
        name, equals, _ = word.partition("=")
        if name not in _ARGUMENTS_WITHOUT_EFFECT:
            kept.append(word)
        elif _ARGUMENTS_WITHOUT_EFFECT[name] and not equals:
            next(words, None)
    return kept


def _hash_each(part: str, files: Iterable[_File]) -> Digests:
    return {(part, name): _hash_readable(path) for name, path in files}


def _hash_readable(path: Path) -> str:
    """Return the digest of a file; one that nobody may read is an input that the build rejects."""
    try:
        return hash_file(path)
    except OSError as error:
        return f"cannot be read: {error.strerror}"


def _hash_files(files: Iterable[_File]) -> str:
    return _hash("\n".join(f"{hash_file(path)} {name}" for name, path in files))


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
