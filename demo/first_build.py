"""Build what findings need on the demo's logs as they stood on an earlier evening, so that findings have a history.

A finding is opened by one build, and confirmed or closed by a later one. A warehouse that is built once holds suspected
findings alone. The folder has the files of demo/logs under the same names, so that the next build lands only what is
new. Nobody had rated an answer yet.

Usage: ``python demo/first_build.py WAREHOUSE`` before the first `hcat build` of the demo.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

LOGS_FOLDER = Path(__file__).resolve().parent / "logs"
#: Day after which nothing is in the logs: version 1.1 had been tested for two weeks.
LAST_DAY = "2026-07-05"
#: Findings, and the clusters on which they rest, with all that they read.
MODELS = ("+int_findings_seen", "+int_clusters_seen")


def write_first_logs(folder: Path) -> int:
    """Write the logs up to :data:`LAST_DAY` and return the number of interactions."""
    asked = set()
    with (folder / "interactions.jsonl").open("w", encoding="utf-8") as kept:
        for line in (LOGS_FOLDER / "interactions.jsonl").read_text(encoding="utf-8").splitlines(keepends=True):
            record = json.loads(line)
            if record["asked_at"][: len(LAST_DAY)] <= LAST_DAY:
                asked.add(record["interaction_id"])
                kept.write(line)
    with (folder / "retrievals.jsonl").open("w", encoding="utf-8") as kept:
        for line in (LOGS_FOLDER / "retrievals.jsonl").read_text(encoding="utf-8").splitlines(keepends=True):
            if json.loads(line)["interaction_id"] in asked:
                kept.write(line)
    for name in ("chunks", "documents", "queries", "relevance_judgements"):
        shutil.copy(LOGS_FOLDER / f"{name}.jsonl", folder)
    return len(asked)


def main(warehouse: Path) -> int:
    """Build the first logs into the warehouse and return the exit code of the build."""
    command = [sys.executable, "-m", "hcat.cli", "build", "--progress", "--exclude-resource-type", "test"]
    with tempfile.TemporaryDirectory(dir=warehouse) as folder:
        write_first_logs(Path(folder))
        settings = {"HCAT_DEMO": "1", "HCAT_RAW_LOGS": folder, "HCAT_WAREHOUSE": str(warehouse)}
        done = subprocess.run([*command, "--select", *MODELS], env=os.environ | settings, check=False)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
