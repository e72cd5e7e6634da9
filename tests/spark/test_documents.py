"""The example of docs/guides/scale.md prints what it shows."""

import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "guides" / "scale.md"


def test_example(spark, capsys):
    code, shown = re.search(r"```python\n(from pyspark.*?)```\n\n```\n(.*?)```", PAGE.read_text(), re.DOTALL).groups()
    exec(compile(code, PAGE.name, "exec"), {})
    assert capsys.readouterr().out == shown
