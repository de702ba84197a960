"""The validation report: one self-contained HTML file about the last build, from marts and seeds alone.

The file loads nothing from a network and runs no script. The same warehouse gives the same file, byte for byte; its
time is that of the last build. Text from logs is untrusted: it is cut at a documented length, its control and direction
characters are made visible, and Jinja2 escapes the rest. Missing evidence is a sentence in its section and a row under
the limitations, never an error.

Each section has one module (calibration: one package) and a template of the same name. :mod:`hcat.report.document` puts
them together, :mod:`hcat.engine.warehouse` opens the warehouse, and :mod:`hcat.report.showing` formats numbers.
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
