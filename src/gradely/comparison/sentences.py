"""The answer in one sentence: who is better than whom, and who cannot be told apart."""

from collections.abc import Sequence

import numpy as np

from gradely.comparison.intervals import DRAWS
from gradely.comparison.pairwise import Matrix, Pairwise
from gradely.comparison.tests import CORRECTIONS, DRAWN, SIMULTANEOUS, TESTS, lacks_spread
from gradely.evaluation.notes import Note
from gradely.tables import count_of, format_p, format_short

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


def describe_power(pairwise: Pairwise) -> str:
    """Return the discriminative power of each measure, in a line."""
    power = ", ".join(f"{measure} {100 * share:.1f} %" for measure, share in pairwise.power().items())
    kind = "" if pairwise.design.test in SIMULTANEOUS else " before correction"
    return f"Discriminative power, the share of pairs with p below α{kind}: {power}"


NAMED = 3
"""of more runs than this, the first are named and the rest counted"""


def answer(pairwise: Pairwise, measure: int = 0) -> str:
    """Return what the tests say by one measure, in a sentence."""
    return f"By {pairwise.measures[measure]}, {Answer(pairwise, measure).text()}."


def summary(pairwise: Pairwise) -> str:
    """Return what the tests say by the first measure, and which other measures say the same."""
    verdicts = [Answer(pairwise, m).text(numbers=False) for m in range(len(pairwise.measures))]
    others = list(zip(pairwise.measures[1:], verdicts[1:], strict=True))
    same = [name for name, verdict in others if verdict == verdicts[0]]
    different = [name for name, verdict in others if verdict != verdicts[0]]
    parts = ([f"The same holds by {list_names(same)}."] if same else []) + (
        [f"By {list_names(different)} the verdict differs."] if different else []
    )
    return " ".join([answer(pairwise), *(parts if len(pairwise.pairs) else [])])


class Answer:
    """The parts of the sentence about one measure."""

    def __init__(self, pairwise: Pairwise, measure: int) -> None:
        """Look at the verdicts of one measure."""
        self.pairwise, self.design, self.names = pairwise, pairwise.design, pairwise.names
        self.means = pairwise.means[measure]
        self.matrix = Matrix.of(pairwise, measure)
        self.beats = self.matrix.significant & (self.matrix.difference > 0)

    def text(self, *, numbers: bool = True) -> str:
        """Return the sentence, with or without p-values and intervals."""
        self.numbers = numbers
        if not len(self.pairwise.pairs):
            return (
                f"{self.names[int(np.argmax(self.means))]} has the highest mean, but {explain_untested(self.pairwise)}"
            )
        if self.design.baselines:
            return "; ".join(self._describe_baseline(self.names.index(name)) for name in self.design.baselines)
        return self._describe_best()

    def _describe_best(self) -> str:
        """Tell the best run and its peers, and what they are better than."""
        top, *others = sorted(range(len(self.names)), key=lambda i: (-self.means[i], self.names[i]))
        peers, rest = [i for i in others if not self.beats[top, i]], [i for i in others if self.beats[top, i]]
        if not peers:
            return self._say_better([top], rest)
        group = [top, *peers]
        everyone = all(self.beats[i, j] for i in group for j in rest)
        if not rest:
            return self._say_alike(group)
        below = self._list(rest, others="the ")
        if everyone:
            number = "both" if len(group) == 2 else f"all {len(group)}"
            return f"{self._say_alike(group)}; {number} are better than {below}"
        return f"{self._say_alike(group)}; {self.names[top]} is better than {below}"

    def _describe_baseline(self, base: int) -> str:
        """Tell which runs are better than a baseline, worse, or neither."""
        others = [i for i in range(len(self.names)) if i != base]
        better = [i for i in others if self.beats[i, base]]
        worse = [i for i in others if self.beats[base, i]]
        alike = [i for i in others if i not in better and i not in worse]
        parts = [self._say_better(better, [base])] if better else []
        parts += [self._say_better(worse, [base], "worse")] if worse else []
        parts += [self._say_alike([base, *alike])] if alike else []
        return "; ".join(parts)

    def _say_better(self, group: list[int], rest: list[int], how: str = "better") -> str:
        verb = "is" if len(group) == 1 else "are"
        alone = len(group) == len(rest) == 1
        details = self._details(group[0], rest[0]) if alone else self._extreme(group, rest, "at most")
        close = alone and self.matrix.equivalent[group[0], rest[0]]
        yet = f", yet equivalent within ±{format_short(self.design.rope or 0.0)}" if close else ""
        return f"{self._list(group)} {verb} {how} than {self._list(rest, others='the ')}{yet}{details}"

    def _say_alike(self, group: list[int]) -> str:
        """Tell that the first of a group cannot be told apart from the rest of it."""
        first, *rest = group
        if len(rest) > 1:
            details = self._extreme([first], rest, "at least")
            return f"{self.names[first]} cannot be told apart from {self._list(rest)}{details}"
        names = f"{self.names[first]} and {self.names[rest[0]]}"
        if self.matrix.same[first, rest[0]]:
            return f"{names} have the same value on every query"
        if self.matrix.significant[first, rest[0]]:  # by signed ranks, which need no other mean
            return f"{names} differ, but not in their means{self._details(first, rest[0])}"
        if self.matrix.equivalent[first, rest[0]]:
            chance = f"TOST {self._p(self.matrix.tost[first, rest[0]])}"
            return f"{names} are equivalent within ±{format_short(self.design.rope or 0.0)}" + (
                f" ({chance})" if self.numbers else ""
            )
        return f"{names} cannot be told apart{self._details(first, rest[0])}"

    def _details(self, first: int, second: int) -> str:
        """Return p-value and interval of a pair, in brackets."""
        if not self.numbers:
            return ""
        low, high = self.matrix.low[first, second], self.matrix.high[first, second]
        level = f"{100 * (1 - self.design.alpha):g} % interval"
        interval = "" if np.isnan(low) else f", {level} {format_signed(low)} … {format_signed(high)}"
        return f" ({self._p(self.matrix.adjusted[first, second])}{interval})"

    def _extreme(self, group: list[int], rest: list[int], words: str) -> str:
        """Return the p-value that none of several is above, or below, in brackets."""
        p = self.matrix.adjusted[np.ix_(group, rest)]
        return f" ({self._p(float(p.max() if words == 'at most' else p.min()), words)})" if self.numbers else ""

    def _p(self, p: float, words: str = "") -> str:
        corrected = "corrected " if self.design.correction != "none" and self.pairwise.family_size > 1 else ""
        return f"{corrected}p {format_p(p, self.design.alpha, words)}"

    def _list(self, runs: list[int], others: str = "") -> str:
        """Return names of runs; all the others where they are too many."""
        if others and len(runs) > NAMED and len(runs) == len(self.names) - 1:
            return f"{others}{len(runs):,} others"
        return list_names([self.names[i] for i in runs])


def list_names(names: Sequence[str]) -> str:
    """Return names as a text, the rest counted where they are many.

    >>> list_names(["a", "b"]), list_names(list("abcdef"))
    ('a and b', 'a, b, c and 3 more')
    """
    few = [*names] if len(names) <= NAMED + 1 else [*names[:NAMED], f"{len(names) - NAMED:,} more"]
    return few[0] if len(few) == 1 else f"{', '.join(few[:-1])} and {few[-1]}"


def format_signed(value: float) -> str:
    """Return a number with its sign.

    >>> format_signed(0.034), format_signed(-0.25), format_signed(-0.0001)
    ('+.034', '−.250', '−.000')
    """
    return ("−" if value < 0 else "+") + format_short(abs(value), 3)
