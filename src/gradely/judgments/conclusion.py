"""Sentences that say whether a conclusion depends on the judge, and how far judges agree."""

from collections.abc import Sequence

import numpy as np

from gradely.comparison.sentences import list_names
from gradely.judgments.agreement import AgreedPair, Coefficient
from gradely.judgments.by_judge import ByJudge
from gradely.tables import count_of, format_short


def conclude(runs: ByJudge) -> str:
    """Return a sentence that says whether the conclusion about the runs, by the first measure, depends on the judge."""
    if len(runs.names) == 1:
        return _describe_one(runs)
    if not runs.signs[:, 0].any():
        return (
            f"By {next(iter(runs.measures))}, all runs have the same mean according to {_everyone(len(runs.judges))}."
        )
    return _conclude_pair(runs) if len(runs.names) == 2 else _conclude_order(runs)


def _describe_one(runs: ByJudge) -> str:
    """Return the range of the only run's mean over judges."""
    measure, (run,), by = next(iter(runs.measures)), runs.names, runs.means[:, 0, 0]
    least, most = int(by.argmin()), int(by.argmax())
    if f"{by[least]:.4f}" == f"{by[most]:.4f}":
        return f"{measure} of {run} is {by[least]:.4f} according to {_everyone(len(by))}."
    ends = f"{by[least]:.4f} (by {runs.judges[least]}) and {by[most]:.4f} (by {runs.judges[most]})"
    return f"{measure} of {run} is between {ends}, and {by.mean():.4f} on average over {len(by)} judges."


def _conclude_pair(runs: ByJudge) -> str:
    """Return how many judges prefer the first of two runs, which has the higher mean over all judges."""
    measure, (first, second), count = next(iter(runs.measures)), runs.names, len(runs.judges)
    signs, sure = runs.signs[:, 0, 0], runs.significant[:, 0, 0]
    up, down = signs > 0, signs < 0
    if runs.order_depends[0, 0]:
        better, worse = (
            f"according to {count_of(int(flags.sum()), 'judge')} (significantly for {int((flags & sure).sum())})"
            for flags in (up, down)
        )
        return (
            f"The conclusion depends on the judge: by {measure}, {first} is better than {second} {better}, and worse "
            f"{worse}."
        )
    if runs.significance_depends[0, 0]:
        return (
            f"The order does not depend on the judge, but its significance does: by {measure}, {first} is better than "
            f"{second} according to {_all(up, count)}, significantly for {int(sure.sum())} of them."
        )
    verdict = "and significantly so for all of them" if sure.all() else "and significantly so for none of them"
    by = _all(up if up.any() else down, count)
    found = f"by {measure}, {first} is better than {second} according to {by}, {verdict}"
    return f"The conclusion does not depend on the judge: {found}."


def _conclude_order(runs: ByJudge) -> str:
    """Return which run is best by how many judges, and how many pairs change their order or significance."""
    measure, count, pairs = next(iter(runs.measures)), len(runs.judges), runs.signs.shape[2]
    order, significance, both_ways = (
        int(np.count_nonzero(flags[0])) for flags in (runs.order_depends, runs.significance_depends, runs.both_ways)
    )
    best = runs.best()
    leader, votes = next(iter(best.items()))
    alone = votes == count and len(best) == 1
    first = f"{leader} is best according to {_everyone(count)}" if alone else _list_best(best, count)
    if not order and not significance:
        kept = int(np.count_nonzero(runs.significant[0, 0]))
        found = (
            f"{kept:,} of {count_of(pairs, 'pair')} of runs {'differs' if kept == 1 else 'differ'} significantly "
            "according to every judge, in the same direction"
            if kept
            else "no pair of runs differs significantly according to any judge"
        )
        return f"The conclusion does not depend on the judge: by {measure}, {first}, and {found}."
    changes = []
    if order:
        sure = f", {both_ways:,} of them significantly in both directions" if both_ways else ""
        verb = "changes its order" if order == 1 else "change their order"
        changes.append(f"{order:,} of {count_of(pairs, 'pair')} of runs {verb} from judge to judge{sure}")
    if significance:
        which = f"{significance:,} more" if order else f"{significance:,} of {count_of(pairs, 'pair')} of runs"
        verb = "differs" if significance == 1 else "differ"
        changes.append(f"{which} {verb} significantly according to only some judges")
    head = (
        "The order does not depend on the judge, but its significance does"
        if not order
        else "The best run does not depend on the judge, but the order does"
        if alone
        else "The conclusion depends on the judge"
    )
    return f"{head}: by {measure}, {first}; {'; '.join(changes)}."


