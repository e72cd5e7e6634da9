"""What editors and type checkers know of the public names: mypy reads this file, and a wrong call must be an error."""

from typing import assert_type

import gradely


def calls() -> None:
    """Make measures as people do; each `type: ignore` is an error that mypy must find, or it complains."""
    assert_type(gradely.nDCG(10), gradely.nDCG)
    assert_type(gradely.nDCG(k=10, gain="exp", discount="zipf", relevance="max").k, int | None)
    assert_type(gradely.Max(4), gradely.Max)
    assert_type(gradely.evaluate({}, {}, [gradely.nDCG(10), gradely.AP, "RR"]), gradely.Scores)
    assert_type(gradely.nDCG @ 10, gradely.nDCG)
    assert_type(gradely.nDCG(gain="exp") @ 10, gradely.nDCG)
    assert_type(gradely.compare({}, {}, test="tukey", correction="none"), gradely.Comparison)
    gradely.compare({}, {}, test="ttest")  # type: ignore[arg-type]
    gradely.compare({}, {}, correction="fdr")  # type: ignore[arg-type]
    gradely.gate({}, {}, {}, test="ttest")  # type: ignore[arg-type]
    gradely.evaluate({}, {}, ties="average")  # type: ignore[arg-type]
    gradely.evaluate_arrays([], [], ties="trec")  # type: ignore[arg-type]
    gradely.nDCG(10, k=5)  # type: ignore[misc]
    gradely.nDCG(10, "exp")  # type: ignore[call-arg]
    gradely.nDCG(kk=5)  # type: ignore[call-arg]
    gradely.nothing  # type: ignore[attr-defined] # noqa: B018
