"""Known vulnerabilities of the pinned packages, asked of the service behind pip-audit where it can be reached."""

import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

#: Seconds that the service has for one answer.
_TIMEOUT: Final = 15
#: A package that every service knows: without an answer on it, none is asked on others.
_KNOWN: Final = "numpy"


class UnreachableError(RuntimeError):
    """The service cannot be asked; the message is one line."""


def audit(pins: Mapping[str, str]) -> list[str]:
    """Return a line for each known vulnerability of the pinned packages."""
    first = _ask({_KNOWN: pins[_KNOWN]})
    if "skip_reason" in first[0]:
        raise UnreachableError("the index here keeps no advisories")
    return list_findings(_ask(pins))


def list_findings(dependencies: list[dict[str, Any]]) -> list[str]:
    """Return a line for each vulnerability of pip-audit's answer.

    Examples
    --------
    >>> found = {"id": "PYSEC-1", "fix_versions": ["1.1"]}
    >>> list_findings([{"name": "one", "version": "1.0", "vulns": [found]}, {"name": "two", "skip_reason": "unknown"}])
    ['one 1.0: PYSEC-1, fixed in 1.1']
    """
    return [
        f"{package['name']} {package['version']}: {found['id']}, fixed in {', '.join(found['fix_versions']) or 'none'}"
        for package in dependencies
        for found in package.get("vulns", ())
    ]


def _ask(pins: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return what pip-audit says of each package."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "pins.txt")
        path.write_text("".join(f"{name}=={version}\n" for name, version in pins.items()), encoding="utf-8")
        command = [sys.executable, "-m", "pip_audit", "--requirement", str(path), "--no-deps", "--disable-pip"]
        command += ["--format", "json", "--progress-spinner", "off", "--timeout", str(_TIMEOUT)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    try:
        answer: list[dict[str, Any]] = json.loads(done.stdout)["dependencies"]
    except (ValueError, KeyError) as error:
        last = (done.stderr.strip() or "no answer").splitlines()[-1]
        # an error of the network names hosts and objects: its kind is enough
        raise UnreachableError(last.split(":")[0].rsplit(".", 1)[-1]) from error
    return answer
