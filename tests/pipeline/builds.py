"""What the pipeline tests share: running dbt in a process of its own, writing raw logs and reading warehouses."""

import fcntl
import functools
import hashlib
import importlib.util
import json
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
DEMO = REPOSITORY / "demo" / "logs"
#: Random vectors: a build of the pipeline without the cost of a model.
HASHING = "hashing:32"
#: Where dbt keeps the parsed project.
PARSED = "partial_parse.msgpack"
#: A build of everything without its data tests, which the first build of the same logs has run.
UNTESTED = "build --exclude-resource-type test"
#: A build of the scores alone, without labels, analysis and gates.
SCORES = f"{UNTESTED} --select +fct_evaluations +fct_sentence_evidence +dim_metrics"
#: Interactions of the build that other builds go on from.
COUNT_SMALL = 12
ENTITIES = ("interactions", "retrievals", "queries", "documents", "chunks", "ratings", "relevance_judgements")

#: The models from documents to a test set, from tables to queries, and those of a judge exist only when they are asked
#: for, and so do unit tests. The judge has no budget: nothing is sent, and every verdict is a status. The test set has
#: few chunks, and every kind of variant.
EVERYTHING = {
    "hcat_unit_tests": True,
    "hcat_sampling_total": 24,
    "hcat_test_set": True,
    "hcat_grammar": True,
    "hcat_judge": True,
    "hcat_language_model_url": "http://127.0.0.1:9/v1",
    "hcat_language_model": "nobody",
    "hcat_language_model_calls": 0,
}

#: The smallest build that has weeks, references and retrieval.
SMALL = {"hcat_profile": "minimal", "hcat_modules": {"drift": True, "reference": True, "retention": True}}
#: What single tests set: one set, because another one is another parsed project, and no test minds what the others ask.
SETTINGS = {
    "hcat_clock_was_ahead": True,
    "hcat_missing_parents": "remote",
    "hcat_review_budget": 40,
    "hcat_review_round": "spring",
    "hcat_tool_outputs_are_evidence": True,
}

#: Columns that count builds: which build landed a row, or saw a finding.
RUN_COLUMNS = (
    "landing_number",
    "fitted_run_id",
    "first_run_id",
    "written_run_id",
    "first_seen_run",
    "last_seen_run",
    "first_seen_at",
    "last_seen_at",
    "retested_at",
    "closed_at",
    "count_runs_seen",
    "build_number",
    "first_seen_build_number",
    "last_seen_build_number",
    "confirmed_build_number",
    "closed_build_number",
)


@dataclass(frozen=True)
class Build:
    """A finished dbt command: its exit code, what it printed, and where it wrote."""

    exit_code: int
    output: str
    raw: Path
    warehouse: Path

    def query(self, sql: str, *parameters: Any) -> list[tuple[Any, ...]]:
        """Return the rows of a query on the warehouse."""
        return query(self.warehouse / "hcat.duckdb", sql, *parameters)

    def gate_lines(self) -> list[str]:
        """Return the printed lines about gates that do not pass."""
        return [line for line in self.output.splitlines() if line.startswith("GATE ") or " GATE " in line]


def dbt_arguments(
    arguments: Iterable[str], target: Path, variables: Mapping[str, Any] | None = None, *, has_artefacts: bool = False
) -> list[str]:
    """Return the arguments of dbt with folders of its own, so that parallel builds do not collide."""
    command = ["--no-use-colors", *arguments]
    if "--log-level-file" not in command:
        # what is printed is tested; the log file would repeat it with every statement
        command = ["--log-level-file", "none", *command]
    if not has_artefacts:
        # dbt writes the manifest of the project twice in every command, which takes seconds
        command.insert(0, "--no-write-json")
    if "build" in command:
        # unit tests need no data and have a run of their own
        command += ["--exclude-resource-type", "unit_test"]
    command += ["--target-path", str(target), "--log-path", str(target)]
    return command + (["--vars", json.dumps(variables)] if variables else [])


def environment_without_settings() -> dict[str, str]:
    """Return this process's environment with none of the caller's settings of hcat and dbt but the size of batches."""
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("HCAT_", "DBT_")) or name == "HCAT_CUT_SMALLER"
    }


