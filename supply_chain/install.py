"""``python -m supply_chain.install run|dev|spark|sbom``: what the locks name, file by file of known digest, into .venv.

It runs before anything is installed, so it needs the standard library alone. uv installs, itself by the lock; where it
cannot be had, or fails, pip does. What pip is set up with holds for uv too.
"""

import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

REPOSITORY: Final = Path(__file__).resolve().parents[1]
#: Seconds after which a stage says that it is still at work.
_PULSE: Final = 4.0
#: The driver of NVIDIA cards; a machine without one takes torch for the CPU, where the index offers it.
_NVIDIA: Final = Path("/proc/driver/nvidia/version")
#: Each package of the lock alone; what has no wheel is built by the locked setuptools.
_LOCKED: Final = ("--no-deps", "--no-build-isolation", "--require-hashes")
#: Setting of pip -> the variable by which uv takes it, and what stands between several values.
_SETTINGS: Final = {
    "index-url": ("UV_DEFAULT_INDEX", " "),
    "extra-index-url": ("UV_INDEX", " "),
    "find-links": ("UV_FIND_LINKS", ","),
    "trusted-host": ("UV_INSECURE_HOST", " "),
    "cert": ("SSL_CERT_FILE", " "),
}


def main(words: Sequence[str]) -> int:
    """Install what one of the steps needs, and return the exit code."""
    (step,) = words
    if step == "sbom":
        # by itself: a package that it brings makes every start of dbt two seconds longer
        installer = Installer(REPOSITORY / ".venv" / "sbom")
        return installer.install("tools for a bill of materials", "sbom")
    installer = Installer(REPOSITORY / ".venv")
    if step != "run":
        return installer.install("tools of developers" if step == "dev" else "Apache Spark", step)
    failed = installer.install("setuptools", "build") or installer.install("what hcat runs on", "run")
    is_cpu = not failed and not _NVIDIA.exists() and not installer.install("torch for the CPU", "cpu", is_optional=True)
    failed = failed or (not is_cpu and installer.install("torch of the index", "cuda"))
    failed = failed or installer.run("hcat itself", [*_LOCKED[:2], "--editable", str(REPOSITORY)])
    if not failed and installer.install("base of the accurate classifier", "mpnet", is_optional=True):
        say("the compact classifier will read alone")
    return int(failed)


class Installer:
    """Installs into one virtual environment, which is made if it is not there."""

    def __init__(self, folder: Path) -> None:
        self._python = folder / "bin" / "python"
        self._environment = dict(os.environ)
        if not self._python.exists():
            what = f"virtual environment {folder.relative_to(REPOSITORY)}"
            if watch(what, [sys.executable, "-m", "venv", "--clear", str(folder)]):
                sys.exit(1)
        self._pip = [str(self._python), "-m", "pip", "install", "--disable-pip-version-check", "--quiet", "--quiet"]
        lock = ["--no-deps", "--require-hashes", "--requirement", str(REPOSITORY / "locks" / "uv.txt")]
        failed = watch("uv, which installs the rest", [*self._pip, *lock], is_optional=True)
        self._uv = [] if failed else [str(folder / "bin" / "uv"), "pip", "install", "--python", str(self._python)]
        self._environment |= {} if failed else read_settings(str(self._python), self._environment)

    def install(self, what: str, lock: str, *, is_optional: bool = False) -> int:
        """Install a file of the lock, and return the exit code; the reason is printed unless it is optional."""
        path = REPOSITORY / "locks" / f"{lock}.txt"
        count = len(re.findall(r"^[a-z0-9-]+==", path.read_text(encoding="utf-8"), flags=re.MULTILINE))
        said = f"{what}, {count} {'package' if count == 1 else 'packages'}"
        return self.run(said, [*_LOCKED, "--requirement", str(path)], is_optional=is_optional)

    def run(self, what: str, arguments: Sequence[str], *, is_optional: bool = False) -> int:
        """Install by uv, or else by pip, and return the exit code."""
        if self._uv and not watch(what, [*self._uv, *arguments], self._environment, is_optional=True):
            return 0
        if self._uv and is_optional:
            return 1
        return watch(f"{what} (by pip)", [*self._pip, *arguments], is_optional=is_optional)


def watch(
    what: str, command: Sequence[str], environment: dict[str, str] | None = None, *, is_optional: bool = False
) -> int:
    """Run a command and say what it does and how long; its own words are printed where it fails."""
    say(f"{what} ...")
    started, words = time.monotonic(), list[str]()
    process = subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    )
    reader = threading.Thread(target=lambda: words.extend(process.stdout or ()), daemon=True)
    reader.start()
    while True:
        try:
            code = process.wait(_PULSE)
            break
        except subprocess.TimeoutExpired:
            say(f"{what}: {time.monotonic() - started:.0f} s")
    reader.join()
    say(
        f"{what}: {'done' if code == 0 else 'not possible' if is_optional else 'failed'} "
        f"after {time.monotonic() - started:.0f} s"
    )
    if code and not is_optional:
        print("".join(words), file=sys.stderr, flush=True)
    return code


def read_settings(python: str, environment: dict[str, str]) -> dict[str, str]:
    """Return the package indexes that pip is set up with, as variables of uv; what uv is told otherwise stands."""
    listed = subprocess.run([python, "-m", "pip", "config", "list"], capture_output=True, text=True, check=False).stdout
    lines = re.findall(r"^([^.\n]*\.)\.?([\w-]+)='(.*)'$", listed, flags=re.MULTILINE)
    # a variable of the environment has the last word
    stated = {name: value for _, name, value in sorted(lines, key=lambda line: line[0].startswith(":env:"))}
    found = {
        variable: separator.join(stated[setting].replace("\\n", " ").split())
        for setting, (variable, separator) in _SETTINGS.items()
        if setting in stated
    }
    # pip takes the best file of all indexes, and the lock says which file may be taken
    found["UV_INDEX_STRATEGY"] = "unsafe-best-match"
    return {variable: value for variable, value in found.items() if variable not in environment}


def say(text: str) -> None:
    """Print one line."""
    print(f"install: {text}", flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
