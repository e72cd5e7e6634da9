"""M16 again: its table, its synthetic study on fewer samples, news, and φ in other measures."""

import gzip

import numpy as np
import pytest

from gradely import from_arrays, nDCGphi
from gradely.data.read.files import ignore
from gradely.errors import InputError
from gradely.papers import experiments
from gradely.papers.library import Library
from gradely.papers.moniz2016 import figure2, lists, news, outlook, synthetic
from gradely.papers.moniz2016.days import table_1
from gradely.papers.moniz2016.grades import adhoc
from gradely.papers.pages import files
from tests.shared_data import DATA, needs


def test_table_1_by_hand():
    """φ is 1 at 100 and 0 at the median, 80 or 20, and below; 90, at rank 3, belongs at rank 2."""
    second, third, fourth = (1 / np.log2(rank + 1) for rank in (2, 3, 4))
    for row, median in zip(table_1(), [80, 20], strict=True):
        phi = _between((90 - median) / (100 - median), low=median - 10, high=100 - median)
        gain = 2**phi - 1
        assert row["nDCGφ"] == pytest.approx((1 + gain * third) / (1 + gain * second), abs=1e-12)
        by_place = (15 + 3 * second + 7 * third + fourth) / (15 + 7 * second + 3 * third + fourth)
        assert row["nDCG of grades by place"] == pytest.approx(by_place, abs=1e-12)


def _between(x, low, high):
    """φ on the last of two pieces of a monotone cubic curve: flat, then up to 1; x runs from 0 to 1 along it.

    The slope is 0 at the median, since the first piece is flat; at the end it is that of Fritsch and Carlson's rule.
    """
    end = min((2 * high + low) / (high + low), 3)
    return (-2 * x**3 + 3 * x**2) + end * (x**3 - x**2)


def test_days_outcome_holds():
    outcome = experiments()["m16-days"].run(Library(), 0, ignore)
    assert [claim.verdict for claim in outcome.claims] == ["holds", "holds"]


def test_grades_by_place_share_the_last_place_of_equals():
    scores = np.concatenate([np.arange(100, 88, -1), [88.0] * 20, np.zeros(68)])[None, :]
    assert adhoc(scores)[0].tolist() == [3] * 10 + [2] * 2 + [1] * 20 + [0] * 68


def test_samples_are_as_the_paper_describes_them():
    rng = np.random.default_rng(1)
    even, odd = synthetic.balanced(rng, 50), synthetic.imbalanced(rng, 50)
    assert all((np.diff(scores, axis=1) <= 0).all() and scores.shape == (50, 100) for scores in (even, odd))
    assert (np.sum(odd > 100, axis=1) == 10).all() and odd.min() >= 1 and 450 < even.mean() < 550
    swap, inversion = synthetic.SCENARIOS.values()
    assert [i for i in range(100) if swap[i] != i] == [9, 10] and swap[9:11] == [10, 9]
    assert inversion == [*range(9, -1, -1), *range(10, 100)]


@pytest.mark.parametrize("seed", [0, 1])
def test_the_finding_of_figure_2_on_fewer_samples(seed):
    cases = figure2.study(seed, samples=100)
    assert all(claim.holds for claim in figure2.claims(cases)), figure2.claims(cases)
    top = 7 / np.log2(np.arange(2, 12))
    swapped = (top.sum() - 4 / np.log2(11)) / top.sum()
    for name in synthetic.DISTRIBUTIONS:
        assert cases[name, "items 10 and 11 swapped"][figure2.PLAIN] == pytest.approx([swapped] * 100, abs=1e-12)
        phi, code = (cases[name, "top 10 inverted"][key] for key in (figure2.PHI, figure2.CODE))
        assert np.median(np.abs(phi - code)) < 0.05
    assert len(figure2.summary(cases)) == 2 * 2 * 3 and len(figure2.chart(cases).to_dict()["hconcat"]) == 2


def test_the_study_follows_the_seed():
    one, same, other = (figure2.study(seed, samples=5)["balanced", "top 10 inverted"]["nDCGφ@10"] for seed in (1, 1, 2))
    assert (one == same).all() and (one != other).any()