def dbt_environment(
    raw: Path, warehouse: Path, encoder: str = HASHING, classifier: str | None = None, *, is_demo: bool = True
) -> dict[str, str]:
    """Return this process's environment with the settings of one build and none of the caller's own."""
    environment = environment_without_settings() | {
        "HCAT_RAW_LOGS": str(raw),
        # the decisions of the demo, or the shipped ones
        "HCAT_DEMO": "1" if is_demo else "",
        "HCAT_WAREHOUSE": str(warehouse),
        "HCAT_ENCODER": encoder,
        # seeded logits go with random vectors, the real model with the real one
        "HCAT_CLASSIFIER": classifier or ("hashing" if encoder == HASHING else "compact"),
        # reading names takes seconds that only tests of names need; identifiers are found by rules
        "HCAT_TAGGER": "none" if encoder == HASHING else "packaged",
        "HCAT_DEVICE": "cpu",
        "DBT_PROFILES_DIR": str(REPOSITORY),
        "PYTHONHASHSEED": "0",
        # tests run side by side, one on each core
        "OMP_NUM_THREADS": "1",
    }
    return environment


def folder_of_links(target: Path) -> Path:
    """Return the folder that leads builds of a target folder, and of those beside it, to logs and warehouse."""
    return target.parent / "links"


def link_folders(raw: Path, warehouse: Path, target: Path) -> tuple[Path, Path]:
    """Return paths to logs and warehouse that are the same for all builds of target folders beside each other.

    dbt parses the whole project again when the path of the database changes, and a part of it with that of the logs.
    """
    links = folder_of_links(target) / "logs", folder_of_links(target) / "warehouse"
    for folder in (warehouse, target, folder_of_links(target)):
        folder.mkdir(parents=True, exist_ok=True)
    for link, folder in zip(links, (raw, warehouse), strict=True):
        link.unlink(missing_ok=True)
        link.symlink_to(folder.resolve())
    return links


@functools.cache
def start_server() -> subprocess.Popen[bytes]:
    """Return this process's server of commands; it ends with its standard input."""
    return subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("dbt_server.py"))],
        cwd=REPOSITORY,
        env=dbt_environment(DEMO, DEMO),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        # what is not read stays in the pipe, where it can be seen
        bufsize=0,
    )


@dataclass
class Running:
    """A command that the server runs as a process of its own, which may be killed; one at a time."""

    process: int
    exit_code: int | None = None

    def poll(self, seconds: float | None = 0) -> int | None:
        """Return the exit code once the command has ended, after at most some seconds; None while it runs."""
        replies = start_server().stdout
        assert replies is not None
        if self.exit_code is None and select.select([replies], [], [], seconds)[0]:
            self.exit_code = int(replies.readline())
        return self.exit_code

    def wait(self) -> int | None:
        """Return the exit code at the end of the command."""
        return self.poll(seconds=None)

    def kill(self) -> None:
        """End the process at once, wherever it is."""
        os.kill(self.process, signal.SIGKILL)


def start_command(
    program: str, arguments: Iterable[str], environment: Mapping[str, str], output: Path, folder: Path = REPOSITORY
) -> Running:
    """Let the server start a command in a folder, which prints to a file."""
    request = {"program": program, "arguments": list(arguments), "environment": dict(environment)}
    request |= {"folder": str(folder), "output": str(output), "timeout_seconds": 600}
    server = start_server()
    assert server.stdin is not None
    assert server.stdout is not None
    server.stdin.write(json.dumps(request).encode() + b"\n")
    reply = server.stdout.readline()
    assert reply, "the server of dbt commands has ended"
    return Running(int(reply))


def run_dbt(
    arguments: Iterable[str],
    raw: Path,
    warehouse: Path,
    target: Path,
    *,
    variables: Mapping[str, Any] | None = None,
    encoder: str = HASHING,
    classifier: str | None = None,
    is_demo: bool = True,
    has_artefacts: bool = False,
) -> tuple[int, str]:
    """Run dbt in the repository and return (exit code, everything that it printed)."""
    links = link_folders(raw, warehouse, target)
    environment = dbt_environment(*links, encoder, classifier, is_demo=is_demo)
    return ask_server("dbt", dbt_arguments(arguments, target, variables, has_artefacts=has_artefacts), environment)


