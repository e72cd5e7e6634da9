"""Real runs and judgments, against what was officially published for them."""

import csv
import gzip
from collections import defaultdict

import pytest

import gradely
from tests.shared_data import DATA, needs, runs

COVID = DATA / "trec-covid-round1"
OFFICIAL = {"nDCG@10": "ndcg@10", "P@5": "p@5", "bpref": "bpref", "AP": "MAP"}


@pytest.fixture(scope="module")
def covid():
    return gradely.read_qrels(COVID / "qrels.covid-round1.txt.gz")


@pytest.fixture(scope="module")
def leaderboard():
    with open(COVID / "leaderboard.csv", encoding="utf-8") as file:
        return {row["run"]: row for row in csv.DictReader(file)}


def agree(covid, leaderboard, name, path, measures):
    """Compare means with the leaderboard; trec_eval 9, which made it, rounds scores to single precision."""
    found = gradely.evaluate(covid, path, measures, ties="trec", precision="single").mean()
    official = {measure: float(leaderboard[name][OFFICIAL[measure]]) for measure in measures}
    assert found == {measure: pytest.approx(value, abs=5.1e-5) for measure, value in official.items()}


@needs("trec-covid-round1")
@pytest.mark.parametrize("name", runs("trec-covid-round1/runs-full"))
def test_trec_covid_full_runs(covid, leaderboard, name):
    agree(covid, leaderboard, name, COVID / "runs-full" / f"{name}.gz", ["nDCG@10", "P@5", "bpref", "AP"])


@needs("trec-covid-round1")
def test_trec_covid_all_143_runs_at_the_top(covid, leaderboard):
    found = runs("trec-covid-round1/runs-top100")
    assert len(found) == len(leaderboard) == 143
    for name, path in found.items():
        agree(covid, leaderboard, name, path, ["nDCG@10", "P@5"])


@needs("trec-covid-round1")
def test_trec_covid_without_rounding_only_one_run_differs(covid, leaderboard):
    """Scores of the run BERT tie in single precision only; as doubles they are all distinct."""
    differs = {
        name
        for name, path in runs("trec-covid-round1/runs-top100").items()
        if abs(
            gradely.evaluate(covid, path, ["nDCG@10"], ties="trec").mean()["nDCG@10"]
            - float(leaderboard[name]["ndcg@10"])
        )
        > 5.1e-5
    }
    assert differs == {"BERT"}


LETOR = DATA / "letor2-ohsumed"


def published(name):
    with open(LETOR / name, encoding="utf-8") as file:
        return {
            int(row.pop("Feature No")): {key: float(value) for key, value in row.items()}
            for row in csv.DictReader(file, delimiter="\t")
        }


@pytest.fixture(scope="module")
def ohsumed(tmp_path_factory):
    """All five partitions in one file, in order: 106 queries."""
    path = tmp_path_factory.mktemp("letor") / "all.txt"
    path.write_bytes(b"".join(gzip.decompress((LETOR / f"S{i}.txt.gz").read_bytes()) for i in range(1, 6)))
    return path


@needs("letor2-ohsumed")
@pytest.mark.parametrize("feature", range(1, 13))
def test_letor_single_features(ohsumed, feature):
    ndcg, precision = (
        published("published-single-feature-ndcg.tsv")[feature],
        published("published-single-feature-precision-map.tsv")[feature],
    )
    expected = {f"nDCG(gain='exp', discount='letor')@{k}": ndcg[f"NDCG@{k}"] for k in range(1, 11)}
    expected |= {f"P@{k}": precision[f"P@{k}"] for k in range(1, 11)} | {"AP": precision["MAP"]}
    run = gradely.read_run(ohsumed, feature=feature)
    found = gradely.evaluate(ohsumed, run, list(expected), ties="order").mean()
    assert found == {measure: pytest.approx(value, abs=5e-5) for measure, value in expected.items()}


CLEF = DATA / "clef-ehealth-2015"


def evaluated(name, kind):
    """Return {query: {measure: value}} of an official per-topic output."""
    out = defaultdict(dict)
    with gzip.open(CLEF / "evals" / f"{name}.{kind}.gz", "rt") as file:
        for line in file:
            measure, query, *_, value = line.split()
            if query != "all":
                out[query][measure] = value
    return out


@needs("clef-ehealth-2015")
@pytest.mark.parametrize("name", runs("clef-ehealth-2015/runs"))
def test_clef_ehealth_per_topic(name):
    path = CLEF / "runs" / f"{name}.gz"
    for kind, judgments, measures in (
        ("trec_eval", "bin", ["map", "bpref", "recip_rank", "P_5", "P_10", "P_100", "P_1000"]),
        ("ndcg", "graded", ["ndcg_cut_5", "ndcg_cut_10", "ndcg_cut_100", "ndcg_cut_1000"]),
    ):
        official = evaluated(name, kind)
        scores = gradely.evaluate(
            CLEF / "qrels" / f"qrels.clef2015.test.{judgments}.txt.gz",
            path,
            measures,
            ties="trec",
            precision="single",
            queries="both",
        )
        for query, values in scores.per_query().items():
            assert {measure: f"{value:.4f}" for measure, value in values.items()} == {
                measure: official[query][measure] for measure in measures
            }


@needs("clef-ehealth-2015")
@pytest.mark.parametrize("name", [name for name in runs("clef-ehealth-2015/runs") if not name.startswith("KISTI")])
def test_clef_ehealth_rank_biased_precision_per_topic(name):
    """The track's tool goes by the rank column: the order of the files, but for two runs whose ranks are all 0."""
    ranking = {query: list(docs) for query, docs in gradely.read_run(CLEF / "runs" / f"{name}.gz").scores.items()}
    scores = gradely.evaluate(
        CLEF / "qrels" / "qrels.clef2015.test.bin.txt.gz", ranking, ["RBP(p=0.8)"], queries="both"
    )
    official = evaluated(name, "urbp")
    for query, values in scores.per_query().items():
        assert values["RBP(p=0.8)"] == pytest.approx(float(official[query]["RBP(0.8)"]), abs=5.1e-5)


@needs("ntcireval-sample")
def test_ntcireval():
    """NTCIREVAL's MSnDCG is nDCG with linear gain and log2 discount."""
    folder = DATA / "ntcireval-sample"
    labels = dict(line.split() for line in (folder / "sample.rel").read_text().splitlines() if line.strip())
    qrels = {"q": {doc: int(level[1:]) for doc, level in labels.items()}}
    run = {"q": (folder / "sample.res").read_text().split()}
    for file, k, names in (
        ("res_test_compute.txt", 1000, {"MSnDCG@1000": "nDCG@1000", "AP": "AP", "RR": "RR", "P@1000": "P@1000"}),
        ("res_test_compute_cutoff.txt", 2, {"MSnDCG@0002": "nDCG@2", "P@0002": "P@2"}),
    ):
        official = dict(
            line.replace("=", " ").split()
            for line in (folder / file).read_text().splitlines()
            if "=" in line and "#" not in line
        )
        found = gradely.evaluate(qrels, run, list(names.values())).mean()
        assert {theirs: f"{found[ours]:.4f}" for theirs, ours in names.items()} == {
            theirs: official[theirs] for theirs in names
        }, k
