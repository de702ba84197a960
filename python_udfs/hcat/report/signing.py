"""Signatures under reports: a row that is added to the seed of signatures, and the rows that a warehouse holds."""

import csv
import io
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from hcat.engine.keys import hash_file, hash_text
from hcat.engine.warehouse import Place, find_database, open_warehouse
from hcat.report.words import WORDS

DECISIONS: Final = WORDS["signing"]["decisions"]
#: The seed, in the project in whose folder the command runs.
SEED: Final = Path("seeds", "sign_offs.csv")
COLUMNS: Final = ("sign_off_id", "run_id", "signed_by", "role", "decision", "signed_at", "report_sha256", "note")


def sign_report(
    warehouse: Path | Place,
    run_id: str,
    signed_by: str,
    role: str,
    decision: str,
    note: str | None = None,
    report: Path | None = None,
    seed: Path = SEED,
) -> str:
    """Add a signature to the seed and return its id."""
    given = {"signed_by": signed_by.strip(), "role": role.strip(), "note": (note or "").strip()}
    for name in ("signed_by", "role"):
        if not given[name]:
            raise ValueError(f"--{'by' if name == 'signed_by' else name} is empty: a signature says who gave it")
    if decision not in DECISIONS:
        raise ValueError(f"--decision must be one of {', '.join(DECISIONS)}, got {decision}")
    if decision == "approved_with_conditions" and not given["note"]:
        raise ValueError("--note is empty: approval with conditions states them")
    _check_run(warehouse, run_id)
    rows = _read_seed(seed)
    if any(
        (row["run_id"], row["signed_by"], row["role"], row["decision"], row["note"])
        == (run_id, given["signed_by"], given["role"], decision, given["note"])
        for row in rows
    ):
        raise ValueError(f"{seed}: this signature stands there already")
    digest = "" if report is None else _hash_report(report, run_id)
    signed_at = f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S}"
    parts = (run_id, given["signed_by"], given["role"], decision, signed_at, digest, given["note"])
    sign_off_id = hash_text("|".join(parts))[:12]
    with seed.open("a", encoding="utf-8", newline="") as handle:
        csv.writer(handle, lineterminator="\n").writerow([sign_off_id, *parts])
    return sign_off_id


def _check_run(warehouse: Path | Place, run_id: str) -> None:
    with open_warehouse(warehouse) as source:
        if source.rows("select run_id from dim_runs where run_id = $run_id", ["dim_runs"], run_id=run_id):
            return
        last = source.rows("select run_id from dim_runs order by build_number desc limit 1", ["dim_runs"])
    known = f"its last build is {last[0]['run_id']}" if last else "it holds no build"
    raise ValueError(f"{find_database(warehouse)}: no build {run_id}; {known}")


def _read_seed(seed: Path) -> list[dict[str, str]]:
    if not seed.is_file():
        raise ValueError(f"{seed}: no such file; run it in the folder of the dbt project whose seed sign_offs is yours")
    text = seed.read_text(encoding="utf-8")
    reader = csv.DictReader(io.StringIO(text))
    if tuple(reader.fieldnames or ()) != COLUMNS:
        found = ", ".join(reader.fieldnames or ()) or "nothing"
        raise ValueError(f"{seed}: the header must be {','.join(COLUMNS)} (found: {found})")
    if not text.endswith("\n"):
        raise ValueError(f"{seed}: the last line has no end; end it, so that the signature gets a line of its own")
    return list(reader)


def _hash_report(report: Path, run_id: str) -> str:
    if not report.is_file():
        raise ValueError(f"{report}: no such file")
    if run_id.encode() not in report.read_bytes():
        raise ValueError(f"{report} is not the report of build {run_id}")
    return hash_file(report)
