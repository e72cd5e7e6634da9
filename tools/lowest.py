"""Print the lowest versions that pyproject.toml allows, as pip requirements, for `make test-lowest`.

These are the dependencies, the extras except tools that have an adapter, and the packages that the tests need.
"""

import sys
import tomllib
from pathlib import Path

EXTRAS = ("parquet", "report", "zstd")
LEFT_OUT = ("bandit", "import-linter", "mypy", "ruff", "selenium")
"""checks of the sources and a browser, which the smoke does not use"""


def main() -> None:
    """Print one requirement per line."""
    text = (Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8")
    project = tomllib.loads(text)
    wanted = [
        *project["project"]["dependencies"],
        *(package for extra in EXTRAS for package in project["project"]["optional-dependencies"][extra]),
        *project["dependency-groups"]["test"],
    ]
    for package in sorted({package for package in wanted if not package.startswith(LEFT_OUT)}):
        sys.stdout.write(package.replace(">=", "==") + "\n")


if __name__ == "__main__":
    main()
