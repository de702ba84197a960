"""The file `warehouse.yml`: a connection without secrets, what is pulled from it, and where the marts go."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import BeforeValidator, Field, model_validator

from hcat.engine.yaml_files import Part
from hcat.exchange.connections import Connection
from hcat.landing.shapes import SHAPES

FILE_NAME: Final = "warehouse.yml"

#: A name of the warehouse: any but what no line can show.
Name = Annotated[str, Field(pattern=r"^[^\x00-\x1f\x7f]+$", strict=True)]
Table = Annotated[tuple[Name, ...], BeforeValidator(lambda name: name.split(".") if isinstance(name, str) else name)]


class Stream(Part):
    """What is pulled into files of one shape, from a table, a query or Parquet files."""

    shape: Annotated[str, Field(alias="as")]
    table: Table = ()
    query: str | None = None
    files: str | None = None
    key: Annotated[tuple[Name, ...], Field(min_length=1)]
    columns: dict[Name, Name] = Field(default_factory=dict)
    leave_out: tuple[Name, ...] = ()
    mask: tuple[Name, ...] = ()

    @model_validator(mode="after")
    def _check(self) -> Stream:
        if self.shape not in SHAPES:
            raise ValueError(f"as must be one of {', '.join(SHAPES)}")
        if sum(map(bool, (self.table, self.query, self.files))) != 1:
            raise ValueError("must have one of table, query and files")
        return self


class Push(Part):
    """Where the marts go."""

    into: Annotated[Name, Field(alias="schema")]


class Exchange(Part):
    """The file."""

    connection: Connection | None = None
    pull: dict[Annotated[str, Field(pattern=r"^[a-z0-9_]+$", strict=True)], Stream] = Field(default_factory=dict)
    push: Push | None = None
