"""S11: measures for many levels of relevance."""

from gradely_papers.experiment import Misprint

MISPRINTS: tuple[Misprint, ...] = ()
