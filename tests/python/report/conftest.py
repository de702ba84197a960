"""The report of made-up evidence, plain and with hostile text, each rendered once."""

import pytest
from test_report import HOSTILE
from test_report_evidence import make_evidence

from hcat import report


@pytest.fixture(scope="session")
def evidence_page(tmp_path_factory: pytest.TempPathFactory) -> str:
    return report.render_report(make_evidence(tmp_path_factory.mktemp("evidence")))


@pytest.fixture(scope="session")
def hostile_evidence_page(tmp_path_factory: pytest.TempPathFactory) -> str:
    return report.render_report(make_evidence(tmp_path_factory.mktemp("hostile_evidence"), text=HOSTILE))
