"""The models of a build, named and not loaded: who embeds, entails, reads tone and finds personal data."""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from functools import cache, wraps
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

import pyarrow as pa

from hcat.encoders import cascade, mpnet
from hcat.encoders.classifier_heads import FOLDER, load_card
from hcat.engine.columns import stack_parts
from hcat.engine.devices import (
    MINILM,
    NAMES,
    ModelError,
    check_package,
    check_packaged_weights,
    choose_device,
    choose_dtype,
    hash_model,
    multiplies_bfloat16,
)
from hcat.engine.keys import hash_file, hash_folder, hash_text
from hcat.engine.saying import say
from hcat.privacy.tables import describe_recognisers

Model = TypeVar("Model")

#: The offline default: the official all-MiniLM-L6-v2 (Apache-2.0), packaged on the package index.
PACKAGED_NAME: Final = "all-MiniLM-L6-v2"

PURPOSES: Final = ("toxicity", "sentiment")
"""Toxicity is 0 to 1, sentiment -1 (negative) to 1 (positive)."""

HEADS: Final = {"toxicity": "toxicity_head", "sentiment": "sentiment_head"}

NAMES_REVISION: Final = 1
"""Part of the revision of the packaged sentiment classifier; raise it if
:func:`hcat.encoders.text_classifiers.neutralise` changes."""

#: Setting of the cascade of both shipped classifiers (:mod:`hcat.encoders.cascade`), the default.
CASCADE: Final = "cascade"
CASCADE_NAME: Final = "hcat-entailment-cascade"

_HUB_NAME: Final = re.compile(r"(?P<model>(?:[\w.-]+/)?[\w.-]+)@(?P<commit>[0-9a-f]{7,40})")


class ModelIdentity(NamedTuple):
    """Everything that the results of a model depend on.

    `key` goes into the content key of a result. `location` is what is loaded: a word of the settings, a folder or a Hub
    id. It never has the path of packaged weights, so that two installations write identical rows.
    """

    key: str
    name: str
    revision: str
    sha256: str
    device: str
    dtype: str
    location: str
    purpose: str | None = None

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> ModelIdentity:
        """Return the identity that a row of the model int_models holds."""
        return cls(*(row[column] for column in MODEL_COLUMNS))


MODEL_COLUMNS: Final = ("model_key", "model_name", "model_revision", "model_sha256", *ModelIdentity._fields[4:])


class Shipped(NamedTuple):
    """A classifier of the project: a base model from a package, and a low-rank delta in this package."""

    name: str
    folder: Path
    check_base: Callable[[], str]
    #: SHA-256 of all files of the base
    base_files: str


#: Setting -> classifier trained by training/ (docs/model-card.md): the offline default, and the larger one, whose base
#: is installed separately.
SHIPPED: Final = {
    "compact": Shipped("hcat-entailment-compact", FOLDER / "entailment_compact", check_packaged_weights, MINILM.sha256),
    "accurate": Shipped(
        "hcat-entailment-accurate", FOLDER / "entailment_accurate", mpnet.check_archive, mpnet.ARCHIVE_SHA256
    ),
}

_LOCK: Final = threading.RLock()


def load_once(open_model: Callable[[ModelIdentity], Model]) -> Callable[[ModelIdentity], Model]:
    """Return a function that opens each model once per process, and one at a time."""
    opened = cache(open_model)

    @wraps(open_model)
    def load(identity: ModelIdentity) -> Model:
        with _LOCK:
            return opened(identity)

    return load


def resolve_encoder(name: str, device: str = "auto", dtype: str = "auto") -> ModelIdentity:
    """Return the identity of the configured encoder (``hcat_encoder``) without loading it."""
    device = choose_device(device)
    dtype = choose_dtype(dtype, device)
    files: tuple[str, ...] = ()
    if name == "packaged":
        named = (PACKAGED_NAME, "packaged", check_packaged_weights(), "packaged")
        files = (MINILM.sha256,)
    elif name.startswith("hashing:"):
        if not name.removeprefix("hashing:").isdecimal():
            raise ModelError(f"encoder {name!r} must be hashing:<dimensions>, for instance hashing:32")
        named, device, dtype = (name, "1", hash_text("hcat hashing encoder 1"), name), "cpu", "float32"
    else:
        named = _find_files("encoder", name, ("packaged", "hashing:<dimensions>"))
    return _identify(named, device, dtype, files)


