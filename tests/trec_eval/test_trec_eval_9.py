"""gradely trec_eval --compat 9 against trec_eval 9, which is the inside of pytrec_eval, and official outputs."""

import gzip
from math import exp, isnan
from pathlib import Path

import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st

from gradely.trec_eval.command import trec_eval
from gradely.trec_eval.options import parse
from tests.shared_data import DATA, needs, runs

MEASURES = sorted(pytrec_eval.supported_measures - {"relstring", "runid"})
PARAMETERS = ["P.1,3", "map_cut.7", "ndcg_cut.2,40", "recall.3", "relative_P.2,6", "success.2", "iprec_at_recall.0.35"]
GAINS = [
    [
        "ndcg.1=3,2=9",
        "Rndcg.1=3,2=1",
        "G.0=1,1=5",
        "ndcg_rel.1=3",
        "utility.2,-1,0,0",
        "11pt_avg.0.75,0.25",
        "set_F.0.5",
    ],
    ["ndcg.0=2,1=1,2=5,3=7", "G.1=2,3=9,7=4", "ndcg_rel.0=1,2=0", "utility.1,-0.5,-2,0.25", "11pt_avg.0.1,0.9,0.5,0.3"],
    ["ndcg.1=-1,2=3", "Rndcg.2=2,1=2", "G.1=-1,2=3", "ndcg_rel.1=-2,0=1", "11pt_avg.1,0", "yaap"],
    ["iprec_at_recall.1.5,0.2", "Rprec_mult.0.35,5.0"],
]
"""parameters that pytrec_eval would not let through, but trec_eval takes"""
COLLECTIONS = {
    "trec-covid-round1": ("qrels.covid-round1.txt.gz", "runs-top100", 12),
    "clef-ehealth-2015": ("qrels/qrels.clef2015.test.graded.txt.gz", "runs", 5),
    "trec-dl-2019-passage": ("qrels.dl19-passage.txt.gz", "runs", 6),
    "trec-web-2012": ("qrels.web.151-200.txt.gz", "runs", 3),
    "trec-robust-2005": ("qrels.robust05.txt.gz", "runs", 1),
}
"""judgments, runs, and of how many runs one is taken, so that it does not take long"""


class Evaluator(pytrec_eval.RelevanceEvaluator):
    """trec_eval 9, with parameters as they are given."""

    def _combine_measures(self, measures):
        return set(measures)


def expected(qrels, run, measures, level, judged_only):
    """Return {(name, query): text} from trec_eval 9's own values, added up as it does."""
    evaluator = Evaluator(qrels, measures, relevance_level=level, judged_docs_only_flag=judged_only)
    found = renamed(evaluator.evaluate(run), measures)
    lines = {}
    sums = dict.fromkeys(next(iter(found.values())), 0.0)
    for query in sorted(found, key=str.encode):
        for name, value in found[query].items():
            sums[name] += defined(value)
            lines[name, query] = text(name, defined(value))
    for name, total in sums.items():
        mean = total if name.startswith("num_") else total / len(found)
        lines[name, "all"] = text(name, exp(mean) if name.startswith("gm_") else mean)
    return {at: value for at, value in lines.items() if at[0] != "num_q" or at[1] == "all"}


def renamed(found, measures):
    """Return values under the names that trec_eval prints, with parameters, where pytrec_eval leaves them out."""
    full = {measure.partition(".")[0]: measure.replace(".", "_", 1) for measure in measures}
    return {query: {full.get(name, name): value for name, value in row.items()} for query, row in found.items()}


def defined(value):
    """Return 0 where trec_eval divides 0 by 0."""
    return 0.0 if isnan(value) else value


def text(name, value):
    return str(int(value)) if name.startswith("num_") else f"{value:6.4f}"


def printed(qrels, run, measures, level, judged_only):
    options = parse(["--compat", "9", "-q", str(qrels), str(run)])
    options = options._replace(measures=measures, level=level, judged_only=judged_only)
    rows = [line.split("\t") for line in trec_eval(options).decode().splitlines()]
    return {(name.strip(), query): value for name, query, value in rows}


