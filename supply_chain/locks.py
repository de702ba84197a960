"""The lock: what each step of an installation brings, with the SHA-256 of every file of each release.

Releases stay as the lock has them, unless ``pyproject.toml`` asks for others. The package index is the one that pip is
set up with, and no file names it.
"""

import json
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

import httpx
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
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

#: The wheels that are read for locks/cuda.txt: of this Python, on Linux.
_PYTHON: Final = "cp311"
#: Seconds for an answer of the index.
_TIMEOUT: Final = 60
#: Requirements of requirements settle in four rounds or so.
_ROUNDS: Final = 10

#: Version and digests of a release, by the name of its package.
Releases = dict[str, tuple[str, set[str]]]


def write_locks(folder: Path = LOCKS) -> int:
    """Write one file per step into a folder, and return the number of packages in them.

    A file holds what the files before it do not. Torch has two of its own, one of which is installed: its build for the
    CPU, and that of the index with what it asks for on NVIDIA cards. Where pip finds no build for the CPU, the first
    stays as it was. The files of the bill of materials and of the accurate classifier stand alone.
    """
    folder.mkdir(exist_ok=True)
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
    extras = project["project"]["optional-dependencies"]
    steps = {
        "build": project["build-system"]["requires"],
        "run": project["project"]["dependencies"],
        "dev": extras["dev"],
        "spark": extras["spark"],
        "extras": [
            each
            for name in ("topics", "integrations", "language-model", "snowflake", "bigquery")
            for each in extras[name]
        ],
    }
    pins, asked, taken = read_pins(), list[str](), Releases()
    count = 0
    for step, texts in steps.items():
        asked += texts
        found = _resolve(asked, pins)
        count += _write(folder / f"{step}.txt", {name: found[name] for name in found.keys() - {"torch", *taken}})
        taken |= found
        pins |= {name: version.split("+")[0] for name, (version, _) in taken.items()}
    build, digests = taken["torch"]
    public = _list_digests("torch", pins["torch"])
    if build != pins["torch"]:
        count += _write(folder / "cpu.txt", {"torch": (build, digests - public)})
    count += _write(folder / "cuda.txt", {"torch": (pins["torch"], public), **_follow_cuda(pins, taken)})
    count += _write(folder / "uv.txt", _resolve(["uv"], pins))
    count += _write(folder / "sbom.txt", _resolve(["cyclonedx-bom"], pins))
    return count + _write(folder / "mpnet.txt", _resolve(MPNET_PACKAGES, pins, "--no-deps"))


def _resolve(texts: Iterable[str], pins: Mapping[str, str], *options: str) -> Releases:
    """Return the releases that pip takes, with the digests of their files in the index and of those it found here."""
    command = [sys.executable, "-m", "pip", "install", "--dry-run", "--ignore-installed", "--quiet", "--report", "-"]
    with tempfile.TemporaryDirectory() as folder:
        limits = Path(folder, "limits.txt")
        limits.write_text("".join(f"{name}=={version}\n" for name, version in pins.items()), encoding="utf-8")
        command += ["--constraint", str(limits), *options, *texts]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    found = {}
    for item in json.loads(done.stdout)["install"]:
        name = canonicalize_name(item["metadata"]["name"])
        version = item["metadata"]["version"]
        here = item["download_info"]["archive_info"]["hashes"]["sha256"]
        found[name] = (version, {here} | _list_digests(name, version))
    return found


def _follow_cuda(pins: Mapping[str, str], taken: Releases) -> Releases:
    """Return what torch of the index asks for beside what is taken: its wheels are read in part, never as a whole."""
    limits: dict[str, SpecifierSet] = {}
    for _ in range(_ROUNDS):
        chosen = {name: _choose(name, limit, pins) for name, limit in limits.items()}
        asked, followed, found = [("torch", "")], set[tuple[str, str]](), dict[str, SpecifierSet]()
        while asked:
            name, extra = asked.pop()
            version = taken[name][0] if name in taken else chosen.get(name)
            if (name, extra) in followed or version is None:
                continue
            followed.add((name, extra))
            for requirement in map(Requirement, _read_requirements(name, version)):
                needed = canonicalize_name(requirement.name)
                if needed in taken or not (requirement.marker is None or requirement.marker.evaluate({"extra": extra})):
                    continue
                found[needed] = found.get(needed, SpecifierSet()) & requirement.specifier
                asked += [(needed, one) for one in ("", *requirement.extras)]
        if found == limits:
            return {name: (version, _list_digests(name, version)) for name, version in chosen.items()}
        limits = found
    raise RuntimeError(f"what torch asks for on NVIDIA cards did not settle in {_ROUNDS} rounds")


def _choose(name: str, limit: SpecifierSet, pins: Mapping[str, str]) -> str:
    """Return the release that is locked, or the newest one where the lock has none that is allowed."""
    if name in pins and limit.contains(pins[name]):
        return pins[name]
    versions = []
    for text in _ask_index(name)["versions"]:
        try:
            versions.append(Version(text))
        except InvalidVersion:
            continue
    return str(max(limit.filter(versions)))


@cache
def _read_requirements(name: str, version: str) -> list[str]:
    """Return what a wheel of the index for Linux asks for, read from its end alone."""
    # pip has this reader for itself; a wheel for NVIDIA cards has up to a gigabyte
    from pip._internal.network.lazy_wheel import dist_from_wheel_url
    from pip._internal.network.session import PipSession

    wheels = [file for file in _list_files(name, version) if file["filename"].endswith(".whl")]
    fitting = [file for file in wheels if re.search(r"-any\.|manylinux.*x86_64", file["filename"])]
    chosen = min(fitting, key=lambda file: (f"-{_PYTHON}-" not in file["filename"], file["filename"]))
    return list(dist_from_wheel_url(name, chosen["url"], PipSession()).metadata.get_all("Requires-Dist") or ())


def _list_digests(name: str, version: str) -> set[str]:
    return {file["hashes"]["sha256"] for file in _list_files(name, version)}


def _list_files(name: str, version: str) -> list[dict[str, Any]]:
    """Return the files of a release in the index, which has no local builds ("+cpu")."""
    public = Version(Version(version).public)
    return [file for file in _ask_index(name)["files"] if _read_version(file["filename"]) == public]


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