def copy_bank(folder: Path) -> Path:
    """Copy the project that has hcat as its package into a folder of its own, and return that."""
    ignored = shutil.ignore_patterns("dbt_packages", "target", "logs", "warehouse")
    shutil.copytree(REPOSITORY / "integration_tests", folder / "bank", ignore=ignored)
    (folder / "bank" / "packages.yml").write_text(f"packages:\n  - local: {REPOSITORY}\n")
    return folder / "bank"


def run_dbt_in(folder: Path, *arguments: str, expected: int = 0) -> str:
    """Run dbt in the folder of a project, with none of the caller's settings, and return everything that it printed."""
    # no test reads dbt's artefacts or its log
    words = ["--no-use-colors", "--no-write-json", "--log-level-file", "none", *arguments]
    exit_code, output = ask_server("dbt", words, environment_without_settings(), folder)
    assert exit_code == expected, output
    return output


def run_hcat(
    *arguments: object, folder: Path = REPOSITORY, environment: Mapping[str, str] | None = None, expected: int = 0
) -> str:
    """Run hcat in a folder, with none of the caller's settings or in an environment, and return what it printed."""
    environment = environment_without_settings() if environment is None else environment
    exit_code, output = ask_server("hcat", map(str, arguments), environment, folder)
    assert exit_code == expected, output
    return output


def ask_server(
    program: str, arguments: Iterable[str], environment: Mapping[str, str], folder: Path = REPOSITORY
) -> tuple[int, str]:
    """Let the server run a command in a folder, and return (exit code, everything that it printed)."""
    with tempfile.NamedTemporaryFile() as output:
        exit_code = start_command(program, arguments, environment, Path(output.name), folder).wait()
        assert exit_code is not None
        return exit_code, Path(output.name).read_text(encoding="utf-8", errors="replace")


def folder_of_all(factory: pytest.TempPathFactory) -> Path:
    """Return the temporary folder that all processes which run tests share."""
    base = factory.getbasetemp()
    return base.parent if "PYTEST_XDIST_WORKER" in os.environ else base


def name_settings(variables: Mapping[str, Any] | None, is_demo: bool) -> str:
    """Return the name of what dbt parses the whole project again for."""
    return hashlib.md5(json.dumps([variables, is_demo]).encode()).hexdigest()[:8]


def take_parsed(
    folder: Path, target: Path, variables: Mapping[str, Any] | None = None, *, is_demo: bool = True
) -> None:
    """Copy the project as somebody has parsed it with the same settings, if so, from the folder of all."""
    target.mkdir(parents=True, exist_ok=True)
    parsed = folder / f"{name_settings(variables, is_demo)}.msgpack"
    if parsed.exists():
        shutil.copy(parsed, target / PARSED)


@dataclass(frozen=True)
class Dbt:
    """Runs dbt commands in a folder of its own; those with the same variables share the parsed project."""

    folder: Path
    folder_of_all: Path

    def target(
        self,
        variables: Mapping[str, Any] | None,
        encoder: str = HASHING,
        classifier: str | None = None,
        is_demo: bool = True,
    ) -> Path:
        """Return the folder of artefacts for some settings: dbt parses the project again when they change.

        With other variables, or out of the demo, it parses everything; with other models only what names them.
        """
        part = hashlib.md5(json.dumps([encoder, classifier]).encode()).hexdigest()[:8]
        target = self.folder / f"{name_settings(variables, is_demo)}_{part}"
        if not target.exists():
            take_parsed(self.folder_of_all, target, variables, is_demo=is_demo)
        return target

    def __call__(
        self,
        arguments: str | list[str],
        raw: Path,
        warehouse: Path,
        *,
        variables: Mapping[str, Any] | None = None,
        encoder: str = HASHING,
        classifier: str | None = None,
        is_demo: bool = True,
        **settings: Any,
    ) -> Build:
        """Run a command to its end."""
        words = arguments.split() if isinstance(arguments, str) else arguments
        target = self.target(variables, encoder, classifier, is_demo)
        settings |= {"variables": variables, "encoder": encoder, "classifier": classifier, "is_demo": is_demo}
        exit_code, output = run_dbt(words, raw, warehouse, target, **settings)
        shared = self.folder_of_all / f"{name_settings(variables, is_demo)}.msgpack"
        if not shared.exists() and (target / PARSED).exists():
            # at once, because another process may look
            Path(shutil.copy(target / PARSED, target / shared.name)).replace(shared)
        return Build(exit_code, output, raw, warehouse)

    def start(self, arguments: str, raw: Path, warehouse: Path, output: Path, *, encoder: str = HASHING) -> Running:
        """Start a command, which prints to a file and may be killed."""
        target = self.target(None, encoder)
        environment = dbt_environment(*link_folders(raw, warehouse, target), encoder)
        return start_command("dbt", dbt_arguments(arguments.split(), target), environment, output)


