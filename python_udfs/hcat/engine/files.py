"""Files written whole or not at all, of lines, of one account; and what a machine could not do in one line."""

import errno
import fcntl
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from glob import escape
from pathlib import Path
from typing import Final

#: What the machine or its owner can mend; any other error is one of the code, and its trace is needed.
_OF_THE_MACHINE: Final = frozenset(
    {
        errno.ENOSPC,
        errno.EDQUOT,
        errno.EFBIG,
        errno.EROFS,
        errno.EACCES,
        errno.EPERM,
        errno.EIO,
        errno.EMFILE,
        errno.EISDIR,
        errno.ENOTDIR,
    }
)
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


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield the name under which a file is written before it takes the place of ``path``."""
    temporary = path.with_name(f".{path.name}.writing")
    # a link that a killed process left would be written through
    temporary.unlink(missing_ok=True)
    try:
        yield temporary
        temporary.replace(path)
    except BaseException as error:
        # with what a database keeps beside its file
        for left in path.parent.glob(f"{escape(temporary.name)}*"):
            left.unlink()
        if isinstance(error, OSError) and error.errno is not None and error.filename is None:
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise


def write_whole(path: Path, content: str) -> None:
    """Write a file whole or not at all; its temporary name is none that a build reads."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as unfinished:
        unfinished.write_bytes(content.encode("utf-8"))


@contextmanager
def held_alone(path: Path, refusal: str) -> Iterator[int]:
    """Open a file for appending and yield its descriptor; with ``refusal`` where another process holds it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            # the lock ends with the process, even if it is killed
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ValueError(refusal) from None
        yield descriptor
    finally:
        os.close(descriptor)


def append(descriptor: int, data: bytes) -> None:
    """Append data as a whole; what a full disk cut off is taken back."""
    size, written = os.fstat(descriptor).st_size, 0
    try:
        while written < len(data):
            written += os.write(descriptor, data[written:])
    except OSError:
        os.ftruncate(descriptor, size)
        raise


def first_line(error: BaseException) -> str:
    """Return the first line of what an error says, or its kind."""
    return next(iter(str(error).strip().splitlines()), type(error).__name__)


def explain_failure(error: BaseException | None) -> str | None:
    """Return in one line what a machine could not do, for instance write to a full disk; None for any other error."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in _OF_THE_MACHINE:
            name = error.filename2 or error.filename
            return f"cannot use {name}: {error.strerror}" if name else str(error.strerror)
        # by name: DuckDB is imported where it is used
        if type(error).__name__ in ("IOException", "OutOfMemoryException") and "duckdb" in type(error).__module__:
            return first_line(error).rpartition("Original error: ")[2]
        if isinstance(error, MemoryError):
            return "this machine has no memory left"
        error = error.__cause__ or error.__context__
    return None
