"""Values under names that experiment trackers take: MLflow refuses @, ( and = in the name of a metric."""

import re
import unicodedata
from collections.abc import Iterable

LONGEST = 250
"""characters of the name of a metric in MLflow"""
LETTERS = str.maketrans({"μ": "mu", "φ": "phi"})
"""which normal forms leave; names are ASCII, which every tracker takes"""


def flatten(values: Iterable[tuple[tuple[str, ...], float]], prefix: str = "") -> dict[str, float]:
    """Return values by one plain name each: the parts of the name joined by /, with a prefix.

    Two names that come out the same are numbered, so that no value is lost.

    >>> flatten([(("nDCG@10",), 0.5), (("AP(rel=2)",), 0.25), (("AP[rel=2]",), 0.75)], "test/")
    {'test/nDCG_10': 0.5, 'test/AP_rel_2': 0.25, 'test/AP_rel_2_2': 0.75}
    """
    out: dict[str, float] = {}
    for parts, value in values:
        name = prefix + "/".join(map(plain_name, parts))
        unique, number = name[:LONGEST], 1
        while unique in out:
            number += 1
            unique = f"{name[: LONGEST - len(str(number)) - 1]}_{number}"
        out[unique] = value
    return out


def plain_name(name: str) -> str:
    """Return a name of letters, digits and _ that begins with no digit, as Weights & Biases recommends.

    >>> [plain_name(name) for name in ("nDCG(gain='exp')@10", "µAP", "eGAP(g=[0.2, 0.8])@5", "AP(rel=-1)", "../2", "@")]
    ['nDCG_gain_exp_10', 'muAP', 'eGAP_g_0_2_0_8_5', 'AP_rel_minus1', '_2', 'unnamed']
    """
    letters = unicodedata.normalize("NFKC", name).translate(LETTERS)
    plain = re.sub(r"\W+", "_", re.sub(r"(?<=[=\[(, ])-", "minus", letters), flags=re.ASCII).strip("_") or "unnamed"
    return f"_{plain}" if plain[0].isdigit() else plain
