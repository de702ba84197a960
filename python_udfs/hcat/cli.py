"""Command line: ``hcat report`` writes the report of the last build, ``hcat summary`` prints it in about ten lines.

What goes wrong is said in one line on standard error, with exit code 2; nobody is shown a stack trace.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    help="Evaluation of RAG systems in the warehouse: `dbt build` evaluates, these commands show what it found.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

WarehouseOption = Annotated[
    Path,
    typer.Option("--warehouse", envvar="HCAT_WAREHOUSE", help="Folder that holds hcat.duckdb, also a published copy."),
]


def _show_version(is_wanted: bool) -> None:
    if is_wanted:
        from hcat import __version__

        typer.echo(f"hcat {__version__}")
        raise typer.Exit


@app.callback()
def describe(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Evaluation of RAG systems in the warehouse: `dbt build` evaluates, these commands show what it found."""


@app.command()
def report(
    warehouse: WarehouseOption = Path("warehouse"),
    output: Annotated[
        Path | None,
        typer.Option("--output", help="HTML file to write; by default report.html in the warehouse folder."),
    ] = None,
    metric: Annotated[
        str | None, typer.Option("--metric", help="Primary metric of the weakness maps, for instance support_words.")
    ] = None,
) -> None:
    """Write the report of the last build: one HTML file that needs no network."""
    from hcat.report import find_database, write_report

    path = write_report(warehouse, output or find_database(warehouse).parent / "report.html", metric)
    typer.echo(str(path))


@app.command()
def summary(warehouse: WarehouseOption = Path("warehouse")) -> None:
    """Print what the last build found, in about ten lines."""
    from rich.console import Console
    from rich.text import Text

    from hcat.report import summarise

    console = Console(highlight=False)
    lines = summarise(warehouse)
    width = max(len(name) for name, _ in lines)
    for name, text in lines:
        # Text and not markup: a name in square brackets from the logs is no instruction
        console.print(Text.assemble((f"{name:<{width}}  ", "bold"), text), soft_wrap=True)


def main() -> None:
    """Run the command line; exit with 2 and one line on standard error when something is wrong."""
    try:
        app()
    except Exception as error:
        # the outermost frame: whatever it is, people get one line
        from hcat.report import WarehouseError

        message = " ".join(str(error).split())
        if isinstance(error, OSError) and error.filename:
            message = f"cannot use {error.filename}: {error.strerror}"
        elif not isinstance(error, WarehouseError | ValueError):
            message = f"{type(error).__name__}: {message}"
        sys.stderr.write(f"hcat: {message}\n")
        sys.exit(2)


if __name__ == "__main__":
    main()
