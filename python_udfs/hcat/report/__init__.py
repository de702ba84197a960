"""The validation report: one self-contained HTML file about the last build, from marts and seeds alone.

The file asks nothing of any network, runs no script and is the same, byte for byte, for the same warehouse: its time
is that of the last build and not of the clock. Text from logs is hostile: it is cut at a documented length, its control
and direction characters are made visible, and Jinja2 escapes the rest. What a warehouse does not hold is a sentence in
its section and a row under the limitations, never an error.

One module per section beside the template of the same name; :mod:`hcat.report.document` puts them together,
:mod:`hcat.engine.warehouse` alone opens the warehouse, :mod:`hcat.report.showing` makes text of numbers.
"""

from hcat.engine.warehouse import Row, Warehouse, WarehouseError, find_database, find_folder, open_warehouse
from hcat.language.display import clean_label, clean_text
from hcat.report.document import SECTIONS, build_context, render_report, write_report
from hcat.report.summary import summarise

__all__ = [
    "SECTIONS",
    "Row",
    "Warehouse",
    "WarehouseError",
    "build_context",
    "clean_label",
    "clean_text",
    "find_database",
    "find_folder",
    "open_warehouse",
    "render_report",
    "summarise",
    "write_report",
]
