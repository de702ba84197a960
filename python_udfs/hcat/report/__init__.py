"""The validation report: one self-contained HTML file about the last build, from marts and seeds alone."""

from hcat.report.document import render_report, write_report
from hcat.report.summary import summarise

__all__ = ["render_report", "summarise", "write_report"]
