"""Deletion on request: what ``hcat forget`` and ``hcat prune`` do to a warehouse.

The database is written anew and takes the place of the old file in one step: a command that is killed before has done
nothing. The new file says what is still to be done beside it, and the next command or ``hcat build`` does it.
"""

from __future__ import annotations

import csv
import hashlib
import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from glob import escape
from pathlib import Path
from typing import Any, Final

from hcat.engine.copies import delete_from_files, find_left
from hcat.engine.files import explain_failure, replacing
from hcat.engine.project import find_place
from hcat.engine.retention_rules import (
    BLANKS,
    CONTENT_KEYS,
    CONTENT_LISTS,
    DELETED,
    LANDED,
    LANDED_IDS,
    LANDED_KEPT,
    TOMBSTONES,
    Rule,
    choose_rule,
    keep_condition,
    name_hash,
)
from hcat.engine.staging import find_project
from hcat.engine.warehouse import Place, WarehouseError, list_tables, open_for_writing, quote

#: Rows that name an id of this deletion, by kind and hash; kept until the copies beside the database are done.
PENDING: Final = "hcat_deletion_pending"

_FILES_SHOWN: Final = 20

#: Which landed records lose their text.
_LEAVES: Final = f"not {keep_condition(choose_rule(LANDED, {}), 'hcat_gone')}"
_TIMED: Final = "from base_interactions where record_status = 'staged' and asked_at"

_LIST_TABLES: Final = """
select schema_name, table_name, map_from_entries(list((column_name, data_type) order by column_index)) as columns
from duckdb_columns()
inner join duckdb_tables() using (database_oid, schema_oid, table_oid, database_name, schema_name, table_name)
where database_name = current_database() and not duckdb_tables.temporary
group by schema_name, table_name
order by schema_name, table_name
"""


def forget_interactions(
    project: Path,
    ids: Path,
    reason: str | None = None,
    *,
    profiles: Path | None = None,
    target: str | None = None,
    is_dry_run: bool = False,
) -> list[tuple[str, str]]:
    """Delete interactions by their ids, and return in lines (name, text) what was deleted."""
    wanted = read_ids(ids)
    with _open(project, profiles, target, is_dry_run) as deletion:
        deletion.want(wanted, is_of_people=True)
        if not deletion.count("select count(*) from hcat_known"):
            if deletion.count(_COUNT_UNKNOWN):
                raise ValueError(f"{ids}: none of {len(wanted):,} ids is in a landed record")
            return [
                ("deleted", f"nothing: all {len(wanted):,} ids were deleted before"),
                *deletion.name_left(is_done=True),
            ]
        return deletion.carry_out("forget", reason)


def prune_weeks(
    project: Path,
    before: date,
    reason: str | None = None,
    *,
    profiles: Path | None = None,
    target: str | None = None,
    is_dry_run: bool = False,
) -> list[tuple[str, str]]:
    """Delete the interactions of all weeks that ended before a day; their sums by week stay."""
    monday = before - timedelta(days=before.weekday())
    with _open(project, profiles, target, is_dry_run) as deletion:
        deletion.check_build()
        found = deletion.rows(f"select interaction_id {_TIMED} < $monday", monday=monday)
        if not found:
            return [("deleted", f"nothing: no interaction was asked in a week before {monday}")]
        if not deletion.count(f"select count(*) {_TIMED} >= $monday", monday=monday):
            raise ValueError(f"--before {before} would leave no interaction with a time: weeks are deleted, not all")
        deletion.want(sorted(row[0] for row in found))
        deletion.check_sums(monday)
        return deletion.carry_out("prune", reason, monday)


def finish_deletion(place: Place) -> bool:
    """Finish a deletion that was killed beside the database; return whether there was one."""
    if not place.is_local or not place.database.is_file():
        return False
    with open_for_writing(place) as connection:
        # the new file of a command that was killed holds nothing that was to be deleted
        path = place.database.resolve()
        for rest in path.parent.glob(f".{escape(path.name)}.writing*"):
            rest.unlink()
        is_pending = PENDING in list_tables(connection)
        if is_pending:
            _finish(connection, place)
    return is_pending


