"""Hashes: the content key of texts, the same on every machine and in SQL, and the digest of files and folders."""

import hashlib
import os
import re
from collections.abc import Iterable
from pathlib import Path

_HIDDEN = re.compile("[^ @]+@[^ @]+|[0-9]{7,}|[0-9]{3}-[0-9]{2}-[0-9]{4}|[0-9]{3,4}(?:[ -][0-9]{3,4}){2,}")


def hash_text(*parts: str) -> str:
    """Return the MD5 of ``parts`` joined by a unit separator, 32 hexadecimal digits (a content key, not a secret)."""
    return hashlib.md5("\x1f".join(parts).encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()


def hash_of_query(text: str) -> str:
    """Return the MD5 of what a query asks without addresses and long numbers: the macro of this name in Python."""
    written = _HIDDEN.sub("#", re.sub(r"[ \t\n\f\r]+", " ", text.strip(" "))).lower()
    return hashlib.md5(written.encode(), usedforsecurity=False).hexdigest()


def hash_file(path: Path) -> str:
    """Return the SHA-256 of a file, 64 hexadecimal digits."""
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def hash_files(folder: Path, paths: Iterable[Path]) -> str:
    """Return one SHA-256 of files: of their names below a folder, in order, each with the SHA-256 of its content."""
    named = sorted((path.relative_to(folder).as_posix(), path) for path in paths)
    return hashlib.sha256("".join(f"{name}\0{hash_file(path)}\n" for name, path in named).encode()).hexdigest()


def hash_folder(folder: Path) -> str:
    """Return one SHA-256 of all files of a folder, linked ones included."""
    paths = []
    for parent, folders, files in os.walk(folder, followlinks=True):
        folders[:] = [name for name in folders if name != "__pycache__" and not name.startswith(".")]
        paths += [Path(parent, name) for name in files if not name.startswith(".")]
    return hash_files(folder, paths)
