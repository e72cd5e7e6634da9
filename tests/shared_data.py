"""Real data, which lies beside the project and is never copied into it; tests that need it skip where it is absent."""

from pathlib import Path

import pytest

DATA = Path(__file__).parents[2] / "shared" / "data"


def needs(folder):
    """Return a mark that skips a test where a folder of real data is absent."""
    return pytest.mark.skipif(not (DATA / folder).is_dir(), reason=f"real data not here: ../shared/data/{folder}")


def runs(folder):
    """Return the run files of a folder by name; none where it is absent."""
    return {path.name.removesuffix(".gz"): path for path in sorted((DATA / folder).glob("*.gz"))}


MORE_DATA = DATA.parent / "more-data"


def needs_more(folder):
    """Return a mark that skips a test where a folder of more data is absent."""
    absent = not (MORE_DATA / folder).is_dir()
    return pytest.mark.skipif(absent, reason=f"real data not here: ../shared/more-data/{folder}")