def read_ids(path: Path) -> list[str]:
    """Return the ids that a file names, once each and in order."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as lines:
            found = list(_read_ids(path, lines))
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is no UTF-8: save it as UTF-8") from error
    ids = sorted({each.strip(BLANKS) for each in found} - {""})
    if not ids:
        raise ValueError(f"{path} names no interaction")
    return ids


def _read_ids(path: Path, lines: Iterable[str]) -> Iterator[str]:
    if path.suffix == ".csv":
        rows = csv.DictReader(lines)
        if "interaction_id" not in (rows.fieldnames or ()):
            raise ValueError(f"{path}: no column interaction_id (found: {', '.join(rows.fieldnames or ['nothing'])})")
        yield from (row["interaction_id"] or "" for row in rows)
    elif path.suffix == ".jsonl":
        for number, line in enumerate(lines, start=1):
            if line.strip():
                try:
                    yield str(json.loads(line)["interaction_id"])
                except (ValueError, KeyError, TypeError) as error:
                    raise ValueError(f"{path}: line {number} is no object with an interaction_id") from error
    else:
        yield from lines


@contextmanager
def _open(project: Path, profiles: Path | None, target: str | None, is_dry_run: bool) -> Iterator[_Deletion]:
    """Open the warehouse of a project for a deletion; no other process can have it open meanwhile."""
    place = find_place(project, target, profiles)
    if not place.is_local:
        raise WarehouseError(f"{place.named}: nothing is deleted on Apache Spark yet (docs/privacy.md)")
    if not is_dry_run:
        finish_deletion(place)
    folder = find_project(project)
    names = {path.stem for path in (folder / "models").rglob("*") if path.suffix in (".sql", ".py")}
    seeds = {path.stem for part in ("seeds", "decisions") for path in (folder / part).glob("*.csv")}
    with open_for_writing(place) as connection:
        schema = connection.execute("select current_schema()").fetchone()[0]
        tables = [
            _Table(space, name, columns, choose_rule(name, columns, is_model=name in names, is_seed=name in seeds))
            if space == schema
            else _Table(space, name, columns, Rule("foreign"))
            for space, name, columns in connection.execute(_LIST_TABLES).fetchall()
        ]
        deletion = _Deletion(connection, place, schema, tables, is_dry_run)
        # a build of this version makes them, empty
        if not (deletion.has(TOMBSTONES) and deletion.has("hcat_deletion_log")):
            raise WarehouseError(f"{place.database} knows no deletions yet: build once with this version of hcat")
        if not deletion.has(LANDED):
            raise WarehouseError(f"{place.database} was made by an earlier version: run `hcat upgrade` and build")
        yield deletion


@dataclass(frozen=True, slots=True)
class _Table:
    schema: str
    name: str
    columns: Mapping[str, str]
    rule: Rule

    @property
    def is_left_behind(self) -> bool:
        """Whether a build that was killed left it: no table of anybody."""
        return "__dbt_tmp" in self.name or "__dbt_backup" in self.name

    @property
    def path(self) -> str:
        return f"{quote(self.schema)}.{quote(self.name)}"


@dataclass(slots=True)
class _Deletion:
    """A deletion on an open warehouse; ``want`` says of whom, ``carry_out`` deletes."""

    connection: Any
    place: Place
    schema: str
    tables: Sequence[_Table]
    is_dry_run: bool
    counts: dict[str, int] = field(default_factory=dict)
    #: How files may write the ids of people, as bytes.
    _spellings: Sequence[bytes] = ()

    def has(self, name: str) -> bool:
        return any(table.name == name and table.schema == self.schema for table in self.tables)

    def rows(self, sql: str, **values: Any) -> list[tuple[Any, ...]]:
        found: list[tuple[Any, ...]] = self.connection.execute(sql, values or None).fetchall()
        return found

    def count(self, sql: str, **values: Any) -> int:
        return int(self.rows(sql, **values)[0][0])

    def check_build(self) -> None:
        """Raise an error unless the last build was a whole one, after the last deletion."""
        last = self.rows("select event from hcat_builds order by build_number desc, event = 'started' limit 1")
        if not last or last[0][0] == "started":
            raise ValueError("the last build was killed or never ran: build first, so that the sums are whole")
        if self.count(
            "select count(*) from hcat_deletion_log"
            " where after_build_number >= (select max(build_number) from dim_runs)"
        ):
            raise ValueError(
                "interactions were deleted since the last whole build: build first, so that the sums are right"
            )

    def check_sums(self, monday: date) -> None:
        """Raise an error if an interaction of a week that goes is not in the sums."""
        if self.has("int_week_sums") and self.count(
            "select count(*) from hcat_wanted"
            " anti join (select interaction_id from fct_interactions where asked_at < $monday)"
            " using (interaction_id)",
            monday=monday,
        ):
            raise ValueError("interactions came since the last whole build: build first, so that the sums are whole")

    def want(self, ids: Sequence[str], *, is_of_people: bool = False) -> None:
        """Write down which interactions go, and what only they lead to; of people, also what cannot be read."""
        import pyarrow as pa

        self.connection.register("hcat_given", pa.table({"interaction_id": pa.array(ids, pa.string())}))
        self.connection.execute("create temp table hcat_wanted as select * from hcat_given")
        self.connection.unregister("hcat_given")
        self.connection.execute(
            f"create temp table hcat_asked as select *, interaction_id in (from hcat_wanted) as is_wanted"
            f" from ({self._list_asked()}) where interaction_id is not null"
        )
        self._find_unread(ids if is_of_people else ())
        self.connection.execute(
            f"create temp table hcat_found as select interaction_id from (select {_trimmed('interaction_id')} as"
            f" interaction_id from {LANDED} union select interaction_id from hcat_asked)"
            " semi join hcat_wanted using (interaction_id)"
        )
        self.connection.execute(
            "create temp table hcat_known as from hcat_found union select interaction_id from hcat_unread"
        )
        self._name_gone(is_of_people)
        self._list_contents()

    def _list_asked(self) -> str:
        """Return the query of all interactions that were sent, with their query, conversation and trace."""
        landed = (
            f"select {_trimmed('interaction_id')} as interaction_id, {_trimmed('query_id')} as query_id, query_text,"
            f" {_trimmed('conversation_id')} as conversation_id, null::varchar as trace_id from {LANDED}"
            " where entity = 'interactions'"
        )
        if not self.has("base_folded_traces"):
            return landed
        return (
            f"{landed} union all select interaction_id, query_id, query_text, conversation_id, trace_id"
            " from base_folded_traces where entity = 'interactions'"
        )

    def _name_gone(self, is_of_people: bool) -> None:
        """Write the table of ids that go: kind and hash."""
        self.connection.execute("create temp table hcat_gone_queries (query_id varchar)")
        self.connection.execute(_FIND_QUERIES.format(id=_trimmed("query_id"), parent=_trimmed("parent_query_id")))
        kinds = {
            "interaction": "select interaction_id from hcat_wanted",
            "trace": "select trace_id from hcat_asked where is_wanted",
            "query": "select query_id from hcat_gone_queries",
            "record": "select record_id from hcat_unread",
            "conversation": "select conversation_id from hcat_asked where is_wanted",
            "derived": f"select interaction_id from hcat_wanted union {self._find_followers()}",
            "sibling": _FIND_SIBLINGS,
            "query_group": "select query_group from dim_queries semi join hcat_gone_queries using (query_id)",
            # a pruned cluster that comes back must not count as new: what a finding was found on is known for ever
            "cluster": _FIND_CLUSTERS if is_of_people else "select null::varchar where false",
        }
        needed = {"query_group": "dim_queries", "cluster": "fct_interactions"}
        united = " union ".join(
            f"select '{kind}' as id_kind, {name_hash('id')} as hashed_id from ({sql}) as found(id) where id is not null"
            for kind, sql in kinds.items()
            if self.has(needed.get(kind, "hcat_deletions"))
        )
        self.connection.execute(f"create temp table hcat_gone as {united}")

    def _find_unread(self, ids: Sequence[str]) -> None:
        """Write the table of unreadable records that name one of the ids: nobody can say whose they are."""
        spelled = [(name, spelling) for name in ids for spelling in sorted(spell(name))]
        self._spellings = [spelling.encode("utf-8", "surrogatepass") for _, spelling in spelled]
        self.connection.execute(
            f"create temp table hcat_unread as select record_id, spelled.interaction_id from {LANDED} inner join"
            " (select unnest($1::varchar[]) as interaction_id, unnest($2::varchar[]) as spelling) as spelled"
            " on contains(unread_record, spelling)",
            [[name for name, _ in spelled], [spelling for _, spelling in spelled]],
        )

    def name_left(self, *, is_done: bool) -> list[tuple[str, str]]:
        """Return lines on the files beside the database that nobody writes anew and that may hold what goes."""
        named, packed = find_left(self.place, self._spellings, is_done=is_done)
        lines = [("not deleted", f"{_list_files(named)}: an id stands there, delete what must go")] if named else []
        other = [("not searched", f"{_list_files(packed)}: no text to search, delete what must go")] if packed else []
        return [*lines, *other]

    def _find_followers(self) -> str:
        """Return the query of later turns that read what an earlier, deleted turn said."""
        if not self.has("int_interaction_passages"):
            return "select null::varchar where false"
        return (
            "select asked.interaction_id from hcat_asked as asked"
            " semi join (select conversation_id from hcat_asked where is_wanted) using (conversation_id)"
            " semi join (select interaction_id from int_interaction_passages where role = 'statement')"
            " using (interaction_id)"
        )

    def _list_contents(self) -> None:
        """Write the table of keys of texts to which something leads that stays."""
        parts: list[str] = []
        for table in self.tables:
            stays = keep_condition(table.rule, "hcat_gone")
            if table.rule.action == "rows":
                for name in table.columns:
                    if name in CONTENT_KEYS:
                        parts.append(f"select {name} from {table.name} where {stays}")
                    elif name.endswith(CONTENT_LISTS):
                        parts.append(f"select unnest({name}) from {table.name} where {stays}")
            # whole texts have their own MD5 as key
            if table.schema == self.schema and (
                "record_status" in table.columns or table.name == "int_interaction_passages"
            ):
                if "record_status" in table.columns:
                    stays += " and record_status = 'staged'"
                texts = [quote(name) for name, kind in table.columns.items() if kind == "VARCHAR"]
                parts += [f"select md5({name}) from {table.name} where {stays}" for name in texts]
        if self.rows("select 1 from duckdb_views() where view_name = 'int_safety_texts' and not internal"):
            parts.append("select text_id from int_safety_texts")
        self.connection.execute(
            "create temp table hcat_kept_contents as"
            f" select distinct key from ({' union all '.join(parts)}) as found(key) where key is not null"
        )
        if self.has("int_passages_split"):
            self.connection.execute(
                "insert into hcat_kept_contents select distinct text_id from int_passages_split"
                " where passage_id in (from hcat_kept_contents)"
            )

    def carry_out(self, command: str, reason: str | None, monday: date | None = None) -> list[tuple[str, str]]:
        """Delete, unless the run is dry, and return what was done in lines."""
        self._count()
        said = [("would delete" if self.is_dry_run else "deleted", self._describe())]
        records = self.rows(f"select entity, count(*) from {LANDED} where {_LEAVES} group by entity order by entity")
        said += [("records", ", ".join(f"{name} {count:,}" for name, count in records))]
        if monday is not None:
            kept = "their sums stay" if self.has("int_week_sums") else "no sums stay: drift is switched off"
            said.append(("weeks", f"all before {monday}: {kept}"))
        said += [("not hcat's", f"{name}: rows {count:,}, delete them there") for name, count in self._foreign()]
        if self.is_dry_run:
            return [*said, *self.name_left(is_done=False), ("next", f"hcat {command} without --dry-run")]
        number = self.count("select coalesce(max(deletion_number), 0) + 1 from hcat_deletion_log")
        hashed = self.rows("select hashed_id from hcat_gone where id_kind = 'interaction' order by hashed_id")
        proof = hashlib.sha256("\n".join(row[0] for row in hashed).encode()).hexdigest()
        _write_anew(self, lambda new: self._fill(new, number, command, reason, monday, proof))
        self.connection.close()
        with open_for_writing(self.place) as connection:
            removed = _finish(connection, self.place)
        said += [("removed", f"{', '.join(removed)}: write them again after the next build")] if removed else []
        return [
            *said,
            *self.name_left(is_done=True),
            ("proof", f"deletion {number} in hcat_deletion_log: SHA-256 of the hashed ids {proof}"),
            ("raw logs", "files and tables of raw logs are not changed: delete there too what must go"),
            ("next", "hcat build"),
        ]

    def _count(self) -> None:
        self.counts = {
            "ids": self.count("select count(*) from hcat_wanted"),
            "interactions": self.count("select count(*) from hcat_found"),
            "queries": self.count("select count(*) from hcat_gone_queries"),
            "evaluations": self._count_if("fct_evaluations", "count(*)", "interaction_id in (from hcat_found)"),
            "texts": self._count_if(
                "int_interaction_passages", "count(distinct passage_id)", "passage_id not in (from hcat_kept_contents)"
            ),
        }

    def _count_if(self, table: str, counted: str, condition: str) -> int:
        return self.count(f"select {counted} from {table} where {condition}") if self.has(table) else 0

    def _describe(self) -> str:
        missing = self.counts["ids"] - self.count("select count(*) from hcat_known")
        listed = ", ".join(
            f"{name} {self.counts[name]:,}" for name in ("interactions", "evaluations", "texts", "queries")
        )
        unknown = f"; {missing:,} of {self.counts['ids']:,} ids are in no landed record" if missing else ""
        return f"{listed} (texts and queries that nothing else uses){unknown}"

    def _foreign(self) -> list[tuple[str, int]]:
        """Return tables that are none of hcat's and name one of the interactions, with their rows."""
        stays = keep_condition(Rule("rows", (("interaction_id", "interaction", False),)), "hcat_gone")
        counted = [
            (f"{table.schema}.{table.name}", self.count(f"select count(*) from {table.path} where not {stays}"))
            for table in self.tables
            if table.rule.action == "foreign" and "interaction_id" in table.columns and not table.is_left_behind
        ]
        return [(name, count) for name, count in counted if count]

    def _fill(self, new: str, number: int, command: str, reason: str | None, monday: date | None, proof: str) -> None:
        """Write all tables into the new database, the deletion itself among them."""
        for table in self.tables:
            if table.is_left_behind:
                self.connection.execute(f"drop table {new}.{table.path}")
            elif table.rule.action != "empty":
                self.connection.execute(f"insert into {new}.{table.path} {_select_rest(table)}")
        schema = f"{new}.{quote(self.schema)}"
        # a query that was pruned may be sent again with a later test set: only the records that were read are out
        kinds = ["interaction", "trace", "record", *(["query"] if command == "forget" else [])]
        entities = [entity for entity, (_, kind) in LANDED_IDS.items() if kind == "query"]
        self.connection.execute(
            f"insert into {schema}.hcat_deletions by name"
            f" select id_kind, hashed_id, {number} as deletion_number from hcat_gone where list_contains($1, id_kind)"
            f" union select 'record', {name_hash('record_id')}, {number} from {LANDED}"
            f" where {_LEAVES} and list_contains($2, entity) order by id_kind, hashed_id",
            [kinds, entities],
        )
        self.connection.execute(
            f"insert into {schema}.hcat_deletion_log by name select $command as command, $reason as reason,"
            f" $proof as ids_sha256, {number} as deletion_number, $monday::date as weeks_before, $now as deleted_at,"
            " (select coalesce(max(build_number), 0) from hcat_builds) as after_build_number, "
            + ", ".join(f"{count} as count_{name}" for name, count in self.counts.items()),
            {"command": command, "reason": reason, "proof": proof, "monday": monday, "now": _now()},
        )
        self.connection.execute(f"create table {schema}.{PENDING} as from hcat_gone")
        if monday is not None and self.has("int_week_sums"):
            self.connection.execute(
                f"insert into {schema}.int_weeks_pruned by name"
                f" select * exclude (range_low, range_high) replace ({number} as deletion_number)"
                " from int_week_sums where deletion_number = 0 and week_start < $1",
                [monday],
            )


