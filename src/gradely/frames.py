"""Dataframes of any library from plain columns."""

from collections.abc import Mapping
from typing import Any, Literal

from gradely.errors import InputError, MissingExtra

LIBRARIES: dict[str, Literal["pandas", "polars", "pyarrow"]] = {
    "pandas": "pandas",
    "polars": "polars",
    "pyarrow": "pyarrow",
}


def to_frame(columns: Mapping[str, Any], library: str) -> Any:
    """Return a dataframe of columns by name, of pandas, polars or pyarrow."""
    import narwhals.stable.v2 as nw

    if library not in LIBRARIES:
        raise InputError(f"no dataframe library {library!r} here: use {' or '.join(LIBRARIES)}")
    try:
        return nw.from_dict(dict(columns), backend=LIBRARIES[library]).to_native()
    except ImportError:
        extra = "parquet" if library == "pyarrow" else None  # the others are brought by no extra of ours
        raise MissingExtra(library, extra) from None
