"""The examples of the documents that need heavy libraries run, page by page, one after the other."""

import re
from functools import partial

import pytest

from tests.project.test_documents import ROOT
from tests.tools.tool import tool

torch = tool("torch")
for name in ("jax", "lightgbm", "xgboost", "catboost", "torchmetrics"):
    tool(name)


@pytest.mark.parametrize("page", ["learning.md", "arrays.md"])
def test_examples_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    # the compiler's own back end of plain operations, since C++ takes minutes
    monkeypatch.setattr(torch, "compile", partial(torch.compile, backend="aot_eager"))
    text = (ROOT / "docs" / "guides" / page).read_text(encoding="utf-8")
    namespace = {"__name__": "__main__"}
    examples = re.findall(r"^```py(?:thon)?\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)
    assert len(examples) > 3
    for code in examples:
        exec(compile(code, page, "exec"), namespace)
