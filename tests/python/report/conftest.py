"""The report of made-up evidence, and one in which every section shows hostile text, each rendered once."""

import pytest
from test_report import HOSTILE
from test_report_calibration import make_calibrated
from test_report_changes import SIGN_OFF, add_history
from test_report_evidence import add_evidence, make_evidence
from test_report_query_groups import add_groups

from hcat import report


@pytest.fixture(scope="session")
def evidence_page(tmp_path_factory: pytest.TempPathFactory) -> str:
    return report.render_report(make_evidence(tmp_path_factory.mktemp("evidence")))


@pytest.fixture(scope="session")
def hostile_page(tmp_path_factory: pytest.TempPathFactory) -> str:
    signed = SIGN_OFF | dict.fromkeys(("signed_by", "role", "note"), HOSTILE)
    warehouse = make_calibrated(tmp_path_factory.mktemp("hostile"), text=HOSTILE)
    add_groups(add_history(add_evidence(warehouse, HOSTILE), [signed], HOSTILE), HOSTILE)
    return report.render_report(warehouse)