_COUNT_UNKNOWN: Final = f"""
select count(*) from hcat_wanted
where {name_hash("interaction_id")} not in (select hashed_id from hcat_deletions where id_kind = 'interaction')
"""
#: Queries that only interactions ask that go; a query of which another one that stays is made stays too.
_FIND_QUERIES: Final = """
insert into hcat_gone_queries
with recursive candidates as (
    select distinct query_id from hcat_asked where is_wanted and query_id is not null
    except
    select query_id from hcat_asked where not is_wanted
),
queries as (
    select {id} as query_id, {parent} as parent_query_id from landed_records where entity = 'queries'
),
staying as (
    select query_id, parent_query_id from queries anti join candidates using (query_id)
    union
    select queries.query_id, queries.parent_query_id
    from staying inner join queries on staying.parent_query_id = queries.query_id
)
select query_id from candidates anti join staying using (query_id)
"""
_FIND_SIBLINGS: Final = """
select interaction_id from hcat_wanted
union
select interaction_id from hcat_asked
where
    query_id in (select query_id from hcat_asked where is_wanted and query_id is not null)
    or query_text in (select query_text from hcat_asked where is_wanted and query_text is not null)
"""
_FIND_CLUSTERS: Final = """
select cluster_id from fct_interactions semi join hcat_wanted using (interaction_id)
except
select cluster_id from fct_interactions anti join hcat_wanted using (interaction_id)
"""


