"""Marts without rows, as their contracts describe them, for whatever reads a warehouse."""

import functools
from pathlib import Path
from typing import Any

import yaml

MODELS = Path(__file__).resolve().parents[3] / "models"

OTHER_TABLES = """
create table int_records_counted (
    entity varchar, count_landed bigint, count_staged bigint, count_repeated bigint, count_rejected bigint
);
create table stg_rejected_records (
    record_id varchar, entity varchar, source_file varchar, kind varchar, reject_reason varchar, record_excerpt varchar,
    source_row bigint, landing_number bigint
);
"""


@functools.cache
def read_marts() -> list[dict[str, Any]]:
    paths = sorted(set(MODELS.rglob("_*.yml")) - set(MODELS.rglob("*_unit_tests.yml")))
    models = [model for path in paths for model in yaml.safe_load(path.read_text()).get("models", [])]
    return [model for model in models if model["name"].startswith(("dim_", "fct_"))]


def create_marts(connection: Any, *names: str) -> None:
    """Create these marts; without a name all of them, and the tables beside them that the report reads."""
    for model in read_marts():
        if not names or model["name"] in names:
            columns = ", ".join(f"{column['name']} {column['data_type']}" for column in model["columns"])
            connection.execute(f"create table {model['name']} ({columns})")
    if not names:
        connection.execute(OTHER_TABLES)


def insert(connection: Any, table: str, rows: list[dict[str, Any]]) -> None:
    for row in rows:
        names, marks = ", ".join(row), ", ".join("?" for _ in row)
        connection.execute(f"insert into {table} ({names}) values ({marks})", list(row.values()))
