"""The warehouse of an earlier version made fit for this one by dbt, which alone knows schemas, engine and models."""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
from pathlib import Path
from typing import Any, Final

from hcat.engine.project import DBT
from hcat.engine.settings import read_vars
from hcat.engine.warehouse import WarehouseError

#: Every model of hcat is looked at, also those that the project switches off or asks for in other builds.
_EVERYTHING: Final[dict[str, Any]] = {
    "hcat_profile": "full",
    "hcat_modules": {},
    "hcat_test_set": True,
    "hcat_grammar": True,
    "hcat_judge": True,
}


def upgrade_warehouse(
    project: Path,
    profiles: Path | None = None,
    target: str | None = None,
    variables: str | None = None,
    *,
    is_dry_run: bool = False,
) -> list[str]:
    """Make the warehouse of a project fit for this version of hcat and return what was done, a line for each step."""
    with tempfile.TemporaryDirectory() as artefacts:
        # folders of its own: the parsed project of the builds stays as it is
        command = [*DBT, "--quiet", "--no-use-colors", "--no-write-json"]
        command += ["run-operation", "hcat.upgrade_warehouse", "--args", json.dumps({"dry_run": is_dry_run})]
        command += ["--vars", json.dumps(read_vars(variables) | _EVERYTHING)]
        command += ["--project-dir", str(project), "--target-path", artefacts, "--log-path", artefacts]
        command += ["--profiles-dir", str(profiles)] if profiles else []
        command += ["--target", target] if target else []
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ)
    if done.returncode:
        said = (done.stdout + done.stderr).splitlines()
        lines = [re.sub(r"^\d\d:\d\d:\d\d\s+", "", line).strip() for line in said]
        told = [one for one in lines if one and not one.startswith("Encountered an error") and one[-6:] != " Error"]
        raise WarehouseError(f"the warehouse was not upgraded: {told[0] if told else 'dbt gave no reason'}")
    return [line for line in done.stdout.splitlines() if line.strip()]
