"""F14: how to extend average precision to graded relevance."""

from gradely_papers.experiment import Misprint

MISPRINTS = (
    Misprint(
        "§3",
        "“Jensen's inequality ensures that E[1/X] < 1/E[X]”",
        "E[1/X] > 1/E[X]: 1/x is convex where x > 0, so the inequality goes the other way",
    ),
    Misprint("below (7)", "P[X = n | K = k] with a factor g_k", "without g_k, which stands once, in (7)"),
)
