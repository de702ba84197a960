"""Files of hcat are for the account that writes them: they hold texts of customers."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path

#: Rights that the group and all others have.
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def keep_private() -> None:
    """Let what this process makes from now on belong to its account alone: files 0600, folders 0700."""
    os.umask(os.umask(_OTHERS) | _OTHERS)


def keep_dbt_private(log_folder: str | None, target_folder: str | None) -> None:
    """Do so in a process of dbt, and close the log and the artefacts that it has begun to write."""
    keep_private()
    logs, target = Path(log_folder or "logs"), Path(target_folder or "target")
    for path in [*logs.glob("dbt.log*"), *(path for path in target.glob("*") if path.is_file())]:
        # files of another account stay as they are
        with suppress(PermissionError):
            path.chmod(stat.S_IMODE(path.stat().st_mode) & ~_OTHERS)
