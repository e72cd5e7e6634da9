"""What stands below a comparison: how it was tested, over which family, and what there is to note about the tests."""

import numpy as np

from gradely.comparison.intervals import DRAWS
from gradely.comparison.pairs import lacks_spread
from gradely.comparison.pairwise import Pairwise
from gradely.comparison.significance import CORRECTIONS, DRAWN, SIMULTANEOUS, TESTS
from gradely.evaluation.notes import Note
from gradely.tables import count_of

LONGEST = 60
"""names of baselines that are longer are cut in captions"""


def describe_tests(pairwise: Pairwise) -> str:
    """Return what is needed to test again: test, family, correction, alpha, intervals, seed."""
    design = pairwise.design
    if not len(pairwise.pairs):
        return explain_untested(pairwise)
    draws = f", {design.resamples:,} resamples" if design.test in DRAWN else ""
    parts = [f"{TESTS[design.test]}{draws}, {_family(pairwise)}, α = {design.alpha:g}", _intervals(pairwise)]
    if design.rope is not None:
        correction = CORRECTIONS["holm" if design.test in SIMULTANEOUS else str(design.correction)]
        parts.append(f"equivalence within ±{design.rope:g} by TOST, {correction}, and chances by the Bayesian t-test")
    return "; ".join([*parts, f"seed {design.seed}"])


def explain_untested(pairwise: Pairwise) -> str:
    """Return why nothing is tested."""
    if len(pairwise.names) < 2:
        return "nothing is tested: there is one run"
    return "nothing is tested: there is one query, and a test takes at least two"


def _family(pairwise: Pairwise) -> str:
    """Return the correction, and over which tests it is made."""
    design, pairs, measures = pairwise.design, len(pairwise.pairs), len(pairwise.measures)
    names = ", ".join(name if len(name) <= LONGEST else name[:LONGEST] + "…" for name in design.baselines)
    kind = f"against {names}" if names else "all pairs"
    if design.test == "tukey":
        everything = " and all measures" if design.family == "all" else ""
        return f"which holds for all pairs of the {len(pairwise.names):,} runs{everything} at once ({kind}: {pairs:,})"
    if pairwise.family_size == 1:
        return f"one test of each measure, so that nothing is corrected ({kind})"
    if design.family == "all":
        count = f"all {pairs * measures:,} tests ({kind}: {pairs:,}; measures: {measures})"
    else:
        count = f"the {pairs:,} tests of each measure ({kind})"
    if design.test in SIMULTANEOUS:
        return f"which holds for {count} at once"
    return (
        f"{CORRECTIONS[str(design.correction)]} over {count}"
        if design.correction != "none"
        else f"no correction of {count}"
    )


def _intervals(pairwise: Pairwise) -> str:
    level = f"{100 * (1 - pairwise.design.alpha):g} % intervals"
    means = f"of means by the studentised bootstrap ({DRAWS:,} draws)"
    if not pairwise.design.simultaneous:
        return f"{level}, not corrected: of differences by t, {means}"
    family = "everything" if pairwise.design.family == "all" else "each measure"
    return f"{level}: of differences by max-t, which hold for all pairs of {family} at once, and {means}, not corrected"


def note_tests(pairwise: Pairwise) -> list[Note]:
    """Return what there is to note about the tests."""
    if not len(pairwise.pairs):
        runs = len(pairwise.names)
        return [Note("untested", runs, runs, explain_untested(pairwise))]
    return [*_note_replaced(pairwise), *_note_charge(pairwise), *_note_coarse(pairwise), *_note_endless(pairwise)]


def _note_replaced(pairwise: Pairwise) -> list[Note]:
    """Say where the test asked for cannot be computed."""
    count, tests = pairwise.count_replaced, pairwise.p.size
    text = (
        f"in {count:,} of {count_of(tests, 'test')} the difference is the same on every query, so that "
        f"the {TESTS[pairwise.design.test]} cannot be computed: p is that of the exact randomization test"
    )
    return [Note("spreadless", count, tests, text)] if count else []


def _note_charge(pairwise: Pairwise) -> list[Note]:
    """Say that tukey pays for pairs that nobody asked about."""
    runs = len(pairwise.names)
    every, pairs = runs * (runs - 1) // 2, len(pairwise.pairs)
    if pairwise.design.test != "tukey" or pairs == every:
        return []
    text = f"tukey holds for all {every:,} pairs, of which {pairs:,} were asked for: --test max-t holds for these alone"
    return [Note("charged", pairs, every, text)]


def _note_coarse(pairwise: Pairwise) -> list[Note]:
    """Say where the least p-value that a test can give is above alpha once corrected: nothing can be significant."""
    design, queries = pairwise.design, pairwise.values.shape[1]
    family = pairwise.family_size
    least = 1 / (design.resamples + 1) if design.test in DRAWN else 0.0
    if design.test in ("randomization", "max-t", "wilcoxon"):
        least = max(least, 2.0 ** (1 - queries))
    times = family if design.correction in ("holm", "bonferroni") else 1
    if least * times < design.alpha:
        return []
    lifted = f" once corrected over {family:,} tests" if times > 1 else ""
    text = (
        f"the least p-value there can be, {least:.2g}, is not below α{lifted}: take more queries or resamples, "
        "fewer runs or measures, or a baseline"
    )
    return [Note("coarse", family, family, text)]


def _note_endless(pairwise: Pairwise) -> list[Note]:
    """Say that too few queries have no intervals that hold at once: signs can then make all differences equal."""
    if not pairwise.design.simultaneous:
        return []
    lacking = sum(
        int(np.count_nonzero(np.isnan(pairwise.intervals[m].low) & ~lacks_spread(pairwise.by_query(m))))
        for m in range(len(pairwise.measures))
    )
    text = f"{pairwise.values.shape[1]:,} queries are too few for intervals that hold for so many pairs at once"
    return [Note("endless", lacking, pairwise.p.size, text)] if lacking else []
