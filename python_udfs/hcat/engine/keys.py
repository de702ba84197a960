"""Content keys: the same parts give the same key on every machine and in SQL."""

from __future__ import annotations

import hashlib


def hash_text(*parts: str) -> str:
    """Return the MD5 of ``parts`` joined by a unit separator, 32 hexadecimal digits (a content key, no secret)."""
    return hashlib.md5("\x1f".join(parts).encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()
