"""On an accelerator, values stay there and are what NumPy gives. Skipped where there is none."""

import importlib.util

import numpy as np
import pytest

from gradely import evaluate_arrays, from_arrays, from_ids
from tests.kernel.test_arrays import LABELS, MASK, MEASURES, SCORES


def on_device(name):
    """Return a function that puts an array on the accelerator, and one that brings it back."""
    if importlib.util.find_spec(name) is None:
        pytest.skip(f"{name} is not installed")
    module = importlib.import_module(name)
    cuda = getattr(module, "cuda", None)
    if cuda is None or not cuda.is_available():
        pytest.skip(f"{name} finds no accelerator")
    if name == "torch":
        return (lambda x: module.asarray(x, device="cuda")), (lambda x: x.cpu().numpy())
    return module.asarray, module.asnumpy


@pytest.mark.parametrize("ties", ["expected", "best", "worst", "order", "random"])
@pytest.mark.parametrize("name", ["torch", "cupy"])
def test_values_stay_on_the_device(name, ties):
    put, back = on_device(name)
    batch = from_arrays(put(SCORES["tied"]), put(LABELS), put(MASK), ties=ties)
    for measure in (m for m in MEASURES if m.takes_expected or ties != "expected"):
        value = measure(batch)
        assert value.device == put(np.zeros(1)).device
        expected = measure(from_arrays(SCORES["tied"], LABELS, MASK, ties=ties))
        np.testing.assert_allclose(back(value), expected, rtol=0, atol=1e-12, err_msg=str(measure))


@pytest.mark.parametrize("name", ["torch", "cupy"])
def test_many_rows_and_ids(name):
    put, back = on_device(name)
    rng = np.random.default_rng(8)
    dense = rng.integers(0, 50, (300, 200)).astype(np.float64), rng.integers(0, 4, (300, 200))
    for measure, value in evaluate_arrays(*map(put, dense), ["nDCG@10", "AP", "GAP"]).items():
        np.testing.assert_allclose(back(value), evaluate_arrays(*dense, [measure])[measure], rtol=0, atol=1e-12)
    ids = [rng.permuted(np.tile(np.arange(60), (500, 1)), axis=1)[:, :n] for n in (20, 10)]
    ids.append(rng.integers(0, 4, (500, 10)))
    for measure in MEASURES[:5]:
        np.testing.assert_allclose(back(measure(from_ids(*map(put, ids)))), measure(from_ids(*ids)), rtol=0, atol=1e-12)
