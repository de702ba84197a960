"""dbt adapter `sparksession`: dbt-spark in one process, with Python models and with tables that survive a failed build.

Why not plain dbt-spark (1.11): it submits Python models to Databricks or Livy alone, its seeds break on quotes and
NULL, and it drops a table before it builds the next one. Everything else (SQL, relations, tests) is dbt-spark's own.
"""

from __future__ import annotations

import os
import sys
import traceback
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from dbt.adapters.base import AdapterPlugin, PythonJobHelper
from dbt.adapters.spark import SparkColumn, SparkCredentials
from dbt.adapters.spark.connections import SparkConnectionManager, SparkConnectionMethod
from dbt.adapters.spark.impl import SparkAdapter
from dbt.flags import get_flags
from dbt_common.exceptions import DbtRuntimeError

from dbt.include.sparksession import PACKAGE_PATH
from hcat.engine import files

#: dbt-spark switches the first off; without it sums that overflow wrap around and "names" are texts. Spark sets the
#: modes of its files itself.
DEFAULTS = "spark.sql.ansi.enabled=true;spark.hadoop.fs.permissions.umask-mode=077"


@dataclass
class SparkSessionCredentials(SparkCredentials):
    """dbt-spark's credentials, and `conf`: settings as one text, which a profile can read from the environment.

    Attributes
    ----------
    conf : str
        ``key=value;key=value``; wins over ``server_side_parameters``.
    """

    conf: str = ""

    def __post_init__(self) -> None:
        self.method, self.host = SparkConnectionMethod.SESSION, self.host or "localhost"
        super().__post_init__()
        files.keep_dbt_private(getattr(get_flags(), "LOG_PATH", None), getattr(get_flags(), "TARGET_PATH", None))
        for pair in filter(None, (part.strip() for part in f"{DEFAULTS};{self.conf}".split(";"))):
            key, separator, value = pair.partition("=")
            if not separator:
                raise DbtRuntimeError(f"conf must be 'key=value;key=value', got '{pair}'")
            self.server_side_parameters[key.strip()] = value.strip()
        # an empty setting is none: `spark.jars.packages` without a package would stop the session
        self.server_side_parameters = {key: value for key, value in self.server_side_parameters.items() if value}
        # Python workers run the interpreter of the build, which has the package
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)

    @property
    def type(self) -> str:
        return "sparksession"


class SparkSessionConnectionManager(SparkConnectionManager):
    """dbt-spark's connections under the adapter's own name."""

    TYPE = "sparksession"


class SparkSessionColumn(SparkColumn):
    """Columns whose types a contract may name as other warehouses do."""

    @classmethod
    def translate_type(cls, dtype: str) -> str:
        """Return Spark's word for a type: `varchar` needs a length there, lists are arrays."""
        if dtype.endswith("[]"):
            return f"array<{cls.translate_type(dtype[:-2])}>"
        return "string" if dtype.lower() in ("varchar", "text") else dtype


class SessionPythonJobHelper(PythonJobHelper):
    """Runs a Python model in the session of the build."""

    def __init__(self, parsed_model: dict[str, Any], credentials: SparkSessionCredentials) -> None:
        self.name, self.credentials = parsed_model["alias"], credentials

    def submit(self, compiled_code: str) -> None:
        """Run a compiled model.

        Raises
        ------
        DbtRuntimeError
            In one line if the machine failed; otherwise with the whole Python traceback, that of a Python worker
            included.
        """
        # a module that nobody can import: functions of the model itself travel to the workers by value
        module = types.ModuleType(f"dbt_model_{self.name}")
        module.__dict__["spark"] = open_session(self.credentials.server_side_parameters)
        try:
            exec(compile(compiled_code, f"<dbt python model {self.name}>", "exec"), module.__dict__)
        except Exception as error:
            trace = f"hcat: {told}" if (told := files.explain_failure(error)) else traceback.format_exc()
            raise DbtRuntimeError(f"Python model {self.name} failed:\n{trace}") from error


class SparkSessionAdapter(SparkAdapter):
    """dbt-spark with in-process Python models."""

    ConnectionManager = SparkSessionConnectionManager
    Column = SparkSessionColumn

    @classmethod
    def type(cls) -> str:
        return "sparksession"

    @property
    def default_python_submission_method(self) -> str:
        return "session"

    @property
    def python_submission_helpers(self) -> dict[str, type[PythonJobHelper]]:
        return {**super().python_submission_helpers, "session": SessionPythonJobHelper}


def open_session(parameters: dict[str, str]) -> Any:
    """Return the session of this process, made with ``parameters`` when there is none yet."""
    from pyspark.sql import SparkSession

    return SparkSession.builder.enableHiveSupport().config(map=parameters).getOrCreate()


def write_table(session: Any, model: Callable[[Any, Any], Any], dbt: Any, table: str, file_format: str) -> None:
    """Run a Python model and write what it returns: a Spark DataFrame, or an Arrow table or stream of the driver."""
    result = model(dbt, session)
    if hasattr(result, "read_all"):
        result = result.read_all()
    frame = result if hasattr(result, "write") else session.createDataFrame(result)
    frame.write.mode("overwrite").format(file_format).saveAsTable(table)


Plugin = AdapterPlugin(
    adapter=SparkSessionAdapter, credentials=SparkSessionCredentials, include_path=PACKAGE_PATH, dependencies=["spark"]
)