def shown_per_query(lines):
    """Leave out the geometric means of single queries, which trec_eval does not print."""
    return {at: value for at, value in lines.items() if not at[0].startswith("gm_") or at[1] == "all"}


labels = st.sampled_from([[0, 1], [0, 0, 0, 1, 2, 3], [-2, -1, 0, 1, 4], [0], [0, 10, 55]])
docs = st.lists(st.integers(0, 30), unique=True, max_size=25)
score = st.sampled_from([3.0, 2.0, 1.0, 0.7, 0.70000001, -1e-9]) | st.floats(-5, 5, allow_nan=False)


@st.composite
def collections(draw):
    """Judgments and a run with ties, negative labels, and documents and queries that are missing on either side."""
    qrels, run = {}, {}
    for query in draw(st.lists(st.sampled_from(["1", "10", "2", "q", "é"]), min_size=1, unique=True)):
        label = st.sampled_from(draw(labels))
        qrels[query] = {f"d{doc}": draw(label) for doc in draw(docs)} | {"d0": 0}
        if query == "1" or draw(st.booleans()):
            run[query] = {f"d{doc}": draw(score) for doc in draw(docs)} | {"x": draw(score)}
    run["unjudged"] = {"a": 1.0}
    qrels.setdefault("1", {"d1": 1})
    run.setdefault("1", {"d1": 1.0})
    return qrels, run


@settings(max_examples=250, deadline=None)
@given(
    data=collections(),
    measures=st.sampled_from([MEASURES, MEASURES, PARAMETERS, *GAINS]),
    level=st.sampled_from([1, 1, 2, 3]),
    judged_only=st.booleans(),
)
def test_all_measures_over_random_runs(tmp_path_factory, data, measures, level, judged_only):
    qrels, run = data
    folder = tmp_path_factory.getbasetemp()
    paths = folder / "qrels", folder / "run"
    for path, table, line in zip(paths, data, ("{} 0 {} {}\n", "{} Q0 {} 1 {!r} tag\n"), strict=True):
        rows = [(query, doc, value) for query, docs in table.items() for doc, value in docs.items()]
        path.write_text("".join(line.format(*row) for row in rows), encoding="utf-8")
    ours = printed(*paths, measures, level, judged_only)
    assert ours == shown_per_query(expected(qrels, run, measures, level, judged_only))


@pytest.mark.parametrize("folder", COLLECTIONS)
@needs("trec-covid-round1")
def test_all_measures_over_real_runs(folder):
    name, place, every = COLLECTIONS[folder]
    qrels = DATA / folder / name
    judgments = read(qrels, int, 3)
    for path in list(runs(f"{folder}/{place}").values())[::every]:
        theirs = shown_per_query(expected(judgments, read(path, float, 4), MEASURES, 1, judged_only=False))
        assert printed(qrels, path, MEASURES, 1, judged_only=False) == theirs


def read(path, number, column):
    table = {}
    for line in gzip.decompress(Path(path).read_bytes()).decode().splitlines():
        fields = line.split()
        table.setdefault(fields[0], {})[fields[2]] = number(fields[column])
    return table


@needs("clef-ehealth-2015")
@pytest.mark.parametrize(("kind", "labels", "measures"), [("trec_eval", "bin", []), ("ndcg", "graded", ["ndcg_cut"])])
def test_official_outputs_byte_for_byte(kind, labels, measures):
    """All 22 runs of CLEF eHealth 2015, every topic."""
    folder = DATA / "clef-ehealth-2015"
    qrels = folder / "qrels" / f"qrels.clef2015.test.{labels}.txt.gz"
    for name, path in runs("clef-ehealth-2015/runs").items():
        official = gzip.decompress((folder / "evals" / f"{name}.{kind}.gz").read_bytes())
        options = parse(["--compat", "9", "-q", str(qrels), str(path)])._replace(measures=measures)
        assert trec_eval(options) == official
