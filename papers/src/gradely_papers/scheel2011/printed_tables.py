"""The numbers that S11 prints in tables 1 and 2, and the ranking that they are of."""

from typing import NamedTuple

RANKING = (1, 0, 3, 3, 2, 0, 1, 4)
"""the grades of the ranking, from rank 1 down; no other document is judged"""
LEVELS = {5: "0", 4: "0.125", 3: "0.403", 2: "0.483", 1: "0.780", 0: "1.000"}
"""table 1: average precision with each level as the threshold"""
MEAN, GRADED = "0.465", "0.448"
"""table 1: the mean over all levels, which it sets against µAP, and µAP"""
SCALE, WEIGHTS = (0.3, 1.0), ("0.3", "0.7")
"""the paper's example of uneven levels above 0, and the weights of their thresholds"""


class Printed(NamedTuple):
    """What table 2 prints for one gain: values at ranks 1 … 8, and the mean nDCG over them."""

    factor: float
    """what grades are multiplied by before the gain"""
    dcg: str
    ideal: str
    ndcg: str
    mean: str


GAINS = {
    "r": Printed(
        1,
        "3.32 3.32 14.95 24.96 28.82 28.82 29.93 45.65",
        "49.83 64.50 76.13 80.42 81.70 82.89 82.89 82.89",
        ".07 .05 .20 .31 .35 .35 .36 .55",
        "0.28",
    ),
    "2r": Printed(
        2,
        "9.97 9.97 114 204 224 224 227 494",
        "847 979 1083 1105 1109 1112 1112 1112",
        ".01 .01 .11 .19 .20 .20 .20 .44",
        "0.17",
    ),
    "r/4": Printed(
        1 / 4,
        ".63 .63 1.76 2.74 3.27 3.27 3.48 4.53",
        "3.32 4.75 5.88 6.48 6.72 6.94 6.94 6.94",
        ".19 .13 .30 .42 .49 .47 .50 .65",
        "0.39",
    ),
}
RANKS = range(1, len(RANKING) + 1)
