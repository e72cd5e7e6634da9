"""M08: measures in the presence of tied scores."""

from gradely_papers.experiment import Item, Misprint

ITEMS = tuple(
    Item(f"§2.{number}", f"{name} over all orders of ties", f"`{name}`, `ties='expected'`")
    for number, name in enumerate(("P", "R", "F1", "AP", "RR", "nDCG"), 1)
)
MISPRINTS = (
    Misprint(
        "§2.5",
        "RR = Σ f(x)/(t + x), with f(x) the probability that the first x documents of the group are irrelevant",
        "Σ (f(x - 1) - f(x))/(t + x), as in the text: the probability that the first relevant document is at place x",
    ),
    Misprint("§2.5", "“first x elements are relevant, minus”", "“irrelevant”; f(0), which is not defined, is 1"),
    Misprint(
        "§2.4",
        "a term of average precision that is 0/0 for a group of one document",
        "0, since no other document of the group is above it",
    ),
)
