"""Name the entailment classifier of a build: by its setting, without loading it.

Everything that a score depends on is part of the identity: all files of the model, revision and number format.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from hcat.encoders import cascade, mpnet
from hcat.engine.devices import MINILM, ModelError, check_packaged_weights, choose_device, choose_dtype, hash_model
from hcat.engine.keys import hash_file, hash_folder, hash_text
from hcat.engine.saying import say

_WEIGHTS = Path(__file__).parent / "weights"


@dataclass(frozen=True, slots=True)
class ClassifierIdentity:
    """Identity of a classifier: everything that an entailment score depends on.

    The attributes correspond to those of :class:`hcat.encoders.embedding.EncoderIdentity`. ``location`` is
    ``packaged``, ``accurate``, ``none`` (entailment is switched off), ``hashing``, a local path or a Hub id.
    """

    classifier_key: str
    classifier_name: str
    classifier_revision: str
    classifier_sha256: str
    device: str
    dtype: str
    location: str

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> ClassifierIdentity:
        """Return the identity that a row of the model int_models holds."""
        return cls(**{name: row[name] for name in CLASSIFIER_COLUMNS})


CLASSIFIER_COLUMNS = tuple(field.name for field in fields(ClassifierIdentity))


class Shipped(NamedTuple):
    """A classifier of the project: a base model from a package, and a low-rank delta in this package.

    Attributes
    ----------
    name : str
        Name in rows and cards.
    folder : Path
        Folder of delta.safetensors and card.json.
    check_base : callable
        Returns the SHA-256 of the base weights; raises a :class:`ModelError` if a file of the base is missing or not
        the pinned one.
    base_files : str
        SHA-256 of all files of the base: weights, tokenizer and configuration.
    """

    name: str
    folder: Path
    check_base: Callable[[], str]
    base_files: str


#: Setting of the cascade of both shipped classifiers (:mod:`hcat.encoders.cascade`), the default.
CASCADE = "cascade"
CASCADE_NAME = "hcat-entailment-cascade"

#: Setting -> classifier trained by training/ (docs/model-card.md): the offline default, and the larger one, whose base
#: is installed separately.
SHIPPED = {
    "compact": Shipped(
        "hcat-entailment-compact", _WEIGHTS / "entailment_compact", check_packaged_weights, MINILM.sha256
    ),
    "accurate": Shipped(
        "hcat-entailment-accurate", _WEIGHTS / "entailment_accurate", mpnet.check_archive, mpnet.ARCHIVE_SHA256
    ),
}


#: Settings that name a classifier without a folder or a Hub id.
SETTINGS = (CASCADE, *SHIPPED, "none")


def resolve_classifier(name: str, revision: str, device: str, dtype: str) -> ClassifierIdentity:
    """Return the identity of the configured classifier without loading it."""
    device = choose_device(device)
    dtype = choose_dtype(dtype, device)
    files: tuple[str, ...] = ()
    if name in SHIPPED:
        shipped = SHIPPED[name]
        card = read_card(shipped)
        base, delta = shipped.check_base(), hash_file(shipped.folder / "delta.safetensors")
        if delta != card["delta_sha256"]:
            raise ModelError(f"{shipped.name}: delta must have SHA-256 {card['delta_sha256']}, got {delta}")
        both = hashlib.sha256(f"{base}{delta}".encode()).hexdigest()
        parts = (shipped.name, str(card["revision"]), both, device, dtype, name)
        files = (shipped.base_files, hash_folder(shipped.folder))
    elif name == CASCADE:
        first, second = (resolve_classifier(part, "", device, dtype) for part in (cascade.FIRST, cascade.SECOND))
        both = hash_text(first.classifier_sha256, second.classifier_sha256, cascade.RULE)
        revision = f"{first.classifier_revision}.{second.classifier_revision}.{cascade.RULE}"
        parts = (CASCADE_NAME, revision, both, device, dtype, name)
        files = (first.classifier_key, second.classifier_key)
    elif name in ("none", "hashing"):
        parts = (name, "1", hash_text(f"hcat {name} classifier 1"), "cpu", "float32", name)
    elif Path(name).is_dir():
        parts = (Path(name).name, "local", hash_model(Path(name)), device, dtype, name)
    elif not revision:
        raise ModelError(
            f"classifier {name!r} is no folder and none of {', '.join(SETTINGS)}; as a Hub id it "
            "needs hcat_classifier_revision (a commit), got none"
        )
    else:
        parts = (name, revision, "of the pinned revision", device, dtype, name)
    classifier_name, classifier_revision, sha256, device, dtype, location = parts
    key = hash_text(classifier_name, classifier_revision, sha256, dtype, *files)
    return ClassifierIdentity(key, classifier_name, classifier_revision, sha256, device, dtype, location)


@cache
def resolve_part(identity: ClassifierIdentity, part: str) -> ClassifierIdentity:
    """Return the identity of one classifier of a cascade, on its device and in its number format."""
    return resolve_classifier(part, "", identity.device, identity.dtype)


def describe_classifier(name: str, revision: str, device: str, dtype: str) -> pa.Table:
    """Return the identity of the configured classifier as one row; the column ``problem`` has an error, if any."""
    try:
        if name == CASCADE and not mpnet.is_installed():
            say(
                "hcat classifier: the base of the accurate classifier is not installed, so the compact one reads alone "
                f"({mpnet.INSTALL})",
                is_error=True,
            )
            name = cascade.FIRST
        row = asdict(resolve_classifier(name, revision, device, dtype)) | {"problem": None}
    except ModelError as error:
        row = dict.fromkeys(CLASSIFIER_COLUMNS) | {"problem": str(error)}
    schema = pa.schema([(column, pa.string()) for column in (*CLASSIFIER_COLUMNS, "problem")])
    return pa.Table.from_pylist([row], schema=schema)


def read_card(shipped: Shipped) -> dict[str, Any]:
    """Return the card of a shipped classifier: labels, SHA-256 digests, recipe, digests of its training sources."""
    path = shipped.folder / "card.json"
    if not path.exists():
        raise ModelError(f"{shipped.name}: {path.name} is missing from the package")
    card: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return card
