"""F14: how to extend average precision to graded relevance."""

from gradely_papers.experiment import Item, Misprint

ITEMS = (
    *(Item(f"eq. ({number})", "average precision at a level k", "`AP(rel=k)`") for number in (2, 3)),
    Item("eq. (4)", "GAP", "`GAP`"),
    Item("eq. (5)", "xGAP", "`xGAP`"),
    Item("eq. (6)", "eGAP", "`eGAP`"),
)
MISPRINTS = (
    Misprint(
        "§3",
        "“Jensen's inequality ensures that E[1/X] < 1/E[X]”",
        "E[1/X] > 1/E[X], since 1/x is convex for x > 0",
    ),
    Misprint("below (7)", "P[X = n | K = k] with a factor g_k", "without g_k, which occurs only once, in (7)"),
)
