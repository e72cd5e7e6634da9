"""M16: relevance from the data, by how far a score stands out."""

from gradely_papers.experiment import Misprint

MISPRINTS: tuple[Misprint, ...] = ()
