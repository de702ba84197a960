"""Runs commands of dbt and hcat in forked processes that find the libraries imported, which otherwise takes seconds.

Every line of standard input is a command as JSON: ``program``, ``arguments``, ``environment``, ``folder``, ``output``
(the file that it prints to) and ``timeout_seconds``. Each has two lines of standard output: the id of its process when
it starts, and its exit code when it has ended. No module of hcat is imported here, but by a fork for its own command.
"""

import atexit
import gc
import importlib
import json
import os
import signal
import sys

LIBRARIES = (
    "dbt.adapters.duckdb",
    "dbt.cli.main",
    "great_expectations",
    "ot",
    "pandas",
    "presidio_analyzer",
    "pyarrow.compute",
    "pyarrow.parquet",
    "sacrebleu",
    "scipy.optimize",
    "scipy.stats",
    "sentence_transformers",
    "sklearn.cluster",
    "sklearn.ensemble",
    "sklearn.isotonic",
    "sklearn.preprocessing",
)


def run(request: dict) -> None:
    """Run a command in this process, which was forked for it, and end the process."""
    signal.alarm(request["timeout_seconds"])
    output = os.open(request["output"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for source, descriptor in ((nothing, 0), (output, 1), (output, 2)):
        os.dup2(source, descriptor)
    os.environ.clear()
    os.environ.update(request["environment"])
    os.chdir(request["folder"])
    sys.argv = [request["program"], *request["arguments"]]
    exit_code = 0
    try:
        if request["program"] == "dbt":
            sys.modules["dbt.cli.main"].cli()
        else:
            importlib.import_module("hcat.cli").main()
    except SystemExit as end:
        exit_code = end.code or 0
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    # no destructor of a library waits for threads that stayed in the parent
    os._exit(exit_code)


def main() -> None:
    for name in LIBRARIES:
        importlib.import_module(name)
    # the folder of a warehouse decides nothing that dbt parses: a copy of a parsed project stays parsed elsewhere
    credentials = sys.modules["dbt.adapters.duckdb.credentials"].DuckDBCredentials
    keys = tuple(key for key in credentials._connection_keys(None) if key != "path")
    credentials._connection_keys = lambda self: keys
    # others may read what a program does not keep from them
    os.umask(0o022)
    # what is there stays there, and a parsed project is many objects that all stay: looking for garbage among them as
    # often as by default takes a sixth of the time
    gc.freeze()
    gc.set_threshold(50_000)
    while line := sys.stdin.readline():
        request = json.loads(line)
        process = os.fork()
        if process == 0:
            run(request)
        print(process, flush=True)
        _, status = os.waitpid(process, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


if __name__ == "__main__":
    main()