def resolve_classifier(name: str, device: str = "auto", dtype: str = "auto") -> ModelIdentity:
    """Return the identity of the configured entailment classifier without loading it.

    The accurate one takes bfloat16 from a processor that multiplies it, unless the device is named.
    """
    is_fast = (device, dtype) == ("auto", "auto") and name in (CASCADE, cascade.SECOND) and multiplies_bfloat16()
    device = choose_device(device)
    dtype = "bfloat16" if is_fast else choose_dtype(dtype, device)
    files: tuple[str, ...] = ()
    if name in SHIPPED:
        shipped = SHIPPED[name]
        card = read_card(shipped)
        base, delta = shipped.check_base(), hash_file(shipped.folder / "delta.safetensors")
        if delta != card["delta_sha256"]:
            raise ModelError(f"{shipped.name}: delta must have SHA-256 {card['delta_sha256']}, got {delta}")
        both = hashlib.sha256(f"{base}{delta}".encode()).hexdigest()
        named = (shipped.name, str(card["revision"]), both, name)
        files = (shipped.base_files, hash_folder(shipped.folder), f"stated {cascade.STATED_LOGIT}")
    elif name == CASCADE:
        first, second = resolve_classifier(cascade.FIRST, device), resolve_classifier(cascade.SECOND, device, dtype)
        both = hash_text(first.sha256, second.sha256, cascade.RULE)
        named = (CASCADE_NAME, f"{first.revision}.{second.revision}.{cascade.RULE}", both, name)
        files = (first.key, second.key)
    elif name in ("none", "hashing"):
        named, device, dtype = (name, "1", hash_text(f"hcat {name} classifier 1"), name), "cpu", "float32"
    else:
        named = _find_files("classifier", name, (CASCADE, *SHIPPED, "none"))
    return _identify(named, device, dtype, files)


@cache
def resolve_part(identity: ModelIdentity, part: str) -> ModelIdentity:
    """Return the identity of one classifier of a cascade, on its device; the number format is that of the second."""
    return resolve_classifier(part, identity.device, identity.dtype if part == cascade.SECOND else "auto")


def resolve_text_classifier(
    purpose: str, name: str, encoder: ModelIdentity, device: str = "auto", dtype: str = "auto"
) -> ModelIdentity:
    """Return the identity of the configured classifier of toxicity or sentiment without loading it."""
    device = choose_device(device)
    dtype = choose_dtype(dtype, device)
    files: tuple[str, ...] = ()
    if name == "packaged" and encoder.location.startswith("hashing:"):
        named, device, dtype = ("hashing", "1", hash_text(f"hcat hashing {purpose} 1"), "hashing"), "cpu", "float32"
    elif name == "packaged":
        card, sha256, _ = load_card(HEADS[purpose])
        location = "stored" if encoder.sha256 == card["encoder_sha256"] else "encoded"
        revision = f"{card['revision']}, names {NAMES_REVISION}" if purpose == "sentiment" else card["revision"]
        named = (card["name"], revision, sha256, location)
        # the sentiment head reads texts without names, and ordinary words are no names
        read = (MINILM, NAMES) if purpose == "sentiment" else (MINILM,)
        for package in read:
            check_package(package)
        files = (*(package.sha256 for package in read), hash_folder(FOLDER / HEADS[purpose]))
    elif name == "none":
        named, device, dtype = (name, "1", hash_text("hcat no text classifier 1"), name), "cpu", "float32"
    else:
        named = _find_files(f"{purpose} classifier", name, ("packaged", "none"))
    key = hash_text(purpose, *named[:3], dtype, named[3], *files)
    return ModelIdentity(key, *named[:3], device, dtype, named[3], purpose)


