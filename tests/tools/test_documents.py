"""The examples of the documents that need other tools, where those are installed."""

import pytest

from tests.test_documents import PYTHON, TOOLS, demo, printed_by  # noqa: F401 - a fixture is used by its name

EXAMPLES = [each for each in PYTHON if any(f"import {name}" in each.values[0].text for name in TOOLS)]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("block", EXAMPLES)
def test_python_runs_and_prints_what_is_shown(demo, block):  # noqa: F811 - the fixture
    assert printed_by(block.text, block.where) == (block.shown or "")
