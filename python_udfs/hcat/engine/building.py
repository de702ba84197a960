"""A build of dbt, or one line: a build that would read what the last passing one read repeats its verdict.

``hcat build`` compares digests of everything that a build reads with those of the last build that passed. If they are
equal, and nothing has expired since, no model runs. The ledger and the histories of gates and figures get the rows of
that build again, under a new id and today's date, and the published copies of these tables are renewed. If only seeds
or ratings changed, the models that need them run, and no others. If only logs changed, the largest tables keep the rows
of interactions that are as they were.
"""

from __future__ import annotations

import subprocess
import uuid
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from hcat.engine import relations
from hcat.engine.build_tables import open_build, open_build_for_additions
from hcat.engine.inputs import Digests, find_starts, is_change_of_logs, name_changes, read_inputs
from hcat.engine.project import DBT, find_place, is_own_project
from hcat.engine.publication import publish_again
from hcat.engine.retention import finish_deletion
from hcat.engine.retention_rules import LANDED
from hcat.engine.warehouse import CLOCK_SKEW, Place, read_last_event

#: Tables that get a row for each build -> what a repeated row has of its own.
_HISTORIES: Final[Mapping[str, Sequence[str]]] = {
    "fct_threshold_gates": ("md5($new || '|' || gate_name) as gate_result_id", "$now::timestamp as evaluated_at"),
    "fct_run_metrics": ("md5($new || '|' || metric_name) as run_metric_id", "$now::timestamp as measured_at"),
    "dim_runs": ("coalesce(repeats_run_id, run_id) as repeats_run_id", "$now::timestamp as started_at"),
}
#: Names that are shown of each part of the inputs that changed.
_NAMES_SHOWN: Final = 3
#: Arguments of dbt that make a build of a part, and one that makes everything anew.
_PARTIAL: Final = (
    "--select", "-s", "--models", "--model", "-m", "--exclude", "--selector", "--resource-type", "--resource-types",
    "--exclude-resource-type", "--exclude-resource-types", "--indirect-selection", "--empty", "--sample",
)  # fmt: skip
_ANEW: Final = ("--full-refresh", "-f")

#: What every build makes anew, because it carries the id of the build: environment, ledger, gates, figures.
_EACH_BUILD: Final = ("fqn:hcat.gates",)

#: What a night with nothing but new logs leaves as it is: seeds, and views, none of which depends on the build. The
#: data tests of what it builds run, because they are nodes behind it.
_KEPT: Final = (
    "--indirect-selection", "empty", "--exclude", "package:hcat,resource_type:seed",
    "package:hcat,config.materialized:view",
)  # fmt: skip

_REMEMBERED: Final = """
select run_id, part, name, digest
from (
    select
        $run_id::varchar as run_id, unnest($parts::varchar[]) as part, unnest($names::varchar[]) as name,
        unnest($digests::varchar[]) as digest
)
"""
_REPEATED_EVENT: Final = """
select $new::varchar as run_id, 'repeated' as event, $now::timestamp as logged_at, $number::bigint as build_number
"""
#: {table}, {type}: a date or a time, as the models compare it with that of the build.
_EXPIRED: Final = """
select count(*) as count_rows from {table}
where (valid_until < $before::{type}) is distinct from (valid_until < $now::{type})
"""
_LIST_EXPIRING: Final = """
select table_name, data_type
from information_schema.columns
where table_schema = current_schema() and column_name = 'valid_until' and data_type in ('DATE', 'TIMESTAMP')
order by table_name
"""
_DELETED_SINCE: Final = "select deletion_number from hcat_deletion_log where after_build_number >= $last"
#: A record whose time lay in the future is read once its time has come.
_FROM_THE_FUTURE: Final = "select reason from int_rejections_counted where reason like '% lies in the future'"

#: Environment variable that tells the models to write only interactions that changed (int_interactions_keyed).
ONLY_CHANGED: Final = "HCAT_ONLY_CHANGED"
#: Environment variable that lets published tables stay whose rows did not change (hcat.engine.publication).
KEEPS_COPIES: Final = "HCAT_KEEPS_COPIES"
#: Environment variable that lets data tests read what a build leaves: here it is never out of date.
TESTS_ALL: Final = "HCAT_TESTS_ALL"
#: A seed that decides what is masked: copies are written anew, so that none holds what it masks now.
_MASKS: Final = "privacy_entity_types"
_NOT_PASSED: Final = "the last build did not pass"
#: What is kept beside the digests of a build that failed and wrote all tables.
_PART_OF_VERDICT: Final = "verdict"
_FAILED: Final[Digests] = {(_PART_OF_VERDICT, "failed"): "yes"}


class BuildError(ValueError):
    """The command cannot be carried out; the message is one line."""


