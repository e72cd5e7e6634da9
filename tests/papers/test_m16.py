"""M16 again: its table, its synthetic study on fewer samples, news, and φ in other measures."""

import gzip
from datetime import datetime, timedelta

import numpy as np
import pytest

from gradely import evaluate, from_arrays, nDCGphi, phi, qrels_from_run
from gradely.data.source import ignore
from gradely.errors import InputError
from gradely_papers import experiments
from gradely_papers.experiment import Library
from gradely_papers.moniz2016 import agreement, difference, figure1, figure2, google, news, outlook, synthetic
from gradely_papers.moniz2016.days import table_1
from gradely_papers.moniz2016.grades import adhoc, place_grades
from gradely_papers.results import files
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


def test_grades_by_place_share_the_last_place_of_equals():
    scores = np.concatenate([np.arange(100, 88, -1), [88.0] * 20, np.zeros(68)])[None, :]
    assert adhoc(scores)[0].tolist() == [3] * 10 + [2] * 2 + [1] * 20 + [0] * 68
    assert place_grades(100).tolist() == [3] * 10 + [2] * 15 + [1] * 25 + [0] * 50


def test_grades_by_place_are_those_of_the_command_line():
    """A practitioner can make them again: `--qrels-from-run final.run --levels 10,25,50`."""
    scores = np.random.default_rng(5).integers(0, 30, 100).astype(float)
    run = {f"d{i}": score for i, score in enumerate(scores.tolist())}
    assert (
        list(qrels_from_run({"q": run}, levels=[10, 25, 50]).labels("q").values()) == adhoc(scores[None, :])[0].tolist()
    )


def test_samples_are_as_the_paper_describes_them():
    rng = np.random.default_rng(1)
    even, odd = synthetic.draw_balanced(rng, 50), synthetic.draw_imbalanced(rng, 50)
    assert all((np.diff(scores, axis=1) <= 0).all() and scores.shape == (50, 100) for scores in (even, odd))
    assert (np.sum(odd > 100, axis=1) == 10).all() and odd.min() >= 1 and 450 < even.mean() < 550
    even_code, odd_code = synthetic.draw_balanced_code(rng, 50), synthetic.draw_imbalanced_code(rng, 50)
    assert all((scores == scores.round()).all() and scores.shape == (50, 100) for scores in (even_code, odd_code))
    assert even_code.min() >= 1 and 900 < even_code.max() <= 1000
    assert (np.sum(odd_code > 500, axis=1) <= 20).all() and synthetic.has_outlier(odd_code).all()
    swap, inversion = synthetic.SCENARIOS.values()
    assert [i for i in range(100) if swap[i] != i] == [9, 10] and swap[9:11] == [10, 9]
    assert inversion == [*range(9, -1, -1), *range(10, 100)]


@pytest.mark.parametrize("seed", [0, 1])
def test_the_finding_of_figure_2_on_fewer_samples(seed):
    cases = {source: figure2.study(seed, source, samples=200) for source in figure2.SOURCES}
    verdicts = [(claim.key, found) for claim in figure2.EXPERIMENT.claims for found in claim.test(cases)]
    differing = [(key, found.data) for key, found in verdicts if found.word != "holds"]
    assert differing == [("is_worse", "samples by the authors' code"), ("as_read", "samples by the paper's text")], (
        verdicts
    )
    assert len(figure2.summary(cases)) == 2 * 2 * 2 * 2
    drawn = figure2.chart(figure2.summary(cases)).to_dict()["concat"]
    scales = [panel["layer"][0]["encoding"]["y"]["scale"] for panel in drawn]
    assert len(drawn) == 4 and scales[:2] == scales[2:], "the text and the code are drawn on the same scales"
    top = 7 / np.log2(np.arange(2, 12))
    swapped = (top.sum() - 4 / np.log2(11)) / top.sum()
    for case in cases.values():
        for name in figure2.BOTH:
            assert case[name, "items 10 and 11 swapped"][figure2.PLAIN] == pytest.approx([swapped] * 200, abs=1e-12)


def test_outliers_are_those_of_a_box_plot():
    """R: boxplot.stats(c(1, 2, 2, 3, 9))$out is 9: hinges 2 and 3, so that 4.5 is the last that is none."""
    rows = np.array([[9.0, 3, 2, 2, 1], [4.5, 3, 2, 2, 1], [4.6, 3, 2, 2, 1], [4, 3, 2, 2, 0.4], [4, 3, 2, 2, 0.5]])
    assert synthetic.has_outlier(rows).tolist() == [True, False, True, True, False]


