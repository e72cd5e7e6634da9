"""What holds for all tests."""

import pytest

from gradely.data import source as sources


@pytest.fixture(autouse=True, scope="session")
def _the_fast_reader_reads_small_files():
    """Let TREC files take the fast way however small they are, since those of the tests are; see test_fast_reader."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sources, "SMALL", -1)
        yield