def copy_build(build: Build, folder: Path) -> Build:
    """Return a build whose logs and warehouse are copies, to build on."""
    raw, warehouse = (shutil.copytree(path, folder / path.name) for path in (build.raw, build.warehouse))
    return Build(build.exit_code, build.output, raw, warehouse)


def copy_made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], None]) -> Path:
    """Return a copy of a folder that ``make`` fills once, whoever asks first of the processes that run tests.

    A copy, because a warehouse that dbt works on is closed to others.
    """
    base = folder_of_all(factory)
    made, finished = base / name, base / f"{name}.finished"
    with (base / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not finished.exists():
            make(made)
            finished.touch()
    return shutil.copytree(made, factory.mktemp(f"copy_of_{name}") / name, symlinks=True)


def query(database: Path, sql: str, *parameters: Any) -> list[tuple[Any, ...]]:
    """Return the rows of a query on a DuckDB file, opened for this query only."""
    with duckdb.connect(str(database), read_only=True) as connection:
        # what staging makes of records is no table: the tests name it as the models do
        for entity in set(re.findall(r"stg_(\w+)", sql)) & {*ENTITIES, "spans"}:
            rest = " and not is_unjudged" if entity == "ratings" else ""
            table = "base_folded_traces" if entity == "spans" else f"base_{entity}"
            staged = f"from {table} where record_status = 'staged'{rest}"
            connection.execute(f"create temp view stg_{entity} as {staged}")
        return connection.execute(sql, list(parameters)).fetchall()


def write_lines(path: Path, records: Iterable[Mapping[str, Any] | bytes]) -> None:
    """Write JSON Lines; a record given as bytes is written as it is."""
    lines = [record if isinstance(record, bytes) else json.dumps(record).encode() for record in records]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(line + b"\n" for line in lines))


def read_lines(path: Path) -> list[dict[str, Any]]:
    """Return the records of a JSON Lines file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def checksum_tables(database: Path) -> dict[str, tuple[int, int]]:
    """Return (number of rows, sum of the rows' hashes) of every table and view; the order of rows does not matter."""
    checksums: dict[str, tuple[int, int]] = {}
    with duckdb.connect(str(database), read_only=True) as connection:
        tables = connection.execute(
            "select table_schema, table_name, list(column_name order by ordinal_position)"
            " from information_schema.columns group by table_schema, table_name"
        ).fetchall()
        for schema, table, columns in tables:
            kept = ", ".join(f'"{column}"' for column in columns if column not in RUN_COLUMNS)
            row = connection.execute(
                f'select count(*), coalesce(sum(hash(row({kept}))::hugeint), 0)::varchar from "{schema}"."{table}"'
            ).fetchall()[0]
            checksums[table] = (row[0], int(row[1]))
    return checksums


def differing_tables(one: Mapping[str, Any], other: Mapping[str, Any]) -> set[str]:
    """Return the tables that differ between two results of :func:`checksum_tables`."""
    return {table for table in {*one, *other} if one.get(table) != other.get(table)}


def load_script(path: Path) -> Any:
    """Return a script of the repository as a module."""
    specification = importlib.util.spec_from_file_location(f"{path.stem}_of_the_tests", path)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    # dataclasses look their module up
    sys.modules[specification.name] = module
    specification.loader.exec_module(module)
    return module


def load_service() -> Any:
    """Return the example of a service as a module."""
    return load_script(REPOSITORY / "examples" / "rag_service" / "service.py")
