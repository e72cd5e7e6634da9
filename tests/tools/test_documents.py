"""The examples of the documents that need other tools, where those are installed."""

import subprocess

import pytest

from tests.project.test_documents import BLOCKS, ROOT, TOOLS, demo, marks, printed_by, tools_of  # noqa: F401 - demo is a fixture

EXAMPLES = [block for block in BLOCKS if block.language == "python" and tools_of(block)]
RECTOOLS = ROOT / ".tools" / "RecTools" / "bin" / "python"
"""RecTools wants an older NumPy than gradely, and has an environment of its own"""


def parameters(examples):
    return [pytest.param(block, id=block.where, marks=marks(block)) for block in examples]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("block", parameters(block for block in EXAMPLES if "rectools" not in tools_of(block)))
def test_python_runs_and_prints_what_is_shown(demo, block):  # noqa: F811 - the fixture
    assert printed_by(block.text, block.where) == (block.shown or "")


@pytest.mark.skipif(not RECTOOLS.exists(), reason="RecTools is not installed: make test-tools")
@pytest.mark.parametrize("block", [block for block in EXAMPLES if "rectools" in tools_of(block)], ids=lambda b: b.where)
def test_rectools_prints_what_is_shown(block):
    done = subprocess.run([RECTOOLS, "-W", "ignore", "-c", block.text], capture_output=True, text=True, check=False)
    assert done.stdout == block.shown, done.stderr


def test_there_are_examples_of_every_tool():
    assert {name for block in EXAMPLES for name in tools_of(block)} == set(TOOLS)
