"""RankingMetric inside torchmetrics and Lightning, LambdaLoss in a training loop."""

import pickle

import numpy as np
import pytest

import gradely
from tests.tools.tool import tool

torch = tool("torch")
torchmetrics = tool("torchmetrics")

from gradely.adapters.torch import LambdaLoss, RankingMetric  # noqa: E402
from tests.kernel.test_arrays import LABELS, MASK, SCORES  # noqa: E402

FLAT = [torch.asarray(x[MASK]) for x in (SCORES["tied"], LABELS, np.repeat(np.arange(6)[:, None], 17, axis=1))]
EXPECTED = {m: v.mean() for m, v in gradely.evaluate_arrays(SCORES["tied"], LABELS, ["nDCG@5", "muAP"], MASK).items()}


def test_it_is_the_mean_of_evaluate_arrays_whatever_the_batches():
    for name, value in EXPECTED.items():
        metric = RankingMetric(name)
        order = torch.randperm(len(FLAT[0]), generator=torch.Generator().manual_seed(0))
        for part in order.chunk(4):
            metric.update(*(x[part] for x in FLAT))
        again = pickle.loads(pickle.dumps(metric))
        assert float(metric.compute()) == pytest.approx(value, abs=1e-12)
        assert float(again.compute()) == pytest.approx(value, abs=1e-12)
        metric.reset()
        assert float(metric.compute()) == 0


def test_it_agrees_with_theirs_where_nothing_ties_and_stands_in_collections():
    torch.manual_seed(0)
    preds, target, indexes = torch.rand(200), torch.randint(0, 4, (200,)), torch.randint(0, 9, (200,))
    both = torchmetrics.MetricCollection(
        {"ours": RankingMetric("nDCG@5"), "theirs": torchmetrics.retrieval.RetrievalNormalizedDCG(top_k=5)}
    )
    both.update(preds, target, indexes=indexes)
    values = both.compute()
    assert float(values["ours"]) == pytest.approx(float(values["theirs"]), abs=1e-5)


def test_shapes_that_differ_are_refused():
    with pytest.raises(gradely.DataError, match="the same shape"):
        RankingMetric("AP").update(torch.zeros(3), torch.zeros(3), torch.zeros(2))


def work(rank, folder):
    torch.distributed.init_process_group("gloo", init_method=f"file://{folder}/meet", rank=rank, world_size=2)
    metric = RankingMetric("muAP")
    metric.update(*(x[rank::2] for x in FLAT))
    value = metric.compute()
    if rank == 0:
        torch.save(value, f"{folder}/value")
    torch.distributed.destroy_process_group()


def test_two_processes_give_one_value(tmp_path):
    torch.multiprocessing.spawn(work, args=(str(tmp_path),), nprocs=2)
    assert float(torch.load(tmp_path / "value")) == pytest.approx(EXPECTED["muAP"], abs=1e-12)


@pytest.mark.parametrize("name", ["nDCG@10", "eGAP", "xGAP", "AP", "RBP"])
@pytest.mark.parametrize("kind", SCORES)
def test_the_gradients_of_the_loss_are_the_lambdas(name, kind):
    scores = torch.asarray(SCORES[kind], requires_grad=True)
    loss = LambdaLoss(name, truncation=4, sigma=0.5)(scores, torch.asarray(LABELS), torch.asarray(MASK))
    loss.backward()
    expected, _ = gradely.lambdas(SCORES[kind][MASK], LABELS[MASK], name, group=MASK.sum(1), truncation=4, sigma=0.5)
    np.testing.assert_allclose(scores.grad[torch.asarray(MASK)] * 6, expected, atol=1e-12)
    assert not scores.grad[~torch.asarray(MASK)].any()


def test_a_network_learns_and_lightning_runs(tmp_path):
    lightning = tool("lightning")
    torch.manual_seed(0)
    x = torch.randn(64, 20, 5)
    y = (x[..., 0] + x[..., 1] > 1).float() + (x[..., 0] > 1)

    class Ranker(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.net, self.loss, self.metric = torch.nn.Linear(5, 1), LambdaLoss("eGAP"), RankingMetric("eGAP")

        def training_step(self, batch, _):
            return self.loss(self.net(batch[0]).squeeze(-1), batch[1])

        def validation_step(self, batch, _):
            scores = self.net(batch[0]).squeeze(-1)
            queries = torch.arange(len(scores))[:, None].expand(scores.shape)
            self.metric.update(scores, batch[1], queries)
            self.log("eGAP", self.metric, on_epoch=True)

        def configure_optimizers(self):
            return torch.optim.Adam(self.parameters(), 0.1)

    data = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y), batch_size=64)
    quiet = {"logger": False, "enable_progress_bar": False, "enable_model_summary": False, "accelerator": "cpu"}
    trainer = lightning.Trainer(max_epochs=20, default_root_dir=tmp_path, enable_checkpointing=False, **quiet)
    model = Ranker()
    before = trainer.validate(model, data, verbose=False)[0]["eGAP"]
    trainer.fit(model, data, data)
    assert trainer.callback_metrics["eGAP"] > before + 0.1
