"""What results look like in a notebook that is really run."""

import pytest

from tests.evaluation.test_notebook import Reader
from tests.tools.tool import tool

nbclient, nbformat = tool("nbclient"), tool("nbformat")
tool("ipykernel")

CELLS = [
    "import gradely\nq, r = {'q1': {'<b>': 2, 'b': 1}, 'q2': {'b': 1}}, {'q1': ['b', '<b>']}\ngradely.evaluate(q, r)",
    "gradely.evaluate_runs(q, {'<script>': r, 'other': r}, ['AP'])",
    "gradely.explain(q, r, 'q1', 'nDCG')",
    "gradely.explain(q, r, 'q2', 'nDCG')",
    "gradely.tie_sensitivity(q, {'a': r, 'b': r}, ['AP'])",
    "gradely.nDCG @ 10",
    "gradely.from_arrays([[3.0, 2.0]], [[1.0, 2.0]])",
    "print(gradely.explain(q, r, 'q1', 'nDCG'))",
]


@pytest.mark.filterwarnings("ignore")
def test_every_result_is_html_and_text(tmp_path):
    cells = [nbformat.v4.new_code_cell(cell) for cell in CELLS]
    notebook = nbformat.v4.new_notebook(cells=cells)
    nbclient.NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
    *shown, printed = [cell.outputs[-1] for cell in notebook.cells]
    for output in shown:
        assert not {"script", "b"} & Reader(output.data["text/html"]).tags
        assert "object at 0x" not in output.data["text/plain"]
    assert "1/discount" in printed.text
