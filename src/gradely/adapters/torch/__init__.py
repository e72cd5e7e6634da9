"""PyTorch: a measure as a metric of torchmetrics, and as a loss for rankers that are networks.

`RankingMetric` and `LambdaLoss` are imported from here; PyTorch is, when one of them is first used.
"""

from typing import Any

from gradely.lazy import optional

__all__ = ["LambdaLoss", "RankingMetric"]


def __getattr__(name: str) -> Any:
    """Import a class where it is first used."""
    if name == "RankingMetric":
        optional("torchmetrics", "torchmetrics", "torch")
        from gradely.adapters.torch.metric import RankingMetric

        return RankingMetric
    if name == "LambdaLoss":
        optional("torch", "PyTorch", "torch")
        from gradely.adapters.torch.loss import LambdaLoss

        return LambdaLoss
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