def test_phi_in_other_measures_on_fewer_samples():
    """ERR alone charges more for the swap by φ: after nine items of the top grade nobody is left to see it."""
    records = outlook.synthetic(0, samples=100)
    assert len(records) == 2 * 2 * 4 * 2 and outlook.losses(records).to_dict()["facet"]
    claims = outlook.claims(records)
    assert [claim.text.split(",")[0] for claim in claims if not claim.holds] == ["ERR@10"]
    assert "items 10 and 11 swapped" in next(claim.text for claim in claims if not claim.holds)


def test_values_in_the_outlook_are_shares_of_the_ideal():
    scores = np.array([[9.0, 5.0, 1.0, 1.0]])
    best, worse = (from_arrays(-np.arange(4.0)[None, :], scores[:, order]) for order in ([0, 1, 2, 3], [1, 0, 2, 3]))
    for pair in outlook.PAIRS.values():
        assert outlook.share(pair.phi, best, best) == pytest.approx([1], abs=1e-12)
        assert outlook.share(pair.phi, worse, best) == pytest.approx(pair.phi(worse) / pair.phi(best))
    gain = 2 ** _between((5 - 3) / (9 - 3), low=2, high=6) - 1
    expected = (gain + 1 / np.log2(3)) / (1 + gain / np.log2(3))
    assert outlook.share(nDCGphi(), worse, best) == pytest.approx([expected], abs=1e-12)


@pytest.fixture(scope="module")
def items():
    return lists.read(DATA / lists.DATA)


@needs("news-popularity")
def test_news_are_read_in_the_order_of_their_ids(items):
    assert items.counts.shape == (75, 100, 144) and (items.unknown, items.left) == (165, 22)
    assert items.final.min() == 0 and items.final.max() == 13_146
    assert (items.after(lists.END) == items.final).all() and (items.after(1) == items.counts[:, :, 2]).all()


@needs("news-popularity")
def test_the_later_the_count_the_better_the_ranking(items):
    means = news.by_cutoff(items)
    assert len(means) == 5 * 4 * 2
    for name in ("nDCG", "nDCGφ"):
        at_10 = [record["mean"] for record in means if record["measure"] == name and record["k"] == 10]
        assert at_10 == sorted(at_10) and 0 < at_10[0] < at_10[-1] < 1
    records = outlook.news(items)
    assert outlook.hours(records).to_dict()["facet"] and "after 1 hour" in outlook.story(records)
    shares = [record["mean"] for record in records]
    assert len(shares) == 5 * 4 * 2 and 0 < min(shares) < max(shares) < 1
    final = news.values(items, lists.END, 10)
    assert final["nDCG"] == pytest.approx([1] * 75) and final["nDCGφ"] == pytest.approx([1] * 75)


@needs("news-popularity")
def test_both_measures_differ_on_news(items):
    each = news.by_list(items)
    assert len(each) == 5 * 75 and all(claim.holds for claim in news.claims(each))
    assert all(record["difference"] == record["nDCG@10"] - record["nDCGφ@10"] for record in each)


@needs("news-popularity")
@pytest.mark.parametrize("name", ["m16-days", "m16-news"])
def test_runs_leave_every_table_and_figure(name):
    """These two are quick, so they are run whole: what they draw can be drawn."""
    experiment = experiments()[name]
    outcome = experiment.run(Library(DATA), 0, ignore)
    made = files(experiment, outcome, 0)
    assert {f"{sheet}.csv" for sheet in outcome.sheets} < set(made) and b"What came out" in made["index.html"]
    assert all(made[f"{figure}.svg"].startswith(b"<svg") for figure in outcome.figures)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("id,TS1\n1,2\n", ":1: expected the columns IDLink,TS1,…,TS144"),
        (",".join(["IDLink", *(f"TS{i}" for i in range(1, 145))]) + "\n1,2,x\n", "must hold 145 numbers"),
        (
            ",".join(["IDLink", *(f"TS{i}" for i in range(1, 145))]) + "\n" + ",".join("1" * 145) + "\n",
            "a list has 100",
        ),
    ],
)
def test_a_file_that_is_something_else_is_refused(tmp_path, text, said):
    path = tmp_path / "news.csv.gz"
    path.write_bytes(gzip.compress(text.encode()))
    with pytest.raises(InputError, match=said):
        lists.read(path)
