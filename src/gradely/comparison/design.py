"""How runs are compared: the test, its correction and family, the intervals."""

from collections.abc import Iterable
from math import isfinite
from typing import NamedTuple

from gradely.comparison import resampling
from gradely.comparison.significance import CORRECTIONS, SIMULTANEOUS, TESTS
from gradely.data.read.sources import clip
from gradely.errors import DataError, did_you_mean
from gradely.settings import check_choice

FAMILIES = {"measure": "the pairs of each measure", "all": "every pair on every measure"}


class Design(NamedTuple):
    """How runs are compared."""

    test: str = "t"
    correction: str | None = None
    """None: Holm, and nothing for tukey and max-t, which hold for their family by themselves"""
    alpha: float = 0.05
    seed: int = 0
    resamples: int = resampling.RESAMPLES
    baselines: tuple[str, ...] = ()
    family: str = "measure"
    simultaneous: bool = False
    """whether the intervals of differences hold for their family at once"""
    rope: float | None = None
    """differences no larger than this are equal for all purposes: the region of practical equivalence"""

    def settle(self, baselines: str | Iterable[str] = (), runs: Iterable[str] = ()) -> "Design":
        """Return the design with its correction and baselines settled; refuse what makes no sense."""
        check_choice("test", self.test, TESTS)
        correction = self.correction or ("none" if self.test in SIMULTANEOUS else "holm")
        check_choice("correction", correction, CORRECTIONS)
        check_choice("family", self.family, FAMILIES)
        if self.test in SIMULTANEOUS and correction != "none":
            raise DataError(f"{self.test} holds for its whole family at once: use it with correction 'none'")
        if not 0 < self.alpha < 1:
            raise DataError(f"alpha is a number between 0 and 1, like 0.05; found {self.alpha!r}")
        if self.resamples < 1:
            raise DataError(f"the number of resamples is at least 1; found {self.resamples!r}")
        if self.rope is not None and not (self.rope > 0 and isfinite(self.rope)):
            raise DataError(f"rope is the largest difference that does not matter, like 0.01; found {self.rope!r}")
        return self._replace(correction=correction, baselines=_check_baselines(baselines, list(runs)))


def _check_baselines(baselines: str | Iterable[str], runs: list[str]) -> tuple[str, ...]:
    """Return the names of the baselines; refuse one that is not among the runs."""
    names = (baselines,) if isinstance(baselines, str) else tuple(baselines)
    unknown = next((name for name in names if name not in runs), None)
    if unknown is not None:
        raise DataError(f"no run {clip(unknown)} to be the baseline.{did_you_mean(unknown, runs)}")
    return names
