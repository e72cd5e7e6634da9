"""gradely.adapters.sentence_transformers with a small model that is made on the spot, alone and in a trainer."""

import numpy as np
import pytest

import gradely
from tests.tools.tool import tool

theirs = tool("sentence_transformers")
torch = tool("torch")
tokenizers = tool("tokenizers")
from gradely.adapters import sentence_transformers as ours  # noqa: E402 - after the check that it is there

WORDS = [f"w{i}" for i in range(60)]
RNG = np.random.default_rng(5)


def text():
    return " ".join(RNG.choice(WORDS, 4))


QUERIES = {f"q{i}": text() for i in range(20)}
CORPUS = {f"d{i}": text() for i in range(300)} | {f"twin{i}": "w1 w2 w3" for i in range(30)}
QRELS = {
    query: {str(doc): float(RNG.choice([0, 0.5, 1, 3])) for doc in RNG.choice(list(CORPUS), 25, replace=False)}
    for query in QUERIES
}
MEASURES = ["nDCG@10", "AP", "muAP", "RR", "R@50", "bpref", "Judged@10", "ERR@20"]


@pytest.fixture(scope="module")
def model():
    torch.manual_seed(0)
    vocabulary = {word: i for i, word in enumerate([*WORDS, "[UNK]"])}
    tokenizer = tokenizers.Tokenizer(tool("tokenizers.models").WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = tool("tokenizers.pre_tokenizers").Whitespace()
    static = tool("sentence_transformers.models").StaticEmbedding(tokenizer, embedding_dim=16)
    return theirs.SentenceTransformer(modules=[static], device="cpu")


def full_run(model):
    queries, corpus = (model.encode(list(texts.values())).astype(np.float64) for texts in (QUERIES, CORPUS))
    scores = np.asarray(model.similarity(queries, corpus)).astype(np.float32).tolist()
    return {q: dict(zip(CORPUS, row, strict=True)) for q, row in zip(QUERIES, scores, strict=True)}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("ties", ["expected", "best", "worst"])
@pytest.mark.parametrize("some", [1, 7, 64])
def test_values_are_those_of_evaluate_on_the_whole_ranking(model, ties, some):
    evaluator = ours.GradedRetrievalEvaluator(QUERIES, CORPUS, QRELS, MEASURES, ties=ties, queries_at_a_time=some)
    wanted = gradely.evaluate(QRELS, full_run(model), MEASURES, ties=ties)
    found = evaluator.evaluate(model)
    assert found.values == pytest.approx(wanted.values, abs=1e-12)
    assert evaluator(model) == pytest.approx(wanted.flat(), abs=1e-12)


@pytest.mark.filterwarnings("ignore")
def test_ties_matter_and_are_exact(model):
    twins = {f"twin{i}": 1 + i % 3 for i in range(0, 30, 2)}
    found = ours.GradedRetrievalEvaluator(QUERIES, CORPUS, {"q1": twins}, ["nDCG"]).evaluate(model)
    assert found.tie_ranges and found["nDCG"] == pytest.approx(
        gradely.evaluate({"q1": twins}, full_run(model), ["nDCG"])["nDCG"], abs=1e-12
    )


@pytest.mark.filterwarnings("ignore")
def test_missing_queries_and_documents_are_counted(model):
    qrels = {"q1": {"d1": 1, "nowhere": 2}, "unasked": {"d1": 1}}
    scores = ours.GradedRetrievalEvaluator(QUERIES, CORPUS, qrels, ["AP"]).evaluate(model)
    assert scores.query("unasked") == {"AP": 0} and any("not in the run" in str(note) for note in scores.notes)
    run = {"q1": full_run(model)["q1"]}
    assert scores.query("q1") == pytest.approx(gradely.evaluate(qrels, run, ["AP"]).query("q1"))


def test_what_cannot_be_used_is_explained():
    with pytest.raises(gradely.DataError, match="nothing to rank"):
        ours.GradedRetrievalEvaluator({"x": "w1"}, CORPUS, QRELS)
    with pytest.raises(gradely.DataError, match="tie policy"):
        ours.GradedRetrievalEvaluator(QUERIES, CORPUS, QRELS, ties="trec")


@pytest.mark.filterwarnings("ignore")
def test_in_a_trainer_it_chooses_the_best_checkpoint(model, tmp_path):
    datasets = tool("datasets")
    pairs = [(QUERIES[q], CORPUS[max(labels, key=labels.get)]) for q, labels in QRELS.items()]
    data = datasets.Dataset.from_dict({"anchor": [a for a, _ in pairs], "positive": [b for _, b in pairs]})
    evaluator = ours.GradedRetrievalEvaluator(QUERIES, CORPUS, QRELS, ["nDCG@10", "muAP"], name="dev")
    before = evaluator(model)
    arguments = theirs.SentenceTransformerTrainingArguments(
        output_dir=str(tmp_path),
        num_train_epochs=3,
        per_device_train_batch_size=5,
        learning_rate=0.1,
        eval_strategy="epoch",
        save_strategy="epoch",
        load_best_model_at_end=True,
        metric_for_best_model="eval_dev_nDCG_10",
        report_to="none",
        use_cpu=True,
        disable_tqdm=True,
    )
    loss = tool("sentence_transformers.losses").MultipleNegativesRankingLoss(model)
    trainer = theirs.SentenceTransformerTrainer(model, arguments, train_dataset=data, loss=loss, evaluator=evaluator)
    trainer.train()
    logged = [entry["eval_dev_nDCG_10"] for entry in trainer.state.log_history if "eval_dev_nDCG_10" in entry]
    assert len(logged) == 3 and trainer.state.best_metric == max(logged) > before["dev_nDCG_10"]
    assert evaluator.primary_metric == "dev_nDCG_10"
    assert evaluator(model)["dev_nDCG_10"] == pytest.approx(max(logged))
    (folder,) = {path.parent for path in tmp_path.rglob("graded_retrieval_dev_results.csv")}
    lines = (folder / "graded_retrieval_dev_results.csv").read_text().splitlines()
    assert lines[0] == "epoch,steps,dev_nDCG_10,dev_muAP" and len(lines) == 4
