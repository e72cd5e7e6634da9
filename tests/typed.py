"""What editors and type checkers know of the public names: mypy reads this file, and a wrong call must be an error."""

from typing import Any, assert_type

import altair.typing
import numpy as np
import numpy.typing as npt
import pandas as pd
import polars as pl
import pyarrow as pa

import gradely
from gradely.tables import Table


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
    gradely.gate({}, {}, {}, undecided="maybe")  # type: ignore[arg-type]
    gradely.evaluate({}, {}, duplicates="maximum")  # type: ignore[arg-type]
    gradely.read_run({}, duplicates="maximum")  # type: ignore[arg-type]
    gradely.plot("leaderbord", {}, [])  # type: ignore[arg-type]
    gradely.evaluate_arrays([], [], ties="trec")  # type: ignore[call-overload]
    gradely.nDCG(10, k=5)  # type: ignore[misc]
    gradely.nDCG(10, "exp")  # type: ignore[call-arg]
    gradely.nDCG(kk=5)  # type: ignore[call-arg]
    gradely.nothing  # type: ignore[attr-defined] # noqa: B018


def frames(library: str) -> None:
    """Take dataframes; without types of its own, as pandas here, a library gives Any."""
    scores, runs = gradely.evaluate({}, {}), gradely.evaluate_runs({}, [])
    assert_type(scores.to_frame("polars"), pl.DataFrame)
    assert_type(scores.to_frame("polars", wide=True), pl.DataFrame)
    assert_type(runs.to_frame("polars", wide=True), pl.DataFrame)
    assert_type(gradely.compare({}, []).to_frame("polars"), pl.DataFrame)
    assert_type(gradely.compare({}, []).pairs_frame("polars"), pl.DataFrame)
    assert_type(gradely.gate({}, {}, {}).to_frame("polars"), pl.DataFrame)
    assert_type(Table(["run"], []).to_frame("polars"), pl.DataFrame)
    assert_type(scores.to_frame(), pd.DataFrame)
    assert_type(scores.to_frame("pyarrow"), pa.Table)
    assert_type(scores.to_frame(library), Any)
    gradely.compare({}, []).to_frame("polars", wide=True)  # type: ignore[call-overload]


def charts() -> None:
    """Draw figures."""
    assert_type(gradely.plot("tau", {}, []), altair.typing.ChartType)
    assert_type(gradely.overlap([]).chart(), altair.typing.ChartType)
    assert_type(gradely.suite({}).plot(), altair.typing.ChartType)
    gradely.plot("tau", {}, []).save("figure.svg")


class Tensor:
    """Stands for the arrays of another library."""


def arrays(tensor: Tensor, single: npt.NDArray[np.float32]) -> None:
    """Take values of the caller's library; NumPy's and those of lists are double."""
    assert_type(gradely.evaluate_arrays(tensor, tensor, "RR"), dict[str, Tensor])
    assert_type(gradely.evaluate_arrays(single, single, "RR"), dict[str, npt.NDArray[np.float64]])
    assert_type(gradely.evaluate_arrays([[0.5]], [[1]], "RR")["RR"], npt.NDArray[np.float64])
