"""Put the dbt project into the wheel: an installed hcat makes projects (`hcat init`) without a clone of hcat."""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

#: What a project that has hcat as its package reads; MANIFEST.in puts the same into the source distribution.
PARTS = ("analyses", "decisions", "demo/seeds", "macros", "models", "seeds", "tests/generic", "tests/singular")
PARTS += ("dbt_project.yml",)


class BuildWithProject(build_py):
    """Copies the dbt project beside the Python package."""

    def run(self) -> None:
        """Build the package, then copy the project; an editable install reads the repository itself."""
        super().run()
        if self.editable_mode:
            return
        target = Path(self.build_lib, "hcat", "dbt_project")
        shutil.rmtree(target, ignore_errors=True)
        for part in map(Path, PARTS):
            if part.is_dir():
                shutil.copytree(part, target / part, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                target.mkdir(parents=True, exist_ok=True)
                shutil.copy(part, target / part)


setup(cmdclass={"build_py": BuildWithProject})
