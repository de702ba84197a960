"""Connections to warehouses by ADBC: where they are, without secrets in files, quoted names, and errors of one line."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs, quote, unquote, urlencode, urlsplit

import pyarrow as pa
from pydantic import model_validator

from hcat.engine.http import Redactor, is_this_machine
from hcat.engine.project import read_target
from hcat.engine.yaml_files import Part, load_yaml

_VARIABLE: Final = re.compile(r"\$\{(\w+)\}")
_SECRET: Final = re.compile(r"pass|secret|token|private_key|keyfile_json", re.IGNORECASE)
#: Modes of libpq in which others may read a connection on its way.
_READABLE: Final = ("", "disable", "allow", "prefer")
_BEFORE_THE_CAUSE: Final = re.compile(r"^(?:[A-Z_]+: )?(?:\[\w+\] )?(?:.*?\bERROR:\s+)?")


class Connection(Part):
    """Where the warehouse is: an address, or a target of a profile of dbt."""

    uri: str | None = None
    profile: str | None = None
    target: str | None = None

    @model_validator(mode="after")
    def _check(self) -> Connection:
        if bool(self.uri) == bool(self.profile):
            raise ValueError("must have a uri or a profile")
        if self.uri and not all(map(_VARIABLE.fullmatch, passwords_of(self.uri))):
            raise ValueError("uri holds a password: write ${NAME} of an environment variable in its place")
        return self


@dataclass(frozen=True, slots=True)
class Warehouse:
    """A warehouse: its kind, what its driver is told, how it is shown, and its connection while it is open."""

    kind: str
    options: dict[str, Any]
    shown: str
    redactor: Redactor
    connection: Any = None

    def quote(self, *names: str) -> str:
        """Return a name with its qualifiers, quoted by the rule of the warehouse."""
        if self.kind == "bigquery":
            return ".".join("`" + name.replace("\\", "\\\\").replace("`", "\\`") + "`" for name in names)
        return ".".join('"' + name.replace('"', '""') + '"' for name in names)

    @contextmanager
    def read(self, query: str) -> Iterator[pa.RecordBatchReader]:
        """Yield the rows of a query as a stream."""
        with self.connection.cursor() as cursor:
            if self.kind == "redshift":
                # it has no COPY of PostgreSQL's kind
                cursor.adbc_statement.set_options(**{"adbc.postgresql.use_copy": "false"})
            cursor.execute(query)
            yield cursor.fetch_record_batch()

    def execute(self, *statements: str) -> None:
        """Run statements that return no rows."""
        with self.connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)

    def list_tables(self, depth: str, schema: str | None = None) -> dict[str, dict[str, list[str]]]:
        """Return schema -> table -> columns of what the account may see; columns with that depth alone."""
        here = self.connection.adbc_current_catalog
        listed = self.connection.adbc_get_objects(depth=depth, catalog_filter=here, db_schema_filter=schema)
        return {
            each["db_schema_name"]: {
                table["table_name"]: [column["column_name"] for column in table["table_columns"] or []]
                for table in each["db_schema_tables"] or []
            }
            for catalogue in listed.read_all().to_pylist()
            for each in catalogue["catalog_db_schemas"] or []
        }


@contextmanager
def open_warehouse(target: Warehouse) -> Iterator[Warehouse]:
    """Yield a connection; what the warehouse refuses is one line without secrets."""
    # Redshift speaks the protocol of PostgreSQL
    name = f"adbc_driver_{target.kind.replace('redshift', 'postgresql')}"
    try:
        driver: Any = import_module(f"{name}.dbapi")
    except ImportError as error:
        package = name.replace("_", "-")
        raise ValueError(f"no driver of {target.kind}: pip install adbc-driver-manager {package}") from error
    try:
        # PostgreSQL takes a push as a whole; other warehouses end a transaction at each change of a table
        with driver.connect(**target.options, autocommit=target.kind != "postgresql") as connection:
            yield replace(target, connection=connection)
    except (driver.Error, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # of a file: what ends a stream has no number
        said = _BEFORE_THE_CAUSE.sub("", str(error).strip().partition("\n")[0])
        raise ValueError(f"{target.shown}: {target.redactor.message(said)}") from None


def find_target(given: Connection | None, project: Path, profiles: Path | None) -> Warehouse:
    """Return the warehouse of a connection, with the secrets of the environment."""
    if given is None:
        raise ValueError("no connection is named")
    if given.profile:
        return _read_profile(*read_target(project, given.profile, given.target, profiles))
    uri = given.uri or ""
    values = {name: os.environ.get(name, "") for name in _VARIABLE.findall(uri)}
    if missing := [name for name, value in values.items() if not value]:
        raise ValueError(f"the uri needs the environment variable {missing[0]}, which is not set")
    return address_of(_VARIABLE.sub(lambda match: quote(values[match[1]], safe=""), uri), *values.values())


def address_of(uri: str, *secrets: str) -> Warehouse:
    """Return the warehouse of an address; nothing is sent readably over a network."""
    parts = urlsplit(uri)
    kind = "postgresql" if parts.scheme == "postgres" else parts.scheme
    if kind not in ("postgresql", "redshift"):
        raise ValueError("uri must begin with postgresql:// or redshift://; for others name a profile of dbt")
    named = parse_qs(parts.query)
    place = parts.netloc.rpartition("@")[2]
    given = named.get("hostaddr") or named.get("host")
    hosts = given[-1].split(",") if given else [urlsplit(f"//{each}").hostname or "" for each in place.split(",")]
    # libpq fills in what is empty; what begins with a slash is a socket
    hosts = [unquote(host) or os.environ.get("PGHOSTADDR") or os.environ.get("PGHOST", "") for host in hosts]
    is_here = all(host[:1] in ("", "/") or is_this_machine(host) for host in hosts) and "service" not in named
    if not is_here and named.get("sslmode", [""])[-1] in _READABLE:
        raise ValueError("uri of another machine needs ?sslmode=verify-full (or verify-ca, require)")
    given = passwords_of(uri)
    redactor = Redactor([*secrets, *given, *map(unquote, given), os.environ.get("PGPASSWORD", "")])
    return Warehouse(kind, {"uri": f"postgresql{uri[len(parts.scheme) :]}"}, f"{kind}://{place}{parts.path}", redactor)


def passwords_of(uri: str) -> list[str]:
    """Return the passwords that stand in an address, as they are written there."""
    parts = urlsplit(uri)
    named = parse_qs(parts.query)
    return [each for each in (parts.password, *named.get("password", []), *named.get("sslpassword", [])) if each]


def _read_profile(named: str, output: Mapping[str, Any]) -> Warehouse:
    """Return the warehouse of a target of dbt, by what its adapters call the parts."""
    names = load_yaml(Path(__file__).with_name("profiles.yml"))
    given = {names["aliases"].get(key, key): str(value) for key, value in output.items() if value not in (None, "")}
    kind = names["kinds"].get(given.get("type"))
    if kind is None:
        raise ValueError(f"{named} is none of {', '.join(names['kinds'])}: export Parquet files (docs/warehouses.md)")
    secrets = [value for key, value in given.items() if _SECRET.search(key)]
    if kind not in names:
        login = ":".join(quote(given[key], safe="") for key in ("user", "password") if key in given)
        modes = {key: given[key] for key in ("sslmode", "sslrootcert", "sslcert", "sslkey") if key in given}
        place = f"{quote(given.get('host', ''), safe=':[]')}:{given.get('port', '5432')}"
        return address_of(f"{kind}://{login}@{place}/{quote(given.get('database', ''))}?{urlencode(modes)}", *secrets)
    options = {names[kind][key]: value for key, value in given.items() if key in names[kind]}
    options |= {name: value for key in given for name, value in names["login"].get(key, {}).items()}
    return Warehouse(kind, {"db_kwargs": options}, f"{kind}, {named}", Redactor(secrets))
