"""Command line: raw logs before a build; report, explorer, alerts, review, test sets and collection after it."""

import json
import sys
from datetime import date
from pathlib import Path
from typing import Annotated, Any

import typer

from hcat import __version__
from hcat.command_options import (
    ProfilesOption,
    ProjectOption,
    RawLogsOption,
    TargetOption,
    VariablesOption,
    reads_a_build,
)
from hcat.engine.files import explain_failure, keep_private
from hcat.engine.saying import say, say_in_columns
from hcat.engine.warehouse import Place, WarehouseError, find_folder, open_warehouse
from hcat.exchange import commands

app = typer.Typer(
    help="Evaluate RAG systems in the data warehouse: `dbt build` evaluates, and these commands show the results.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

labels = typer.Typer(
    help="Human labels: write the rating desk or a sheet of a review round, import what raters filled in.",
    no_args_is_help=True,
)
app.add_typer(labels, name="labels")

app.command("pull")(commands.pull_logs)
app.command("push")(commands.push_marts)

gates = typer.Typer(help="Gates: how sure are their verdicts?", no_args_is_help=True)
app.add_typer(gates, name="gates")

#: Unusable rows of a sheet that are printed; the rejects file holds all of them.
SHOWN_PROBLEMS = 40

RoundOption = Annotated[
    str | None, typer.Option("--round", help="Name of the review round; by default the latest one.")
]


def _written(kind: str, name: str) -> Any:
    """Return the option of the file that a command writes."""
    return typer.Option(help=f"{kind} to write; by default {name} in the warehouse folder.")


def _show_version(is_wanted: bool) -> None:
    if is_wanted:
        from importlib.metadata import version

        from hcat.engine.devices import PACKAGED_SHA256
        from hcat.engine.keys import hash_file

        weights = Path(__file__).parent / "encoders" / "weights"
        say(f"hcat {__version__}")
        for name in ("dbt-core", "dbt-duckdb", "duckdb"):
            say(f"{name} {version(name)}")
        say(f"encoder all-MiniLM-L6-v2, SHA-256 {PACKAGED_SHA256}")
        for path in sorted(weights.glob("*/*")):
            if path.suffix in (".safetensors", ".npy"):
                say(f"{path.parent.name} {path.name}, SHA-256 {hash_file(path)}")
        raise typer.Exit


@app.callback()
def describe(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Evaluate RAG systems in the data warehouse: `dbt build` evaluates, and these commands show the results."""
    keep_private()


@app.command()
def check(
    logs: Annotated[Path | None, typer.Argument(envvar="HCAT_RAW_LOGS", help="Folder of raw logs.")] = None,
    tables: Annotated[
        list[str] | None,
        typer.Option("--table", metavar="ENTITY=TABLE", help="Table that replaces the files of an entity; repeatable."),
    ] = None,
    warehouse: Annotated[
        Path, typer.Option(envvar="HCAT_WAREHOUSE", help="Folder of the file that holds the tables.")
    ] = Path("warehouse"),
) -> None:
    """Look at raw logs before a build: what is recognised, what is rejected and why, and what can be measured.

    Exit code 0: a build would find interactions. Exit code 1: none of them can be used.
    """
    import os
    from functools import partial

    from hcat.engine.project import is_project
    from hcat.engine.settings import check_settings
    from hcat.landing.check import check_logs
    from hcat.privacy.masking import mask_text

    named: dict[str, str] = {}
    for option in tables or []:
        entity, is_pair, table = option.partition("=")
        if not is_pair:
            raise ValueError(f"--table must be ENTITY=TABLE, got {option}")
        named[entity] = table
    project = next(filter(is_project, (Path.cwd(), *(logs.resolve().parents if logs else ()))), Path.cwd())
    place = [] if project == Path.cwd() else [("project", str(project))]
    if place:
        # logs inside of a project are read by its settings and its dialects
        logs, warehouse = logs and logs.resolve(), warehouse.resolve()
        os.chdir(project)
    check_settings(project, {}, os.environ)
    checked = check_logs(logs, project, tables=named, warehouse=warehouse, mask=partial(mask_text, is_tagged=False))
    say_in_columns([*place, *checked.lines])
    if not checked.inputs["interactions"]:
        raise typer.Exit(1)


@app.command()
def init(
    folder: Annotated[Path, typer.Argument(help="Folder of the new project; it must not exist, or be empty.")],
    logs: Annotated[
        Path | None, typer.Option(help="Folder of raw logs: the gates are those for what it holds.")
    ] = None,
    package: Annotated[
        Path | None, typer.Option(help="Folder of hcat's dbt project; by default the one at hand.")
    ] = None,
    uri: Annotated[
        str | None, typer.Option("--from", metavar="URI", help="Warehouse whose tables `hcat pull` shall read.")
    ] = None,
) -> None:
    """Make a dbt project of your own in which `dbt build` evaluates your logs."""
    from hcat.exchange.guessing import guess_exchange
    from hcat.exchange.settings import FILE_NAME
    from hcat.landing.new_project import make_project

    guessed, exchange = guess_exchange(uri) if uri else ([], "")
    made = make_project(folder, Path.cwd(), logs, package)
    if uri:
        (folder / FILE_NAME).write_text(exchange, encoding="utf-8")
    say_in_columns(
        [
            ("made", f"{made.folder}: project, profile, package, {made.count_decisions} thresholds"),
            ("gates", ", ".join(made.gates)),
            *(("release", need) for need in made.needs),
            *guessed,
            *([] if logs or uri else [("logs", f"put them into {made.folder / 'raw_logs'} (docs/logs.md)")]),
            ("needs", f"hcat-eval {__version__}, the Python package, in the environment of dbt"),
            ("next", f"cd {made.folder} && {'hcat pull && ' if uri else ''}hcat build"),
            ("then", "hcat explore: a page of the answers with their evidence"),
        ]
    )


@app.command("import")
def import_file(
    shape: Annotated[
        str,
        typer.Argument(
            metavar="FORMAT", help="Tool or shape of the file: ragas, deepeval, ..., calls, queries, corpus, qa, qrels."
        ),
    ],
    file: Annotated[Path, typer.Argument(help="File to import: .json, .jsonl, .csv, .tsv or .parquet.")],
    output: Annotated[Path, typer.Option(help="Folder of raw logs that receives the file.")],
) -> None:
    """Add a file of a tool to a folder of raw logs, under a name by which the build reads it.

    A JSON array becomes JSON Lines. The same file again changes nothing.
    """
    from hcat.landing.importing import import_into

    path, count = import_into(shape, file, output)
    say_in_columns([("imported", f"{count:,} record{'s'[: count - 1]} into {path}"), ("next", f"hcat check {output}")])


@app.command("build", context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def build_project(
    context: typer.Context,
    project_dir: ProjectOption = None,
    profiles_dir: ProfilesOption = None,
    target: TargetOption = None,
    variables: VariablesOption = None,
    progress: Annotated[
        bool, typer.Option("--progress", help="Print how far the build has come, and errors, instead of dbt's lines.")
    ] = False,
) -> None:
    """Run `dbt build` on hcat and on what it reads, after a deletion that was killed was finished.

    Further arguments go to dbt, for instance --quiet. The exit code is that of dbt.
    """
    from hcat.engine.building import build

    project = project_dir or Path.cwd()
    raise typer.Exit(build(project, profiles_dir, target, variables, context.args, is_showing_progress=progress))


@app.command()
def upgrade(
    project_dir: ProjectOption = None,
    profiles_dir: ProfilesOption = None,
    target: TargetOption = None,
    variables: VariablesOption = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be done, and change nothing.")] = False,
) -> None:
    """Make the warehouse of an earlier version fit for this one: what it remembers is kept, renamed and moved.

    Exit code 0: it was upgraded, or nothing was due. Exit code 2: it could not be, and is as before.
    """
    from hcat.engine.building import upgrade_warehouse

    steps = upgrade_warehouse(project_dir or Path.cwd(), profiles_dir, target, variables, is_dry_run=dry_run)
    # one step a line, however long: names of tables are copied from here
    for step in steps or ["nothing to upgrade: the warehouse is new, or was made by this version"]:
        say(step)
    if steps:
        say("next: hcat upgrade" if dry_run else "next: dbt build")


ReasonOption = Annotated[
    str | None, typer.Option("--reason", help="Why, for the ledger, for instance a ticket; no names of people.")
]
DryRunOption = Annotated[bool, typer.Option("--dry-run", help="Say what would be deleted, and change nothing.")]


@app.command()
def forget(
    ids: Annotated[
        Path, typer.Option(help="File of interaction ids: one a line, or a column interaction_id (.csv, .jsonl).")
    ],
    reason: ReasonOption = None,
    project_dir: ProjectOption = None,
    profiles_dir: ProfilesOption = None,
    target: TargetOption = None,
    dry_run: DryRunOption = False,
) -> None:
    """Delete interactions from the warehouse and its copies; records of them do not land again.

    Exit code 0: they were deleted, or had been before. Exit code 2: nothing was.
    """
    from hcat.engine.retention import forget_interactions

    project = project_dir or Path.cwd()
    say_in_columns(forget_interactions(project, ids, reason, profiles=profiles_dir, target=target, is_dry_run=dry_run))


@app.command()
def prune(
    before: Annotated[
        str, typer.Option(metavar="DATE", help="Weeks that ended before this day (YYYY-MM-DD) are deleted.")
    ],
    reason: ReasonOption = None,
    project_dir: ProjectOption = None,
    profiles_dir: ProfilesOption = None,
    target: TargetOption = None,
    dry_run: DryRunOption = False,
) -> None:
    """Delete texts and single evaluations of old weeks; their sums by week stay.

    Exit code 0: they were deleted, or there were none. Exit code 2: nothing was deleted.
    """
    from hcat.engine.retention import prune_weeks

    try:
        day = date.fromisoformat(before)
    except ValueError as error:
        raise ValueError(f"--before must be a day such as 2026-01-31, got {before}") from error
    project = project_dir or Path.cwd()
    say_in_columns(prune_weeks(project, day, reason, profiles=profiles_dir, target=target, is_dry_run=dry_run))


@app.command()
@reads_a_build
def report(
    place: Place,
    output: Annotated[Path | None, _written("HTML file", "report.html")] = None,
    pdf: Annotated[bool, typer.Option("--pdf", help="Print it as a PDF beside the HTML file; needs Chromium.")] = False,
    full: Annotated[bool, typer.Option("--full", help="Print what is folded on the page as well; with --pdf.")] = False,
    application: Annotated[
        Path | None, typer.Option(help="What no log can tell; by default application.yml of the dbt project.")
    ] = None,
) -> None:
    """Write the report of the last build as one HTML file that needs no network."""
    from hcat.report import write_report
    from hcat.report.application import find_statements
    from hcat.report.pdf import print_pdf

    if full and not pdf:
        raise ValueError("--full is about the printed report: add --pdf")
    path = write_report(place, output or find_folder(place) / "report.html", application or find_statements(place))
    say(path)
    if pdf:
        say(print_pdf(path, path.with_suffix(".pdf"), is_full=full))


@app.command()
@reads_a_build
def explore(
    place: Place,
    output: Annotated[Path | None, _written("HTML file", "explorer.html")] = None,
    unmasked: Annotated[
        bool, typer.Option("--unmasked", help="Leave personal data readable; the file needs the access rights of logs.")
    ] = False,
) -> None:
    """Write the explorer of the last build: an HTML file to read interactions with their evidence, without a server."""
    from hcat.explorer.document import write_explorer
    from hcat.report.application import find_statements
    from hcat.report.document import EXPLORER_FILE

    path = output or find_folder(place) / EXPLORER_FILE
    say(write_explorer(place, path, is_unmasked=unmasked, application=find_statements(place)))


@app.command()
@reads_a_build
def sign(
    place: Place,
    run: Annotated[str, typer.Option(help="Build whose report is signed; the report prints its id.")],
    by: Annotated[str, typer.Option(help="Who signs: a name or a staff number.")],
    role: Annotated[str, typer.Option(help="Role of the person who signs, for instance validator.")],
    decision: Annotated[str, typer.Option(help="approved, approved_with_conditions (needs --note) or rejected.")],
    note: Annotated[str | None, typer.Option(help="Conditions or remarks.")] = None,
    report_file: Annotated[
        Path | None, typer.Option("--report", help="File of the report that is signed; its SHA-256 is kept.")
    ] = None,
    seed: Annotated[
        Path | None, typer.Option(help="CSV file of the seed; by default seeds/sign_offs.csv of the dbt project.")
    ] = None,
) -> None:
    """Add a signature to the seed sign_offs: the next report says what changed since the build that was signed."""
    from hcat.report.signing import SEED, sign_report

    chosen = seed or (place.project or Path()) / SEED
    sign_off_id = sign_report(place, run, by, role, decision, note, report_file, chosen)
    say_in_columns(
        [
            ("signed", f"{run} by {by} ({role}): {decision}"),
            ("recorded", f"{sign_off_id} in {chosen}; commit it"),
            ("next", "`dbt seed --select sign_offs`, or the next `dbt build`, brings it into the warehouse"),
        ]
    )


@app.command()
@reads_a_build
def summary(place: Place) -> None:
    """Print the first lines of the report: may it go live, how often it is wrong, what changed, what to do next."""
    from hcat.report import summarise

    say_in_columns(summarise(place))


@app.command()
@reads_a_build
def alert(
    place: Place,
    file: Annotated[
        Path | None,
        typer.Option(help="File that records the alerts sent; by default alerts.jsonl in the warehouse folder."),
    ] = None,
    reminder_days: Annotated[
        float,
        typer.Option(envvar="HCAT_ALERT_REMINDER_DAYS", help="Days after which an unchanged alert is sent again."),
    ] = 7.0,
    maximum_age_hours: Annotated[
        float | None,
        typer.Option(envvar="HCAT_ALERT_MAXIMUM_AGE_HOURS", help="Send an alert if the last build is older than this."),
    ] = None,
    hide_segments: Annotated[
        bool, typer.Option("--hide-segments", envvar="HCAT_ALERT_HIDE_SEGMENTS", help="Replace segments by hashes.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the messages without sending or recording them.")
    ] = False,
) -> None:
    """Send failed gates, drift and new findings once, to the webhook in HCAT_ALERT_WEBHOOK and to a file.

    Exit code 0: every alert was delivered, or there was none. Exit code 1: some alerts could not be delivered; the next
    run sends them again. Exit code 2: the warehouse could not be read.
    """
    from hcat.monitoring.alerts.sending import send_alerts

    alerted = send_alerts(
        place,
        record_path=file,
        reminder_days=reminder_days,
        maximum_age_hours=maximum_age_hours,
        is_hiding_segments=hide_segments,
        is_dry_run=dry_run,
    )
    if dry_run:
        for message in alerted.messages:
            say(json.dumps(message.payload))
    say_in_columns(list(alerted.lines))
    if alerted.count_undelivered:
        raise typer.Exit(1)


@app.command()
@reads_a_build
def collect(
    place: Place,
    endpoint: Annotated[Path, typer.Argument(help="YAML file that describes the REST endpoint.")],
    output: Annotated[Path, typer.Option(help="Separate folder for interactions, retrievals, failures and journal.")],
    queries: Annotated[
        Path | None, typer.Option(help="Test set, .jsonl or .csv; by default the queries in the warehouse.")
    ] = None,
    samples: Annotated[int, typer.Option(help="Answers per query.")] = 1,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show the first request without sending or writing anything.")
    ] = False,
) -> None:
    """Send a test set to an application; run it again to resume.

    Exit code 0: every query has an answer. Exit code 1: some queries have no answer yet.
    """
    import os

    from hcat.collection import queries as test_sets
    from hcat.collection import run
    from hcat.collection.endpoint import read_endpoint

    described = read_endpoint(endpoint, os.environ)
    test_set = test_sets.read_queries(queries) if queries else test_sets.read_warehouse(place)
    if dry_run:
        say_in_columns(run.describe_first_request(described, test_set, output, samples))
        return
    collected = run.collect(described, test_set, output, samples=samples)
    say_in_columns(collected.describe())
    if not collected.is_complete:
        raise typer.Exit(1)


@app.command("test-set")
@reads_a_build
def export_test_set(
    place: Place,
    output: Annotated[Path | None, _written("File", "test_set/queries.jsonl")] = None,
    replace: Annotated[bool, typer.Option("--replace", help="Overwrite a file that holds another test set.")] = False,
) -> None:
    """Write the test set of the last build, queries and variants, to a file for `hcat collect` and `dbt build`."""
    from hcat.test_set.export import write_test_set

    say_in_columns(write_test_set(place, output, is_replacing=replace).lines)


@app.command("grammar")
@reads_a_build
def export_grammar_queries(
    place: Place,
    output: Annotated[Path | None, _written("File", "grammar/queries.jsonl")] = None,
    replace: Annotated[bool, typer.Option("--replace", help="Overwrite a file that holds other queries.")] = False,
) -> None:
    """Write the queries made from tables, with true answers, to a file for `hcat collect` and `dbt build`."""
    from hcat.grammar.export import write_queries

    say_in_columns(write_queries(place, output, is_replacing=replace).lines)


@labels.command("desk")
@reads_a_build
def write_desk(
    place: Place,
    review_round: Annotated[str | None, typer.Argument(help="Name of the round; by default the latest one.")] = None,
    output: Annotated[Path | None, _written("Page", "desk.html")] = None,
    rater: Annotated[
        str | None, typer.Option(help="Name of the only rater of the page; by default the page asks.")
    ] = None,
    raters: Annotated[str, typer.Option(help="Names, separated by commas, among whom the round is dealt.")] = "",
    overlap: Annotated[float, typer.Option(help="Share of the round that all of --raters read, 0 to 1.")] = 0.2,
    second_pass: Annotated[float, typer.Option(help="Share that a rater reads once more at the end, 0 to 1.")] = 0.0,
    unmasked: Annotated[
        bool, typer.Option("--unmasked", help="Show private data: for raters who may read the logs.")
    ] = False,
) -> None:
    """Write the rating desk of a round: one page in which raters rate blind and save the sheet for the import."""
    from hcat.explorer import desk

    _, lines = desk.write_desk(
        place,
        review_round,
        output,
        rater=rater,
        raters=[name.strip() for name in raters.split(",")] if raters else (),
        overlap=overlap,
        second_pass=second_pass,
        is_masked=not unmasked,
    )
    say_in_columns(lines)


@labels.command("export")
@reads_a_build
def export_labels(
    place: Place,
    output: Annotated[Path | None, _written("CSV file", "review_<round>.csv")] = None,
    review_round: RoundOption = None,
    separator: Annotated[
        str, typer.Option(help="Separator of the cells, `,` or `;`: the one that the raters' spreadsheets expect.")
    ] = ",",
) -> None:
    """Export the review sheet of a round for raters: query, contexts, answer and guideline, without scores."""
    from hcat.review import sheets as review_files

    _, lines = review_files.export_labels(place, output, review_round, separator)
    say_in_columns(lines)


@labels.command("import")
@reads_a_build
def import_labels(
    place: Place,
    sheet: Annotated[Path, typer.Argument(help="CSV file that raters have filled in.")],
    raw_logs: RawLogsOption = None,
    review_round: RoundOption = None,
    skip_invalid: Annotated[
        bool, typer.Option("--skip-invalid", help="Import the usable rows and write the others to a rejects file.")
    ] = False,
    rejects: Annotated[
        Path | None, typer.Option(help="Rejects file; by default <sheet>_rejected.csv beside the sheet.")
    ] = None,
    rater_kind: Annotated[str | None, typer.Option(help="Who filled the sheet: person or language_model.")] = None,
) -> None:
    """Import a review sheet that is filled in: check it and write its ratings to the raw logs for the next build."""
    from hcat.engine.project import find_raw_logs
    from hcat.review import sheets as review_files

    folder = raw_logs or find_raw_logs(place.project or Path())
    if folder is None:
        raise ValueError("no folder of raw logs: set --raw-logs, HCAT_RAW_LOGS or the var hcat_raw_logs")
    imported = review_files.import_labels(
        sheet, place, folder, review_round, skip_invalid=skip_invalid, rejects=rejects, rater_kind=rater_kind
    )
    for problem in imported.problems[:SHOWN_PROBLEMS]:
        say(f"row {problem.row}: {problem.reason}", is_error=True)
    if imported.problems and imported.rejects is None:
        raise ValueError(
            f"{sheet}: unusable rows: {len(imported.problems)}; nothing was imported; fix them, or use --skip-invalid"
        )
    raters = f" by {len(imported.raters)} raters into {imported.path}" if imported.path else ""
    unjudged, chosen = imported.count_cannot_judge, imported.count_chosen
    corrected, older = imported.count_corrected, imported.count_older
    say_in_columns(
        [
            ("imported", f"{imported.count_new} ratings{raters}"),
            *([("corrected", f"{corrected} of them replace an earlier value, which is kept")] if corrected else []),
            *([("no label", f"{unjudged} of them say that the rater cannot judge")] if unjudged else []),
            *([("chosen", f"{chosen} of them: no round drew the answer, so no rate counts it")] if chosen else []),
            ("known", f"{imported.count_known} ratings were imported before"),
            *([("older", f"{older} ratings were changed later: a newer rated_at would count")] if older else []),
            ("not rated", f"{imported.count_unrated} rows without a scale point"),
            *([("skipped", f"{len(imported.problems)} rows, see {imported.rejects}")] if imported.rejects else []),
            *[("round", f"{imported.review_round}, {line}") for line in imported.progress],
            *[("labels", f"{need} (as of the last build)") for need in imported.needs],
            *([("next", "run `dbt build`")] if imported.path else []),
        ]
    )


@labels.command("status")
@reads_a_build
def show_label_status(
    place: Place,
    review_round: Annotated[str | None, typer.Argument(help="Name of the round; by default the latest one.")] = None,
    raw_logs: RawLogsOption = None,
) -> None:
    """Show who rated what in a round, and what agreement, calibration and sets would gain from more labels."""
    from hcat.engine.project import find_raw_logs
    from hcat.review.status import describe_status

    say_in_columns(describe_status(place, review_round, raw_logs or find_raw_logs(place.project or Path())))


@gates.command("rehearse")
@reads_a_build
def rehearse_gates(place: Place) -> None:
    """Say how often another draw of the same size changes the verdict of each gate, and how often it stops a loss."""
    from hcat.gates import rehearsal

    with open_warehouse(place) as source:
        say_in_columns(rehearsal.list_rehearsed(rehearsal.rehearse_last_build(source)))


def main() -> None:
    """Run the command line; an error exits with code 2 and one line on standard error."""
    try:
        app()
    except Exception as error:
        # the outermost frame: every error becomes one line
        from hcat.engine.staging import ProjectError

        message = " ".join(str(error).split())
        if isinstance(error, OSError) and (told := explain_failure(error)):
            message = told
        elif isinstance(error, OSError) and error.filename:
            message = f"cannot use {error.filename}: {error.strerror}"
        elif not isinstance(error, ProjectError | WarehouseError | ValueError):
            message = f"{type(error).__name__}: {message}"
        say(f"hcat: {message}", is_error=True)
        sys.exit(2)


if __name__ == "__main__":
    main()