def _list_files(names: Sequence[str]) -> str:
    more = f" and {len(names) - _FILES_SHOWN} more" if len(names) > _FILES_SHOWN else ""
    return ", ".join(names[:_FILES_SHOWN]) + more


def spell(identifier: str) -> set[str]:
    """Return how an id may be written in a record that cannot be read: as it is, and as JSON and CSV write it."""
    escaped = json.dumps(identifier)[1:-1]
    safe = re.sub("[<>&'+`]", lambda found: f"\\u{ord(found[0]):04x}", escaped)  # as Go and .NET write it
    coded = {escaped, escaped.replace("/", "\\/"), safe}
    capital = {re.sub(r"(?<=\\u)[0-9a-f]{4}", lambda found: str(found[0]).upper(), each) for each in coded}
    plain = {identifier, unicodedata.normalize("NFC", identifier), identifier.replace('"', '""')}
    return {*plain, *coded, *capital, json.dumps(identifier, ensure_ascii=False)[1:-1]}


def _trimmed(column: str) -> str:
    return f"nullif(trim({column}::varchar, '{BLANKS}'), '')"


def _select_rest(table: _Table) -> str:
    """Return the query of what stays of a table."""
    if table.rule.action == "blank":
        instead = {"read_error": f"'{DELETED}'", "is_cleaned": "false"}
        columns = [
            quote(name)
            if name in LANDED_KEPT
            else f"case when hcat_stays then {quote(name)} else {instead.get(name, 'null')} end as {quote(name)}"
            for name in table.columns
        ]
        stays = keep_condition(table.rule, "hcat_gone")
        return f"select {', '.join(columns)} from (select *, {stays} as hcat_stays from {table.path})"
    return f"select * from {table.path} where {keep_condition(table.rule, 'hcat_gone')}"