def test_curves_of_phi_are_drawn_from_the_first_sample():
    rng = np.random.default_rng(1)
    samples = {name: draw(rng, 20) for name, draw in synthetic.TEXT.items()}
    rows = figure1.curves(samples)
    assert figure1.chart(rows).to_dict()["facet"]
    assert all(found.word == "holds" for claim in figure1.EXPERIMENT.claims for found in claim.test(samples))
    for name in samples:
        for label in figure1.CONTROLS.values():
            own = [row for row in rows if (row["scores"], row["φ by"]) == (name, label)]
            points = [(row["score"], row["φ"]) for row in own if row["is"] == "control point"]
            assert points[-1] == (samples[name][0, 0], 1) and len(points) == (3 if name == "balanced" else 4)
            curve = [row["φ"] for row in own if row["is"] == "curve"]
            assert len(curve) == figure1.STEPS and curve[0] == 0 and curve[-1] == 1 and (np.diff(curve) >= 0).all()
            assert max(np.diff(curve)) < 0.03  # smooth, whatever lies between two items
            assert sum(row["is"] == "item" for row in own) == 100


def test_the_study_follows_the_seed():
    text = "the paper's text"
    one, same, other = (
        figure2.study(seed, text, samples=5)["balanced", "top 10 inverted"]["nDCGφ@10"] for seed in (1, 1, 2)
    )
    assert (one == same).all() and (one != other).any()


def test_phi_in_other_measures_on_fewer_samples():
    """ERR alone charges more for the swap by φ: after nine items of the top grade nobody is left to see it."""
    records = outlook.synthetic(0, samples=100)
    assert len(records) == 2 * 2 * 4 * 2 and outlook.losses(records).to_dict()["facet"]
    loss = {(x["scenario"], x["scores"], x["measure"], x["relevance"]): x["median loss"] for x in records}
    swap = "items 10 and 11 swapped"
    dearer = [
        name
        for name in outlook.PAIRS
        for d in figure2.BOTH
        if loss[swap, d, name, "φ"] > loss[swap, d, name, outlook.GRADES]
    ]
    assert set(dearer) == {"ERR@10"} and len(outlook.observations(records)) == 2 * len(outlook.PAIRS)


def test_values_in_the_outlook_are_shares_of_the_ideal():
    scores = np.array([[9.0, 5.0, 1.0, 1.0]])
    best, worse = (from_arrays(-np.arange(4.0)[None, :], scores[:, order]) for order in ([0, 1, 2, 3], [1, 0, 2, 3]))
    for pair in outlook.PAIRS.values():
        assert outlook.share(pair.phi, best, best) == pytest.approx([1], abs=1e-12)
        assert outlook.share(pair.phi, worse, best) == pytest.approx(pair.phi(worse) / pair.phi(best))
    gain = 2 ** _between((5 - 3) / (9 - 3), low=2, high=6) - 1
    expected = (gain + 1 / np.log2(3)) / (1 + gain / np.log2(3))
    assert outlook.share(nDCGphi(), worse, best) == pytest.approx([expected], abs=1e-12)


def make_lists(final, *early):
    """Lists as news.py has them: the final counts, and counts that are the same at all times before."""
    counts = np.repeat(np.array(early, float)[:, :, None], news.SLICES, axis=2)
    counts[:, :, -1] = final
    return news.Lists(counts, 0, 0, 0)


def test_the_difference_is_split_without_a_rest():
    rng = np.random.default_rng(3)
    final = rng.integers(0, 40, (6, 100)).astype(float)
    lists = make_lists(final, *rng.integers(0, 9, (6, 100)).astype(float))
    measured = news.measure("mine", lists)
    for hours, values in zip(news.HOURS, measured.values(), strict=True):
        rows = difference.split(lists, hours)
        whole = {name: sum(row[f"{name}@10"] for row in rows) for name in ("nDCG", "nDCGφ")}
        assert whole == {name: pytest.approx(values[10][name].mean(), abs=1e-12) for name in whole}
    best = difference.split(lists, news.END)
    assert sum(row[difference.GRADES] for row in best) == pytest.approx(1, abs=1e-12)


