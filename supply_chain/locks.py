"""The lock: what each step of an installation brings, with the SHA-256 of every file of each release.

Releases stay as the lock has them, unless ``pyproject.toml`` asks for others. The package index is the one that pip is
set up with, and no file names it.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

import httpx
from packaging.requirements import Requirement
from packaging.utils import (
    InvalidSdistFilename,
    InvalidWheelFilename,
    canonicalize_name,
    parse_sdist_filename,
    parse_wheel_filename,
)
from packaging.version import InvalidVersion, Version

from hcat.engine.devices import MPNET_PACKAGES
from supply_chain.closure import LOCKS, REPOSITORY, read_pins

#: The wheel whose requirements stand in locks/cuda.txt: torch of the index, for NVIDIA cards.
_CUDA_WHEEL: Final = "manylinux_2_28_x86_64"
_PYTHON: Final = "cp311"
_TIMEOUT: Final = 60

#: Version and digests of a release, by the name of its package.
Releases = dict[str, tuple[str, set[str]]]


def write_locks(folder: Path = LOCKS) -> int:
    """Write one file per step into a folder, and return the number of packages in them.

    A file holds what the files before it do not. Those of the bill of materials and of the accurate classifier stand
    alone: the first has an environment of its own, and the second needs none of what its packages ask for.
    """
    folder.mkdir(exist_ok=True)
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
    extras = project["project"]["optional-dependencies"]
    steps = {
        "build": project["build-system"]["requires"],
        "run": project["project"]["dependencies"],
        "dev": extras["dev"],
        "spark": extras["spark"],
        "extras": [*extras["topics"], *extras["integrations"], *extras["language-model"]],
    }
    pins, asked, taken = read_pins(), list[str](), Releases()
    count = 0
    for step, texts in steps.items():
        asked += texts
        found = _resolve(asked, pins)
        count += _write(folder / f"{step}.txt", {name: found[name] for name in found.keys() - taken.keys()})
        taken |= found
        pins |= {name: version for name, (version, _) in taken.items()}
    count += _write(folder / "cuda.txt", _follow_cuda(pins, taken))
    count += _write(folder / "sbom.txt", _resolve(["cyclonedx-bom"], pins))
    return count + _write(folder / "mpnet.txt", _resolve(MPNET_PACKAGES, pins, "--no-deps"))


def _resolve(texts: Iterable[str], pins: Mapping[str, str], *options: str) -> Releases:
    """Return the releases that pip takes, with the digests of their files in the index and of those it found here."""
    limits = REPOSITORY / "dist" / "limits.txt"
    limits.parent.mkdir(exist_ok=True)
    limits.write_text("".join(f"{name}=={version}\n" for name, version in pins.items()), encoding="utf-8")
    command = [sys.executable, "-m", "pip", "install", "--dry-run", "--ignore-installed", "--quiet", "--report", "-"]
    command += ["--constraint", str(limits), *options, *texts]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    found = {}
    for item in json.loads(done.stdout)["install"]:
        name = canonicalize_name(item["metadata"]["name"])
        version = item["metadata"]["version"].split("+")[0]  # a local build of the same release
        here = item["download_info"]["archive_info"]["hashes"]["sha256"]
        found[name] = (version, {here} | {file["hashes"]["sha256"] for file in _list_files(name, version)})
    return found


def _follow_cuda(pins: Mapping[str, str], taken: Releases) -> Releases:
    """Return what torch of the index asks for beside what is taken: its wheels are read in part, never as a whole."""
    found = Releases()
    asked, followed = [("torch", "")], set[tuple[str, str]]()
    while asked:
        name, extra = asked.pop()
        if (name, extra) in followed:
            continue
        followed.add((name, extra))
        version = pins[name] if name in pins else found[name][0]
        for text in _read_requirements(name, version):
            requirement = Requirement(text)
            needed = canonicalize_name(requirement.name)
            if needed in taken or not (requirement.marker is None or requirement.marker.evaluate({"extra": extra})):
                continue
            if needed not in found:
                chosen = pins.get(needed) or _choose(requirement)
                found[needed] = (chosen, {file["hashes"]["sha256"] for file in _list_files(needed, chosen)})
            asked += [(needed, one) for one in ("", *requirement.extras)]
    return found


def _choose(requirement: Requirement) -> str:
    """Return the newest release that a requirement allows."""
    versions = []
    for text in _ask_index(canonicalize_name(requirement.name))["versions"]:
        try:
            versions.append(Version(text))
        except InvalidVersion:
            continue
    return str(max(requirement.specifier.filter(versions)))


def _read_requirements(name: str, version: str) -> list[str]:
    """Return what a wheel of the index for Linux asks for, read from its end alone."""
    # pip has this reader for itself; a wheel for NVIDIA cards has up to a gigabyte
    from pip._internal.network.lazy_wheel import dist_from_wheel_url
    from pip._internal.network.session import PipSession

    wheels = [file for file in _list_files(name, version) if file["filename"].endswith(".whl")]
    fitting = [file for file in wheels if re.search(r"-any\.|manylinux.*x86_64", file["filename"])]
    chosen = min(fitting, key=lambda file: (f"-{_PYTHON}-" not in file["filename"], file["filename"]))
    return list(dist_from_wheel_url(name, chosen["url"], PipSession()).metadata.get_all("Requires-Dist") or ())


def _list_files(name: str, version: str) -> list[dict[str, Any]]:
    """Return the files of a release in the index."""
    return [file for file in _ask_index(name)["files"] if _read_version(file["filename"]) == Version(version)]


def _read_version(filename: str) -> Version | None:
    try:
        if filename.endswith(".whl"):
            return parse_wheel_filename(filename)[1]
        return parse_sdist_filename(filename)[1]
    except (InvalidWheelFilename, InvalidSdistFilename, InvalidVersion):
        return None


@cache
def _ask_index(name: str) -> dict[str, Any]:
    """Return what the index says of a package (its simple interface, as JSON)."""
    from pip._internal.models.index import PyPI

    command = [sys.executable, "-m", "pip", "config", "get", "global.index-url"]
    stated = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    answer = httpx.get(
        f"{(stated or PyPI.simple_url).rstrip('/')}/{name}/",
        headers={"Accept": "application/vnd.pypi.simple.v1+json"},
        timeout=_TIMEOUT,
        follow_redirects=True,
    )
    answer.raise_for_status()
    found: dict[str, Any] = answer.json()
    return found


def _write(path: Path, releases: Releases) -> int:
    path.write_text(render_lock(releases), encoding="utf-8")
    return len(releases)


def render_lock(releases: Releases) -> str:
    """Return a lock as text: packages and digests in order, so that the same releases give the same file.

    Examples
    --------
    >>> print(render_lock({"two": ("1.0", {"b1", "a0"}), "one": ("2.0", {"c2"})}), end="")
    # made by python -m supply_chain lock
    one==2.0 \\
        --hash=sha256:c2
    two==1.0 \\
        --hash=sha256:a0 \\
        --hash=sha256:b1
    """
    lines = ["# made by python -m supply_chain lock"]
    for name, (version, digests) in sorted(releases.items()):
        lines += [" \\\n".join([f"{name}=={version}", *(f"    --hash=sha256:{one}" for one in sorted(digests))])]
    return "\n".join(lines) + "\n"
