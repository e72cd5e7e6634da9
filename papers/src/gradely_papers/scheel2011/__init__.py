"""S11: measures for many levels of relevance."""

from gradely_papers.experiment import Item, Misprint

ITEMS = (
    Item("eq. (1)", "average precision", "`AP`"),
    Item("eq. (2)", "average precision at a level t", "`AP(rel=t)`"),
    Item("eq. (3)", "nDCG", "`nDCG(gain='exp')`"),
    Item("eq. (4)", "µAP", "`muAP`"),
    Item("eq. (5)", "NDCNG", "`NDCNG`"),
    Item("§3.2", "scales with an irrelevant level other than 0 are shifted", "`relevance='shift'`"),
    *(Item(f"figure {number}", "an illustration", "not drawn again") for number in (1, 2, 3)),
)
MISPRINTS = (
    Misprint(
        "eq. (4)",
        "a distance of levels d^t for i > 1, and t for i = 0, but none for i = 1",
        "for the lowest level above 0, its distance t to 0; for every other level, its distance to the level below",
    ),
    Misprint("§3.1", "“AP^t = 0.3 - 0.0 = 0.3”", "d^t = 0.3, the weight of the threshold"),
    Misprint("§4", "OHSUMED “uses two relevance levels”, after naming three", "three: 0, 1 and 2"),
)