def test_what_an_item_contributes_by_hand():
    """The best item, of 100, is ranked second, and the next one first; φ is 0 for all others."""
    final = np.array([[1000.0, 600.0, *[1.0] * 98]])
    lists = make_lists(final, [1.0, 2.0, *[0.0] * 98])
    rows = {row["true place"]: row for row in difference.split(lists, 1)}
    curve = phi({"q": dict(enumerate(final[0].tolist()))}, "q").curves[0]
    first, second, discount = 1.0, 2 ** float(curve(np.array([600.0]))[0]) - 1, 1 / np.log2(3)
    best = first + second * discount
    assert rows["1"]["nDCGφ@10"] == pytest.approx(first * discount / best, abs=1e-12)
    assert rows["2 and 3"]["nDCGφ@10"] == pytest.approx(second / best, abs=1e-12)
    assert rows["1"]["nDCG@10"] == pytest.approx(discount / (1 + discount), abs=1e-12)
    assert {rows[place]["difference"] for place in ("4 to 10", "11 to 25", "26 and below")} == {0.0}
    (found,) = difference.observations(list(rows.values()))
    assert "after 1 hour" in found.question and found.answer.endswith(f"{1 - (discount + second) / best:+.3f}.")


@pytest.fixture(scope="module")
def items():
    return news.read_topics(Library(DATA))["Palestine"]


@needs("news-popularity")
def test_news_are_read_in_the_order_of_their_ids(items):
    assert items.counts.shape == (75, 100, 144) and (items.unknown, items.left_out) == (165, 22)
    assert items.final.min() == 0 and items.final.max() == 13_146
    assert (items.after(news.END) == items.final).all() and (items.after(1) == items.counts[:, :, 2]).all()


@needs("news-popularity")
def test_the_later_the_count_the_better_the_ranking(items):
    means = agreement.by_cutoff(news.measure("Palestine", items))
    assert len(means) == 5 * 4
    for name in ("nDCG", "nDCGφ"):
        at_10 = [record[name] for record in means if record["k"] == 10]
        assert at_10 == sorted(at_10) and 0 < at_10[0] < at_10[-1] < 1
    records = outlook.news(items)
    assert outlook.hours(records).to_dict()["facet"] and "after 1 hour" in outlook.observe_news(records).question
    shares = [record["mean"] for record in records]
    assert len(shares) == 5 * 4 * 2 and 0 < min(shares) < max(shares) < 1
    final = agreement.measure_lists(items.with_grades(news.END), items.with_popularity(news.END), "paper")[10]
    assert final["nDCG"] == pytest.approx([1] * 75) and final["nDCGφ"] == pytest.approx([1] * 75)


@needs("news-popularity")
def test_both_measures_differ_on_news(items):
    values = news.measure("Palestine", items)
    each, ours = agreement.by_list(values), agreement.summarise(values)
    assert len(each) == 5 * 75
    assert [round(summary.positive, 2) for summary in ours] == [0.89, 0.81, 0.75, 0.65, 0.33]
    assert ours[0].correlation == pytest.approx(0.02, abs=0.005) and ours[3].correlation == pytest.approx(
        -0.29, abs=0.005
    )
    assert all(record["difference"] == record["nDCG@10"] - record["nDCGφ@10"] for record in each)


@needs("news-popularity")
def test_the_news_can_be_measured_from_runs(items):
    """As from the command line: the final counts as a virtual user, graded by place or as they are."""
    early, final = (
        {f"q{q}": {f"d{i}": value for i, value in enumerate(row)} for q, row in enumerate(counts[:4].tolist())}
        for counts in (items.after(2), items.final)
    )
    some = items._replace(counts=items.counts[:4])
    expected = news.measure("Palestine", some)["Facebook, Palestine, after 2 hours"][10]
    grades = evaluate(qrels_from_run(final, levels=[10, 25, 50]), early, ["nDCG(gain='exp')@10"]).values[:, 0]
    scores = evaluate(qrels_from_run(final), early, ["nDCGphi@10"]).values[:, 0]
    assert grades == pytest.approx(expected["nDCG"], abs=1e-12) and scores == pytest.approx(
        expected["nDCGφ"], abs=1e-12
    )


def write_topic(path, final):
    """Write items that appeared one after the other, by how often they were shared in the end; never before."""
    header = ",".join(["IDLink", *(f"TS{i}" for i in range(1, 145))])
    path.write_text("\n".join([header, *(",".join(map(str, [i, *[0] * 143, n])) for i, n in enumerate(final))]) + "\n")
    return path


def test_lists_of_which_nobody_shared_an_item_are_left_out_and_counted(tmp_path):
    lists = news.read(write_topic(tmp_path / "Facebook_X.csv", [*range(100), *[0] * 130]))
    assert len(lists.counts) == 1 and (lists.unknown, lists.left_out, lists.unshared) == (0, 30, 1)
    whole = news.join({"x": lists, "y": lists})
    assert len(whole.counts) == 2 and whole[1:] == (0, 60, 2)
    with pytest.raises(InputError, match="nobody shared any of the items"):
        news.read(write_topic(tmp_path / "Facebook_X.csv", [0] * 200))


