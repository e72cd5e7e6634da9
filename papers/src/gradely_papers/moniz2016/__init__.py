"""M16: relevance from the data, by how far a score stands out."""

from gradely_papers.experiment import Misprint

MISPRINTS = (Misprint("§4.2", "six months, June 1st to December 31st 2015", "seven months"),)