def _list_best(best: dict[str, int], judges: int) -> str:
    """Return the runs that are best by at least one judge, each with its number of judges."""
    names = [f"{name} according to {count_of(count, 'judge')}" for name, count in best.items()]
    tied = " (tied runs all count)" if sum(best.values()) > judges else ""
    return f"the best run is {list_names(names)}{tied}"


def _all(flags: np.ndarray, count: int) -> str:
    """Return how many judges prefer a run; for the others, both runs are equal."""
    number = int(flags.sum())
    others = "the other finding" if count - number == 1 else "the others finding"
    return _everyone(count) if number == count else f"{number} of {count} judges, {others} them equal"


def _everyone(count: int) -> str:
    return "both judges" if count == 2 else f"all {count} judges"


def describe_two(pair: AgreedPair, level: str) -> str:
    """Return a sentence about the agreement of two judges."""
    who, shared = f"{pair.first} and {pair.second}", count_of(pair.documents, "shared document")
    assert pair.same is not None  # judges who share no document are refused
    assert pair.difference is not None
    if pair.same == 1:
        undefined = "" if pair.kappa is not None else ", and it is the same for all documents, so κ is undefined"
        return f"{who} give the same label to all {shared}{undefined}."
    share = f"{100 * pair.same:.0f} %"
    if pair.same > 0.99 or 0 < pair.same < 0.01:  # which might be rounded to all or none
        share = "more than 99 %" if pair.same > 0.99 else "less than 1 %"
    agree = f"{who} give the same label to {share} of {shared}"
    assert pair.kappa is not None  # κ is defined if two labels occur
    assert pair.quadratic is not None
    higher = pair.first if pair.difference > 0 else pair.second
    kappas = f"κ is {_short(pair.kappa)}{_interval(pair.kappa, level)}, quadratic {_short(pair.quadratic)}"
    if abs(pair.difference) < 0.005:  # which would be printed as zero
        return f"{agree}; {kappas}."
    return f"{agree}; {kappas}; the labels of {higher} are higher by {abs(pair.difference):.2f} on average."


def describe_many(
    names: Sequence[str], shared: int, alpha: Coefficient | None, pairs: Sequence[AgreedPair], level: str
) -> str:
    """Return a sentence about the agreement of several judges, with the pairs that agree most and least."""
    of = f"{len(names)} judges on {count_of(shared, 'shared document')}"
    if alpha is None:
        return f"All labels of the {of} are the same, so neither κ nor α is defined."
    known = sorted((float(pair.kappa), pair) for pair in pairs if pair.kappa is not None)
    told = f"Krippendorff's α of the {of} is {_short(alpha)}{_interval(alpha, level)}"
    if len(known) < 2:
        return f"{told}."
    (least, low), (most, high) = known[0], known[-1]
    if _short(least) == _short(most):
        where = "every pair" if len(known) == len(pairs) else f"{len(known)} of {len(pairs)} pairs"
        return f"{told}; κ of two judges is {_short(least)} for {where}."
    ends = f"{_short(least)} ({low.first} and {low.second}) to {_short(most)} ({high.first} and {high.second})"
    return f"{told}; κ of two judges ranges from {ends}."


def _short(value: float) -> str:
    return f"−{format_short(-value, 2)}" if value < 0 else format_short(value, 2)


def _interval(coefficient: Coefficient, level: str) -> str:
    if coefficient.low is None or coefficient.high is None:
        return ""
    return f" ({level} interval {_short(coefficient.low)} … {_short(coefficient.high)})"