def test_every_topic_in_the_folder_is_read(tmp_path):
    folder = tmp_path / "news-popularity"
    folder.mkdir()
    header = ",".join(["IDLink", *(f"TS{i}" for i in range(1, 145))])
    rows = [",".join(map(str, [i, *[i % 7] * 143, i % 11])) for i in range(100)]
    for topic, suffix in (("Obama", ".csv"), ("Economy", ".csv")):
        (folder / f"Facebook_{topic}{suffix}").write_text("\n".join([header, *rows]) + "\n")
    outcome = experiments()["m16-news"].run(Library(tmp_path), 0, ignore)
    assert {row["data"].split(", ")[1] for row in outcome.evidence.means} == {"Economy", "Obama"}
    assert "news on Economy and Obama" in outcome.done and "2 lists" in outcome.done


@needs("news-popularity")
@pytest.mark.parametrize("name", ["m16-days", "m16-news", "m16-difference"])
def test_runs_leave_every_table_and_figure(name):
    """These are quick, so they are run whole: what they draw can be drawn."""
    experiment = experiments()[name]
    outcome = experiment.run(Library(DATA), 0, ignore)
    made = files(experiment, outcome, 0)
    assert {f"{sheet}.csv" for sheet in outcome.sheets} < set(made)
    assert (b"<h2>Results</h2>" in made["index.html"]) == bool(experiment.claims)
    assert all(made[f"{figure}.svg"].startswith(b"<svg") for figure in outcome.figures)


HEADER = ",".join(["IDLink", *(f"TS{i}" for i in range(1, 145))]) + "\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("id,TS1\n1,2\n", ":1: expected the columns IDLink,TS1,…,TS144"),
        (f"{HEADER}1,2,x\n", "must hold 145 numbers"),
        (f"{HEADER}{','.join('1' * 290)}\n", "must hold 145 numbers"),
        (f"{HEADER}{','.join(['1'] * 144)},nan\n", "must hold 145 numbers"),
        (f"{HEADER}{','.join('1' * 145)}\n", "a list has 100"),
        (HEADER, "0 items with a final count; a list has 100"),
    ],
)
def test_a_file_that_is_something_else_is_refused(tmp_path, text, said):
    path = tmp_path / "news.csv.gz"
    path.write_bytes(gzip.compress(text.encode()))
    with pytest.raises(InputError, match=said):
        news.read(path)


def test_the_authors_points_are_summarised_topic_by_topic():
    """As read off their figure, to three decimals; the grid counts every list once."""
    means = [(each.lists, round(each.ndcg, 3), round(each.phi, 3)) for each in agreement.read_published()]
    assert [lists for lists, *_ in means] == [1426, 1432, 1432, 1415]
    theirs = [(0.465, 0.291), (0.625, 0.494), (0.504, 0.375), (0.668, 0.506)]
    assert [pair for _, *pair in means] == [pytest.approx(pair, abs=0.001) for pair in theirs]
    counts = {}
    for cell in agreement.read_published_grid():
        counts[cell["topic"]] = counts.get(cell["topic"], 0) + cell["lists"]
    assert list(counts.values()) == [each.lists for each in agreement.read_published()]


def test_a_summary_by_hand():
    found = agreement.Summary.of("x", np.array([0.5, 0.6, 0.7]), np.array([0.45, 0.65, 0.3]))
    assert (found.positive, found.negative, found.far) == pytest.approx((2 / 3, 1 / 3, 1 / 3))
    assert found.correlation == pytest.approx(np.corrcoef([0.5, 0.6, 0.7], [0.05, -0.05, 0.4])[0, 1])
    assert agreement.Summary.of("x", np.array([0.5, 0.5]), np.array([0.1, 0.2])).correlation == 0


def authors_files(folder, month="2015-07"):
    """Write files as the authors have them: 110 items, one of them a day old, and a list of 100 of them per topic."""
    rows = [
        [i, f"{'A, B' if i % 2 else 'C'}", f"{month}-02 12:00:00" if i == 3 else f"{month}-03 11:50:00", max(0, 60 - i)]
        for i in range(110)
    ]
    lines = ["IDLink,Title,PublishDate,TimesPublishedTwitter", *(f'{i},"{t}",{d},{n}' for i, t, d, n in rows)]
    (folder / "News.csv").write_text("\n".join(lines) + "\n")
    header = ",".join(["Timestamp", *(f"R{i}" for i in range(1, 101))])
    for topic, first in zip(google.TOPICS, range(4), strict=True):
        ids = [str(i) for i in range(first, first + 100)]
        table = [
            header,
            ",".join([f"{month}-03 12:00:00", *ids]),
            ",".join([f"{month}-03 12:30:00", *reversed(ids)]),
            ",".join([f"{month}-30 12:30:00", *ids]),  # of the last two days it has no item
        ]
        (folder / f"RankTable_{topic}.csv.gz").write_bytes(gzip.compress(("\n".join(table) + "\n").encode()))


