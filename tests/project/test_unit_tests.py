"""Runs dbt's unit tests: the small inputs in models/**/_unit_tests.yml whose answer a reader computes in the head."""

import re
from pathlib import Path
from typing import Any

from builds import DEMO, EVERYTHING, run_dbt

#: Models whose arithmetic and decisions a unit test shows. The count only rises.
COUNT_TESTED_MODELS = 124


def test_unit_tests_of_the_models_pass(warehouse: Path, target: Path, manifest: dict[str, Any]) -> None:
    # the manifest is read before this run writes another one into its folder
    assert manifest["nodes"]
    # dbt reads the types of the mocked inputs from a warehouse, hence the build
    words = ["test", "--select", "test_type:unit"]
    exit_code, output = run_dbt(words, DEMO, warehouse.parent, target, variables=EVERYTHING)
    assert exit_code == 0, output
    assert len(set(re.findall(r" PASS (\w+)::", output))) >= COUNT_TESTED_MODELS, "a model lost its unit test"


def test_a_build_does_not_pay_for_unit_tests(plain_target: Path, tmp_path: Path) -> None:
    _, output = run_dbt(["ls", "--resource-type", "unit_test"], DEMO, tmp_path, plain_target)
    assert "No nodes selected" in output
