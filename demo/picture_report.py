"""Make docs/images/report.png: the first screen of the demo's validation report, for README.

Needs a build of the demo (`make build`) and Chromium:

    python demo/picture_report.py [warehouse]
"""

import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PICTURE = ROOT / "docs" / "images" / "report.png"
#: Largest picture that a reader of README should have to load.
MAXIMUM_BYTES = 250_000
WIDTH, HEIGHT = 1100, 600


def main(warehouse: Path) -> None:
    """Write the picture; an error where the report is missing or the picture is too large."""
    report = warehouse / "report.html"
    if not report.exists():
        raise SystemExit(f"{report} does not exist: run make build first")
    PICTURE.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as profile:
        subprocess.run(
            [
                "chromium",
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-background-networking",
                "--hide-scrollbars",
                f"--user-data-dir={profile}",
                f"--window-size={WIDTH},{HEIGHT}",
                f"--screenshot={PICTURE}",
                report.resolve().as_uri(),
            ],
            check=True,
            capture_output=True,
        )
    count = PICTURE.stat().st_size
    if count > MAXIMUM_BYTES:
        raise SystemExit(f"{PICTURE} has {count:,} bytes, more than {MAXIMUM_BYTES:,}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "warehouse")
