"""``python -m supply_chain licences|advisories|sbom|lock``: a problem is a line, and exit code 1."""

import argparse
import sys
from pathlib import Path

from supply_chain import advisories, licences, locks, materials
from supply_chain.closure import LOCKS, REPOSITORY, find_closure, read_pins


def main(words: list[str] | None = None) -> int:
    """Run one of the commands and return its exit code."""
    parser = argparse.ArgumentParser(prog="python -m supply_chain", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    checked = commands.add_parser("licences", help="hold the licences of all packages to the list of allowed ones")
    checked.add_argument("--write", action="store_true", help=f"write {licences.PAGE.relative_to(REPOSITORY)} too")
    asked = commands.add_parser("advisories", help="ask for known vulnerabilities of the pinned packages")
    asked.add_argument("--required", action="store_true", help="fail where the service cannot be asked")
    commands.add_parser("lock", help=f"write {LOCKS.relative_to(REPOSITORY)}/: versions, and digests of their files")
    made = commands.add_parser("sbom", help="write a bill of materials (CycloneDX)")
    made.add_argument("--output", type=Path, default=REPOSITORY / "dist" / "sbom.json")
    given = parser.parse_args(words)

    if given.command == "licences":
        packages = find_closure(("dev", "spark"))
        problems = licences.find_problems(packages.values())
        if given.write:
            licences.PAGE.write_text(licences.render_page(), encoding="utf-8")
        print("\n".join(problems) or f"licences: {len(packages)} packages, all allowed")
        return 1 if problems else 0
    if given.command == "advisories":
        names = find_closure()
        pins = {name: version for name, version in read_pins().items() if name in names}
        try:
            found = advisories.audit(pins)
        except advisories.UnreachableError as error:
            print(f"advisories: could not be asked ({error})")
            return 1 if given.required else 0
        print("\n".join(found) or f"advisories: {len(pins)} packages, none known")
        return 1 if found else 0
    if given.command == "lock":
        print(f"lock: {locks.write_locks()} packages in {LOCKS.relative_to(REPOSITORY)}/")
        return 0
    try:
        print(f"sbom: {materials.write_bill(given.output)} components in {given.output}")
    except RuntimeError as error:
        print(f"sbom: {error}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
