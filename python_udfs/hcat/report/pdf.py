"""The report as a PDF, printed by a headless Chromium."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Final

from hcat.engine.files import replacing

#: Names under which Chromium and its relatives are installed.
BROWSERS: Final = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_SECONDS: Final = 120


def print_pdf(page: Path, output: Path, *, is_full: bool = False) -> Path:
    """Print a page as A4 and return the path of the PDF. What is folded is printed with `is_full` alone."""
    browser = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if browser is None:
        raise ValueError(f"no browser prints the PDF: install Chromium (one of {', '.join(BROWSERS)})")
    with replacing(output) as temporary, tempfile.TemporaryDirectory(prefix="hcat-pdf-") as profile:
        command = [browser, "--headless", "--disable-gpu", f"--user-data-dir={profile}", "--no-pdf-header-footer"]
        # Chromium refuses to run as root inside its sandbox; the page runs no script and loads nothing
        if os.geteuid() == 0:
            command.append("--no-sandbox")
        printed = page.resolve()
        if is_full:
            printed = Path(profile, page.name)
            # texts of the logs are escaped, so that each of these is an element
            opened = page.read_text(encoding="utf-8").replace("<details", "<details open")
            printed.write_text(opened, encoding="utf-8")
        command += [f"--print-to-pdf={temporary}", printed.as_uri()]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=False)
        except subprocess.TimeoutExpired:
            raise ValueError(f"{browser} printed nothing within {_SECONDS} seconds") from None
        if not temporary.exists():
            said = (done.stderr.strip().splitlines() or ["nothing"])[-1]
            raise ValueError(f"{browser} printed no PDF, it said: {said}")
    return output