def build(
    project: Path,
    profiles: Path | None = None,
    target: str | None = None,
    variables: str | None = None,
    arguments: Sequence[str] = (),
    *,
    is_full: bool = False,
    environment: Mapping[str, str],
    say: Callable[[str], None],
    entities_of: Callable[[Path], Sequence[str]] = lambda path: (),
) -> int:
    """Build a project, or repeat the last verdict if nothing is new; return the exit code of dbt, or 0.

    Parameters
    ----------
    project : Path
        Folder of the dbt project.
    profiles : Path or None
        Folder of ``profiles.yml``; by default as dbt finds it.
    target : str or None
        Target of the profile.
    variables : str or None
        Vars for dbt, YAML.
    arguments : sequence of str
        Further arguments of ``dbt build``, for instance ``--quiet``; none that builds a part.
    is_full : bool
        Build even if nothing is new.
    environment : mapping of str to str
        Environment variables.
    say : callable
        Gets each line for the user.
    entities_of : callable
        The entities of a raw log by its path, as :func:`hcat.landing.shapes.entities_of` finds them.

    Raises
    ------
    BuildError
        If an argument asks for a part of a build.
    WarehouseError
        If the project or its warehouse cannot be opened.
    """
    partial = next((each for each in arguments if each.split("=")[0] in _PARTIAL), None)
    if partial is not None:
        raise BuildError(f"{partial} builds a part: call `dbt build {partial} ...` for that")
    place = find_place(project, target, profiles)
    if finish_deletion(place):
        say("hcat build: finished a deletion that was killed")
    given = [*arguments, *(["--target", target] if target else [])]
    inputs = read_inputs(project, given, variables, environment)
    # before the build: what comes while it runs is new for the next one
    digests = inputs.digests | _digest_tables(place)
    is_forced = is_full or any(each in _ANEW for each in arguments)
    reason = "asked for" if is_forced else inputs.unknown or _find_due(place)
    # a build that failed, by its gates, and published its candidate has written all tables
    written = _read_remembered(place) if reason in (None, _NOT_PASSED) else {}
    before = {} if reason else written
    if before == digests:
        say(_repeat(place))
        return 0
    starts = find_starts(project, before, digests, entities_of) if before else None
    from_where = f"; from {', '.join(starts)} on" if starts else ""
    say(f"hcat build: {reason or _describe_news(before, digests)}{from_where}")
    command = [*DBT, "build", "--project-dir", str(project)]
    command += [] if profiles is None else ["--profiles-dir", str(profiles)]
    command += [] if variables is None else ["--vars", variables]
    # the tables are those of one build, by the same code and settings
    is_cut = bool(written) and inputs.is_of_logs and is_change_of_logs(written, digests)
    command += _select(starts, is_own=is_own_project(project), is_cut=is_cut)
    # Parquet knows no delete: on Apache Spark a model that is built writes all rows
    only_changed = is_cut and place.is_local
    keeps_copies = is_cut or (starts is not None and _MASKS not in starts)
    flags = {ONLY_CHANGED: only_changed, KEEPS_COPIES: keeps_copies, TESTS_ALL: True}
    variables_of_dbt = {**environment, **{name: "1" if is_set else "" for name, is_set in flags.items()}}
    last = _find_last_run(place)
    code = subprocess.run([*command, *given], env=variables_of_dbt, check=False).returncode
    if code == 0:
        _remember(place, digests)
    # where dbt did not even start, the last run is an earlier build, which read something else
    elif _find_last_run(place) != last and _has_published(place):
        _remember(place, digests | _FAILED)
    return code


def _find_due(place: Place) -> str | None:
    """Return in words why a build is due whatever it reads; None if the last build passed and stands."""
    if not place.database.is_file():
        return "the first build"
    with open_build(place) as source:
        last = read_last_event(source)
        if last is None or source.lacks("hcat_inputs"):
            return "no earlier build says what it read"
        if last["event"] == "started":
            return "the last build was killed"
        if source.rows(_DELETED_SINCE, ("hcat_deletion_log",), last=last["build_number"]):
            return "interactions were deleted since the last build"
        if not source.rows("select 1 as one from hcat_inputs where run_id = $run_id", (), run_id=last["run_id"]):
            return "the last build broke off, or was a part of a build"
        started = source.rows("select started_at from dim_runs where run_id = $run_id", (), run_id=last["run_id"])
        dates = {"before": started[0]["started_at"], "now": _now()}
        for column in source.rows(_LIST_EXPIRING, ()):
            table = column["table_name"]
            expired = _EXPIRED.format(table=f'"{table}"', type=column["data_type"])
            if source.rows(expired, (table,), **dates)[0]["count_rows"]:
                return f"a row of {table} has expired since"
        if source.rows(_FROM_THE_FUTURE, ("int_rejections_counted",)):
            return "records were rejected because their time lay in the future, and it may have come"
        if source.rows("select 1 as one from hcat_inputs where part = $part", (), part=_PART_OF_VERDICT):
            return _NOT_PASSED
    return None


def _read_remembered(place: Place) -> Digests:
    """Return what the last build read, which wrote all tables."""
    with open_build(place) as source:
        rows = source.rows("select * from hcat_inputs where part <> $part", (), part=_PART_OF_VERDICT)
    return {(row["part"], row["name"]): row["digest"] for row in rows}


