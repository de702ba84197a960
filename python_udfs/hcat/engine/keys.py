"""Hashes: the content key of texts, the same on every machine and in SQL, and the digest of a file."""

from __future__ import annotations

import hashlib
from pathlib import Path


def hash_text(*parts: str) -> str:
    """Return the MD5 of ``parts`` joined by a unit separator, 32 hexadecimal digits (a content key, not a secret).

    Examples
    --------
    >>> hash_text("a")
    '0cc175b9c0f1b6a831c399e269772661'
    >>> hash_text("a", "b") == hash_text("ab")
    False
    """
    return hashlib.md5("\x1f".join(parts).encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()


def hash_file(path: Path) -> str:
    """Return the SHA-256 of a file, 64 hexadecimal digits."""
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()
