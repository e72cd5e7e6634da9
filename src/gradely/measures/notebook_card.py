"""The card of a measure in a notebook: what it says, formula, ties, reference, parameters."""

import inspect
import re
from textwrap import dedent

from gradely.measures.base import Measure, parameters, show
from gradely.notebook import box, formula, grid, heading, sentence
from gradely.tables import Table


def card(measure: Measure) -> str:
    """Return the documentation of a measure and its parameters as they are set, as HTML."""
    text = inspect.getdoc(measure) or ""
    parts = [part for part in re.split("\n\n|\n(?=Reference:)", text) if not part.startswith(">>>")]
    body = [formula(dedent(part)) if part.startswith(" ") else sentence(" ".join(part.split())) for part in parts]
    rows = [
        [name, "all" if name == "k" and measure.k is None else show(getattr(measure, name)), declared.doc]
        for name, declared in parameters(type(measure)).items()
    ]
    table = grid(Table(["parameter", "value", "meaning"], rows))
    return box(heading(str(measure)), *body, table)