def resolve_reading_heads() -> ModelIdentity:
    """Return the identity of the head of wordings; new weights describe all answers anew."""
    sha256 = hash_text(load_card("wording_head")[1])
    return _identify(("hcat-reading-heads", "1", sha256, "packaged"), "cpu", "float32", ())


def _find_files(kind: str, name: str, words: Sequence[str]) -> tuple[str, str, str, str]:
    """Return name, revision, SHA-256 and location of a model in a local folder or on the Hub."""
    if Path(name).is_dir():
        return Path(name).name, "local", hash_model(Path(name)), name
    on_hub = _HUB_NAME.fullmatch(name)
    if on_hub is None:
        meant = get_close_matches(name, words, n=1)
        raise ModelError(
            f"{kind} {name!r} is no folder and none of {', '.join(words)}; a model of the Hub is named with its "
            f"commit, org/model@commit{f'; did you mean {meant[0]}?' if meant else ''}"
        )
    return on_hub["model"], on_hub["commit"], "of the pinned revision", on_hub["model"]


def _identify(named: tuple[str, str, str, str], device: str, dtype: str, files: Sequence[str]) -> ModelIdentity:
    return ModelIdentity(hash_text(*named[:3], dtype, *files), *named[:3], device, dtype, named[3])


def read_card(shipped: Shipped) -> dict[str, Any]:
    """Return the card of a shipped classifier: labels, SHA-256 digests, recipe, digests of its training sources."""
    path = shipped.folder / "card.json"
    if not path.exists():
        raise ModelError(f"{shipped.name}: {path.name} is missing from the package")
    card: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return card


def describe_models(settings: Mapping[str, str], entity_types: pa.Table) -> pa.Table:
    """Return one row per model of a build, under the part that names it; the column ``problem`` has an error, if any.

    Parameters
    ----------
    settings : mapping
        encoder, classifier, toxicity, sentiment, tagger and device.
    entity_types : Table
        As for :func:`hcat.privacy.tables.describe_recognisers`.
    """
    device = settings["device"]
    encoder = _try(resolve_encoder, settings["encoder"], device)
    classifier = _try(resolve_classifier, _with_base(settings["classifier"]), device)
    # without an encoder nothing is read, and its row says why
    embeds = encoder if isinstance(encoder, ModelIdentity) else ModelIdentity(*[""] * 7)
    tones = [_try(resolve_text_classifier, purpose, settings[purpose], embeds, device) for purpose in PURPOSES]
    both = hash_text(*[tone.key if isinstance(tone, ModelIdentity) else "None" for tone in tones])
    tones = [tone._replace(key=both) if isinstance(tone, ModelIdentity) else tone for tone in tones]
    return stack_parts(
        {
            "encoder": _as_rows([encoder], [None]),
            "classifier": _as_rows([classifier], [None]),
            "text classifier": _as_rows(tones, PURPOSES),
            "reading heads": _as_rows([_try(resolve_reading_heads)], [None]),
            "recognisers of personal data": describe_recognisers(settings["tagger"], entity_types),
        }
    )


def _with_base(classifier: str) -> str:
    """Return the setting of the classifier; without its base the accurate one of the cascade is left out."""
    if classifier != CASCADE or mpnet.is_installed():
        return classifier
    say(
        "hcat classifier: the base of the accurate classifier is not installed, so the compact one reads alone "
        f"({mpnet.INSTALL})",
        is_error=True,
    )
    return cascade.FIRST


def _try(resolve: Callable[..., ModelIdentity], *settings: Any) -> ModelIdentity | str:
    """Return an identity, or what is wrong with it."""
    try:
        return resolve(*settings)
    except ModelError as error:
        return str(error)


def _as_rows(identities: Sequence[ModelIdentity | str], purposes: Sequence[str | None]) -> pa.Table:
    """Return identities as rows; one that could not be found is its purpose and its problem."""
    rows = [
        {"purpose": purpose, "problem": identity}
        if isinstance(identity, str)
        else dict(zip(MODEL_COLUMNS, identity, strict=True))
        for identity, purpose in zip(identities, purposes, strict=True)
    ]
    return pa.Table.from_pylist(rows, pa.schema([(column, pa.string()) for column in (*MODEL_COLUMNS, "problem")]))