def _write_anew(deletion: _Deletion, fill: Any) -> None:
    """Write the database of a deletion into a new file and put it into the place of the old one."""
    path = deletion.place.database.resolve()
    connection = deletion.connection
    # what a build that was killed left in the log of the database must not be read into the new one
    connection.execute("checkpoint")
    old = quote(connection.execute("select current_database()").fetchone()[0])
    # in one step, and while no other process can have opened the old file
    with replacing(path) as new:
        connection.execute(f"attach '{str(new).replace(chr(39), chr(39) * 2)}' as hcat_new")
        try:
            connection.execute(f"copy from database {old} to hcat_new (schema)")
            fill("hcat_new")
            connection.execute("checkpoint hcat_new")
        except Exception as error:
            if (told := explain_failure(error)) is None:
                raise
            raise WarehouseError(f"nothing was deleted: {told}") from error
        finally:
            connection.execute("detach hcat_new")
        path.with_name(f"{path.name}.wal").unlink(missing_ok=True)


def _finish(connection: Any, place: Place) -> list[str]:
    """Delete beside the database what the pending deletion is about; return the names of removed files."""
    removed = delete_from_files(connection, place, PENDING)
    connection.begin()
    connection.execute("update hcat_deletion_log set finished_at = $1 where finished_at is null", [_now()])
    connection.execute(f"drop table {PENDING}")
    connection.commit()
    return removed


def _now() -> datetime:
    return datetime.now(UTC).replace(tzinfo=None, microsecond=0)
