"""M16: relevance from the distribution of the scores."""

from gradely_papers.experiment import Item, Misprint

ITEMS = (
    Item("§3.1", "φ and its control points", "`gradely phi`, `relevance='phi'`"),
    Item("§3.1", "nDCGφ", "`nDCGphi`"),
)
MISPRINTS = (Misprint("§4.2", "six months, June 1st to December 31st 2015", "seven months"),)
