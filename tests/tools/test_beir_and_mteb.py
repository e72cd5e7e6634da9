"""Inside BEIR and MTEB, which import pytrec_eval themselves, gradely gives the numbers that they print."""

import json
import subprocess
import sys

import pytest

from tests.tools.tool import tool

tool("beir")
tool("mteb")
tool("pytrec_eval")

DATA = """
import json, random
draw = random.Random(7)
qrels = {f"q{i}": {f"d{draw.randrange(60)}": draw.choice([0, 1, 1, 2]) for _ in range(8)} for i in range(12)}
run = {f"q{i}": {f"d{d}": SCORE for d in draw.sample(range(60), 40)} for i in range(12)}
"""
BEIR = """
from beir.retrieval.evaluation import EvaluateRetrieval
print(json.dumps(EvaluateRetrieval.evaluate(qrels, run, [1, 3, 10, 100])))
"""
MTEB = """
from mteb._evaluators.retrieval_metrics import calculate_retrieval_scores
scores = calculate_retrieval_scores(run, qrels, [1, 3, 10, 100])
print(json.dumps([scores.ndcg, scores.map, scores.recall, scores.precision, scores.mrr]))
"""
INSTALL = "import gradely.adapters.pytrec_eval as ours\nours.install()\n"
EXPECTED = INSTALL.replace("install()", "install(ties='expected')")


def printed(code, score="draw.random()"):
    """Return what a script prints last, as JSON; a process of its own imports everything anew."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code.replace("SCORE", score)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("script", [BEIR, MTEB], ids=["BEIR", "MTEB"])
@pytest.mark.parametrize("score", ["draw.random()", "draw.choice([0.1, 0.2, 0.3])"], ids=["untied", "tied"])
def test_their_numbers_stay_the_same(script, score):
    assert printed(INSTALL + DATA + script, score) == printed(DATA + script, score)


def test_a_constant_scorer_gets_what_it_deserves():
    """With all scores equal, ids set the order in pytrec_eval; with expected ties, nothing does."""
    turned = DATA + "run = {q: {d: 1.0 for d in reversed(docs)} for q, docs in run.items()}\n"
    expected = [printed(EXPECTED + data + BEIR, "1.0")[0]["NDCG@10"] for data in (DATA, turned)]
    assert expected[0] == expected[1]
    assert expected[0] != printed(DATA + BEIR, "1.0")[0]["NDCG@10"]
