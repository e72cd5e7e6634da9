"""The answer in one sentence: who is better than whom, and who cannot be told apart."""

from collections.abc import Sequence

import numpy as np

from gradely.comparison.captions import explain_untested
from gradely.comparison.matrix import Matrix
from gradely.comparison.pairwise import Pairwise

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


def format_p(p: float, alpha: float, words: str = "") -> str:
    """Return a p-value with as many digits as it takes to see on which side of alpha it lies.

    >>> format_p(0.912, 0.05), format_p(0.0496, 0.05), format_p(0.00002, 0.05)
    ('.91', '.0496', '< .001')
    """
    if p < 0.001 < alpha:
        return "< .001"
    digits = 2 if p >= 0.095 else 3
    while digits < 12 and (round(p, digits) < alpha) != (p < alpha):
        digits += 1
    return f"{words} {format_short(p, digits)}".strip()


def format_short(value: float, digits: int | None = None) -> str:
    """Return a number without the 0 before its point.

    >>> format_short(0.01), format_short(0.5, 2), format_short(1.0, 2)
    ('.01', '.50', '1.00')
    """
    text = f"{value:g}" if digits is None else f"{value:.{digits}f}"
    return text[1:] if text.startswith("0.") else text


def format_signed(value: float) -> str:
    """Return a number with its sign.

    >>> format_signed(0.034), format_signed(-0.25), format_signed(-0.0001)
    ('+.034', '−.250', '−.000')
    """
    return ("−" if value < 0 else "+") + format_short(abs(value), 3)
