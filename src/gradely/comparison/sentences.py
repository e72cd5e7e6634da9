"""The results of a comparison in sentences: which runs are better, how they were tested, and notes on the tests."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradely.comparison.intervals import ABSURD
from gradely.comparison.pairwise import Matrix, Pairwise
from gradely.comparison.tests import CORRECTIONS, DIGITS, DRAWN, FEWEST_DRAWN, SIMULTANEOUS, TESTS, lacks_spread
from gradely.data.ids import Ints
from gradely.evaluation.notes import Note, note_names
from gradely.tables import count_of, format_p, format_short, show_beside

LONGEST = 60
"""longer names of baselines are truncated in captions"""


def describe_tests(pairwise: Pairwise, *, means: bool = True, random_ties: bool = False) -> str:
    """Return the test, alpha, family, correction, intervals and seed in sentences, to reproduce the results.

    `means` indicates that intervals of means are shown, and `random_ties` that orders of ties were drawn. If nothing is
    tested, the summary gives the reason.
    """
    design, tested = pairwise.design, pairwise.count > 0
    means = means and bool(pairwise.means_method)
    draws = f", {design.resamples:,} resamples" if pairwise.test in DRAWN else ""
    parts = []
    if tested:
        parts.append(f"Test: {pairwise.test_name}{draws}, α = {design.alpha:g}; {describe_family(pairwise)}.")
    over = ", over queries alone, are" if pairwise.subject == "system" else " are"
    of_means = f"those of means{over} {pairwise.means_method}, uncorrected" if means else ""
    intervals = [text for text in (_describe_intervals(pairwise) if tested else "", of_means) if text]
    if intervals:
        parts.append(f"Intervals: {100 * (1 - design.alpha):g} %; {'; '.join(intervals)}.")
    if tested and design.rope is not None:
        name = CORRECTIONS["holm" if design.test in SIMULTANEOUS else str(design.correction)]
        correction = f", {name}" if pairwise.family_size > 1 else ""
        parts.append(f"Equivalence within ±{design.rope:g}: TOST{correction}; probabilities by the Bayesian t-test.")
    if means or random_ties or (tested and (design.simultaneous or pairwise.test in DRAWN)):
        parts.append(f"Random seed: {design.seed}.")
    return " ".join(parts)


def explain_untested(pairwise: Pairwise) -> str:
    """Return the reason why nothing is tested."""
    if len(pairwise.names) < 2:
        return f"nothing is tested: there is only one {pairwise.subject}"
    if pairwise.unit == "collection":
        return "nothing is tested: no two systems have a collection of more than one query in common"
    return f"nothing is tested: there is only one {pairwise.unit}, and a test needs at least two"


def describe_family(pairwise: Pairwise) -> str:
    """Return the correction and the family of tests that it covers."""
    design, pairs, measures = pairwise.design, pairwise.count, len(pairwise.measures)
    names = ", ".join(name if len(name) <= LONGEST else name[:LONGEST] + "…" for name in design.baselines)
    kind = f"against {names}" if names else "all pairs"
    if design.test == "tukey":
        everything = " and all measures" if design.family == "all" else ""
        chosen = f" ({kind}: {pairs:,})" if names else ""
        return f"it holds for all pairs of the {len(pairwise.names):,} runs{everything} at once{chosen}"
    if pairwise.family_size == 1:
        return f"one pair per measure, so no correction is needed{f' ({kind})' if names else ''}"
    if design.family == "all":
        count = f"all {pairs * measures:,} tests ({kind}: {pairs:,}; measures: {measures})"
    else:
        count = f"the {pairs:,} tests of each measure ({kind})"
    if design.test in SIMULTANEOUS:
        return f"it holds for {count} at once"
    correction = CORRECTIONS[str(design.correction)]
    return f"{correction} correction over {count}" if design.correction != "none" else f"no correction of {count}"


def _describe_intervals(pairwise: Pairwise) -> str:
    """Return the kind of the intervals of differences."""
    how = "uncorrected t intervals"
    if pairwise.design.simultaneous:
        family = "pairs and measures" if pairwise.design.family == "all" else "pairs of each measure"
        how = f"by max-t and hold for all {family} at once"
    elif pairwise.is_corrected:
        how = "corrected in sentences, as p is, and uncorrected t intervals in tables"
    return f"those of differences are {how}"


def note_tests(pairwise: Pairwise) -> list[Note]:
    """Return notes on the tests."""
    if not pairwise.count:
        runs = len(pairwise.names)
        return [Note("untested", runs, runs, explain_untested(pairwise))]
    return [
        *_note_identical(pairwise),
        *_note_few(pairwise),
        *_note_replaced(pairwise),
        *_note_charge(pairwise),
        *_note_unequal(pairwise),
        *_note_contradictions(pairwise),
        *_note_coarse(pairwise),
        *_note_endless(pairwise),
    ]


def _note_identical(pairwise: Pairwise) -> list[Note]:
    """Name the identical pairs; for two runs, the summary says so."""
    same = np.flatnonzero(~pairwise.differing.any(axis=0)).tolist() if pairwise.count > 1 else []
    names = [" and ".join(pairwise.named_pairs[i]) for i in same]
    text = f"{{have}} the same value on every {pairwise.unit} by every measure"
    return note_names("identical", len(names), pairwise.count, "pair", text, names)


def _note_few(pairwise: Pairwise) -> list[Note]:
    """Note that t replaced the bootstrap."""
    if pairwise.test == pairwise.design.test:
        return []
    tests, queries = pairwise.p.size, count_of(pairwise.values.shape[1], "query")
    text = f"{queries} are too few for the bootstrap, which needs {FEWEST_DRAWN}: p comes from the {TESTS['t']}"
    return [Note("few", tests, tests, text)]


def _note_replaced(pairwise: Pairwise) -> list[Note]:
    """Count the pairs for which the requested test is undefined."""
    count, tests = pairwise.count_replaced, pairwise.p.size
    text = (
        f"in {count:,} of {count_of(tests, 'test')} the difference is the same on every query, and "
        f"the {pairwise.test_name} is undefined: p comes from the exact randomization test"
    )
    return [Note("spreadless", count, tests, text)] if count else []


def _note_charge(pairwise: Pairwise) -> list[Note]:
    """Note that tukey also corrects for pairs that are not compared."""
    runs = len(pairwise.names)
    every, pairs = runs * (runs - 1) // 2, pairwise.count
    if pairwise.design.test != "tukey" or pairs == every:
        return []
    text = f"tukey corrects for all {every:,} pairs, but only {pairs:,} are compared; max-t corrects only for these"
    return [Note("charged", pairs, every, text)]


def _note_unequal(pairwise: Pairwise) -> list[Note]:
    """Warn if tukey may be anti-conservative: it assumes that all runs have the same variance."""
    if pairwise.design.test != "tukey":
        return []
    centred = pairwise.weighed - pairwise.weighed.mean(axis=2, keepdims=True)
    low, high = (end(centred.std(axis=1, ddof=1), axis=1) for end in (np.min, np.max))
    count, measures = int(np.count_nonzero(high > UNEQUAL * low + 10.0**-DIGITS)), len(pairwise.measures)
    text = (
        f"by {count:,} of {count_of(measures, 'measure')} some runs vary more than {UNEQUAL:g} times as much as others "
        "from query to query; tukey assumes that all vary equally, and may find too many differences; max-t does not "
        "assume this"
    )
    return [Note("unequal", count, measures, text)] if count else []


def _note_contradictions(pairwise: Pairwise) -> list[Note]:
    """Count the pairs for which signed ranks and means favour different runs."""
    count, tests = int(np.count_nonzero(pairwise.contradicts)), pairwise.p.size
    text = (
        f"in {count:,} of {count_of(tests, 'test')} the signed ranks favour a run whose mean is not the higher one: "
        "Wilcoxon's test does not ask about means"
    )
    return [Note("contradiction", count, tests, text)] if count else []


def _note_coarse(pairwise: Pairwise) -> list[Note]:
    """Count the tests that can never be significant, since the smallest possible p-value is not below alpha.

    A corrected p-value increases with every p-value of its family, so correcting the smallest ones gives a lower bound.
    """
    alpha, least, family = pairwise.design.alpha, pairwise.least, pairwise.family_size
    coarse = pairwise.differing & (pairwise.correct(least) >= alpha)
    count, tests = int(np.count_nonzero(coarse)), int(np.count_nonzero(pairwise.differing))
    if not count:
        return []
    lifted = f" once corrected over {family:,} tests" if (least[coarse] < alpha).all() else ""
    by_draws = pairwise.test in DRAWN and np.isclose(least[coarse], 1 / (pairwise.design.resamples + 1)).any()
    units = "queries or collections" if pairwise.unit == "collection" else "queries"
    advice = f"{'resamples' if by_draws else units}{', fewer runs or measures, or a baseline' if lifted else ''}"
    about = "about " if pairwise.test == "tukey" and not by_draws else ""  # it is not enumerated, but drawn
    p = format_p(least[coarse].min(), alpha)
    text = (
        f"the smallest possible p-value, {about}{p}, is not below α{lifted}: use more {advice}"
        if count == tests
        else f"in {count:,} of {count_of(tests, 'test')} p cannot get below α{lifted}, however clear the difference: "
        "the runs differ on too few queries"
    )
    return [Note("coarse", count, tests, text)]


def _note_endless(pairwise: Pairwise) -> list[Note]:
    """Note that there are too few queries for simultaneous intervals: signs can make all differences equal."""
    if not pairwise.design.simultaneous:
        return []
    lacking = sum(
        int(np.count_nonzero(np.isnan(pairwise.intervals[m].low) & ~lacks_spread(pairwise.by_query(m))))
        for m in range(len(pairwise.measures))
    )
    text = f"{pairwise.values.shape[1]:,} queries are too few for intervals that hold for all pairs at once"
    return [Note("endless", lacking, pairwise.p.size, text)] if lacking else []


def note_means(pairwise: Pairwise) -> list[Note]:
    """Name the means whose intervals are t intervals, since the bootstrap is unreliable for them."""
    names = [f"{pairwise.names[run]} by {pairwise.measures[m]}" for m, run in np.argwhere(pairwise.means_by_t).tolist()]
    text = (
        "of means {are} by t, since the bootstrap draws vary too little there, or its interval would reach more than "
        f"{ABSURD:g} times as far"
    )
    return note_names("means", len(names), pairwise.means.size, "interval", text, names)


def describe_power(pairwise: Pairwise) -> str:
    """Return the discriminative power of each measure in one line."""
    power = ", ".join(f"{measure} {100 * share:.1f} %" for measure, share in pairwise.power().items())
    kind = "" if pairwise.design.test in SIMULTANEOUS else " before correction"
    return f"Discriminative power, the share of pairs with p below α{kind}: {power}"


NAMED = 3
"""the number of runs that are named; the rest are counted"""
UNEQUAL = 2.0
"""if the spreads of runs differ by more than this factor, the error rate of tukey exceeds alpha"""


def answer(pairwise: Pairwise, measure: int = 0) -> str:
    """Return the result of the tests by one measure as a sentence."""
    return Answer(pairwise, measure).sentence()


def summary(pairwise: Pairwise) -> str:
    """Return the result by the first measure, and which other measures agree with it."""
    first = Answer(pairwise, 0)
    if not pairwise.count:
        return first.sentence()
    claims, same, equal, different = first.claims(), list[str](), list[str](), list[str]()
    for m, measure in enumerate(pairwise.measures[1:], 1):
        others = Answer(pairwise, m).claims()
        alike = all(kind == "same" for kind, *_ in others)
        (same if others == claims else equal if alike else different).append(measure)
    number = "both" if len(pairwise.names) == 2 else f"all {pairwise.subject}s"
    parts = [
        *([f"The same holds by {list_names(same)}."] if same else []),
        *([f"By {list_names(equal)} {number} have the same values."] if equal else []),
        *([f"By {list_names(different)} the verdict differs."] if different else []),
    ]
    return " ".join([first.sentence(), *parts])


class Answer:
    """What the tests say by one measure."""

    def __init__(self, pairwise: Pairwise, measure: int) -> None:
        """Arrange the verdicts of one measure as matrices."""
        self.pairwise, self.measure = pairwise, measure
        self.design, self.names, self.means = pairwise.design, pairwise.names, pairwise.means[measure]
        self.matrix = Matrix.of(pairwise, measure)
        self.below = np.round(self.means.max() - self.means, DIGITS)  # rounding errors do not order runs
        self.beats = self.matrix.significant & (self.matrix.direction > 0)

    def sentence(self) -> str:
        """Return the result as a sentence."""
        return f"By {self.pairwise.measures[self.measure]}, {self._text()}."

    def _text(self) -> str:
        if len(self.names) == 1:
            return explain_untested(self.pairwise)
        if not self.pairwise.count:
            return f"{self._name_highest()}, but {explain_untested(self.pairwise)}"
        if self.design.baselines:
            bases = [self.names.index(name) for name in self.design.baselines]
            said = (self._describe_baseline(base, bases[:i]) for i, base in enumerate(bases))
            return "; ".join(text for text in said if text)
        return self._describe_best()

    def _name_highest(self) -> str:
        highest = np.flatnonzero(self.below == 0).tolist()
        if len(highest) == 1:
            return f"{self._list(highest)} has the highest mean"
        return f"{self._list(highest)} have the {'same' if len(highest) == len(self.names) else 'highest'} mean"

    def claims(self) -> frozenset[tuple[Any, ...]]:
        """Return the claims of the sentence about pairs of runs, independent of the order in which it names them."""
        if self.design.baselines:
            bases = [self.names.index(name) for name in self.design.baselines]
            return frozenset(self._claim(base, i) for base in bases for i in range(len(self.names)) if i != base)
        top, peers, rest, above = self._split()
        said = {(top, i) for i in (*peers, *rest, *above)}
        said |= {(i, j) for i in peers for j in rest} if self._all_beat([top, *peers], rest) else set()
        return frozenset(self._claim(i, j) for i, j in said)

    def _claim(self, i: int, j: int) -> tuple[Any, ...]:
        if self.matrix.significant[i, j]:
            return ("better", *((i, j) if self.beats[i, j] else (j, i)), bool(self.matrix.contradicts[i, j]))
        alike = "same" if self.matrix.same[i, j] else "equivalent" if self.matrix.equivalent[i, j] else "alike"
        return (alike, frozenset((i, j)))

    def _split(self) -> tuple[int, list[int], list[int], list[int]]:
        """Return the run with the highest mean, its peers, those it beats, and those that beat it by signed ranks."""
        top, *others = sorted(range(len(self.names)), key=lambda i: (self.below[i], self.names[i]))
        rest, above = [i for i in others if self.beats[top, i]], [i for i in others if self.beats[i, top]]
        return top, [i for i in others if i not in rest and i not in above], rest, above

    def _all_beat(self, group: list[int], rest: list[int]) -> bool:
        """Return whether every run of a group beats all others, with a higher mean."""
        sure = self.beats & ~self.matrix.contradicts
        return all(sure[i, j] for i in group for j in rest)

    def _describe_best(self) -> str:
        """Name the best run and its peers, and the runs that they beat."""
        top, peers, rest, above = self._split()
        group, parts = [top, *peers], []
        if peers:
            parts.append(self._say_alike(group))
        if peers and rest:
            number = "both" if len(group) == 2 else f"all {len(group)}"
            who = f"{number} are" if self._all_beat(group, rest) else f"{self.names[top]} is"
            parts.append(f"{who} better than {self._list(rest, others='the ')}")
        elif rest:
            parts += self._say_beaten([top], rest)
        return "; ".join([*parts, *(self._say_beaten(above, [top]) if above else [])])

    def _describe_baseline(self, base: int, earlier: list[int]) -> str:
        """Name the runs that are better than a baseline, worse, or neither, without the baselines before it."""
        others = [i for i in range(len(self.names)) if i != base and i not in earlier]
        better = [i for i in others if self.beats[i, base]]
        worse = [i for i in others if self.beats[base, i]]
        alike = [i for i in others if i not in better and i not in worse]
        parts = self._say_beaten(better, [base]) + self._say_beaten(worse, [base], "worse")
        return "; ".join(parts + ([self._say_alike([base, *alike])] if alike else []))

    def _say_beaten(self, group: list[int], rest: list[int], how: str = "better") -> list[str]:
        """Return which runs are better or worse than others, with the pairs that means contradict separately."""
        against = self.matrix.contradicts[np.ix_(group, rest)]
        if len(rest) == 1:
            parts = [[i for i, yes in zip(group, against[:, 0], strict=True) if yes == turn] for turn in (False, True)]
            return [self._say_better(part, rest, how) for part in parts if part]
        parts = [[j for j, yes in zip(rest, against[0], strict=True) if yes == turn] for turn in (False, True)]
        return [self._say_better(group, part, how) for part in parts if part]

    def _say_better(self, group: list[int], rest: list[int], how: str) -> str:
        verb = "is" if len(group) == 1 else "are"
        first, second = group[0], rest[0]
        alone, against = len(group) == len(rest) == 1, bool(self.matrix.contradicts[first, second])
        details = self._details(first, second) if alone else self._extreme(group, rest, "at most")
        close = alone and self.matrix.equivalent[first, second]
        yet = f", yet equivalent within ±{format_short(self.design.rope or 0.0)}" if close else ""
        by, though = (" by signed ranks", self._say_means(group, rest, how)) if against else ("", "")
        return f"{self._list(group)} {verb} {how} than {self._list(rest, others='the ')}{by}{yet}{details}{though}"

    def _say_means(self, group: list[int], rest: list[int], how: str) -> str:
        """Return the difference of means that contradicts the signed ranks."""
        wrong = "higher" if how == "worse" else "lower"
        apart = self.matrix.difference[group[0], rest[0]]
        if len(group) > 1 or len(rest) > 1:
            return f", though the means are equal or {wrong}"
        if round(abs(apart), DIGITS) == 0:
            return ", though their means are equal"
        return f", though its mean is {wrong} by {show_beside(abs(apart), 0.0).removeprefix('0')}"

    def _say_alike(self, group: list[int]) -> str:
        """Return that the first run of a group cannot be told apart from the others, or is equivalent to them."""
        first, *rest = group
        same = [i for i in rest if self.matrix.same[first, i]]
        if same == rest:
            return f"{self._list(group)} have the same value on every query"
        close = [i for i in rest if self.matrix.equivalent[first, i] and i not in same]
        open_ = [i for i in rest if i not in close and i not in same]
        if not open_ and len(rest) == 1:
            names = self._list(group)
            return f"{names} are equivalent within {self._margin()}{self._extreme([first], rest, 'at most', tost=True)}"
        if len(rest) == 1:
            return f"{self._list(group)} cannot be told apart{self._details(first, rest[0])}"
        parts = [f"has the same value on every query as {self._list(same)}"] if same else []
        if close:
            details = self._extreme([first], close, "at most", tost=True)
            parts.append(f"is equivalent within {self._margin()} to {self._list(close)}{details}")
        if open_:
            alone = len(open_) == 1
            details = self._details(first, open_[0]) if alone else self._extreme([first], open_, "at least")
            parts.append(f"cannot be told apart from {self._list(open_)}{details}")
        return f"{self.names[first]} {' and '.join(parts)}"

    def _margin(self) -> str:
        return f"±{format_short(self.design.rope or 0.0)}"

    def _details(self, first: int, second: int) -> str:
        """Return the p-value and the interval of a pair in parentheses, both corrected or both uncorrected.

        An interval by t or max-t beside the p-value of another test is named, since the two may disagree about 0. So
        is one of max-t if it does.
        """
        turned = not len(found := self._find(first, second))
        at = int((self._find(second, first) if turned else found)[0])
        low, high = self.pairwise.corrected_interval(self.measure, at)
        low, high = (-high, -low) if turned else (low, high)
        at_once, corrected = self.design.simultaneous, self.pairwise.is_corrected
        kind = "simultaneous " if at_once else "corrected " if corrected else ""
        by_t = not at_once and not (corrected and self.design.test in SIMULTANEOUS)
        method = "t" if by_t else "max-t" if at_once else self.pairwise.test
        named = f" {method}" if method != self.pairwise.test else ""
        level = f"{kind}{100 * (1 - self.design.alpha):g} %{named} interval"
        ends = f"{format_signed(low)} … {format_signed(high)}"
        interval = "" if np.isnan(low) else f", {level} {ends}"
        apart = self.matrix.significant[first, second] != (low > 0 or high < 0)
        if self.pairwise.test == "max-t" and interval and not named and apart:
            interval = f"; the {level}, from centred differences, says otherwise: {ends}"
        return f" ({self._p(self.matrix.adjusted[first, second])}{interval})"

    def _find(self, first: int, second: int) -> Ints:
        pairs = self.pairwise.pairs
        return np.flatnonzero((pairs.first == first) & (pairs.second == second))

    def _extreme(self, group: list[int], rest: list[int], words: str, *, tost: bool = False) -> str:
        """Return the largest or smallest of several p-values in parentheses."""
        p = (self.matrix.tost if tost else self.matrix.adjusted)[np.ix_(group, rest)]
        worst = float(p.max() if words == "at most" else p.min())
        return f" ({'TOST ' if tost else ''}{self._p(worst, words if p.size > 1 and worst < 1 else '')})"

    def _p(self, p: float, words: str = "") -> str:
        return f"{'corrected ' if self.pairwise.is_corrected else ''}p {format_p(p, self.design.alpha, words)}"

    def _list(self, runs: list[int], others: str = "") -> str:
        """Return the names of runs, or the number of `others` if there are many."""
        if others and len(runs) > NAMED and len(runs) == len(self.names) - 1:
            return f"{others}{len(runs):,} others"
        return list_names([self.names[i] for i in runs])


def list_names(names: Sequence[str]) -> str:
    """Return names as a list in words, with a count of the rest if there are many.

    >>> list_names(["a", "b"]), list_names(list("abcdef"))
    ('a and b', 'a, b, c and 3 more')
    """
    few = [*names] if len(names) <= NAMED + 1 else [*names[:NAMED], f"{len(names) - NAMED:,} more"]
    return few[0] if len(few) == 1 else f"{', '.join(few[:-1])} and {few[-1]}"


def format_signed(value: float) -> str:
    """Return a number with its sign and three decimals.

    >>> format_signed(0.034), format_signed(-0.25), format_signed(-0.0001)
    ('+.034', '−.250', '−.000')
    """
    return ("−" if value < 0 else "+") + format_short(abs(value), 3)
