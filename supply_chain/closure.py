"""The packages that hcat runs on, found by following what each installed package asks for."""

import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Final

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

REPOSITORY: Final = Path(__file__).resolve().parents[1]

#: One file of pinned packages per step of an installation.
LOCKS: Final = REPOSITORY / "locks"

#: Words of package metadata for the licences of the SPDX list.
_WORDS: Final = {
    "3-clause bsd license": "BSD-3-Clause",
    "apache-2": "Apache-2.0",
    "apache 2.0": "Apache-2.0",
    "apache 2.0 license": "Apache-2.0",
    "apache license 2.0": "Apache-2.0",
    "apache license, version 2.0": "Apache-2.0",
    "apache software license": "Apache-2.0",
    "artistic license": "Artistic-1.0-Perl",
    "bsd": "BSD-3-Clause",
    "bsd license": "BSD-3-Clause",
    "gnu general public license (gpl)": "GPL-1.0-or-later",
    "gnu general public license v2 or later (gplv2+)": "GPL-2.0-or-later",
    "isc license (iscl)": "ISC",
    "mit": "MIT",
    "mit license": "MIT",
    "mozilla public license 2.0 (mpl 2.0)": "MPL-2.0",
    "python software foundation license": "PSF-2.0",
}


@dataclass(slots=True)
class Package:
    """An installed package of the closure."""

    name: str
    version: str
    licence: str
    needed_by: set[str] = field(default_factory=set)


def read_pins(*steps: str) -> dict[str, str]:
    """Return the version of each package that the lock pins, in the files of some steps or in all of them.

    The mark of a local build ("+cpu") is left out.
    """
    paths = [LOCKS / f"{step}.txt" for step in steps] or sorted(LOCKS.glob("*.txt"))
    text = "".join(path.read_text(encoding="utf-8") for path in paths)
    return dict(re.findall(r"^([a-z0-9-]+)==([^\s+]+)", text, flags=re.MULTILINE))


def find_closure(extras: Iterable[str] = ()) -> dict[str, Package]:
    """Return the installed packages that hcat needs, by name."""
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    asked = [(text, "hcat", True) for text in project["dependencies"]]
    asked += [(text, "hcat", False) for extra in extras for text in project["optional-dependencies"][extra]]
    found: dict[str, Package] = {}
    followed: set[tuple[str, str]] = set()
    while asked:
        text, parent, is_needed = asked.pop()
        requirement = Requirement(text)
        name = canonicalize_name(requirement.name)
        try:
            distribution = metadata.distribution(name)
        except metadata.PackageNotFoundError as error:
            if is_needed:
                raise LookupError(f"{name} is not installed, and {parent} needs it") from error
            continue
        if name not in found:
            version = distribution.version.split("+")[0]
            found[name] = Package(name, version, read_licence(distribution.metadata))
        found[name].needed_by.add(parent)
        for extra in {"", *requirement.extras}:
            if (name, extra) in followed:
                continue
            followed.add((name, extra))
            for inner in distribution.requires or ():
                marker = Requirement(inner).marker
                has_extra = marker is not None and "extra" in str(marker)
                if has_extra == bool(extra) and (marker is None or marker.evaluate({"extra": extra})):
                    asked.append((inner, name, is_needed))
    return dict(sorted(found.items()))


def read_licence(about: metadata.PackageMetadata) -> str:
    """Return the licence that a package states: its SPDX expression, its classifiers, or the field of older packages.

    Examples
    --------
    >>> from email.message import Message
    >>> about = Message()
    >>> about["Classifier"] = "License :: OSI Approved :: MIT License"
    >>> read_licence(about)
    'MIT'
    """
    expression = about.get("License-Expression")
    if expression:
        return str(expression)
    # the field names it more exactly than a classifier, where it is a name and no text
    text = str(about.get("License") or "").strip()
    stated = text if len(text) < 40 and text.upper() != "UNKNOWN" and "::" not in text else ""
    stated = _WORDS.get(stated.lower(), stated)
    if re.fullmatch(r"[A-Z][\w.+-]*-[\w.+-]+( (AND|OR) [\w.+-]+)*", stated):
        return stated
    words = [line.split(" :: ")[-1] for line in about.get_all("Classifier") or () if line.startswith("License ::")]
    named = [_WORDS.get(word.lower(), word) for word in words]
    return " OR ".join(named) or stated