def _find_last_run(place: Place) -> str | None:
    """Return the id of the build that was logged last, whatever became of it; None without any."""
    if not place.database.is_file():
        return None
    with open_build(place) as source:
        return (read_last_event(source) or {}).get("run_id")


def _has_published(place: Place) -> bool:
    """Return whether the candidate copy is of the last build: dbt makes it after all tables and their tests."""
    ledger = place.folder / "published" / "candidate" / "dim_runs.parquet"
    if not ledger.is_file():
        return False
    copied = "select 1 as one from read_parquet($ledger) where run_id = $run_id"
    with open_build(place) as source:
        return bool(source.rows(copied, (), ledger=str(ledger), run_id=(read_last_event(source) or {}).get("run_id")))


def _describe_news(before: Digests, now: Digests) -> str:
    changes = name_changes(before, now)
    return "new: " + "; ".join(f"{part} ({_shorten(names)})" for part, names in changes.items())


def _select(starts: Sequence[str] | None, *, is_own: bool, is_cut: bool) -> list[str]:
    """Return the arguments by which dbt builds from these nodes on, or everything of hcat and what it reads."""
    nodes = [] if starts is None else [f"{name}+" for name in (*starts, *_EACH_BUILD)]
    if any(name.startswith("base_") for name in starts or ()):
        # new records of one entity land, and only what reads this entity is built
        nodes.insert(0, LANDED)
    if not is_own:
        # nothing is left out: dbt finds the tests that a project has for models of hcat by the nodes it builds
        return ["--select", *([f"{node},+package:hcat" for node in nodes] or ["+package:hcat"])]
    return [*(["--select", *nodes] if nodes else []), *(_KEPT if is_cut else ())]


def _repeat(place: Place) -> str:
    """Append the last build to ledger and histories under a new id; return what was done, in one line."""
    new, now = str(uuid.uuid4()), _now()
    with open_build(place) as source:
        event = read_last_event(source) or {}
        last, number = event["run_id"], event["build_number"] + 1
        if event["logged_at"] - now > CLOCK_SKEW:
            raise BuildError(
                f"the clock is behind the last build: it says {now:%Y-%m-%d %H:%M} UTC, and that was logged at"
                f" {event['logged_at']:%Y-%m-%d %H:%M} UTC; set the clock right, or, if it was wrong then, build once"
                " with --vars '{hcat_clock_was_ahead: true}'"
            )
        built = source.rows(
            "select started_at, coalesce(repeats_run_id, run_id) as first from dim_runs where run_id = $last",
            ("dim_runs",),
            last=last,
        )[0]
    with open_build_for_additions(place) as tables:
        with tables.transaction():
            for table, own in _HISTORIES.items():
                own_values = ", ".join(own)
                repeated = (
                    f"select * replace ($new::varchar as run_id, $number::bigint as build_number, {own_values})"
                    f" from {table} where run_id = $last"
                )
                tables.add(table, repeated, {"new": new, "now": now, "last": last, "number": number})
            tables.replace("hcat_inputs", "select * replace ($new::varchar as run_id) from hcat_inputs", {"new": new})
            tables.add("hcat_builds", _REPEATED_EVENT, {"new": new, "now": now, "number": number})
        publish_again(tables.connection, list(_HISTORIES), str(place.folder))
    return (
        f"hcat build: nothing new since the build of {built['started_at']:%Y-%m-%d %H:%M} UTC; its verdict stands"
        f" (ledger: {new} repeats {built['first']})"
    )


def _remember(place: Place, digests: Digests) -> None:
    """Keep what a build that wrote all tables has read, with the id of that build."""
    with open_build(place) as source:
        last = read_last_event(source)
    if last is None:
        # where Apache Spark keeps its tables is not known: each of its builds starts from all inputs
        return
    read = sorted(digests.items())
    columns = {
        "parts": [part for (part, _), _ in read],
        "names": [name for (_, name), _ in read],
        "digests": [digest for _, digest in read],
    }
    with open_build_for_additions(place) as tables:
        tables.replace("hcat_inputs", _REMEMBERED, {"run_id": last["run_id"], **columns})


def _digest_tables(place: Place) -> Digests:
    """Return digests of the tables that take the place of files: the number of rows and the sum of their hashes.

    The last build says which tables these are; a change of their names is a change of settings.
    """
    digests: Digests = {}
    if not place.database.is_file():
        return digests
    with open_build(place) as source:
        for row in source.rows("select relation_name, relation from raw_relations", ("raw_relations",)):
            try:
                found = relations.digest_rows(relations.from_name(source.connection, row["relation"]))
            except LookupError:
                found = None
            # in a database that only dbt attaches: no build can be called the same
            digests["tables", row["relation_name"]] = found or str(uuid.uuid4())
    return digests


def _shorten(names: Sequence[str]) -> str:
    more = len(names) - _NAMES_SHOWN
    return ", ".join(names[:_NAMES_SHOWN]) + (f" and {more} more" if more > 0 else "")


def _now() -> datetime:
    return datetime.now(UTC).replace(tzinfo=None, microsecond=0)
