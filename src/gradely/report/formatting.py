"""How a page writes ids, numbers and data: names of others are hostile until proven otherwise."""

import json
import math
from collections import Counter
from collections.abc import Iterable
from typing import Any

from gradely.tables import plain_line

LONGEST = 120
"""ids longer than this are cut where they are shown"""
INHERITED = (
    *("__proto__", "constructor", "hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable", "toLocaleString"),
    *("toString", "valueOf", "__defineGetter__", "__defineSetter__", "__lookupGetter__", "__lookupSetter__"),
)
"""what every object of JavaScript has: as the name of a group it would be taken for one that is there already"""
JOINER = "\u2060"
"""takes no room, and makes another name of one that is inherited"""
UNSAFE = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})


def as_json(value: Any) -> str:
    r"""Return JSON that may stand in a script element: nothing in it can end the element or begin a comment.

    All that is not ASCII is escaped, U+2028 and lone surrogates included. Numbers that JSON does not have become null.

    >>> print(as_json(["</script>", "\u2028", float("inf")]))
    ["\u003c/script\u003e","\u2028",null]
    """
    return json.dumps(replace_infinite(value), separators=(",", ":"), allow_nan=False).translate(UNSAFE)


def replace_infinite(value: Any) -> Any:
    """Return content with None in place of numbers that are not finite, which JSON does not have."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: replace_infinite(item) for key, item in value.items()}
    return [replace_infinite(item) for item in value] if isinstance(value, list | tuple) else value


def clip(text: str, longest: int = LONGEST) -> str:
    """Return the text as a page shows it: cut where it is very long, without marks that steer the direction of text."""
    return plain_line(text if len(text) <= longest else text[:longest] + "…")


def labels(names: Iterable[str]) -> list[str]:
    """Return names cut to a length that can be shown; those that look the same then are numbered.

    >>> [each[-4:] for each in labels(["a" * 200, "a" * 300, "b"])]
    ['… #1', '… #2', 'b']
    """
    names_shown = [JOINER + name if name in INHERITED else name for name in map(clip, names)]
    count = Counter(names_shown)
    return [f"{name} #{i}" if count[name] > 1 else name for i, name in enumerate(names_shown, 1)]


def format_fixed(value: float, digits: int = 4) -> str:
    """Return a number with so many decimals and the minus sign of print; nothing is minus zero.

    >>> format_fixed(-0.25, 2), format_fixed(-0.00001)
    ('−0.25', '0.0000')
    """
    text = f"{abs(value):.{digits}f}"
    return f"−{text}" if value < 0 and float(text) else text


def format_signed(value: float) -> str:
    """Return a number with its sign, if it has one where it is printed.

    >>> format_signed(0.5), format_signed(-0.25), format_signed(-1e-17)
    ('+0.5000', '−0.2500', '0.0000')
    """
    text = format_fixed(value)
    return f"+{text}" if value > 0 and float(text) else text


def effect_text(value: float) -> str:
    """Return an effect size, which is infinite where the difference is the same on every query."""
    return format_fixed(value, 2) if math.isfinite(value) else "−∞" if value < 0 else "∞"


def p_value(value: float) -> str:
    """Return a p-value with three digits.

    >>> p_value(0.0312345), p_value(1e-9), p_value(1.0)
    ('0.0312', '< 0.0001', '1')
    """
    return "< 0.0001" if value < 0.0001 else f"{value:.3g}"