@pytest.mark.parametrize("month", ["2014-09", "2015-07"])
def test_the_authors_protocol_runs_on_their_files(tmp_path, month):
    authors_files(tmp_path, month)
    experiment = experiments()["m16-google"]
    outcome = experiment.run(Library(tmp_path), 0, ignore)
    assert [summary.lists for summary in outcome.evidence.summaries] == [2] * 8
    assert len(outcome.claims) == 1 + 4 * 8 and len(outcome.evidence.means) == 4 * 8
    assert outcome.claims[0].here == "3 rankings per topic, 110 items"
    assert f"from {month}-03 to {month}-03" in outcome.done and "4 lists without any score" in outcome.done
    assert [row[1:] for row in outcome.sheets["months"].table.rows] == [[month, 2]] * 4
    news_items = google.read_news(tmp_path / "News.csv")
    lists = google.read_lists(tmp_path / "RankTable_Economy.csv.gz", news_items)
    # ten minutes old: the first slice; a day old: the 48th, 1 - 47/96; half an hour later, the second and the 49th
    decayed, tweets = lists.scores(google.CODE), lists.scores(google.TEXT)
    assert tweets[0, :5].tolist() == [60, 59, 58, 57, 56]
    assert decayed[0, :5].tolist() == pytest.approx([60, 59, 58, 57 * (1 - 47 / 96), 56])
    assert decayed[1, ::-1][:4].tolist() == pytest.approx([60 * 95 / 96, 59 * 95 / 96, 58 * 95 / 96, 57 * 48 / 96])
    order = sorted(range(100), key=lambda i: -decayed[0, i])
    grades = np.empty(100)
    grades[order] = place_grades(100)
    gain = lambda labels: sum((2.0**g - 1) / np.log2(i + 2) for i, g in enumerate(labels[:10]))
    expected = gain(grades) / gain(sorted(grades, reverse=True))
    rows = {row[0]: row[2] for row in reversed(outcome.sheets["figure-4"].table.rows)}
    assert (
        rows[f"Economy, {google.CODE}"] == pytest.approx(expected, abs=1e-12) and rows[f"Economy, {google.TEXT}"] == 1
    )
    assert all(made.startswith(b"<svg") for name, made in files(experiment, outcome, 0).items() if name.endswith("svg"))


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        (
            "News.csv",
            "a,b\n",
            "News.csv:1: expected the columns IDLink, PublishDate, TimesPublishedTwitter; found a, b",
        ),
        ("News.csv", "", "News.csv: the file is empty"),
        ("News.csv", "IDLink,PublishDate,TimesPublishedTwitter\n1,soon,3\n", "News.csv:2: expected an id, a date and"),
        ("RankTable_Obama.csv.gz", "Timestamp,R1\n", ":1: expected Timestamp and 100 ids in a row; found 2 columns"),
        ("RankTable_Obama.csv.gz", ",".join("x" * 101) + "\nnow\n", ":2: expected a time first"),
        (
            "RankTable_Obama.csv.gz",
            ",".join("x" * 101) + "\n2014-09-01 00:00:00,1\n",
            ":2: expected a time and 100 ids",
        ),
        ("RankTable_Obama.csv.gz", ",".join("x" * 101) + "\n", "no list has a tweeted item of the last 48 hours"),
    ],
)
def test_files_of_another_form_are_refused(tmp_path, name, text, said):
    authors_files(tmp_path)
    (tmp_path / name).write_bytes(gzip.compress(text.encode()) if name.endswith("gz") else text.encode())
    with pytest.raises(InputError) as error:
        experiments()["m16-google"].run(Library(tmp_path), 0, ignore)
    assert said in str(error.value)


def test_an_item_from_the_future_is_new_and_one_of_two_days_counts_nothing():
    when = datetime.fromisoformat("2015-07-01 00:00:00")
    item = google.Item(when, 10.0)
    ages = {-1: 10.0, 0: 10.0, 48: 10 * (1 - 95 / 96), 48.01: 0.0}
    for hours, score in ages.items():
        assert google.decay(item, when + timedelta(hours=hours)) == pytest.approx(score)
    assert google.decay(None, when) == 0
